//! The memory that one chunk takes beside its source and destination, ours and C-Blosc2's:
//! `scratch_memory`.
//!
//! Ours is the most that was allocated at once by everything from a new encoder (or decoder) to the
//! end of its first chunk, counted by the allocator. C-Blosc2's is what its source says that each
//! thread allocates, four blocks with room for the sizes of their streams; on one thread
//! `mallinfo2` finds 2 KiB more. What the C libraries of codecs take for themselves is counted on
//! neither side.

#![forbid(unsafe_code)]

use core::{error::Error, num::NonZeroUsize};

use blosc_chunk::{CParams, ChunkHeader, CodecId, DParams, Decoder, Encoder, Pipeline, Threads};
use blosc_testdata::data::{Kind, Recipe};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

type Result<T> = core::result::Result<T, Box<dyn Error>>;

const NBYTES: usize = 4 << 20;
const TYPESIZE: usize = 4;

fn main() -> Result<()> {
    println!(
        "| codec, filter | threads | block | C-Blosc2 | compress | part | decompress | part |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for (name, codec) in
        [("blosclz", CodecId::BLOSCLZ), ("lz4", CodecId::LZ4), ("lz4hc", CodecId::LZ4HC)]
    {
        for filter in ["none", "shuffle", "bitshuffle"] {
            for threads in [Threads::One, Threads::N(NonZeroUsize::MIN.saturating_add(1))] {
                let params = CParams::default().codec(codec).typesize(TYPESIZE);
                row(
                    &format!("{name}, {filter}"),
                    &params.filters(Pipeline::parse(filter)?).threads(threads),
                )?;
            }
        }
    }
    Ok(())
}

fn row(name: &str, params: &CParams) -> Result<()> {
    let data = Recipe { kind: Kind::Walk, typesize: TYPESIZE, seed: 3, nbytes: NBYTES }.bytes();
    let (mut chunk, mut back) = (vec![0; NBYTES + 64], vec![0; NBYTES]);
    let mut encode = || Ok(Encoder::new(params.clone())?.encode_into(&data, &mut chunk)?);
    // Threads are started once and stay.
    let nbytes = encode()?;
    let compress = peak(&mut || encode().map(drop))?;
    let mut decode = || {
        Decoder::new(DParams::default().threads(params.threads))
            .decode_into(&chunk[..nbytes], &mut back)?;
        Ok(())
    };
    decode()?;
    let decompress = peak(&mut decode)?;
    if back != data {
        return Err(format!("{name}: other bytes").into());
    }
    let block = ChunkHeader::parse(&chunk)?.blocksize();
    let threads = if matches!(params.threads, Threads::One) { 1 } else { 2 };
    let theirs = threads * 4 * (block + 4 * TYPESIZE);
    println!(
        "| {name} | {threads} | {} | {} | {} | {:.2} | {} | {:.2} |",
        kib(block),
        kib(theirs),
        kib(compress),
        part(compress, theirs),
        kib(decompress),
        part(decompress, theirs)
    );
    Ok(())
}

/// Bytes allocated at once while `work` ran, beyond what was allocated before.
fn peak(work: &mut dyn FnMut() -> Result<()>) -> Result<usize> {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    work()?;
    Ok(ALLOCATOR.peak_usage().saturating_sub(before))
}

fn kib(nbytes: usize) -> String {
    format!("{} KiB", nbytes.div_ceil(1 << 10))
}

#[expect(clippy::cast_precision_loss, reason = "sizes of buffers are small")]
fn part(ours: usize, theirs: usize) -> f64 {
    ours as f64 / theirs as f64
}
