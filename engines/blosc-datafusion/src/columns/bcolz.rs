//! Tables and arrays of bcolz.

use core::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bcolz_store::{CArray, CTable, Column, DataSet, OpenOptions};
use blosc_dtype::Kind;
use blosc_io::tree::{DirTree, Tree};
use datafusion::arrow::array::{ArrayRef, UInt32Array};
use datafusion::arrow::buffer::Buffer;
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::error::Result as QueryResult;

use super::fingerprint::fingerprint_of;
use super::{Columns, Scratch, opening, reading, text};
use crate::error::{Error, Result};
use crate::options::TableOptions;

#[derive(Debug)]
pub(super) struct Table {
    location: String,
    /// The local directory of the table.
    root: Option<PathBuf>,
    /// The columns that Arrow has types for.
    columns: Vec<Column>,
    schema: SchemaRef,
    nrows: u64,
    bytes_as_text: bool,
}

impl Table {
    pub(super) fn open(location: &str, options: &TableOptions) -> Result<Self> {
        let table = Self::open_in(location, Arc::new(DirTree::new(location)), options)?;
        Ok(Self { root: Some(PathBuf::from(location)), ..table })
    }

    pub(super) fn open_in(
        location: &str,
        tree: Arc<dyn Tree>,
        options: &TableOptions,
    ) -> Result<Self> {
        // Each chunk is read once.
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
        Ok(Self { location, root: None, columns, schema, nrows, bytes_as_text })
    }
}

impl Table {
    fn column(&self, column: usize) -> Result<&Column> {
        let column = self.columns.get(column);
        column.ok_or_else(|| Error::NotATable { location: self.location.clone() })
    }

    /// The items of some rows, in reused memory.
    fn read_bytes(
        &self,
        column: usize,
        rows: &Range<u64>,
        scratch: &mut Scratch,
    ) -> Result<Buffer> {
        let Column { name, array, .. } = self.column(column)?;
        let nrows = rows.end.saturating_sub(rows.start);
        let len = usize::try_from(nrows).unwrap_or(usize::MAX).saturating_mul(array.rowsize());
        let mut bytes = scratch.take_buffer(len);
        let read = array.read_to(rows.clone(), &mut bytes);
        read.map_err(|source| reading(&self.location, name, rows, source))?;
        Ok(scratch.lend(bytes, len))
    }
}

/// The shape of one row; empty for single items.
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

    fn read(&self, column: usize, rows: &Range<u64>, scratch: &mut Scratch) -> Result<ArrayRef> {
        let Column { name, array, .. } = self.column(column)?;
        let bytes = self.read_bytes(column, rows, scratch)?;
        let made = text::rows_of(array.dtype(), row_shape(array), self.bytes_as_text, bytes);
        made.map_err(|refused| self::refused(&self.location, name, rows, refused))
    }

    /// Only the picked text becomes views.
    fn pick(
        &self,
        column: usize,
        rows: &Range<u64>,
        picked: &UInt32Array,
        scratch: &mut Scratch,
    ) -> QueryResult<ArrayRef> {
        let Column { name, array, .. } = self.column(column)?;
        let is_text = matches!(array.dtype().kind(), Some(Kind::Bytes | Kind::Unicode));
        if !is_text || !row_shape(array).is_empty() || array.dtype().itemsize() == 0 {
            return Ok(take(&self.read(column, rows, scratch)?, picked, None)?);
        }
        let bytes = self.read_bytes(column, rows, scratch)?;
        let bytes = text::picked(array.dtype().itemsize(), bytes, picked)?;
        let made = text::rows_of(array.dtype(), &[], self.bytes_as_text, bytes);
        // `item` counts the picked ones.
        let at = |item: usize| {
            let row = picked.values().get(item).copied().unwrap_or_default();
            usize::try_from(row).unwrap_or(usize::MAX)
        };
        Ok(made
            .map_err(|refused| self::refused(&self.location, name, rows, refused.map_item(at)))?)
    }

    /// bcolz rewrites the file of a chunk that changes.
    fn stamp(&self, column: usize, rows: &Range<u64>) -> Option<u64> {
        let Some(root) = &self.root else { return Some(0) };
        let files = self.columns.get(column)?.array.chunk_paths(rows.clone());
        fingerprint_of(files.map(|file| root.join(file))).ok()
    }

    fn prefetch(&self, columns: &[usize], rows: &Range<u64>) {
        let arrays = || columns.iter().filter_map(|column| self.columns.get(*column));
        arrays().for_each(|column| column.array.prefetch_heads(rows.clone()));
        arrays().for_each(|column| column.array.prefetch_blocks(rows.clone()));
    }
}

/// The error for items of some rows that are refused.
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
