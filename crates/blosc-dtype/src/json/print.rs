//! The printer: `json.dumps(value, ensure_ascii=True)`.

use alloc::format;
use core::fmt::{Display, Formatter, Result};

use super::Json;

/// Python's text, with ASCII characters only.
impl Display for Json {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => float(f, *value),
            Self::String(text) => string(f, text),
            Self::Array(values) => {
                f.write_str("[")?;
                joined(f, values, |f, value| value.fmt(f))?;
                f.write_str("]")
            }
            Self::Object(entries) => {
                f.write_str("{")?;
                joined(f, entries, |f, (key, value)| {
                    string(f, key)?;
                    write!(f, ": {value}")
                })?;
                f.write_str("}")
            }
        }
    }
}

fn joined<T>(
    f: &mut Formatter<'_>,
    items: &[T],
    each: impl Fn(&mut Formatter<'_>, &T) -> Result,
) -> Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        each(f, item)?;
    }
    Ok(())
}

fn float(f: &mut Formatter<'_>, value: f64) -> Result {
    if value.is_nan() {
        return f.write_str("NaN");
    }
    if value.is_infinite() {
        return f.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse::<i32>() {
        Ok(exponent @ (..-4 | 16..)) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            write!(f, "{digits}e{sign}{:02}", exponent.abs())
        }
        _ => write!(f, "{value:?}"),
    }
}

fn string(f: &mut Formatter<'_>, text: &str) -> Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\u{8}' => f.write_str("\\b")?,
            '\u{c}' => f.write_str("\\f")?,
            ' '..='~' => write!(f, "{c}")?,
            _ => c
                .encode_utf16(&mut [0; 2])
                .iter()
                .try_for_each(|unit| write!(f, "\\u{unit:04x}"))?,
        }
    }
    f.write_str("\"")
}
