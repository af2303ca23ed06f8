//! From storage to decoded blocks of one chunk, reading no more than they need.
//!
//! ```text
//! whole:  most of the chunk is wanted, or it is short      1 request
//! parts:  header and block starts, then the blocks         2 requests, the second for several ranges
//! ```
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use core::ops::Range;

use blosc_chunk::{Chunk, ChunkHeader, ChunkIndex, FilterId, IndexStep, Kind, Plan, SpecialKind};

use crate::error::{Error, Result};
use crate::schunk::{Location, SChunk, fill};
use crate::source::Source;

/// A chunk this short (bytes) is read as a whole.
const SHORT: usize = 4 << 10;
/// Bytes between two wanted blocks that are read with them: cheaper than a further request.
const GAP: usize = 4 << 10;

/// A chunk of which data are wanted, with what they need in memory.
#[derive(Debug)]
pub(super) struct Fetched<'a> {
    what: What<'a>,
    nchunk: u64,
    /// Position in the file, for errors.
    at: u64,
}

#[derive(Debug)]
enum What<'a> {
    /// A run that is not stored.
    Run(SpecialKind, usize),
    Whole(Chunk<'a>),
    /// Parts of the chunk, and which those are, by where they start.
    Parts(ChunkIndex, Vec<(Range<usize>, Vec<u8>)>),
}

/// Fetches what `ranges` of a chunk's data need. They ascend.
pub(super) fn fetch<'a>(
    schunk: &SChunk,
    nchunk: u64,
    location: &'a Location,
    ranges: &[Range<usize>],
    bytes: &'a mut Vec<u8>,
) -> Result<Fetched<'a>> {
    let (file, at, header) = match location {
        Location::Stored { source, at, header } => (source, *at, header),
        Location::Special { kind, .. } => {
            let at = schunk.index_position();
            return Ok(Fetched { what: What::Run(*kind, schunk.typesize()), nchunk, at });
        }
    };
    let position = file.position(at);
    let fetched = |what| Fetched { what, nchunk, at: position };
    if file.in_memory(at, header.cbytes()).is_none()
        && let Some((index, plans)) = parts(file, nchunk, at, header, ranges)?
    {
        let read = file.read_ranges(&positions(at, &plans).collect::<Vec<_>>())?;
        let mut parts: Vec<_> = plans.iter().flat_map(Plan::ranges).cloned().zip(read).collect();
        parts.sort_unstable_by_key(|(range, _)| range.start);
        return Ok(fetched(What::Parts(index, parts)));
    }
    let bytes = file.view(at, header.cbytes(), bytes)?;
    let chunk =
        Chunk::parse(bytes).map_err(|source| Error::Chunk { nchunk, at: position, source })?;
    Ok(fetched(What::Whole(chunk)))
}

impl Fetched<'_> {
    /// Whether reading blocks of `len` bytes one by one decodes nothing twice.
    pub(super) fn is_blockwise(&self, len: usize) -> bool {
        let header = match &self.what {
            What::Run(..) => return true,
            What::Whole(chunk) => chunk.header(),
            What::Parts(index, _) => index.header(),
        };
        match header.kind() {
            Kind::Regular => {
                // Chunks of Blosc1 do not say where blocks end, and delta refers to the first
                // block.
                let is_plain = header.version() > 2 && !header.pipeline().contains(FilterId::DELTA);
                is_plain
                    && header.blocksize() == len
                    && len.checked_rem(header.typesize()) == Some(0)
            }
            Kind::Vl => false,
            _ => true,
        }
    }

    /// Shows the planes of a block of `len` bytes, whose data begin with byte `start`, if it is in
    /// planes of items of `typesize` bytes, and of a whole chunk that was fetched; false if
    /// not.
    pub(super) fn show_planes(
        &self,
        (start, len): (usize, usize),
        typesize: usize,
        scratch: &mut blosc_chunk::Scratch,
        show: impl FnOnce(&[&[u8]]),
    ) -> Result<bool> {
        let What::Whole(chunk) = &self.what else { return Ok(false) };
        let header = chunk.header();
        // What is wrong with other chunks is left to reading them.
        let is_whole = header.blocksize() == len && start.saturating_add(len) <= header.nbytes();
        let Some(nblock) =
            start.checked_div(len).filter(|_| is_whole && header.typesize() == typesize)
        else {
            return Ok(false);
        };
        let (nchunk, at) = (self.nchunk, self.at);
        chunk.show_planes(nblock, scratch, show).map_err(|source| Error::Chunk {
            nchunk,
            at,
            source,
        })
    }

    /// Decodes data that were among those to be fetched; `dest` has as many bytes.
    pub(super) fn decode(
        &self,
        range: Range<usize>,
        dest: &mut [u8],
        scratch: &mut blosc_chunk::Scratch,
    ) -> Result<()> {
        let done = match &self.what {
            What::Run(kind, typesize) => fill(*kind, *typesize, range.start, dest),
            What::Whole(chunk) => chunk.read_bytes(range, dest, scratch),
            What::Parts(index, parts) => index.plan(range, 0).and_then(|plan| {
                let parts: Vec<&[u8]> =
                    plan.ranges().iter().map(|range| part(parts, range)).collect();
                index.decode(&plan, &parts, dest, scratch)
            }),
        };
        let (nchunk, at) = (self.nchunk, self.at);
        done.map_err(|source| Error::Chunk { nchunk, at, source })
    }
}

/// A range of a chunk, out of the parts that were fetched.
fn part<'a>(parts: &'a [(Range<usize>, Vec<u8>)], range: &Range<usize>) -> &'a [u8] {
    let before = parts.partition_point(|(part, _)| part.start <= range.start);
    // Parts may overlap: that of a run of blocks may have another run's in a gap.
    let mut before = parts.get(..before).unwrap_or_default().iter().rev();
    let bytes = before.find_map(|(part, bytes)| {
        bytes.get(range.start.checked_sub(part.start)?..range.end.checked_sub(part.start)?)
    });
    // If something is missing, the decoder says so.
    bytes.unwrap_or_default()
}

/// Where in its file the bytes are that [`decode_ranges`] reads of a chunk for these ranges of its
/// data, header and block starts aside.
pub(super) fn plan_ranges(
    nchunk: u64,
    location: &Location,
    ranges: &[Range<usize>],
) -> Result<Vec<Range<u64>>> {
    let Location::Stored { source: file, at, header } = location else { return Ok(vec![]) };
    let found: Vec<_> = match parts(file, nchunk, *at, header, ranges)? {
        Some((_, plans)) => positions(*at, &plans).collect(),
        None => core::iter::once(*at..at.saturating_add(header.cbytes() as u64)).collect(),
    };
    Ok(found
        .into_iter()
        .map(|range| file.position(range.start)..file.position(range.end))
        .collect())
}

/// The parts of a chunk that hold these ranges of its data; `None` if the chunk should be read as a
/// whole.
fn parts(
    file: &Source,
    nchunk: u64,
    at: u64,
    header: &ChunkHeader,
    ranges: &[Range<usize>],
) -> Result<Option<(ChunkIndex, Vec<Plan>)>> {
    let wanted: usize = ranges.iter().map(ExactSizeIterator::len).sum();
    if header.cbytes() <= SHORT || wanted > header.nbytes() / 2 {
        return Ok(None);
    }
    let index = read_index(file, nchunk, at, header)?;
    let plans = ranges.iter().map(|range| index.plan(range.clone(), GAP));
    let plans: Vec<Plan> = plans.collect::<Result<_, _>>().map_err(|source| Error::Chunk {
        nchunk,
        at: file.position(at),
        source,
    })?;
    let fetched: usize = plans.iter().flat_map(Plan::ranges).map(ExactSizeIterator::len).sum();
    Ok((fetched <= header.cbytes() / 2).then_some((index, plans)))
}

/// What the plans fetch, for a chunk at a position.
fn positions(at: u64, plans: &[Plan]) -> impl Iterator<Item = Range<u64>> {
    let absolute = move |range: &Range<usize>| {
        at.saturating_add(range.start as u64)..at.saturating_add(range.end as u64)
    };
    plans.iter().flat_map(Plan::ranges).map(absolute)
}

/// Header and block starts of a chunk, and its dictionary if there is one.
fn read_index(file: &Source, nchunk: u64, at: u64, header: &ChunkHeader) -> Result<ChunkIndex> {
    let cbytes = header.cbytes();
    let mut len =
        header.nblocks().saturating_mul(4).saturating_add(header.header_len()).min(cbytes);
    loop {
        let head = file.read_vec(at, len)?;
        let step = ChunkIndex::parse(&head);
        let source = match step {
            Ok(IndexStep::Ready(index)) => return Ok(index),
            Ok(IndexStep::Needs(needed)) if needed > len && needed <= cbytes => {
                len = needed;
                continue;
            }
            // A head that is longer than its chunk.
            Ok(IndexStep::Needs(end)) => blosc_chunk::Error::Range { start: 0, end, len: cbytes },
            Err(source) => source,
        };
        return Err(Error::Chunk { nchunk, at: file.position(at), source });
    }
}
