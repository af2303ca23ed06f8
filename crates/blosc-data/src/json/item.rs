//! Items as values of JSON.

use blosc_dtype::{
    Dtype,
    item::{Value as Item, value},
};
use serde_json::{Map, Number, Value};

use super::msgpack as msgpack_json;

/// One item as JSON: structured ones are objects.
#[must_use]
pub fn json(dtype: &Dtype, bytes: &[u8]) -> Value {
    if let Some(scalar) = dtype.scalar() {
        return json_of(value(scalar, bytes));
    }
    if let Some((base, _)) = dtype.subarray() {
        return bytes.chunks_exact(base.itemsize().max(1)).map(|item| json(base, item)).collect();
    }
    let member = |field: &blosc_dtype::Field| {
        (field.name().to_owned(), json(field.dtype(), field.bytes_of(bytes)))
    };
    Value::Object(dtype.fields().iter().map(member).collect::<Map<_, _>>())
}

/// JSON has no NaN and no infinities: they become their names.
fn json_of(item: Item) -> Value {
    match item {
        Item::Bool(is) => is.into(),
        Item::Int(n) => n.into(),
        Item::Uint(n) => n.into(),
        // The shortest text keeps a 32-bit float from gaining digits.
        Item::Float(text, value) => match text.parse().ok().and_then(Number::from_f64) {
            Some(number) if value.is_finite() => number.into(),
            _ => msgpack_json::float_name(value).into(),
        },
        Item::Complex(text) | Item::Text(text) | Item::Time(text) => text.into(),
        Item::Bytes(bytes) => String::from_utf8(bytes)
            .map_or_else(|error| msgpack_json::base64_object(error.as_bytes()), Value::from),
        Item::Opaque(bytes) => msgpack_json::base64_object(&bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_dtype::item::text;
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
