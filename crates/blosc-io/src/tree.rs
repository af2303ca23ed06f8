//! Containers of several files: a tree of named files, in a directory or in memory.
//!
//! ```text
//!   bcolz-store, sparse frames of b2frame      meaning of the files
//!        |  Tree
//!   DirTree   MemTree   your own               the files themselves
//!        |  ReadAt
//!   FileStore ...                              one file
//! ```
//!
//! A writer takes the lock of the directory that it changes ([`Tree::lock`]); a tree in memory has
//! none.

mod dir;
mod listing;
mod memory;

use core::fmt::Debug;
use core::ops::Range;
use std::collections::BTreeSet;
use std::io;

use crate::lock::LockKind;
use crate::{Lock, LockWait, ReadAt};

pub use dir::DirTree;
pub use listing::Listing;
pub use memory::MemTree;

/// Files below a root. Paths have `/` between names; the root itself is the empty path.
///
/// A reader needs only [`open`](Self::open) and [`list`](Self::list). Each of the other methods
/// changes the tree in one step: another reader sees the state before it or the state after it.
///
/// ```
/// use blosc_io::tree::{MemTree, Tree};
///
/// let tree = MemTree::new();
/// tree.create_dir("data")?;
/// tree.write("data/0", b"first")?;
/// assert_eq!(tree.open("data/0")?.len()?, 5);
/// assert_eq!(tree.list("data")?.len(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Tree: Debug + Send + Sync {
    /// Opens an ordinary file for reading.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is none; `InvalidInput` for any other entry, such as a device or a link
    /// that leads out of the root.
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>>;

    /// Length of a file that [`open`](Self::open) opens (bytes).
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    fn len_of(&self, path: &str) -> io::Result<u64> {
        self.open(path)?.len()
    }

    /// The entries of a directory, in no particular order.
    ///
    /// # Errors
    ///
    /// `NotFound` or `NotADirectory` if there is no directory.
    fn list(&self, path: &str) -> io::Result<Vec<Entry>>;

    /// Bytes that one [`prefetch`](Self::prefetch) may name; 0 if announcing reads gains nothing:
    /// see [`ReadAt::prefetch_limit`].
    fn prefetch_limit(&self) -> u64 {
        0
    }

    /// Begins to fetch parts of files that will be read soon, all at once, and does not wait for
    /// them: see [`ReadAt::prefetch`]. Missing files, and bytes after the end of a file, are
    /// ignored.
    fn prefetch(&self, parts: &[(String, Range<u64>)]) {
        if self.prefetch_limit() == 0 {
            return;
        }
        for (path, range) in parts {
            if let Ok(file) = self.open(path) {
                file.prefetch(core::slice::from_ref(range));
            }
        }
    }

    /// Replaces a file, or creates it. Its directory must exist.
    ///
    /// # Errors
    ///
    /// Errors of the storage; then the file keeps its old content.
    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let _ = (path, bytes);
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    /// Creates a file that does not exist yet. Its directory must exist. Unlike
    /// [`write`](Self::write), a failure may leave a part of the file.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if there is an entry of that name, even a link; errors of the storage.
    fn create_new(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let _ = (path, bytes);
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    /// As [`create_new`](Self::create_new) with the bytes of a store, which a tree need not have in
    /// memory at once.
    ///
    /// # Errors
    ///
    /// As [`create_new`](Self::create_new); errors of reading `source`.
    fn copy_new(&self, path: &str, source: &dyn ReadAt) -> io::Result<()> {
        if let Some(bytes) = source.in_memory() {
            return self.create_new(path, bytes);
        }
        let len = usize::try_from(source.len()?).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len)?;
        bytes.resize(len, 0);
        source.read_exact_at(0, &mut bytes)?;
        self.create_new(path, &bytes)
    }

    /// Gives a file the permissions of another one, if the tree has any; a missing file has none.
    ///
    /// # Errors
    ///
    /// Errors of the storage.
    fn copy_permissions(&self, from: &str, to: &str) -> io::Result<()> {
        let _ = (from, to);
        Ok(())
    }

    /// Creates a directory. Its parent must exist.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if there is an entry of that name.
    fn create_dir(&self, path: &str) -> io::Result<()> {
        let _ = path;
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    /// Removes a file, or a directory with all of its entries. A missing entry is no error.
    ///
    /// # Errors
    ///
    /// Errors of the storage.
    fn remove(&self, path: &str) -> io::Result<()> {
        let _ = path;
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    /// Renames a file, which may replace a file of the new name, or a directory, for which the new
    /// name must be free.
    ///
    /// # Errors
    ///
    /// Errors of the storage.
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let _ = (from, to);
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    /// Syncs the content of a file, so that it survives a loss of power. Its name may still be
    /// lost.
    ///
    /// # Errors
    ///
    /// `NotFound`; errors of the storage.
    fn sync(&self, path: &str) -> io::Result<()> {
        let _ = path;
        Ok(())
    }

    /// Syncs the names in a directory, so that all created, renamed and removed files survive a
    /// loss of power.
    ///
    /// # Errors
    ///
    /// `NotFound`; errors of the storage.
    fn sync_names(&self, path: &str) -> io::Result<()> {
        let _ = path;
        Ok(())
    }

    /// Syncs several files, and then their names. Missing files are skipped.
    ///
    /// # Errors
    ///
    /// Errors of the storage.
    fn sync_all(&self, paths: &[String]) -> io::Result<()> {
        let mut parents = BTreeSet::new();
        for path in paths {
            skip_missing(self.sync(path))?;
            parents.insert(parent(path));
        }
        parents.into_iter().try_for_each(|parent| skip_missing(self.sync_names(parent)))
    }

    /// Takes the lock of a file or directory. The default is for a tree without locks.
    ///
    /// # Errors
    ///
    /// [`LockTimeout`](crate::lock::LockTimeout), or errors of the storage.
    fn lock(&self, path: &str, kind: LockKind, wait: &LockWait) -> io::Result<Box<dyn TreeLock>> {
        let _ = (path, kind, wait);
        Ok(Box::new(NoLock))
    }
}

/// A lock on a part of a tree, released when it is dropped.
pub trait TreeLock: Debug + Send + Sync {
    /// Whether it keeps other processes out. A tree that no other process can change needs no lock.
    fn is_held(&self) -> bool {
        true
    }
}

impl TreeLock for Lock {
    fn is_held(&self) -> bool {
        Self::is_held(self)
    }
}

/// The lock of a tree without locks.
#[derive(Clone, Copy, Debug)]
pub struct NoLock;

impl TreeLock for NoLock {}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name, without the path.
    pub name: String,
    /// Whether it is a directory, and not a link to one.
    pub is_dir: bool,
}

/// The path of `name` in the directory `path`.
#[must_use]
pub fn join(path: &str, name: &str) -> String {
    match (path, name) {
        (path, "") => path.to_owned(),
        ("", name) => name.to_owned(),
        (path, name) => format!("{path}/{name}"),
    }
}

/// The directory of a path; for a name in the root, and for the root, it is the root.
#[must_use]
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn skip_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_and_split_at_slashes() {
        assert_eq!([join("", "a"), join("a", "b"), join("a", "")], ["a", "a/b", "a"]);
        assert_eq!(["a/b/c", "a", ""].map(parent), ["a/b", "", ""]);
    }

    /// A tree that implements only the reader's methods.
    #[derive(Debug)]
    struct ReadOnly;

    impl Tree for ReadOnly {
        fn open(&self, _: &str) -> io::Result<Box<dyn ReadAt>> {
            Ok(Box::new(crate::MemStore::new(vec![1; 3])))
        }

        fn list(&self, _: &str) -> io::Result<Vec<Entry>> {
            Ok(vec![])
        }
    }

    #[test]
    fn a_tree_is_read_only_by_default() {
        assert_eq!(ReadOnly.len_of("x").unwrap(), 3);
        let changes = [
            ReadOnly.write("x", b""),
            ReadOnly.create_new("x", b""),
            ReadOnly.create_dir("x"),
            ReadOnly.remove("x"),
            ReadOnly.rename("x", "y"),
        ];
        for change in changes {
            assert_eq!(change.unwrap_err().kind(), io::ErrorKind::ReadOnlyFilesystem);
        }
        ReadOnly.sync_all(&["x".to_owned()]).unwrap();
        let locks = [(); 2].map(|()| ReadOnly.lock("x", LockKind::Exclusive, &LockWait::never()));
        assert!(locks.iter().all(Result::is_ok));
    }
}
