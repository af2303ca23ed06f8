//! A column as arrays.

use core::ops::Range;
use std::sync::{Arc, OnceLock};

use super::arrow_array::types::Int32Type;
use super::arrow_array::{ArrayRef, DictionaryArray, PrimitiveArray, StringArray};
use super::arrow_buffer::{Buffer, NullBuffer};
use super::arrow_schema::{ArrowError, DataType, Field};
use super::items::{array, from_native, offsets};
use super::{objects, types};
use crate::error::Result;
use crate::table::{Column, ColumnKind, ColumnValues, Values};
use blosc_dtype::{Dtype, items};

/// A column whose rows are read as arrays of Arrow.
#[derive(Debug)]
pub struct ColumnArrays {
    column: Column,
    field: Field,
    /// The words of a dictionary, shared by all arrays.
    words: OnceLock<ArrayRef>,
}

impl ColumnArrays {
    /// Finds the Arrow type of the column.
    ///
    /// # Errors
    ///
    /// [`Param::NoCounterpart`](crate::error::Param::NoCounterpart) if there is none.
    pub fn new(column: Column) -> Result<Self> {
        let field = types::field(&column)?;
        Ok(Self { column, field, words: OnceLock::new() })
    }

    /// The column.
    #[must_use]
    pub const fn column(&self) -> &Column {
        &self.column
    }

    /// The column's name, type and metadata.
    #[must_use]
    pub const fn field(&self) -> &Field {
        &self.field
    }

    /// Some logical rows.
    ///
    /// # Errors
    ///
    /// As [`Column::read`]; values that do not fit one array, or are too many for it.
    pub fn read(&self, rows: Range<u64>) -> Result<ArrayRef> {
        let (column, field) = (&self.column, &self.field);
        let ColumnValues { values, valid } = column.read(rows.clone())?;
        let nulls = valid.map(NullBuffer::from);
        match values {
            Values::Fixed { dtype, item_shape, bytes } => {
                if matches!(column.spec().kind, ColumnKind::Timestamp { .. }) {
                    let is_big = items::is_big(&dtype);
                    let count = |item: &[u8; 8]| {
                        if is_big { i64::from_be_bytes(*item) } else { i64::from_le_bytes(*item) }
                    };
                    let counts: Vec<i64> = bytes.as_chunks().0.iter().map(count).collect();
                    return Ok(from_native(field.data_type(), counts, nulls)?);
                }
                let is_widened = field.data_type() == &DataType::Boolean && item_shape.is_empty();
                let dtype = if is_widened { truth()? } else { dtype };
                Ok(array(&dtype, &item_shape, bytes, nulls)?)
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
                // The code of a null is not the number of a word.
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

/// The dtype of truth values that are widened to a byte.
fn truth() -> Result<Dtype> {
    Dtype::parse("|b1").map_err(|error| ArrowError::ExternalError(Box::new(error)).into())
}
