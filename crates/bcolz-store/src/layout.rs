//! The positions of rows: chunks of `chunklen` rows, cut along the first dimension, the last one
//! shorter ("Shapes and chunks").

use blosc_dtype::{Dtype, Kind};

use crate::error::{Corrupt, Error, Field, Result};
use crate::files::join;
use crate::meta::{self, Sizes, Storage};

/// The geometry of an array. All products of its numbers fit: a row has 1 to 2^31 - 1 bytes, a
/// chunk at most [`MAX_CHUNK_BYTES`], the array less than 2^63.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<u64>,
    /// Bytes of a row; for an object array, those of the pointer, which is not stored.
    pub(crate) rowsize: usize,
    /// Rows of a full chunk; 1 for objects, even if the file has another number.
    pub(crate) chunklen: u64,
    /// Whether each chunk is the pickle of one element.
    pub(crate) is_object: bool,
}

/// The most data that bcolz puts into a chunk (bytes).
pub(crate) const MAX_CHUNK_BYTES: u64 = i32::MAX as u64 - 16;

impl Layout {
    pub(crate) fn new(sizes: &Sizes, storage: &Storage, path: &str) -> Result<Self> {
        let (dtype, shape) = (storage.dtype.clone(), sizes.shape.clone());
        let is_object = dtype.kind() == Some(Kind::Object);
        if dtype.has_objects() && (!is_object || shape.len() > 1) {
            return Err(Error::corrupt(meta::storage_path(path), Corrupt::ObjectRows));
        }
        let sizes_path = meta::sizes_path(path);
        let inner = shape.iter().skip(1);
        let rowsize = inner
            .fold(dtype.itemsize() as i128, |size, length| size.saturating_mul((*length).into()));
        let rowsize = meta::in_range(&sizes_path, Field::RowSize, rowsize, 1, i32::MAX.into())?;
        let len = shape.first().copied().unwrap_or(0);
        let nbytes = i128::from(len).saturating_mul(rowsize.into());
        meta::in_range(&sizes_path, Field::Bytes, nbytes, 0, i64::MAX.into())?;
        let mut chunklen = 1;
        if !is_object {
            chunklen = storage.chunklen;
            let nbytes = i128::from(chunklen).saturating_mul(rowsize.into());
            let path = meta::storage_path(path);
            meta::in_range(&path, Field::ChunkBytes, nbytes, 1, MAX_CHUNK_BYTES.into())?;
        }
        let rowsize = usize::try_from(rowsize).unwrap_or(usize::MAX);
        Ok(Self { dtype, shape, rowsize, chunklen, is_object })
    }

    /// Rows.
    pub(crate) fn len(&self) -> u64 {
        self.shape.first().copied().unwrap_or(0)
    }

    /// Bytes of some rows.
    pub(crate) const fn nbytes_of(&self, rows: u64) -> u64 {
        rows.saturating_mul(self.rowsize as u64)
    }

    /// Whole rows in some bytes.
    pub(crate) fn rows_of(&self, nbytes: u64) -> u64 {
        nbytes.checked_div(self.rowsize as u64).unwrap_or(0)
    }

    /// Bytes of a full chunk.
    pub(crate) const fn chunk_nbytes(&self) -> u64 {
        self.nbytes_of(self.chunklen)
    }

    /// Rows after the full chunks.
    pub(crate) fn leftover(&self) -> u64 {
        self.len().checked_rem(self.chunklen).unwrap_or(0)
    }

    /// Chunks, the partial one included.
    pub(crate) fn nchunks(&self) -> u64 {
        self.len().div_ceil(self.chunklen)
    }

    /// Rows of a chunk that belong to the array.
    pub(crate) fn rows_in(&self, nchunk: u64) -> u64 {
        self.len().saturating_sub(nchunk.saturating_mul(self.chunklen)).min(self.chunklen)
    }

    /// Fewest and most bytes of data that a chunk may have. An interrupted append can leave a
    /// partial chunk longer than needed.
    pub(crate) fn allowed_nbytes(&self, nchunk: u64) -> (u64, u64) {
        (self.nbytes_of(self.rows_in(nchunk)), self.chunk_nbytes())
    }
}

/// The file of a chunk.
pub(crate) fn chunk_path(path: &str, nchunk: u64) -> String {
    join(path, &format!("data/__{nchunk}.blp"))
}

/// The number in the name of a chunk file.
pub(crate) fn chunk_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("__")?.strip_suffix(".blp")?;
    digits.parse().ok().filter(|number: &u64| number.to_string() == digits)
}
