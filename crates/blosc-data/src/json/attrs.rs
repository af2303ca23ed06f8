//! Attributes of bcolz as JSON documents. Python's JSON has NaN, infinities and integers of any
//! size.

use bcolz_store::{Attrs, Json};
use serde_json::{Map, Number, Value};

/// Attributes as an object; values that JSON lacks become text.
pub fn to_map(attrs: &Attrs) -> Map<String, Value> {
    attrs.iter().map(|(name, value)| (name.to_owned(), to_value(value))).collect()
}

/// One value; NaN, infinities and integers of more than 64 bits become text.
pub fn to_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(is) => (*is).into(),
        Json::Int(n) => i64::try_from(*n)
            .map(Value::from)
            .or_else(|_| u64::try_from(*n).map(Value::from))
            .unwrap_or_else(|_| n.to_string().into()),
        Json::Float(n) => {
            Number::from_f64(*n).map_or_else(|| json.to_string().into(), Value::Number)
        }
        Json::String(text) => text.as_str().into(),
        Json::Array(values) => values.iter().map(to_value).collect(),
        Json::Object(entries) => Value::Object(
            entries.iter().map(|(key, value)| (key.clone(), to_value(value))).collect(),
        ),
    }
}

/// The opposite of [`to_value`].
pub fn from_value(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(is) => Json::Bool(*is),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(n), _) => Json::Int(n.into()),
            (None, Some(n)) => Json::Int(n.into()),
            (None, None) => number.as_f64().map_or(Json::Null, Json::Float),
        },
        Value::String(text) => Json::String(text.clone()),
        Value::Array(values) => Json::Array(values.iter().map(from_value).collect()),
        Value::Object(map) => {
            Json::Object(map.iter().map(|(key, value)| (key.clone(), from_value(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_json_form_are_text() {
        let json = Json::Array(vec![
            Json::Float(f64::NAN),
            Json::Float(f64::NEG_INFINITY),
            Json::Int(i128::MAX),
            Json::Int(u64::MAX.into()),
            Json::Float(0.5),
            Json::Object(vec![("a".to_owned(), Json::Null)]),
        ]);
        let text = r#"["NaN","-Infinity","170141183460469231731687303715884105727",18446744073709551615,0.5,{"a":null}]"#;
        assert_eq!(to_value(&json).to_string(), text);
        assert_eq!(to_value(&from_value(&to_value(&json))).to_string(), text);
    }
}
