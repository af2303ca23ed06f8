//! The content of metalayers, shown as JSON.
//!
//! By custom a metalayer holds one MessagePack value. What decodes as such, to the last byte, is shown as the JSON
//! value that it stands for; everything else, and binary strings within, as `{"base64": "..."}`.

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
            0xc4..=0xc6 => self.len(marker - 0xc4).and_then(|len| self.slice(len)).map(base64_object)?,
            0xca | 0xcb => self.float(marker)?,
            0xcc..=0xd3 => self.integer(marker)?,
            0xd9..=0xdb => self.len(marker - 0xd9).and_then(|len| self.text(len))?,
            0xdc | 0xdd => self.len(marker - 0xdc + 1).and_then(|len| self.array(len, depth))?,
            0xde | 0xdf => self.len(marker - 0xde + 1).and_then(|len| self.map(len, depth))?,
            // Extensions mean what their program says, 0xc1 means nothing, negative small integers are last.
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
        Some(Number::from_f64(float).map_or_else(|| Value::String(float.to_string()), Value::Number))
    }

    fn text(&mut self, len: usize) -> Option<Value> {
        let bytes = self.slice(len)?;
        Some(core::str::from_utf8(bytes).map_or_else(|_| base64_object(bytes), Value::from))
    }

    /// Each element takes a byte at least, so that a length that lies ends soon and reserves nothing.
    fn array(&mut self, len: usize, depth: usize) -> Option<Value> {
        (len <= self.bytes.len())
            .then(|| (0..len).map(|_| self.value(depth)).collect::<Option<Vec<_>>>().map(Value::Array))?
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

fn base64_object(bytes: &[u8]) -> Value {
    json!({ "base64": base64(bytes) })
}

/// Base64 with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word =
            group.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
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
        for bytes in
            [&b""[..], b"\xc1", b"\x01\x02", b"\xa4de", b"\xdd\xff\xff\xff\xff", b"\xd4\x00\x00", &nested]
        {
            assert_eq!(to_json(bytes), base64_object(bytes), "{bytes:02x?}");
        }
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
