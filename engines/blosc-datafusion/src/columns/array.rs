//! Arrays as tables: each field of a structured array is a column; any other array is one column.

use core::ops::Range;
use std::sync::Arc;

use b2frame::NdArray;
use b2frame::nd::{Pick, Selection};
use blosc_dtype::Dtype;
use blosc_dtype::arrow_59::Times;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};

use super::bcolz::refused;
use super::{Columns, Scratch, is_address, reading, text};
use crate::error::{Error, Result};
use crate::options::TableOptions;

#[derive(Debug)]
pub(super) struct Table {
    location: String,
    array: NdArray,
    parts: Vec<Part>,
    /// Whether the columns are fields of items, instead of the items themselves.
    is_records: bool,
    schema: SchemaRef,
    bytes_as_text: bool,
}

/// Longest item (bytes) whose fields are stored in separate streams, so that reading the fields one
/// by one decodes nothing twice.
const MAX_SPLIT: usize = 16;

/// Fewest bytes of a part of a long chunk that is read separately.
const PART_NBYTES: u64 = 1 << 20;

/// Most blocks of such a part.
const MAX_PART_NBLOCKS: u64 = 1 << 12;

/// The bytes of a row that are a column.
#[derive(Debug)]
struct Part {
    name: String,
    dtype: Dtype,
    /// The shape of one row; empty for single items.
    shape: Vec<u64>,
    offset: usize,
    nbytes: usize,
}

impl Table {
    /// `name` is the name of the column if the array has no fields.
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
        let is_records = !dtype.fields().is_empty() && shape.is_empty();
        let parts: Vec<Part> = if !is_records {
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
        let schema = Arc::new(Schema::new(fields));
        Ok(Self { location, array, parts, is_records, schema, bytes_as_text })
    }

    /// The items of a field. Other needed fields are decoded with it, and kept until they are read
    /// as well.
    fn read_field(
        &self,
        column: usize,
        part: &Part,
        rows: &Range<u64>,
        scratch: &mut Scratch,
    ) -> Result<Vec<u8>> {
        if scratch.rows != *rows {
            scratch.fields.clear();
            scratch.rows = rows.clone();
        }
        if let Some(bytes) = scratch.fields.remove(&column) {
            return Ok(bytes);
        }
        let mut columns = vec![column];
        if self.array.typesize() > MAX_SPLIT {
            let others = scratch.needed.iter().copied();
            columns.extend(others.filter(|other| *other != column && *other < self.parts.len()));
        }
        let fields = columns.iter().filter_map(|column| self.parts.get(*column));
        let fields: Vec<Range<usize>> =
            fields.map(|part| part.offset..part.offset.saturating_add(part.nbytes)).collect();
        let read = self.array.read_fields(rows.clone(), &fields);
        let read = read.map_err(|source| reading(&self.location, &part.name, rows, source))?;
        scratch.fields.extend(columns.into_iter().zip(read));
        Ok(scratch.fields.remove(&column).unwrap_or_default())
    }

    fn read_rows(&self, name: &str, rows: &Range<u64>) -> Result<Vec<u8>> {
        let read = self.array.to_bytes(selection(rows));
        read.map_err(|source| reading(&self.location, name, rows, source))
    }
}

fn selection(rows: &Range<u64>) -> Selection {
    let bound = |row: u64| i64::try_from(row).unwrap_or(i64::MAX);
    Selection::from([Pick::slice(bound(rows.start), bound(rows.end), 1)])
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

    /// If a long chunk consists of whole blocks that can be read alone, some blocks are read as one
    /// chunk: threads share them, and the decoded bytes stay in their caches. Remote chunks are
    /// fetched whole.
    fn chunk_nrows(&self) -> u64 {
        let rows = |shape: &[u32]| shape.first().map_or(1, |rows| u64::from(*rows).max(1));
        let (chunk, block) = (rows(&self.array.chunkshape()), rows(&self.array.blockshape()));
        let row = self.parts.iter().map(|part| part.nbytes as u64).fold(0, u64::saturating_add);
        let least = (PART_NBYTES / row.max(1)).max(1);
        if self.array.shape().len() > 1 || is_address(&self.location) {
            return chunk;
        }
        let nblocks = least.div_ceil(block)..=(chunk / block).min(MAX_PART_NBLOCKS);
        let mut parts = nblocks.map(|nblocks| nblocks.saturating_mul(block));
        parts.find(|part| chunk.is_multiple_of(*part)).unwrap_or(chunk)
    }

    fn row_nbytes(&self, column: usize) -> u64 {
        self.parts.get(column).map_or(1, |part| part.nbytes as u64)
    }

    fn read(&self, column: usize, rows: &Range<u64>, scratch: &mut Scratch) -> Result<ArrayRef> {
        let Some(part) = self.parts.get(column) else {
            return Err(Error::NotATable { location: self.location.clone() });
        };
        let bytes = match self.is_records {
            false => self.read_rows(&part.name, rows)?,
            true => self.read_field(column, part, rows, scratch)?,
        };
        let made = text::rows_of(&part.dtype, &part.shape, self.bytes_as_text, bytes.into());
        made.map_err(|error| refused(&self.location, &part.name, rows, error))
    }

    /// The first field of long records decodes all fields.
    fn reads_parts(&self) -> bool {
        !self.is_records || self.array.typesize() <= MAX_SPLIT
    }

    fn prefetch(&self, _: &[usize], rows: &Range<u64>) {
        self.array.prefetch_heads(selection(rows));
        self.array.prefetch_blocks(selection(rows));
    }
}
