//! Metadata as zarr-python reads them: `NaN` and `Infinity` may be bare words, and integers may be
//! text or have a decimal point.

use serde_json::{Number, Value};

/// Words that Python writes where JSON has none. They become text, as in attributes.
const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// Parses a document; bare words for numbers become text.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let strict = serde_json::from_slice(bytes);
    match strict {
        Err(_) if bytes.windows(3).any(|found| found == b"NaN" || found == b"Inf") => {
            serde_json::from_slice(&quoted(bytes))
        }
        strict => strict,
    }
}

/// The document with quotation marks around bare words.
fn quoted(mut rest: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(rest.len().saturating_add(64));
    let mut is_in_text = false;
    while let Some(byte) = rest.first() {
        let word = WORDS.iter().find(|word| !is_in_text && rest.starts_with(word.as_bytes()));
        let len = match (word, byte) {
            (Some(word), _) => {
                text.extend(format!("\"{word}\"").as_bytes());
                rest = rest.get(word.len()..).unwrap_or_default();
                continue;
            }
            // A quotation mark after a backslash does not end a text.
            (None, b'\\') => 2,
            (None, b'"') => {
                is_in_text = !is_in_text;
                1
            }
            _ => 1,
        };
        let (taken, left) = rest.split_at_checked(len).unwrap_or((rest, &[]));
        text.extend(taken);
        rest = left;
    }
    text
}

/// An integer that is written as an integer, as text, or with a decimal point.
pub(super) fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Number(number) => of_number(number),
        Value::Bool(bit) => Some((*bit).into()),
        Value::String(text) => match text.trim().parse() {
            Ok(integer) => Some(integer),
            Err(_) => of_float(text.trim().parse().ok()?),
        },
        _ => None,
    }
}

fn of_number(number: &Number) -> Option<i128> {
    let signed = number.as_i64().map(i128::from);
    let unsigned = number.as_u64().map(i128::from);
    signed.or(unsigned).or_else(|| of_float(number.as_f64()?))
}

/// The integer that equals a float.
#[allow(clippy::cast_possible_truncation, reason = "it is an integer below 2^63")]
fn of_float(float: f64) -> Option<i128> {
    let is_integer = float.fract() == 0.0 && float.abs() < 9.0e18;
    is_integer.then_some(float as i128)
}

/// A length or a count.
pub(super) fn count(value: &Value) -> Option<u64> {
    u64::try_from(integer(value)?).ok()
}

/// The lengths of a shape as numbers; other values stay, and zarrs refuses them.
pub(super) fn counts(value: &Value) -> Value {
    match value {
        Value::Array(lens) => lens.iter().map(counts).collect(),
        other => count(other).map_or_else(|| other.clone(), Value::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_of_python_become_text() {
        let text = br#"{"a": NaN, "b": [-Infinity, Infinity], "c": "NaN \" NaN, \\", "d": 1}"#;
        let expected =
            json!({"a": "NaN", "b": ["-Infinity", "Infinity"], "c": "NaN \" NaN, \\", "d": 1});
        assert_eq!(parse(text).unwrap(), expected);
        for damaged in [&b"{\"a\": NaN"[..], b"NaNN", b"\"\\", b"{\"a\": Inf}"] {
            assert!(parse(damaged).is_err(), "{damaged:?}");
        }
    }

    #[test]
    fn integers_have_several_spellings() {
        for (value, expected) in [
            (json!(7), Some(7)),
            (json!("7"), Some(7)),
            (json!(7.0), Some(7)),
            (json!("7.0"), Some(7)),
            (json!(-7), Some(-7)),
            (json!(u64::MAX), Some(i128::from(u64::MAX))),
            (json!(7.5), None),
            (json!("seven"), None),
            (json!(null), None),
        ] {
            assert_eq!(integer(&value), expected, "{value}");
        }
        assert_eq!(counts(&json!(["4", 6.0, -1])), json!([4, 6, -1]));
    }
}
