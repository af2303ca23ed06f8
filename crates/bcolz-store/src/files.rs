//! Files of a data set: the errors of missing, irregular or overlong ones.

use std::io;

use blosc_io::LockWait;
use blosc_io::lock::LockKind;
use blosc_io::tree::{Tree, TreeLock};
pub(crate) use blosc_io::{is_missing, tree::join};

use crate::error::{Corrupt, Error, Result};

/// Whether there is an ordinary file.
pub(crate) fn has_file(tree: &dyn Tree, path: &str) -> Result<bool> {
    match tree.open(path) {
        Ok(_) => Ok(true),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(open_error(path, error)),
    }
}

/// The content of a metadata file; `None` if it is missing.
pub(crate) fn read_metadata(tree: &dyn Tree, path: &str) -> Result<Option<Vec<u8>>> {
    read_within(tree, path, MAX_METADATA_NBYTES)
}

/// The content of a file of at most `limit` bytes; `None` if it is missing.
pub(crate) fn read_within(tree: &dyn Tree, path: &str, limit: u64) -> Result<Option<Vec<u8>>> {
    let file = match tree.open(path) {
        Ok(file) => file,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(open_error(path, error)),
    };
    let len = file.len().map_err(|source| Error::io(path, source))?;
    if len > limit {
        return Err(Error::corrupt(path, Corrupt::MetadataTooLong { len, limit }));
    }
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
    file.read_exact_at(0, &mut bytes).map_err(|source| Error::io(path, source))?;
    Ok(Some(bytes))
}

/// Replaces a metadata file, on disk at once.
pub(crate) fn write(tree: &dyn Tree, path: &str, bytes: &[u8]) -> Result<()> {
    let written = tree.write(path, bytes).and_then(|()| tree.sync_all(&[path.to_owned()]));
    written.map_err(|source| Error::io(path, source))
}

/// Waits for the lock of a directory, and takes it alone. A missing directory gets no lock: opening
/// its files will fail.
pub(crate) fn lock_exclusive(
    tree: &dyn Tree,
    path: &str,
    wait: &LockWait,
) -> Result<Option<Box<dyn TreeLock>>> {
    take_lock(tree, path, LockKind::Exclusive, wait)
}

/// Waits for the lock of a directory, and shares it with other readers.
pub(crate) fn lock_shared(
    tree: &dyn Tree,
    path: &str,
    wait: &LockWait,
) -> Result<Option<Box<dyn TreeLock>>> {
    take_lock(tree, path, LockKind::Shared, wait)
}

fn take_lock(
    tree: &dyn Tree,
    path: &str,
    kind: LockKind,
    wait: &LockWait,
) -> Result<Option<Box<dyn TreeLock>>> {
    match tree.lock(path, kind, wait) {
        Ok(lock) => Ok(Some(lock)),
        Err(error) if is_missing(&error) || error.kind() == io::ErrorKind::InvalidInput => Ok(None),
        Err(error) => Err(Error::io(path, error)),
    }
}

/// The error for a file that could not be opened.
pub(crate) fn open_error(path: &str, error: io::Error) -> Error {
    match error.kind() {
        _ if is_missing(&error) => Error::corrupt(path, Corrupt::Missing),
        io::ErrorKind::InvalidInput => Error::corrupt(path, Corrupt::NotOrdinary),
        _ => Error::io(path, error),
    }
}

/// The longest metadata file that is read (bytes).
const MAX_METADATA_NBYTES: u64 = 16 << 20;
