//! Tables of any format.

use core::{fmt::Debug, ops::Range};

use b2store::{ColumnKind, ColumnValues};
use blosc_dtype::Dtype;
use serde_json::{Map, Value};

#[cfg(feature = "arrow")]
use crate::error::Param;
use crate::error::{Error, Result};
use crate::size::check_range;
use crate::verify::{OnProgress, Report, VerifyOptions};

/// Rows of a column that verification reads at once.
const BATCH_NROWS: usize = 1 << 14;

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// The type of an item; `None` for values without a fixed width.
    pub dtype: Option<Dtype>,
    /// Lengths of the array in a row; empty for single items.
    pub item_shape: Vec<u64>,
    /// Whether rows may be null.
    pub is_nullable: bool,
}

impl Column {
    /// A column that is never null.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: ColumnKind, dtype: Option<Dtype>) -> Self {
        Self { name: name.into(), kind, dtype, item_shape: vec![], is_nullable: false }
    }
}

/// A table: columns of one length.
pub trait Table: Debug + Send + Sync {
    /// The name of the format: `ctable` for stores and for bcolz, as both programs use it.
    fn format(&self) -> &'static str;

    /// The columns in their order.
    fn columns(&self) -> &[Column];

    /// Number of rows.
    fn nrows(&self) -> u64;

    /// Bytes of the table, decoded and stored.
    fn sizes(&self) -> (u64, u64);

    /// The attributes, as far as JSON can hold them.
    ///
    /// # Errors
    ///
    /// Attributes that are damaged.
    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(Map::new())
    }

    /// The values of rows of the columns with these numbers, all of which exist. `read` takes names
    /// and checks them.
    ///
    /// # Errors
    ///
    /// Values that cannot be read.
    fn read_columns(&self, columns: &[usize], rows: Range<u64>) -> Result<Vec<ColumnValues>>;

    /// A condition on the rows, such as `price > 10 and day < 5`; null fulfils none.
    ///
    /// # Errors
    ///
    /// A condition that does not parse, or names an unknown column.
    fn filter(&self, condition: &str) -> Result<Box<dyn RowFilter + '_>>;

    /// Rows of the columns with these numbers as Arrow arrays.
    ///
    /// # Errors
    ///
    /// A column without an Arrow type; values that cannot be read.
    #[cfg(feature = "arrow")]
    fn record_batch(&self, columns: &[usize], rows: Range<u64>)
    -> Result<arrow_array::RecordBatch>;

    /// Compares the data read with the seals of the files.
    ///
    /// # Errors
    ///
    /// Bytes that differ from the sealed ones.
    fn compare_seals(&self) -> Result<()> {
        Ok(())
    }

    /// Decodes all values and compares checksums; see [`verify`](crate::verify::verify).
    ///
    /// # Errors
    ///
    /// When the system refuses to read at all. Damage is in the report instead.
    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        let _ = (options, progress);
        let mut report = Report::default();
        report.nbytes = self.sizes().0;
        for column in 0..self.columns().len() {
            let batches = (0..self.nrows()).step_by(BATCH_NROWS);
            let read = |start: u64| {
                let rows = start..self.nrows().min(start.saturating_add(BATCH_NROWS as u64));
                self.read_columns(&[column], rows).map(drop)
            };
            report.other.extend(batches.map(read).find_map(Result::err));
        }
        report.other.extend(self.compare_seals().err());
        Ok(report)
    }
}

/// A condition on the rows of a table.
pub trait RowFilter: Debug + Send + Sync {
    /// The numbers of the rows in `rows` that fulfil the condition.
    ///
    /// # Errors
    ///
    /// [`Param::Range`](crate::error::Param::Range); columns that cannot be read.
    fn matches(&self, rows: Range<u64>) -> Result<Vec<u64>>;
}

/// The names of the columns with these numbers.
#[cfg(feature = "arrow")]
pub(crate) fn names_of<'a>(columns: &'a [Column], numbers: &[usize]) -> Result<Vec<&'a str>> {
    let name = |number: &usize| {
        let column = columns.get(*number).ok_or(Param::Column(*number))?;
        Ok(column.name.as_str())
    };
    numbers.iter().map(name).collect()
}

impl dyn Table + '_ {
    /// The number of the column with a name.
    ///
    /// # Errors
    ///
    /// [`Error::NoMember`].
    pub fn column(&self, name: &str) -> Result<usize> {
        let found = self.columns().iter().position(|column| column.name == name);
        found.ok_or_else(|| Error::NoMember { name: name.to_owned() })
    }

    /// The values of rows of the columns with these names; of all columns, without names.
    ///
    /// # Errors
    ///
    /// [`Error::NoMember`], [`Param::Range`](crate::error::Param::Range); values that cannot be
    /// read.
    pub fn read(&self, names: &[&str], rows: Range<u64>) -> Result<Vec<ColumnValues>> {
        check_range(&rows, self.nrows())?;
        self.read_columns(&self.numbers(names)?, rows)
    }

    /// The numbers of the columns with these names; of all columns, without names.
    ///
    /// # Errors
    ///
    /// [`Error::NoMember`].
    pub fn numbers(&self, names: &[&str]) -> Result<Vec<usize>> {
        match names {
            [] => Ok((0..self.columns().len()).collect()),
            names => names.iter().map(|name| self.column(name)).collect(),
        }
    }
}
