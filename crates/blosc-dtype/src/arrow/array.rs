//! Items as an array of Arrow.

use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, FixedSizeListArray, StringArray,
};
use super::arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use super::arrow_schema::{ArrowError, DataType};

use super::numbers::{check_len, from_native};
use super::times::{NAT, Times};
use super::{item_type, list_item};
use crate::{Dtype, items};

/// The reason why items cannot be an array of Arrow.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// Arrow has no type for the dtype.
    #[error("{dtype} has no counterpart")]
    NoCounterpart {
        /// The dtype.
        dtype: String,
    },
    /// A date that the type of Arrow cannot hold.
    #[error("item {item} does not fit into {data_type}")]
    Value {
        /// Number of the item.
        item: usize,
        /// The type.
        data_type: String,
    },
    /// The items do not fit each other, or are too many for one array.
    #[error("{0}")]
    Arrow(#[from] ArrowError),
}

type Result<T> = core::result::Result<T, ArrayError>;

/// Rows, each of which is an array of this shape (C order), or a single item if the shape is empty.
/// `nulls` marks the rows with a value. A vector of numbers in native byte order is moved without a
/// copy.
///
/// # Errors
///
/// See [`ArrayError`].
pub fn array(
    dtype: &Dtype,
    shape: &[u64],
    items: impl Into<Buffer>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    if shape.is_empty() {
        return plain(dtype, items.into(), nulls);
    }
    let mut array = plain(dtype, items.into(), None)?;
    let is_nullable = Times::from_dtype(dtype).is_some();
    for (axis, len) in shape.iter().enumerate().rev() {
        let item = list_item(array.data_type().clone(), is_nullable);
        let len = i32::try_from(*len).ok().filter(|len| *len > 0);
        let len = len.ok_or_else(|| no_counterpart(dtype))?;
        let nulls = nulls.clone().filter(|_| axis == 0);
        array = Arc::new(FixedSizeListArray::try_new(item, len, array, nulls)?);
    }
    Ok(array)
}

fn no_counterpart(dtype: &Dtype) -> ArrayError {
    ArrayError::NoCounterpart { dtype: dtype.to_string() }
}

fn plain(dtype: &Dtype, items: Buffer, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let bytes = items.as_slice();
    if let Some(times) = Times::from_dtype(dtype) {
        return self::times(&times, dtype, bytes, nulls);
    }
    let size = dtype.itemsize();
    match item_type(dtype) {
        Some(DataType::Boolean) => {
            let values = BooleanBuffer::collect_bool(bytes.len(), |at| {
                bytes.get(at).is_some_and(|byte| *byte != 0)
            });
            check_len(bytes.len(), nulls.as_ref())?;
            Ok(Arc::new(BooleanArray::new(values, nulls)))
        }
        Some(data_type) if data_type.is_numeric() => {
            let is_native = items::is_big(dtype) == cfg!(target_endian = "big");
            if is_native || size == 1 {
                return Ok(from_native(&data_type, items, nulls)?);
            }
            let turned = bytes.chunks_exact(size).flat_map(|item| item.iter().rev().copied());
            Ok(from_native(&data_type, turned.collect::<Vec<u8>>(), nulls)?)
        }
        Some(DataType::Binary) if size > 0 => {
            let (offsets, values) = joined(bytes, size, |item, values: &mut Vec<u8>| {
                values.extend_from_slice(items::trimmed(item));
            })?;
            Ok(Arc::new(BinaryArray::try_new(offsets, values, nulls)?))
        }
        Some(DataType::Utf8) if size > 0 => {
            let is_big = items::is_big(dtype);
            let (offsets, values) = joined(bytes, size, |item, values: &mut Vec<u8>| {
                items::push_text(item, is_big, values);
            })?;
            Ok(Arc::new(StringArray::try_new(offsets, values, nulls)?))
        }
        Some(DataType::FixedSizeBinary(size)) => {
            Ok(Arc::new(FixedSizeBinaryArray::try_new(size, items, nulls)?))
        }
        _ => Err(no_counterpart(dtype)),
    }
}

/// Items of some length, one after the other.
fn joined(
    bytes: &[u8],
    size: usize,
    push: impl Fn(&[u8], &mut Vec<u8>),
) -> Result<(OffsetBuffer<i32>, Buffer)> {
    let nitems = bytes.len().checked_div(size).unwrap_or_default();
    let (mut offsets, mut values) = (Vec::with_capacity(nitems.saturating_add(1)), Vec::new());
    offsets.push(0);
    for item in bytes.chunks_exact(size) {
        push(item, &mut values);
        offsets.push(offset(values.len())?);
    }
    Ok((OffsetBuffer::new(offsets.into()), Buffer::from_vec(values)))
}

/// The offsets of items with these ends.
///
/// # Errors
///
/// [`ArrayError::Arrow`] for an end over 2 GiB, the most that one array holds.
pub fn offsets(ends: impl IntoIterator<Item = usize>) -> Result<OffsetBuffer<i32>> {
    let offsets = core::iter::once(0).chain(ends).map(offset);
    Ok(OffsetBuffer::new(offsets.collect::<Result<Vec<i32>>>()?.into()))
}

fn offset(end: usize) -> Result<i32> {
    i32::try_from(end).map_err(|_| ArrowError::OffsetOverflowError(end).into())
}

fn times(
    times: &Times,
    dtype: &Dtype,
    bytes: &[u8],
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let is_big = items::is_big(dtype);
    let (items, _) = bytes.as_chunks::<8>();
    let mut values: Vec<i64> = Vec::with_capacity(items.len());
    let mut valid: Vec<bool> = Vec::with_capacity(items.len());
    for (nitem, item) in items.iter().enumerate() {
        let value = if is_big { i64::from_be_bytes(*item) } else { i64::from_le_bytes(*item) };
        let exported = if times.is_plain() { Some(value) } else { times.export(value) };
        let fits =
            |value: &i64| times.data_type != DataType::Date32 || i32::try_from(*value).is_ok();
        valid.push(value != NAT);
        match exported.filter(fits) {
            _ if value == NAT => values.push(0),
            Some(value) => values.push(value),
            None => {
                let data_type = times.data_type.to_string();
                return Err(ArrayError::Value { item: nitem, data_type });
            }
        }
    }
    check_len(values.len(), nulls.as_ref())?;
    let valid = valid.contains(&false).then(|| NullBuffer::from(valid));
    let nulls = NullBuffer::union(valid.as_ref(), nulls.as_ref());
    if times.data_type == DataType::Date32 {
        let days = values.into_iter().map(|value| i32::try_from(value).unwrap_or_default());
        return Ok(from_native(&times.data_type, days.collect::<Vec<i32>>(), nulls)?);
    }
    Ok(from_native(&times.data_type, values, nulls)?)
}
