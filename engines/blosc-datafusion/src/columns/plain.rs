//! Text and bytes without views, for engines that send rows to other processes: a batch of views is
//! sent with all of its buffers.

use core::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, UInt32Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::error::Result as QueryResult;

use super::{Columns, Scratch, reading};
use crate::error::Result;

/// Columns whose views are plain text and bytes.
#[derive(Debug)]
pub(super) struct Plain {
    location: String,
    inner: Arc<dyn Columns>,
    schema: SchemaRef,
}

impl Plain {
    pub(super) fn new(location: &str, inner: Arc<dyn Columns>) -> Self {
        let plain = |field: &Arc<Field>| {
            let data_type = match field.data_type() {
                DataType::Utf8View => DataType::Utf8,
                DataType::BinaryView => DataType::Binary,
                other => other.clone(),
            };
            field.as_ref().clone().with_data_type(data_type)
        };
        let fields: Vec<Field> = inner.schema().fields().iter().map(plain).collect();
        Self { location: location.to_owned(), inner, schema: Arc::new(Schema::new(fields)) }
    }

    /// An array without views; `rows` are its rows.
    fn plain(&self, column: usize, rows: &Range<u64>, array: ArrayRef) -> Result<ArrayRef> {
        match self.schema.fields().get(column) {
            Some(field) if field.data_type() != array.data_type() => {
                let plain = cast(&array, field.data_type());
                plain.map_err(|source| reading(&self.location, field.name(), rows, source))
            }
            _ => Ok(array),
        }
    }
}

impl Columns for Plain {
    fn nrows(&self) -> u64 {
        self.inner.nrows()
    }

    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn chunk_nrows(&self) -> u64 {
        self.inner.chunk_nrows()
    }

    fn row_nbytes(&self, column: usize) -> u64 {
        self.inner.row_nbytes(column)
    }

    fn read(&self, column: usize, rows: &Range<u64>, scratch: &mut Scratch) -> Result<ArrayRef> {
        let array = self.inner.read(column, rows, scratch)?;
        self.plain(column, rows, array)
    }

    fn pick(
        &self,
        column: usize,
        rows: &Range<u64>,
        picked: &UInt32Array,
        scratch: &mut Scratch,
    ) -> QueryResult<ArrayRef> {
        let array = self.inner.pick(column, rows, picked, scratch)?;
        Ok(self.plain(column, rows, array)?)
    }

    fn prefetch(&self, columns: &[usize], rows: &Range<u64>) {
        self.inner.prefetch(columns, rows);
    }

    fn stamp(&self, column: usize, rows: &Range<u64>) -> Option<u64> {
        self.inner.stamp(column, rows)
    }

    fn reads_parts(&self) -> bool {
        self.inner.reads_parts()
    }

    fn prefetch_limit(&self) -> u64 {
        self.inner.prefetch_limit()
    }
}
