//! Items as values: bytes of a NumPy type to text.

use alloc::{
    borrow::ToOwned as _,
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use half::f16;

use crate::{ByteOrder, Dtype, Kind, Scalar, date, items, text::hex};

/// One item as text, similar to NumPy's.
#[must_use]
pub fn text(dtype: &Dtype, bytes: &[u8]) -> String {
    if let Some(scalar) = dtype.scalar() {
        return value(scalar, bytes).text();
    }
    match dtype.subarray() {
        Some((base, _)) => {
            format!(
                "[{}]",
                parts(base, bytes).map(|item| text(base, item)).collect::<Vec<_>>().join(" ")
            )
        }
        None => format!(
            "({})",
            fields(dtype, bytes).map(|(_, item)| item).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// One item as the value of a cell: text without quotes.
#[must_use]
pub fn cell(dtype: &Dtype, bytes: &[u8]) -> String {
    match dtype.scalar().map(|scalar| value(scalar, bytes)) {
        Some(Value::Text(text)) => text,
        Some(Value::Bytes(bytes)) => String::from_utf8(bytes)
            .unwrap_or_else(|error| error.as_bytes().escape_ascii().to_string()),
        Some(plain) => plain.text(),
        None => text(dtype, bytes),
    }
}

/// The fields of a structured item as values of cells.
pub fn cells<'a>(dtype: &'a Dtype, bytes: &'a [u8]) -> impl Iterator<Item = String> + 'a {
    dtype.fields().iter().map(|field| cell(field.dtype(), field.bytes_of(bytes)))
}

/// The fields of a structured item, with their names.
pub fn fields<'a>(dtype: &'a Dtype, bytes: &'a [u8]) -> impl Iterator<Item = (&'a str, String)> {
    dtype.fields().iter().map(|field| (field.name(), text(field.dtype(), field.bytes_of(bytes))))
}

fn parts<'a>(base: &Dtype, bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    bytes.chunks_exact(base.itemsize().max(1))
}

/// A plain value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Yes or no.
    Bool(bool),
    /// A number with a sign.
    Int(i64),
    /// A number without a sign.
    Uint(u64),
    /// The shortest text that parses to the same number, and the number.
    Float(String, f64),
    /// Both parts, in Python's form.
    Complex(String),
    /// A string.
    Text(String),
    /// A string in no known encoding.
    Bytes(Vec<u8>),
    /// A date, a time, or a number of units.
    Time(String),
    /// Bytes without a known meaning.
    Opaque(Vec<u8>),
}

impl Value {
    /// The text in NumPy's form: strings have quotes.
    #[must_use]
    pub fn text(self) -> String {
        match self {
            Self::Bool(true) => "True".to_owned(),
            Self::Bool(false) => "False".to_owned(),
            Self::Int(n) => n.to_string(),
            Self::Uint(n) => n.to_string(),
            Self::Float(text, _) | Self::Complex(text) | Self::Time(text) => text,
            Self::Text(text) => format!("'{}'", text.escape_debug()),
            Self::Bytes(bytes) => format!("b'{}'", bytes.escape_ascii()),
            Self::Opaque(bytes) => hex(&bytes, ""),
        }
    }
}

/// The value of an item.
#[must_use]
pub fn value(scalar: &Scalar, bytes: &[u8]) -> Value {
    let little = in_little(scalar, bytes);
    match (scalar.kind(), little.len()) {
        (Kind::Bool, 1) => Value::Bool(little != [0]),
        (Kind::Int, 1..=8) => Value::Int(signed(&little)),
        (Kind::Uint, 1..=8) => Value::Uint(unsigned(&little)),
        (Kind::Float, 2 | 4 | 8) => float(&little),
        (Kind::Complex, 8 | 16) => complex(&little),
        (Kind::Bytes, _) => Value::Bytes(items::trimmed(bytes).to_vec()),
        (Kind::Unicode, _) => Value::Text(items::text(bytes, scalar.order() == ByteOrder::Big)),
        (Kind::DateTime, 8) => Value::Time(date::date(signed(&little), scalar.unit())),
        (Kind::TimeDelta, 8) => Value::Time(date::span(signed(&little), scalar.unit())),
        _ => Value::Opaque(bytes.to_vec()),
    }
}

/// The bytes with the least significant first; for complex numbers, in each part.
fn in_little(scalar: &Scalar, bytes: &[u8]) -> Vec<u8> {
    let is_complex = scalar.kind() == Kind::Complex;
    let width = if is_complex { bytes.len() / 2 } else { bytes.len() };
    if scalar.order() != ByteOrder::Big || width == 0 {
        return bytes.to_vec();
    }
    bytes.chunks(width).flat_map(|part| part.iter().rev().copied()).collect()
}

fn unsigned(little: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(little).for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(bytes)
}

fn signed(little: &[u8]) -> i64 {
    let fill = if little.last().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
    let mut bytes = [fill; 8];
    bytes.iter_mut().zip(little).for_each(|(to, from)| *to = *from);
    i64::from_le_bytes(bytes)
}

fn float(little: &[u8]) -> Value {
    if let Ok(bytes) = <[u8; 8]>::try_from(little) {
        let value = f64::from_le_bytes(bytes);
        return Value::Float(named(value, format!("{value:?}")), value);
    }
    let value = match *little {
        [a, b] => f16::from_le_bytes([a, b]).to_f32(),
        _ => f32::from_le_bytes(little.first_chunk().copied().unwrap_or_default()),
    };
    Value::Float(named(value.into(), format!("{value:?}")), value.into())
}

/// NumPy's names for infinities and NaN.
#[must_use]
pub fn named(value: f64, text: String) -> String {
    match value {
        _ if value.is_nan() => "nan".to_owned(),
        f64::INFINITY => "inf".to_owned(),
        f64::NEG_INFINITY => "-inf".to_owned(),
        _ => text,
    }
}

fn complex(little: &[u8]) -> Value {
    let (re, im) = little.split_at(little.len() / 2);
    let (re, im) = (float(re).text(), float(im).text());
    let sign = if im.starts_with('-') { "" } else { "+" };
    Value::Complex(format!("{re}{sign}{im}j"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_texts_with_quotes_and_cells_without() {
        for (dtype, bytes, expected, alone) in [
            ("|b1", &[1][..], "True", "True"),
            (">i2", &[0xff, 0xfe], "-2", "-2"),
            ("<u8", &[0xff; 8], "18446744073709551615", "18446744073709551615"),
            ("<f2", &[0x00, 0x7e], "nan", "nan"),
            ("<f4", &0.1f32.to_le_bytes(), "0.1", "0.1"),
            ("|S3", b"ab\0", "b'ab'", "ab"),
            (">U1", &[0, 0, 0, 0xe9], "'é'", "é"),
            ("|V2", &[1, 0xff], "01ff", "01ff"),
            ("<M8[D]", &11_016i64.to_le_bytes(), "2000-02-29", "2000-02-29"),
            ("[('a', 'i1'), ('b', 'S1')]", &[7, b'x'], "(7, b'x')", "(7, b'x')"),
            ("('u1', (2,))", &[1, 2], "[1 2]", "[1 2]"),
        ] {
            let parsed = dtype.parse().unwrap();
            assert_eq!(
                (text(&parsed, bytes), cell(&parsed, bytes)),
                (expected.to_owned(), alone.to_owned()),
                "{dtype}"
            );
        }
        let parsed = "[('a', 'i1'), ('b', 'S1')]".parse().unwrap();
        assert_eq!(cells(&parsed, &[7, b'x']).collect::<Vec<_>>(), ["7", "x"]);
        assert_eq!(fields(&parsed, &[7, b'x']).map(|(name, _)| name).collect::<String>(), "ab");
    }
}
