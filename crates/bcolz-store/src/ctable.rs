//! A table: columns in directories of their own, side by side, listed in `__rootdirs__`
//! ("ctables").

mod records;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use blosc_container::report::{Progress, VerifyOptions};
use blosc_dtype::Dtype;

use crate::carray::{CArray, Report};
use crate::error::{Corrupt, Error, NameFault, Param, Result};
use crate::files::{self, has_file, join};
use crate::leftovers;
use crate::meta::{self, Attrs};
use crate::names;
use crate::names::{names_path, parse_names};
use crate::note::{Fault, Note};
use crate::params::{BrokenColumns, OpenOptions};
use crate::sums::{Found, sums_path};
use crate::table_sums::{TableSums, compare_attrs};
use crate::tree::Tree;

/// A table that can be read; see the [crate] for an example.
#[derive(Clone, Debug)]
pub struct CTable {
    pub(crate) tree: Arc<dyn Tree>,
    pub(crate) path: String,
    pub(crate) columns: Vec<Column>,
    /// None if they are damaged.
    attrs: Option<Attrs>,
    notes: Vec<Note>,
    pub(crate) options: OpenOptions,
}

/// A column of a table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Column {
    /// The name, which is that of the directory.
    pub name: String,
    /// The rows.
    pub array: CArray,
}

impl CTable {
    /// Opens the table in a directory.
    ///
    /// # Errors
    ///
    /// `Corrupt` and `Dtype` if metadata of the table or of any column are missing or wrong; `Io`.
    pub fn open(rootdir: impl AsRef<Path>) -> Result<Self> {
        let tree = Arc::new(crate::open::directory(rootdir.as_ref())?);
        Self::open_in(tree, "", &OpenOptions::default())
    }

    /// Opens the table at `path` of a tree.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open). [`broken_columns`](OpenOptions::broken_columns) decides whether a
    /// column that cannot be opened is an error.
    pub fn open_in(tree: Arc<dyn Tree>, path: &str, options: &OpenOptions) -> Result<Self> {
        crate::prefetch::announce_metadata(&*tree, path);
        let names_path = names_path(path);
        let json = meta::read_object(&*tree, &names_path)?;
        let mut table = Self {
            tree,
            path: path.to_owned(),
            columns: Vec::new(),
            attrs: None,
            notes: Vec::new(),
            options: options.clone(),
        };
        let mut seen = HashSet::new();
        for name in parse_names(&json, &names_path)? {
            if let Err(error) = table.open_column(&name, !seen.insert(name.clone())) {
                if options.broken_columns == BrokenColumns::Refuse {
                    return Err(error);
                }
                table.note(Fault::ColumnSkipped { name, why: chain(&error) });
            }
        }
        table.look_at_lengths();
        if let Ok((attrs, fault)) = Attrs::read(&*table.tree, path) {
            fault.into_iter().for_each(|fault| table.note(fault));
            table.attrs = Some(attrs);
        }
        Ok(table)
    }

    /// An array as a table with a single column, to query it.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let root = dir.path().join("a");
    /// # use bcolz_store::{CArray, CArrayWriter, CTable, CreateOptions, Dtype};
    /// # let options = CreateOptions::new(Dtype::parse("uint8")?);
    /// # let mut writer = CArrayWriter::create(&root, &options)?;
    /// # writer.append(&[5, 6, 7])?;
    /// # writer.finish()?;
    /// let table = CTable::of_array("x", &CArray::open(root)?);
    /// assert_eq!(table.scan().filter("x > 5")?.count()?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of_array(name: &str, array: &CArray) -> Self {
        Self {
            tree: array.tree.clone(),
            path: array.path.clone(),
            columns: vec![Column { name: name.to_owned(), array: array.clone() }],
            attrs: array.attrs().ok(),
            notes: Vec::new(),
            options: array.options.clone(),
        }
    }

    /// Rows of the shortest column.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.columns.iter().map(|column| column.array.len()).min().unwrap_or(0)
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns in their order. A column can be longer than the table.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The table with some of its columns, in the order of `names`.
    ///
    /// # Errors
    ///
    /// [`Param::NoColumn`].
    pub fn select(&self, names: &[impl AsRef<str>]) -> Result<Self> {
        let column = |name: &str| {
            let found = self.columns.iter().find(|column| column.name == name);
            found.cloned().ok_or_else(|| Param::NoColumn { name: name.to_owned() }.into())
        };
        let columns =
            names.iter().map(|name| column(name.as_ref())).collect::<Result<Vec<Column>>>()?;
        Ok(Self { columns, ..self.clone() })
    }

    /// The names of the columns in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// A column.
    ///
    /// # Errors
    ///
    /// [`Param::NoColumn`].
    pub fn column(&self, name: &str) -> Result<&CArray> {
        let found = self.columns.iter().find(|column| column.name == name);
        found
            .map(|column| &column.array)
            .ok_or_else(|| Param::NoColumn { name: name.to_owned() }.into())
    }

    /// The type of a row: one field for each column, a sub-array where its rows have a shape.
    ///
    /// # Errors
    ///
    /// [`Error::Dtype`] if a row would be too large.
    pub fn dtype(&self) -> Result<Dtype> {
        records::dtype(&self.columns, &self.path)
    }

    /// Bytes of all columns.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.columns.iter().fold(0, |sum, column| sum.saturating_add(column.array.nbytes()))
    }

    /// Bytes of files that nothing refers to, in the table and in its columns; see
    /// [`CArray::dead_nbytes`].
    ///
    /// # Errors
    ///
    /// `Io` if a directory cannot be listed.
    pub fn dead_nbytes(&self) -> Result<u64> {
        let mut nbytes = leftovers::dead_nbytes(&*self.tree, &self.path, |_| false)?;
        for column in &self.columns {
            nbytes = nbytes.saturating_add(column.array.dead_nbytes()?);
        }
        Ok(nbytes)
    }

    /// The attributes of the table; columns have their own.
    ///
    /// # Errors
    ///
    /// If `__attrs__` is damaged; the data are readable all the same.
    pub fn attrs(&self) -> Result<Attrs> {
        match &self.attrs {
            Some(attrs) => Ok(attrs.clone()),
            None => Attrs::read(&*self.tree, &self.path).map(|(attrs, _)| attrs),
        }
    }

    /// Oddities in the metadata of the table and its columns.
    pub fn notes(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().chain(self.columns.iter().flat_map(|column| column.array.notes()))
    }

    /// Decodes every chunk of every column, and looks for files that do not belong to the table.
    /// Calls `progress` now and then.
    ///
    /// # Errors
    ///
    /// Only if a directory cannot be listed; the report has all faults of the data.
    pub fn verify(
        &self,
        options: &VerifyOptions,
        mut progress: impl FnMut(Progress),
    ) -> Result<Report> {
        let _lock = files::lock_shared(&*self.tree, &self.path, &self.options.lock)?;
        let mut report = Report::default();
        report.notes.clone_from(&self.notes);
        report.other.extend(self.attrs().err());
        let sums = match TableSums::read(&*self.tree, &self.path) {
            Ok(Found::Sums(sums)) => Some(sums),
            Ok(Found::Missing) => None,
            Ok(Found::Damaged) => {
                report.other.push(Error::corrupt(sums_path(&self.path), Corrupt::Sums));
                None
            }
            // The columns are readable all the same.
            Err(error) => {
                report.other.push(error);
                None
            }
        };
        if let Some(sums) = &sums {
            compare_attrs(&*self.tree, &self.path, sums.attrs, &mut report);
        }
        let mut unsummed = vec![];
        for column in &self.columns {
            let before = Progress { nchunks: report.nchunks, nbytes: report.nbytes };
            let found = column.array.verify_locked(options, &mut |done| {
                progress(Progress {
                    nchunks: before.nchunks.saturating_add(done.nchunks),
                    nbytes: before.nbytes.saturating_add(done.nbytes),
                });
            })?;
            let has_lost = |sums: &TableSums| sums.has_lost(&*self.tree, &self.path, &column.name);
            let path = column.array.path();
            match sums.as_ref().map_or(Ok(false), has_lost) {
                _ if found.checksum.is_some() => {}
                Ok(true) => report.other.push(Error::corrupt(sums_path(path), Corrupt::Missing)),
                Ok(false) => {
                    unsummed.push(Note { path: path.to_owned(), fault: Fault::SumsMissing });
                }
                Err(error) => report.other.push(error),
            }
            report.merge(found);
        }
        // bcolz adds columns without sums, so a missing sum proves no damage.
        unsummed.retain(|_| report.checksum.is_some());
        report.notes.extend(unsummed);
        let entries = self.tree.list(&self.path).map_err(|source| Error::io(&self.path, source))?;
        for entry in entries.into_iter().filter(|entry| entry.is_dir) {
            let is_listed = self.names().any(|name| name == entry.name);
            let sizes = meta::sizes_path(&join(&self.path, &entry.name));
            if !is_listed && has_file(&*self.tree, &sizes)? {
                let fault = Fault::Unlisted { name: entry.name };
                report.notes.push(Note { path: self.path.clone(), fault });
            }
        }
        Ok(report)
    }

    fn open_column(&mut self, name: &str, is_second: bool) -> Result<()> {
        let fault = if is_second { Some(NameFault::Twice) } else { names::fault(name) };
        if let Some(fault) = fault {
            let what = Corrupt::ColumnName { name: name.to_owned(), fault };
            return Err(Error::corrupt(names_path(&self.path), what));
        }
        let open = |name: &str| {
            let path = join(&self.path, name);
            let array = CArray::open_column(self.tree.clone(), &path, &self.options)?;
            Ok::<_, Error>(Column { name: name.to_owned(), array })
        };
        let column = open(name).or_else(|error| {
            let renamed = leftovers::find_renamed(&*self.tree, &self.path, name)?;
            renamed.map_or(Err(error), |renamed| open(&renamed))
        })?;
        self.columns.push(column);
        Ok(())
    }

    fn look_at_lengths(&mut self) {
        let (min, max) =
            (self.len(), self.columns.iter().map(|column| column.array.len()).max().unwrap_or(0));
        if min < max {
            self.note(Fault::ColumnLengths { min, max });
        }
    }

    fn note(&mut self, fault: Fault) {
        self.notes.push(Note { path: self.path.clone(), fault });
    }
}

/// An error with its causes, in a line.
fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = core::error::Error::source(error);
    while let Some(error) = cause {
        let link = error.to_string();
        if !text.ends_with(&link) {
            text += &format!(": {link}");
        }
        cause = error.source();
    }
    text
}
