//! A directory of either kind.

use std::path::Path;
use std::sync::Arc;

use blosc_container::report::{Progress, VerifyOptions};

use crate::carray::{CArray, Report};
use crate::ctable::CTable;
use crate::error::{Error, Result};
use crate::files;
use crate::names;
use crate::params::OpenOptions;
use crate::prefetch;
use crate::sums::{Sums, sums_path};
use crate::table_sums::TableSums;
use crate::tree::{DirTree, Tree};

/// An array or a table.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one is opened, not a list of them")]
pub enum DataSet {
    /// A directory without `__rootdirs__`.
    CArray(CArray),
    /// A directory with `__rootdirs__`.
    CTable(CTable),
}

/// Opens the array or table in a directory.
///
/// # Errors
///
/// As [`CArray::open`] and [`CTable::open`].
pub fn open(rootdir: impl AsRef<Path>) -> Result<DataSet> {
    open_in(Arc::new(directory(rootdir.as_ref())?), "", &OpenOptions::default())
}

/// The files of a directory, which must exist.
pub(crate) fn directory(rootdir: &Path) -> Result<DirTree> {
    match rootdir.metadata() {
        Ok(_) => Ok(DirTree::new(rootdir)),
        Err(source) => Err(Error::Io { path: rootdir.display().to_string(), source }),
    }
}

/// Opens the array or table at `path` of a tree.
///
/// # Errors
///
/// As [`CArray::open_in`] and [`CTable::open_in`].
pub fn open_in(tree: Arc<dyn Tree>, path: &str, options: &OpenOptions) -> Result<DataSet> {
    prefetch::announce_metadata(&*tree, path);
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

    /// Decodes all chunks; calls `progress` now and then.
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
    /// Whether the array, or a column of the table, has a file of checksums for
    /// [`verify`](Self::verify) to compare. An error of the search counts as yes.
    #[must_use]
    pub fn has_checksums(&self) -> bool {
        let has = |array: &CArray| Sums::exist(&*array.tree, &array.path).unwrap_or(true);
        match self {
            Self::CArray(array) => has(array),
            Self::CTable(table) => table.columns().iter().any(|column| has(&column.array)),
        }
    }

    /// Writes a checksum of each file of the array, or of the table's arrays. All files are read
    /// for it. [`verify`](Self::verify) compares the sums.
    ///
    /// # Errors
    ///
    /// `Locked`, `Io`; the errors of chunk headers.
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
            files::write(&**tree, &sums_path, &Sums::compute(&column)?.to_bytes())?;
        }
        match self {
            Self::CArray(_) => Ok(()),
            Self::CTable(table) => TableSums::create(&**tree, path, table.names()),
        }
    }
}
