//! The place of an input: its path or address, and the kind of data there, which is read once.

use core::{
    fmt,
    ops::Deref,
    sync::atomic::{AtomicBool, Ordering},
};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use b2frame::probe::PROBE_LEN;
use blosc_data::{Format, Source};
use blosc_io::{FileStore, Tree, look_at, tree::DirTree};

use crate::{formats::chunk, render::path_text};

/// A path, or a name that an opener has opened.
#[derive(Clone)]
pub(crate) struct Place {
    path: PathBuf,
    /// The data that an opener found by this name.
    opened: Option<Source>,
    /// Of an input that can be read only once: its word on the command line (`-` is standard
    /// input), and the open file, which keeps the path valid.
    kept: Option<Arc<(PathBuf, File)>>,
    /// The answers so far, shared by all copies.
    seen: Arc<Seen>,
}

/// Cached answers of the system.
#[derive(Default)]
struct Seen {
    kind: OnceLock<Option<fs::FileType>>,
    format: OnceLock<Option<Format>>,
    /// An error of the system: the answer then is that nothing is there.
    failure: OnceLock<io::Error>,
    is_locked: AtomicBool,
    is_bytes: AtomicBool,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.fmt(f)
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for Place {}

impl Deref for Place {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl AsRef<Path> for Place {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

impl<P: Into<PathBuf>> From<P> for Place {
    fn from(path: P) -> Self {
        Self { path: path.into(), opened: None, kept: None, seen: Arc::default() }
    }
}

impl Place {
    /// The place of data that an opener has opened by a name.
    pub(crate) fn opened(name: &Path, source: Source) -> Self {
        Self { opened: Some(source), ..Self::from(name) }
    }

    /// The place of data that can be read only once; the system opens them by `path`.
    pub(crate) fn kept(path: PathBuf, word: &Path, file: File) -> Self {
        Self { kept: Some(Arc::new((word.to_owned(), file))), ..Self::from(path) }
    }

    /// The word on the command line, if it is not the path.
    pub(crate) fn word(&self) -> Option<&Path> {
        self.kept.as_ref().map(|kept| kept.0.as_path())
    }

    /// The name in messages.
    pub(crate) fn shown(&self) -> String {
        match self.word() {
            Some(word) if word == Path::new("-") => "stdin".to_owned(),
            word => path_text(word.unwrap_or(&self.path)),
        }
    }

    /// Whether an opener has opened it: then it has no path.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.opened.is_some()
    }

    /// The data that an opener has opened.
    pub(crate) fn elsewhere(&self) -> Option<Source> {
        self.opened.clone()
    }

    /// The folder that an opener has opened.
    pub(crate) fn tree_elsewhere(&self) -> Option<Arc<dyn Tree>> {
        match self.opened.as_ref()? {
            Source::Folder(tree) => Some(Arc::clone(tree)),
            Source::File(_) => None,
        }
    }

    /// The file or the folder; `None` if it cannot be read at any position.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub(crate) fn source(&self) -> io::Result<Option<Source>> {
        if let Some(source) = &self.opened {
            return Ok(Some(source.clone()));
        }
        Ok(match () {
            () if self.is_dir() => Some(Source::Folder(Arc::new(DirTree::new(&self.path)))),
            // Opening a pipe would wait for its other end.
            () if self.is_file() => Some(Source::File(Arc::new(self.open_file()?))),
            () => None,
        })
    }

    /// The format of the data; `None` if they cannot be read.
    pub(crate) fn format(&self) -> Option<Format> {
        *self.seen.format.get_or_init(|| self.or_keep(self.look()))
    }

    /// The first bytes of a file, and its length; `None` if it is not a file.
    pub(crate) fn start(&self) -> Option<(Vec<u8>, u64)> {
        let read = || {
            let Some(Source::File(file)) = self.source()? else { return Ok(None) };
            let mut head = vec![0; PROBE_LEN.max(chunk::HEAD_LEN)];
            let n = file.read_at(0, &mut head)?;
            head.truncate(n);
            Ok(Some((head, file.len()?)))
        };
        self.or_keep(read())
    }

    /// Opens a path that is a file.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub(crate) fn open_file(&self) -> io::Result<FileStore> {
        File::open(&self.path).map(FileStore::from_file)
    }

    /// Notes whether the command holds all locks of readers.
    pub(crate) fn set_locked(&self, is_locked: bool) {
        self.seen.is_locked.store(is_locked, Ordering::Relaxed);
    }

    /// Notes that the command reads the file as bytes, whatever its format.
    pub(crate) fn set_bytes(&self) {
        self.seen.is_bytes.store(true, Ordering::Relaxed);
    }

    /// Whether the command reads the file as bytes.
    pub(crate) fn is_bytes(&self) -> bool {
        self.seen.is_bytes.load(Ordering::Relaxed)
    }

    /// Whether the command holds all locks of readers.
    pub(crate) fn is_locked(&self) -> bool {
        self.seen.is_locked.load(Ordering::Relaxed)
    }

    /// The kind of the entry at the path, with links followed; `None` if nothing is there.
    fn kind(&self) -> Option<fs::FileType> {
        let look = || look_at(&self.path).map(|found| found.map(|found| found.file_type()));
        *self.seen.kind.get_or_init(|| self.or_keep(look()))
    }

    /// An answer of the system; if it is an error, the error is kept.
    fn or_keep<T>(&self, answer: io::Result<Option<T>>) -> Option<T> {
        answer.unwrap_or_else(|error| {
            self.seen.failure.get_or_init(|| error);
            None
        })
    }

    /// Whether the answers so far are those of the system.
    ///
    /// # Errors
    ///
    /// The first error of the system.
    pub(crate) fn check(&self) -> io::Result<()> {
        self.seen.failure.get().map_or(Ok(()), |error| Err(copy_of(error)))
    }

    /// Whether the path is a folder.
    pub(crate) fn is_dir(&self) -> bool {
        self.kind().is_some_and(|kind| kind.is_dir())
    }

    /// Whether the path is an ordinary file.
    pub(crate) fn is_file(&self) -> bool {
        self.kind().is_some_and(|kind| kind.is_file())
    }

    /// Whether the path exists.
    pub(crate) fn exists(&self) -> bool {
        self.kind().is_some()
    }

    /// Whether it is a named pipe.
    #[cfg(unix)]
    pub(crate) fn is_pipe(&self) -> bool {
        use std::os::unix::fs::FileTypeExt as _;
        self.kind().is_some_and(|kind| kind.is_fifo())
    }

    /// Whether it can be read only once, from front to back: a named pipe, or a character device.
    pub(crate) fn is_stream(&self) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileTypeExt as _;
            self.kind().is_some_and(|kind| kind.is_fifo() || kind.is_char_device())
        }
        #[cfg(not(unix))]
        {
            false
        }
    }

    /// The format, read again instead of from the cache, so that a failure is reported.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub(crate) fn look(&self) -> io::Result<Option<Format>> {
        let name = self.path.to_string_lossy();
        let source = self.source()?;
        source.map(|source| blosc_data::recognise(&source, &name)).transpose()
    }

    /// Whether the path is a folder that forms one object: a sparse frame, a store, a data set of
    /// bcolz.
    pub(crate) fn is_whole_folder(&self) -> bool {
        (self.is_dir() || self.tree_elsewhere().is_some())
            && matches!(self.format(), Some(Format::SparseFrame | Format::Store | Format::Bcolz))
    }

    /// Whether it is a store.
    pub(crate) fn is_store(&self) -> bool {
        self.format() == Some(Format::Store)
    }

    /// Whether it is an archive of arrays of NumPy.
    pub(crate) fn is_archive(&self) -> bool {
        self.format() == Some(Format::Npz)
    }

    /// Whether the path is the folder of a data set of bcolz, even one that a crash left
    /// incomplete.
    pub(crate) fn is_bcolz(&self) -> bool {
        self.format() == Some(Format::Bcolz)
    }

    /// Whether it is the folder of a sparse frame.
    pub(crate) fn is_sparse_frame(&self) -> bool {
        self.format() == Some(Format::SparseFrame)
    }
}

fn copy_of(error: &io::Error) -> io::Error {
    let copy = || io::Error::new(error.kind(), error.to_string());
    error.raw_os_error().map_or_else(copy, io::Error::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_looked_at_once_and_by_its_copies_not_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        fs::write(&path, b"blpk").unwrap();
        let place = Place::from(path.as_path());
        let copy = place.clone();
        assert_eq!(place.format(), Some(Format::Blp));
        fs::remove_file(&path).unwrap();
        assert_eq!(copy.format(), Some(Format::Blp));
        assert_eq!(Place::from(path).format(), None);
    }
}
