//! Metadata sections: written and read back, and one case for each fault of a section.

use super::*;
use crate::{Checksum, Param};
use proptest::prelude::*;
use serde_json::json;

fn section(value: &Value, options: MetadataOptions) -> Vec<u8> {
    let mut bytes = vec![];
    Section::new(value, &options).unwrap().unwrap().write(&mut bytes).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<Metadata> {
    read_as(bytes, MetadataUse::Parse)
}

fn read_as(bytes: &[u8], mode: MetadataUse) -> Result<Metadata> {
    let mut input = Input::new(bytes, 32, None);
    Metadata::read(&mut input, &FileLimits::default(), mode).map(|(_, metadata)| metadata.unwrap())
}

fn changed(changes: &[(usize, u8)]) -> Vec<u8> {
    let mut bytes = section(&json!({"a": 1}), MetadataOptions::default());
    changes.iter().for_each(|(at, new)| bytes[*at] = *new);
    bytes
}

fn error(bytes: &[u8]) -> (u64, Corrupt) {
    match read(bytes) {
        Err(Error::Corrupt { at, what }) => (at, what),
        other => panic!("{other:?}"),
    }
}

/// A section with this stored data, codec and `meta_size`, no checksum.
fn raw(data: &[u8], codec: u8, meta_size: u8) -> Vec<u8> {
    let len = u8::try_from(data.len()).unwrap();
    let mut bytes = b"JSON\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    bytes[10] = codec;
    bytes[12] = meta_size;
    bytes[16] = len;
    bytes[20] = len;
    [&bytes, data].concat()
}

#[test]
fn the_empty_object_is_stored_as_by_bloscpack_0_16() {
    let expected = b"JSON\0\0\0\0\0\x01\0\x06\x02\0\0\0\x14\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0{}";
    let bytes = section(&json!({}), MetadataOptions::default());
    assert_eq!(bytes[..34], expected[..]);
    assert_eq!(bytes[34..52], [0; 18]);
    assert_eq!(bytes[52..], [0xf9, 0, 0x75, 1]);
}

#[test]
fn null_is_no_metadata() {
    assert!(Section::new(&Value::Null, &MetadataOptions::default()).unwrap().is_none());
}

#[test]
fn compression_is_dropped_only_if_strictly_longer() {
    let long = json!("x".repeat(500));
    let metadata = read(&section(&long, MetadataOptions::default())).unwrap();
    assert_eq!(
        (metadata.header().codec(), metadata.header().max_meta_size()),
        (MetadataCodec::Zlib, 5020)
    );
    assert_eq!(metadata.json(), Some(&long));
    let short = read(&changed(&[])).unwrap();
    assert_eq!((short.header().codec(), short.header().clevel()), (MetadataCodec::None, 6));
    assert_eq!((short.text(), short.position()), (&br#"{"a":1}"#[..], 32));
}

#[test]
fn room_can_be_given_and_must_suffice() {
    let value = json!([1, 2, 3]);
    for (room, expected) in [(Room::Times(3), 21), (Room::Bytes(7), 7), (Room::Exact, 7)] {
        let metadata = read(&section(&value, MetadataOptions::default().room(room))).unwrap();
        assert_eq!(metadata.header().max_meta_size(), expected);
    }
    let result = Section::new(&value, &MetadataOptions::default().room(Room::Bytes(6)));
    assert!(matches!(result, Err(Error::Param(Param::MetadataRoom { len: 7, room: 6 }))));
}

#[test]
fn replacing_keeps_room_and_digest_length() {
    let old = read(&changed(&[])).unwrap();
    let new = Section::replacing(
        &old,
        &json!("longer than it was, and compressible: aaaaaaaaaaaaaaaaaaaaaa"),
        None,
    );
    assert_eq!(new.unwrap().len(), old.header().section_len());
    let result = Section::replacing(&old, &json!(1), Some(Checksum::Md5));
    let (old_sum, new_sum) = (Checksum::Adler32, Checksum::Md5);
    assert!(
        matches!(result, Err(Error::Param(Param::ChecksumLength { old, new })) if old == old_sum && new == new_sum)
    );
    let crc = Section::replacing(&old, &json!(1), Some(Checksum::Crc32)).unwrap();
    assert_eq!(crc.header.checksum(), Checksum::Crc32);
}

#[test]
fn header_fields_are_checked() {
    assert_eq!(error(&changed(&[(8, 1)])), (40, Corrupt::Options { options: 1, known: 0 }));
    assert_eq!(error(&changed(&[(9, 9)])), (41, Corrupt::ChecksumId { id: 9 }));
    assert_eq!(error(&changed(&[(10, 2)])), (42, Corrupt::MetadataCodec { codec: 2 }));
    let range = Corrupt::Range { field: crate::Field::MetaLevel, value: 10, min: 0, max: 9 };
    assert_eq!(error(&changed(&[(11, 10)])), (43, range));
    let room = Corrupt::MetadataRoom { meta_comp_size: 7, max_meta_size: 6 };
    assert_eq!(error(&changed(&[(16, 6)])), (52, room));
    assert_eq!(
        error(&changed(&[(12, 99)])),
        (44, Corrupt::MetadataSize { meta_size: 99, found: 7 })
    );
}

#[test]
fn a_cut_section_is_truncated() {
    let bytes = changed(&[]);
    for len in 0..bytes.len() {
        let (_, what) = error(&bytes[..len]);
        assert!(matches!(what, Corrupt::Truncated { .. }), "{len}: {what}");
    }
}

#[test]
fn the_digest_covers_the_data_and_not_the_zeros() {
    let digest = Corrupt::MetadataDigest { checksum: Checksum::Adler32 };
    assert_eq!(error(&changed(&[(33, b'b')])), (64, digest.clone()));
    assert_eq!(error(&changed(&[(105, 1)])), (64, digest));
    assert!(read(&changed(&[(50, 1)])).is_ok());
}

#[test]
fn zlib_streams_have_the_size_they_say() {
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(b"\"aaaaaaaaaa\"", 6);
    assert_eq!(read(&raw(&packed, 1, 12)).unwrap().json(), Some(&json!("aaaaaaaaaa")));
    assert_eq!(error(&raw(&packed, 1, 11)).1, Corrupt::MetadataBomb { meta_size: 11 });
    assert_eq!(error(&raw(&packed, 1, 3)).1, Corrupt::MetadataBomb { meta_size: 3 });
    assert_eq!(error(&raw(&packed, 1, 0)).1, Corrupt::MetadataBomb { meta_size: 0 });
    assert_eq!(error(&raw(&packed, 1, 13)).1, Corrupt::MetadataSize { meta_size: 13, found: 12 });
    assert_eq!(error(&raw(&packed[..8], 1, 12)).1, Corrupt::MetadataStream);
    assert_eq!(error(&raw(b"garbage", 1, 12)).1, Corrupt::MetadataStream);
}

#[test]
fn text_must_be_utf8_and_json() {
    assert_eq!(error(&raw(b"\"\xff\"", 0, 3)).1, Corrupt::MetadataUtf8 { valid: 1 });
    assert_eq!(error(&raw(b"[1,,]", 0, 5)).1, Corrupt::MetadataJson { line: 1, column: 4 });
}

#[test]
fn metadata_of_other_formats_are_returned_as_bytes() {
    let mut bytes = raw(b"\x01\x02", 0, 2);
    bytes[..4].copy_from_slice(b"BSON");
    assert!(
        matches!(read(&bytes), Err(Error::MetadataFormat { magic_format }) if magic_format[0] == b'B')
    );
    let metadata = read_as(&bytes, MetadataUse::Raw).unwrap();
    assert_eq!((metadata.text(), metadata.json()), (&b"\x01\x02"[..], None));
    assert_eq!(metadata.header().format_name(), b"BSON");
}

#[test]
fn nuls_on_both_sides_of_the_format_are_padding() {
    let mut bytes = raw(b"7", 0, 1);
    bytes[..8].copy_from_slice(b"\0\0JSON\0\0");
    assert_eq!(read(&bytes).unwrap().json(), Some(&json!(7)));
}

#[test]
fn a_limit_comes_before_the_bytes() {
    let mut bytes = raw(b"", 1, 0);
    bytes[12..16].copy_from_slice(&(1_u32 << 31).to_le_bytes());
    let result = read(&bytes);
    let (needed, limit) = (1 << 31, 64 << 20);
    assert!(
        matches!(result, Err(Error::Limit { what: Bounded::Metadata, needed: n, limit: l }) if n == needed && l == limit)
    );
}

proptest! {
    #[test]
    fn values_come_back(
        text in any::<String>(), n in any::<i64>(), long in 0_usize..300,
        checksum in 0_u8..9, clevel in 0_u8..10, zlib in any::<bool>(),
    ) {
        let value = json!({ "text": text, "n": [n], "long": "ab".repeat(long) });
        let codec = if zlib { MetadataCodec::Zlib } else { MetadataCodec::None };
        let checksum = Checksum::from_id(checksum).unwrap();
        let options = MetadataOptions::default().checksum(checksum).clevel(clevel).codec(codec);
        let bytes = section(&value, options);
        let metadata = read(&bytes).unwrap();
        prop_assert_eq!(metadata.json(), Some(&value));
        prop_assert_eq!(metadata.header().section_len(), bytes.len() as u64);
        prop_assert_eq!(metadata.header().clevel(), clevel);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = read(&bytes);
        let mut bytes = bytes;
        if bytes.len() >= 32 {
            bytes[..24].copy_from_slice(b"JSON\0\0\0\0\0\0\x01\x06\x10\0\0\0\x10\0\0\0\x10\0\0\0");
            let _ = read(&bytes);
        }
    }
}
