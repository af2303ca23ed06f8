//! A store on a file mapped into memory: reading is copying, without a call to the system.
//!
//! This module cannot know whether other programs change the file, so opening is `unsafe`. It is
//! the only unsafe code of this crate, apart from the advice that `zeroed` gives.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

use crate::mem::copy_from;
use crate::{ReadAt, Stamp};

/// A file mapped into memory, for reading.
///
/// It makes many small reads of a file in the system's cache cheaper. In exchange no program may
/// touch the file: if others may, or if data come from strangers, use
/// [`FileStore`](crate::FileStore).
///
/// ```
/// use blosc_io::{MmapStore, ReadAt};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("f");
/// std::fs::write(&path, b"header and data")?;
/// // SAFETY: the file is in a directory of our own, and no program writes to it.
/// let store = unsafe { MmapStore::open(&path)? };
/// let mut four = [0; 4];
/// store.read_exact_at(11, &mut four)?;
/// assert_eq!(&four, b"data");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct MmapStore {
    map: Mmap,
    stamp: Option<Stamp>,
}

impl MmapStore {
    /// Maps a file at its present length.
    ///
    /// # Safety
    /// As long as the store exists, no process may change the file or cut it off. Bytes that change
    /// while they are read are undefined behaviour; reading after the new end of a file that was
    /// cut ends the process with a signal (`SIGBUS`). Replacing the file by another one of its
    /// name, by renaming, is harmless: the old one stays mapped.
    ///
    /// # Errors
    /// Errors of the system; a directory gives [`io::ErrorKind::IsADirectory`] on every system.
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let stamp = Some(Stamp::new(metadata.len(), metadata.modified().ok()));
        // SAFETY: the caller answers for the file not being changed, as the documentation of this
        // function demands.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self { map, stamp })
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.map
    }
}

impl ReadAt for MmapStore {
    fn len(&self) -> io::Result<u64> {
        Ok(self.map.len() as u64)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        Ok(copy_from(&self.map, at, buf))
    }

    fn in_memory(&self) -> Option<&[u8]> {
        Some(self.as_bytes())
    }

    /// The stamp of the file when it was mapped.
    fn stamp(&self) -> Option<Stamp> {
        self.stamp
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn map(path: &Path) -> io::Result<MmapStore> {
        // SAFETY: the files of these tests are in directories of their own and not changed while
        // they are mapped.
        unsafe { MmapStore::open(path) }
    }

    #[test]
    fn it_does_what_every_store_does() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        for len in [0, 1, 300, 10_000] {
            let content: Vec<u8> = (0..=255).cycle().take(len).collect();
            std::fs::write(&path, &content).unwrap();
            let store = map(&path).unwrap();
            assert_eq!(store.as_bytes(), content);
            assert_eq!(store.stamp().unwrap().len, len as u64);
            if len >= 300 {
                testing::check_read_at(&store, &content).unwrap();
            }
        }
    }

    #[test]
    fn a_directory_and_nothing_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(map(dir.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert_eq!(map(&dir.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_replaced_stays_mapped() {
        let dir = tempfile::tempdir().unwrap();
        let (path, new) = (dir.path().join("f"), dir.path().join("new"));
        std::fs::write(&path, b"old").unwrap();
        let store = map(&path).unwrap();
        std::fs::write(&new, b"newer").unwrap();
        std::fs::rename(&new, &path).unwrap();
        assert_eq!(store.as_bytes(), b"old");
    }
}
