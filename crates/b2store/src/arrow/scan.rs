//! Which columns and rows of a table are wanted.

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
    /// All rows, and all columns that Arrow has a type for, to be narrowed down.
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
/// Memory of a batch (bytes).
const BATCH_NBYTES: u64 = 64 << 20;

impl Scan {
    /// Gives only these columns, in this order. Default: all that Arrow has a type for.
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

    /// Looks only at these rows of the table.
    #[must_use]
    pub fn rows(self, rows: Range<u64>) -> Self {
        Self { rows, ..self }
    }

    /// In batches of that many rows, the last one smaller. Default, and with 0: 65,536.
    #[must_use]
    pub fn batch(self, rows: u64) -> Self {
        Self { batch: if rows == 0 { BATCH_NROWS } else { rows }, ..self }
    }

    /// In batches of fewer rows where their numbers, text of `utf8` and arrays would take more
    /// memory (bytes); a row is always given. Default: 64 MiB.
    #[must_use]
    pub fn max_nbytes(self, max_nbytes: u64) -> Self {
        Self { max_nbytes, ..self }
    }

    /// The rows as record batches. Memory holds one of them, and the chunks that it is decoded of;
    /// columns are decoded by as many threads as
    /// [`OpenOptions::budget`](crate::OpenOptions::budget) allows.
    ///
    /// # Errors
    ///
    /// As [`Table::column`]; [`NoCounterpart`](crate::error::Param::NoCounterpart) for a column
    /// that Arrow has no type for.
    pub fn record_batches(self) -> Result<RecordBatches> {
        RecordBatches::new(self)
    }
}
