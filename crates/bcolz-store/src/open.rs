//! A directory of either kind, and all of them below another one.

use std::path::Path;
use std::sync::Arc;

use blosc_container::{Progress, VerifyOptions};

use crate::carray::{CArray, Report};
use crate::ctable::CTable;
use crate::error::{Error, Result};
use crate::files::{self, join};
use crate::meta;
use crate::names;
use crate::params::OpenOptions;
use crate::sums::{Sums, sums_path};
use crate::tree::{DirTree, Tree};

/// An array or a table.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one is opened, not a list of them")]
pub enum DataSet {
    /// A directory without `__rootdirs__`.
    CArray(CArray),
    /// A directory with it.
    CTable(CTable),
}

/// Opens what is in a directory.
///
/// # Errors
///
/// As [`CArray::open`] and [`CTable::open`].
pub fn open(rootdir: impl AsRef<Path>) -> Result<DataSet> {
    open_in(Arc::new(DirTree::new(rootdir.as_ref())), "", &OpenOptions::default())
}

/// Opens what is at `path` of a tree.
///
/// # Errors
///
/// As [`CArray::open_in`] and [`CTable::open_in`].
pub fn open_in(tree: Arc<dyn Tree>, path: &str, options: &OpenOptions) -> Result<DataSet> {
    if names::is_table(&*tree, path)? {
        return CTable::open_in(tree, path, options).map(DataSet::CTable);
    }
    CArray::open_column(tree, path, options).map(DataSet::CArray)
}

impl DataSet {
    /// Rows.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::CArray(array) => array.len(),
            Self::CTable(table) => table.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Decodes everything; `progress` is called now and then.
    ///
    /// # Errors
    ///
    /// As [`CArray::verify`] and [`CTable::verify`].
    pub fn verify(
        &self,
        options: &VerifyOptions,
        progress: impl FnMut(Progress),
    ) -> Result<Report> {
        match self {
            Self::CArray(array) => array.verify(options, progress),
            Self::CTable(table) => table.verify(options, progress),
        }
    }
}

impl DataSet {
    /// Writes a file with a checksum of every file of the array, or of the arrays of the table, as
    /// it is now, for which all of them are read. [`verify`](Self::verify) compares them.
    ///
    /// # Errors
    ///
    /// `Locked`, `Io`; what is wrong with the headers of chunks.
    pub fn seal(&self) -> Result<()> {
        let (tree, path, options, columns) = match self {
            Self::CArray(array) => (&array.tree, &array.path, &array.options, vec![array]),
            Self::CTable(table) => {
                let columns = table.columns().iter().map(|column| &column.array).collect();
                (&table.tree, &table.path, &table.options, columns)
            }
        };
        let _lock = files::lock_exclusive(&**tree, path, &options.lock)?;
        for column in columns {
            let column = CArray::open_column(tree.clone(), column.path(), options)?;
            let sums_path = sums_path(column.path());
            tree.write(&sums_path, &Sums::compute(&column)?.to_bytes())
                .and_then(|()| tree.sync_all(core::slice::from_ref(&sums_path)))
                .map_err(|source| Error::io(sums_path, source))?;
        }
        Ok(())
    }
}

/// What was found on a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// Where it lies below the directory of the walk.
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
/// let mut found = bcolz_store::walk(dir.path());
/// assert_eq!(found.next().transpose()?.map(|found| found.path).as_deref(), Some("prices"));
/// assert_eq!(found.count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn walk(dir: impl AsRef<Path>) -> Walk {
    walk_in(Arc::new(DirTree::new(dir.as_ref())), "")
}

/// The same for a tree.
#[must_use]
pub fn walk_in(tree: Arc<dyn Tree>, path: &str) -> Walk {
    Walk { tree, todo: vec![(path.to_owned(), 0)] }
}

/// Arrays and tables below a directory; made by [`walk`].
#[derive(Clone, Debug)]
pub struct Walk {
    tree: Arc<dyn Tree>,
    /// Directories still to be looked at, the next one last, and how deep they are.
    todo: Vec<(String, usize)>,
}

impl Walk {
    /// What is at `path`, if it is a data set; its directories are looked at next if not.
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
            self.todo.extend(dirs.map(|entry| (join(&path, &entry.name), depth + 1)));
        }
        Ok(None)
    }
}

impl Iterator for Walk {
    type Item = Result<Found>;

    /// The next data set; what cannot be looked at is an error of its own, and the walk goes on.
    fn next(&mut self) -> Option<Self::Item> {
        while let Some((path, depth)) = self.todo.pop() {
            if let Some(found) = self.visit(path, depth).transpose() {
                return Some(found);
            }
        }
        None
    }
}

/// Directories deeper than this are not looked into.
const MAX_DEPTH: usize = 64;
