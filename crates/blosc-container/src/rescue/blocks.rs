//! The blocks of a damaged chunk: their states, and the data of the ones that decode.
//!
//! ```text
//!   cbytes       differs from the length            the length counts
//!   bstarts      an entry outside of the chunk      that block is lost
//!   a block      does not decode, or is cut         that block is lost
//! ```

use core::ops::Range;

use blosc_chunk::error::Error;
use blosc_chunk::validate::{BlockReport, Depth, Note};
use blosc_chunk::{Chunk, ChunkHeader, Kind, Scratch};

use super::ChunkState;

/// The position of `nbytes` in a header.
const NBYTES: Range<usize> = 4..8;

/// The position of `blocksize`, which is the number of blocks in a VL-block chunk.
const NBLOCKS: Range<usize> = 8..12;

/// The position of `cbytes`.
const CBYTES: Range<usize> = 12..16;

/// Bytes of an entry of `bstarts`, and of the size field of a stream.
const FIELD_NBYTES: usize = 4;

/// The blocks of a chunk and their data.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    /// All data; a lost block has zeros.
    pub(super) data: Vec<u8>,
    /// The range of each block in the data, and its state. A chunk without blocks counts as one
    /// block; an uncompressed one has the blocks that compressing would make.
    pub(super) found: Vec<(Range<usize>, ChunkState)>,
    /// Whether the chunk has bytes that no block uses, which no writer leaves.
    pub(super) has_gaps: bool,
}

impl Blocks {
    pub(super) fn count(&self, state: ChunkState) -> usize {
        self.found.iter().filter(|(_, found)| *found == state).count()
    }

    fn new(ranges: impl Iterator<Item = Range<usize>>, state: ChunkState) -> Self {
        let found: Vec<_> = ranges.map(|range| (range, state)).collect();
        let nbytes = found.last().map_or(0, |(range, _)| range.end);
        Self { data: vec![0; nbytes], found, has_gaps: false }
    }

    /// All the data of a chunk, as one block or none.
    fn of_one(data: Vec<u8>, state: ChunkState) -> Self {
        let found = if data.is_empty() { vec![] } else { vec![(0..data.len(), state)] };
        Self { data, found, has_gaps: false }
    }

    fn set(&mut self, nblock: usize, state: ChunkState) {
        if let Some((_, found)) = self.found.get_mut(nblock) {
            *found = state;
        }
    }
}

/// Reads the readable blocks of the chunk in `bytes`, which has this header and no more bytes.
///
/// # Errors
///
/// Errors other than damage: an unknown codec or filter, a limit.
pub(super) fn read(
    bytes: &[u8],
    header: &ChunkHeader,
    scratch: &mut Scratch,
) -> Result<Blocks, Error> {
    let (nbytes, limit) = (header.nbytes() as u64, scratch.params().limits.max_nbytes);
    if nbytes > limit {
        return Err(Error::Limit { nbytes, limit });
    }
    match header.kind() {
        Kind::Regular => regular(bytes, header, scratch),
        Kind::Vl => vl(bytes, header, scratch),
        Kind::Memcpyed => Ok(memcpyed(bytes, header)),
        _ => {
            let mut data = vec![0; header.nbytes()];
            let decoded =
                Chunk::parse(bytes).and_then(|chunk| chunk.decode_into(&mut data, scratch));
            let state = decoded.map_or_else(lost_by, |_| Ok(ChunkState::Good))?;
            Ok(Blocks::of_one(data, state))
        }
    }
}

/// An unreadable part is lost, unless the error has another cause than damage.
fn lost_by(error: Error) -> Result<ChunkState, Error> {
    match cause(&error) {
        Error::UnknownCodec { .. } | Error::UnknownFilter { .. } | Error::Limit { .. } => {
            Err(error)
        }
        _ => Ok(ChunkState::Lost),
    }
}

fn cause(error: &Error) -> &Error {
    match error {
        Error::Block { source, .. } => cause(source),
        other => other,
    }
}

/// The part of uncompressed data that exists.
fn memcpyed(bytes: &[u8], header: &ChunkHeader) -> Blocks {
    let stored = bytes.get(header.header_len()..).unwrap_or_default();
    let mut blocks = Blocks::new(block_ranges(header), ChunkState::Good);
    let Blocks { data, found, .. } = &mut blocks;
    for (range, state) in found {
        match (stored.get(range.clone()), data.get_mut(range.clone())) {
            (Some(stored), Some(data)) => data.copy_from_slice(stored),
            _ => *state = ChunkState::Lost,
        }
    }
    blocks
}

fn regular(bytes: &[u8], header: &ChunkHeader, scratch: &mut Scratch) -> Result<Blocks, Error> {
    let all_lost = || Blocks::new(block_ranges(header), ChunkState::Lost);
    let Some((fixed, bad_starts)) = with_sound_starts(bytes, header) else {
        return Ok(all_lost());
    };
    let chunk = match Chunk::parse(&fixed) {
        Ok(chunk) => chunk,
        Err(error) => return lost_by(error).map(|_| all_lost()),
    };
    let report = chunk.validate(Depth::Decode, scratch);
    if let Some(error) = report.error {
        return lost_by(error).map(|_| all_lost());
    }
    let has_gaps = report.notes.iter().any(|note| matches!(note, Note::Gaps { .. }));
    let ranges = (0..chunk.nblocks()).map(|nblock| chunk.block_data(nblock));
    let ranges = ranges.collect::<Result<Vec<_>, _>>()?;
    let mut blocks = Blocks { has_gaps, ..Blocks::new(ranges.into_iter(), ChunkState::Good) };
    let sound = states_of(report.blocks, &bad_starts, &mut blocks)?;
    doubt_shared(sound, &mut blocks);
    let Blocks { data, found, .. } = &mut blocks;
    let is_read =
        |nblock: usize| found.get(nblock).is_some_and(|(_, state)| *state != ChunkState::Lost);
    // If the block size is ambiguous, decoding the whole chunk determines it.
    let read = chunk
        .read_blocks(is_read, data, scratch)
        .or_else(|_| chunk.decode_into(data, scratch).map(drop));
    match read {
        Ok(()) => Ok(blocks),
        Err(error) => lost_by(error).map(|_| all_lost()),
    }
}

/// Sets the states of the lost blocks, and returns the positions of the others in the chunk.
fn states_of(
    reports: Vec<BlockReport>,
    bad_starts: &[usize],
    blocks: &mut Blocks,
) -> Result<Vec<(Range<usize>, usize)>, Error> {
    let mut sound = vec![];
    for (nblock, block) in reports.into_iter().enumerate() {
        match block.error {
            _ if bad_starts.binary_search(&nblock).is_ok() => blocks.set(nblock, ChunkState::Lost),
            Some(error) => blocks.set(nblock, lost_by(error)?),
            None => {
                sound.push((block.offset..block.offset.saturating_add(block.cbytes), nblock));
            }
        }
    }
    Ok(sound)
}

/// No writer lets blocks share bytes: one of the two was read from the other's position.
fn doubt_shared(mut extents: Vec<(Range<usize>, usize)>, blocks: &mut Blocks) {
    extents.sort_unstable_by_key(|(extent, _)| extent.start);
    let pairs = extents.iter().zip(extents.iter().skip(1));
    for ((_, first), (_, second)) in pairs.filter(|((one, _), (next, _))| next.start < one.end) {
        blocks.set(*first, ChunkState::Doubtful);
        blocks.set(*second, ChunkState::Doubtful);
    }
}

/// The ranges of a chunk's blocks in the data, by its header.
fn block_ranges(header: &ChunkHeader) -> impl Iterator<Item = Range<usize>> + use<> {
    let (nbytes, step) = (header.nbytes(), header.blocksize().max(1));
    (0..nbytes).step_by(step).map(move |start| start..start.saturating_add(step).min(nbytes))
}

/// The chunk with the length that it has. `bstarts` entries that lead outside are replaced by a
/// valid one, and their numbers returned; `None` if no entry is valid.
fn with_sound_starts(bytes: &[u8], header: &ChunkHeader) -> Option<(Vec<u8>, Vec<usize>)> {
    let mut fixed = bytes.to_vec();
    write_field(&mut fixed, CBYTES, bytes.len())?;
    let starts_at = header.header_len();
    let first = starts_at.saturating_add(header.nblocks().checked_mul(FIELD_NBYTES)?);
    let last = bytes.len().checked_sub(FIELD_NBYTES)?;
    let starts: Vec<Option<usize>> = bytes
        .get(starts_at..first)?
        .chunks_exact(FIELD_NBYTES)
        .map(|entry| field(entry, 0).filter(|start| (first..=last).contains(start)))
        .collect();
    let sound = starts.iter().flatten().min().copied()?;
    let mut bad = vec![];
    for (nblock, _) in starts.iter().enumerate().filter(|(_, start)| start.is_none()) {
        let at = starts_at.saturating_add(nblock.saturating_mul(FIELD_NBYTES));
        write_field(&mut fixed, at..at.saturating_add(FIELD_NBYTES), sound)?;
        bad.push(nblock);
    }
    Some((fixed, bad))
}

/// The data of a VL-block, or the stated size of a lost one.
type VlBlock = Result<Vec<u8>, Option<usize>>;

/// Reads blocks of individual sizes, each of which states its own.
fn vl(bytes: &[u8], header: &ChunkHeader, scratch: &mut Scratch) -> Result<Blocks, Error> {
    let Some((fixed, bad_starts)) = with_sound_starts(bytes, header) else {
        return Ok(Blocks::of_one(vec![0; header.nbytes()], ChunkState::Lost));
    };
    let (starts_at, nblocks) = (header.header_len(), header.nblocks());
    let at = |nblock: usize| starts_at.saturating_add(nblock.saturating_mul(FIELD_NBYTES));
    let start = |nblock: usize| {
        let is_sound = bad_starts.binary_search(&nblock).is_err();
        field(&fixed, at(nblock)).filter(|_| is_sound)
    };
    let first = (0..nblocks).filter_map(start).min().unwrap_or(fixed.len());
    let dict = fixed.get(at(nblocks)..first).unwrap_or_default();
    let mut next = fixed.len();
    let mut blocks: Vec<VlBlock> = vec![];
    for nblock in (0..nblocks).rev() {
        let stored = start(nblock).and_then(|start| fixed.get(start..next)).unwrap_or_default();
        next = start(nblock).unwrap_or(next);
        let possible = 1..=header.nbytes();
        blocks.push(match field(stored, 0).filter(|nbytes| possible.contains(nbytes)) {
            None => Err(None),
            Some(nbytes) => match read_alone(header, nbytes, dict, stored, scratch) {
                Ok(data) => Ok(data),
                Err(error) => lost_by(error).map(|_| Err(Some(nbytes)))?,
            },
        });
    }
    blocks.reverse();
    Ok(placed(header, blocks))
}

/// Decodes a VL-block, which does not depend on the others, as the only one of a chunk.
fn read_alone(
    header: &ChunkHeader,
    nbytes: usize,
    dict: &[u8],
    stored: &[u8],
    scratch: &mut Scratch,
) -> Result<Vec<u8>, Error> {
    let mut alone = header.to_bytes();
    let start = alone.len().saturating_add(FIELD_NBYTES).saturating_add(dict.len());
    alone.extend(u32::try_from(start).unwrap_or(u32::MAX).to_le_bytes());
    alone.extend_from_slice(dict);
    alone.extend_from_slice(stored);
    let len = alone.len();
    for (range, number) in [(NBYTES, nbytes), (NBLOCKS, 1), (CBYTES, len)] {
        let _is_there = write_field(&mut alone, range, number);
    }
    Chunk::parse(&alone)?.as_vl()?.read(0, scratch)
}

/// Puts VL-blocks one after the other. A lost one has its stated size if all sizes together fit the
/// chunk. If it is the only lost one, it has the size that the others leave. Otherwise one item
/// takes its place.
fn placed(header: &ChunkHeader, read: Vec<VlBlock>) -> Blocks {
    let sum = |sizes: &mut dyn Iterator<Item = usize>| sizes.fold(0usize, usize::saturating_add);
    let known = sum(&mut read.iter().flatten().map(Vec::len));
    let left = header.nbytes().saturating_sub(known);
    let lost: Vec<Option<usize>> =
        read.iter().filter_map(|block| block.as_ref().err()).copied().collect();
    let is_only = lost.len() == 1 && left > 0;
    let stated: Option<Vec<usize>> = lost.into_iter().collect();
    let is_stated = stated.is_some_and(|sizes| sum(&mut sizes.into_iter()) == left);
    let mut blocks = Blocks::default();
    for block in read {
        let start = blocks.data.len();
        let state = match block {
            Ok(data) => {
                blocks.data.extend(data);
                ChunkState::Good
            }
            Err(stated) => {
                let nbytes = match stated {
                    Some(nbytes) if is_stated => nbytes,
                    _ if is_only => left,
                    _ => header.typesize(),
                };
                blocks.data.resize(start.saturating_add(nbytes), 0);
                ChunkState::Lost
            }
        };
        blocks.found.push((start..blocks.data.len(), state));
    }
    blocks
}

/// The 32-bit number at `at`; `None` if it is negative or cut.
fn field(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    usize::try_from(i32::from_le_bytes(*bytes)).ok()
}

fn write_field(bytes: &mut [u8], range: Range<usize>, number: usize) -> Option<()> {
    let number = i32::try_from(number).ok()?;
    bytes.get_mut(range)?.copy_from_slice(&number.to_le_bytes());
    Some(())
}
