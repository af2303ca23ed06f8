//! A column of a table, as a table of this column alone.

use core::ops::Range;
use std::sync::Arc;

use b2store::ColumnValues;
use serde_json::{Map, Value};

use crate::error::{Param, Result};
use crate::table::{Column, RowFilter, Table};

/// One column of a table. Conditions may name other columns too; attributes and sizes are those of
/// the whole table.
#[derive(Debug)]
pub(crate) struct OneColumn {
    table: Arc<dyn Table>,
    /// The number of the column in the table.
    place: usize,
    columns: [Column; 1],
}

impl OneColumn {
    /// The column with the key `name` below the key of the table. Slashes may replace the dots of a
    /// nested column.
    pub(crate) fn open(table: Arc<dyn Table>, name: &str) -> Option<Self> {
        let name = name.trim_start_matches('/');
        let dotted = name.replace('/', ".");
        let place = |name: &str| table.columns().iter().position(|column| column.name == name);
        let place = place(name).or_else(|| place(&dotted))?;
        let columns = [table.columns().get(place)?.clone()];
        Some(Self { table, place, columns })
    }

    /// The table's numbers for these columns.
    fn places(&self, columns: &[usize]) -> Result<Vec<usize>> {
        let place = |column: &usize| match column {
            0 => Ok(self.place),
            other => Err(Param::Column(*other).into()),
        };
        columns.iter().map(place).collect()
    }
}

impl Table for OneColumn {
    fn format(&self) -> &'static str {
        self.table.format()
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn nrows(&self) -> u64 {
        self.table.nrows()
    }

    fn sizes(&self) -> (u64, u64) {
        self.table.sizes()
    }

    fn attributes(&self) -> Result<Map<String, Value>> {
        self.table.attributes()
    }

    fn read_columns(&self, columns: &[usize], rows: Range<u64>) -> Result<Vec<ColumnValues>> {
        self.table.read_columns(&self.places(columns)?, rows)
    }

    fn filter(&self, condition: &str) -> Result<Box<dyn RowFilter + '_>> {
        self.table.filter(condition)
    }

    #[cfg(feature = "arrow")]
    fn record_batch(
        &self,
        columns: &[usize],
        rows: Range<u64>,
    ) -> Result<arrow_array::RecordBatch> {
        self.table.record_batch(&self.places(columns)?, rows)
    }

    fn compare_seals(&self) -> Result<()> {
        self.table.compare_seals()
    }
}
