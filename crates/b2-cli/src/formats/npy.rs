//! The bytes after the array of a `.npy` file, as an interrupted append leaves them.

use std::path::Path;

use blosc_data::Tail;
use blosc_dtype::npy::NpyHeader;
use blosc_io::{FileStore, WriteAt as _};

use crate::{
    args::LockArgs,
    content::source::npy_header,
    context::Context,
    error::{Doing, Error, Result, message},
    inputs::{Origin, origin},
};

/// The path of a target that is a `.npy` file.
pub(crate) fn target(origin: &Origin) -> Option<&Path> {
    origin.path().filter(|_| origin::is_npy(origin))
}

/// Cuts off the bytes after the array of a `.npy` file; says how many bytes it had, and how many
/// are gone.
///
/// # Errors
///
/// When the array is not complete, or another file follows it; when the system refuses.
pub(crate) fn cut_tail(cx: &Context, path: &Path, lock: LockArgs) -> Result<(u64, u64)> {
    let _lock = cx.lock_exclusive(path, lock)?;
    let (file_bytes, end) = lens(path, &npy_header(path)?)?;
    Ok((file_bytes, cut_rest(path, end)?.map_or(0, |tail| tail.nbytes)))
}

/// The length of a `.npy` file, and of its part up to the end of the array.
///
/// # Errors
///
/// When the array is not complete, or the system refuses.
pub(crate) fn lens(path: &Path, header: &NpyHeader) -> Result<(u64, u64)> {
    let expected = header.nbytes().unwrap_or(u64::MAX);
    let file_bytes = path.metadata().map_err(Error::io(Doing::Open))?.len();
    let found = file_bytes.saturating_sub(header.len as u64);
    if found < expected {
        return Err(Error::ArrayLen { expected, found });
    }
    Ok((file_bytes, (header.len as u64).saturating_add(expected)))
}

/// Cuts off the rest of an interrupted append, but refuses a file that follows the array.
pub(crate) fn cut_rest(path: &Path, end: u64) -> Result<Option<Tail>> {
    // An open file costs a round trip on storage that is far away, a length less.
    let len = path.metadata().map_err(Error::io(Doing::Open))?.len();
    if len <= end {
        return Ok(None);
    }
    let mut file = FileStore::open_rw(path).map_err(Error::io(Doing::Open))?;
    let tail = Tail::of_npy(len.saturating_sub(end), &file, end);
    if tail.is_a_file() {
        return Err(message::FOLLOWED.about(tail));
    }
    file.set_len(end).map_err(Error::io(Doing::Write))?;
    Ok(Some(tail))
}
