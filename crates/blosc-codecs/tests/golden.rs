//! Streams of C-Blosc, C-Blosc2 and their libraries, and streams made by hand
//! (`testdata/vectors/codecs.json`); and the examples of `docs/formats/codecs.md`, whose bytes
//! decode to the text beside them. A checksum compares the streams of our own encoders: a change of
//! structure must not change them.

use blosc_codecs::{
    CodecId, DecodeOptions, EncodeOptions, Error, Level, Registry, StreamDecoder, StreamEncoder,
};
use blosc_testdata::{crc32, data::Kind};
use serde_json::Value;

struct Vectors(Value);

impl Vectors {
    fn load() -> Self {
        let text = include_str!("../../../testdata/vectors/codecs.json");
        Self(serde_json::from_str(text).expect("the vectors are JSON"))
    }

    fn entries(&self, section: &str) -> &[Value] {
        self.0[section].as_array().expect("a section is an array")
    }

    /// The bytes of a field: hex, or the name of a plain input.
    fn bytes(&self, entry: &Value, field: &str) -> Option<Vec<u8>> {
        let text = entry[field].as_str()?;
        let named = &self.0["plain_inputs"][text];
        Some(unhex(named.as_str().unwrap_or(text)))
    }

    fn plain(&self, entry: &Value) -> Vec<u8> {
        self.bytes(entry, "plain")
            .or_else(|| self.bytes(entry, "plain_input"))
            .expect("an entry has its plain bytes")
    }
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&text[i..i + 2], 16).expect("hex"))
        .collect()
}

fn number(entry: &Value, field: &str) -> Option<usize> {
    entry[field].as_u64().map(|n| usize::try_from(n).expect("a small number"))
}

fn codec_id(entry: &Value) -> CodecId {
    match number(entry, "codec_id") {
        Some(id) => CodecId(u8::try_from(id).expect("an id is a byte")),
        None => CodecId::from_name(entry["codec"].as_str().expect("a name")).expect("a known name"),
    }
}

fn blockshape(entry: &Value) -> Vec<u32> {
    let dims = entry["blockshape"].as_array().map_or(&[][..], |dims| dims);
    dims.iter().map(|d| u32::try_from(d.as_u64().expect("a number")).expect("small")).collect()
}

fn decoder(entry: &Value, dict: Option<&[u8]>) -> Result<Box<dyn StreamDecoder>, Error> {
    let shape = blockshape(entry);
    let options = DecodeOptions {
        meta: u8::try_from(number(entry, "codec_meta").unwrap_or(0)).expect("a byte"),
        typesize: number(entry, "typesize").unwrap_or(1),
        dict,
        blockshape: (!shape.is_empty()).then_some(&shape[..]),
        ..DecodeOptions::default()
    };
    Registry::builtin().require(codec_id(entry))?.new_decoder(&options)
}

/// Whether the features of this build include the codec.
fn is_built(entry: &Value) -> bool {
    match codec_id(entry) {
        CodecId::SNAPPY => cfg!(feature = "snappy"),
        CodecId::ZLIB => cfg!(feature = "zlib"),
        _ => true,
    }
}

#[test]
fn streams_of_the_c_libraries_decode() {
    let vectors = Vectors::load();
    for entry in vectors.entries("codec_streams").iter().filter(|e| is_built(e)) {
        let plain = vectors.plain(entry);
        assert_eq!(number(entry, "plain_len"), Some(plain.len()));
        let mut out = vec![0xA5; plain.len()];
        let stream = vectors.bytes(entry, "stream").expect("a stream");
        decoder(entry, None)
            .and_then(|mut d| d.decode(&stream, &mut out))
            .unwrap_or_else(|e| panic!("{e}: {entry}"));
        assert_eq!(out, plain, "{entry}");
    }
}

#[test]
fn streams_made_by_hand_decode() {
    let vectors = Vectors::load();
    for entry in vectors.entries("codec_handmade") {
        let mut out = vec![0xA5; number(entry, "plain_len").expect("a length")];
        let stream = vectors.bytes(entry, "stream").expect("a stream");
        decoder(entry, None)
            .and_then(|mut d| d.decode(&stream, &mut out))
            .unwrap_or_else(|e| panic!("{e}: {entry}"));
        assert_eq!(
            format!("{:08x}", crc32(&out)),
            entry["plain_crc32"].as_str().expect("a sum"),
            "{entry}"
        );
    }
}

#[test]
fn streams_that_c_blosc2_refuses_are_corrupt() {
    let vectors = Vectors::load();
    for entry in vectors.entries("codec_reject") {
        let mut out = vec![0; number(entry, "plain_len").expect("a length")];
        let stream = vectors.bytes(entry, "stream").expect("a stream");
        let error = decoder(entry, None)
            .and_then(|mut d| d.decode(&stream, &mut out))
            .expect_err("a corrupt stream");
        assert!(matches!(error, Error::Corrupt { .. }), "{error}: {entry}");
    }
}

#[test]
fn streams_with_dictionaries_decode_and_encode() {
    let vectors = Vectors::load();
    for entry in vectors.entries("codec_dict").iter().filter(|e| is_built(e)) {
        let dict = vectors.bytes(entry, "dictionary").expect("a dictionary");
        let plain = vectors.plain(entry);
        let stream = vectors.bytes(entry, "stream").expect("a stream");
        let mut out = vec![0xA5; plain.len()];
        decoder(entry, Some(&dict))
            .and_then(|mut d| d.decode(&stream, &mut out))
            .expect("a valid stream");
        assert_eq!(out, plain, "{entry}");

        if codec_id(entry) == CodecId::ZSTD && !cfg!(feature = "zstd") {
            continue;
        }
        let registry = Registry::builtin();
        let options = EncodeOptions { dict: Some(&dict), ..EncodeOptions::default() };
        let mut encoder = registry
            .require(codec_id(entry))
            .and_then(|c| c.new_encoder(&options))
            .expect("an encoder");
        let mut ours = vec![0; plain.len()];
        let len = encoder.encode(&plain, &mut ours).expect("no error").expect("it fits");
        decoder(entry, Some(&dict))
            .and_then(|mut d| d.decode(&ours[..len], &mut out))
            .expect("our own stream");
        assert_eq!(out, plain, "{entry}");
        assert!(
            decoder(entry, None).and_then(|mut d| d.decode(&ours[..len], &mut out)).is_err(),
            "{entry}"
        );
    }
}

/// The ZFP streams encode a walk that this rebuilds; our streams must be identical bit for bit.
#[test]
fn zfp_streams_are_the_same_bit_for_bit() {
    let vectors = Vectors::load();
    let entries: Vec<_> =
        vectors.entries("codec_streams").iter().filter(|e| e["codec"] == "zfp").collect();
    assert_eq!(entries.len(), 29);
    for entry in entries {
        let plain_len = number(entry, "plain_len").expect("a length");
        let src: Vec<u8> = match number(entry, "typesize") {
            #[allow(clippy::cast_possible_truncation, reason = "that is what the fixture does")]
            Some(4) => walk().take(plain_len / 4).flat_map(|v| (v as f32).to_le_bytes()).collect(),
            _ => walk().take(plain_len / 8).flat_map(f64::to_le_bytes).collect(),
        };
        let mut stream = vec![0; 2 * plain_len + 64];
        let len = encoder(entry).encode(&src, &mut stream).expect("no error").expect("it fits");
        assert_eq!(stream[..len], vectors.bytes(entry, "stream").expect("a stream"), "{entry}");
        assert_eq!(encoder(entry).encode(&src, &mut stream[..len - 1]), Ok(None), "{entry}");
    }
}

#[test]
fn ndlz_streams_are_no_longer_than_those_of_c_blosc2() {
    let vectors = Vectors::load();
    let mut sizes = (0, 0);
    for entry in vectors.entries("codec_streams").iter().filter(|e| e["codec"] == "ndlz") {
        let plain = vectors.plain(entry);
        let theirs = vectors.bytes(entry, "stream").expect("a stream");
        let mut ours = vec![0; plain.len()];
        let len = encoder(entry).encode(&plain, &mut ours).expect("no error").expect("it fits");
        let mut out = vec![0xA5; plain.len()];
        decoder(entry, None)
            .and_then(|mut d| d.decode(&ours[..len], &mut out))
            .expect("our own stream");
        assert_eq!(out, plain, "{entry}");
        sizes = (sizes.0 + len, sizes.1 + theirs.len());
    }
    assert!(sizes.0 <= sizes.1, "ours {}, theirs {}", sizes.0, sizes.1);
}

fn encoder(entry: &Value) -> Box<dyn StreamEncoder> {
    let shape = blockshape(entry);
    let options = EncodeOptions {
        meta: u8::try_from(number(entry, "codec_meta").unwrap_or(0)).expect("a byte"),
        typesize: number(entry, "typesize").unwrap_or(1),
        blockshape: Some(&shape),
        ..EncodeOptions::default()
    };
    Registry::builtin()
        .require(codec_id(entry))
        .and_then(|c| c.new_encoder(&options))
        .expect("an encoder")
}

/// A random walk in steps of 1/16, as in the maker of the vectors.
fn walk() -> impl Iterator<Item = f64> {
    let mut x = 0x9E37_79B9u32;
    let mut sum = 0.0;
    core::iter::from_fn(move || {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        sum += (f64::from((x >> 16) % 64) - 31.5) / 16.0;
        Some(sum)
    })
}

const DOCUMENT: &str = include_str!("../../../docs/formats/codecs.md");

/// The bytes of the example in the chapter that begins with `title`: the hexadecimal words after
/// `payload`.
fn payload(title: &str) -> Vec<u8> {
    let chapter = DOCUMENT.split_once(title).expect("the chapter").1;
    let line = chapter.lines().find_map(|line| line.strip_prefix("payload  ")).expect("an example");
    let words = line.split_whitespace();
    words.flat_map(unhex).collect()
}

/// Decodes an example with the registered codec.
fn decoded(id: CodecId, payload: &[u8], meta: u8, nbytes: usize) -> Vec<u8> {
    let registry = Registry::builtin();
    let codec = registry.require(id).expect("a built-in codec");
    let options = DecodeOptions { meta, typesize: 1, ..DecodeOptions::default() };
    let mut plain = vec![0; nbytes];
    codec.new_decoder(&options).unwrap().decode(payload, &mut plain).unwrap();
    plain
}

#[test]
fn examples_of_the_document_decode() {
    let text = b"abcabcabcabcabcabcabcabcX";
    for (title, id) in [
        ("## 3. BloscLZ", CodecId::BLOSCLZ),
        ("## 4. LZ4", CodecId::LZ4),
        #[cfg(feature = "snappy")]
        ("## 5. Snappy", CodecId::SNAPPY),
    ] {
        assert_eq!(decoded(id, &payload(title), 0, text.len()), text, "{title}");
    }
}

#[test]
fn the_ndlz_example_of_the_document_decodes() {
    let plain = decoded(CodecId::NDLZ, &payload("## 9. NDLZ"), 4, 32);
    let expected: Vec<u8> =
        (0..4).flat_map(|row| [0, 1, 2, 3, 0, 1, 2, 3].map(|column| 4 * row + column)).collect();
    assert_eq!(plain, expected);
}

/// Lengths around the limits of tables, windows and probes (bytes).
const LENGTHS: [usize; 16] =
    [0, 1, 12, 13, 20, 64, 255, 1000, 4096, 8191, 8192, 16_385, 32_768, 65_546, 65_547, 150_000];

/// The checksum of all streams of an encoder, each after its length.
fn checksum(id: CodecId, clevel: u8) -> u32 {
    let registry = Registry::builtin();
    let codec = registry.require(id).expect("built in");
    let clevel = Level::try_from(clevel).expect("a level");
    let options = EncodeOptions { clevel, ..EncodeOptions::default() };
    let mut encoder = codec.new_encoder(&options).expect("an encoder");
    let mut all = Vec::new();
    for nbytes in LENGTHS {
        for kind in Kind::ALL {
            let plain = kind.bytes(nbytes);
            let mut stream = vec![0; nbytes];
            let len = encoder.encode(&plain, &mut stream).expect("no error");
            all.extend(
                len.map_or(u32::MAX, |len| u32::try_from(len).expect("short")).to_le_bytes(),
            );
            all.extend(&stream[..len.unwrap_or(0)]);
        }
    }
    crc32(&all)
}

#[test]
fn our_streams_have_the_known_checksums() {
    let checksums =
        |id| core::array::from_fn(|n| checksum(id, u8::try_from(n + 1).expect("small")));
    let found = EXPECTED.map(|(id, _)| (id, checksums(id)));
    assert_eq!(found, EXPECTED, "{found:#010x?}");
}

/// Levels 1 to 9 of each encoder.
#[rustfmt::skip]
const EXPECTED: [(CodecId, [u32; 9]); 3] = [
    (CodecId::BLOSCLZ, [0x29EE_9A4F, 0xAA5D_B38D, 0xA600_8917, 0x0D4E_F1A2, 0x0D4E_F1A2, 0x0D4E_F1A2, 0x1BF8_CCDC, 0x3F14_D885, 0x83F1_09C0]),
    (CodecId::LZ4, [0x475C_3EF6, 0x1BD1_4697, 0xFC5A_B88E, 0xEF87_50CE, 0x05AB_6FDD, 0xD81C_5621, 0x5E61_AA70, 0xCCD8_E020, 0x320A_036D]),
    (CodecId::LZ4HC, [0xA500_27FF, 0xA500_27FF, 0xAE9C_C449, 0xF746_5DF9, 0xE492_E762, 0x1EC2_DBA9, 0x0DC4_D9AA, 0x3994_9C1E, 0xB666_9271]),
];
