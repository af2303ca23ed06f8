//! The Arrow type of a dtype, and the dtype of an Arrow type.

use arrow_schema::{DataType, Field, Metadata, TimeUnit};
use blosc_dtype::arrow::{self, Times, item_type, row_type};
use blosc_dtype::{Dtype, Kind};

use super::{ATTRS_KEY, DTYPE_KEY};
use crate::carray::CArray;
use crate::error::{Param, Result};
use crate::meta::Attrs;
use blosc_dtype::json::{self, Json};

/// The field of a column.
pub(super) fn field(name: &str, array: &CArray) -> Result<Field> {
    let dtype = array.dtype();
    let row_shape = array.shape().get(1..).unwrap_or_default();
    let data_type = row_type(dtype, row_shape).ok_or_else(|| no_counterpart(name, dtype))?;
    let is_nullable = Times::from_dtype(dtype).is_some();
    let mut metadata = Metadata::from([(DTYPE_KEY, dtype.to_string())]);
    metadata.extend(attrs_metadata(&array.attrs()?));
    Ok(Field::new(name, data_type, is_nullable && array.shape().len() == 1).with_metadata(metadata))
}

/// The dtype that takes a field of any origin.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    /// Items of this type.
    Plain(Dtype),
    /// Byte strings, or text, as long as the longest.
    Longest(Kind),
}

/// The target of a field, and the lengths of the lists around its items.
pub(super) fn target(field: &Field) -> Result<(Target, Vec<u64>)> {
    let (mut row_shape, mut item) = (Vec::new(), field.data_type());
    let refused = || Param::NoCounterpart {
        column: field.name().clone(),
        found: field.data_type().to_string(),
    };
    while let DataType::FixedSizeList(inner, len) = item {
        row_shape.push(u64::try_from(*len).ok().filter(|len| *len > 0).ok_or_else(refused)?);
        item = inner.data_type();
    }
    let kept = field.metadata().get(DTYPE_KEY).and_then(|text| Dtype::parse(text).ok());
    if let Some(dtype) =
        kept.filter(|dtype| item_type(dtype).is_some_and(|known| is_like(&known, item)))
    {
        return Ok((Target::Plain(dtype), row_shape));
    }
    let text = match item {
        DataType::Binary | DataType::LargeBinary => {
            return Ok((Target::Longest(Kind::Bytes), row_shape));
        }
        DataType::Utf8 | DataType::LargeUtf8 => {
            return Ok((Target::Longest(Kind::Unicode), row_shape));
        }
        DataType::FixedSizeBinary(size) => format!("|V{size}"),
        other => {
            arrow::dtype_text(other).or_else(|| plain_text(other)).ok_or_else(refused)?.to_owned()
        }
    };
    Ok((Target::Plain(Dtype::parse(&text).map_err(|_| refused())?), row_shape))
}

/// Whether items of one type are read as the other is: longer offsets and time zones change
/// nothing.
pub(super) fn is_like(known: &DataType, found: &DataType) -> bool {
    match (known, found) {
        (DataType::Binary, DataType::LargeBinary) | (DataType::Utf8, DataType::LargeUtf8) => true,
        (DataType::Timestamp(a, _), DataType::Timestamp(b, _)) => a == b,
        (DataType::Timestamp(TimeUnit::Millisecond, _), DataType::Date64) => true,
        (known, found) => known == found,
    }
}

fn plain_text(data_type: &DataType) -> Option<&'static str> {
    Some(match data_type {
        DataType::Boolean => "bool",
        DataType::Int8 => "int8",
        DataType::Int16 => "int16",
        DataType::Int32 => "int32",
        DataType::Int64 => "int64",
        DataType::UInt8 => "uint8",
        DataType::UInt16 => "uint16",
        DataType::UInt32 => "uint32",
        DataType::UInt64 => "uint64",
        DataType::Float16 => "float16",
        DataType::Float32 => "float32",
        DataType::Float64 => "float64",
        _ => return None,
    })
}

/// Attributes as a metadata entry of a field or schema; none if there are no attributes.
pub(super) fn attrs_metadata(attrs: &Attrs) -> Option<(String, String)> {
    (!attrs.is_empty()).then(|| (ATTRS_KEY.to_owned(), attrs.to_text().trim_end().to_owned()))
}

/// The attributes in the metadata of a field or schema; empty if they are no JSON object.
pub(super) fn attrs(metadata: &Metadata) -> Attrs {
    let mut attrs = Attrs::default();
    let text = metadata.get(ATTRS_KEY).and_then(|text| json::parse(text.as_bytes()).ok());
    if let Some(Json::Object(entries)) = text {
        entries.into_iter().for_each(|(name, value)| attrs.set(&name, value));
    }
    attrs
}

fn no_counterpart(name: &str, dtype: &Dtype) -> Param {
    Param::NoCounterpart { column: name.to_owned(), found: dtype.to_string() }
}
