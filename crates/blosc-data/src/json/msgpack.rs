//! The content of metalayers, shown as JSON.
//!
//! By convention a metalayer holds one MessagePack value. Content that decodes as one, to the last
//! byte, becomes that JSON value; all other content, and binary strings within, becomes `{"base64":
//! "..."}`. The way back restores the bytes of content in the shortest form.

use core::fmt;

use b2frame::internal::{decode_value, encode_value};
use blosc_dtype::json::base64;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};
use serde_json::{Number, Value, json};

/// Values nested deeper are shown as bytes: real metadata are not.
const MAX_DEPTH: usize = 32;

/// `bytes` as a JSON value.
pub fn to_json(bytes: &[u8]) -> Value {
    decode_value(bytes, MAX_DEPTH).map_or_else(|_| base64_object(bytes), Typed::into_json)
}

/// `bytes` as a JSON value from which [`from_json`] restores the same value, though perhaps other
/// bytes. Content without a JSON form (NaN, keys other than text, a single binary string) is shown
/// as bytes.
pub fn to_same_value(bytes: &[u8]) -> Value {
    let value = to_json(bytes);
    let again = from_json(&value);
    if again == bytes {
        return value;
    }
    let typed = |bytes: &[u8]| decode_value::<Typed>(bytes, MAX_DEPTH).ok();
    match (typed(bytes), typed(&again)) {
        (Some(a), Some(b)) if a == b => value,
        _ => base64_object(bytes),
    }
}

/// A MessagePack value, independent of its encoding.
#[derive(Debug, PartialEq)]
enum Typed {
    Nil,
    Bool(bool),
    Int(i128),
    /// The bits of the number, so that NaN equals itself.
    Float(u64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Self>),
    Map(Vec<(Self, Self)>),
}

impl Typed {
    /// The value as JSON, with bytes as `{"base64": "..."}`. JSON has no NaN and no infinities:
    /// they become their names.
    fn into_json(self) -> Value {
        match self {
            Self::Nil => Value::Null,
            Self::Bool(is) => is.into(),
            Self::Int(n) => match i64::try_from(n) {
                Ok(n) => n.into(),
                Err(_) => u64::try_from(n).unwrap_or(u64::MAX).into(),
            },
            Self::Float(bits) => {
                let n = f64::from_bits(bits);
                Number::from_f64(n).map_or_else(|| float_name(n).into(), Value::Number)
            }
            Self::Text(text) => text.into(),
            Self::Bytes(bytes) => base64_object(&bytes),
            Self::List(values) => values.into_iter().map(Self::into_json).collect(),
            Self::Map(entries) => {
                let name = |name: Self| match name.into_json() {
                    Value::String(name) => name,
                    other => other.to_string(),
                };
                let entries = entries.into_iter();
                Value::Object(entries.map(|(key, value)| (name(key), value.into_json())).collect())
            }
        }
    }
}

impl<'de> Deserialize<'de> for Typed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TypedVisitor)
    }
}

struct TypedVisitor;

impl<'de> Visitor<'de> for TypedVisitor {
    type Value = Typed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Typed, E> {
        Ok(Typed::Nil)
    }

    fn visit_bool<E>(self, is: bool) -> Result<Typed, E> {
        Ok(Typed::Bool(is))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Typed, E> {
        Ok(Typed::Int(n.into()))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Typed, E> {
        Ok(Typed::Int(n.into()))
    }

    fn visit_f64<E>(self, n: f64) -> Result<Typed, E> {
        Ok(Typed::Float(n.to_bits()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Typed, E> {
        Ok(Typed::Text(text.to_owned()))
    }

    /// Strings that are not UTF-8 come here as well.
    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Typed, E> {
        Ok(Typed::Bytes(bytes.to_vec()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Typed, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element()? {
            values.push(value);
        }
        Ok(Typed::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Typed, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Typed::Map(map))
    }
}

/// `value` as MessagePack: the bytes that [`to_json`] shows as `value`. A single `{"base64":
/// "..."}` gives any bytes.
pub fn from_json(value: &Value) -> Vec<u8> {
    // MessagePack can encode every JSON value.
    binary(value).unwrap_or_else(|| encode_value(&Written(value)).unwrap_or_default())
}

/// A JSON value whose `{"base64": "..."}` objects are written as bytes.
struct Written<'a>(&'a Value);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(values) => {
                let mut seq = serializer.serialize_seq(Some(values.len()))?;
                values.iter().try_for_each(|value| seq.serialize_element(&Written(value)))?;
                seq.end()
            }
            Value::Object(map) => {
                if let Some(bytes) = binary(self.0) {
                    return serializer.serialize_bytes(&bytes);
                }
                let mut entries = serializer.serialize_map(Some(map.len()))?;
                for (name, value) in map {
                    entries.serialize_entry(name, &Written(value))?;
                }
                entries.end()
            }
            scalar => scalar.serialize(serializer),
        }
    }
}

/// The bytes of `{"base64": "..."}`.
fn binary(value: &Value) -> Option<Vec<u8>> {
    let map = value.as_object().filter(|map| map.len() == 1)?;
    base64::decode(map.get("base64")?.as_str()?)
}

/// `{"base64": "..."}`.
pub fn base64_object(bytes: &[u8]) -> Value {
    json!({ "base64": base64::encode(bytes) })
}

/// The name in JSON documents of a float for which JSON has no number.
pub fn float_name(value: f64) -> &'static str {
    match value {
        _ if value.is_nan() => "NaN",
        _ if value > 0.0 => "Infinity",
        _ => "-Infinity",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messagepack_values_become_json() {
        for (bytes, value) in [
            (&b"\xc0"[..], json!(null)),
            (b"\xc3", json!(true)),
            (b"\x07", json!(7)),
            (b"\xff", json!(-1)),
            (b"\xcd\x01\x00", json!(256)),
            (b"\xd3\xff\xff\xff\xff\xff\xff\xff\xfe", json!(-2)),
            (b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", json!(u64::MAX)),
            (b"\xca\x3f\x80\x00\x00", json!(1.0)),
            (b"\xca\x7f\xc0\x00\x00", json!("NaN")),
            (b"\xa4demo", json!("demo")),
            (b"\xd9\x02hi", json!("hi")),
            (b"\x92\x01\xa1b", json!([1, "b"])),
            (b"\xdc\x00\x01\x05", json!([5])),
            (b"\x81\xa1k\x90", json!({"k": []})),
            (b"\xde\x00\x01\x05\xc2", json!({"5": false})),
            (b"\xc4\x01\xff", json!({"base64": "/w=="})),
            (b"\x91\xa2\xff\xfe", json!([{"base64": "//4="}])),
            (b"\xc6\x00\x00\x00\x01\x00", json!({"base64": "AA=="})),
        ] {
            assert_eq!(to_json(bytes), value, "{bytes:02x?}");
        }
    }

    #[test]
    fn undecodable_bytes_become_base64() {
        let nested = [0x91u8; 100];
        let too_deep: Vec<u8> = [0x91; 32].into_iter().chain([0xc0]).collect();
        assert!(to_json(&too_deep[1..]).is_array());
        for bytes in [
            &b""[..],
            b"\xc1",
            b"\x01\x02",
            b"\xa4de",
            b"\xdd\xff\xff\xff\xff",
            b"\xd4\x00\x00",
            b"\xdf\xff\xff\xff\xff\x01",
            &nested,
            &too_deep,
        ] {
            assert_eq!(to_json(bytes), base64_object(bytes), "{bytes:02x?}");
        }
    }

    #[test]
    fn shown_values_encode_to_the_same_bytes() {
        let long = "x".repeat(300);
        let many: Vec<_> = (0..20).collect();
        for value in [
            json!(null),
            json!([true, false, 0, 127, 128, 255, 256, 65_535, 65_536, u64::MAX]),
            json!([-1, -32, -33, -128, -129, -32_768, -32_769, i64::MIN, i64::from(i32::MIN)]),
            json!(1.5),
            json!({"name": "demo", "long": long, "many": many, "deep": {"k": []}}),
            json!({"bytes": {"base64": "AAEC"}, "other": 1}),
        ] {
            assert_eq!(to_json(&from_json(&value)), value);
        }
        assert_eq!(from_json(&json!({"base64": "wQ=="})), [0xc1]);
        assert_eq!(to_json(&[0xc1]), json!({"base64": "wQ=="}));
    }

    #[test]
    fn values_come_back_as_what_they_were() {
        for bytes in [
            &b"\xc4\x05\x00\x01raw"[..],
            b"\x81\xa6base64\xa8aGVsbG8=",
            b"\x91\x81\xa6base64\xa8aGVsbG8=",
            b"\xcb\x7f\xf8\0\0\0\0\0\0",
            b"\x91\xcb\xff\xf0\0\0\0\0\0\0",
            b"\x81\xc4\x01k\x01",
            b"\x81\x01\x02",
            b"\x82\xa1a\x01\xa1a\x02",
            b"\xc1",
            b"",
            b"\x92\x01\xc4\x01\xff",
        ] {
            assert_eq!(from_json(&to_same_value(bytes)), bytes, "{bytes:02x?}");
        }
        assert_eq!(to_same_value(b"\x92\x01\xa1b"), json!([1, "b"]));
        // Encodings that are not the shortest.
        assert_eq!(to_same_value(b"\xd9\x02hi"), json!("hi"));
        assert_eq!(to_same_value(b"\xdc\x00\x01\xd3\0\0\0\0\0\0\0\x05"), json!([5]));
    }
}
