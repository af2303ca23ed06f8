//! Metadata as JSON text, exactly as Python's `json` module prints it, and back.
//!
//! Python also writes `NaN`, `Infinity`, `-Infinity`, and halves of surrogate pairs, which are not
//! JSON. They are read as `null` and U+FFFD, and never written;
//! [`Metadata::text`](crate::Metadata::text) gives the unchanged text. Python's integers have any
//! size: those of more than 64 bits are read as strings, which keep all digits.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "positions were found in the text"
)]

use std::io;

use blosc_dtype::json::{Json, quote_wide_integers};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Error, Value};

/// The text of a value: without blanks, only ASCII, floats as Python prints them.
pub(crate) fn to_text(value: &Value) -> Vec<u8> {
    let mut text = Vec::new();
    // Writing a JSON value to a vector cannot fail.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut text, Python));
    text
}

/// The value of a text.
pub(crate) fn from_text(text: &str) -> Result<Value, Error> {
    let text = &*quote_wide_integers(text);
    serde_json::from_str(text).or_else(|error| {
        let tamed = tame(text);
        if tamed == text { Err(error) } else { serde_json::from_str(&tamed).map_err(|_| error) }
    })
}

/// `json.dumps(value, separators=(',', ':'))`.
struct Python;

impl Formatter for Python {
    fn write_string_fragment<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        text: &str,
    ) -> io::Result<()> {
        for c in text.chars() {
            if matches!(c, ' '..='~') {
                writer.write_all(&[c as u8])?;
                continue;
            }
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }

    fn write_f64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        write!(writer, "{}", Json::Float(value))
    }
}

/// The text with all of Python's extensions to JSON replaced.
fn tame(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (outside, inside) = rest.split_at(rest.find('"').unwrap_or(rest.len()));
        out.push_str(
            &outside
                .replace("-Infinity", "null")
                .replace("Infinity", "null")
                .replace("NaN", "null"),
        );
        let (string, after) = inside.split_at(string_len(inside));
        push_string(string, &mut out);
        rest = after;
    }
    out
}

/// Bytes of the string literal at the start of `text`, quotes included.
fn string_len(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Appends a string literal, each half of a surrogate pair that lacks the other one replaced.
fn push_string(string: &str, out: &mut String) {
    let mut rest = string;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (text, len) = match (unit_of(escape), escape.get(6..).and_then(unit_of)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (escape.get(..12), 12),
            (Some(0xd800..=0xdfff), _) => (Some("\\ufffd"), 6),
            (Some(_), _) => (escape.get(..6), 6),
            (None, _) => (escape.get(..2), 2),
        };
        let Some((text, after)) = text.zip(escape.get(len..)) else {
            rest = escape;
            break;
        };
        out.push_str(text);
        rest = after;
    }
    out.push_str(rest);
}

/// The number of an escape `\uXXXX` at the start of `text`.
fn unit_of(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn text(value: &Value) -> String {
        String::from_utf8(to_text(value)).unwrap()
    }

    #[test]
    fn text_is_what_python_writes() {
        let value = json!({"b": [1, -2.5, null, true], "a": {"ä\u{1f600}\u{7f}": "x\"\\\n\u{1}/"}});
        assert_eq!(
            text(&value),
            r#"{"b":[1,-2.5,null,true],"a":{"\u00e4\ud83d\ude00\u007f":"x\"\\\n\u0001/"}}"#
        );
    }

    #[test]
    fn floats_are_python_s() {
        for (value, python) in [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e-5, "1.5e-05"),
            (0.0001, "0.0001"),
            (-1.25e300, "-1.25e+300"),
            (5e-324, "5e-324"),
            (123_456_789.125, "123456789.125"),
            (-0.0, "-0.0"),
        ] {
            assert_eq!(text(&json!(value)), python);
        }
    }

    #[test]
    fn what_only_python_writes_is_read() {
        let value = from_text(
            r#"{"NaN":NaN,"b":[Infinity,-Infinity],"c":"\ud83d x \"\\\ud83d\ude00\udc00"}"#,
        );
        let expected =
            json!({"NaN": null, "b": [null, null], "c": "\u{fffd} x \"\\\u{1f600}\u{fffd}"});
        assert_eq!(value.unwrap(), expected);
    }

    #[test]
    fn integers_of_more_than_64_bits_keep_their_digits() {
        let value = from_text(r#"{"id":[-9223372036854775809,18446744073709551615],"NaN":NaN}"#);
        let expected = json!({"id": ["-9223372036854775809", u64::MAX], "NaN": null});
        assert_eq!(value.unwrap(), expected);
    }

    #[test]
    fn malformed_json_is_refused() {
        for wrong in ["", "{", "nan", "{'a': 1}", "[NaN", "\"\\", "\"\\ud8", "1 2"] {
            assert!(from_text(wrong).is_err(), "{wrong}");
        }
        let deep = "[".repeat(100_000);
        assert!(from_text(&deep).is_err());
    }

    #[test]
    fn keys_keep_their_order() {
        let written = r#"{"z":1,"a":2,"m":3}"#;
        assert_eq!(text(&from_text(written).unwrap()), written);
    }

    proptest! {
        #[test]
        fn no_text_panics(wrong in "[\\[\\]{}\",:\\\\uNaInfity0-9d-\u{e4}]{0,60}") {
            let _ = from_text(&wrong);
        }

        #[test]
        fn strings_and_numbers_come_back(key in any::<String>(), float in any::<f64>(), int in any::<i64>()) {
            prop_assume!(float.is_finite());
            let value = json!({ key: [float, int] });
            let written = text(&value);
            prop_assert!(written.is_ascii());
            prop_assert_eq!(from_text(&written).unwrap(), value);
        }
    }
}
