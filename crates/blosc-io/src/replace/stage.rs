//! A folder of a tree for making the successor of an entry.

use std::ffi::OsStr;
use std::io;

use super::name::temporary_name;
use crate::lock::LockKind;
use crate::tree::{TreeLock, join, parent};
use crate::{LockWait, Tree};

/// The number of names to try.
const TRIES: usize = 100;

/// A folder beside an entry of a tree, for the parts of its successor. Once synced, they are
/// renamed out of it. The folder is locked, and removed when it is dropped.
///
/// ```
/// use blosc_io::Tree;
/// use blosc_io::replace::TreeStage;
/// use blosc_io::tree::MemTree;
///
/// let tree = MemTree::new();
/// tree.write("f", b"old")?;
/// let stage = TreeStage::beside(&tree, "f")?;
/// tree.create_new(&stage.part(0), b"new")?;
/// tree.sync(&stage.part(0))?;
/// tree.rename(&stage.part(0), "f")?;
/// drop(stage);
/// assert_eq!(tree.list("")?.len(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TreeStage<'a> {
    tree: &'a dyn Tree,
    path: String,
    _lock: Box<dyn TreeLock>,
}

impl<'a> TreeStage<'a> {
    /// Makes the folder.
    ///
    /// # Errors
    ///
    /// Errors of the storage.
    pub fn beside(tree: &'a dyn Tree, target: &str) -> io::Result<Self> {
        let name = OsStr::new(target.rsplit('/').next().unwrap_or_default());
        for _ in 0..TRIES {
            let path = join(parent(target), &temporary_name(name).to_string_lossy());
            match tree.create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            match tree.lock(&path, LockKind::Exclusive, &LockWait::never()) {
                Ok(lock) => return Ok(Self { tree, path, _lock: lock }),
                // A sweep removed it as a leftover.
                Err(error) if is_taken(&error) => {}
                Err(error) => {
                    let _ = tree.remove(&path);
                    return Err(error);
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The path of a part.
    #[must_use]
    pub fn part(&self, number: usize) -> String {
        join(&self.path, &number.to_string())
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::NotFound)
}

impl Drop for TreeStage<'_> {
    fn drop(&mut self) {
        // The next writer sweeps a folder that cannot be removed.
        let _ = self.tree.remove(&self.path);
    }
}
