//! Reads that the system refuses: a rescue goes on without these bytes, and reports the files.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use blosc_io::tree::{DirTree, Entry, Tree};
use blosc_io::{FileStore, ReadAt};

use crate::error::{Error, Result};

/// The files that could not be read, each with its first error.
#[derive(Clone, Debug, Default)]
pub(super) struct Unread(Arc<Mutex<BTreeMap<String, String>>>);

impl Unread {
    /// Opens a file; reads that the system refuses are noted.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub(super) fn file(&self, path: &Path) -> Result<Arc<dyn ReadAt>> {
        let file = FileStore::open(path).map_err(Error::open(path))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(Arc::new(WatchedFile { file: Box::new(file), name, unread: self.clone() }))
    }

    /// The files of a folder; reads that the system refuses are noted.
    pub(super) fn tree(&self, path: &Path) -> Arc<dyn Tree> {
        Arc::new(WatchedTree { tree: DirTree::new(path), unread: self.clone() })
    }

    /// Files and errors, by name.
    pub(super) fn all(&self) -> Vec<String> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.iter().map(|(name, error)| format!("{name}: not read: {error}")).collect()
    }

    /// Whether a read of this file was refused.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(name)
    }

    /// Notes a refusal. The rescue then treats the bytes as missing.
    fn watch<T>(&self, name: &str, instead: ErrorKind, read: io::Result<T>) -> io::Result<T> {
        read.map_err(|error| {
            if !is_refusal(&error) {
                return error;
            }
            let text = error.to_string();
            // The number of the error adds nothing to its words.
            let words = text.split(" (os error ").next().unwrap_or_default().to_ascii_lowercase();
            let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            noted.entry(name.to_owned()).or_insert(words);
            instead.into()
        })
    }
}

/// Whether the system refuses to read existing bytes. A missing or short file is damage instead.
fn is_refusal(error: &io::Error) -> bool {
    use ErrorKind::{
        Interrupted, InvalidInput, IsADirectory, NotADirectory, NotFound, UnexpectedEof,
    };
    let damage = [Interrupted, InvalidInput, IsADirectory, NotADirectory, NotFound, UnexpectedEof];
    !damage.contains(&error.kind())
}

#[derive(Debug)]
struct WatchedTree {
    tree: DirTree,
    unread: Unread,
}

impl Tree for WatchedTree {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        let file = self.unread.watch(path, ErrorKind::NotFound, self.tree.open(path))?;
        let (name, unread) = (path.to_owned(), self.unread.clone());
        Ok(Box::new(WatchedFile { file, name, unread }))
    }

    fn len_of(&self, path: &str) -> io::Result<u64> {
        self.unread.watch(path, ErrorKind::NotFound, self.tree.len_of(path))
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        match self.unread.watch(path, ErrorKind::NotFound, self.tree.list(path)) {
            // The other folders are still read.
            Err(_) if !path.is_empty() && self.unread.has(path) => Ok(vec![]),
            listed => listed,
        }
    }
}

struct WatchedFile {
    file: Box<dyn ReadAt>,
    name: String,
    unread: Unread,
}

impl ReadAt for WatchedFile {
    fn len(&self) -> io::Result<u64> {
        self.unread.watch(&self.name, ErrorKind::UnexpectedEof, self.file.len())
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.unread.watch(&self.name, ErrorKind::UnexpectedEof, self.file.read_at(at, buf))
    }
}
