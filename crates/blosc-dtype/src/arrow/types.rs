//! The Arrow type of a dtype.

use alloc::sync::Arc;

use super::arrow_schema::{DataType, Field};

use super::Times;
use crate::{Dtype, Kind};

/// The metadata of a field with this key hold the dtype of the column, as NumPy writes it.
pub const DTYPE_KEY: &str = "numpy.dtype";

/// The field of a list's items.
#[must_use]
pub fn list_item(data_type: DataType, is_nullable: bool) -> Arc<Field> {
    Arc::new(Field::new_list_field(data_type, is_nullable))
}

/// The type of single items; `None` for objects.
#[must_use]
pub fn item_type(dtype: &Dtype) -> Option<DataType> {
    if dtype.has_objects() {
        return None;
    }
    if let Some(times) = Times::from_dtype(dtype) {
        return Some(times.data_type);
    }
    Some(match (dtype.kind(), dtype.itemsize()) {
        (Some(Kind::Bool), _) => DataType::Boolean,
        (Some(Kind::Int), 1) => DataType::Int8,
        (Some(Kind::Int), 2) => DataType::Int16,
        (Some(Kind::Int), 4) => DataType::Int32,
        (Some(Kind::Int | Kind::DateTime | Kind::TimeDelta), 8) => DataType::Int64,
        (Some(Kind::Uint), 1) => DataType::UInt8,
        (Some(Kind::Uint), 2) => DataType::UInt16,
        (Some(Kind::Uint), 4) => DataType::UInt32,
        (Some(Kind::Uint), 8) => DataType::UInt64,
        (Some(Kind::Float), 2) => DataType::Float16,
        (Some(Kind::Float), 4) => DataType::Float32,
        (Some(Kind::Float), 8) => DataType::Float64,
        (Some(Kind::Bytes), _) => DataType::Binary,
        (Some(Kind::Unicode), _) => DataType::Utf8,
        (_, size) => DataType::FixedSizeBinary(i32::try_from(size).ok()?),
    })
}

/// The type of rows, each of which is an array of this shape, or a single item if the shape is
/// empty.
#[must_use]
pub fn row_type(dtype: &Dtype, shape: &[u64]) -> Option<DataType> {
    let is_nullable = Times::from_dtype(dtype).is_some();
    let mut data_type = item_type(dtype)?;
    for len in shape.iter().rev() {
        let len = i32::try_from(*len).ok()?;
        data_type = DataType::FixedSizeList(list_item(data_type, is_nullable), len);
    }
    Some(data_type)
}
