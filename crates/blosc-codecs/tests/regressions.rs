//! Cases that once failed, or that a change of the loops would break first, each with its smallest
//! input.

use blosc_codecs::{CodecId, DecodeOptions, EncodeOptions, Error, Level, Registry, Simd};
use blosc_testdata::data::{Kind, XorShift32};

fn random_bytes(nbytes: usize) -> Vec<u8> {
    let mut rng = XorShift32::new(77);
    (0..nbytes).map(|_| rng.next_hi().to_le_bytes()[0]).collect()
}

fn encode(id: CodecId, clevel: u8, plain: &[u8]) -> Option<Vec<u8>> {
    let registry = Registry::builtin();
    let clevel = Level::try_from(clevel).expect("a level");
    let options = EncodeOptions { clevel, ..EncodeOptions::default() };
    let codec = registry.require(id).expect("built in");
    let mut stream = vec![0; codec.max_compressed_len(plain.len())];
    let len = codec.new_encoder(&options).expect("an encoder").encode(plain, &mut stream);
    stream.truncate(len.expect("no error")?);
    Some(stream)
}

fn decode(id: CodecId, stream: &[u8], nbytes: usize) -> Result<Vec<u8>, Error> {
    let registry = Registry::builtin();
    let codec = registry.require(id).expect("built in");
    let mut plain = vec![0xA5; nbytes];
    codec.new_decoder(&DecodeOptions::default())?.decode(stream, &mut plain)?;
    Ok(plain)
}

/// A match at exactly `distance`, between random bytes.
fn repeated_at(distance: usize, len: usize) -> Vec<u8> {
    let mut plain = random_bytes(distance + 64);
    plain.truncate(distance);
    plain.extend_from_within(..len);
    plain.extend(random_bytes(200).iter().rev());
    plain
}

#[test]
fn lz4_uses_the_longest_distance_and_no_longer_one() {
    for (distance, is_found) in [(65_535, true), (65_536, false)] {
        let plain = repeated_at(distance, 400);
        let stream = encode(CodecId::LZ4HC, 9, &plain).expect("there is room");
        assert_eq!(stream.len() < plain.len(), is_found, "{distance}");
        assert_eq!(decode(CodecId::LZ4HC, &stream, plain.len()), Ok(plain));
    }
}

/// Far matches begin at a distance of 8192 and end at 73,724.
#[test]
fn blosclz_decodes_its_farthest_distances() {
    for distance in [8190, 8191, 8192, 8193, 65_536, 73_723, 73_724, 73_725] {
        let mut plain = repeated_at(distance, 3000);
        // Enough zeros for the probe to accept the stream.
        plain.extend(vec![0; 4 * plain.len()]);
        for clevel in [1, 5, 9] {
            let Some(stream) = encode(CodecId::BLOSCLZ, clevel, &plain) else { continue };
            assert_eq!(decode(CodecId::BLOSCLZ, &stream, plain.len()).as_ref(), Ok(&plain));
        }
    }
}

/// The largest distance that the format can express, which no encoder writes.
#[test]
fn blosclz_decodes_the_largest_distance_of_the_format() {
    let plain = random_bytes(8192 + 65_535);
    let mut stream = Vec::new();
    for run in plain.chunks(32) {
        stream.push(u8::try_from(run.len() - 1).expect("at most 32"));
        stream.extend(run);
    }
    stream.extend([0x3f, 0xff, 0xff, 0xff, 0x00, b'!']);
    let back = decode(CodecId::BLOSCLZ, &stream, plain.len() + 4).expect("a valid stream");
    assert_eq!(back[..plain.len()], plain);
    assert_eq!(back[plain.len()..], [plain[0], plain[1], plain[2], b'!']);
}

/// The first control byte is a literal run; its upper bits are ignored.
#[test]
fn blosclz_masks_the_first_control_byte() {
    for marker in [0x00, 0x20, 0x40, 0xe0] {
        let mut stream = vec![marker | 0x1f];
        stream.extend(0..32);
        stream.extend([0x01, 32, 33]);
        assert_eq!(decode(CodecId::BLOSCLZ, &stream, 34), Ok((0..34).collect()));
    }
}

/// Tables are kept between streams; entries of a longer one must not match in a shorter one.
#[test]
fn a_reused_encoder_forgets_longer_streams() {
    let registry = Registry::builtin();
    for id in [CodecId::BLOSCLZ, CodecId::LZ4, CodecId::LZ4HC] {
        let codec = registry.require(id).expect("built in");
        let mut encoder = codec.new_encoder(&EncodeOptions::default()).expect("an encoder");
        let text = Kind::Text.bytes(100_000);
        for nbytes in [100_000, 3000, 70_000, 100, 65_547, 8192, 8193, 20] {
            let mut stream = vec![0; 2 * nbytes + 64];
            let len = encoder.encode(&text[..nbytes], &mut stream).expect("no error");
            let Some(len) = len else { continue };
            let back = decode(id, &stream[..len], nbytes);
            assert_eq!(back.as_deref(), Ok(&text[..nbytes]), "{id}, {nbytes} bytes");
        }
    }
}

/// A stream that is as long as its data is valid for a decoder, but useless in a chunk.
#[test]
fn a_full_destination_is_not_exceeded_by_one_byte() {
    for id in [CodecId::BLOSCLZ, CodecId::LZ4, CodecId::LZ4HC] {
        let plain = repeated_at(300, 100);
        let Some(stream) = encode(id, 9, &plain) else { continue };
        let registry = Registry::builtin();
        let codec = registry.require(id).expect("built in");
        let options = EncodeOptions { clevel: Level::BEST, ..EncodeOptions::default() };
        let mut encoder = codec.new_encoder(&options).expect("an encoder");
        for missing in 1..40.min(stream.len()) {
            let mut dest = vec![0xEE; stream.len() + 64];
            let room = stream.len() - missing;
            assert_eq!(encoder.encode(&plain, &mut dest[..room]), Ok(None), "{id} -{missing}");
            assert!(dest[room..].iter().all(|byte| *byte == 0xEE), "{id} -{missing}");
        }
    }
}

/// Any number of length bytes of 255 must not overflow.
#[test]
fn endless_lengths_are_errors() {
    let long = vec![0xFF; 100_000];
    let lz4 = [&[0xFF][..], &long].concat();
    let blosclz = [&[0x20, b'a', 0xFF][..], &long].concat();
    for (id, stream) in [(CodecId::LZ4, lz4), (CodecId::BLOSCLZ, blosclz)] {
        for nbytes in [0, 10, 1000, 1 << 20] {
            let error = decode(id, &stream, nbytes).expect_err("an endless length");
            assert!(matches!(error, Error::Corrupt { .. }), "{id}: {error}");
        }
    }
}

/// The fast halves need margins; destinations of every small length are decoded correctly.
#[test]
fn destinations_shorter_than_the_margins_are_decoded() {
    for id in [CodecId::BLOSCLZ, CodecId::LZ4, CodecId::LZ4HC] {
        for nbytes in 13..120 {
            let plain: Vec<u8> = (0..nbytes).map(|n| [1, 2, 3][n % 3]).collect();
            let Some(stream) = encode(id, 9, &plain) else { continue };
            assert_eq!(decode(id, &stream, nbytes), Ok(plain), "{id}, {nbytes} bytes");
        }
    }
}

/// The dictionary is right before the output; matches may begin in it and end in the output.
#[test]
fn matches_cross_the_end_of_a_dictionary() {
    let registry = Registry::builtin();
    let dict = random_bytes(70_000);
    let plain = [&dict[69_000..], &dict[69_900..], &dict[69_000..69_500]].concat();
    for id in [CodecId::LZ4, CodecId::LZ4HC] {
        for clevel in [1, 2, 5, 9] {
            let clevel = Level::try_from(clevel).expect("a level");
            let options = EncodeOptions { clevel, dict: Some(&dict), ..EncodeOptions::default() };
            let codec = registry.require(id).expect("built in");
            let mut stream = vec![0; 2 * plain.len()];
            let mut encoder = codec.new_encoder(&options).expect("an encoder");
            let len = encoder.encode(&plain, &mut stream).expect("no error").expect("room");
            assert!(len < 200, "{id}, level {clevel}: {len} bytes");
            let options = DecodeOptions { dict: Some(&dict), ..DecodeOptions::default() };
            let mut decoder = codec.new_decoder(&options).expect("a decoder");
            let mut back = vec![0; plain.len()];
            decoder.decode(&stream[..len], &mut back).expect("our own stream");
            assert!(back == plain, "{id}, level {clevel}");
        }
    }
}

/// A dictionary beyond the reach of distances is cut, not refused.
#[test]
fn only_the_end_of_a_long_dictionary_counts() {
    let registry = Registry::builtin();
    let codec = registry.require(CodecId::LZ4).expect("built in");
    let dict = random_bytes(200_000);
    let encode = |dict: &[u8], plain: &[u8]| {
        let options = EncodeOptions { dict: Some(dict), ..EncodeOptions::default() };
        let mut stream = vec![0; 2 * plain.len()];
        let mut encoder = codec.new_encoder(&options).expect("an encoder");
        let len = encoder.encode(plain, &mut stream).expect("no error").expect("room");
        stream.truncate(len);
        stream
    };
    let near = &dict[199_000..];
    assert_eq!(encode(&dict, near), encode(&dict[200_000 - 65_535..], near));
    assert!(encode(&dict, near).len() < 100);
    assert!(encode(&dict, &dict[..1000]).len() > 1000);
}

/// The codecs know the names of `--simd` on the command line.
#[test]
fn simd_names_of_the_filters_are_known() {
    let best = Simd::detect();
    assert_eq!(best.limited_to("none"), Simd::none());
    assert_eq!(best.limited_to("neon"), Simd::none());
    assert_eq!(best.limited_to("avx512"), best);
    assert_eq!(Simd::none().limited_to("avx512"), Simd::none());
    assert_eq!(best.limited_to("avx2").limited_to("sse2"), best.limited_to("sse2"));
}
