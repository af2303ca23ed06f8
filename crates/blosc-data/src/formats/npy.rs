//! Arrays of NumPy in files.

use core::ops::Range;
use std::sync::Arc;

use blosc_dtype::{
    Dtype,
    npy::{NpyHeader, START_NBYTES, header_len},
};
use blosc_io::ReadAt;

use crate::Array;
use crate::boxes::Stored;
use crate::dataset::Data;
use crate::error::{Doing, Error, Result};
use crate::size::nbytes;

/// The array of a `.npy` file.
///
/// # Errors
///
/// A damaged header; fewer bytes than it says. More may follow, as an append leaves them that was
/// interrupted: NumPy does not look at them either.
pub(crate) fn data(file: Arc<dyn ReadAt>) -> Result<Data> {
    let len = file.len().map_err(Error::io(Doing::Open))?;
    let mut start = [0; START_NBYTES];
    let n = file.read_at(0, &mut start).map_err(Error::io(Doing::Read))?;
    let needed = header_len(start.get(..n).unwrap_or_default())?;
    let mut head = vec![0; usize::try_from(len).map_or(needed, |len| len.min(needed))];
    file.read_exact_at(0, &mut head).map_err(Error::io(Doing::Read))?;
    let header = NpyHeader::parse(&head)?;
    let (expected, found) =
        (nbytes(header.dtype.itemsize() as u64, &header.shape), len.saturating_sub(needed as u64));
    if found < expected {
        return Err(Error::ArrayLen { expected, found });
    }
    let stored = Stored {
        store: file,
        start: needed as u64,
        shape: header.shape,
        itemsize: header.dtype.itemsize() as u64,
        fortran_order: header.fortran_order,
    };
    Ok(Data::Array(Arc::new(NpyArray { stored, dtype: header.dtype, len })))
}

#[derive(Clone, Debug)]
struct NpyArray {
    stored: Stored,
    dtype: Dtype,
    /// Bytes of the file.
    len: u64,
}

impl Array for NpyArray {
    fn format(&self) -> &'static str {
        "npy"
    }

    fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    fn shape(&self) -> &[u64] {
        &self.stored.shape
    }

    fn stored_nbytes(&self) -> Option<u64> {
        Some(self.len)
    }

    fn read_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> Result<()> {
        self.stored.fill_box(bounds, dest)
    }
}
