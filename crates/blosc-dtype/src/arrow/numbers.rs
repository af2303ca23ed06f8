//! Numbers, dates and times of Arrow as bytes in the order of this machine, and back.

use alloc::string::ToString as _;
use alloc::vec;
use alloc::vec::Vec;

use super::arrow_array::{Array, ArrayRef, make_array, new_empty_array};
use super::arrow_buffer::{Buffer, NullBuffer};
use super::arrow_schema::{ArrowError, DataType};

type Result<T> = core::result::Result<T, ArrowError>;

/// Numbers, dates or times of a type.
///
/// # Errors
///
/// Another type; a number of null marks other than the number of items.
pub fn from_native(
    data_type: &DataType,
    bytes: impl Into<Buffer>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let (bytes, width) = (bytes.into(), data_type.primitive_width());
    let len = width.and_then(|width| bytes.len().checked_div(width));
    let len = len.ok_or_else(|| ArrowError::NotYetImplemented(data_type.to_string()))?;
    check_len(len, nulls.as_ref())?;
    let data = new_empty_array(data_type).into_data().into_builder();
    let data = data.len(len).buffers(vec![bytes]).nulls(nulls).align_buffers(true);
    Ok(make_array(data.build()?))
}

/// Checks that there is a mark for each item, if there are marks.
pub(super) fn check_len(nitems: usize, nulls: Option<&NullBuffer>) -> Result<()> {
    match nulls {
        Some(nulls) if nulls.len() != nitems => {
            let what = alloc::format!("{} marks of nulls for {nitems} items", nulls.len());
            Err(ArrowError::InvalidArgumentError(what))
        }
        _ => Ok(()),
    }
}

/// The values of an array as another type of the same size.
///
/// # Errors
///
/// Types whose values are stored differently.
pub fn with_type(array: &dyn Array, data_type: &DataType) -> Result<ArrayRef> {
    let data = array.to_data().into_builder().data_type(data_type.clone());
    Ok(make_array(data.build()?))
}

/// The bytes of numbers, dates or times, including nulls; `None` for arrays of other types.
#[must_use]
pub fn to_native(array: &dyn Array) -> Option<Vec<u8>> {
    let (data, width) = (array.to_data(), array.data_type().primitive_width()?);
    let start = data.offset().checked_mul(width)?;
    let end = start.checked_add(data.len().checked_mul(width)?)?;
    data.buffers().first()?.get(start..end).map(<[u8]>::to_vec)
}

/// Dates, times and durations as their numbers, including nulls; `None` for arrays of other types.
#[must_use]
pub fn counts(array: &dyn Array) -> Option<Vec<i64>> {
    let is_short = match array.data_type() {
        DataType::Date32 | DataType::Time32(_) => true,
        DataType::Date64
        | DataType::Time64(_)
        | DataType::Timestamp(..)
        | DataType::Duration(_) => false,
        _ => return None,
    };
    let bytes = to_native(array)?;
    Some(if is_short {
        bytes.as_chunks().0.iter().map(|count| i32::from_ne_bytes(*count).into()).collect()
    } else {
        bytes.as_chunks().0.iter().map(|count| i64::from_ne_bytes(*count)).collect()
    })
}
