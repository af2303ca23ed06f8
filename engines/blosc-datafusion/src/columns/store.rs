//! Tables of Blosc2 stores.

use core::ops::Range;
use std::sync::Arc;

use b2store::arrow_59::{ColumnArrays, has_counterpart};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{Schema, SchemaRef};

use super::{Columns, Scratch, opening, reading};
use crate::error::{Error, Result};

#[derive(Debug)]
pub(super) struct Table {
    location: String,
    /// The columns that Arrow has types for.
    columns: Vec<ColumnArrays>,
    schema: SchemaRef,
    nrows: u64,
}

/// Estimated bytes of a row of a column without fixed width, if nothing else is known.
const TEXT_NBYTES: u64 = 32;

impl Table {
    pub(super) fn new(location: &str, table: &b2store::Table) -> Result<Self> {
        let failed = |source| opening(location, "a table of a store", source);
        let nrows = table.len().map_err(failed)?;
        let mut columns = Vec::new();
        for spec in table.schema().columns.iter().filter(|spec| has_counterpart(&spec.kind)) {
            let column = table.column(&spec.name).and_then(ColumnArrays::new);
            columns.push(column.map_err(failed)?);
        }
        let fields = columns.iter().map(|column| column.field().clone());
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok(Self { location: location.to_owned(), columns, schema, nrows })
    }
}

impl Columns for Table {
    fn nrows(&self) -> u64 {
        self.nrows
    }

    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn chunk_nrows(&self) -> u64 {
        let lens = self.columns.iter().filter_map(|column| column.column().chunk_rows());
        lens.max().unwrap_or(1 << 16)
    }

    fn row_nbytes(&self, column: usize) -> u64 {
        let column = self.columns.get(column).map(ColumnArrays::column);
        column.and_then(b2store::Column::rowsize).unwrap_or(TEXT_NBYTES)
    }

    fn read(&self, column: usize, rows: &Range<u64>, _: &mut Scratch) -> Result<ArrayRef> {
        let Some(column) = self.columns.get(column) else {
            return Err(Error::NotATable { location: self.location.clone() });
        };
        let name = column.field().name();
        column.read(rows.clone()).map_err(|source| reading(&self.location, name, rows, source))
    }

    fn prefetch(&self, columns: &[usize], rows: &Range<u64>) {
        let columns = columns.iter().filter_map(|column| self.columns.get(*column));
        b2store::Column::prefetch(columns.map(ColumnArrays::column), rows);
    }
}
