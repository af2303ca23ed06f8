//! The most frequent operations, for counting their instructions: `hot_cases CASE CALLS`.
//!
//! `cargo xtask instructions` runs it under valgrind. valgrind knows no instructions after AVX2, so
//! the program is told to use AVX2.

#![forbid(unsafe_code)]

use core::error::Error;
use std::process::ExitCode;

use b2frame::{FrameParams, SChunk, to_cframe};
use blosc_chunk::{
    CParams, Chunk, CodecId, DParams, Decoder, Encoder, Level, Pipeline, Registries, Scratch,
};
use blosc_filters::Simd;
use blosc_testdata::data::{Kind, Recipe, XorShift32};

type Result<T> = core::result::Result<T, Box<dyn Error>>;

/// Bytes of data in a chunk: a few blocks.
const NBYTES: usize = 1 << 20;
/// Bytes of data in a chunk whose decoding takes less time than the work around it.
const TINY: usize = 256;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hot_cases: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<()> {
    let [case, calls] = words else { return Err("hot_cases CASE CALLS".into()) };
    let calls: usize = calls.parse()?;
    match case.as_str() {
        "lz4-shuffle-compress" => compress(&params(CodecId::LZ4, Pipeline::SHUFFLE), calls),
        "lz4-shuffle-decompress" => decompress(&params(CodecId::LZ4, Pipeline::SHUFFLE), calls),
        "lz4-bitshuffle-decompress" => {
            decompress(&params(CodecId::LZ4, Pipeline::parse("bitshuffle")?), calls)
        }
        "blosclz-shuffle-decompress" => {
            decompress(&params(CodecId::BLOSCLZ, Pipeline::SHUFFLE), calls)
        }
        "tiny-decompress" => tiny(calls),
        "tiny-shuffle-item" => tiny_item(&params(CodecId::LZ4, Pipeline::SHUFFLE), calls),
        "stored-item" => {
            tiny_item(&params(CodecId::LZ4, Pipeline::EMPTY).clevel(Level::NONE), calls)
        }
        "frame-chunk" => frame_chunk(calls),
        _ => Err(format!("{case}: no such case").into()),
    }
}

fn registries() -> Registries {
    Registries { simd: Simd::parse("avx2").unwrap_or(Simd::none()), ..Registries::default() }
}

fn params(codec: CodecId, filters: Pipeline) -> CParams {
    CParams::default().codec(codec).typesize(4).filters(filters).registries(registries())
}

fn data(nbytes: usize) -> Vec<u8> {
    Recipe { kind: Kind::Walk, typesize: 4, seed: 3, nbytes }.bytes()
}

fn compress(params: &CParams, calls: usize) -> Result<()> {
    let (data, mut chunk) = (data(NBYTES), vec![0; NBYTES + 64]);
    let mut encoder = Encoder::new(params.clone())?;
    for _ in 0..calls {
        encoder.encode_into(&data, &mut chunk)?;
    }
    Ok(())
}

fn decompress(params: &CParams, calls: usize) -> Result<()> {
    let chunk = blosc_chunk::compress(&data(NBYTES), params)?;
    let mut back = vec![0; NBYTES];
    let mut decoder = Decoder::new(DParams::default().registries(registries()));
    for _ in 0..calls {
        decoder.decode_into(&chunk, &mut back)?;
    }
    Ok(())
}

/// Chunks so small that the work around their codec counts.
fn tiny(calls: usize) -> Result<()> {
    let chunk = blosc_chunk::compress(&data(TINY), &params(CodecId::LZ4, Pipeline::EMPTY))?;
    let mut back = vec![0; TINY];
    let mut decoder = Decoder::new(DParams::default().registries(registries()));
    for _ in 0..calls * 100 {
        decoder.decode_into(&chunk, &mut back)?;
    }
    Ok(())
}

/// One item of a tiny chunk.
fn tiny_item(params: &CParams, calls: usize) -> Result<()> {
    let chunk = blosc_chunk::compress(&data(TINY), params)?;
    let (mut item, mut scratch) =
        ([0; 4], Scratch::new(&DParams::default().registries(registries())));
    for nitem in 0..calls * 100 {
        let nitem = nitem % (TINY / 4);
        Chunk::parse(&chunk)?.read_items(nitem..nitem + 1, &mut item, &mut scratch)?;
    }
    Ok(())
}

/// Small chunks of a frame at random: the work around them counts.
fn frame_chunk(calls: usize) -> Result<()> {
    const CHUNK: usize = 4 << 10;
    const NCHUNKS: u64 = 250;
    let params = FrameParams::new(params(CodecId::LZ4, Pipeline::SHUFFLE)).chunksize(CHUNK);
    let schunk = SChunk::from_cframe(to_cframe(&data(CHUNK * 250), &params)?)?;
    let (mut rng, mut dest, mut scratch) =
        (XorShift32::default(), vec![0; CHUNK], schunk.scratch());
    for _ in 0..calls * 100 {
        schunk.decode_chunk_into(rng.below(NCHUNKS), &mut dest, &mut scratch)?;
    }
    Ok(())
}
