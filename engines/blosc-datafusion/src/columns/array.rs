//! Arrays as tables: the fields of a structured one are columns, a plain one is a column itself.

use core::ops::Range;
use std::sync::Arc;

use b2frame::NdArray;
use b2frame::nd::{Pick, Selection};
use blosc_dtype::Dtype;
use blosc_dtype::arrow_59::Times;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};

use super::bcolz::refused;
use super::{Columns, Scratch, reading, text};
use crate::error::{Error, Result};
use crate::options::TableOptions;

#[derive(Debug)]
pub(super) struct Table {
    location: String,
    array: NdArray,
    parts: Vec<Part>,
    schema: SchemaRef,
    bytes_as_text: bool,
}

/// The bytes of a row that are a column.
#[derive(Debug)]
struct Part {
    name: String,
    dtype: Dtype,
    /// The array that a row is; empty for single items.
    shape: Vec<u64>,
    offset: usize,
    nbytes: usize,
}

impl Table {
    /// `name` is that of the column of an array without fields.
    pub(super) fn new(
        location: &str,
        name: &str,
        array: NdArray,
        options: &TableOptions,
    ) -> Result<Self> {
        let array = array.budget(super::budget());
        let no_counterpart =
            |what: String| Error::NoCounterpart { location: location.into(), what };
        let Some(shape) = array.shape().get(1..) else {
            return Err(no_counterpart("an array without dimensions has no rows".to_owned()));
        };
        let dtype = array.dtype();
        let parts: Vec<Part> = if dtype.fields().is_empty() || !shape.is_empty() {
            let nitems = shape
                .iter()
                .try_fold(1_usize, |product, len| product.checked_mul(usize::try_from(*len).ok()?));
            let nbytes = nitems.and_then(|nitems| nitems.checked_mul(dtype.itemsize()));
            let nbytes = nbytes.ok_or_else(|| no_counterpart("rows of that size".to_owned()))?;
            vec![Part {
                name: name.to_owned(),
                dtype: dtype.clone(),
                shape: shape.to_vec(),
                offset: 0,
                nbytes,
            }]
        } else {
            dtype.fields().iter().map(Part::of_field).collect()
        };
        let field = |part: &Part| {
            let data_type = text::data_type(&part.dtype, &part.shape, options.bytes_as_text);
            let is_time = Times::from_dtype(&part.dtype).is_some();
            let of =
                || no_counterpart(format!("Arrow has no type for {}: {}", part.name, part.dtype));
            Ok(Field::new(&part.name, data_type.ok_or_else(of)?, is_time))
        };
        let fields = parts.iter().map(field).collect::<Result<Vec<_>>>()?;
        let (location, bytes_as_text) = (location.to_owned(), options.bytes_as_text);
        Ok(Self { location, array, parts, schema: Arc::new(Schema::new(fields)), bytes_as_text })
    }

    fn row_size(&self) -> usize {
        match self.parts.as_slice() {
            [part] if part.offset == 0 && self.array.dtype().fields().is_empty() => part.nbytes,
            _ => self.array.dtype().itemsize(),
        }
    }

    fn read_rows(&self, name: &str, rows: &Range<u64>) -> Result<Vec<u8>> {
        let bound = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
        let pick = Pick::slice(bound(rows.start), bound(rows.end), 1);
        let read = self.array.to_bytes(Selection::from([pick]));
        read.map_err(|source| reading(&self.location, name, rows, source))
    }
}

impl Part {
    fn of_field(field: &blosc_dtype::Field) -> Self {
        let (dtype, shape) = match field.dtype().subarray() {
            Some((dtype, shape)) => (dtype.clone(), shape.to_vec()),
            None => (field.dtype().clone(), vec![]),
        };
        Self {
            name: field.name().to_owned(),
            dtype,
            shape,
            offset: field.offset(),
            nbytes: field.dtype().itemsize(),
        }
    }
}

impl Columns for Table {
    fn nrows(&self) -> u64 {
        self.array.shape().first().copied().unwrap_or_default()
    }

    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn chunk_nrows(&self) -> u64 {
        self.array.chunkshape().first().map_or(1, |rows| u64::from(*rows).max(1))
    }

    fn row_nbytes(&self, column: usize) -> u64 {
        self.parts.get(column).map_or(1, |part| part.nbytes as u64)
    }

    fn read(&self, column: usize, rows: &Range<u64>, scratch: &mut Scratch) -> Result<ArrayRef> {
        let Some(part) = self.parts.get(column) else {
            return Err(Error::NotATable { location: self.location.clone() });
        };
        let row_size = self.row_size();
        let bytes = if row_size == part.nbytes {
            self.read_rows(&part.name, rows)?
        } else {
            if scratch.rows != *rows {
                scratch.records = self.read_rows(&part.name, rows)?;
                scratch.rows = rows.clone();
            }
            let records = scratch.records.chunks_exact(row_size.max(1));
            let end = part.offset.saturating_add(part.nbytes);
            let fields = records.filter_map(|record| record.get(part.offset..end));
            fields.flatten().copied().collect()
        };
        let made = text::rows_of(&part.dtype, &part.shape, self.bytes_as_text, bytes);
        made.map_err(|error| refused(&self.location, &part.name, rows, error))
    }
}
