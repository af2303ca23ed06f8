//! The three forms in which releases wrote the type of the items.
//!
//! | releases | plain | structured |
//! |---|---|---|
//! | 0.4.0 | `[["", "<f8"]]` | `[["a", "<i4"], ["b", "<f8", [2]]]` |
//! | up to 0.7.1 | `"<f8"` | the same |
//! | later | `"'<f8'"` | `"[('a', '<i4'), ('b', '<f8', (2,))]"` |

use blosc_dtype::Dtype;
use serde_json::Value;

use crate::{Corrupt, Error, Result};

/// The type in a JSON value.
pub(super) fn from_json(value: &Value) -> Result<Dtype> {
    let dtype = match value {
        Value::String(text) => Dtype::parse(text)?,
        Value::Array(_) => {
            let text =
                fields(value, 0).ok_or(Error::corrupt(0, Corrupt::ArrayKey { key: "dtype" }))?;
            Dtype::parse(&text)?
        }
        _ => return Err(Error::corrupt(0, Corrupt::ArrayKey { key: "dtype" })),
    };
    Ok(unwrap_plain(dtype))
}

/// NumPy describes a plain type as one field without a name.
fn unwrap_plain(dtype: Dtype) -> Dtype {
    match dtype.fields() {
        [only] if only.name().is_empty() && only.dtype().scalar().is_some() => only.dtype().clone(),
        _ => dtype,
    }
}

/// `[["a", "<i4"], ...]` as the literal `[('a', '<i4'), ...]`.
fn fields(list: &Value, depth: usize) -> Option<String> {
    // The parser of the literal refuses deeper nesting, but must not get megabytes first.
    if depth > Dtype::MAX_DEPTH {
        return None;
    }
    let parts: Option<Vec<String>> =
        list.as_array()?.iter().map(|part| field(part, depth)).collect();
    Some(format!("[{}]", parts?.join(", ")))
}

fn field(field: &Value, depth: usize) -> Option<String> {
    let (name, dtype, shape) = match &field.as_array()?[..] {
        [name, dtype] => (name, dtype, None),
        [name, dtype, shape] => (name, dtype, Some(shape)),
        _ => return None,
    };
    let dtype = if dtype.is_array() { fields(dtype, depth + 1)? } else { string(dtype)? };
    let name = tuple_or(name, string)?;
    match shape {
        Some(shape) => Some(format!("({name}, {dtype}, {})", tuple_or(shape, integer)?)),
        None => Some(format!("({name}, {dtype})")),
    }
}

/// A list as a tuple, or a single value.
fn tuple_or(value: &Value, each: fn(&Value) -> Option<String>) -> Option<String> {
    let Some(list) = value.as_array() else { return each(value) };
    let parts: Option<Vec<String>> = list.iter().map(each).collect();
    Some(format!("({},)", parts?.join(", ")))
}

/// The strings of JSON are valid strings of Python, too.
fn string(value: &Value) -> Option<String> {
    value.is_string().then(|| value.to_string())
}

fn integer(value: &Value) -> Option<String> {
    value.as_u64().map(|n| n.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_three_forms_say_the_same() {
        let plain = Dtype::parse("<f8").unwrap();
        for form in [json!([["", "<f8"]]), json!("<f8"), json!("'<f8'"), json!("[('', '<f8')]")] {
            assert_eq!(from_json(&form).unwrap(), plain, "{form}");
        }
        let text = "[('a', '<i4'), (('t\"', 'b'), '<f8', (2, 3)), ('n', [('x', '|S3', (1,))])]";
        let lists = json!([["a", "<i4"], [["t\"", "b"], "<f8", [2, 3]], ["n", [["x", "|S3", 1]]]]);
        assert_eq!(from_json(&lists).unwrap(), Dtype::parse(text).unwrap());
        assert_eq!(from_json(&json!(text)).unwrap(), Dtype::parse(text).unwrap());
    }

    #[test]
    fn a_field_without_a_name_but_with_a_shape_is_a_field() {
        let dtype = from_json(&json!([["", "<f8", [2]]])).unwrap();
        assert_eq!((dtype.fields().len(), dtype.itemsize()), (1, 16));
    }

    #[test]
    fn other_values_are_refused() {
        for wrong in [
            json!(1),
            json!([["a"]]),
            json!([["a", 1]]),
            json!([[1, "<i4"]]),
            json!([["a", "<i4", [-1]]]),
        ] {
            let result = from_json(&wrong);
            assert!(matches!(result, Err(Error::Corrupt { .. })), "{wrong}: {result:?}");
        }
        assert!(matches!(from_json(&json!("f8'")), Err(Error::Dtype { .. })));
    }

    #[test]
    fn nesting_is_limited() {
        let mut deep = json!("<i4");
        for _ in 0..100 {
            deep = json!([["a", deep]]);
        }
        assert!(from_json(&deep).is_err());
    }
}
