//! Items of fixed width as arrays: text as views, the rest as `blosc_dtype::arrow_59` says.

use std::sync::Arc;

use blosc_dtype::arrow_59::{ArrayError, array, row_type};
use blosc_dtype::{Dtype, Kind, items};
use datafusion::arrow::array::{ArrayRef, BinaryViewArray, StringViewArray};
use datafusion::arrow::compute::cast;
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
            let text = array(dtype, shape, bytes, None).map_err(Refused::Array)?;
            cast(&text, &DataType::Utf8View).map_err(|error| Refused::Array(error.into()))
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
    let views = match size {
        1 => inline_views::<1>(bytes),
        2 => inline_views::<2>(bytes),
        3 => inline_views::<3>(bytes),
        4 => inline_views::<4>(bytes),
        5 => inline_views::<5>(bytes),
        6 => inline_views::<6>(bytes),
        7 => inline_views::<7>(bytes),
        8 => inline_views::<8>(bytes),
        9 => inline_views::<9>(bytes),
        10 => inline_views::<10>(bytes),
        11 => inline_views::<11>(bytes),
        _ => inline_views::<MAX_INLINE>(bytes),
    };
    match StringViewArray::try_new(views.into(), vec![], None) {
        Ok(array) => Ok(Arc::new(array)),
        Err(_) => {
            let mut values = bytes.chunks_exact(size).map(items::trimmed);
            let nitem = values.position(|item| core::str::from_utf8(item).is_err());
            Err(Refused::NoText(nitem.unwrap_or_default()))
        }
    }
}

/// Items of `SIZE` bytes as views: the length in 4 bytes, and the text after it. Zeros at the end
/// of an item are the highest bits of the number, and no part of the text.
fn inline_views<const SIZE: usize>(bytes: &[u8]) -> Vec<u128> {
    let view = |item: &[u8; SIZE]| {
        let mut text = [0; 16];
        text.iter_mut().zip(item).for_each(|(to, from)| *to = *from);
        let text = u128::from_le_bytes(text);
        let len = (u128::BITS - text.leading_zeros()).div_ceil(8);
        (text << 32) | u128::from(len)
    };
    bytes.as_chunks::<SIZE>().0.iter().map(view).collect()
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{Array as _, AsArray as _};

    use super::*;

    #[test]
    fn views_are_the_items_without_the_zeros_at_their_end() {
        for size in 1..=20 {
            let items: Vec<Vec<u8>> = (0..=size)
                .map(|len| {
                    // A zero within, where there is room.
                    let text = b"ab\0defghijklmnopqrst".iter().copied();
                    let mut item: Vec<u8> = text.take(len).collect();
                    item.resize(size, 0);
                    item
                })
                .collect();
            let dtype = format!("|S{size}").parse().unwrap();
            let made = rows_of(&dtype, &[], true, items.concat());
            let Ok(array) = made else { panic!("{size}") };
            let array = array.as_string_view();
            assert_eq!(array.len(), items.len());
            for (found, item) in array.iter().zip(&items) {
                assert_eq!(found.map(str::as_bytes), Some(items::trimmed(item)), "{size}");
            }
        }
        let bad = rows_of(&"|S2".parse().unwrap(), &[], true, b"ab\xff\xfe".to_vec());
        assert!(matches!(bad, Err(Refused::NoText(1))));
    }
}
