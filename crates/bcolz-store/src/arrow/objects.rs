//! Columns of objects that are all of one kind, as arrays of Arrow.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow_schema::{DataType, Field};

use crate::carray::CArray;
use crate::error::{Param, Result};
use crate::pickle::Object;

/// The field of a column, found by reading all of its objects.
pub(super) fn field(name: &str, array: &CArray) -> Result<Field> {
    let mut common: Option<DataType> = None;
    for object in array.objects()? {
        let Some(found) = type_of(&object?).map_err(|found| refused(name, found))? else {
            continue;
        };
        match &common {
            Some(common) if *common != found => {
                return Err(refused(name, &format!("objects of {common} and {found}")).into());
            }
            _ => common = Some(found),
        }
    }
    Ok(Field::new(name, common.unwrap_or(DataType::Utf8), true))
}

/// The objects of some rows, which are all of the type or `None`.
pub(super) fn array(data_type: &DataType, objects: &[Object]) -> ArrayRef {
    let objects = objects.iter();
    match data_type {
        DataType::Boolean => Arc::new(
            objects
                .map(|object| if let Object::Bool(value) = object { Some(*value) } else { None })
                .collect::<BooleanArray>(),
        ),
        DataType::Int64 => Arc::new(
            objects
                .map(|object| {
                    if let Object::Int(value) = object { i64::try_from(*value).ok() } else { None }
                })
                .collect::<Int64Array>(),
        ),
        DataType::Float64 => Arc::new(
            objects
                .map(|object| if let Object::Float(value) = object { Some(*value) } else { None })
                .collect::<Float64Array>(),
        ),
        DataType::Binary => Arc::new(
            objects
                .map(|object| if let Object::Bytes(bytes) = object { Some(&**bytes) } else { None })
                .collect::<BinaryArray>(),
        ),
        _ => Arc::new(
            objects
                .map(|object| if let Object::Str(text) = object { Some(&**text) } else { None })
                .collect::<StringArray>(),
        ),
    }
}

/// The Arrow type of an object, `None` for Python's `None`; the object's kind if Arrow has no type
/// for it.
fn type_of(object: &Object) -> core::result::Result<Option<DataType>, &'static str> {
    Ok(Some(match object {
        Object::None => return Ok(None),
        Object::Bool(_) => DataType::Boolean,
        Object::Int(value) if i64::try_from(*value).is_ok() => DataType::Int64,
        Object::Float(_) => DataType::Float64,
        Object::Str(_) => DataType::Utf8,
        Object::Bytes(_) => DataType::Binary,
        Object::Int(_) | Object::BigInt(_) => return Err("integers of more than 64 bits"),
        Object::Scalar { .. } => return Err("scalars of NumPy"),
        _ => return Err("containers"),
    }))
}

fn refused(name: &str, found: &str) -> Param {
    Param::NoCounterpart { column: name.to_owned(), found: found.to_owned() }
}
