//! All arrays and tables below a directory.

use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::files::{self, join};
use crate::meta;
use crate::names;
use crate::tree::{DirTree, Tree};

/// An array or table found on a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// Its path below the directory of the walk.
    pub path: String,
    /// Whether it is a table.
    pub is_table: bool,
}

/// All arrays and tables below a directory, in the order of their paths; columns of a table belong
/// to it.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// use bcolz_store::{CArrayWriter, CreateOptions, Dtype};
///
/// let options = CreateOptions::new(Dtype::parse("int16")?);
/// let create = |name| CArrayWriter::create(dir.path().join(name), &options);
/// create("prices")?.finish()?;
/// create("volumes")?.finish()?;
/// let mut found = bcolz_store::walk::walk(dir.path());
/// assert_eq!(found.next().transpose()?.map(|found| found.path).as_deref(), Some("prices"));
/// assert_eq!(found.count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn walk(dir: impl AsRef<Path>) -> Walk {
    walk_in(Arc::new(DirTree::new(dir.as_ref())), "")
}

/// All arrays and tables at or below `path` of a tree.
#[must_use]
pub fn walk_in(tree: Arc<dyn Tree>, path: &str) -> Walk {
    Walk { tree, todo: vec![(path.to_owned(), 0)] }
}

/// Arrays and tables below a directory; made by [`walk`].
#[derive(Clone, Debug)]
pub struct Walk {
    tree: Arc<dyn Tree>,
    /// Directories still to be visited, the next one last, and their depths.
    todo: Vec<(String, usize)>,
}

impl Walk {
    /// The data set at `path`, if any; otherwise adds its directories to the list.
    fn visit(&mut self, path: String, depth: usize) -> Result<Option<Found>> {
        if names::is_table(&*self.tree, &path)? {
            return Ok(Some(Found { path, is_table: true }));
        }
        let has = |path: &str| files::has_file(&*self.tree, path);
        if has(&meta::storage_path(&path))? && has(&meta::sizes_path(&path))? {
            return Ok(Some(Found { path, is_table: false }));
        }
        if depth < MAX_DEPTH {
            let mut entries = self.tree.list(&path).map_err(|source| Error::io(&path, source))?;
            entries.sort_by(|a, b| b.cmp(a));
            let dirs = entries.into_iter().filter(|entry| entry.is_dir);
            self.todo.extend(dirs.map(|entry| (join(&path, &entry.name), depth.saturating_add(1))));
        }
        Ok(None)
    }
}

impl Iterator for Walk {
    type Item = Result<Found>;

    /// The next data set. A directory that cannot be read gives an error, and the walk goes on.
    fn next(&mut self) -> Option<Self::Item> {
        while let Some((path, depth)) = self.todo.pop() {
            if let Some(found) = self.visit(path, depth).transpose() {
                return Some(found);
            }
        }
        None
    }
}

/// The walk does not enter directories deeper than this.
const MAX_DEPTH: usize = 64;
