//! Items as values: bytes of a NumPy type to text and to JSON.

use blosc_dtype::{ByteOrder, Dtype, Kind, Scalar, date, items};
use half::f16;
use serde_json::{Map, Number, Value};

use crate::formats::msgpack_json;

/// One item as text, near to how NumPy shows it.
pub(crate) fn text(dtype: &Dtype, bytes: &[u8]) -> String {
    if let Some(scalar) = dtype.scalar() {
        return plain(scalar, bytes).text();
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

/// One item as a value of its own: text without quotes.
pub(crate) fn cell(dtype: &Dtype, bytes: &[u8]) -> String {
    match dtype.scalar().map(|scalar| plain(scalar, bytes)) {
        Some(Plain::Text(text)) => text,
        Some(Plain::Bytes(bytes)) => String::from_utf8(bytes)
            .unwrap_or_else(|error| error.as_bytes().escape_ascii().to_string()),
        Some(plain) => plain.text(),
        None => text(dtype, bytes),
    }
}

/// The fields of a structured item as values of their own.
pub(crate) fn cells<'a>(dtype: &'a Dtype, bytes: &'a [u8]) -> impl Iterator<Item = String> + 'a {
    dtype.fields().iter().map(|field| cell(field.dtype(), field.bytes_of(bytes)))
}

/// One item as JSON: structured ones are objects.
pub(crate) fn json(dtype: &Dtype, bytes: &[u8]) -> Value {
    if let Some(scalar) = dtype.scalar() {
        return plain(scalar, bytes).json();
    }
    if let Some((base, _)) = dtype.subarray() {
        return parts(base, bytes).map(|item| json(base, item)).collect();
    }
    let member = |field: &blosc_dtype::Field| {
        (field.name().to_owned(), json(field.dtype(), field.bytes_of(bytes)))
    };
    Value::Object(dtype.fields().iter().map(member).collect::<Map<_, _>>())
}

/// The fields of a structured item, with their names.
pub(super) fn fields<'a>(
    dtype: &'a Dtype,
    bytes: &'a [u8],
) -> impl Iterator<Item = (&'a str, String)> {
    dtype.fields().iter().map(|field| (field.name(), text(field.dtype(), field.bytes_of(bytes))))
}

fn parts<'a>(base: &Dtype, bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    bytes.chunks_exact(base.itemsize().max(1))
}

/// A plain value.
enum Plain {
    Bool(bool),
    Int(i64),
    Uint(u64),
    /// The shortest text that gives the same number back, and the number.
    Float(String, f64),
    Complex(String),
    Text(String),
    Bytes(Vec<u8>),
    /// A date, a time, or a number of units.
    Time(String),
    /// Bytes that mean nothing here.
    Opaque(Vec<u8>),
}

impl Plain {
    fn text(self) -> String {
        match self {
            Self::Bool(true) => "True".to_owned(),
            Self::Bool(false) => "False".to_owned(),
            Self::Int(n) => n.to_string(),
            Self::Uint(n) => n.to_string(),
            Self::Float(text, _) | Self::Complex(text) | Self::Time(text) => text,
            Self::Text(text) => format!("'{}'", text.escape_debug()),
            Self::Bytes(bytes) => format!("b'{}'", bytes.escape_ascii()),
            Self::Opaque(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    /// JSON has no NaN and no infinities: those are shown by name.
    fn json(self) -> Value {
        match self {
            Self::Bool(is) => is.into(),
            Self::Int(n) => n.into(),
            Self::Uint(n) => n.into(),
            // The shortest text keeps a 32-bit float from getting digits that it does not have.
            Self::Float(text, value) => match text.parse().ok().and_then(Number::from_f64) {
                Some(number) if value.is_finite() => number.into(),
                _ => msgpack_json::float_name(value).into(),
            },
            Self::Complex(text) | Self::Text(text) | Self::Time(text) => text.into(),
            Self::Bytes(bytes) => String::from_utf8(bytes)
                .map_or_else(|error| msgpack_json::base64_object(error.as_bytes()), Value::from),
            Self::Opaque(bytes) => msgpack_json::base64_object(&bytes),
        }
    }
}

fn plain(scalar: &Scalar, bytes: &[u8]) -> Plain {
    let little = in_little(scalar, bytes);
    match (scalar.kind(), little.len()) {
        (Kind::Bool, 1) => Plain::Bool(little[0] != 0),
        (Kind::Int, 1..=8) => Plain::Int(signed(&little)),
        (Kind::Uint, 1..=8) => Plain::Uint(unsigned(&little)),
        (Kind::Float, 2 | 4 | 8) => float(&little),
        (Kind::Complex, 8 | 16) => complex(&little),
        (Kind::Bytes, _) => Plain::Bytes(items::trimmed(bytes).to_vec()),
        (Kind::Unicode, _) => Plain::Text(items::text(bytes, scalar.order() == ByteOrder::Big)),
        (Kind::DateTime, 8) => Plain::Time(date::date(signed(&little), scalar.unit())),
        (Kind::TimeDelta, 8) => Plain::Time(date::span(signed(&little), scalar.unit())),
        _ => Plain::Opaque(bytes.to_vec()),
    }
}

/// The bytes with the least significant first; of complex numbers, of each part.
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

fn float(little: &[u8]) -> Plain {
    if let Ok(bytes) = <[u8; 8]>::try_from(little) {
        let value = f64::from_le_bytes(bytes);
        return Plain::Float(named(value, format!("{value:?}")), value);
    }
    let value = match *little {
        [a, b] => f16::from_le_bytes([a, b]).to_f32(),
        _ => f32::from_le_bytes(little.first_chunk().copied().unwrap_or_default()),
    };
    Plain::Float(named(value.into(), format!("{value:?}")), value.into())
}

/// NumPy's names for floats that are no numbers.
pub(super) fn named(value: f64, text: String) -> String {
    match value {
        _ if value.is_nan() => "nan".to_owned(),
        f64::INFINITY => "inf".to_owned(),
        f64::NEG_INFINITY => "-inf".to_owned(),
        _ => text,
    }
}

fn complex(little: &[u8]) -> Plain {
    let (re, im) = little.split_at(little.len() / 2);
    let (re, im) = (float(re).text(), float(im).text());
    let sign = if im.starts_with('-') { "" } else { "+" };
    Plain::Complex(format!("{re}{sign}{im}j"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json as value;

    fn shown(dtype: &str, bytes: &[u8]) -> (String, Value) {
        let dtype = dtype.parse().unwrap();
        (text(&dtype, bytes), json(&dtype, bytes))
    }

    #[test]
    fn values_are_shown_as_numpy_shows_them() {
        for (dtype, bytes, expected, document) in [
            ("|b1", &[1][..], "True", value!(true)),
            ("|i1", &[0xff], "-1", value!(-1)),
            ("<i4", &(-70_000i32).to_le_bytes(), "-70000", value!(-70_000)),
            (">u2", &[1, 0], "256", value!(256)),
            ("<u8", &[0xff; 8], "18446744073709551615", value!(u64::MAX)),
            ("<f4", &0.1f32.to_le_bytes(), "0.1", value!(0.1)),
            (">f8", &1e300f64.to_be_bytes(), "1e300", value!(1e300)),
            ("<f8", &f64::NAN.to_le_bytes(), "nan", value!("NaN")),
            ("<f8", &f64::NEG_INFINITY.to_le_bytes(), "-inf", value!("-Infinity")),
            ("<f2", &[0x00, 0x3c], "1.0", value!(1.0)),
            ("<f2", &[0x01, 0x80], "-5.9604645e-8", value!(-5.960_464_5e-8)),
            ("|S4", b"a\x00b\0", "b'a\\x00b'", value!("a\0b")),
            (">U2", &[0, 0, 0, 0xe9, 0, 0, 0, 0], "'é'", value!("é")),
            ("|V2", &[1, 0xff], "01ff", value!({"base64": "Af8="})),
        ] {
            assert_eq!(shown(dtype, bytes), (expected.to_owned(), document), "{dtype}");
        }
        let complex = [1f32.to_be_bytes(), (-2.5f32).to_be_bytes()].concat();
        assert_eq!(shown(">c8", &complex).0, "1.0-2.5j");
    }

    #[test]
    fn structured_items_are_tuples_and_objects() {
        let bytes = [7, 0, b'x', 0, 1, 2];
        let (text, document) = shown("[('a', '<i2'), ('b', 'S2'), ('c', 'u1', (2,))]", &bytes);
        assert_eq!(text, "(7, b'x', [1 2])");
        assert_eq!(document, value!({"a": 7, "b": "x", "c": [1, 2]}));
    }
}
