//! Items of fixed width as arrays: text as views, the rest as in `blosc_dtype::arrow_59`.

use std::sync::Arc;

use blosc_dtype::arrow_59::{ArrayError, array, row_type};
use blosc_dtype::{Dtype, Kind, items};
use datafusion::arrow::array::{
    ArrayRef, AsArray as _, BinaryViewArray, FixedSizeBinaryArray, StringViewArray, UInt32Array,
};
use datafusion::arrow::buffer::Buffer;
use datafusion::arrow::compute::{cast, take};
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::error::ArrowError;

/// The reason why items cannot be an array.
pub(super) enum Refused {
    /// Number of the first item that is no UTF-8.
    NoText(usize),
    Array(ArrayError),
}

impl Refused {
    /// The same with another number of the item.
    pub(super) fn map_item(self, number: impl Fn(usize) -> usize) -> Self {
        match self {
            Self::NoText(nitem) => Self::NoText(number(nitem)),
            Self::Array(error) => Self::Array(error),
        }
    }
}

/// The items of `size` bytes with these numbers.
pub(super) fn picked(
    size: usize,
    bytes: Buffer,
    picked: &UInt32Array,
) -> Result<Buffer, ArrowError> {
    let size = i32::try_from(size).map_err(|_| ArrowError::OffsetOverflowError(size))?;
    let items = FixedSizeBinaryArray::try_new(size, bytes, None)?;
    Ok(take(&items, picked, None)?.as_fixed_size_binary().values().clone())
}

/// The Arrow type of rows, which are arrays of `shape`; none for objects.
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
    bytes: Buffer,
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

/// Text of one byte for each character is checked as a whole: checks item by item cost several
/// times as much as decoding.
fn text_views(bytes: &[u8], size: usize) -> Result<ArrayRef, Refused> {
    let ascii = core::str::from_utf8(bytes).ok().filter(|text| text.is_ascii());
    let Some(text) = ascii else {
        let items = bytes.chunks_exact(size).map(items::trimmed).enumerate();
        let text =
            items.map(|(at, item)| core::str::from_utf8(item).map_err(|_| Refused::NoText(at)));
        let text = text.collect::<Result<Vec<&str>, Refused>>()?;
        return Ok(Arc::new(StringViewArray::from_iter_values(text)));
    };
    Ok(Arc::new(match size {
        1 => short_views::<1>(text),
        2 => short_views::<2>(text),
        3 => short_views::<3>(text),
        4 => short_views::<4>(text),
        5 => short_views::<5>(text),
        6 => short_views::<6>(text),
        7 => short_views::<7>(text),
        8 => short_views::<8>(text),
        9 => short_views::<9>(text),
        10 => short_views::<10>(text),
        11 => short_views::<11>(text),
        12 => short_views::<12>(text),
        _ => views(text, size, bytes.chunks_exact(size).map(|item| items::trimmed(item).len())),
    }))
}

/// Items of `SIZE` bytes. Zeros at the end of one are the highest bits of a number.
fn short_views<const SIZE: usize>(text: &str) -> StringViewArray {
    let len = |item: &[u8; SIZE]| {
        let mut number = [0; 16];
        number.iter_mut().zip(item).for_each(|(to, from)| *to = *from);
        let nzeros = u128::from_le_bytes(number).leading_zeros() / 8;
        number.len().saturating_sub(nzeros as usize)
    };
    views(text, SIZE, text.as_bytes().as_chunks::<SIZE>().0.iter().map(len))
}

/// Items of `size` bytes as views; each is cut after its length.
fn views(text: &str, size: usize, lens: impl Iterator<Item = usize>) -> StringViewArray {
    let starts = (0..).step_by(size);
    let items = starts.zip(lens).map(|(start, len): (usize, usize)| {
        text.get(start..start.saturating_add(len)).unwrap_or_default()
    });
    StringViewArray::from_iter_values(items)
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::Array as _;

    use super::*;

    #[test]
    fn views_are_the_items_without_the_zeros_at_their_end() {
        for size in 1..=20 {
            let items: Vec<Vec<u8>> = (0..=size)
                .map(|len| {
                    // A zero inside of the text.
                    let text = b"ab\0defghijklmnopqrst".iter().copied();
                    let mut item: Vec<u8> = text.take(len).collect();
                    item.resize(size, 0);
                    item
                })
                .collect();
            let dtype = format!("|S{size}").parse().unwrap();
            let made = rows_of(&dtype, &[], true, items.concat().into());
            let Ok(array) = made else { panic!("{size}") };
            let array = array.as_string_view();
            assert_eq!(array.len(), items.len());
            for (found, item) in array.iter().zip(&items) {
                assert_eq!(found.map(str::as_bytes), Some(items::trimmed(item)), "{size}");
            }
        }
        let bad = rows_of(&"|S2".parse().unwrap(), &[], true, b"ab\xff\xfe".to_vec().into());
        assert!(matches!(bad, Err(Refused::NoText(1))));
    }
}
