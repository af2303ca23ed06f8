//! Objects with a schema, as arrays of Arrow.

use std::sync::Arc;

use super::arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use super::arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, ListArray, PrimitiveArray, StringArray, StructArray,
};
use super::arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use super::arrow_schema::{ArrowError, DataType, FieldRef, Fields};
use super::items::{offsets, with_type};

use crate::error::{Corrupt, Error, Result};
use crate::value::Value;

/// A row and its value, nil or missing for null.
pub(super) type Cell<'a> = (u64, Option<&'a Value>);

/// The objects of some rows. `key` is for errors.
pub(super) fn array(data_type: &DataType, cells: &[Cell<'_>], key: &str) -> Result<ArrayRef> {
    let cells = Cells { cells, key };
    Ok(match data_type {
        DataType::Boolean => {
            let truth = |value: &Value| match value {
                Value::Bool(value) => Some(*value),
                _ => None,
            };
            Arc::new(cells.all("truth values", truth)?.into_iter().collect::<BooleanArray>())
        }
        DataType::Int8 => cells.integers::<Int8Type>()?,
        DataType::Int16 => cells.integers::<Int16Type>()?,
        DataType::Int32 => cells.integers::<Int32Type>()?,
        DataType::Int64 => cells.integers::<Int64Type>()?,
        DataType::UInt8 => cells.integers::<UInt8Type>()?,
        DataType::UInt16 => cells.integers::<UInt16Type>()?,
        DataType::UInt32 => cells.integers::<UInt32Type>()?,
        DataType::UInt64 => cells.integers::<UInt64Type>()?,
        DataType::Timestamp(..) => with_type(&cells.integers::<Int64Type>()?, data_type)?,
        #[expect(clippy::cast_possible_truncation, reason = "numbers that had 32 bits")]
        DataType::Float32 => {
            let values = cells.all("floats", float)?.into_iter();
            Arc::new(values.map(|v| v.map(|v| v as f32)).collect::<PrimitiveArray<Float32Type>>())
        }
        DataType::Float64 => {
            let values = cells.all("floats", float)?.into_iter();
            Arc::new(values.collect::<PrimitiveArray<Float64Type>>())
        }
        DataType::Binary => {
            let bytes = |value: &Value| match value {
                Value::Bytes(bytes) => Some(bytes.len()),
                _ => None,
            };
            let lens = cells.all("bytes", bytes)?;
            let values = cells.joined(|value| match value {
                Value::Bytes(bytes) => bytes,
                _ => &[],
            });
            let offsets = offsets_of(lens)?;
            Arc::new(BinaryArray::try_new(offsets, Buffer::from_vec(values), cells.nulls())?)
        }
        DataType::Utf8 => {
            let lens = cells.all("text", |value| value.as_str().map(str::len))?;
            let values = cells.joined(|value| value.as_str().unwrap_or_default().as_bytes());
            let offsets = offsets_of(lens)?;
            Arc::new(StringArray::try_new(offsets, Buffer::from_vec(values), cells.nulls())?)
        }
        DataType::List(item) => cells.lists(item)?,
        DataType::Struct(fields) => cells.maps(fields)?,
        other => return Err(ArrowError::NotYetImplemented(other.to_string()).into()),
    })
}

struct Cells<'a, 'v> {
    cells: &'a [Cell<'v>],
    key: &'a str,
}

impl Cells<'_, '_> {
    /// Converts all values; `None` for nulls.
    fn all<T>(
        &self,
        expected: &'static str,
        convert: impl Fn(&Value) -> Option<T>,
    ) -> Result<Vec<Option<T>>> {
        let converted = |(row, value): &Cell<'_>| match value {
            None | Some(Value::Nil) => Ok(None),
            Some(value) => convert(value).map(Some).ok_or_else(|| {
                let found = value.type_name();
                Error::corrupt(self.key, Corrupt::Cell { row: *row, found, expected })
            }),
        };
        self.cells.iter().map(converted).collect()
    }

    fn integers<T: ArrowPrimitiveType<Native: TryFrom<i64> + TryFrom<u64>>>(
        &self,
    ) -> Result<ArrayRef> {
        let values = self.all("integers that fit", |value| match value {
            Value::Int(value) => T::Native::try_from(*value).ok(),
            Value::UInt(value) => T::Native::try_from(*value).ok(),
            _ => None,
        })?;
        Ok(Arc::new(values.into_iter().collect::<PrimitiveArray<T>>()))
    }

    fn lists(&self, item: &FieldRef) -> Result<ArrayRef> {
        let lens = self.all("lists", |value| value.as_array().map(<[_]>::len))?;
        let mut items: Vec<Cell<'_>> = Vec::new();
        for (row, value) in self.cells {
            let found = value.and_then(Value::as_array).unwrap_or_default();
            items.extend(found.iter().map(|item| (*row, Some(item))));
        }
        let values = array(item.data_type(), &items, self.key)?;
        let offsets = offsets_of(lens)?;
        Ok(Arc::new(ListArray::try_new(Arc::clone(item), offsets, values, self.nulls())?))
    }

    fn maps(&self, fields: &Fields) -> Result<ArrayRef> {
        self.all("maps", |value| value.as_map().map(|_| ()))?;
        let column = |field: &FieldRef| {
            let cells = self.cells.iter();
            let cells = cells.map(|(row, value)| (*row, value.and_then(|v| v.get(field.name()))));
            array(field.data_type(), &cells.collect::<Vec<_>>(), self.key)
        };
        let columns = fields.iter().map(column).collect::<Result<_>>()?;
        let (len, nulls) = (self.cells.len(), self.nulls());
        Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, len)?))
    }

    fn joined<'s>(&'s self, bytes_of: impl Fn(&'s Value) -> &'s [u8]) -> Vec<u8> {
        let mut values = Vec::new();
        for value in self.cells.iter().filter_map(|(_, value)| *value) {
            values.extend_from_slice(bytes_of(value));
        }
        values
    }

    fn nulls(&self) -> Option<NullBuffer> {
        let is_valid = |(_, value): &Cell<'_>| !matches!(value, None | Some(Value::Nil));
        let nulls: NullBuffer = self.cells.iter().map(is_valid).collect();
        (nulls.null_count() > 0).then_some(nulls)
    }
}

#[expect(clippy::cast_precision_loss, reason = "what Python does with integers in such a column")]
fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(value) => Some(*value),
        Value::Int(value) => Some(*value as f64),
        Value::UInt(value) => Some(*value as f64),
        _ => None,
    }
}

/// Offsets of values of these lengths.
fn offsets_of(lens: Vec<Option<usize>>) -> Result<OffsetBuffer<i32>> {
    let mut end = 0_usize;
    let ends = lens.into_iter().map(|len| {
        end = end.saturating_add(len.unwrap_or_default());
        end
    });
    Ok(offsets(ends)?)
}
