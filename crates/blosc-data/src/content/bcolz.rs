//! Data sets of bcolz: arrays and tables, each in a directory of its own.
//!
//! Arrays and tables consist of rows. The content of an array are its items in C order; that of a
//! table its rows with the items of all columns side by side, as in NumPy's structured arrays.
//! Python objects have no bytes: arrays of them can be shown, but have no content.

use core::ops::Range;
use std::io;
use std::sync::Arc;

use bcolz_store::{Attrs, BrokenColumns, CArray, DataSet};
use blosc_chunk::Limits;
use blosc_container::report::VerifyOptions;
use blosc_dtype::Dtype;
use blosc_io::Tree;
use blosc_io::tree::{DirTree, join};
use serde_json::{Map, Value};

use super::{Sink, SinkError};
use crate::error::{Doing, Error, Refusal, Result};
use crate::spool::Station;
use crate::{Budget, OpenOptions, cut, json};

/// The file with the names of the columns of a table.
const NAMES_FILE: &str = "__rootdirs__";

/// Copies all files below a directory.
fn copy_files(from: &dyn Tree, to: &DirTree, dir: &str) -> io::Result<()> {
    to.create_dir(dir)?;
    for entry in from.list(dir)? {
        let path = join(dir, &entry.name);
        match entry.is_dir {
            true => copy_files(from, to, &path)?,
            false => to.copy_new(&path, &*from.open(&path)?)?,
        }
    }
    Ok(())
}

/// A data set and its directory.
pub struct Bcolz {
    /// The data set, opened for one thread; see [`tuned`](Self::tuned).
    pub set: DataSet,
    tree: Arc<dyn Tree>,
    params: OpenOptions,
    /// The type of an item, or of a row of a table; `None` if it would be too large.
    dtype: Option<Dtype>,
    /// The temporary folder that holds a copy.
    _home: Option<Station>,
    /// The chosen columns of a table; `None` for all.
    chosen: Option<Vec<String>>,
    /// The format of the source, if this is a copy.
    copied: Option<&'static str>,
}

impl Bcolz {
    /// Copies the files of a column to another table, whose list of columns becomes the one of this
    /// table.
    pub(crate) fn copy_column(&self, name: &str, to: &DirTree) -> Result<()> {
        copy_files(&*self.tree, to, name).map_err(Error::io(Doing::Write))?;
        let names = self.tree.open(NAMES_FILE).map_err(Error::io(Doing::Read))?;
        to.remove(NAMES_FILE)
            .and_then(|()| to.copy_new(NAMES_FILE, &*names))
            .map_err(Error::io(Doing::Write))
    }

    /// Opens the data set in a directory.
    ///
    /// # Errors
    ///
    /// When the metadata do not parse.
    pub fn open(tree: impl Into<Arc<dyn Tree>>, params: impl Into<OpenOptions>) -> Result<Self> {
        let (tree, params) = (tree.into(), params.into());
        let set = open(&tree, params.bcolz())?;
        let dtype = match &set {
            DataSet::CArray(array) => Some(array.dtype().clone()),
            DataSet::CTable(table) => table.dtype().ok(),
        };
        Ok(Self { set, tree, params, dtype, _home: None, chosen: None, copied: None })
    }

    /// A table with these columns only.
    ///
    /// # Errors
    ///
    /// When it is not a table, or lacks a column.
    pub fn select(self, names: &[String]) -> Result<Self> {
        let DataSet::CTable(table) = &self.set else { return Err(Refusal::NotATable.into()) };
        if let Some(name) = names.iter().find(|name| table.names().all(|known| known != *name)) {
            return Err(Refusal::no_column(name, table.names()).into());
        }
        let table = table.select(names)?;
        let dtype = table.dtype().ok();
        Ok(Self { set: DataSet::CTable(table), dtype, chosen: Some(names.to_vec()), ..self })
    }

    /// Keeps the temporary folder alive as long as the data set.
    pub fn kept_in(self, home: Station) -> Self {
        Self { _home: Some(home), ..self }
    }

    /// Marks the data set as a copy of this format.
    pub fn called(self, format: &'static str) -> Self {
        Self { copied: Some(format), ..self }
    }

    /// The name in lists and documents.
    pub fn format(&self) -> &'static str {
        match self.set {
            DataSet::CArray(_) => "carray",
            DataSet::CTable(_) => self.copied.unwrap_or("ctable"),
        }
    }

    /// Bytes of data.
    pub fn nbytes(&self) -> u64 {
        match &self.set {
            DataSet::CArray(array) => array.nbytes(),
            DataSet::CTable(table) => table.nbytes(),
        }
    }

    /// Bytes of all files; 0 if the system does not tell.
    pub fn stored(&self) -> u64 {
        self.file_nbytes().unwrap_or(0)
    }

    /// Bytes of all files.
    ///
    /// # Errors
    ///
    /// A folder or a file that the system refuses to read.
    pub fn file_nbytes(&self) -> Result<u64> {
        stored_nbytes(&*self.tree).map_err(Error::io(Doing::Read))
    }

    /// Bytes of an item, or of a row of a table.
    pub fn typesize(&self) -> u64 {
        self.dtype.as_ref().map_or(1, |dtype| dtype.itemsize().max(1) as u64)
    }

    /// The type of an item, or of a row of a table.
    ///
    /// # Errors
    ///
    /// When a row is too large for a type.
    pub fn dtype(&self) -> Result<Dtype> {
        match (&self.dtype, &self.set) {
            (Some(dtype), _) => Ok(dtype.clone()),
            (None, DataSet::CTable(table)) => Ok(table.dtype()?),
            (None, DataSet::CArray(array)) => Ok(array.dtype().clone()),
        }
    }

    /// Items in each dimension; rows of a table.
    pub fn shape(&self) -> Vec<u64> {
        match &self.set {
            DataSet::CArray(array) => array.shape().to_vec(),
            DataSet::CTable(table) => vec![table.len()],
        }
    }

    /// The attributes.
    ///
    /// # Errors
    ///
    /// When they are damaged.
    pub fn attrs(&self) -> Result<Attrs> {
        Ok(match &self.set {
            DataSet::CArray(array) => array.attrs()?,
            DataSet::CTable(table) => table.attrs()?,
        })
    }

    /// The attributes, as far as JSON can hold them.
    ///
    /// # Errors
    ///
    /// When they are damaged.
    pub fn attrs_json(&self) -> Result<Map<String, Value>> {
        Ok(json::attrs::to_map(&self.attrs()?))
    }

    /// Chunks of all columns.
    pub fn nchunks(&self) -> u64 {
        self.arrays().fold(0, |sum, array| sum.saturating_add(array.nchunks()))
    }

    /// The array, or the columns of the table.
    pub fn arrays(&self) -> impl Iterator<Item = &CArray> {
        let (one, columns) = match &self.set {
            DataSet::CArray(array) => (Some(array), &[][..]),
            DataSet::CTable(table) => (None, table.columns()),
        };
        one.into_iter().chain(columns.iter().map(|column| &column.array))
    }

    /// The names of the columns of a table.
    pub fn column_names(&self) -> Vec<String> {
        match &self.set {
            DataSet::CArray(_) => vec![],
            DataSet::CTable(table) => {
                table.columns().iter().map(|column| column.name.clone()).collect()
            }
        }
    }

    /// Bytes of the content.
    ///
    /// # Errors
    ///
    /// When the content has Python objects.
    pub fn content_nbytes(&self) -> Result<u64> {
        if self.arrays().any(CArray::is_object) {
            return Err(Refusal::PythonObjects.into());
        }
        match &self.set {
            DataSet::CArray(array) => Ok(array.nbytes()),
            // Columns may be longer than the table.
            DataSet::CTable(table) => {
                Ok(table.len().saturating_mul(table.dtype()?.itemsize() as u64))
            }
        }
    }

    /// Writes checksums of all files, if the data set is sound.
    ///
    /// # Errors
    ///
    /// The first damage; `Locked`, `Io`.
    pub fn seal(&self) -> Result<()> {
        let report = self.set.verify(&VerifyOptions::default(), |_| ())?;
        let bad = report.bad.into_iter().map(|bad| bad.error);
        match bad.chain(report.other).next() {
            Some(damage) => Err(damage.into()),
            None => Ok(self.set.seal()?),
        }
    }

    /// The data set, opened with these threads and this memory.
    ///
    /// # Errors
    ///
    /// When one chunk does not fit into the memory.
    pub fn tuned(&self, options: &Budget) -> Result<DataSet> {
        let limit = options.max_memory;
        let chunk = |array: &CArray| {
            array.chunklen().min(array.len()).saturating_mul(array.rowsize() as u64)
        };
        if let Some(needed) = self.arrays().map(chunk).max().filter(|needed| *needed > limit) {
            return Err(Error::MaxMemory { needed, limit });
        }
        let limits = Limits::none().max_nbytes(limit);
        let dparams = self.params.dparams.clone().limits(limits);
        let options = self.params.bcolz().dparams(dparams).budget(options.clone());
        match (open(&self.tree, options)?, &self.chosen) {
            (DataSet::CTable(table), Some(names)) => Ok(DataSet::CTable(table.select(names)?)),
            (set, _) => Ok(set),
        }
    }

    /// Hands the bytes `range` of the content to `sink` in order, in pieces.
    ///
    /// # Errors
    ///
    /// Damage, after all data before it; the error of `sink`.
    pub fn part<E: SinkError>(
        &self,
        range: Range<u64>,
        options: &Budget,
        sink: Sink<'_, E>,
    ) -> Result<(), E> {
        if range.is_empty() {
            return Ok(());
        }
        let set = self.tuned(options)?;
        let rowsize = match &set {
            DataSet::CArray(array) => array.rowsize() as u64,
            DataSet::CTable(table) => table.dtype().map_err(Error::Bcolz)?.itemsize() as u64,
        };
        let rows = range.start / rowsize..range.end.div_ceil(rowsize);
        let mut cut = cut(range, rows.start * rowsize, sink);
        match &set {
            DataSet::CArray(array) => {
                let mut blocks = array.blocks(0).skip(rows.start).limit(rows.end - rows.start);
                blocks.try_for_each(|block| cut(&block.map_err(Error::Bcolz)?))
            }
            DataSet::CTable(table) => {
                let step = (TABLE_STEP_NBYTES / rowsize).max(1);
                starts(rows.clone(), step).try_for_each(|start| {
                    let rows = start..rows.end.min(start + step);
                    cut(&table.read_records(rows).map_err(Error::Bcolz)?)
                })
            }
        }
    }
}

/// Every `step`-th number of a range.
pub fn starts(rows: Range<u64>, step: u64) -> impl Iterator<Item = u64> {
    let next = move |start: &u64| start.checked_add(step).filter(|start| *start < rows.end);
    core::iter::successors(Some(rows.start).filter(|start| *start < rows.end), next)
}

fn open(tree: &Arc<dyn Tree>, options: bcolz_store::OpenOptions) -> Result<DataSet> {
    let options = options.broken_columns(BrokenColumns::Refuse);
    Ok(bcolz_store::open_in(Arc::clone(tree), "", &options)?)
}

/// Bytes of all files below a folder.
///
/// # Errors
///
/// A folder or a file that the system refuses to read.
pub fn stored_nbytes(tree: &dyn Tree) -> io::Result<u64> {
    let (mut waiting, mut sum) = (vec![String::new()], 0_u64);
    while let Some(folder) = waiting.pop() {
        for entry in tree.list(&folder)? {
            let path = join(&folder, &entry.name);
            match entry.is_dir {
                true => waiting.push(path),
                // Another program may have removed the file.
                false => sum = sum.saturating_add(file_nbytes(tree.len_of(&path))?),
            }
        }
    }
    Ok(sum)
}

/// The bytes of a file; 0 for a folder, and for a link that leads out of the tree.
fn file_nbytes(len: io::Result<u64>) -> io::Result<u64> {
    len.or_else(|error| match error.kind() {
        _ if blosc_io::is_missing(&error) => Ok(0),
        io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory => Ok(0),
        _ => Err(error),
    })
}

/// Bytes of rows that are joined at once.
const TABLE_STEP_NBYTES: u64 = 8 << 20;
