//! A tree that records its changes, so that a test can stop after any of them.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::lock::LockKind;
use crate::tree::{Entry, Tree, TreeLock};
use crate::{LockWait, ReadAt};

/// A change of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A file was replaced or created in one step.
    Write(String, Vec<u8>),
    /// A file was created that did not exist.
    CreateNew(String, Vec<u8>),
    /// A directory was created.
    CreateDir(String),
    /// A file or directory was removed, or did not exist.
    Remove(String),
    /// A file or directory was renamed: the old path and the new one.
    Rename(String, String),
    /// The content of a file was synced.
    Sync(String),
    /// The names in a directory were synced.
    SyncNames(String),
}

impl Step {
    /// Makes the change in another tree.
    ///
    /// # Errors
    ///
    /// The errors of that tree.
    pub fn apply(&self, tree: &dyn Tree) -> io::Result<()> {
        match self {
            Self::Write(path, bytes) => tree.write(path, bytes),
            Self::CreateNew(path, bytes) => tree.create_new(path, bytes),
            Self::CreateDir(path) => tree.create_dir(path),
            Self::Remove(path) => tree.remove(path),
            Self::Rename(from, to) => tree.rename(from, to),
            Self::Sync(path) => tree.sync(path),
            Self::SyncNames(path) => tree.sync_names(path),
        }
    }
}

/// Passes all calls to another tree and records the changes that succeed. Clones share the record.
///
/// ```
/// use blosc_io::testing::{RecordingTree, Step};
/// use blosc_io::tree::{MemTree, Tree};
///
/// let tree = RecordingTree::new(MemTree::new());
/// tree.write("f", b"ab")?;
/// tree.sync("f")?;
/// assert_eq!(tree.take(), [Step::Write("f".into(), b"ab".to_vec()), Step::Sync("f".into())]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RecordingTree<T> {
    inner: T,
    steps: Arc<Mutex<Vec<Step>>>,
}

impl<T: Tree> RecordingTree<T> {
    /// Records the changes of `inner` from now on.
    pub fn new(inner: T) -> Self {
        Self { inner, steps: Arc::default() }
    }

    /// Takes the steps recorded so far.
    pub fn take(&self) -> Vec<Step> {
        core::mem::take(&mut *self.steps.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn record(&self, step: Step) -> io::Result<()> {
        step.apply(&self.inner)?;
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).push(step);
        Ok(())
    }
}

impl<T: Tree> Tree for RecordingTree<T> {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        self.inner.open(path)
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        self.inner.list(path)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.record(Step::Write(path.to_owned(), bytes.to_vec()))
    }

    fn create_new(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.record(Step::CreateNew(path.to_owned(), bytes.to_vec()))
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        self.record(Step::CreateDir(path.to_owned()))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.record(Step::Remove(path.to_owned()))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.record(Step::Rename(from.to_owned(), to.to_owned()))
    }

    fn sync(&self, path: &str) -> io::Result<()> {
        self.record(Step::Sync(path.to_owned()))
    }

    fn sync_names(&self, path: &str) -> io::Result<()> {
        self.record(Step::SyncNames(path.to_owned()))
    }

    fn lock(&self, path: &str, kind: LockKind, wait: &LockWait) -> io::Result<Box<dyn TreeLock>> {
        self.inner.lock(path, kind, wait)
    }
}

/// Checks an empty tree that can be changed.
///
/// # Errors
///
/// The first difference, or the tree's error.
pub fn check_tree(tree: &dyn Tree) -> io::Result<()> {
    use super::expect_equal;
    let kind = |result: io::Result<()>| result.err().map(|error| error.kind());
    let names = |path: &str| -> io::Result<Vec<(String, bool)>> {
        let mut entries = tree.list(path)?;
        entries.sort();
        Ok(entries.into_iter().map(|entry| (entry.name, entry.is_dir)).collect())
    };
    expect_equal("an empty root", names("")?, vec![])?;
    tree.create_dir("d")?;
    expect_equal(
        "a directory twice",
        kind(tree.create_dir("d")),
        Some(io::ErrorKind::AlreadyExists),
    )?;
    tree.create_new("d/f", b"one")?;
    let twice = kind(tree.create_new("d/f", b"two"));
    expect_equal("a new file twice", twice, Some(io::ErrorKind::AlreadyExists))?;
    super::check_read_at(&*tree.open("d/f")?, b"one")?;
    tree.write("d/f", b"three")?;
    tree.write("g", b"")?;
    expect_equal("len_of", (tree.len_of("d/f")?, tree.len_of("g")?), (5, 0))?;
    expect_equal("the root", names("")?, vec![("d".into(), true), ("g".into(), false)])?;
    expect_equal("a directory", names("d")?, vec![("f".into(), false)])?;
    let opened = kind(tree.open("d").map(drop));
    expect_equal("opening a directory", opened, Some(io::ErrorKind::InvalidInput))?;
    let opened = kind(tree.open("none").map(drop));
    expect_equal("opening what is missing", opened, Some(io::ErrorKind::NotFound))?;
    tree.rename("d/f", "g")?;
    super::check_read_at(&*tree.open("g")?, b"three")?;
    tree.rename("d", "e")?;
    tree.write("e/h", b"x")?;
    tree.sync("e/h")?;
    tree.sync_names("e")?;
    tree.sync_all(&["e/h".into(), "g".into(), "e/gone".into()])?;
    tree.remove("e")?;
    tree.remove("e")?;
    let copied = crate::Windowed::new(crate::MemStore::new(b"<copy>".to_vec()), 1, 4)?;
    tree.copy_new("g2", &copied)?;
    super::check_read_at(&*tree.open("g2")?, b"copy")?;
    let twice = kind(tree.copy_new("g2", &copied));
    expect_equal("a copy twice", twice, Some(io::ErrorKind::AlreadyExists))?;
    tree.copy_permissions("g2", "g")?;
    tree.copy_permissions("none", "g")?;
    tree.remove("g2")?;
    expect_equal("at the end", names("")?, vec![("g".into(), false)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{DirTree, MemTree};

    #[test]
    fn trees_of_this_crate_pass_the_suite() {
        let dir = tempfile::tempdir().unwrap();
        check_tree(&DirTree::new(dir.path())).unwrap();
        check_tree(&MemTree::new()).unwrap();
    }

    #[test]
    fn a_recording_replayed_gives_the_same_tree() {
        let (tree, replayed) = (RecordingTree::new(MemTree::new()), MemTree::new());
        check_tree(&tree).unwrap();
        let steps = tree.take();
        assert_eq!(steps.first(), Some(&Step::CreateDir("d".into())));
        steps.iter().for_each(|step| step.apply(&replayed).unwrap());
        assert_eq!(replayed.list("").unwrap(), tree.list("").unwrap());
        assert_eq!(replayed.len_of("g").unwrap(), 5);
        assert_eq!(tree.take(), []);
    }

    #[test]
    fn a_change_that_fails_is_not_recorded() {
        let tree = RecordingTree::new(MemTree::new());
        tree.create_new("f", b"").unwrap();
        assert!(tree.create_new("f", b"").is_err());
        assert_eq!(tree.take().len(), 1);
    }
}
