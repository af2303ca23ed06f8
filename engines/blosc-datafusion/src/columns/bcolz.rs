//! Tables and arrays of bcolz.

use core::ops::Range;
use std::sync::Arc;

use bcolz_store::{CArray, CTable, Column, DataSet, OpenOptions};
use blosc_io::tree::{DirTree, Tree};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};

use super::{Columns, Scratch, opening, reading, text};
use crate::error::{Error, Result};
use crate::options::TableOptions;

#[derive(Debug)]
pub(super) struct Table {
    location: String,
    /// Those that Arrow has types for.
    columns: Vec<Column>,
    schema: SchemaRef,
    nrows: u64,
    bytes_as_text: bool,
}

impl Table {
    pub(super) fn open(location: &str, options: &TableOptions) -> Result<Self> {
        Self::open_in(location, Arc::new(DirTree::new(location)), options)
    }

    pub(super) fn open_in(
        location: &str,
        tree: Arc<dyn Tree>,
        options: &TableOptions,
    ) -> Result<Self> {
        // Rows are read by chunk, once.
        let open = OpenOptions::default().budget(super::budget()).cache(0);
        let opened = bcolz_store::open_in(tree, "", &open);
        let table = match opened.map_err(|source| opening(location, "a table of bcolz", source))? {
            DataSet::CTable(table) => table,
            DataSet::CArray(array) => CTable::of_array("value", &array),
        };
        let nrows = table.len();
        let (mut columns, mut fields) = (Vec::new(), Vec::new());
        for column in table.columns() {
            let shape = row_shape(&column.array);
            let dtype = column.array.dtype();
            let data_type = text::data_type(dtype, shape, options.bytes_as_text);
            if let Some(data_type) = data_type {
                let is_time = blosc_dtype::arrow_59::Times::from_dtype(dtype).is_some();
                fields.push(Field::new(&column.name, data_type, is_time));
                columns.push(column.clone());
            }
        }
        if columns.is_empty() {
            let what = "all of its columns are objects".to_owned();
            return Err(Error::NoCounterpart { location: location.to_owned(), what });
        }
        let schema = Arc::new(Schema::new(fields));
        let (location, bytes_as_text) = (location.to_owned(), options.bytes_as_text);
        Ok(Self { location, columns, schema, nrows, bytes_as_text })
    }
}

/// The array that a row is; empty for single items.
fn row_shape(array: &CArray) -> &[u64] {
    array.shape().get(1..).unwrap_or_default()
}

impl Columns for Table {
    fn nrows(&self) -> u64 {
        self.nrows
    }

    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn chunk_nrows(&self) -> u64 {
        self.columns.iter().map(|column| column.array.chunklen()).max().unwrap_or(1)
    }

    fn row_nbytes(&self, column: usize) -> u64 {
        self.columns.get(column).map_or(1, |column| column.array.rowsize() as u64)
    }

    fn read(&self, column: usize, rows: &Range<u64>, _: &mut Scratch) -> Result<ArrayRef> {
        let Some(Column { name, array, .. }) = self.columns.get(column) else {
            return Err(Error::NotATable { location: self.location.clone() });
        };
        let failed = |source| reading(&self.location, name, rows, source);
        let bytes = array.read(rows.clone()).map_err(failed)?;
        let made = text::rows_of(array.dtype(), row_shape(array), self.bytes_as_text, bytes);
        made.map_err(|refused| self::refused(&self.location, name, rows, refused))
    }

    fn prefetch(&self, columns: &[usize], rows: &Range<u64>) {
        let arrays = || columns.iter().filter_map(|column| self.columns.get(*column));
        arrays().for_each(|column| column.array.prefetch_heads(rows.clone()));
        arrays().for_each(|column| column.array.prefetch_blocks(rows.clone()));
    }
}

/// What is wrong with the items of some rows.
pub(super) fn refused(
    location: &str,
    column: &str,
    rows: &Range<u64>,
    refused: text::Refused,
) -> Error {
    match refused {
        text::Refused::Array(source) => reading(location, column, rows, source),
        text::Refused::NoText(nitem) => Error::NoText {
            location: location.to_owned(),
            column: column.to_owned(),
            row: rows.start.saturating_add(nitem as u64),
        },
    }
}
