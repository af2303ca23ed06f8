//! The Arrow type of a column.

use std::sync::Arc;

use super::Metadata;
use super::arrow_schema::{DataType, Field, Fields, TimeUnit};
use super::items::{DTYPE_KEY, list_item, row_type};
use blosc_dtype::json::Json;
use blosc_dtype::{Dtype, Kind};

use crate::error::{Param, Result};
use crate::table::{Column, ColumnKind, Nulls};

/// Whether Arrow has a type for columns of a kind.
#[must_use]
pub const fn has_counterpart(kind: &ColumnKind) -> bool {
    !matches!(kind, ColumnKind::Object | ColumnKind::Remote | ColumnKind::Unknown(_))
}

/// The field of a column.
pub(super) fn field(column: &Column) -> Result<Field> {
    let spec = column.spec();
    let refused = || no_counterpart(&spec.name, &spec.kind);
    let data_type = data_type(column).ok_or_else(refused)?;
    let is_nullable = match spec.nulls {
        Nulls::None => column.dtype().is_some_and(is_time) && column.item_shape().is_empty(),
        _ => true,
    };
    let mut metadata = Metadata::default();
    if let Some(dtype) = column.dtype() {
        let text = dtype.to_string().trim_matches('\'').to_owned();
        metadata.extend([(DTYPE_KEY.to_owned(), text)]);
    }
    Ok(Field::new(&spec.name, data_type, is_nullable).with_metadata(metadata))
}

/// Dates of NumPy have their own null.
fn is_time(dtype: &Dtype) -> bool {
    matches!(dtype.kind(), Some(Kind::DateTime | Kind::TimeDelta))
}

fn data_type(column: &Column) -> Option<DataType> {
    let spec = column.spec();
    match &spec.kind {
        ColumnKind::Fixed("b1") => Some(DataType::Boolean),
        ColumnKind::Fixed(_)
        | ColumnKind::String
        | ColumnKind::Bytes
        | ColumnKind::NdArray { .. } => row_type(column.dtype()?, column.item_shape()),
        ColumnKind::Timestamp { unit, timezone } => {
            Some(DataType::Timestamp(time_unit(unit)?, timezone.as_deref().map(Into::into)))
        }
        ColumnKind::Utf8 | ColumnKind::VlString => Some(DataType::Utf8),
        ColumnKind::VlBytes => Some(DataType::Binary),
        ColumnKind::Dictionary { .. } => {
            Some(DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)))
        }
        ColumnKind::List | ColumnKind::Struct => type_of_spec(&spec.json, MAX_DEPTH),
        _ => None,
    }
}

/// The deepest nesting of lists and structs.
const MAX_DEPTH: usize = 64;

pub(super) fn time_unit(unit: &str) -> Option<TimeUnit> {
    Some(match unit {
        "s" => TimeUnit::Second,
        "ms" => TimeUnit::Millisecond,
        "us" => TimeUnit::Microsecond,
        "ns" => TimeUnit::Nanosecond,
        _ => return None,
    })
}

/// The type of objects with a schema.
fn type_of_spec(spec: &Json, depth: usize) -> Option<DataType> {
    let depth = depth.checked_sub(1)?;
    let text = |field: &str| spec.get(field).and_then(Json::as_str);
    Some(match text("kind")? {
        "bool" => DataType::Boolean,
        "int8" => DataType::Int8,
        "int16" => DataType::Int16,
        "int32" => DataType::Int32,
        "int64" => DataType::Int64,
        "uint8" => DataType::UInt8,
        "uint16" => DataType::UInt16,
        "uint32" => DataType::UInt32,
        "uint64" => DataType::UInt64,
        "float32" => DataType::Float32,
        "float64" => DataType::Float64,
        "string" | "utf8" | "vlstring" | "dictionary" => DataType::Utf8,
        "bytes" | "vlbytes" => DataType::Binary,
        "timestamp" => {
            let unit = time_unit(text("unit").unwrap_or("ns"))?;
            DataType::Timestamp(unit, text("timezone").map(Into::into))
        }
        "list" => {
            let item = spec.get("item").or_else(|| spec.get("item_spec"))?;
            DataType::List(list_item(type_of_spec(item, depth)?, true))
        }
        "struct" => {
            let fields = spec.get("fields").and_then(Json::as_array)?;
            let field = |field: &Json| {
                let name = field.get("name").and_then(Json::as_str)?;
                Some(Arc::new(Field::new(name, type_of_spec(field, depth)?, true)))
            };
            DataType::Struct(fields.iter().map(field).collect::<Option<Fields>>()?)
        }
        _ => return None,
    })
}

/// The error for a column without an Arrow type.
pub(super) fn no_counterpart(column: &str, kind: &ColumnKind) -> crate::Error {
    let found = match kind {
        ColumnKind::Object => "object".to_owned(),
        ColumnKind::Remote => "a reference".to_owned(),
        ColumnKind::Unknown(kind) => kind.clone(),
        other => format!("{other:?}"),
    };
    Param::NoCounterpart { column: column.to_owned(), found }.into()
}
