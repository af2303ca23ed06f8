//! Stored items of any type: the reader converts nothing.

use hdf5_reader::{Datatype, H5Type, dtype_element_size};

/// The stored bytes of an item.
pub(super) trait Item: H5Type {
    fn bytes(&self) -> &[u8];
}

#[derive(Clone)]
pub(super) struct Exact<const SIZE: usize>([u8; SIZE]);

#[derive(Clone)]
pub(super) struct Whole(Box<[u8]>);

impl<const SIZE: usize> Item for Exact<SIZE> {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Item for Whole {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Accepts any type of data set.
fn any_type() -> Datatype {
    Datatype::Opaque { size: 0, tag: String::new() }
}

fn size_of_items(dtype: &Datatype) -> usize {
    dtype_element_size(dtype).unwrap_or_default()
}

impl<const SIZE: usize> H5Type for Exact<SIZE> {
    fn hdf5_type() -> Datatype {
        any_type()
    }

    fn from_bytes(bytes: &[u8], _: &Datatype) -> hdf5_reader::error::Result<Self> {
        let item = bytes.first_chunk::<SIZE>().filter(|_| bytes.len() == SIZE);
        let wrong = || hdf5_reader::error::Error::InvalidData("an item of another size".into());
        item.map(|item| Self(*item)).ok_or_else(wrong)
    }

    fn element_size(dtype: &Datatype) -> usize {
        size_of_items(dtype)
    }

    fn decode_vec(
        raw: &[u8],
        _: &Datatype,
        count: usize,
    ) -> Option<hdf5_reader::error::Result<Vec<Self>>> {
        let (items, rest) = raw.as_chunks::<SIZE>();
        let is_whole = rest.is_empty() && items.len() == count;
        is_whole.then(|| Ok(items.iter().map(|item| Self(*item)).collect()))
    }
}

impl H5Type for Whole {
    fn hdf5_type() -> Datatype {
        any_type()
    }

    fn from_bytes(bytes: &[u8], _: &Datatype) -> hdf5_reader::error::Result<Self> {
        Ok(Self(bytes.into()))
    }

    fn element_size(dtype: &Datatype) -> usize {
        size_of_items(dtype)
    }
}
