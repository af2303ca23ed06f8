//! The selected columns and rows of a table.

use core::ops::Range;

use super::{RecordBatches, types};
use crate::error::Result;
use crate::table::Table;

/// Rows and columns of a table; made by [`Table::scan`].
///
/// ```no_run
/// use b2store::Store;
///
/// let table = Store::open("trades.b2z")?.table("/")?;
/// for batch in table.scan().columns(&["price", "symbol"])?.rows(0..1000).record_batches()? {
///     println!("{} rows", batch?.num_rows());
/// }
/// # Ok::<(), b2store::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scan {
    pub(super) table: Table,
    pub(super) names: Vec<String>,
    pub(super) rows: Range<u64>,
    pub(super) batch: u64,
    pub(super) max_nbytes: u64,
}

impl Table {
    /// All rows, and all columns with an Arrow type; the methods narrow the selection.
    #[must_use]
    pub fn scan(&self) -> Scan {
        let specs = self.schema().columns.iter();
        let names = specs.filter(|spec| types::has_counterpart(&spec.kind));
        Scan {
            table: self.clone(),
            names: names.map(|spec| spec.name.clone()).collect(),
            rows: 0..u64::MAX,
            batch: BATCH_NROWS,
            max_nbytes: BATCH_NBYTES,
        }
    }
}

/// Rows of a batch.
const BATCH_NROWS: u64 = 1 << 16;
/// Largest memory of a batch (bytes).
const BATCH_NBYTES: u64 = 64 << 20;

impl Scan {
    /// Selects only these columns, in this order. Default: all columns with an Arrow type.
    ///
    /// # Errors
    ///
    /// [`NoColumn`](crate::error::Param::NoColumn), [`Computed`](crate::error::Param::Computed) and
    /// [`NoCounterpart`](crate::error::Param::NoCounterpart).
    pub fn columns(self, names: &[&str]) -> Result<Self> {
        for name in names {
            let spec = self.table.spec(name)?;
            if !types::has_counterpart(&spec.kind) {
                return Err(types::no_counterpart(name, &spec.kind));
            }
        }
        Ok(Self { names: names.iter().map(|name| (*name).to_owned()).collect(), ..self })
    }

    /// Selects only these rows of the table.
    #[must_use]
    pub fn rows(self, rows: Range<u64>) -> Self {
        Self { rows, ..self }
    }

    /// Sets the number of rows of a batch; the last one is shorter. Default, and with 0: 65,536.
    #[must_use]
    pub fn batch(self, rows: u64) -> Self {
        Self { batch: if rows == 0 { BATCH_NROWS } else { rows }, ..self }
    }

    /// Limits the memory of a batch (bytes) for numbers, text of `utf8` and arrays: batches then
    /// have fewer rows, but at least one. Default: 64 MiB.
    #[must_use]
    pub fn max_nbytes(self, max_nbytes: u64) -> Self {
        Self { max_nbytes, ..self }
    }

    /// The rows as record batches. Memory holds one of them, and its chunks; as many threads decode
    /// columns as [`OpenOptions::budget`](crate::OpenOptions::budget) allows.
    ///
    /// # Errors
    ///
    /// As [`Table::column`]; [`NoCounterpart`](crate::error::Param::NoCounterpart) for a column
    /// without an Arrow type.
    pub fn record_batches(self) -> Result<RecordBatches> {
        RecordBatches::new(self)
    }
}
