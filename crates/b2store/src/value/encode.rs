//! From a [`Value`] to bytes, in the shortest form, as python-blosc2 writes them.

use rmp::encode::{
    write_array_len, write_bin, write_bool, write_ext_meta, write_f64, write_map_len, write_nil,
    write_sint, write_str, write_uint,
};

use crate::error::{Param, Result};

use super::{NdValue, TUPLE_TAG, Value, code};

impl Value {
    /// The value as MessagePack, or `None` if no reader would return the same: for a list whose
    /// first element is the text that marks tuples, and for lengths of 2^32 and more.
    #[must_use]
    pub fn encode(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        encode(self, &mut bytes)?;
        Some(bytes)
    }

    /// As [`encode`](Self::encode), for the value `name`.
    pub(crate) fn encode_as(&self, name: &str) -> Result<Vec<u8>> {
        self.encode().ok_or_else(|| Param::Value { name: name.to_owned() }.into())
    }

    /// Appends the value to the bytes. If it has no form, a part of it may be appended.
    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) -> Option<()> {
        encode(self, out)
    }
}

fn encode(value: &Value, out: &mut Vec<u8>) -> Option<()> {
    match value {
        Value::Nil => write_nil(out).ok(),
        Value::Bool(value) => write_bool(out, *value).ok(),
        Value::Int(value) => write_sint(out, *value).ok().map(drop),
        Value::UInt(value) => write_uint(out, *value).ok().map(drop),
        Value::Float(value) => write_f64(out, *value).ok(),
        Value::Str(text) => {
            length(text.len())?;
            write_str(out, text).ok()
        }
        Value::Bytes(bytes) => {
            length(bytes.len())?;
            write_bin(out, bytes).ok()
        }
        Value::Array(values) => {
            if values.first().and_then(Value::as_str) == Some(TUPLE_TAG) {
                return None;
            }
            list(values, out)
        }
        Value::Tuple(values) => {
            write_array_len(out, length(values.len().checked_add(1)?)?).ok()?;
            write_str(out, TUPLE_TAG).ok()?;
            values.iter().try_for_each(|value| encode(value, out))
        }
        Value::Map(entries) => {
            write_map_len(out, length(entries.len())?).ok()?;
            entries.iter().try_for_each(|(key, value)| {
                encode(key, out)?;
                encode(value, out)
            })
        }
        Value::Complex { re, im } => {
            extension(code::COMPLEX, &[re.to_be_bytes(), im.to_be_bytes()].concat(), out)
        }
        Value::Set(values) => {
            let mut content = Vec::new();
            list(values, &mut content)?;
            extension(code::SET, &content, out)
        }
        Value::NdArray(array) => encode_array(array, out),
        Value::ObjectArray { shape, values } => encode_objects(shape, values, out),
        Value::Frame(frame) => extension(code::FRAME, frame, out),
        Value::Reference(map) => extension(code::REFERENCE, &map.encode()?, out),
        Value::Ext(code, content) => extension(*code, content, out),
    }
}

fn encode_array(NdValue { dtype, shape, data }: &NdValue, out: &mut Vec<u8>) -> Option<()> {
    let entries = vec![
        (Value::Str("dtype".to_owned()), Value::clone(dtype)),
        (Value::Str("shape".to_owned()), lengths(shape)),
        (Value::Str("data".to_owned()), Value::Bytes(data.clone())),
    ];
    extension(code::ARRAY, &Value::Map(entries).encode()?, out)
}

fn encode_objects(shape: &[u64], values: &[Value], out: &mut Vec<u8>) -> Option<()> {
    let entries = vec![
        (Value::Str("values".to_owned()), Value::Array(values.to_vec())),
        (Value::Str("shape".to_owned()), lengths(shape)),
    ];
    extension(code::ARRAY, &Value::Map(entries).encode()?, out)
}

fn list(values: &[Value], out: &mut Vec<u8>) -> Option<()> {
    write_array_len(out, length(values.len())?).ok()?;
    values.iter().try_for_each(|value| encode(value, out))
}

fn lengths(shape: &[u64]) -> Value {
    Value::Array(shape.iter().copied().map(Value::count).collect())
}

fn extension(code: i8, content: &[u8], out: &mut Vec<u8>) -> Option<()> {
    write_ext_meta(out, length(content.len())?, code).ok()?;
    out.extend_from_slice(content);
    Some(())
}

fn length(len: usize) -> Option<u32> {
    u32::try_from(len).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{ValueError, ValueLimits};
    use proptest::prelude::*;

    fn decode(bytes: &[u8]) -> Result<Value, ValueError> {
        Value::decode(bytes, &ValueLimits::default())
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Nil),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Int),
            (1_u64 << 63..).prop_map(Value::UInt),
            (-1e300..1e300).prop_map(Value::Float),
            ".{0,40}".prop_map(Value::Str),
            prop::collection::vec(any::<u8>(), 0..40).prop_map(Value::Bytes),
            (-1.0..1.0, -1.0..1.0).prop_map(|(re, im)| Value::Complex { re, im }),
            prop::collection::vec(any::<u8>(), 0..40).prop_map(Value::Frame),
            (0..40_i8, prop::collection::vec(any::<u8>(), 0..20))
                .prop_map(|(code, bytes)| Value::Ext(code, bytes)),
        ];
        leaf.prop_recursive(6, 60, 20, |inner| {
            let list = prop::collection::vec(inner.clone(), 0..20);
            prop_oneof![
                list.clone().prop_map(Value::Array),
                list.clone().prop_map(Value::Tuple),
                list.clone().prop_map(Value::Set),
                list.clone().prop_map(|values| Value::ObjectArray {
                    shape: vec![values.len() as u64],
                    values
                }),
                prop::collection::vec((inner.clone(), inner.clone()), 0..10).prop_map(Value::Map),
                prop::collection::vec((inner.clone(), inner), 0..4)
                    .prop_map(|map| Value::Reference(Box::new(Value::Map(map)))),
                prop::collection::vec(any::<u8>(), 0..8).prop_map(|data| Value::NdArray(NdValue {
                    dtype: Box::new(Value::Str("|u1".to_owned())),
                    shape: vec![data.len() as u64],
                    data
                })),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_come_back(value in any_value()) {
            let bytes = value.encode().unwrap();
            prop_assert_eq!(decode(&bytes).unwrap(), value);
            for len in 0..bytes.len() {
                prop_assert!(decode(&bytes[..len]).is_err());
            }
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
        }
    }

    #[test]
    fn a_list_that_reads_as_a_tuple_is_not_written() {
        let list = Value::Array(vec![Value::Str(TUPLE_TAG.to_owned())]);
        assert_eq!(list.encode(), None);
        assert_eq!(Value::Set(vec![list]).encode(), None);
    }

    #[test]
    fn hostile_counts_depths_and_rests_are_refused() {
        assert_eq!(decode(b"\xdd\xff\xff\xff\xff"), Err(ValueError::Truncated { at: 5 }));
        assert_eq!(decode(b"\xdf\xff\xff\xff\xff\x01"), Err(ValueError::Truncated { at: 6 }));
        assert_eq!(decode(b"\xc6\xff\xff\xff\xff"), Err(ValueError::Truncated { at: 5 }));
        assert_eq!(decode(&[0x91; 3000]), Err(ValueError::Depth { at: 64, limit: 64 }));
        assert_eq!(decode(b"\x90\x01\x02"), Err(ValueError::Trailing { nbytes: 2 }));
        assert_eq!(decode(b"\xc1"), Err(ValueError::Marker { at: 0 }));
        assert_eq!(decode(b"\x91\xa1\xff"), Err(ValueError::Utf8 { at: 2 }));
        let nested = |code: u8, content: &[u8]| {
            let head = [0xc7, u8::try_from(content.len()).unwrap(), code];
            [&head, content].concat()
        };
        for (code, content) in [(43, &b"\x90"[..]), (44, b"1234567"), (45, b"\x80"), (46, b"\x80")]
        {
            assert!(
                matches!(decode(&nested(code, content)), Err(ValueError::Extension { .. })),
                "{code}"
            );
        }
        // Extensions count in the depth: sets within sets.
        let mut deep = b"\x90".to_vec();
        for _ in 0..40 {
            deep = [&[0x91][..], &nested(45, &deep)].concat();
        }
        assert!(matches!(decode(&deep), Err(ValueError::Depth { .. })));
    }

    #[test]
    fn memory_is_limited_before_it_is_taken() {
        let nils = [&b"\xdd\x00\x01\x00\x00"[..], &[0xc0; 65536]].concat();
        assert!(decode(&nils).is_ok());
        let limits = ValueLimits::default().max_memory(1 << 20);
        let error = Value::decode(&nils, &limits).unwrap_err();
        assert!(matches!(error, ValueError::Memory { limit: 0x10_0000, .. }));
    }
}
