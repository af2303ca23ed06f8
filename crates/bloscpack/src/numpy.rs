//! NumPy arrays: the description in the metadata of an array file, and `.npy` files in and out
//! ("NumPy arrays" in the format document).
//!
//! ```
//! use bloscpack::numpy::{ArrayInfo, NpArray, Order, pack_array, unpack_array};
//! use bloscpack::WriteOptions;
//!
//! let info = ArrayInfo::new("<i2".parse()?, vec![2, 3], Order::C)?;
//! let array = NpArray::new(info, vec![1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0])?;
//! let blp = pack_array(&array, WriteOptions::default())?;
//! assert_eq!(unpack_array(&blp)?, array);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "sizes are those of an `ArrayInfo`, which was checked"
)]

mod dtype;
mod info;
mod items;
pub mod npy;

use std::io::{Cursor, Read, Seek, Write};

use blosc_io::ReadAt;

use crate::pack::own;
use crate::{BlpFile, Corrupt, Error, Metadata, Param, Reader, Result, WriteOptions, Writer};

pub use info::{ArrayInfo, Order};

/// An array: its description and its items.
#[derive(Clone, Debug, PartialEq)]
pub struct NpArray {
    info: ArrayInfo,
    data: Vec<u8>,
}

impl NpArray {
    /// An array of these items, whose number and order must match the description.
    ///
    /// # Errors
    ///
    /// [`Corrupt::ArraySize`] in [`Error::Corrupt`].
    pub fn new(info: ArrayInfo, data: Vec<u8>) -> Result<Self> {
        info.check_nbytes(data.len() as u64)?;
        Ok(Self { info, data })
    }

    /// Type of the items, shape and order.
    #[must_use]
    pub const fn info(&self) -> &ArrayInfo {
        &self.info
    }

    /// The items, in the order of [`info`](Self::info).
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The same array with its items in C order (the last index runs fastest).
    #[must_use]
    pub fn into_c_order(self) -> Self {
        if self.info.order() == Order::C {
            return self;
        }
        let data = to_c_order(&self.data, &self.info);
        Self { info: self.info.with_order(Order::C), data }
    }
}

impl<S: ReadAt> BlpFile<S> {
    /// The description of the array in the file; `None` if the file is not marked as one. Its size
    /// was compared with the data.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] or [`Error::Dtype`] if the file is marked as an array and the description
    /// cannot be used.
    pub fn array_info(&self) -> Result<Option<ArrayInfo>> {
        let Some(info) = info_of(self.metadata())? else { return Ok(None) };
        info.check_nbytes(self.nbytes()?)?;
        Ok(Some(info))
    }
}

impl<R: Read> Reader<R> {
    /// The description of the array in the file; `None` if the file is not marked as one. Its size
    /// was compared with the data if the header tells theirs.
    ///
    /// # Errors
    ///
    /// As [`BlpFile::array_info`].
    pub fn array_info(&self) -> Result<Option<ArrayInfo>> {
        let Some(info) = info_of(self.metadata())? else { return Ok(None) };
        self.header().nbytes().map_or(Ok(()), |nbytes| info.check_nbytes(nbytes))?;
        Ok(Some(info))
    }
}

pub(crate) fn info_of(metadata: Option<&Metadata>) -> Result<Option<ArrayInfo>> {
    metadata.and_then(Metadata::json).map_or(Ok(None), ArrayInfo::from_metadata)
}

/// The array in a file.
///
/// # Errors
///
/// [`Param::NotAnArray`] if the file holds none, otherwise as [`BlpFile::array_info`] and
/// [`Reader::next_data`].
pub fn read_array<R: Read>(reader: &mut Reader<R>) -> Result<NpArray> {
    let info = reader.array_info()?.ok_or(Param::NotAnArray)?;
    let mut data = vec![];
    while let Some(chunk) = reader.next_data()? {
        let found = (data.len() as u64).saturating_add(chunk.len() as u64);
        if found > info.nbytes() {
            return Err(Error::corrupt(0, Corrupt::ArraySize { needed: info.nbytes(), found }));
        }
        data.extend_from_slice(chunk);
    }
    NpArray::new(info, data)
}

/// The array in a file in memory.
///
/// # Errors
///
/// As [`read_array`] and [`Reader::new`].
pub fn unpack_array(blp: &[u8]) -> Result<NpArray> {
    read_array(&mut Reader::new(blp)?)
}

/// Options for a file that holds an array: its metadata, `nbytes` and typesize come from the array.
///
/// Chunks get whole items: the chunk size is rounded down. Items wider than 255 bytes are
/// compressed as bytes. Bloscpack 0.16.0 refuses to write such items, but reads them.
///
/// # Errors
///
/// [`Param::Array`] for items that cannot be stored.
pub fn array_options(info: &ArrayInfo, options: WriteOptions) -> Result<WriteOptions> {
    let itemsize = info.dtype().itemsize();
    let chunksize = u32::try_from(itemsize).ok().and_then(|itemsize| {
        let whole = options.chunksize.checked_sub(options.chunksize.checked_rem(itemsize)?)?;
        Some(whole.max(itemsize))
    });
    let chunksize = chunksize.ok_or(Param::Array { what: "items without bytes" })?;
    let typesize = if itemsize > 255 { 1 } else { itemsize };
    let cparams = options.cparams.clone().typesize(typesize);
    let metadata = Some(info.to_metadata()?);
    Ok(options.chunksize(chunksize).cparams(cparams).metadata(metadata).nbytes(Some(info.nbytes())))
}

/// A writer with the [options for an array](array_options), which takes the items in the array's
/// order.
///
/// # Errors
///
/// As [`array_options`] and [`Writer::seekable`].
pub fn array_writer<W: Write + Seek>(
    to: W,
    info: &ArrayInfo,
    options: WriteOptions,
) -> Result<Writer<W>> {
    Writer::seekable(to, array_options(info, options)?)
}

/// An array as a file, with the [options for it](array_options).
///
/// # Errors
///
/// As [`array_writer`] and [`Writer::finish`].
pub fn pack_array(array: &NpArray, options: WriteOptions) -> Result<Vec<u8>> {
    let mut writer = array_writer(Cursor::new(vec![]), array.info(), options)?;
    writer.write_all(array.data()).map_err(own)?;
    Ok(writer.finish()?.into_inner())
}

/// Converts items from Fortran order (the first index runs fastest) to C order.
fn to_c_order(data: &[u8], info: &ArrayInfo) -> Vec<u8> {
    let itemsize = info.dtype().itemsize();
    // The size of the array was compared with the data.
    let shape: Vec<usize> =
        info.shape().iter().map(|n| usize::try_from(*n).unwrap_or(usize::MAX)).collect();
    let mut out = Vec::with_capacity(data.len());
    let mut index = vec![0; shape.len()];
    while out.len() < data.len() {
        let item = index.iter().zip(&shape).rev().fold(0, |at, (i, n)| at * n + i);
        out.extend_from_slice(&data[item * itemsize..(item + 1) * itemsize]);
        for (i, n) in index.iter_mut().zip(&shape).rev() {
            *i += 1;
            if *i < *n {
                break;
            }
            *i = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortran_order_is_turned_around() {
        let info = ArrayInfo::new("|u1".parse().unwrap(), vec![2, 3, 2], Order::F).unwrap();
        // a[i, j, k] = 100 i + 10 j + k, the first index fastest.
        let data = vec![0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121];
        let array = NpArray::new(info, data).unwrap().into_c_order();
        assert_eq!(array.data(), [0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121]);
        assert_eq!(array.info().order(), Order::C);
        assert_eq!(array.clone().into_c_order(), array);
    }

    #[test]
    fn an_array_has_the_size_of_its_data() {
        let info = ArrayInfo::new("<f8".parse().unwrap(), vec![3], Order::C).unwrap();
        let result = NpArray::new(info, vec![0; 25]);
        let (needed, found) = (24, 25);
        assert!(
            matches!(result, Err(Error::Corrupt { what: Corrupt::ArraySize { needed: n, found: f }, .. }) if n == needed && f == found)
        );
    }

    #[test]
    fn wide_items_and_odd_chunk_sizes_are_written() {
        for (code, itemsize) in [("|S3", 3), ("|S300", 300), ("<U100", 400), ("|V1", 1)] {
            let info = ArrayInfo::new(code.parse().unwrap(), vec![1000], Order::C).unwrap();
            let array = NpArray::new(info, vec![7; 1000 * itemsize]).unwrap();
            let blp = pack_array(&array, WriteOptions::default().chunksize(100)).unwrap();
            let chunksize = Reader::new(&blp[..]).unwrap().header().chunksize().unwrap() as usize;
            assert_eq!(chunksize, (100 - 100 % itemsize).max(itemsize));
            assert_eq!(unpack_array(&blp).unwrap(), array);
        }
        let info = ArrayInfo::new("|S0".parse().unwrap(), vec![10], Order::C).unwrap();
        let result = array_writer(Cursor::new(vec![]), &info, WriteOptions::default());
        assert!(matches!(result, Err(Error::Param(Param::Array { .. }))));
    }

    #[test]
    fn plain_files_are_no_arrays() {
        let blp = crate::pack(b"x", WriteOptions::default().metadata(Some(serde_json::json!({}))))
            .unwrap();
        assert!(matches!(unpack_array(&blp), Err(Error::Param(Param::NotAnArray))));
    }
}
