//! Whole chunks and items of them.
//!
//! `chunks`: 4 MiB with automatic blocks, into a buffer that stays in the cache. `array`: the same
//! chunks one after another into a destination larger than any cache. `small`: chunks of 32 KiB,
//! one after another, and super-chunks of them by two threads. `threads`: two threads of this
//! workspace against one. `items`: one item of a chunk, of another block each time and of the same
//! block.

use core::{cell::RefCell, num::NonZeroUsize};

use b2frame::{Budget, CompressOptions, FrameParams, FrameWriter, SChunk, compress_slice};
use blosc_chunk::{
    CParams, Chunk, CodecId, DParams, Decoder, Destination, Encoder, Executor, Level, Pipeline,
    Scratch, SplitMode, Threads, partial::ItemReader,
};
use blosc_io::MemStore;

use super::{Bench, Subject, frames::PARAMS};
use crate::{
    c_blosc2::{Context, Params, SuperChunk},
    failure::{Result, fail},
    sets::Set,
};

pub(super) const CODECS: [(&str, u8); 5] =
    [("blosclz", 0), ("lz4", 1), ("lz4hc", 2), ("zlib", 4), ("zstd", 5)];
const FILTERS: [(&str, [u8; 6]); 3] =
    [("none", [0; 6]), ("shuffle", [0, 0, 0, 0, 0, 1]), ("bitshuffle", [0, 0, 0, 0, 0, 2])];
const CHUNK: usize = 4 << 20;
const SMALL: usize = 32 << 10;
/// A size larger than the caches of most processors.
const ARRAY: usize = 64 << 20;
pub(super) const NEVER: i32 = 2;

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

    /// Compresses on both sides, and lets each side read the other's chunk.
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
        .clevel(Level::try_from(params.level)?)
        .typesize(params.typesize)
        .filters(Pipeline::from_slots(params.filters, [0; 6]))
        .blocksize((params.block_size > 0).then_some(params.block_size))
        .split(split)
        .threads(threads(params)))
}

fn threads(params: &Params) -> Threads {
    match NonZeroUsize::new(usize::from(params.threads)) {
        Some(n) if n.get() > 1 => Threads::N(n),
        _ => Threads::One,
    }
}

/// A measurement of one set.
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
            let levels: &[u8] = match (quick, threads, filter_name) {
                _ if !is_fast(codec) => &[5],
                (true, 2, "shuffle") => &[5, 9],
                (true, ..) => &[5],
                (false, ..) => &[1, 5, 9],
            };
            for &level in levels {
                all.extend(bench.sets.iter().enumerate().map(|(set, Set { typesize, .. })| Job {
                    setting: format!("{codec_name} {filter_name}"),
                    set,
                    params: Params {
                        codec,
                        level,
                        typesize: *typesize,
                        filters,
                        threads,
                        ..PARAMS
                    },
                }));
            }
        }
    }
    all
}

/// The jobs of the fast codecs in a short run.
fn fast_jobs(bench: &Bench) -> impl Iterator<Item = Job> + use<> {
    jobs(bench, true, 1).into_iter().filter(|job| is_fast(job.params.codec))
}

/// BloscLZ and LZ4.
pub(super) fn is_fast(codec: u8) -> bool {
    codec < 2
}

pub(crate) fn whole(bench: &mut Bench) -> Result<()> {
    for threads in [1, 2] {
        for job in jobs(bench, bench.quick, threads) {
            if threads == 1 || is_fast(job.params.codec) {
                whole_job(bench, "chunks", &job, [CHUNK, CHUNK])?;
            }
        }
    }
    Ok(())
}

pub(crate) fn small(bench: &mut Bench) -> Result<()> {
    fast_jobs(bench).try_for_each(|job| whole_job(bench, "small", &job, [SMALL, 16 * SMALL]))?;
    fast_jobs(bench)
        .filter(|job| job.setting.ends_with(" shuffle"))
        .try_for_each(|job| many_small(bench, job))
}

/// Super-chunks of such chunks in memory, written and read as a whole by two threads.
fn many_small(bench: &mut Bench, Job { setting, set, params }: Job) -> Result<()> {
    let params = Params { threads: 2, ..params };
    let Set { name, bytes, .. } = &bench.sets[set];
    let plain = bytes.clone();
    let case = format!("{name}, {} chunks", plain.len() / SMALL);
    let place = Place { group: "small", setting, case };
    let subject = |what| place.subject(what).threads(params.threads).nbytes(plain.len());
    let frame_params = FrameParams::new(ours(&params)?).chunksize(SMALL);
    let executor = Executor::from(threads(&params));
    let budget = Budget::default().threads(executor.clone());
    let options = CompressOptions::default().budget(budget);
    let compress = || -> Result<Vec<u8>> {
        let mut writer = FrameWriter::new(MemStore::default(), &frame_params)?;
        compress_slice(&plain, &mut writer, &options, |_| {})?;
        Ok(writer.finish()?.into_bytes())
    };
    let c = bench.c.clone();
    let c_compress = || -> Result<SuperChunk> {
        let mut schunk = c.create(None, &params)?;
        plain.chunks_exact(SMALL).try_for_each(|part| schunk.append(part))?;
        Ok(schunk)
    };
    bench.measure(subject("compress"), &mut || compress().map(drop), &mut || {
        c_compress().map(drop)
    })?;
    let (schunk, mut c_schunk) = (SChunk::from_cframe(compress()?)?, c_compress()?);
    let (mut dest, mut c_dest) = (vec![0; plain.len()], vec![0; plain.len()]);
    let nitems = (plain.len() / params.typesize) as u64;
    bench.measure(
        subject("decompress"),
        &mut || Ok(schunk.read_par(0..nitems, &mut dest, &executor)?),
        &mut || {
            let mut parts = (0..).zip(c_dest.chunks_mut(SMALL));
            parts.try_for_each(|(nchunk, dest)| c_schunk.decode(nchunk, dest).map(drop))
        },
    )?;
    if dest == plain && c_dest == plain { Ok(()) } else { fail("small: other bytes come back") }
}

/// Measures the first `total` bytes of a set in chunks of `nbytes`.
fn whole_job(
    bench: &mut Bench,
    group: &'static str,
    job: &Job,
    [nbytes, total]: [usize; 2],
) -> Result<()> {
    let Job { setting, set, params } = job;
    let case = format!("{} level {}", bench.sets[*set].name, params.level);
    let plain = bench.sets[*set].bytes[..total].to_vec();
    hot(bench, Place { group, setting: setting.clone(), case }, params, &plain, nbytes)
}

/// The row and column of a figure.
pub(super) struct Place {
    pub(super) group: &'static str,
    pub(super) setting: String,
    pub(super) case: String,
}

impl Place {
    fn subject(&self, what: &'static str) -> Subject {
        Subject::new(self.group, what, self.setting.as_str(), self.case.as_str())
    }
}

/// Measures the parts of `plain`, of `nbytes` each, one after another into a reused buffer.
///
/// The branch predictor would learn a single part, by chance better on one side. Both sides write
/// to the same buffer, as the cache sets that a buffer shares with the source depend on chance,
/// too.
pub(super) fn hot(
    bench: &mut Bench,
    place: Place,
    params: &Params,
    plain: &[u8],
    nbytes: usize,
) -> Result<()> {
    let mut sides = Sides::new(bench, params)?;
    let parts: Vec<&[u8]> = plain.chunks_exact(nbytes).collect();
    let chunks: Vec<_> = parts.iter().map(|part| sides.chunks(part)).collect::<Result<_>>()?;
    let [ours, theirs] =
        [chunks.iter().map(|c| c.0.len()).sum(), chunks.iter().map(|c| c.1.len()).sum()];
    let subject = |what| {
        let subject = place.subject(what).threads(params.threads);
        subject.nbytes(plain.len()).sizes(ours, theirs)
    };
    let dest = RefCell::new(vec![0; nbytes + 64]);
    let Sides { encoder, decoder, c_encoder, c_decoder } = &mut sides;
    bench.measure(
        subject("compress"),
        &mut || {
            let dest = &mut *dest.borrow_mut();
            Ok(parts.iter().try_for_each(|part| encoder.encode_into(part, dest).map(drop))?)
        },
        &mut || {
            let dest = &mut *dest.borrow_mut();
            parts.iter().try_for_each(|part| c_encoder.encode(part, dest).map(drop))
        },
    )?;
    // Both decode the reference's chunks.
    bench.measure(
        subject("decompress"),
        &mut || {
            let dest = &mut dest.borrow_mut()[..nbytes];
            Ok(chunks
                .iter()
                .try_for_each(|(_, chunk)| decoder.decode_into(chunk, dest).map(drop))?)
        },
        &mut || {
            let dest = &mut dest.borrow_mut()[..nbytes];
            chunks.iter().try_for_each(|(_, chunk)| c_decoder.decode(chunk, dest).map(drop))
        },
    )
}

/// Measures chunk after chunk, repeatedly if the set has fewer, into a destination larger than any
/// cache.
pub(crate) fn array(bench: &mut Bench) -> Result<()> {
    fast_jobs(bench).try_for_each(|job| large(bench, job))
}

fn large(bench: &mut Bench, Job { setting, set, params }: Job) -> Result<()> {
    let mut sides = Sides::new(bench, &params)?;
    let Set { name, bytes: plain, .. } = &bench.sets[set];
    let chunks: Vec<Vec<u8>> =
        plain.chunks(CHUNK).map(|part| Ok(sides.chunks(part)?.1)).collect::<Result<_>>()?;
    let nbytes = plain.len().max(ARRAY);
    let subject = Subject::new("array", "decompress", setting, *name).nbytes(nbytes);
    let (mut dest, mut c_dest) = (vec![0; nbytes], vec![0; nbytes]);
    let Sides { decoder, c_decoder, .. } = &mut sides;
    decoder.scratch().set_destination(Destination::for_nbytes(nbytes));
    bench.measure(
        subject,
        &mut || {
            for (chunk, dest) in chunks.iter().cycle().zip(dest.chunks_mut(CHUNK)) {
                decoder.decode_into(chunk, dest)?;
            }
            Ok(())
        },
        &mut || {
            let mut parts = chunks.iter().cycle().zip(c_dest.chunks_mut(CHUNK));
            parts.try_for_each(|(chunk, dest)| c_decoder.decode(chunk, dest).map(drop))
        },
    )
}

/// Chunks of any size by two threads, compared with one: both sides are this workspace.
pub(crate) fn own_threads(bench: &mut Bench) -> Result<()> {
    let jobs = fast_jobs(bench).filter(|job| job.setting.ends_with(" shuffle"));
    for Job { setting, set, params } in jobs {
        for kib in [16, 64, 256, 512, 1024, 4096] {
            let Set { name, bytes, .. } = &bench.sets[set];
            let plain = bytes[..kib << 10].to_vec();
            let (case, setting) = (format!("{name}, {kib} KiB"), setting.clone());
            let both = [Params { threads: 2, ..params }, Params { threads: 1, ..params }];
            own_chunk(bench, Place { group: "threads", setting, case }, &both, &plain)?;
        }
    }
    Ok(())
}

fn own_chunk(bench: &mut Bench, place: Place, both: &[Params; 2], plain: &[u8]) -> Result<()> {
    let [mut encoder, mut one_encoder] =
        [Encoder::new(ours(&both[0])?)?, Encoder::new(ours(&both[1])?)?];
    let [mut decoder, mut one_decoder] =
        both.each_ref().map(|params| Decoder::new(DParams::default().threads(threads(params))));
    let subject = |what| place.subject(what).threads(both[0].threads).nbytes(plain.len());
    let buffer = RefCell::new(vec![0; plain.len() + 64]);
    let run = |encoder: &mut Encoder| {
        Ok(encoder.encode_into(plain, &mut buffer.borrow_mut()).map(drop)?)
    };
    bench.measure(subject("compress"), &mut || run(&mut encoder), &mut || run(&mut one_encoder))?;
    let chunk = encoder.encode(plain)?;
    let run = |decoder: &mut Decoder| {
        let dest = &mut buffer.borrow_mut()[..plain.len()];
        Ok(decoder.decode_into(&chunk, dest).map(drop)?)
    };
    bench.measure(subject("decompress"), &mut || run(&mut decoder), &mut || run(&mut one_decoder))
}

/// Reads one item from the middle of each block in turn.
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
    let case = bench.sets[set].name;
    let subject = |what| Subject::new("items", what, setting.as_str(), case).nbytes(typesize);
    let (cold, same) = (subject("cold"), subject("same block"));
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
    for at in (0..nitems).step_by(nitems / 7) {
        Chunk::parse(&bytes)?.read_items(at..at + 1, &mut item, decoder.scratch())?;
        c_decoder.item(&bytes, at, &mut c_item)?;
        if item != c_item {
            return fail(different);
        }
    }
    let mut reader = ItemReader::new(Chunk::parse(&bytes)?, Scratch::default());
    bench.measure(
        same,
        &mut || Ok(reader.read_items(block / 2..block / 2 + 1, &mut item)?),
        &mut || c_decoder.item(&bytes, block / 2, &mut c_item).map(drop),
    )?;
    if item != c_item { fail(different) } else { Ok(()) }
}
