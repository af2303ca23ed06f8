//! Every length from 0 to 300 with every small typesize, filter and codec: round trip, and a part
//! of the result.
//!
//! Nothing is sampled: 301 lengths x 20 typesizes x 11 pipelines for each codec of Blosc2, and x 3
//! for each of Blosc 1. Level, split and block size vary, so that each of them meets every other
//! parameter.

use blosc_chunk::{CParams, Chunk, CodecId, Encoder, Level, Pipeline, Scratch, SplitMode, Target};
use blosc_testdata::data::Kind as Data;

const TYPESIZES: [usize; 20] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 31, 32, 255];
const PIPELINES: [&str; 11] = [
    "none",
    "shuffle",
    "bitshuffle",
    "delta",
    "delta,shuffle",
    "delta,bitshuffle",
    "shuffle,bitshuffle",
    "delta,shuffle,bitshuffle",
    "bytedelta:4",
    "shuffle,bytedelta:8",
    "shuffle:3",
];
const LEVELS: [u8; 9] = [5, 1, 9, 2, 6, 3, 8, 4, 7];
const SPLITS: [SplitMode; 3] = [SplitMode::ForwardCompat, SplitMode::Always, SplitMode::Never];
const BLOCKS: [Option<usize>; 4] = [None, Some(64), Some(96), Some(17)];

fn check_lengths(params: CParams, data: &[Vec<u8>], ncase: usize) {
    let mut encoder = Encoder::new(params).unwrap();
    let mut scratch = Scratch::default();
    for len in 0..=300 {
        let plain = &data[(len + ncase) % data.len()][..len];
        let bytes = encoder.encode(plain).unwrap();
        let chunk = Chunk::parse(&bytes).unwrap();
        let mut whole = vec![0xaa; len];
        chunk.decode_into(&mut whole, &mut scratch).unwrap();
        assert_eq!(whole, plain, "{:?} {len}", encoder.params());
        let (start, end) = (len / 3, len - len / 4);
        let mut part = vec![0xaa; end - start];
        chunk.read_bytes(start..end, &mut part, &mut scratch).unwrap();
        assert_eq!(part, plain[start..end], "{:?} {len}", encoder.params());
    }
}

/// Every typesize with each of the pipelines, for one codec.
fn check(params: &CParams, pipelines: &[&str], splits: &[SplitMode]) {
    if params.registries.codecs.get(params.codec).is_none() {
        return;
    }
    let kinds = [Data::Ramp, Data::Walk, Data::Text, Data::Noise, Data::Sparse];
    let data = kinds.map(|kind| kind.bytes(300));
    let cases =
        TYPESIZES.iter().flat_map(|&typesize| pipelines.iter().map(move |spec| (typesize, spec)));
    for (ncase, (typesize, spec)) in cases.enumerate() {
        let params = params
            .clone()
            .typesize(typesize)
            .filters(Pipeline::parse(spec).unwrap())
            .clevel(Level::try_from(LEVELS[ncase % 9]).unwrap())
            .split(splits[ncase % splits.len()])
            .blocksize(BLOCKS[ncase % 4]);
        check_lengths(params, &data, ncase);
    }
}

fn blosc2(codec: CodecId) {
    check(&CParams::default().codec(codec).target(Target::Blosc3_0), &PIPELINES, &SPLITS);
}

fn blosc1(codec: CodecId) {
    check(
        &CParams::default().codec(codec).target(Target::Blosc1_14),
        &PIPELINES[..3],
        &SPLITS[..1],
    );
}

#[test]
fn blosc2_with_blosclz() {
    blosc2(CodecId::BLOSCLZ);
}

#[test]
fn blosc2_with_lz4() {
    blosc2(CodecId::LZ4);
}

#[test]
fn blosc2_with_lz4hc() {
    blosc2(CodecId::LZ4HC);
}

#[test]
fn blosc2_with_zlib() {
    blosc2(CodecId::ZLIB);
}

#[test]
fn blosc2_with_zstd() {
    blosc2(CodecId::ZSTD);
}

#[test]
fn blosc1_with_every_codec() {
    for codec in [
        CodecId::BLOSCLZ,
        CodecId::LZ4,
        CodecId::LZ4HC,
        CodecId::SNAPPY,
        CodecId::ZLIB,
        CodecId::ZSTD,
    ] {
        blosc1(codec);
    }
}
