//! Values of stores as JSON and as text.

use core::fmt::Write;

use b2store::Value;
use serde_json::{Map, Number, Value as Json, json};

use super::msgpack;

/// Named values, such as the attributes of a group.
#[must_use]
pub fn map(of: &[(String, Value)]) -> Map<String, Json> {
    of.iter().map(|(name, found)| (name.clone(), value(found))).collect()
}

/// The nearest JSON: keys become text; binary data, and values that JSON lacks, become objects.
#[must_use]
pub fn value(of: &Value) -> Json {
    match of {
        Value::Nil => Json::Null,
        Value::Bool(is) => (*is).into(),
        Value::Int(n) => (*n).into(),
        Value::UInt(n) => (*n).into(),
        Value::Float(n) => Number::from_f64(*n).map_or_else(|| n.to_string().into(), Json::Number),
        Value::Str(text) => text.as_str().into(),
        Value::Bytes(bytes) => match core::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => msgpack::base64_object(bytes),
        },
        Value::Array(items) | Value::Tuple(items) | Value::Set(items) => {
            items.iter().map(value).collect()
        }
        Value::Map(entries) => entries
            .iter()
            .map(|(key, value)| match key {
                Value::Str(key) => (key.clone(), self::value(value)),
                key => (self::value(key).to_string(), self::value(value)),
            })
            .collect::<Map<_, _>>()
            .into(),
        Value::Complex { re, im } => json!([re, im]),
        Value::NdArray(array) => {
            let mut object = Map::new();
            object.insert("dtype".to_owned(), value(&array.dtype));
            object.insert("shape".to_owned(), array.shape.as_slice().into());
            object.insert("data".to_owned(), msgpack::base64_object(&array.data));
            object.into()
        }
        Value::ObjectArray { values, .. } => values.iter().map(value).collect(),
        Value::Frame(bytes) => json!({ "frame": bytes.len() }),
        Value::Reference(what) => json!({ "reference": value(what) }),
        Value::Ext(kind, bytes) => {
            json!({ "ext": kind, "data": msgpack::base64_object(bytes) })
        }
        _ => Json::Null,
    }
}

/// A value in a line; text without quotes.
#[must_use]
pub fn plain(of: &Value) -> String {
    match of {
        Value::Str(text) => text.clone(),
        Value::Bytes(bytes) => String::from_utf8(bytes.clone())
            .unwrap_or_else(|error| error.as_bytes().escape_ascii().to_string()),
        Value::Nil => String::new(),
        Value::Complex { re, im } => {
            let mut text = String::new();
            // Writing to a string does not fail.
            let _written = write!(text, "{re}{im:+}j");
            text
        }
        other => value(other).to_string(),
    }
}
