//! Files that must be refused, each for the right reason.

use std::collections::BTreeMap;
use std::io::Read;

use blosc_io::MemStore;
use blosc_testdata::fixture;
use bloscpack::numpy::unpack_array;
use bloscpack::{
    BlpFile, Error, ReadOptions, Reader, Result, error::Corrupt, metadata::MetadataUse,
    report::VerifyOptions,
};

/// File name and class of error.
fn cases() -> Vec<(String, String)> {
    let list = fixture::read("bloscpack/malformed/expected.json").unwrap();
    let list: BTreeMap<String, BTreeMap<String, String>> = serde_json::from_slice(&list).unwrap();
    list.into_iter().map(|(file, mut case)| (file, case.remove("error").unwrap())).collect()
}

fn read(file: &str) -> Vec<u8> {
    fixture::read(format!("bloscpack/malformed/{file}")).unwrap()
}

/// The class that the list of files uses for an error.
fn class(error: &Error) -> &'static str {
    match error {
        Error::UnknownVersion { .. } => "version",
        Error::MetadataFormat { .. } => "meta-format",
        Error::Chunk { .. } => "chunk",
        Error::Dtype { .. } => "ndarray-dtype",
        Error::Corrupt { what, .. } => class_of(what),
        other => panic!("{other}"),
    }
}

fn class_of(what: &Corrupt) -> &'static str {
    match what {
        Corrupt::Truncated { .. } | Corrupt::MissingChunks { .. } => "truncated",
        Corrupt::Magic { .. } => "magic",
        Corrupt::Options { .. } => "options",
        Corrupt::ChecksumId { .. } => "checksum-id",
        Corrupt::Range { .. }
        | Corrupt::LastLarger { .. }
        | Corrupt::ChunkCount { .. }
        | Corrupt::CountUnknown { .. }
        | Corrupt::MetadataRoom { .. } => "range",
        Corrupt::MetadataCodec { .. } => "codec-id",
        Corrupt::MetadataBomb { .. } => "meta-size",
        Corrupt::MetadataStream => "meta-codec",
        Corrupt::MetadataDigest { .. } | Corrupt::Digest { .. } => "digest",
        Corrupt::MetadataUtf8 { .. } | Corrupt::MetadataJson { .. } => "meta-json",
        Corrupt::OffsetRange { .. }
        | Corrupt::OffsetOrder { .. }
        | Corrupt::OffsetUnset { .. }
        | Corrupt::OffsetPosition { .. } => "offset",
        Corrupt::ReserveUsed { .. } | Corrupt::ChunkSize { .. } | Corrupt::MetadataSize { .. } => {
            "inconsistent"
        }
        Corrupt::ChunkVersion { .. } | Corrupt::EmptyChunk { .. } => "chunk",
        Corrupt::ArrayKey { .. } | Corrupt::ArrayObjects => "ndarray-dtype",
        Corrupt::ArrayOverflow | Corrupt::ArraySize { .. } => "ndarray-size",
        other => panic!("{other}"),
    }
}

fn forward(bytes: &[u8], options: ReadOptions) -> Result<Vec<u8>> {
    let mut data = vec![];
    Reader::with_options(bytes, options)?.copy_to(&mut data).map(|_| data)
}

/// The first error of random access.
fn random_access(bytes: Vec<u8>) -> Result<()> {
    let report = BlpFile::new(MemStore::new(bytes))?.verify(&VerifyOptions::default(), |_| {})?;
    report.bad.into_iter().next().map_or(Ok(()), |bad| Err(bad.error))
}

/// A size that contradicts the header is found before the chunk's content, and one of more than 31
/// bits before the length of the file.
fn matches(expected: &str, error: &Error) -> bool {
    let found = class(error);
    found == expected
        || matches!((expected, found), ("chunk", "inconsistent") | ("truncated", "chunk"))
}

#[test]
fn every_malformed_file_is_refused_for_the_right_reason() {
    let cases = cases();
    assert_eq!(cases.len(), 49);
    for (file, expected) in cases.iter().filter(|(_, expected)| !expected.starts_with("ndarray")) {
        let error = forward(&read(file), ReadOptions::default()).unwrap_err();
        assert!(matches(expected, &error), "{file}: {expected}, found {error}");
        let error = random_access(read(file)).unwrap_err();
        assert!(matches(expected, &error), "{file}: {expected}, found {error}");
    }
}

#[test]
fn arrays_that_are_refused_have_data_all_the_same() {
    for (file, _) in cases().iter().filter(|(_, expected)| expected.starts_with("ndarray")) {
        assert!(!forward(&read(file), ReadOptions::default()).unwrap().is_empty(), "{file}");
    }
}

#[test]
fn arrays_are_refused_for_the_right_reason() {
    for (file, expected) in cases().iter().filter(|(_, expected)| expected.starts_with("ndarray")) {
        let error = unpack_array(&read(file)).unwrap_err();
        assert_eq!(class(&error), expected, "{file}: {error}");
        let error = BlpFile::new(MemStore::new(read(file))).unwrap().array_info().unwrap_err();
        assert_eq!(class(&error), expected, "{file}: {error}");
    }
}

#[test]
fn data_below_strange_metadata_can_be_had() {
    for file in ["meta_unknown_format.blp", "meta_not_json.blp", "meta_not_utf8.blp"] {
        let raw = ReadOptions::default().metadata(MetadataUse::Raw);
        assert_eq!(forward(&read(file), raw).unwrap().len(), 6000, "{file}");
    }
    for file in [
        "meta_zlib_bomb.blp",
        "meta_zlib_garbage.blp",
        "meta_bad_digest.blp",
        "meta_size_wrong.blp",
    ] {
        let ignore = ReadOptions::default().metadata(MetadataUse::Ignore);
        let read = forward(&read(file), ignore);
        assert_eq!(read.is_ok(), file != "meta_size_wrong.blp", "{file}");
    }
}

/// A valid file with other bytes at a position.
fn changed(file: &str, at: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = fixture::read(format!("bloscpack/{file}")).unwrap();
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

fn both(bytes: Vec<u8>) -> [String; 2] {
    let forward = forward(&bytes, ReadOptions::default()).unwrap_err();
    [forward.to_string(), random_access(bytes).unwrap_err().to_string()]
}

#[test]
fn offsets_must_be_where_the_chunks_are() {
    let whole = fixture::read("bloscpack/real_max_app_3.blp").unwrap();
    let at = usize::from(whole[40]) + 256 * usize::from(whole[41]);
    let moved = u16::try_from(at + 1).unwrap().to_le_bytes();
    let second = changed("real_max_app_3.blp", 40, &moved);
    assert_eq!(
        both(second)[0],
        format!("at byte {at}: offset 1 is {}, the chunk is at {at}", at + 1)
    );
    let chunks_at = BlpFile::new(MemStore::new(whole)).unwrap().position(0).unwrap();
    let moved = u16::try_from(chunks_at + 1).unwrap().to_le_bytes();
    let text =
        format!("at byte {chunks_at}: offset 0 is {}, the chunk is at {chunks_at}", chunks_at + 1);
    assert_eq!(both(changed("real_max_app_3.blp", 32, &moved)), [text.clone(), text]);
}

#[test]
fn chunks_of_other_formats_are_refused() {
    let text = "at byte 120: chunk 0 has format version 5, a .blp file holds version 2".to_owned();
    assert_eq!(both(changed("real_one_byte.blp", 120, &[5])), [text.clone(), text]);
    let text = "chunk 0 at byte 120".to_owned();
    // Chunk version 1 is read like 2, but the changed byte no longer matches the digest.
    let digest = "at byte 120: chunk 0 does not have the adler32 digest that is stored".to_owned();
    assert_eq!(both(changed("real_one_byte.blp", 120, &[1])), [digest.clone(), digest]);
    for version in [0, 7] {
        assert_eq!(
            both(changed("real_one_byte.blp", 120, &[version])),
            [text.clone(), text.clone()]
        );
    }
}

#[test]
fn an_unknown_number_of_chunks_allows_nothing_after_them() {
    for file in ["synth_v1_nchunks_unknown.blp", "synth_v3_stream.blp"] {
        let whole = fixture::read(format!("bloscpack/{file}")).unwrap();
        let text = format!("at byte {}: chunk header of 16 bytes, 3 are left", whole.len());
        assert_eq!(both([&whole[..], b"abc"].concat()), [text.clone(), text]);
    }
}

#[test]
fn without_a_digest_the_decoder_finds_what_is_wrong() {
    // The streams of the first chunk begin after its header and block starts.
    let at = BlpFile::new(MemStore::new(changed("real_checksum_none.blp", 0, b"b")))
        .unwrap()
        .position(0)
        .unwrap();
    let bytes = changed("real_checksum_none.blp", usize::try_from(at).unwrap() + 20, &[0xff; 8]);
    let text = format!("chunk 0 at byte {at}");
    assert_eq!(both(bytes), [text.clone(), text]);
}

#[test]
fn empty_chunks_are_refused_in_version_3() {
    // The last chunk of version 2 has no data, which version 3 does not allow.
    let found = both(changed("synth_v2_last_empty.blp", 4, &[3]));
    assert_eq!(found, ["at byte 3554: chunk 2 has no data"; 2]);
}

/// A source that breaks.
struct Broken<'a>(&'a [u8]);

impl Read for Broken<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        if self.0.is_empty() {
            return Err(std::io::ErrorKind::ConnectionReset.into());
        }
        self.0.read(buf)
    }
}

#[test]
fn errors_of_the_source_are_not_damage() {
    let whole = fixture::read("bloscpack/real_np_struct.blp").unwrap();
    for len in 0..whole.len() {
        let result = Reader::new(Broken(&whole[..len]))
            .and_then(|mut reader| reader.copy_to(&mut std::io::sink()));
        let Err(Error::Io { at, source }) = result else { panic!("{len}: {result:?}") };
        assert_eq!(source.kind(), std::io::ErrorKind::ConnectionReset);
        assert!(at <= len as u64);
    }
}

#[test]
fn every_prefix_of_a_file_is_refused() {
    for file in
        ["real_np_struct.blp", "real_max_app_3.blp", "synth_v1.blp", "old_v2_last_empty.blp"]
    {
        let whole = fixture::read(format!("bloscpack/{file}")).unwrap();
        for len in 0..whole.len() {
            let error = forward(&whole[..len], ReadOptions::default()).unwrap_err();
            assert_eq!(class(&error), "truncated", "{file} {len}: {error}");
            assert!(random_access(whole[..len].to_vec()).is_err(), "{file} {len}");
        }
    }
}

#[test]
fn a_failed_reader_stays_failed() {
    let bytes = read("flipped_data_bit.blp");
    let mut reader = Reader::new(&bytes[..]).unwrap();
    let mut data = vec![];
    assert!(reader.read_to_end(&mut data).is_err());
    let again = reader.read(&mut [0; 10]).unwrap_err();
    assert_eq!(again.to_string(), "reading was ended by an error before");
}
