//! Rows as record batches.

use core::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow_array::types::{
    ArrowPrimitiveType, Int32Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{
    ArrayRef, DictionaryArray, PrimitiveArray, RecordBatch, RecordBatchOptions, StringArray,
};
use arrow_buffer::{Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use blosc_container::parallel::for_each;
use blosc_dtype::arrow::{array, offsets};
use blosc_dtype::{Dtype, items};

use super::{Scan, objects, types};
use crate::error::{Error, Result};
use crate::table::{Column, ColumnKind, ColumnValues, Table, Values};

/// Record batches; made by [`Scan::record_batches`].
#[derive(Debug)]
pub struct RecordBatches {
    table: Table,
    columns: Vec<Wanted>,
    schema: SchemaRef,
    rows: Range<u64>,
    batch: u64,
    max_nbytes: u64,
}

#[derive(Debug)]
struct Wanted {
    column: Column,
    /// The words of a dictionary, as all batches share them.
    words: OnceLock<ArrayRef>,
}

impl RecordBatches {
    pub(super) fn new(scan: Scan) -> Result<Self> {
        let Scan { table, names, rows, batch, max_nbytes } = scan;
        let open =
            |name: &String| Ok(Wanted { column: table.column(name)?, words: OnceLock::new() });
        let columns = names.iter().map(open).collect::<Result<Vec<_>>>()?;
        let fields = columns.iter().map(|wanted| types::field(&wanted.column));
        let schema = Arc::new(Schema::new(fields.collect::<Result<Vec<Field>>>()?));
        let end = rows.end.min(table.len()?);
        let rows = rows.start.min(end)..end;
        Ok(Self { table, columns, schema, rows, batch, max_nbytes })
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
            for wanted in &self.columns {
                nbytes = nbytes.saturating_add(wanted.column.nbytes_of(&rows)?);
            }
            if nbytes <= self.max_nbytes || count <= 1 {
                return Ok(rows);
            }
            count = count.div_euclid(2);
        }
    }

    fn record_batch(&self, rows: &Range<u64>) -> Result<RecordBatch> {
        let count = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
        let mut arrays: Vec<Option<ArrayRef>> = vec![None; self.columns.len()];
        let fields = self.schema.fields().iter();
        let jobs = arrays.iter_mut().zip(&self.columns).zip(fields);
        let nworkers = self.table.store().nworkers();
        for_each(
            nworkers,
            jobs,
            || (),
            |(), ((array, wanted), field)| {
                *array = Some(wanted.array(rows, field)?);
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

    /// The next batch; after an error there is none.
    fn next(&mut self) -> Option<Self::Item> {
        if self.rows.is_empty() {
            return None;
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
                self.rows.start = self.rows.end;
                Some(Err(error))
            }
        }
    }
}

impl Wanted {
    fn array(&self, rows: &Range<u64>, field: &Field) -> Result<ArrayRef> {
        let column = &self.column;
        let ColumnValues { values, valid } = column.read(rows.clone())?;
        let nulls = valid.map(NullBuffer::from);
        match values {
            Values::Fixed { dtype, item_shape, bytes } => {
                if let ColumnKind::Timestamp { unit, .. } = &column.spec().kind {
                    return timestamps(unit, &dtype, &bytes, nulls, field.data_type());
                }
                let is_widened = field.data_type() == &DataType::Boolean && item_shape.is_empty();
                let dtype = if is_widened { truth()? } else { dtype };
                Ok(array(&dtype, &item_shape, &bytes, nulls)?)
            }
            Values::Text { ends, text } => {
                let text = Buffer::from_vec(text.into_bytes());
                Ok(Arc::new(StringArray::try_new(offsets(ends)?, text, nulls)?))
            }
            Values::Objects(found) => {
                let cells: Vec<objects::Cell<'_>> =
                    (rows.start..).zip(found.iter().map(Some)).collect();
                objects::array(field.data_type(), &cells, column.key())
            }
            Values::Dictionary { codes, words } => {
                let made = self.words.get_or_init(|| {
                    Arc::new(StringArray::from_iter_values(words.iter().map(String::as_str)))
                });
                // Codes of nulls are no numbers of words.
                let codes = match &nulls {
                    None => codes,
                    Some(nulls) => {
                        let codes = codes.into_iter().zip(nulls.iter());
                        codes.map(|(code, is_valid)| if is_valid { code } else { 0 }).collect()
                    }
                };
                let codes = PrimitiveArray::<Int32Type>::try_new(codes.into(), nulls)?;
                Ok(Arc::new(DictionaryArray::try_new(codes, Arc::clone(made))?))
            }
        }
    }
}

/// The dtype of truth values, for those that are widened to a byte.
fn truth() -> Result<Dtype> {
    Dtype::parse("|b1")
        .map_err(|error| arrow_schema::ArrowError::ExternalError(Box::new(error)).into())
}

fn timestamps(
    unit: &str,
    dtype: &Dtype,
    bytes: &[u8],
    nulls: Option<NullBuffer>,
    data_type: &DataType,
) -> Result<ArrayRef> {
    match types::time_unit(unit) {
        Some(TimeUnit::Second) => counts::<TimestampSecondType>(dtype, bytes, nulls, data_type),
        Some(TimeUnit::Millisecond) => {
            counts::<TimestampMillisecondType>(dtype, bytes, nulls, data_type)
        }
        Some(TimeUnit::Microsecond) => {
            counts::<TimestampMicrosecondType>(dtype, bytes, nulls, data_type)
        }
        _ => counts::<TimestampNanosecondType>(dtype, bytes, nulls, data_type),
    }
}

fn counts<T: ArrowPrimitiveType<Native = i64>>(
    dtype: &Dtype,
    bytes: &[u8],
    nulls: Option<NullBuffer>,
    data_type: &DataType,
) -> Result<ArrayRef> {
    let is_big = items::is_big(dtype);
    let count = |item: &[u8; 8]| {
        if is_big { i64::from_be_bytes(*item) } else { i64::from_le_bytes(*item) }
    };
    let values: ScalarBuffer<i64> = bytes.as_chunks().0.iter().map(count).collect();
    let array = PrimitiveArray::<T>::try_new(values, nulls)?;
    Ok(Arc::new(array.with_data_type(data_type.clone())))
}
