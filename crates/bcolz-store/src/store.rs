//! Where a data set lies: a tree of files behind a trait, in a directory or in memory.

mod dir;
mod memory;

use core::fmt::Debug;
use std::io;

use blosc_io::ReadAt;

pub use dir::{DirStore, Durability};
pub use memory::MemoryStore;

use crate::error::{Corrupt, Error, Result};

/// A tree of files. Paths are below its root, with `/` between names; the root itself is the empty
/// path.
///
/// Readers need [`open`](Self::open) and [`list`](Self::list) only. Each of the other methods
/// changes the tree at once: whoever looks sees it as it was before or as it is afterwards.
pub trait Store: Debug + Send + Sync {
    /// An ordinary file, to be read.
    ///
    /// # Errors
    ///
    /// `NotFound` where there is none; `InvalidInput` where there is something else, such as a
    /// device or a link that leads out of the root.
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>>;

    /// Bytes of a file that [`open`](Self::open) opens.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    fn len_of(&self, path: &str) -> io::Result<u64> {
        self.open(path)?.len()
    }

    /// What lies in a directory, in no particular order.
    ///
    /// # Errors
    ///
    /// `NotFound` or `NotADirectory` where there is no directory.
    fn list(&self, path: &str) -> io::Result<Vec<Entry>>;

    /// Replaces a file, or makes it; its directory is there.
    ///
    /// # Errors
    ///
    /// Those of the storage; then the file is as it was.
    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let _ = (path, bytes);
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    /// Returns when these files, and their names, will survive a loss of power.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn sync(&self, paths: &[String]) -> io::Result<()> {
        let _ = paths;
        Ok(())
    }

    /// Makes a directory; its parent is there.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` where there is something.
    fn create_dir(&self, path: &str) -> io::Result<()> {
        let _ = path;
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    /// Removes a file, or a directory with all that is in it. What is not there is removed already.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn remove(&self, path: &str) -> io::Result<()> {
        let _ = path;
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    /// Renames a file or directory; nothing has the new name.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let _ = (from, to);
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }
}

/// What lies in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name, without the path.
    pub name: String,
    /// Whether it is a directory, and no link to one.
    pub is_dir: bool,
}

/// A path below another.
pub(crate) fn join(path: &str, name: &str) -> String {
    match (path, name) {
        (path, "") => path.to_owned(),
        ("", name) => name.to_owned(),
        (path, name) => format!("{path}/{name}"),
    }
}

/// Whether there is an ordinary file.
pub(crate) fn has_file(store: &dyn Store, path: &str) -> Result<bool> {
    match store.open(path) {
        Ok(_) => Ok(true),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(of_open(path, error)),
    }
}

/// The whole of a metadata file; none if it is missing.
pub(crate) fn read_metadata(store: &dyn Store, path: &str) -> Result<Option<Vec<u8>>> {
    let file = match store.open(path) {
        Ok(file) => file,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(of_open(path, error)),
    };
    let len = file.len().map_err(|source| Error::io(path, source))?;
    if len > MAX_METADATA {
        return Err(Error::corrupt(path, Corrupt::MetadataTooLong { len, limit: MAX_METADATA }));
    }
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
    file.read_exact_at(0, &mut bytes).map_err(|source| Error::io(path, source))?;
    Ok(Some(bytes))
}

/// The error of a file that could not be opened.
pub(crate) fn of_open(path: &str, error: io::Error) -> Error {
    match error.kind() {
        _ if is_missing(&error) => Error::corrupt(path, Corrupt::Missing),
        io::ErrorKind::InvalidInput => Error::corrupt(path, Corrupt::NotOrdinary),
        _ => Error::io(path, error),
    }
}

pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Metadata files are refused if they are longer (bytes).
const MAX_METADATA: u64 = 16 << 20;
