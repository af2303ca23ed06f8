//! Arrays of NumPy in files.

use std::sync::Arc;

use blosc_dtype::npy::{NpyHeader, START_NBYTES, header_len};
use blosc_io::ReadAt;

use crate::content::Items;
use crate::dataset::Data;
use crate::error::{Doing, Error, Result};

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
    Ok(Data::Array(Arc::new(Items::new(file, len, header)?)))
}
