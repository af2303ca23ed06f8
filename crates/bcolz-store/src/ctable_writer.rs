//! Making tables and changing them.
//!
//! A table has no length of its own: after a crash it ends with its shortest column. So all columns
//! first write their chunks and then their lengths, and they shrink one after the other.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "rows and bytes that were compared with the layout"
    )
)]

mod columns;

pub use columns::{check_new_column, place_of_column};

use std::path::Path;
use std::sync::Arc;

use blosc_io::LockWait;
use blosc_io::tree::TreeLock;

use crate::carray_writer::{CArrayWriter, create_dir};
use crate::create::CreateOptions;
use crate::ctable::CTable;
use crate::error::{Param, Result};
use crate::files::{self, join, lock_exclusive};
use crate::leftovers;
use crate::meta::{self, Attrs};
use crate::names;
use crate::names::names_path;
use crate::params::OpenOptions;
use crate::repair::{Action, Repair};
use crate::table_sums::{TableSums, replace_attrs};
use crate::tree::{DirTree, Tree};
use blosc_dtype::json::Json;

/// A table that is being written; [`CArrayWriter`] says when changes reach the disk.
///
/// ```
/// use bcolz_store::{CTable, CTableWriter, CreateOptions, Dtype};
///
/// # let dir = tempfile::tempdir()?;
/// # let root = dir.path().join("trades");
/// let price = CreateOptions::new(Dtype::parse("float64")?);
/// let volume = CreateOptions::new(Dtype::parse("int32")?);
/// let mut writer = CTableWriter::create(&root, &[("price", price), ("volume", volume)])?;
/// writer.append(&[&1.5_f64.to_le_bytes(), &7_i32.to_le_bytes()])?;
/// writer.finish()?;
///
/// let table = CTable::open(&root)?;
/// assert_eq!(table.len(), 1);
/// assert_eq!(table.column("volume")?.read_as::<i32>(0..1)?, [7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CTableWriter {
    tree: Arc<dyn Tree>,
    path: String,
    columns: Vec<(String, CArrayWriter)>,
    attrs: Attrs,
    repairs: Vec<Action>,
    /// Held until the writer is dropped.
    _lock: Option<Box<dyn TreeLock>>,
}

impl CTableWriter {
    /// Whether a column can have this name.
    #[must_use]
    pub fn can_have(name: &str) -> bool {
        names::fault(name).is_none()
    }

    /// Makes a new, empty table in a new directory.
    ///
    /// # Errors
    ///
    /// [`Param`] if names or options are invalid; [`Param::Exists`], `Io`.
    pub fn create(rootdir: impl AsRef<Path>, columns: &[(&str, CreateOptions)]) -> Result<Self> {
        let durability = columns.first().map(|(_, options)| options.durability).unwrap_or_default();
        Self::create_in(
            Arc::new(DirTree::new(rootdir.as_ref()).durability(durability)),
            "",
            columns,
        )
    }

    /// Makes a new, empty table at `path` of a tree; the parent must exist. The directory becomes a
    /// table only when all columns are complete.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn create_in(
        tree: Arc<dyn Tree>,
        path: &str,
        columns: &[(&str, CreateOptions)],
    ) -> Result<Self> {
        for (i, (name, options)) in columns.iter().enumerate() {
            check_name(name)?;
            if columns.iter().take(i).any(|(earlier, _)| earlier == name) {
                return Err(Param::ColumnExists { name: (*name).to_owned() }.into());
            }
            options.to_metadata(&join(path, name))?;
        }
        create_dir(&*tree, path)?;
        let lock = lock_exclusive(&*tree, path, &LockWait::default())?;
        let mut writer = Self {
            tree,
            path: path.to_owned(),
            columns: Vec::new(),
            attrs: Attrs::default(),
            repairs: Vec::new(),
            _lock: lock,
        };
        for (name, options) in columns {
            let column =
                CArrayWriter::create_column(writer.tree.clone(), &join(path, name), options)?;
            writer.columns.push(((*name).to_owned(), column));
        }
        writer.write(&meta::attrs_path(path), &writer.attrs.to_text())?;
        if writer.columns.iter().any(|(_, column)| column.is_summed()) {
            TableSums::create(&*writer.tree, path, writer.names())?;
        }
        writer.write_names()?;
        Ok(writer)
    }

    /// Opens a table to change it, and first repairs the leftovers of an interrupted change: longer
    /// columns lose the rows that no reader sees, see [`repairs`](Self::repairs).
    ///
    /// # Errors
    ///
    /// As [`CTable::open`].
    pub fn open(rootdir: impl AsRef<Path>) -> Result<Self> {
        Self::open_in(Arc::new(DirTree::new(rootdir.as_ref())), "", &OpenOptions::default())
    }

    /// Opens the table at `path` of a tree to change it.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_in(tree: Arc<dyn Tree>, path: &str, options: &OpenOptions) -> Result<Self> {
        let lock = lock_exclusive(&*tree, path, &options.lock)?;
        let mut repairs = Vec::new();
        if let Some(what) = leftovers::finish_rename(&*tree, path)? {
            repairs.push(Action { path: path.to_owned(), what });
        }
        leftovers::remove_pending(&*tree, path)?;
        let options = options.clone().broken_columns(crate::BrokenColumns::Refuse);
        let table = CTable::open_in(tree.clone(), path, &options)?;
        let (to, attrs) = (table.len(), table.attrs()?);
        let mut columns = Vec::new();
        for column in table.columns {
            let (path, from) = (column.array.path().to_owned(), column.array.len());
            let mut writer = CArrayWriter::from_array(column.array)?;
            if from > to {
                writer.trim(from - to)?;
                repairs.push(Action { path, what: Repair::Trimmed { from, to } });
            }
            columns.push((column.name, writer));
        }
        Ok(Self { tree, path: path.to_owned(), columns, attrs, repairs, _lock: lock })
    }

    /// The repairs that opening made.
    #[must_use]
    pub fn repairs(&self) -> &[Action] {
        &self.repairs
    }

    /// Rows, including the ones that were not flushed.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Name, type of the items and items of a row in each further dimension, of each column.
    #[cfg(feature = "arrow")]
    pub(crate) fn types(&self) -> impl Iterator<Item = (&str, &blosc_dtype::Dtype, &[u64])> {
        self.columns.iter().map(|(name, column)| {
            let (dtype, shape) = column.items();
            (name.as_str(), dtype, shape)
        })
    }

    /// The names of the columns in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// Appends rows: the bytes of each column, in the order of the columns.
    ///
    /// # Errors
    ///
    /// [`Param`] if the columns do not get the same number of whole rows; `Io`.
    pub fn append(&mut self, columns: &[&[u8]]) -> Result<()> {
        let expected = self.columns.len();
        if columns.len() != expected {
            return Err(Param::ColumnCount { found: columns.len(), expected }.into());
        }
        let mut expected = None;
        for ((name, column), data) in self.columns.iter().zip(columns) {
            let (nbytes, rowsize) = (data.len() as u64, column.rowsize() as u64);
            if !nbytes.is_multiple_of(rowsize) {
                return Err(Param::Ragged { nbytes, rowsize }.into());
            }
            let found = nbytes / rowsize;
            let expected = *expected.get_or_insert(found);
            if found != expected {
                return Err(Param::ColumnLength { name: name.clone(), found, expected }.into());
            }
        }
        self.columns.iter_mut().zip(columns).try_for_each(|((_, column), data)| column.append(data))
    }

    /// Appends rows given as records: items of the columns side by side, as
    /// [`CTable::read_records`] gives them.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub fn append_records(&mut self, records: &[u8]) -> Result<()> {
        let sizes: Vec<usize> = self.columns.iter().map(|(_, column)| column.rowsize()).collect();
        let rowsize: usize = sizes.iter().sum();
        if rowsize == 0 || !records.len().is_multiple_of(rowsize) {
            return Err(
                Param::Ragged { nbytes: records.len() as u64, rowsize: rowsize as u64 }.into()
            );
        }
        let mut columns: Vec<Vec<u8>> = vec![Vec::new(); sizes.len()];
        for mut record in records.chunks_exact(rowsize) {
            for (column, size) in columns.iter_mut().zip(&sizes) {
                let (item, rest) = record.split_at((*size).min(record.len()));
                column.extend_from_slice(item);
                record = rest;
            }
        }
        let columns: Vec<&[u8]> = columns.iter().map(Vec::as_slice).collect();
        self.append(&columns)
    }

    /// Changes rows of a column, as [`CArrayWriter::write_rows`].
    ///
    /// # Errors
    ///
    /// [`Param::NoColumn`], and the errors of [`CArrayWriter::write_rows`].
    pub fn write_rows(&mut self, column: &str, start: u64, data: &[u8]) -> Result<()> {
        let found = self.columns.iter_mut().find(|(name, _)| name == column);
        let (_, column) = found.ok_or_else(|| Param::NoColumn { name: column.to_owned() })?;
        column.write_rows(start, data)
    }

    /// Removes the last rows, on disk at once.
    ///
    /// # Errors
    ///
    /// As [`CArrayWriter::trim`].
    pub fn trim(&mut self, rows: u64) -> Result<()> {
        let len = self.len();
        let Some(left) = len.checked_sub(rows) else {
            return Err(Param::Rows { start: 0, end: rows, len }.into());
        };
        // First gives equal lengths to the columns that grew since the last flush.
        self.flush()?;
        self.columns.iter_mut().try_for_each(|(_, column)| column.trim(len - left))
    }

    /// Makes the table longer or shorter, on disk at once; new rows have the fill values of their
    /// columns.
    ///
    /// # Errors
    ///
    /// As [`CArrayWriter::resize`].
    pub fn resize(&mut self, len: u64) -> Result<()> {
        if len < self.len() {
            return self.trim(self.len() - len);
        }
        self.columns.iter_mut().try_for_each(|(_, column)| column.grow(len))?;
        self.flush()
    }

    /// The attributes of the table.
    #[must_use]
    pub const fn attrs(&self) -> &Attrs {
        &self.attrs
    }

    /// Sets an attribute of the table, on disk at once.
    ///
    /// # Errors
    ///
    /// `Io`; then the attribute keeps its old value.
    pub fn set_attr(&mut self, name: &str, value: impl Into<Json>) -> Result<()> {
        let mut attrs = self.attrs.clone();
        attrs.set(name, value);
        self.replace_attrs(attrs)
    }

    /// Replaces all attributes of the table, on disk at once; columns have their own.
    ///
    /// # Errors
    ///
    /// `Io`; then the attributes keep their old values.
    pub fn replace_attrs(&mut self, attrs: Attrs) -> Result<()> {
        replace_attrs(&*self.tree, &self.path, &attrs.to_text())?;
        self.attrs = attrs;
        Ok(())
    }

    /// Writes all unsaved rows and the metadata to disk.
    ///
    /// # Errors
    ///
    /// `Io`; then everything flushed before is intact, and `flush` can be called again.
    pub fn flush(&mut self) -> Result<()> {
        self.columns.iter_mut().try_for_each(|(_, column)| column.flush_chunks())?;
        self.columns.iter_mut().try_for_each(|(_, column)| column.flush_sizes())?;
        let drops_sums = self.columns.iter().any(|(_, column)| column.drops_sums());
        self.columns.iter_mut().try_for_each(|(_, column)| column.flush_sums())?;
        if drops_sums { self.update_sums(false) } else { Ok(()) }
    }

    /// Tells the sums of the table which columns have some.
    fn update_sums(&self, keeps_lost: bool) -> Result<()> {
        TableSums::update(&*self.tree, &self.path, self.names(), keeps_lost)
    }

    /// Flushes and closes the table.
    ///
    /// # Errors
    ///
    /// As [`flush`](Self::flush).
    pub fn finish(mut self) -> Result<()> {
        self.flush()
    }

    fn write_names(&self) -> Result<()> {
        self.write(&names_path(&self.path), &names_text(self.names()))
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        files::write(&*self.tree, path, text.as_bytes())
    }
}

/// The text of `__rootdirs__`.
pub(crate) fn names_text<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<Json> = names.map(Json::from).collect();
    format!("{}\n", Json::Object(vec![("names".to_owned(), Json::Array(names))]))
}

fn check_name(name: &str) -> Result<()> {
    names::fault(name)
        .map_or(Ok(()), |fault| Err(Param::ColumnName { name: name.to_owned(), fault }.into()))
}
