//! Items of fixed width as arrays: text as views, the rest as `blosc_dtype::arrow_59` says.

use std::sync::Arc;

use blosc_dtype::arrow_59::{ArrayError, array, row_type};
use blosc_dtype::{Dtype, Kind, items};
use datafusion::arrow::array::{ArrayRef, BinaryViewArray, StringViewArray};
use datafusion::arrow::datatypes::DataType;

/// Why items are no array.
pub(super) enum Refused {
    /// Number of the first item that is no UTF-8.
    NoText(usize),
    Array(ArrayError),
}

/// Longest item that lies in the 16 bytes of a view itself.
const MAX_INLINE: usize = 12;

/// The type of rows, which are arrays of `shape`; none for objects.
pub(super) fn data_type(dtype: &Dtype, shape: &[u64], bytes_as_text: bool) -> Option<DataType> {
    match (dtype.kind(), shape) {
        (Some(Kind::Bytes), []) if bytes_as_text => Some(DataType::Utf8View),
        (Some(Kind::Bytes), []) => Some(DataType::BinaryView),
        (Some(Kind::Unicode), []) => Some(DataType::Utf8View),
        _ => row_type(dtype, shape),
    }
}

/// Rows as an array of that type.
pub(super) fn rows_of(
    dtype: &Dtype,
    shape: &[u64],
    bytes_as_text: bool,
    bytes: Vec<u8>,
) -> Result<ArrayRef, Refused> {
    let size = dtype.itemsize();
    match data_type(dtype, shape, bytes_as_text) {
        Some(DataType::Utf8View) if dtype.kind() == Some(Kind::Unicode) && size > 0 => {
            let is_big = items::is_big(dtype);
            let text = bytes.chunks_exact(size).map(|item| items::text(item, is_big));
            Ok(Arc::new(StringViewArray::from_iter_values(text)))
        }
        Some(DataType::Utf8View) if size > 0 => text_views(&bytes, size),
        Some(DataType::BinaryView) if size > 0 => {
            let values = bytes.chunks_exact(size).map(items::trimmed);
            Ok(Arc::new(BinaryViewArray::from_iter_values(values)))
        }
        _ => array(dtype, shape, bytes, None).map_err(Refused::Array),
    }
}

/// Short items lie in the views, so that there is no other buffer.
fn text_views(bytes: &[u8], size: usize) -> Result<ArrayRef, Refused> {
    let values = bytes.chunks_exact(size).map(items::trimmed);
    if size > MAX_INLINE {
        let text = values
            .enumerate()
            .map(|(nitem, item)| core::str::from_utf8(item).map_err(|_| Refused::NoText(nitem)));
        let text = text.collect::<Result<Vec<&str>, Refused>>()?;
        return Ok(Arc::new(StringViewArray::from_iter_values(text)));
    }
    let views = values.map(|item| {
        // As the format of views has it: the length, then the bytes.
        let mut view = [0; 16];
        let (len, text) = view.split_at_mut(4);
        len.copy_from_slice(&u32::try_from(item.len()).unwrap_or_default().to_le_bytes());
        text.iter_mut().zip(item).for_each(|(to, from)| *to = *from);
        u128::from_le_bytes(view)
    });
    let views: Vec<u128> = views.collect();
    match StringViewArray::try_new(views.into(), vec![], None) {
        Ok(array) => Ok(Arc::new(array)),
        Err(_) => {
            let mut values = bytes.chunks_exact(size).map(items::trimmed);
            let nitem = values.position(|item| core::str::from_utf8(item).is_err());
            Err(Refused::NoText(nitem.unwrap_or_default()))
        }
    }
}
