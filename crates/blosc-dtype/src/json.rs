//! JSON in the form of Python's `json` module, with `NaN`, `Infinity` and `-Infinity`.
//!
//! The metadata of bcolz and the schemas of Blosc2 tables contain these three tokens as fill values
//! and null values, and 64-bit integers that must stay exact. Files that are compared byte by byte
//! need Python's exact spelling. Readers of strict JSON offer none of these.

pub mod base64;
mod parse;
mod print;
mod wide;

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

pub use parse::{SyntaxError, parse};
pub use wide::{quote_wide_integers, wide_integer};

/// A value of JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number without point and exponent, if it fits an `i128`.
    Int(i128),
    /// Any other number, and `NaN`, `Infinity`, `-Infinity`.
    Float(f64),
    /// A string. Halves of surrogate pairs, which Python writes, are replaced by U+FFFD.
    String(String),
    /// A list.
    Array(Vec<Self>),
    /// An object, in its order; keys are unique.
    Object(Vec<(String, Self)>),
}

impl Json {
    /// The value of a key of an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// A whole number.
    #[must_use]
    pub const fn as_int(&self) -> Option<i128> {
        if let Self::Int(value) = self { Some(*value) } else { None }
    }

    /// Any number.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "the caller wants a float")]
    pub const fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The values of a list.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(values) = self { Some(values) } else { None }
    }

    /// The type in a word, for messages.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a float",
            Self::String(_) => "a string",
            Self::Array(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Self {
        Self::Int(value.into())
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Self::Int(value.into())
    }
}

impl From<f64> for Json {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Json {
    fn from(values: Vec<T>) -> Self {
        Self::Array(values.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::{format, vec};

    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Json {
        parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn text_comes_back_as_python_writes_it() {
        for text in [
            r#"{"shape": [25, 3], "nbytes": 100, "cbytes": -24}"#,
            r#"{"dflt": NaN, "a": [Infinity, -Infinity, null, true, false], "b": {}, "c": []}"#,
            r#"{"s": "\u00e9\ud83d\ude00 \"\\\n\t\u0000\u007f", "n": 18446744073709551615}"#,
            "[0.1, 1e+16, 1.5e-05, -0.0, 1.0, 0.10000000149011612]",
        ] {
            assert_eq!(read(text).to_string(), text);
        }
    }

    #[test]
    fn strings_are_taken_in_any_spelling() {
        assert_eq!(read(r#""é\u00E9\/\b\f\r\ud83d""#), Json::from("éé/\u{8}\u{c}\r\u{fffd}"));
        assert_eq!(
            read(r#""\ude00\ud83dx\ud83d\ud83d\ude00""#),
            Json::from("\u{fffd}\u{fffd}x\u{fffd}\u{1f600}")
        );
    }

    #[test]
    fn the_last_of_equal_keys_counts_as_in_python() {
        assert_eq!(read(r#"{"a": 1, "b": 2, "a": 3}"#).to_string(), r#"{"a": 3, "b": 2}"#);
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        for (text, at) in [
            ("", 0),
            ("{", 1),
            ("nan", 0),
            ("{'a': 1}", 1),
            ("[1,]", 3),
            ("[1 2]", 3),
            ("1 2", 2),
            ("01", 1),
            ("\"\\x\"", 2),
            ("\"a\nb\"", 2),
            ("{\"a\" 1}", 5),
            ("-", 1),
            ("1.", 2),
            ("1e", 2),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap_err().at, at, "{text}");
        }
        assert_eq!(parse(b"\"\xff\"").unwrap_err().at, 1);
    }

    #[test]
    fn nesting_is_limited() {
        assert!(parse("[".repeat(100_000).as_bytes()).is_err());
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(parse(deep.as_bytes()).is_ok());
    }

    proptest! {
        #[test]
        fn no_text_panics(wrong in "[\\[\\]{}\",:\\\\uNaInfity0-9d\\-\u{e4}]{0,60}") {
            let _ = parse(wrong.as_bytes());
        }

        #[test]
        fn values_come_back(key in any::<String>(), float in any::<f64>(), int in any::<i128>()) {
            prop_assume!(!float.is_nan());
            let value = Json::Object(vec![(key, Json::Array(vec![Json::Float(float), Json::Int(int)]))]);
            let text = value.to_string();
            prop_assert!(text.is_ascii());
            prop_assert_eq!(parse(text.as_bytes()).unwrap(), value);
        }
    }
}
