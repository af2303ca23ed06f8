//! The items of an array, in the types of NumPy and in those of zarrs.
//!
//! ```text
//! dtype of version 2  \                              data_type and fill_value for zarrs
//!                      > a type of NumPy --Items--> {
//! data_type of version 3 /                           the type of what zarrs gives
//! ```
//!
//! Numbers, times and text of a fixed width have types of zarrs, which gives them in native byte
//! order. All other items of a fixed width are read as bytes.

use core::fmt;
use std::io;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use blosc_dtype::{Dtype, Kind, Scalar, str_repr};
use serde_json::{Map, Value, json};

use super::lenient;
use super::{invalid, unsupported};

/// The type of the items of an array.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Items {
    /// Items of one size, in the byte order of the chunks.
    Fixed(Dtype),
    /// Text of any length.
    Text,
    /// Bytes of any length.
    Bytes,
}

/// The error for a type without a counterpart, by its name.
fn without_counterpart(name: impl fmt::Display) -> io::Error {
    unsupported(format!("items of the type {name}, which have no counterpart"))
}

impl Items {
    /// Reads the type from the metadata of version 2 or 3.
    ///
    /// # Errors
    ///
    /// A type without a counterpart in NumPy; metadata without a type.
    pub(super) fn of_metadata(metadata: &Value) -> io::Result<Self> {
        if let Some(dtype) = metadata.get("dtype") {
            return Self::of_v2(dtype, metadata.get("filters"));
        }
        let data_type = metadata.get("data_type").unwrap_or(&Value::Null);
        match name_of(data_type).ok_or_else(|| invalid("there is no data_type"))? {
            "string" | "variable_length_utf8" => Ok(Self::Text),
            "bytes" | "variable_length_bytes" => Ok(Self::Bytes),
            name => {
                let code = code_of_v3(data_type).ok_or_else(|| without_counterpart(name))?;
                code.parse().map(Self::Fixed).map_err(|_| without_counterpart(name))
            }
        }
    }

    fn of_v2(dtype: &Value, filters: Option<&Value>) -> io::Result<Self> {
        let code = code_of_v2(dtype).ok_or_else(|| invalid("the dtype is none"))?;
        let shown = dtype.as_str().unwrap_or(&code);
        let parsed: Dtype = code.parse().map_err(|_| without_counterpart(shown))?;
        if !parsed.has_objects() {
            return Ok(Self::Fixed(parsed));
        }
        let first = filters.and_then(|filters| filters.get(0)?.get("id")?.as_str());
        match (parsed.kind(), first) {
            (Some(Kind::Object), Some("vlen-utf8")) => Ok(Self::Text),
            (Some(Kind::Object), Some("vlen-bytes")) => Ok(Self::Bytes),
            (_, Some(filter)) => {
                Err(without_counterpart(format_args!("{shown} with the filter {filter}")))
            }
            _ => Err(without_counterpart(shown)),
        }
    }

    /// The type of the items from zarrs: numbers have native byte order.
    pub(super) fn given(&self) -> Option<Dtype> {
        let Self::Fixed(dtype) = self else { return None };
        let code = dtype.to_string();
        let order = if cfg!(target_endian = "big") { '>' } else { '<' };
        match code.strip_prefix(['<', '>', '=']) {
            Some(rest) if zarrs_type(dtype).is_some() => format!("{order}{rest}").parse().ok(),
            _ => Some(dtype.clone()),
        }
    }

    /// Whether the numbers in chunks are big-endian.
    pub(super) fn is_big(&self) -> bool {
        matches!(self, Self::Fixed(dtype) if dtype.to_string().starts_with('>'))
    }

    /// The `data_type` with which zarrs reads them.
    pub(super) fn data_type(&self) -> Value {
        match self {
            Self::Fixed(dtype) => zarrs_type(dtype)
                .unwrap_or_else(|| format!("r{}", dtype.itemsize().saturating_mul(8)).into()),
            Self::Text => "string".into(),
            Self::Bytes => "bytes".into(),
        }
    }

    /// The `fill_value` for zarrs.
    ///
    /// # Errors
    ///
    /// A value that does not fit the type.
    pub(super) fn fill_value(&self, value: &Value) -> io::Result<Value> {
        let fill = match self {
            Self::Fixed(dtype) => fixed_fill(dtype, value),
            Self::Text => Some(value.as_str().unwrap_or_default().into()),
            Self::Bytes => Some(match value {
                Value::String(_) | Value::Array(_) => value.clone(),
                _ => "".into(),
            }),
        };
        fill.ok_or_else(|| unsupported(format!("the fill value {value}")))
    }
}

/// The type of zarrs for a type of NumPy; `None` for items that are read as bytes.
fn zarrs_type(dtype: &Dtype) -> Option<Value> {
    let scalar = dtype.scalar()?;
    let nbits = scalar.itemsize().saturating_mul(8);
    let name = match (scalar.kind(), scalar.itemsize()) {
        (Kind::Bool, 1) => "bool".to_owned(),
        (Kind::Int, 1 | 2 | 4 | 8) => format!("int{nbits}"),
        (Kind::Uint, 1 | 2 | 4 | 8) => format!("uint{nbits}"),
        (Kind::Float, 2 | 4 | 8) => format!("float{nbits}"),
        (Kind::Complex, 8 | 16) => format!("complex{nbits}"),
        (Kind::DateTime, 8) => return Some(time_type("numpy.datetime64", scalar)),
        (Kind::TimeDelta, 8) => return Some(time_type("numpy.timedelta64", scalar)),
        (Kind::Unicode, 4..) => {
            let configuration = json!({"length_bytes": scalar.itemsize()});
            return Some(json!({"name": "fixed_length_utf32", "configuration": configuration}));
        }
        _ => return None,
    };
    Some(name.into())
}

fn time_type(name: &str, scalar: &Scalar) -> Value {
    let unit = scalar.unit().unwrap_or("generic");
    let digits = unit.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    let (factor, unit) = unit.split_at(digits);
    let factor: u64 = factor.parse().unwrap_or(1);
    json!({"name": name, "configuration": {"unit": unit, "scale_factor": factor}})
}

/// The name of a type or of a codec of version 3.
pub(super) fn name_of(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("name")?.as_str())
}

/// The code of NumPy for a `dtype` of version 2: fields are lists of name, type and shape.
fn code_of_v2(dtype: &Value) -> Option<String> {
    match dtype {
        Value::String(code) => Some(code.clone()),
        Value::Array(fields) => {
            let field = |field: &Value| {
                let (name, code) = (field.get(0)?.as_str()?, quoted(code_of_v2(field.get(1)?)?));
                let name = str_repr(name);
                Some(match field.get(2).map(lengths) {
                    None => format!("({name}, {code})"),
                    Some(shape) => format!("({name}, {code}, {})", shape?),
                })
            };
            list_of(fields.iter().map(field))
        }
        _ => None,
    }
}

fn list_of(fields: impl Iterator<Item = Option<String>>) -> Option<String> {
    Some(format!("[{}]", fields.collect::<Option<Vec<_>>>()?.join(", ")))
}

/// The shape of a field, which may be a number.
fn lengths(shape: &Value) -> Option<String> {
    let lens = shape.as_array().map_or(core::slice::from_ref(shape), Vec::as_slice);
    let lens: Vec<String> = lens
        .iter()
        .map(|len| lenient::count(len).map(|len| len.to_string()))
        .collect::<Option<_>>()?;
    Some(format!("({},)", lens.join(", ")))
}

/// A type in quotation marks, unless it has fields.
fn quoted(code: String) -> String {
    if code.starts_with('[') { code } else { str_repr(&code) }
}

/// The code of NumPy for a `data_type` of version 3.
fn code_of_v3(data_type: &Value) -> Option<String> {
    let name = name_of(data_type)?;
    let configured = |key: &str| data_type.get("configuration").and_then(|map| map.get(key));
    let length = || lenient::count(configured("length_bytes")?);
    Some(match name {
        "bool" => "|b1".to_owned(),
        "int8" => "|i1".to_owned(),
        "uint8" => "|u1".to_owned(),
        "int16" | "int32" | "int64" | "uint16" | "uint32" | "uint64" | "float16" | "float32"
        | "float64" | "complex64" | "complex128" => {
            let digits = name.find(|c: char| c.is_ascii_digit())?;
            let (kind, bits) = name.split_at(digits);
            format!("<{}{}", kind.get(..1)?, bits.parse::<u32>().ok()? / 8)
        }
        "numpy.datetime64" | "numpy.timedelta64" => {
            let letter = if name == "numpy.datetime64" { "M8" } else { "m8" };
            let unit = configured("unit").and_then(Value::as_str).unwrap_or("generic");
            match (unit, configured("scale_factor").and_then(lenient::count).unwrap_or(1)) {
                ("generic", _) => format!("<{letter}"),
                (unit, 1) => format!("<{letter}[{unit}]"),
                (unit, factor) => format!("<{letter}[{factor}{unit}]"),
            }
        }
        "null_terminated_bytes" => format!("|S{}", length()?),
        "raw_bytes" => format!("|V{}", length()?),
        "fixed_length_utf32" => match length()? {
            nbytes if nbytes.is_multiple_of(4) => format!("<U{}", nbytes / 4),
            _ => return None,
        },
        "structured" | "struct" => {
            list_of(configured("fields")?.as_array()?.iter().map(field_of_v3))?
        }
        _ => match name.strip_prefix('r')?.parse::<u32>().ok()? {
            bits if bits.is_multiple_of(8) => format!("|V{}", bits / 8),
            _ => return None,
        },
    })
}

/// A field is a list of name and type, or an object with both.
fn field_of_v3(field: &Value) -> Option<String> {
    let (name, data_type) = match field {
        Value::Array(pair) => (pair.first()?, pair.get(1)?),
        field => (field.get("name")?, field.get("data_type")?),
    };
    Some(format!("({}, {})", str_repr(name.as_str()?), quoted(code_of_v3(data_type)?)))
}

/// The fill value of items of one size. Version 2 has `null` for none, and some programs wrote `0`
/// or `"0"` for any number.
fn fixed_fill(dtype: &Dtype, value: &Value) -> Option<Value> {
    let Some(kind) = dtype.kind().filter(|_| zarrs_type(dtype).is_some()) else {
        return bytes_fill(dtype.itemsize(), value);
    };
    Some(match kind {
        Kind::Bool => (lenient::integer(zero_for_null(value))? != 0).into(),
        Kind::Int | Kind::Uint => {
            let integer = lenient::integer(zero_for_null(value))?;
            match u64::try_from(integer) {
                Ok(unsigned) => unsigned.into(),
                Err(_) => i64::try_from(integer).ok()?.into(),
            }
        }
        Kind::DateTime | Kind::TimeDelta => match value {
            Value::String(text) if text == "NaT" => i64::MIN.into(),
            Value::Null => 0.into(),
            value => i64::try_from(lenient::integer(value)?).ok()?.into(),
        },
        Kind::Float => float_fill(value)?,
        Kind::Complex => match value {
            Value::Array(parts) => {
                [float_fill(parts.first()?)?, float_fill(parts.get(1)?)?].into_iter().collect()
            }
            value => [float_fill(value)?, float_fill(&Value::Null)?].into_iter().collect(),
        },
        _ => value.as_str().unwrap_or_default().into(),
    })
}

fn zero_for_null(value: &Value) -> &Value {
    const ZERO: &Value = &Value::Bool(false);
    if value.is_null() || value == "" { ZERO } else { value }
}

/// Numbers, and the spellings of zarrs: `NaN`, `Infinity`, the bits as `0x7fc00000`.
fn float_fill(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Null => 0.0.into(),
        Value::Number(_) => value.clone(),
        Value::Bool(bit) => f64::from(u8::from(*bit)).into(),
        Value::String(text) => match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => number.into(),
            _ if text.is_empty() => 0.0.into(),
            _ => value.clone(),
        },
        _ => return None,
    })
}

/// The bytes of an item, padded with zeros if the value has fewer.
fn bytes_fill(nbytes: usize, value: &Value) -> Option<Value> {
    let mut bytes = match value {
        value if lenient::integer(value) == Some(0) => vec![],
        Value::String(text) => BASE64_STANDARD.decode(text).ok()?,
        Value::Array(bytes) => {
            let byte = |byte: &Value| u8::try_from(lenient::integer(byte)?).ok();
            bytes.iter().map(byte).collect::<Option<_>>()?
        }
        Value::Null => vec![],
        Value::Object(fields) if is_nothing(fields) => vec![],
        _ => return None,
    };
    if bytes.len() > nbytes {
        return None;
    }
    bytes.resize(nbytes, 0);
    Some(bytes.into())
}

/// Whether the values of all fields of a record are zeros, or empty.
fn is_nothing(fields: &Map<String, Value>) -> bool {
    fields.values().all(|value| match value {
        Value::Null => true,
        Value::Object(fields) => is_nothing(fields),
        Value::String(text) if text.is_empty() => true,
        value => lenient::integer(value) == Some(0),
    })
}
