//! Metalayers as values, with the bytes that python-blosc2 writes and reads.
#![cfg(feature = "serde")]

use b2frame::{Error, FrameParams, SChunk, SChunkWriter, error::Blame, to_cframe};
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Description {
    unit: String,
    scale: f64,
    count: u32,
    offset: i8,
    tags: Vec<String>,
    #[serde(with = "as_bytes")]
    raw: Vec<u8>,
    none: Option<u8>,
}

/// Encodes bytes, not a list of numbers.
mod as_bytes {
    use serde::{Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Vec<u8>;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
        }
        deserializer.deserialize_bytes(Visitor)
    }
}

fn description() -> Description {
    Description {
        unit: "K".into(),
        scale: 0.5,
        count: 300,
        offset: -3,
        tags: vec!["a".into(), "b".into()],
        raw: vec![0, 0xff],
        none: None,
    }
}

/// Bytes that python-blosc2 4.14.1 writes for `{"unit": "K", "scale": 0.5, "count": 300,
/// "offset": -3, "tags": ["a", "b"], "raw": b"\x00\xff", "none": None}`, as a metalayer and as a
/// vlmetalayer.
const OF_PYTHON: &[u8] =
    b"\x87\xa4unit\xa1K\xa5scale\xcb\x3f\xe0\0\0\0\0\0\0\xa5count\xcd\x01\x2c\xa6offset\xfd\
    \xa4tags\x92\xa1a\xa1b\xa3raw\xc4\x02\0\xff\xa4none\xc0";

#[test]
fn a_value_is_written_as_python_writes_it_and_read_back() {
    let params = FrameParams::default();
    let params = params.metalayer_value("m", &description()).unwrap();
    let params = params.vlmetalayer_value("v", &description()).unwrap();
    let schunk = SChunk::from_cframe(to_cframe(b"data", &params).unwrap()).unwrap();
    assert_eq!(schunk.meta().get("m").unwrap().content, OF_PYTHON);
    assert_eq!(schunk.vlmeta().get("v").unwrap().unwrap(), OF_PYTHON);
    assert_eq!(schunk.meta().value::<Description>("m").unwrap().unwrap(), description());
    assert_eq!(schunk.vlmeta().value::<Description>("v").unwrap().unwrap(), description());
    assert_eq!(schunk.meta().value::<Description>("other").unwrap(), None);
    assert_eq!(schunk.vlmeta().value::<Description>("other").unwrap(), None);
}

#[test]
fn frames_of_python_give_values() {
    let schunk = SChunk::open(blosc_testdata::fixture::path("frames/tiny.b2frame")).unwrap();
    assert_eq!(schunk.meta().value::<String>("kind").unwrap().unwrap(), "demo");
    let note = schunk.vlmeta().get("note").unwrap().unwrap();
    let text: String = schunk.vlmeta().value("note").unwrap().unwrap();
    assert_eq!(text.as_bytes(), &note[note.len() - text.len()..]);
}

#[test]
fn what_was_not_set_keeps_its_bytes() {
    let params =
        FrameParams::default().metalayer("odd", *b"\xc1?").vlmetalayer("odd", *b"\xc7no value");
    let mut writer = SChunkWriter::in_memory(&params).unwrap();
    writer.append(b"data").unwrap();
    writer.set_meta_value("m", &[1, 2, 3]).unwrap();
    writer.set_vlmeta_value("v", "text").unwrap();
    writer.commit().unwrap();
    writer.set_vlmeta_value("v", &7).unwrap();
    let schunk = writer.finish().unwrap();
    assert_eq!(schunk.meta().get("odd").unwrap().content, b"\xc1?");
    assert_eq!(schunk.vlmeta().get("odd").unwrap().unwrap(), b"\xc7no value");
    assert_eq!(schunk.meta().value::<[u8; 3]>("m").unwrap(), Some([1, 2, 3]));
    assert_eq!(schunk.vlmeta().value::<u64>("v").unwrap(), Some(7));
    assert_eq!(schunk.decode_chunk(0).unwrap(), b"data");
}

#[test]
fn what_is_no_such_value_is_an_error() {
    let layers = [
        ("text", &b"\xa1x"[..]),
        ("two", b"\x01\x02"),
        ("empty", b""),
        ("long string", b"\xdb\xff\xff\xff\xffabc"),
        ("long list", b"\xdd\xff\xff\xff\xff\x01"),
    ];
    let params = layers.iter().fold(FrameParams::default(), |params, (name, content)| {
        params.metalayer(*name, *content).vlmetalayer(*name, *content)
    });
    let schunk = SChunk::from_cframe(to_cframe(b"data", &params).unwrap()).unwrap();
    for (layer, _) in layers {
        let is_text = layer.contains("string");
        let of_meta = match is_text {
            true => schunk.meta().value::<String>(layer).map(drop),
            false => schunk.meta().value::<u8>(layer).map(drop),
        };
        let error = of_meta.unwrap_err();
        assert!(matches!(&error, Error::Value { name, .. } if name == layer), "{error:?}");
        assert_eq!(error.blame(), Blame::Data);
        assert!(schunk.vlmeta().value::<Vec<u8>>(layer).is_err());
    }
    let two = schunk.meta().value::<u8>("two").unwrap_err();
    assert_eq!(core::error::Error::source(&two).unwrap().to_string(), "1 bytes follow the value");
}

#[test]
fn what_cannot_be_written_is_an_error() {
    struct Endless;
    impl Serialize for Endless {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no end"))
        }
    }
    let error = FrameParams::default().metalayer_value("endless", &Endless).unwrap_err();
    assert!(matches!(&error, Error::NoValue { name, .. } if name == "endless"));
    assert_eq!(
        (error.blame(), error.to_string().as_str()),
        (Blame::Usage, "a value for metalayer \"endless\"")
    );
}
