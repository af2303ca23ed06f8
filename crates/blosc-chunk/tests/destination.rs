//! The decoded data are the same in every kind of destination.

use core::num::NonZeroUsize;

use blosc_chunk::{
    CParams, Chunk, CodecId, DParams, Decoder, Destination, Level, Pipeline, SplitMode, Threads,
    compress,
};
use blosc_testdata::data::XorShift32;

const NITEMS: u32 = 37_500;
const NBYTES: usize = 4 * 37_500;

/// A walk, so that streams are coded, stored and runs.
fn data() -> Vec<u8> {
    let walk = |at: &mut i32, i: u32| {
        *at += (i.wrapping_mul(2_654_435_761) >> 29).cast_signed() - 3;
        Some(*at)
    };
    (0..NITEMS).scan(0, walk).flat_map(i32::to_le_bytes).collect()
}

/// All kinds of chunks and streams.
fn chunks() -> Vec<Vec<u8>> {
    let runs = [0, 7].map(|byte| compress(&[byte; NBYTES], &CParams::default()).unwrap());
    let mut all = runs.to_vec();
    for filters in ["none", "shuffle", "bitshuffle", "delta, shuffle", "trunc_prec:20, shuffle"] {
        for (codec, typesize) in
            [(CodecId::LZ4, 4), (CodecId::BLOSCLZ, 8), (CodecId::LZ4, 2), (CodecId::LZ4, 1)]
        {
            for (level, block) in
                [(Level::NONE, 1 << 15), (Level::DEFAULT, 1 << 15), (Level::DEFAULT, 33_000)]
            {
                let params = CParams::default()
                    .codec(codec)
                    .clevel(level)
                    .typesize(typesize)
                    .filters(Pipeline::parse(filters).unwrap())
                    .blocksize(Some(block));
                all.extend(compress(&data(), &params));
            }
        }
    }
    all
}

#[test]
fn the_destination_does_not_change_the_data() {
    let chunks = chunks();
    assert!(chunks.len() > 40);
    for threads in [Threads::One, Threads::Auto] {
        let params = DParams::default().threads(threads);
        let mut cached = Decoder::new(params.clone());
        let others = [Destination::Outer, Destination::Large];
        let mut others =
            others.map(|destination| Decoder::new(params.clone().destination(destination)));
        for (n, chunk) in chunks.iter().enumerate() {
            let expected = cached.decode(chunk).unwrap();
            for (start, other) in [0, 1, 16].into_iter().flat_map(|start| [(start, 0), (start, 1)])
            {
                let mut dest = vec![0xEE; NBYTES + 40];
                others[other].decode_into(chunk, &mut dest[start..]).unwrap();
                assert!(dest[start..start + NBYTES] == expected, "chunk {n}, from {start} on");
                assert!(dest[start + NBYTES..].iter().all(|&byte| byte == 0xEE));
            }
        }
    }
}

#[test]
fn the_destination_does_not_change_parts() {
    for chunk in chunks() {
        let mut decoder = Decoder::default();
        let expected = decoder.decode(&chunk).unwrap();
        decoder.scratch().set_destination(Destination::Large);
        let chunk = Chunk::parse(&chunk).unwrap();
        for (start, end) in [(40, 60), (1, 149_999), (32_768, 65_536), (60_000, 100_000)] {
            let mut dest = vec![0xEE; end - start];
            chunk.read_bytes(start..end, &mut dest, decoder.scratch()).unwrap();
            assert!(dest == expected[start..end], "{start}..{end}");
        }
    }
}

#[test]
fn large_depends_on_the_processor() {
    let is_avx512 = blosc_filters::Simd::detect().name() == "avx512";
    let large = if is_avx512 { 24 << 20 } else { 8 << 20 };
    let below = if is_avx512 { Destination::Outer } else { Destination::Cached };
    let cached = blosc_filters::internal::second_level_cache_nbytes();
    assert_eq!(Destination::for_nbytes(cached - 1), Destination::Cached);
    assert_eq!([cached, large - 1].map(Destination::for_nbytes), [below; 2]);
    assert_eq!(Destination::for_nbytes(large), Destination::Large);
}

/// Planes that do not shrink are stored, and a shuffle is undone directly from them: for any of the
/// planes, in one block or several, with one thread or two, in the cache or beyond.
#[test]
fn stored_and_coded_planes_are_joined() {
    let mut rng = XorShift32::new(3);
    for typesize in [2, 3, 4, 7, 8, 16] {
        for noisy in 0..1_u32 << typesize.min(4) {
            // The plane of noise, of a few bits, or of zeros.
            let mut byte = |n: usize| match noisy >> (n % typesize % 4) & 1 {
                1 => rng.next_hi().to_le_bytes()[1],
                _ if n.is_multiple_of(3) => 0,
                _ => n.to_le_bytes()[1] & 1,
            };
            let plain: Vec<u8> = (0..typesize * 40_000).map(&mut byte).collect();
            for (codec, nbytes) in
                [(CodecId::LZ4, 0), (CodecId::BLOSCLZ, 0), (CodecId::ZSTD, typesize * 9000)]
            {
                let blocksize = (nbytes > 0).then_some(nbytes);
                let cparams = CParams::default()
                    .codec(codec)
                    .typesize(typesize)
                    .blocksize(blocksize)
                    .split(SplitMode::Always);
                let chunk = compress(&plain, &cparams).expect("a chunk");
                for threads in [Threads::One, Threads::N(NonZeroUsize::MIN.saturating_add(1))] {
                    for destination in [Destination::Cached, Destination::Outer, Destination::Large]
                    {
                        let dparams = DParams::default().threads(threads).destination(destination);
                        let mut back = vec![0xA5; plain.len()];
                        Decoder::new(dparams).decode_into(&chunk, &mut back).expect("the data");
                        assert!(back == plain, "{typesize} bytes, {codec:?}, planes {noisy:b}");
                    }
                }
            }
        }
    }
}
