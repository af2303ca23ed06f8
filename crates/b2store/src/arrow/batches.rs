//! Rows as record batches.

use core::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use blosc_container::parallel::for_each;

use super::{ColumnArrays, Scan};
use crate::error::{Error, Result};
use crate::table::{Column, Table};

/// Record batches; made by [`Scan::record_batches`].
#[derive(Debug)]
pub struct RecordBatches {
    table: Table,
    columns: Vec<ColumnArrays>,
    schema: SchemaRef,
    rows: Range<u64>,
    batch: u64,
    max_nbytes: u64,
    /// Whether the frames are compared with their seals after the last row.
    is_all: bool,
}

impl RecordBatches {
    pub(super) fn new(scan: Scan) -> Result<Self> {
        let Scan { table, names, rows, batch, max_nbytes } = scan;
        let open = |name: &String| ColumnArrays::new(table.column(name)?);
        let columns = names.iter().map(open).collect::<Result<Vec<_>>>()?;
        let fields = columns.iter().map(|column| column.field().clone());
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let len = table.len()?;
        let end = rows.end.min(len);
        let rows = rows.start.min(end)..end;
        let is_all = rows == (0..len);
        Ok(Self { table, columns, schema, rows, batch, max_nbytes, is_all })
    }

    /// The schema of all batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The next rows, as many as memory allows.
    fn next_rows(&self) -> Result<Range<u64>> {
        let left = self.rows.end.saturating_sub(self.rows.start);
        let mut count = left.min(self.batch);
        loop {
            let rows = self.rows.start..self.rows.start.saturating_add(count);
            let mut nbytes = 0_u64;
            for column in &self.columns {
                nbytes = nbytes.saturating_add(column.column().nbytes_of(&rows)?);
            }
            if nbytes <= self.max_nbytes || count <= 1 {
                return Ok(rows);
            }
            count = count.div_euclid(2);
        }
    }

    fn record_batch(&self, rows: &Range<u64>) -> Result<RecordBatch> {
        let count = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
        Column::prefetch(self.columns.iter().map(ColumnArrays::column), rows);
        let mut arrays: Vec<Option<ArrayRef>> = vec![None; self.columns.len()];
        let jobs = arrays.iter_mut().zip(&self.columns);
        let threads = self.table.store().threads();
        for_each(
            (threads, threads.count_for(self.columns.len())),
            jobs,
            || (),
            |(), (array, column)| {
                *array = Some(column.read(rows.clone())?);
                Ok::<(), Error>(())
            },
        )?;
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        let arrays = arrays.into_iter().flatten().collect();
        Ok(RecordBatch::try_new_with_options(self.schema(), arrays, &options)?)
    }
}

impl Iterator for RecordBatches {
    type Item = Result<RecordBatch>;

    /// The next batch, or `None` after an error. If all rows are read and a frame differs from its
    /// seal, the error comes after the last batch.
    fn next(&mut self) -> Option<Self::Item> {
        if self.rows.is_empty() {
            let columns = self.columns.iter().filter(|_| self.is_all);
            let compared = columns.map(ColumnArrays::column).try_for_each(Column::compare_seals);
            self.is_all = false;
            return compared.err().map(Err);
        }
        let made = self.next_rows().and_then(|rows| {
            let batch = self.record_batch(&rows)?;
            Ok((batch, rows.end))
        });
        match made {
            Ok((batch, end)) => {
                self.rows.start = end;
                Some(Ok(batch))
            }
            Err(error) => {
                (self.rows.start, self.is_all) = (self.rows.end, false);
                Some(Err(error))
            }
        }
    }
}
