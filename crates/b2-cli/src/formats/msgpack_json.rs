//! The content of metalayers, shown as JSON.
//!
//! By custom a metalayer holds one MessagePack value. What decodes as such, to the last byte, is
//! shown as the JSON value that it stands for; everything else, and binary strings within, as
//! `{"base64": "..."}`. The way back gives the same bytes for everything that was written in the
//! shortest form.

use serde_json::{Map, Number, Value, json};

/// Deeper values are taken for bytes: nobody nests like this on purpose.
const MAX_DEPTH: usize = 32;

/// `bytes` as a JSON value.
pub(crate) fn to_json(bytes: &[u8]) -> Value {
    let mut reader = Reader { bytes };
    match reader.value(MAX_DEPTH) {
        Some(value) if reader.bytes.is_empty() => value,
        _ => base64_object(bytes),
    }
}

/// `value` as MessagePack: what [`to_json`] shows as `value`. The whole may be `{"base64": "..."}`
/// for bytes that are no MessagePack.
pub(crate) fn from_json(value: &Value) -> Vec<u8> {
    if let Some(bytes) = binary(value) {
        return bytes;
    }
    let mut bytes = Vec::new();
    encode(value, &mut bytes);
    bytes
}

fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(0xc0),
        Value::Bool(is) => out.push(if *is { 0xc3 } else { 0xc2 }),
        Value::Number(number) => encode_number(number, out),
        Value::String(text) => {
            encode_len(text.len(), Some((0xa0, 31)), [Some(0xd9), Some(0xda), Some(0xdb)], out);
            out.extend_from_slice(text.as_bytes());
        }
        Value::Array(values) => {
            encode_len(values.len(), Some((0x90, 15)), [None, Some(0xdc), Some(0xdd)], out);
            values.iter().for_each(|value| encode(value, out));
        }
        Value::Object(map) => match binary(value) {
            Some(bytes) => {
                encode_len(bytes.len(), None, [Some(0xc4), Some(0xc5), Some(0xc6)], out);
                out.extend_from_slice(&bytes);
            }
            None => {
                encode_len(map.len(), Some((0x80, 15)), [None, Some(0xde), Some(0xdf)], out);
                for (name, value) in map {
                    encode(&Value::String(name.clone()), out);
                    encode(value, out);
                }
            }
        },
    }
}

/// The shortest form, as all writers of metalayers choose it.
fn encode_number(number: &Number, out: &mut Vec<u8>) {
    if let Some(n) = number.as_u64() {
        match (u8::try_from(n), u16::try_from(n), u32::try_from(n)) {
            (Ok(n @ ..=0x7f), ..) => out.push(n),
            (Ok(n), ..) => out.extend([0xcc, n]),
            (_, Ok(n), _) => marked(0xcd, &n.to_be_bytes(), out),
            (.., Ok(n)) => marked(0xce, &n.to_be_bytes(), out),
            _ => marked(0xcf, &n.to_be_bytes(), out),
        }
    } else if let Some(n) = number.as_i64() {
        match (i8::try_from(n), i16::try_from(n), i32::try_from(n)) {
            (Ok(n @ -32..), ..) => out.extend(n.to_be_bytes()),
            (Ok(n), ..) => marked(0xd0, &n.to_be_bytes(), out),
            (_, Ok(n), _) => marked(0xd1, &n.to_be_bytes(), out),
            (.., Ok(n)) => marked(0xd2, &n.to_be_bytes(), out),
            _ => marked(0xd3, &n.to_be_bytes(), out),
        }
    } else {
        marked(0xcb, &number.as_f64().unwrap_or_default().to_be_bytes(), out);
    }
}

/// A length: within the marker if it is at most `short.1`, else behind the marker that suffices.
fn encode_len(
    len: usize,
    short: Option<(u8, u8)>,
    [byte, two, four]: [Option<u8>; 3],
    out: &mut Vec<u8>,
) {
    match (u8::try_from(len), u16::try_from(len), short) {
        (Ok(len), _, Some((marker, most))) if len <= most => out.push(marker | len),
        (Ok(len), ..) if byte.is_some() => marked(byte.unwrap_or_default(), &[len], out),
        (_, Ok(len), _) => marked(two.unwrap_or_default(), &len.to_be_bytes(), out),
        // Nobody gives four gigabytes on a command line.
        _ => marked(
            four.unwrap_or_default(),
            &u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes(),
            out,
        ),
    }
}

fn marked(marker: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(marker);
    out.extend_from_slice(bytes);
}

/// The bytes of `{"base64": "..."}`.
fn binary(value: &Value) -> Option<Vec<u8>> {
    let map = value.as_object().filter(|map| map.len() == 1)?;
    from_base64(map.get("base64")?.as_str()?)
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let mut word = 0;
        for digit in group {
            let digit = DIGITS.iter().position(|known| known == digit)?;
            word = word << 6 | u32::try_from(digit).ok()?;
        }
        word <<= 6 * (4 - group.len());
        bytes.extend_from_slice(&word.to_be_bytes()[1..group.len().max(1)]);
    }
    Some(bytes)
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes not yet decoded. Every method gives `None` when they do not suffice or make no sense.
struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        let marker = self.take::<1>()?[0];
        Some(match marker {
            0x00..=0x7f => marker.into(),
            0x80..=0x8f => self.map(usize::from(marker & 0xf), depth)?,
            0x90..=0x9f => self.array(usize::from(marker & 0xf), depth)?,
            0xa0..=0xbf => self.text(usize::from(marker & 0x1f))?,
            0xc0 => Value::Null,
            0xc2 => false.into(),
            0xc3 => true.into(),
            0xc4..=0xc6 => {
                self.len(marker - 0xc4).and_then(|len| self.slice(len)).map(base64_object)?
            }
            0xca | 0xcb => self.float(marker)?,
            0xcc..=0xd3 => self.integer(marker)?,
            0xd9..=0xdb => self.len(marker - 0xd9).and_then(|len| self.text(len))?,
            0xdc | 0xdd => self.len(marker - 0xdc + 1).and_then(|len| self.array(len, depth))?,
            0xde | 0xdf => self.len(marker - 0xde + 1).and_then(|len| self.map(len, depth))?,
            // Extensions mean what their program says, 0xc1 means nothing, negative small integers
            // are last.
            0xc1 | 0xc7..=0xc9 | 0xd4..=0xd8 => return None,
            0xe0..=0xff => i8::from_be_bytes([marker]).into(),
        })
    }

    fn integer(&mut self, marker: u8) -> Option<Value> {
        Some(match marker {
            0xcc => u8::from_be_bytes(self.take()?).into(),
            0xcd => u16::from_be_bytes(self.take()?).into(),
            0xce => u32::from_be_bytes(self.take()?).into(),
            0xcf => u64::from_be_bytes(self.take()?).into(),
            0xd0 => i8::from_be_bytes(self.take()?).into(),
            0xd1 => i16::from_be_bytes(self.take()?).into(),
            0xd2 => i32::from_be_bytes(self.take()?).into(),
            _ => i64::from_be_bytes(self.take()?).into(),
        })
    }

    /// JSON has no NaN and no infinities: those are shown by name.
    fn float(&mut self, marker: u8) -> Option<Value> {
        let float = match marker {
            0xca => f32::from_be_bytes(self.take()?).into(),
            _ => f64::from_be_bytes(self.take()?),
        };
        Some(
            Number::from_f64(float).map_or_else(|| Value::String(float.to_string()), Value::Number),
        )
    }

    fn text(&mut self, len: usize) -> Option<Value> {
        let bytes = self.slice(len)?;
        Some(core::str::from_utf8(bytes).map_or_else(|_| base64_object(bytes), Value::from))
    }

    /// Each element takes a byte at least, so that a length that lies ends soon and reserves
    /// nothing.
    fn array(&mut self, len: usize, depth: usize) -> Option<Value> {
        (len <= self.bytes.len()).then(|| {
            (0..len).map(|_| self.value(depth)).collect::<Option<Vec<_>>>().map(Value::Array)
        })?
    }

    fn map(&mut self, len: usize, depth: usize) -> Option<Value> {
        let mut map = Map::new();
        for _ in 0..len {
            let name = match self.value(depth)? {
                Value::String(name) => name,
                other => other.to_string(),
            };
            map.insert(name, self.value(depth)?);
        }
        Some(Value::Object(map))
    }

    /// A length of 1, 2 or 4 bytes.
    fn len(&mut self, width: u8) -> Option<usize> {
        match width {
            0 => self.take().map(u8::from_be_bytes).map(usize::from),
            1 => self.take().map(u16::from_be_bytes).map(usize::from),
            _ => self.take().map(u32::from_be_bytes).and_then(|len| usize::try_from(len).ok()),
        }
    }

    fn slice(&mut self, len: usize) -> Option<&'a [u8]> {
        let (slice, rest) = self.bytes.split_at_checked(len)?;
        self.bytes = rest;
        Some(slice)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.slice(N)?.try_into().ok()
    }
}

/// `{"base64": "..."}`.
pub(crate) fn base64_object(bytes: &[u8]) -> Value {
    json!({ "base64": base64(bytes) })
}

/// Base64 with padding.
fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = group.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte))
            << (8 * (3 - group.len()));
        for i in 0..4 {
            let digit = usize::try_from(word >> (18 - 6 * i) & 63).unwrap_or_default();
            text.push(if i <= group.len() { char::from(DIGITS[digit]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_as_what_they_are() {
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
        ] {
            assert_eq!(to_json(bytes), value, "{bytes:02x?}");
        }
    }

    #[test]
    fn what_does_not_decode_stays_bytes() {
        let nested = [0x91u8; 100];
        for bytes in [
            &b""[..],
            b"\xc1",
            b"\x01\x02",
            b"\xa4de",
            b"\xdd\xff\xff\xff\xff",
            b"\xd4\x00\x00",
            &nested,
        ] {
            assert_eq!(to_json(bytes), base64_object(bytes), "{bytes:02x?}");
        }
    }

    #[test]
    fn what_is_shown_can_be_written_again() {
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
        for len in 0..9u8 {
            let bytes: Vec<u8> = (0..len).map(|n| n.wrapping_mul(97)).collect();
            assert_eq!(from_base64(&base64(&bytes)), Some(bytes));
        }
        assert_eq!(from_base64("a*"), None);
    }

    #[test]
    fn base64_pads_to_four() {
        assert_eq!(base64(b""), "");
        assert_eq!(base64(b"M"), "TQ==");
        assert_eq!(base64(b"Ma"), "TWE=");
        assert_eq!(base64(b"Man"), "TWFu");
        assert_eq!(base64(b"Many"), "TWFueQ==");
    }
}
