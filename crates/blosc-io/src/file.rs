//! A store on a file, by positional system calls: one descriptor serves all threads.

mod detour;

use core::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::lock::FileId;
use crate::{ReadAt, Stamp, Sync, WriteAt};

/// A file, read by `pread` and written by `pwrite`; the descriptor's own position is never used.
#[derive(Debug)]
pub struct FileStore {
    file: File,
}

impl FileStore {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// Errors of the system; a directory gives [`io::ErrorKind::IsADirectory`] on every system.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::checked(path.as_ref(), OpenOptions::new().read(true))
    }

    /// Opens an existing file for reading and writing.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_rw(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::checked(path.as_ref(), OpenOptions::new().read(true).write(true))
    }

    /// Creates a file for reading and writing, or empties it if it exists.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        Ok(Self { file })
    }

    /// A store on an open file. The file must be open for reading, and for writing if the store is
    /// to be written.
    #[must_use]
    pub fn from_file(file: File) -> Self {
        Self { file }
    }

    /// The identity of the file; `None` if the system does not tell.
    #[must_use]
    pub fn id(&self) -> Option<FileId> {
        FileId::of_file(&self.file)
    }

    /// The file.
    #[must_use]
    pub fn into_file(self) -> File {
        self.file
    }

    /// Opens a file. A directory can be opened on Unix, but not read; Windows refuses access to it.
    fn checked(path: &Path, options: &OpenOptions) -> io::Result<Self> {
        match options.open(path) {
            Ok(file) if !file.metadata()?.is_dir() => Ok(Self { file }),
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied || !path.is_dir() => {
                Err(error)
            }
            _ => Err(io::ErrorKind::IsADirectory.into()),
        }
    }
}

/// An error of the system and its file: inside of an [`io::Error`], where callers find it.
#[derive(Debug)]
pub struct OfFile {
    path: PathBuf,
    source: io::Error,
}

impl OfFile {
    /// Adds the name of a file to an error of the system, which keeps its kind.
    pub fn naming(path: &Path) -> impl FnOnce(io::Error) -> io::Error + use<> {
        let path = path.to_owned();
        move |source| io::Error::new(source.kind(), Self { path, source })
    }

    /// The error of the system.
    #[must_use]
    pub fn system(&self) -> &io::Error {
        &self.source
    }
}

impl fmt::Display for OfFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.source)
    }
}

impl core::error::Error for OfFile {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// The file or folder at a path, after following links; `None` if nothing exists there.
///
/// # Errors
/// The error of the system, unless it says that nothing exists there.
pub fn look_at(path: impl AsRef<Path>) -> io::Result<Option<Metadata>> {
    match path.as_ref().metadata() {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_missing(&error) => Ok(None),
        // No file can have this name.
        Err(error) if error.kind() == io::ErrorKind::InvalidFilename => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether an error says that nothing exists, and not that the path cannot be read.
#[must_use]
pub fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl ReadAt for FileStore {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        // No file can have this position; the system would report a bad argument.
        if i64::try_from(at).is_err() {
            return Ok(0);
        }
        if detour::is_slow(at, buf.as_ptr().addr() as u64, buf.len()) {
            return detour::read(at, buf, |at, buf| positional::read(&self.file, at, buf));
        }
        positional::read(&self.file, at, buf)
    }

    /// `None` for a file that was removed since, or whose name another file has.
    fn stamp(&self) -> Option<Stamp> {
        let metadata = self.file.metadata().ok()?;
        has_name(&metadata).then(|| Stamp::new(metadata.len(), metadata.modified().ok()))
    }
}

impl WriteAt for FileStore {
    fn write_at(&mut self, mut at: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = if detour::is_slow(bytes.as_ptr().addr() as u64, at, bytes.len()) {
                detour::write(at, bytes, |at, bytes| positional::write(&self.file, at, bytes))
            } else {
                positional::write(&self.file, at, bytes)
            };
            match written {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => {
                    bytes = bytes.get(n..).ok_or(io::ErrorKind::InvalidData)?;
                    at = at.checked_add(n as u64).ok_or(io::ErrorKind::InvalidInput)?;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&mut self, what: Sync) -> io::Result<()> {
        match what {
            Sync::Data => self.file.sync_data(),
            Sync::All => self.file.sync_all(),
        }
    }
}

#[cfg(unix)]
fn has_name(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.nlink() > 0
}

/// Other systems do not tell this.
#[cfg(not(unix))]
fn has_name(_: &Metadata) -> bool {
    true
}

/// The positional calls of Unix.
#[cfg(unix)]
mod positional {
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::FileExt as _;

    pub(super) fn read(file: &File, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        file.read_at(buf, at)
    }

    pub(super) fn write(file: &File, at: u64, bytes: &[u8]) -> io::Result<usize> {
        file.write_at(bytes, at)
    }
}

/// The positional calls of Windows. They move the descriptor's position, which this crate never
/// uses.
#[cfg(windows)]
mod positional {
    use std::fs::File;
    use std::io;
    use std::os::windows::fs::FileExt as _;

    pub(super) fn read(file: &File, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        file.seek_read(buf, at)
    }

    pub(super) fn write(file: &File, at: u64, bytes: &[u8]) -> io::Result<usize> {
        file.seek_write(bytes, at)
    }
}

/// Systems without positional calls (WASI): each call moves the descriptor's position, so calls
/// take turns.
#[cfg(not(any(unix, windows)))]
mod positional {
    use std::fs::File;
    use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
    use std::sync::{Mutex, PoisonError};

    /// Held from seeking to the end of the read or write, for all files.
    static POSITION: Mutex<()> = Mutex::new(());

    pub(super) fn read(mut file: &File, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let _position = POSITION.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.read(buf)
    }

    pub(super) fn write(mut file: &File, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let _position = POSITION.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.write(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_named_as_such() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(FileStore::open(dir.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn what_was_written_is_there_when_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let mut store = FileStore::create(&path).unwrap();
        store.write_at(3, b"xyz").unwrap();
        store.sync(Sync::All).unwrap();

        let mut again = FileStore::open_rw(&path).unwrap();
        assert_eq!(again.stamp().unwrap().len, 6);
        again.set_len(5).unwrap();
        again.sync(Sync::Data).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"\0\0\0xy");
        assert_eq!(store.into_file().metadata().unwrap().len(), 5);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_without_a_name_has_no_stamp() {
        let dir = tempfile::tempdir().unwrap();
        let [path, new] = ["f", "new"].map(|name| dir.path().join(name));
        std::fs::write(&path, b"abc").unwrap();
        std::fs::write(&new, b"xyz").unwrap();
        let store = FileStore::open(&path).unwrap();
        assert_eq!(store.stamp().unwrap().len, 3);
        std::fs::rename(&new, &path).unwrap();
        assert_eq!(store.stamp(), None);
        assert_eq!(FileStore::open(&path).unwrap().stamp().unwrap().len, 3);
    }

    #[test]
    fn a_store_opened_for_reading_cannot_be_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, b"abc").unwrap();
        assert!(FileStore::open(&path).unwrap().write_at(0, b"x").is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"abc");
    }
}
