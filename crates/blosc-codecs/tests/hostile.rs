//! Damaged streams: an error or other bytes, never a panic, never a byte outside the destination.

use blosc_codecs::{Codec, CodecId, DecodeOptions, EncodeOptions, Level, Registry};
use blosc_testdata::data::Kind;
use proptest::prelude::*;

/// Shape, item size and parameter that every codec accepts for `8 * 16 * typesize` bytes.
const SHAPE: &[u32] = &[8, 16];

/// Each built-in codec with options that it takes.
fn codecs() -> Vec<(CodecId, DecodeOptions<'static>)> {
    let options = |id: CodecId| match id {
        CodecId::NDLZ => {
            DecodeOptions { meta: 4, blockshape: Some(SHAPE), ..DecodeOptions::default() }
        }
        CodecId::ZFP_ACC | CodecId::ZFP_PREC | CodecId::ZFP_RATE => DecodeOptions {
            meta: 20,
            typesize: 4,
            blockshape: Some(SHAPE),
            ..DecodeOptions::default()
        },
        _ => DecodeOptions::default(),
    };
    Registry::builtin().iter().map(|c| (c.id(), options(c.id()))).collect()
}

fn encode(id: CodecId, options: &DecodeOptions<'_>, level: u8, plain: &[u8]) -> Vec<u8> {
    let registry = Registry::builtin();
    let codec: &dyn Codec = &**registry.require(id).expect("built in");
    let DecodeOptions { meta, typesize, blockshape, dict } = *options;
    let level = Level::try_from(level).expect("a level");
    let options =
        EncodeOptions { level, meta, typesize, blockshape, dict, ..EncodeOptions::default() };
    let mut stream = vec![0; codec.max_compressed_len(plain.len())];
    let len = codec
        .new_encoder(&options)
        .and_then(|mut e| e.encode(plain, &mut stream))
        .expect("no error");
    stream.truncate(len.unwrap_or(0));
    stream
}

/// Decodes into the middle of a buffer and checks that its ends are untouched.
fn decode(id: CodecId, options: &DecodeOptions<'_>, stream: &[u8], n: usize) {
    let registry = Registry::builtin();
    let mut decoder = registry.require(id).and_then(|c| c.new_decoder(options)).expect("a decoder");
    let mut buffer = vec![0xA5; n + 128];
    let _ = decoder.decode(stream, &mut buffer[64..64 + n]);
    assert!(buffer[..64].iter().chain(&buffer[64 + n..]).all(|b| *b == 0xA5), "{id} wrote outside");
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(&Kind::ALL[..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_streams(
        kind in kind(),
        level in 1u8..=9,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        more in 0usize..3,
    ) {
        for (id, options) in codecs() {
            let n = 128 * options.typesize;
            let mut stream = encode(id, &options, level, &kind.bytes(n));
            if stream.is_empty() {
                continue;
            }
            decode(id, &options, &stream[..cut.index(stream.len())], n);
            for (at, byte) in &changes {
                let at = at.index(stream.len());
                stream[at] = *byte;
            }
            decode(id, &options, &stream, n);
            decode(id, &options, &stream, n + more);
            decode(id, &options, &stream, n - more);
        }
    }

    #[test]
    fn random_streams(stream in prop::collection::vec(any::<u8>(), 0..400), n in 0usize..2000) {
        for (id, options) in codecs() {
            decode(id, &options, &stream, n);
            decode(id, &options, &stream, 128 * options.typesize);
        }
    }

    /// A byte that repeats drives lengths and counts up.
    #[test]
    fn monotonous_streams(byte in any::<u8>(), first in any::<u8>(), len in 1usize..3000, n in 0usize..5000) {
        let mut stream = vec![byte; len];
        stream[0] = first;
        for (id, options) in codecs() {
            decode(id, &options, &stream, n);
        }
    }

    #[test]
    fn streams_with_a_dictionary(
        kind in kind(),
        dict in prop::collection::vec(any::<u8>(), 1..300),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let options = DecodeOptions { dict: Some(&dict), ..DecodeOptions::default() };
        for id in [CodecId::LZ4, CodecId::LZ4HC] {
            let plain = kind.bytes(1000);
            let mut stream = encode(id, &options, 5, &plain);
            let mut back = vec![0; plain.len()];
            let registry = Registry::builtin();
            let mut decoder = registry.require(id).and_then(|c| c.new_decoder(&options)).expect("a decoder");
            prop_assert_eq!(decoder.decode(&stream, &mut back), Ok(()));
            prop_assert!(back == plain);
            let at = at.index(stream.len());
            stream[at] = byte;
            decode(id, &options, &stream, plain.len());
        }
    }
}

/// Another decoder reads our blocks, and ours reads another encoder's.
#[test]
fn lz4_agrees_with_another_implementation() {
    for kind in Kind::ALL {
        for len in [13, 64, 1000, 70_000, 200_000] {
            let plain = kind.bytes(len);
            let mut back = vec![0xA5; len];
            for id in [CodecId::LZ4, CodecId::LZ4HC] {
                let stream = encode(id, &DecodeOptions::default(), 5, &plain);
                let n = lz4_flex::block::decompress_into(&stream, &mut back).expect("a good block");
                assert!(n == len && back == plain, "{id} {} {len}", kind.name());
            }
            let mut stream = vec![0; lz4_flex::block::get_maximum_output_size(len)];
            let csize = lz4_flex::block::compress_into(&plain, &mut stream).expect("room enough");
            back.fill(0xA5);
            blosc_codecs::lz4::decompress(&stream[..csize], &mut back).expect("a good block");
            assert!(back == plain, "{} {len}", kind.name());
        }
    }
}
