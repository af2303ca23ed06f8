//! From storage to decoded blocks of one chunk, reading no more than they need.
//!
//! ```text
//! whole:  most of the chunk is wanted, or it is short      1 request
//! parts:  header and block starts, then the blocks         2 requests, the second for several ranges
//! ```
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use core::ops::Range;

use blosc_chunk::{Chunk, ChunkHeader, ChunkIndex, IndexStep, Plan};

use crate::error::{Error, Result};
use crate::schunk::{Location, SChunk, Scratch};
use crate::source::Source;

/// A chunk this short (bytes) is read as a whole.
const SHORT: usize = 4 << 10;
/// Bytes between two wanted blocks that are read with them: cheaper than a further request.
const GAP: usize = 4 << 10;

/// Decodes `ranges` of a chunk's data, one behind the other, to `dest`. They ascend, and `dest` has as many bytes.
pub(super) fn decode_ranges(
    schunk: &SChunk,
    nchunk: u64,
    location: &Location,
    ranges: &[Range<usize>],
    dest: &mut [u8],
    scratch: &mut Scratch,
) -> Result<()> {
    let Location::Stored { source: file, at, header } = location else {
        return each(ranges, dest, |range, dest| schunk.decode_part(nchunk, location, range, dest, scratch));
    };
    let wrong = |source| Error::Chunk { nchunk, at: file.position(*at), source };
    if let Some((index, plans)) = parts(file, nchunk, *at, header, ranges)? {
        let positions: Vec<_> = positions(*at, &plans).collect();
        let mut parts = file.read_ranges(&positions)?.into_iter();
        let mut plans = plans.iter();
        return each(ranges, dest, |_, dest| {
            let Some(plan) = plans.next() else { return Ok(()) };
            let parts: Vec<_> = parts.by_ref().take(plan.ranges().len()).collect();
            index.decode(plan, &parts, dest, scratch.chunk_mut()).map_err(wrong)
        });
    }
    let (bytes, scratch) = scratch.both();
    file.read_reusing(*at, header.cbytes(), bytes)?;
    let chunk = Chunk::parse(bytes).map_err(wrong)?;
    each(ranges, dest, |range, dest| chunk.read_bytes(range, dest, scratch).map_err(wrong))
}

/// Where in its file the bytes are that [`decode_ranges`] reads of a chunk for these ranges of its data, header and block
/// starts aside.
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
    Ok(found.into_iter().map(|range| file.position(range.start)..file.position(range.end)).collect())
}

/// The parts of a chunk that hold these ranges of its data; `None` if the chunk should be read as a whole.
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
    let mut len = header.nblocks().saturating_mul(4).saturating_add(header.header_len()).min(cbytes);
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

/// Calls `f` with each range and the part of `dest` that is for it.
fn each(
    ranges: &[Range<usize>],
    mut dest: &mut [u8],
    mut f: impl FnMut(Range<usize>, &mut [u8]) -> Result<()>,
) -> Result<()> {
    for range in ranges {
        let (now, later) = dest.split_at_mut(range.len().min(dest.len()));
        f(range.clone(), now)?;
        dest = later;
    }
    Ok(())
}
