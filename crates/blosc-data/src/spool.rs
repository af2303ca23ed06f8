//! Temporary bytes and files.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blosc_io::replace::{Temporary, Unfinished};
use blosc_io::{FileStore, MemStore, ReadAt};

use crate::error::{Doing, Error, Result};

/// Most bytes that stay in memory; more go to a file.
const IN_MEMORY: usize = 1 << 20;

/// Bytes that are written first and read later: in memory while they are few, then in a file
/// without a name.
#[derive(Debug, Default)]
pub struct Spool {
    bytes: Vec<u8>,
    file: Option<File>,
}

impl Spool {
    /// Ends the writing; the result reads the bytes.
    ///
    /// # Errors
    ///
    /// When the system cannot keep a temporary file.
    pub fn finish(mut self) -> Result<Arc<dyn ReadAt>> {
        if self.file.is_some() {
            self.spill().map_err(Error::io(Doing::Spool))?;
        }
        Ok(match self.file {
            Some(file) => Arc::new(FileStore::from_file(file)),
            None => Arc::new(MemStore::new(self.bytes)),
        })
    }

    fn spill(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile()?),
        };
        file.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let now = bytes.len().min(IN_MEMORY);
        if self.bytes.len().saturating_add(now) > IN_MEMORY {
            self.spill()?;
        }
        self.bytes.extend_from_slice(bytes.get(..now).unwrap_or(bytes));
        Ok(now)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A temporary folder for one file or folder. Dropping it removes the folder with its content.
#[derive(Debug)]
pub struct Station {
    path: PathBuf,
    _folder: Temporary,
}

impl Station {
    /// Makes the folder, with nothing in it. `unfinished` lists it for signals.
    ///
    /// # Errors
    ///
    /// When the system cannot make a folder.
    pub fn new(unfinished: &Unfinished) -> Result<Self> {
        let folder = Temporary::folder(&std::env::temp_dir(), OsStr::new("output"), unfinished);
        let folder = folder.map_err(Error::io(Doing::Spool))?;
        Ok(Self { path: folder.path().join("output"), _folder: folder })
    }

    /// The path for the file or folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A store whose first byte has the position `by`, so that errors name positions in the whole.
/// Bytes before it cannot be read.
#[derive(Clone, Debug)]
pub struct Shifted<S> {
    inner: S,
    by: u64,
}

impl<S: ReadAt> Shifted<S> {
    /// A store whose first byte has the position `by`.
    #[must_use]
    pub fn new(inner: S, by: u64) -> Self {
        Self { inner, by }
    }
}

impl<S: ReadAt> ReadAt for Shifted<S> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.inner.len()?.saturating_add(self.by))
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let at = at.checked_sub(self.by).ok_or(io::ErrorKind::InvalidInput)?;
        self.inner.read_at(at, buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_however_many_they_are() {
        for len in [0, 10, IN_MEMORY, IN_MEMORY + 10, 5 * IN_MEMORY + 1] {
            let bytes: Vec<u8> = (0..=250).cycle().take(len).collect();
            let mut spool = Spool::default();
            for piece in bytes.chunks(IN_MEMORY / 3 * 4 + 1) {
                spool.write_all(piece).unwrap();
            }
            let store = spool.finish().unwrap();
            let mut found = vec![0; len];
            store.read_exact_at(0, &mut found).unwrap();
            assert_eq!(store.len().unwrap(), len as u64);
            assert!(found == bytes, "{len}");
        }
    }

    #[test]
    fn a_shifted_store_answers_at_positions_of_the_whole() {
        let store = Shifted::new(MemStore::new(b"abc".to_vec()), 100);
        let mut buf = [0; 2];
        assert_eq!(store.len().unwrap(), 103);
        store.read_exact_at(101, &mut buf).unwrap();
        assert_eq!(&buf, b"bc");
        assert!(store.read_at(99, &mut buf).is_err());
    }
}
