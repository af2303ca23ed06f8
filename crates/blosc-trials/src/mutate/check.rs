//! All operations of a reader on a chunk, and their allowed results.

use core::ops::Range;

use blosc_chunk::{
    Chunk, ChunkHeader, DParams, Decoder, Kind, Limits, Scratch, Target,
    partial::ChunkIndex,
    transcode::transcode_header,
    validate::{Depth, Note},
};
use blosc_container::chunk_reader::ChunkReader;
use blosc_io::MemStore;
use blosc_testdata::data::XorShift32;

use super::{ensure, pool::SHAPE};
use crate::{
    cases::{below, memory_for},
    failure::{Context, Result},
};

/// The most bytes of data in a chunk.
const MAX_NBYTES: usize = 1 << 18;

/// Bytes that decoders and tables of codecs need for any chunk.
const STATES: usize = 1 << 18;

/// The result of reading a chunk.
#[derive(Clone, Copy)]
pub(super) enum Outcome {
    /// It has data.
    Decoded,
    /// Its header and layout are valid, but its blocks are not.
    Damaged,
    /// It is no chunk.
    Refused,
}

/// Runs every operation, with two sets of parameters and new buffers for each chunk.
pub(super) struct Checker {
    params: [DParams; 2],
    peak: usize,
}

impl Checker {
    pub(super) fn new() -> Self {
        let params = DParams::default().limits(Limits::default().max_nbytes(MAX_NBYTES as u64));
        let shaped = params.clone().blockshape(Some(SHAPE.as_slice().into()));
        Self { params: [params, shaped.instrumented(true)], peak: 0 }
    }

    /// The most bytes that a chunk has needed so far.
    pub(super) fn peak(&self) -> usize {
        self.peak
    }

    pub(super) fn check(&mut self, bytes: &[u8], draw: &mut XorShift32) -> Result<Outcome> {
        let params = self.params[below(draw, 2)].clone();
        let whole = self.within_memory(bytes, || Decoder::new(params.clone()).decode(bytes))?;
        self.within_memory(bytes, || check_index(bytes, whole.as_deref().ok(), &params, draw))?
            .at("index")?;
        let Ok(chunk) = self.within_memory(bytes, || Chunk::parse(bytes))? else {
            ensure(whole.is_err(), || "decodes, but is no chunk".to_owned())?;
            return Ok(Outcome::Refused);
        };
        ensure(ChunkHeader::parse(bytes).as_ref() == Ok(chunk.header()), || {
            "two headers".to_owned()
        })?;
        self.within_memory(bytes, || check_chunk(&chunk, whole.as_deref().ok(), &params, draw))??;
        Ok(if whole.is_ok() { Outcome::Decoded } else { Outcome::Damaged })
    }

    /// The result of `read`, if it needs no more memory than the limits, the chunk and the codecs
    /// account for.
    pub(super) fn within_memory<T>(&mut self, bytes: &[u8], read: impl FnOnce() -> T) -> Result<T> {
        let (result, needed) = memory_for(read);
        self.peak = self.peak.max(needed);
        // The data, and a block before the filters; tables of blocks, some words for each entry.
        let allowed = 2 * MAX_NBYTES + 64 * bytes.len() + STATES;
        ensure(needed <= allowed, || format!("{needed} bytes of memory, {allowed} are enough"))?;
        Ok(result)
    }
}

fn check_chunk(
    chunk: &Chunk<'_>,
    whole: Option<&[u8]>,
    params: &DParams,
    draw: &mut XorShift32,
) -> Result<()> {
    let mut scratch = Scratch::new(params);
    for depth in [Depth::Header, Depth::Structure, Depth::Decode] {
        let report = chunk.validate(depth, &mut scratch);
        ensure(whole.is_none() || report.is_ok(), || {
            format!("decodes, but {depth:?}: {report:?}")
        })?;
    }
    check_part(chunk, whole, &mut scratch, draw).at("part")?;
    check_blocks(chunk, whole, &mut scratch, draw).at("blocks")?;
    check_transcoded(chunk, whole, params).at("transcoded")?;
    let Ok(vl) = chunk.as_vl() else { return Ok(()) };
    let mut found = Vec::new();
    for nblock in 0..vl.nblocks().min(100) {
        match vl.read(nblock, &mut scratch) {
            Ok(block) => found.extend(block),
            Err(error) if whole.is_some() => return Err(error).at(format!("block {nblock}")),
            Err(_) => return Ok(()),
        }
    }
    ensure(whole.is_none_or(|whole| whole.starts_with(&found)), || "other blocks".to_owned())
}

/// Checks that a part read alone is the same part of the whole.
fn check_part(
    chunk: &Chunk<'_>,
    whole: Option<&[u8]>,
    scratch: &mut Scratch,
    draw: &mut XorShift32,
) -> Result<()> {
    let range = range(chunk.header(), draw);
    let mut part = vec![0xAA; range.len()];
    let result = chunk.read_bytes(range.clone(), &mut part, scratch);
    let Some(whole) = whole else { return Ok(()) };
    result?;
    ensure(part == whole[range.clone()], || format!("bytes {range:?} are others"))
}

/// Checks single blocks, and all but some.
fn check_blocks(
    chunk: &Chunk<'_>,
    whole: Option<&[u8]>,
    scratch: &mut Scratch,
    draw: &mut XorShift32,
) -> Result<()> {
    if chunk.nblocks() == 0 || chunk.header().nbytes() > MAX_NBYTES {
        return Ok(());
    }
    let nblock = below(draw, chunk.nblocks());
    let block = chunk.block(nblock);
    let mut dest = vec![0xAA; chunk.header().nbytes()];
    let read = chunk.read_block(nblock, &mut dest, scratch);
    let Some(whole) = whole else {
        let _ = chunk.read_blocks(|i| i != nblock, &mut dest, scratch);
        return Ok(());
    };
    // If two block sizes are possible, a single block does not determine the right one.
    let is_ambiguous = chunk.header().kind() == Kind::Regular
        && chunk.header().blocksize() != whole.len()
        && chunk.blocksize() != Some(chunk.header().blocksize());
    if is_ambiguous {
        return Ok(());
    }
    block?;
    let data = chunk.block_data(nblock)?;
    ensure(dest[..read?] == whole[data.clone()], || format!("block {nblock} is another"))?;
    dest.fill(0xAA);
    chunk.read_blocks(|i| i != nblock, &mut dest, scratch)?;
    let mut expected = whole.to_vec();
    expected[data].fill(0xAA);
    ensure(dest == expected, || format!("all but block {nblock} are others"))
}

/// Checks that the chunk has the same data with another header.
fn check_transcoded(chunk: &Chunk<'_>, whole: Option<&[u8]>, params: &DParams) -> Result<()> {
    for target in [Target::Blosc1_3, Target::Blosc1_14, Target::Blosc2_0, Target::Blosc3_0] {
        let (Ok(bytes), Some(whole)) = (transcode_header(chunk.bytes(), target), whole) else {
            continue;
        };
        let found = Decoder::new(params.clone()).decode(&bytes).at(target)?;
        ensure(found == whole, || format!("{target}: other data"))?;
    }
    Ok(())
}

/// Checks a part whose bytes were fetched by a plan.
fn check_index(
    bytes: &[u8],
    whole: Option<&[u8]>,
    params: &DParams,
    draw: &mut XorShift32,
) -> Result<()> {
    let Some(index) = index(bytes) else {
        return ensure(whole.is_none(), || "no index".to_owned());
    };
    let range = range(index.header(), draw);
    let plan = index.plan(range.clone(), below(draw, 50))?;
    let parts: Option<Vec<&[u8]>> =
        plan.ranges().iter().map(|range| bytes.get(range.clone())).collect();
    let Some(parts) = parts else {
        return ensure(whole.is_none(), || "ranges outside the chunk".to_owned());
    };
    let mut part = vec![0xAA; range.len()];
    let result = index.decode(&plan, &parts, &mut part, &mut Scratch::new(params));
    let Some(whole) = whole else { return Ok(()) };
    // A block that reaches into the next one is complete only in memory.
    match result {
        Err(_) if overlaps(bytes) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(()) => ensure(part == whole[range.clone()], || format!("bytes {range:?} are others")),
    }
}

fn overlaps(bytes: &[u8]) -> bool {
    let report =
        Chunk::parse(bytes).map(|chunk| chunk.validate(Depth::Structure, &mut Scratch::default()));
    report.is_ok_and(|report| report.notes.iter().any(|note| matches!(note, Note::Overlap { .. })))
}

/// The index in the bytes, if any.
fn index(bytes: &[u8]) -> Option<ChunkIndex> {
    let (store, mut buffer) = (MemStore::new(bytes.to_vec()), Vec::new());
    let mut reader = ChunkReader::open(&store, 0, bytes.len() as u64, &mut buffer).ok()?;
    reader.index().ok()
}

/// A random range of the data.
fn range(header: &ChunkHeader, draw: &mut XorShift32) -> Range<usize> {
    let nbytes = header.nbytes();
    let start = below(draw, nbytes + 1);
    start..start + below(draw, (nbytes - start).min(1000) + 1)
}
