//! Whole chunks and items of them.
//!
//! `streams`: one block, no filter, not split: the codec almost alone. `chunks`: 4 MiB with automatic blocks, into a
//! buffer that stays in the cache. `array`: the same chunks one after another into a destination that does not fit in
//! any cache. `small`: chunks of 32 KiB. `items`: one item of a chunk, of another block each
//! time and of the same block.

use core::num::NonZeroUsize;

use blosc_chunk::{
    CParams, Chunk, CodecId, DParams, Decoder, Encoder, ItemReader, Level, Pipeline, Scratch, SplitMode,
    Threads,
};

use super::{Bench, Subject};
use crate::{
    c_blosc2::{Context, Params},
    failure::{Result, fail},
    sets::Set,
};

const CODECS: [(&str, u8); 5] = [("blosclz", 0), ("lz4", 1), ("lz4hc", 2), ("zlib", 4), ("zstd", 5)];
const FILTERS: [(&str, [u8; 6]); 3] =
    [("none", [0; 6]), ("shuffle", [0, 0, 0, 0, 0, 1]), ("bitshuffle", [0, 0, 0, 0, 0, 2])];
const CHUNK: usize = 4 << 20;
const SMALL: usize = 32 << 10;
/// As old releases: what both sides write without being told otherwise.
const FORWARD_COMPAT: i32 = 4;
const NEVER: i32 = 2;

/// The same work for both sides.
struct Sides {
    encoder: Encoder,
    decoder: Decoder,
    c_encoder: Context,
    c_decoder: Context,
}

impl Sides {
    fn new(bench: &Bench, params: &Params) -> Result<Self> {
        Ok(Self {
            encoder: Encoder::new(ours(params)?)?,
            decoder: Decoder::new(DParams::default().threads(threads(params))),
            c_encoder: bench.c.encoder(params)?,
            c_decoder: bench.c.decoder(params)?,
        })
    }

    /// Compresses on both sides and lets each read what the other wrote.
    fn chunks(&mut self, plain: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
        let mut chunk = vec![0; plain.len() + 64];
        let mut c_chunk = chunk.clone();
        let nbytes = self.encoder.encode_into(plain, &mut chunk)?;
        chunk.truncate(nbytes);
        let nbytes = self.c_encoder.encode(plain, &mut c_chunk)?;
        c_chunk.truncate(nbytes);
        let mut back = vec![0; plain.len()];
        self.c_decoder.decode(&chunk, &mut back)?;
        if back != plain {
            return fail("C-Blosc2 reads other bytes from our chunk");
        }
        back.fill(0);
        self.decoder.decode_into(&c_chunk, &mut back)?;
        if back != plain {
            fail("we read other bytes from a chunk of C-Blosc2")
        } else {
            Ok((chunk, c_chunk))
        }
    }
}

fn ours(params: &Params) -> Result<CParams> {
    let split = if params.split == NEVER { SplitMode::Never } else { SplitMode::ForwardCompat };
    Ok(CParams::default()
        .codec(CodecId(params.codec))
        .level(Level::try_from(params.level)?)
        .typesize(params.typesize)
        .filters(Pipeline::from_slots(params.filters, [0; 6]))
        .block_size((params.block_size > 0).then_some(params.block_size))
        .split(split)
        .threads(threads(params)))
}

fn threads(params: &Params) -> Threads {
    match NonZeroUsize::new(usize::from(params.threads)) {
        Some(n) if n.get() > 1 => Threads::N(n),
        _ => Threads::One,
    }
}

pub(crate) fn streams(bench: &mut Bench) -> Result<()> {
    let levels: &[u8] = if bench.quick { &[5] } else { &[1, 5, 9] };
    for (name, codec) in CODECS {
        for nbytes in [4 << 10, 256 << 10] {
            for &level in levels {
                let params = Params {
                    codec,
                    level,
                    typesize: 1,
                    filters: [0; 6],
                    block_size: nbytes,
                    split: NEVER,
                    threads: 1,
                };
                for set in 0..bench.sets.len() {
                    let setting = format!("{name} {}K level {level}", nbytes >> 10);
                    hot(bench, "streams", &Job { setting, set, params }, nbytes)?;
                }
            }
        }
    }
    Ok(())
}

/// What to do with one of the sets.
struct Job {
    setting: String,
    set: usize,
    params: Params,
}

/// Codecs, filters and levels, each with every set and with automatic blocks.
fn jobs(bench: &Bench, quick: bool, threads: u16) -> Vec<Job> {
    let mut all = Vec::new();
    for (codec_name, codec) in CODECS {
        for (filter_name, filters) in FILTERS {
            if quick && !is_fast(codec) && filter_name != "shuffle" {
                continue;
            }
            let levels: &[u8] = if quick || !is_fast(codec) { &[5] } else { &[1, 5, 9] };
            for &level in levels {
                all.extend(bench.sets.iter().enumerate().map(|(set, Set { typesize, .. })| Job {
                    setting: format!("{codec_name} {filter_name}"),
                    set,
                    params: Params {
                        codec,
                        level,
                        typesize: *typesize,
                        filters,
                        block_size: 0,
                        split: FORWARD_COMPAT,
                        threads,
                    },
                }));
            }
        }
    }
    all
}

/// The jobs of the fast codecs, in short.
fn fast_jobs(bench: &Bench) -> impl Iterator<Item = Job> + use<> {
    jobs(bench, true, 1).into_iter().filter(|job| is_fast(job.params.codec))
}

/// BloscLZ and LZ4.
fn is_fast(codec: u8) -> bool {
    codec < 2
}

pub(crate) fn whole(bench: &mut Bench) -> Result<()> {
    for threads in [1, 2] {
        for job in jobs(bench, bench.quick, threads) {
            if threads == 1 || is_fast(job.params.codec) {
                hot(bench, "chunks", &job, CHUNK)?;
            }
        }
    }
    Ok(())
}

pub(crate) fn small(bench: &mut Bench) -> Result<()> {
    fast_jobs(bench).try_for_each(|job| hot(bench, "small", &job, SMALL))
}

/// Into a buffer that is used again and again.
fn hot(bench: &mut Bench, group: &'static str, job: &Job, nbytes: usize) -> Result<()> {
    let Job { setting, set, params } = job;
    let mut sides = Sides::new(bench, params)?;
    let case = format!("{} level {}", bench.sets[*set].name, params.level);
    let plain = bench.sets[*set].bytes[..nbytes].to_vec();
    let (chunk, c_chunk) = sides.chunks(&plain)?;
    let size = ratio(chunk.len(), c_chunk.len());
    let subject = |what| Subject {
        group,
        what,
        setting: setting.clone(),
        case: case.clone(),
        threads: params.threads,
        nbytes,
        size,
    };
    let (mut dest, mut c_dest) = (vec![0; nbytes + 64], vec![0; nbytes + 64]);
    let Sides { encoder, decoder, c_encoder, c_decoder } = &mut sides;
    bench.measure(
        subject("compress"),
        &mut || {
            encoder.encode_into(&plain, &mut dest)?;
            Ok(())
        },
        &mut || c_encoder.encode(&plain, &mut c_dest).map(drop),
    )?;
    // Both read the same chunk: the other one's.
    bench.measure(
        subject("decompress"),
        &mut || {
            decoder.decode_into(&c_chunk, &mut dest[..nbytes])?;
            Ok(())
        },
        &mut || c_decoder.decode(&c_chunk, &mut c_dest[..nbytes]).map(drop),
    )
}

/// Chunk after chunk into a destination of the size of the set.
pub(crate) fn array(bench: &mut Bench) -> Result<()> {
    fast_jobs(bench).try_for_each(|job| large(bench, job))
}

fn large(bench: &mut Bench, Job { setting, set, params }: Job) -> Result<()> {
    let mut sides = Sides::new(bench, &params)?;
    let Set { name, bytes: plain, .. } = &bench.sets[set];
    let chunks: Vec<Vec<u8>> =
        plain.chunks(CHUNK).map(|part| Ok(sides.chunks(part)?.1)).collect::<Result<_>>()?;
    let (case, nbytes) = ((*name).to_owned(), plain.len());
    let subject =
        Subject { group: "array", what: "decompress", setting, case, threads: 1, nbytes, size: 0.0 };
    let (mut dest, mut c_dest) = (vec![0; nbytes], vec![0; nbytes]);
    let Sides { decoder, c_decoder, .. } = &mut sides;
    bench.measure(
        subject,
        &mut || {
            for (chunk, dest) in chunks.iter().zip(dest.chunks_mut(CHUNK)) {
                decoder.decode_into(chunk, dest)?;
            }
            Ok(())
        },
        &mut || {
            let mut parts = chunks.iter().zip(c_dest.chunks_mut(CHUNK));
            parts.try_for_each(|(chunk, dest)| c_decoder.decode(chunk, dest).map(drop))
        },
    )
}

/// One item from the middle of each block in turn.
pub(crate) fn items(bench: &mut Bench) -> Result<()> {
    fast_jobs(bench).try_for_each(|job| item(bench, job))
}

fn item(bench: &mut Bench, Job { setting, set, params }: Job) -> Result<()> {
    let typesize = params.typesize;
    let mut sides = Sides::new(bench, &params)?;
    let bytes = sides.chunks(&bench.sets[set].bytes[..CHUNK])?.1;
    let block = Chunk::parse(&bytes)?.blocksize().unwrap_or(CHUNK) / typesize;
    let (nitems, nblocks) = (CHUNK / typesize, (CHUNK / typesize).div_ceil(block.max(1)));
    let at = |turn: &mut usize| {
        *turn += 1;
        ((*turn % nblocks) * block + block / 2).min(nitems - 1)
    };
    let different = format!("items: {setting}: not the same item");
    let case = bench.sets[set].name.to_owned();
    let cold =
        Subject { group: "items", what: "cold", setting, case, threads: 1, nbytes: typesize, size: 0.0 };
    let same = Subject { what: "same block", setting: cold.setting.clone(), case: cold.case.clone(), ..cold };
    let Sides { decoder, c_decoder, .. } = &mut sides;
    let (mut item, mut c_item) = (vec![0; typesize], vec![0; typesize]);
    let (mut turn, mut c_turn) = (0, 0);
    bench.measure(
        cold,
        &mut || {
            let at = at(&mut turn);
            Ok(Chunk::parse(&bytes)?.read_items(at..at + 1, &mut item, decoder.scratch())?)
        },
        &mut || c_decoder.item(&bytes, at(&mut c_turn), &mut c_item).map(drop),
    )?;
    if item != c_item {
        return fail(different);
    }
    let mut reader = ItemReader::new(Chunk::parse(&bytes)?, Scratch::default());
    bench.measure(same, &mut || Ok(reader.read_items(block / 2..block / 2 + 1, &mut item)?), &mut || {
        c_decoder.item(&bytes, block / 2, &mut c_item).map(drop)
    })?;
    if item != c_item { fail(different) } else { Ok(()) }
}

#[expect(clippy::cast_precision_loss, reason = "sizes of chunks are small")]
fn ratio(a: usize, b: usize) -> f64 {
    a as f64 / b as f64
}
