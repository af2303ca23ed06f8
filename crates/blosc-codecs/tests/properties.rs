//! Properties of every codec: decoded bytes equal the encoded ones at every level, kind of data and
//! length; a stream never exceeds its destination; damaged streams never panic and never write
//! outside their destination.

use std::sync::Arc;

use blosc_codecs::{
    Codec, CodecId, DecodeOptions, EncodeOptions, Error, FormatId, Level, Param, Registry, Simd,
    StreamDecoder, StreamEncoder,
};
use blosc_testdata::data::{Kind, XorShift32};
use proptest::prelude::*;

/// The codecs that compress any bytes; plugins (ids from 32) need arrays.
fn general(registry: &Registry) -> impl Iterator<Item = &Arc<dyn Codec>> {
    registry.iter().filter(|c| c.id() < CodecId::NDLZ && encodes(c.id()))
}

/// Whether this build compresses with the codec: without the C library, Zstandard only decodes.
fn encodes(id: CodecId) -> bool {
    id != CodecId::ZSTD || cfg!(feature = "zstd")
}

fn check_round_trip(codec: &dyn Codec, clevel: u8, lens: impl Iterator<Item = usize>) {
    let options = EncodeOptions {
        clevel: Level::try_from(clevel).expect("a level"),
        ..EncodeOptions::default()
    };
    let mut encoder = codec.new_encoder(&options).expect("an encoder");
    let mut decoder = codec.new_decoder(&DecodeOptions::default()).expect("a decoder");
    for len in lens {
        for kind in Kind::ALL {
            let plain = kind.bytes(len);
            let what = format!("{} level {clevel}, {}, {len} bytes", codec.name(), kind.name());
            let mut stream = vec![0; codec.max_compressed_len(len)];
            let Some(csize) = encoder.encode(&plain, &mut stream).expect("no error") else {
                let gives_up = codec.id() == CodecId::BLOSCLZ && clevel < 7;
                assert!(gives_up, "{what}: {} bytes of room are enough", stream.len());
                continue;
            };
            let mut back = vec![0xA5; len];
            decoder.decode(&stream[..csize], &mut back).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(back == plain, "{what}");

            let mut tight = vec![0; csize];
            if let Some(n) = encoder.encode(&plain, &mut tight).expect("no error") {
                decoder
                    .decode(&tight[..n], &mut back)
                    .unwrap_or_else(|e| panic!("{what}, tight: {e}"));
                assert!(back == plain, "{what}, tight");
            }
            if !encoder.depends_on_room() {
                let mut room = vec![0xA5; csize + 64];
                for most in (csize..csize + 64).step_by(7).chain([csize + 31, csize + 32]) {
                    let again = encoder.encode(&plain, &mut room[..most]).expect("no error");
                    assert!(
                        again == Some(csize) && room[..csize] == stream[..csize],
                        "{what}, room {most}"
                    );
                }
                let less = csize.saturating_sub(1);
                assert_eq!(
                    encoder.encode(&plain, &mut room[..less]).expect("no error"),
                    None,
                    "{what}"
                );
            }
            for room in [0, csize / 2, csize.saturating_sub(1)] {
                if let Some(n) = encoder.encode(&plain, &mut tight[..room]).expect("no error") {
                    assert!(n <= room, "{what}: {n} bytes in {room}");
                    decoder
                        .decode(&tight[..n], &mut back)
                        .unwrap_or_else(|e| panic!("{what}, room {room}: {e}"));
                    assert!(back == plain, "{what}, room {room}");
                }
            }
        }
    }
}

#[test]
fn short_streams_of_every_length() {
    for codec in general(&Registry::builtin()) {
        let slow = [CodecId::ZLIB, CodecId::ZSTD].contains(&codec.id());
        for level in [1, 5, 9] {
            check_round_trip(
                &**codec,
                level,
                (1..300).step_by(if slow || level != 5 { 7 } else { 1 }),
            );
        }
    }
}

#[test]
fn long_streams_at_every_level() {
    for codec in general(&Registry::builtin()) {
        for level in 0..=9 {
            check_round_trip(&**codec, level, [1000, 4096, 20_001].into_iter());
        }
    }
}

/// Items that mostly differ in the first byte only: BloscLZ has a special loop for them.
#[test]
fn items_that_differ_in_a_byte() {
    let mut rng = XorShift32::new(7);
    let registry = Registry::builtin();
    let codec = registry.require(CodecId::BLOSCLZ).expect("it is built in");
    let mut decoder = codec.new_decoder(&DecodeOptions::default()).expect("a decoder");
    let mut encoder = codec.new_encoder(&EncodeOptions::default()).expect("an encoder");
    let mut encoded = 0;
    for (typesize, step, len) in [4, 8, 12, 6].into_iter().flat_map(|typesize| {
        [1_u64, 20, 250, 5000]
            .into_iter()
            .flat_map(move |step| [600, 5000, 40_000].map(|len| (typesize, step, len)))
    }) {
        let mut value = u64::from(rng.next_u32());
        let items = (0..len / typesize).flat_map(|_| {
            value = value.wrapping_add(rng.below(2 * step + 1)).wrapping_sub(step);
            let item = u128::from(value).to_le_bytes();
            item.into_iter().take(typesize)
        });
        let plain: Vec<u8> = items.collect();
        let what = format!("{typesize} bytes, steps of {step}, {} bytes", plain.len());
        let mut stream = vec![0; codec.max_compressed_len(len)];
        let Some(csize) = encoder.encode(&plain, &mut stream).expect("no error") else {
            continue;
        };
        let mut back = vec![0xA5; plain.len()];
        decoder.decode(&stream[..csize], &mut back).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert!(back == plain, "{what}");
        for room in [csize, csize + 1, csize + 3] {
            let mut tight = vec![0; room];
            assert_eq!(
                encoder.encode(&plain, &mut tight).expect("no error"),
                Some(csize),
                "{what}, {room}"
            );
            assert!(tight[..csize] == stream[..csize], "{what}, room {room}");
        }
        assert_eq!(
            encoder.encode(&plain, &mut stream[..csize - 1]).expect("no error"),
            None,
            "{what}"
        );
        encoded += 1;
    }
    // Data that hardly compress are given up.
    assert!(encoded >= 24, "{encoded} of 48");
}

#[test]
fn streams_do_not_depend_on_earlier_streams() {
    for codec in general(&Registry::builtin()) {
        for level in [1, 5] {
            let clevel = Level::try_from(level).expect("a level");
            let new = || codec.new_encoder(&EncodeOptions { clevel, ..EncodeOptions::default() });
            let mut kept = new().expect("an encoder");
            for len in [70_000, 500, 9000] {
                for kind in Kind::ALL {
                    let plain = kind.bytes(len);
                    let (mut stream, mut expected) = (vec![0; len], vec![0; len]);
                    let csize = kept.encode(&plain, &mut stream).expect("no error");
                    let first =
                        new().expect("an encoder").encode(&plain, &mut expected).expect("no error");
                    assert_eq!(csize, first, "{}, {}", codec.name(), kind.name());
                    let n = csize.unwrap_or(0);
                    assert!(stream[..n] == expected[..n], "{}, {}", codec.name(), kind.name());
                }
            }
        }
    }
}

#[test]
fn streams_longer_than_every_window() {
    for codec in general(&Registry::builtin()) {
        check_round_trip(&**codec, 3, [300_000].into_iter());
    }
}

/// Bytes with equal rows, equal cells and constant cells.
fn picture(rows: usize, cols: usize) -> Vec<u8> {
    let noise = Kind::Noise.bytes(cols + 64);
    let pixel = |y: usize, x: usize| match (y / 8 + x / 8) % 4 {
        0 => 7,
        1 => noise[x % 8 + 8 * (y % 3)],
        2 => noise[x % 8 + 8 * (y % 8)],
        _ => noise[(x * 31 + y * 57) % noise.len()],
    };
    (0..rows * cols).map(|i| pixel(i / cols, i % cols)).collect()
}

#[test]
fn ndlz_arrays_of_every_shape() {
    for meta in [4, 8] {
        for (rows, cols) in
            (1..20).flat_map(|r| (1..20).map(move |c| (r, c))).chain([(300, 200), (7, 70_000)])
        {
            let plain = picture(rows, cols);
            let shape = [rows, cols].map(|n| u32::try_from(n).expect("small"));
            let options =
                EncodeOptions { meta, blockshape: Some(&shape), ..EncodeOptions::default() };
            let registry = Registry::builtin();
            let codec = registry.require(CodecId::NDLZ).expect("it is built in");
            let mut stream = vec![0; codec.max_compressed_len(plain.len())];
            let mut encoder = codec.new_encoder(&options).expect("an encoder");
            let csize =
                encoder.encode(&plain, &mut stream).expect("no error").expect("the bound holds");
            assert!(rows < 300 || csize < plain.len() / 2, "{csize} bytes");
            let mut decoder = codec
                .new_decoder(&DecodeOptions { meta, ..DecodeOptions::default() })
                .expect("a decoder");
            let mut back = vec![0xA5; plain.len()];
            decoder
                .decode(&stream[..csize], &mut back)
                .unwrap_or_else(|e| panic!("{rows} x {cols}: {e}"));
            assert!(back == plain, "{rows} x {cols}, cells of {meta}");
            for room in 0..csize.min(200) {
                assert_eq!(
                    encoder.encode(&plain, &mut stream[..room]),
                    Ok(None),
                    "{rows} x {cols} in {room}"
                );
            }
        }
    }
}

#[test]
fn zfp_keeps_its_bounds() {
    let registry = Registry::builtin();
    for shape in [&[37][..], &[9, 14], &[5, 6, 7], &[4, 5, 6, 7], &[4, 4, 4, 4]] {
        let nitems: u32 = shape.iter().product();
        let values: Vec<f64> = (0..nitems).map(|i| (f64::from(i) * 0.37).sin() * 1000.0).collect();
        let src: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let coded = |id: CodecId, meta: u8| {
            let codec = registry.require(id).expect("it is built in");
            let options = EncodeOptions {
                meta,
                typesize: 8,
                blockshape: Some(shape),
                ..EncodeOptions::default()
            };
            let mut stream = vec![0; codec.max_compressed_len(src.len())];
            let mut encoder = codec.new_encoder(&options).expect("an encoder");
            let csize =
                encoder.encode(&src, &mut stream).expect("no error").expect("the bound holds");
            let options = DecodeOptions {
                meta,
                typesize: 8,
                blockshape: Some(shape),
                ..DecodeOptions::default()
            };
            let mut back = vec![0; src.len()];
            let mut decoder = codec.new_decoder(&options).expect("a decoder");
            decoder
                .decode(&stream[..csize], &mut back)
                .unwrap_or_else(|e| panic!("{id} {shape:?}: {e}"));
            assert!(
                decoder.decode(&stream[..csize / 2], &mut back.clone()).is_err(),
                "{id} {shape:?}"
            );
            let back =
                back.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("8 bytes")));
            let error = back.zip(&values).map(|(b, v)| (b - v).abs()).fold(0.0, f64::max);
            (csize, error)
        };
        for k in [-6i8, -2, 0, 2] {
            let (_, error) = coded(CodecId::ZFP_ACC, k.cast_unsigned());
            assert!(error <= 10f64.powi(k.into()), "{shape:?}, 10^{k}: {error}");
        }
        let (_, error) = coded(CodecId::ZFP_PREC, 40);
        assert!(error < 1e-6, "{shape:?}: {error}");
        let cells: u32 = shape.iter().map(|n| n.div_ceil(4)).product();
        let (csize, _) = coded(CodecId::ZFP_RATE, 50);
        let bits = u64::from(cells) * 32 * 4u64.pow(u32::try_from(shape.len()).expect("small"));
        assert_eq!(csize as u64, bits.div_ceil(64) * 8, "{shape:?}");
    }
}

#[test]
fn zfp_refuses_values_that_are_not_finite() {
    let registry = Registry::builtin();
    let codec = registry.require(CodecId::ZFP_ACC).expect("it is built in");
    let options = EncodeOptions { typesize: 4, blockshape: Some(&[8]), ..EncodeOptions::default() };
    let mut encoder = codec.new_encoder(&options).expect("an encoder");
    for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let src: Vec<u8> = [1.0, 2.0, 3.0, 4.0, 5.0, odd, 6.0, 7.0]
            .iter()
            .flat_map(|v: &f32| v.to_le_bytes())
            .collect();
        assert_eq!(encoder.encode(&src, &mut [0; 200]), Ok(None));
    }
}

/// A shape that every codec accepts for `8 * 16 * typesize` bytes.
const SHAPE: &[u32] = &[8, 16];

/// Each built-in codec with valid options.
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

fn encode(id: CodecId, options: &DecodeOptions<'_>, clevel: u8, plain: &[u8]) -> Vec<u8> {
    let registry = Registry::builtin();
    let codec: &dyn Codec = &**registry.require(id).expect("built in");
    let DecodeOptions { meta, typesize, blockshape, dict, simd } = *options;
    let clevel = Level::try_from(clevel).expect("a level");
    let options = EncodeOptions { clevel, meta, typesize, split: false, dict, blockshape, simd };
    let mut stream = vec![0; codec.max_compressed_len(plain.len())];
    let len = codec
        .new_encoder(&options)
        .and_then(|mut e| e.encode(plain, &mut stream))
        .expect("no error");
    stream.truncate(len.unwrap_or(0));
    stream
}

/// Decodes into the middle of a buffer and checks that its ends are unchanged.
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
    fn mutated_streams_never_panic(
        kind in kind(),
        level in 1u8..=9,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        more in 0usize..3,
    ) {
        for (id, options) in codecs().into_iter().filter(|(id, _)| encodes(*id)) {
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
    fn random_streams_never_panic(stream in prop::collection::vec(any::<u8>(), 0..400), n in 0usize..2000) {
        for (id, options) in codecs() {
            decode(id, &options, &stream, n);
            decode(id, &options, &stream, 128 * options.typesize);
        }
    }

    /// Repeated bytes make long lengths and large counts.
    #[test]
    fn streams_of_one_byte_never_panic(byte in any::<u8>(), first in any::<u8>(), len in 1usize..3000, n in 0usize..5000) {
        let mut stream = vec![byte; len];
        stream[0] = first;
        for (id, options) in codecs() {
            decode(id, &options, &stream, n);
        }
    }

    #[test]
    fn mutated_streams_with_a_dictionary_never_panic(
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

/// `lz4_flex` decodes our blocks, and we decode its blocks.
#[test]
fn lz4_agrees_with_lz4_flex() {
    for kind in Kind::ALL {
        for len in [13, 64, 1000, 70_000, 200_000] {
            let plain = kind.bytes(len);
            let mut back = vec![0xA5; len];
            for id in [CodecId::LZ4, CodecId::LZ4HC] {
                let stream = encode(id, &DecodeOptions::default(), 5, &plain);
                let n =
                    lz4_flex::block::decompress_into(&stream, &mut back).expect("a valid block");
                assert!(n == len && back == plain, "{id} {} {len}", kind.name());
            }
            let mut stream = vec![0; lz4_flex::block::get_maximum_output_size(len)];
            let csize = lz4_flex::block::compress_into(&plain, &mut stream).expect("room enough");
            back.fill(0xA5);
            let registry = Registry::builtin();
            let codec = registry.require(CodecId::LZ4).expect("built in");
            let mut decoder = codec.new_decoder(&DecodeOptions::default()).expect("a decoder");
            decoder.decode(&stream[..csize], &mut back).expect("a valid block");
            assert!(back == plain, "{} {len}", kind.name());
        }
    }
}

/// The names of all sets of instructions in `--simd`.
const SIMD_NAMES: [&str; 4] = ["none", "sse2", "avx2", "avx512"];

/// One literal run, one match of every interesting length and distance, and another run.
fn one_match(distance: usize, len: usize) -> Vec<u8> {
    let mut rng = XorShift32::new(u32::try_from(distance * 31 + len).expect("small"));
    let mut random =
        |n: usize| -> Vec<u8> { (0..n).map(|_| rng.next_hi().to_le_bytes()[0]).collect() };
    let mut plain = random(distance.max(20));
    for _ in 0..len {
        plain.push(plain[plain.len() - distance]);
    }
    plain.extend(random(20));
    plain
}

#[test]
fn matches_of_every_length_and_distance_round_trip() {
    let registry = Registry::builtin();
    for codec in general(&registry) {
        let options = EncodeOptions { clevel: Level::BEST, ..EncodeOptions::default() };
        let mut encoder = codec.new_encoder(&options).expect("an encoder");
        let mut decoder = codec.new_decoder(&DecodeOptions::default()).expect("a decoder");
        for distance in (1..40).chain([63, 64, 65, 127, 128, 255, 256, 257, 1000]) {
            let slow = [CodecId::ZLIB, CodecId::ZSTD].contains(&codec.id());
            let lengths = (4..40).step_by(if slow { 7 } else { 1 });
            for len in lengths.chain([63, 64, 128, 263, 264, 265, 273, 300, 511, 512, 600]) {
                let plain = one_match(distance, len);
                let what = format!("{}: {len} bytes at distance {distance}", codec.name());
                let mut stream = vec![0; codec.max_compressed_len(plain.len())];
                let csize = encoder.encode(&plain, &mut stream).expect("no error");
                let csize = csize.unwrap_or_else(|| panic!("{what}: does not fit"));
                assert!(len < 300 || csize < plain.len(), "{what}: {csize} bytes");
                let mut back = vec![0xA5; plain.len()];
                decoder
                    .decode(&stream[..csize], &mut back)
                    .unwrap_or_else(|e| panic!("{what}: {e}"));
                assert!(back == plain, "{what}");
            }
        }
    }
}

#[test]
fn literal_runs_of_every_length_round_trip() {
    let registry = Registry::builtin();
    for codec in general(&registry) {
        let options = EncodeOptions { clevel: Level::BEST, ..EncodeOptions::default() };
        let mut encoder = codec.new_encoder(&options).expect("an encoder");
        let mut decoder = codec.new_decoder(&DecodeOptions::default()).expect("a decoder");
        let noise = Kind::Noise.bytes(700);
        for run in (0..70).chain([254, 255, 256, 269, 270, 271, 525, 526, 600]) {
            // Runs of zeros are long matches; the random run is between two of them.
            let plain = [&[0; 100][..], &noise[..run], &[0; 100]].concat();
            let mut stream = vec![0; codec.max_compressed_len(plain.len())];
            let csize = encoder.encode(&plain, &mut stream).expect("no error").expect("it fits");
            assert!(csize < plain.len() - 150, "{}: run of {run}, {csize}", codec.name());
            let mut back = vec![0xA5; plain.len()];
            decoder.decode(&stream[..csize], &mut back).expect("our own stream");
            assert!(back == plain, "{}: run of {run}", codec.name());
        }
    }
}

#[test]
fn the_bytes_do_not_depend_on_simd() {
    let registry = Registry::builtin();
    for codec in general(&registry) {
        for kind in Kind::ALL {
            for nbytes in [100, 5000, 80_000] {
                let plain = kind.bytes(nbytes);
                let streams = SIMD_NAMES.map(|name| {
                    let simd = Simd::detect().limited_to(name);
                    let options = EncodeOptions { simd, ..EncodeOptions::default() };
                    let mut stream = vec![0; nbytes];
                    let mut encoder = codec.new_encoder(&options).expect("an encoder");
                    let csize = encoder.encode(&plain, &mut stream).expect("no error");
                    stream.truncate(csize.unwrap_or(0));
                    stream
                });
                let what = format!("{}, {}, {nbytes}", codec.name(), kind.name());
                assert!(streams.iter().all(|stream| *stream == streams[0]), "{what}");
                if streams[0].is_empty() {
                    continue;
                }
                for name in SIMD_NAMES {
                    let simd = Simd::detect().limited_to(name);
                    let options = DecodeOptions { simd, ..DecodeOptions::default() };
                    let mut decoder = codec.new_decoder(&options).expect("a decoder");
                    let mut back = vec![0xA5; nbytes];
                    decoder.decode(&streams[0], &mut back).expect("our own stream");
                    assert!(back == plain, "{what}, {name}");
                }
            }
        }
    }
}

#[test]
fn a_prefix_is_the_start_of_the_whole() {
    let registry = Registry::builtin();
    for codec in general(&registry) {
        let mut encoder = codec.new_encoder(&EncodeOptions::default()).expect("an encoder");
        let mut decoder = codec.new_decoder(&DecodeOptions::default()).expect("a decoder");
        for kind in [Kind::Text, Kind::Walk, Kind::Sparse, Kind::Zeros] {
            let plain = kind.bytes(3000);
            let mut stream = vec![0; codec.max_compressed_len(plain.len())];
            let Some(csize) = encoder.encode(&plain, &mut stream).expect("no error") else {
                continue;
            };
            for wanted in [0, 1, 15, 16, 63, 64, 65, 1000, 2935, 2936, 2999, 3000] {
                let mut back = vec![0xA5; plain.len()];
                decoder.decode_prefix(&stream[..csize], &mut back, wanted).expect("our own stream");
                assert!(back[..wanted] == plain[..wanted], "{}, {wanted}", codec.name());
            }
        }
    }
}

#[test]
fn trained_dictionaries_make_short_streams_shorter() {
    let registry = Registry::builtin();
    let text = Kind::Text.bytes(200_000);
    let samples: Vec<&[u8]> = text[..150_000].chunks(1000).collect();
    for codec in registry.iter().filter(|codec| codec.has_dict() && encodes(codec.id())) {
        let dict = codec.train_dict(&samples, 8192).expect("it has dictionaries").expect("text");
        assert!(dict.len() <= 8192, "{}: {}", codec.name(), dict.len());
        let csize = |dict: Option<&[u8]>| {
            let options = EncodeOptions { dict, ..EncodeOptions::default() };
            let mut encoder = codec.new_encoder(&options).expect("an encoder");
            let mut stream = vec![0; 4000];
            let plain = &text[190_000..192_000];
            let len = encoder.encode(plain, &mut stream).expect("no error").expect("it fits");
            let options = DecodeOptions { dict, ..DecodeOptions::default() };
            let mut decoder = codec.new_decoder(&options).expect("a decoder");
            let mut back = vec![0; plain.len()];
            decoder.decode(&stream[..len], &mut back).expect("our own stream");
            assert!(back == plain, "{}", codec.name());
            len
        };
        assert!(csize(Some(&dict)) < csize(None), "{}", codec.name());
        assert_eq!(codec.train_dict(&[b"too short"], 8192).ok().flatten(), None);
    }
}

/// A codec of a user: each byte with all bits flipped.
struct Flip;

impl Codec for Flip {
    fn id(&self) -> CodecId {
        CodecId(200)
    }

    fn name(&self) -> &str {
        "flip"
    }

    fn version(&self) -> &str {
        "1"
    }

    fn max_compressed_len(&self, len: usize) -> usize {
        len
    }

    fn new_encoder(&self, _: &EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>, Error> {
        Ok(Box::new(Self))
    }

    fn new_decoder(&self, _: &DecodeOptions<'_>) -> Result<Box<dyn StreamDecoder>, Error> {
        Ok(Box::new(Self))
    }
}

impl StreamEncoder for Flip {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        let Some(dest) = dest.get_mut(..src.len()) else { return Ok(None) };
        dest.iter_mut().zip(src).for_each(|(to, from)| *to = !from);
        Ok(Some(src.len()))
    }
}

impl StreamDecoder for Flip {
    fn decode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        dest.iter_mut().zip(src).for_each(|(to, from)| *to = !from);
        Ok(())
    }
}

#[test]
fn a_codec_of_a_user_has_the_defaults_of_the_trait() {
    let mut registry = Registry::builtin();
    assert!(registry.register(Arc::new(Flip)).is_none());
    let codec = registry.require(CodecId(200)).expect("registered");
    assert_eq!(
        (codec.format(), codec.has_dict(), codec.is_lossy()),
        (FormatId::USER, false, false)
    );
    let what = Param::Dict;
    assert_eq!(codec.train_dict(&[b"abc"], 10), Err(Error::Param { codec: CodecId(200), what }));
    let mut stream = [0; 3];
    let mut encoder = codec.new_encoder(&EncodeOptions::default()).expect("an encoder");
    assert!(encoder.depends_on_room());
    assert_eq!(encoder.encode(b"abc", &mut stream[..2]), Ok(None));
    assert_eq!(encoder.encode(b"abc", &mut stream), Ok(Some(3)));
    let mut decoder = codec.new_decoder(&DecodeOptions::default()).expect("a decoder");
    let mut plain = [0; 3];
    decoder.decode_uncached(&stream, &mut plain).expect("as decode");
    assert_eq!(&plain, b"abc");
    decoder.decode_prefix(&stream, &mut plain, 1).expect("as decode");
    assert_eq!(&plain, b"abc");
    assert_eq!(registry.iter().last().map(|codec| codec.id()), Some(CodecId(200)));
}
