//! Columns with one value for the whole table: `key=value` in its path.

use core::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, StringArray, UInt32Array, new_null_array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result as QueryResult;

use super::{Columns, Scratch};
use crate::error::{Error, Result};

/// The keys and values of a path below the folder that was opened.
pub(crate) type Pairs = Vec<(String, String)>;

/// Splits the name of a folder, `key=value`.
pub(crate) fn pair(name: &str) -> Option<(String, String)> {
    let (key, value) = name.split_once('=')?;
    (!key.is_empty()).then(|| (key.to_owned(), value.to_owned()))
}

/// The columns of the pairs of several tables: numbers, if all values are.
///
/// # Errors
///
/// When a table has other keys than the first.
pub(crate) fn fields<'t>(
    tables: impl Iterator<Item = (&'t str, &'t Pairs)> + Clone,
) -> Result<Vec<Field>> {
    let Some((_, first)) = tables.clone().next() else { return Ok(vec![]) };
    let keys = |pairs: &Pairs| pairs.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    let expected = keys(first);
    for (location, pairs) in tables.clone() {
        let found = keys(pairs);
        if found != expected {
            let (what, expected) =
                (format!("the keys {found:?}"), format!("the keys {expected:?}"));
            return Err(Error::Schema { location: location.to_owned(), what, expected });
        }
    }
    let is_number = |at: usize| {
        let mut values = tables.clone().filter_map(|(_, pairs)| pairs.get(at));
        values.all(|(_, value)| number(value).is_some())
    };
    let data_type = |at| if is_number(at) { DataType::Int64 } else { DataType::Utf8 };
    let field = |(at, key): (usize, String)| Field::new(key, data_type(at), false);
    Ok(expected.into_iter().enumerate().map(field).collect())
}

/// A number that is written as it is printed: `007` is a text.
fn number(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|number| number.to_string() == text)
}

/// A table with more columns, each of one value.
#[derive(Debug)]
pub(crate) struct WithConstants {
    inner: Arc<dyn Columns>,
    values: Vec<String>,
    schema: SchemaRef,
}

impl WithConstants {
    /// `fields` are the last columns; `pairs` has their values.
    pub(crate) fn new(inner: Arc<dyn Columns>, fields: &[Field], pairs: Pairs) -> Self {
        let own = inner.schema().fields().iter().map(|field| field.as_ref().clone());
        let schema = Arc::new(Schema::new(own.chain(fields.iter().cloned()).collect::<Vec<_>>()));
        let values = pairs.into_iter().map(|(_, value)| value).collect();
        Self { inner, values, schema }
    }
}

impl Columns for WithConstants {
    fn nrows(&self) -> u64 {
        self.inner.nrows()
    }

    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn chunk_nrows(&self) -> u64 {
        self.inner.chunk_nrows()
    }

    /// A constant costs next to nothing, so that conditions on constants come first.
    fn row_nbytes(&self, column: usize) -> u64 {
        match column < self.inner.schema().fields().len() {
            true => self.inner.row_nbytes(column),
            false => 0,
        }
    }

    fn read(&self, column: usize, rows: &Range<u64>, scratch: &mut Scratch) -> Result<ArrayRef> {
        let Some(value) = self.constant(column) else {
            return self.inner.read(column, rows, scratch);
        };
        let nrows = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
        Ok(match value {
            ScalarValue::Int64(Some(number)) => Arc::new(Int64Array::from_value(number, nrows)),
            ScalarValue::Utf8(Some(text)) => {
                Arc::new(StringArray::from_iter_values(core::iter::repeat_n(text, nrows)))
            }
            // There are no other types.
            _ => new_null_array(&value.data_type(), nrows),
        })
    }

    fn pick(
        &self,
        column: usize,
        rows: &Range<u64>,
        picked: &UInt32Array,
        scratch: &mut Scratch,
    ) -> QueryResult<ArrayRef> {
        match self.constant(column) {
            Some(_) => Ok(self.read(column, &(0..picked.len() as u64), scratch)?),
            None => self.inner.pick(column, rows, picked, scratch),
        }
    }

    fn constant(&self, column: usize) -> Option<ScalarValue> {
        let ninner = self.inner.schema().fields().len();
        let value = self.values.get(column.checked_sub(ninner)?)?;
        Some(match (self.schema.fields().get(column)?.data_type(), number(value)) {
            (DataType::Int64, Some(number)) => ScalarValue::Int64(Some(number)),
            _ => ScalarValue::Utf8(Some(value.clone())),
        })
    }

    /// Constants need no fetch.
    fn prefetch(&self, columns: &[usize], rows: &Range<u64>) {
        let ninner = self.inner.schema().fields().len();
        let stored: Vec<usize> =
            columns.iter().copied().filter(|column| *column < ninner).collect();
        self.inner.prefetch(&stored, rows);
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
