//! Items of a column as an array of Arrow.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, FixedSizeListArray, PrimitiveArray,
    StringArray,
};
use arrow_buffer::Buffer;
use arrow_schema::{DataType, TimeUnit};
use blosc_dtype::Dtype;

use super::times::{NAT, Times};
use super::types;
use crate::carray::Element;
use crate::error::{Param, Result};
use crate::items;

/// The items of some rows; `shape` has the items of a row in each further dimension.
pub(super) fn array(column: &str, dtype: &Dtype, shape: &[u64], bytes: &[u8]) -> Result<ArrayRef> {
    let mut array = plain(column, dtype, bytes)?;
    let is_nullable = Times::from_dtype(dtype).is_some();
    for len in shape.iter().rev() {
        let item = types::list_item(array.data_type().clone(), is_nullable);
        let len = i32::try_from(*len).unwrap_or(i32::MAX);
        array = Arc::new(FixedSizeListArray::try_new(item, len, array, None)?);
    }
    Ok(array)
}

fn plain(column: &str, dtype: &Dtype, bytes: &[u8]) -> Result<ArrayRef> {
    if let Some(times) = Times::from_dtype(dtype) {
        return self::times(column, dtype, &times, bytes);
    }
    let size = dtype.itemsize();
    Ok(match types::item_type(dtype) {
        Some(DataType::Boolean) => {
            Arc::new(bytes.iter().map(|byte| Some(*byte != 0)).collect::<BooleanArray>())
        }
        Some(DataType::Int8) => numbers::<Int8Type>(dtype, bytes),
        Some(DataType::Int16) => numbers::<Int16Type>(dtype, bytes),
        Some(DataType::Int32) => numbers::<Int32Type>(dtype, bytes),
        Some(DataType::Int64) => numbers::<Int64Type>(dtype, bytes),
        Some(DataType::UInt8) => numbers::<UInt8Type>(dtype, bytes),
        Some(DataType::UInt16) => numbers::<UInt16Type>(dtype, bytes),
        Some(DataType::UInt32) => numbers::<UInt32Type>(dtype, bytes),
        Some(DataType::UInt64) => numbers::<UInt64Type>(dtype, bytes),
        Some(DataType::Float32) => numbers::<Float32Type>(dtype, bytes),
        Some(DataType::Float64) => numbers::<Float64Type>(dtype, bytes),
        Some(DataType::Float16) => {
            let is_big = items::is_big(dtype);
            let half = |item: &[u8; 2]| {
                if is_big {
                    half::f16::from_be_bytes(*item)
                } else {
                    half::f16::from_le_bytes(*item)
                }
            };
            let values = bytes.as_chunks().0.iter().map(half);
            Arc::new(PrimitiveArray::<Float16Type>::from_iter_values(values))
        }
        Some(DataType::Binary) => {
            Arc::new(BinaryArray::from_iter_values(bytes.chunks_exact(size).map(items::trimmed)))
        }
        Some(DataType::Utf8) => {
            let is_big = items::is_big(dtype);
            let texts = bytes.chunks_exact(size).map(|item| items::text(item, is_big));
            Arc::new(StringArray::from_iter_values(texts))
        }
        Some(DataType::FixedSizeBinary(size)) => {
            Arc::new(FixedSizeBinaryArray::try_new(size, Buffer::from(bytes), None)?)
        }
        _ => {
            return Err(Param::NoCounterpart {
                column: column.to_owned(),
                found: dtype.to_string(),
            }
            .into());
        }
    })
}

fn numbers<T: ArrowPrimitiveType<Native: Element>>(dtype: &Dtype, bytes: &[u8]) -> ArrayRef {
    let values =
        bytes.chunks_exact(size_of::<T::Native>()).map(|item| T::Native::decode(dtype, item));
    Arc::new(PrimitiveArray::<T>::from_iter_values(values))
}

fn times(column: &str, dtype: &Dtype, times: &Times, bytes: &[u8]) -> Result<ArrayRef> {
    let mut values: Vec<Option<i64>> = Vec::with_capacity(bytes.len() / 8);
    for (row, item) in bytes.chunks_exact(8).enumerate() {
        let value = i64::decode(dtype, item);
        let exported = if times.is_plain() { Some(value) } else { times.export(value) };
        let fits =
            |value: &i64| times.data_type != DataType::Date32 || i32::try_from(*value).is_ok();
        match exported.filter(fits) {
            _ if value == NAT => values.push(None),
            Some(value) => values.push(Some(value)),
            None => {
                let dtype = times.data_type.to_string();
                return Err(
                    Param::Value { column: column.to_owned(), row: row as u64, dtype }.into()
                );
            }
        }
    }
    Ok(match &times.data_type {
        DataType::Date32 => {
            let days =
                values.into_iter().map(|value| value.and_then(|value| i32::try_from(value).ok()));
            Arc::new(days.collect::<PrimitiveArray<Date32Type>>())
        }
        DataType::Timestamp(TimeUnit::Second, _) => counts::<TimestampSecondType>(values),
        DataType::Timestamp(TimeUnit::Millisecond, _) => counts::<TimestampMillisecondType>(values),
        DataType::Timestamp(TimeUnit::Microsecond, _) => counts::<TimestampMicrosecondType>(values),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => counts::<TimestampNanosecondType>(values),
        DataType::Duration(TimeUnit::Second) => counts::<DurationSecondType>(values),
        DataType::Duration(TimeUnit::Millisecond) => counts::<DurationMillisecondType>(values),
        DataType::Duration(TimeUnit::Microsecond) => counts::<DurationMicrosecondType>(values),
        _ => counts::<DurationNanosecondType>(values),
    })
}

fn counts<T: ArrowPrimitiveType<Native = i64>>(values: Vec<Option<i64>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<PrimitiveArray<T>>())
}
