//! Finds chunks without an index: each chunk begins at the end of the previous one, or else at the
//! next position where a likely chunk decodes.

use core::ops::Range;
use std::collections::HashSet;

use blosc_chunk::{Chunk, ChunkHeader, DParams, Scratch};

use crate::error::Result;
use crate::header::MIN_LEN;
use crate::msgpack::BIN32;
use crate::source::Source;

/// Bytes that one search for a chunk reads.
const WINDOW_NBYTES: usize = 1 << 20;

/// The flags of a header of 32 bytes.
const EXTENDED: u8 = 0x05;

/// A part of the data section.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    /// A chunk that decodes.
    Chunk { at: u64, header: ChunkHeader },
    /// Bytes outside of chunks.
    Gap { at: u64, nbytes: u64 },
}

impl Found {
    pub(super) fn at(&self) -> u64 {
        match *self {
            Self::Chunk { at, .. } | Self::Gap { at, .. } => at,
        }
    }

    pub(super) fn chunk_header(&self) -> Option<&ChunkHeader> {
        match self {
            Self::Chunk { header, .. } => Some(header),
            Self::Gap { .. } => None,
        }
    }

    pub(super) fn chunk_at(&self) -> Option<u64> {
        self.chunk_header().map(|_| self.at())
    }

    pub(super) fn chunk_len(&self) -> Option<u64> {
        self.chunk_header().map(|header| header.cbytes() as u64)
    }
}

/// The common properties of the chunks, as far as they are known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Likely {
    pub typesize: Option<u32>,
    pub chunksize: Option<u32>,
}

impl Likely {
    /// The header of a chunk that has at most `room` bytes.
    fn parse(&self, bytes: &[u8], room: u64) -> Option<ChunkHeader> {
        // These two bytes rule out most positions.
        let (flags, typesize) = (*bytes.get(2)?, *bytes.get(3)?);
        // A chunk with items wider than 255 bytes has typesize 1.
        let expected = self.typesize.map(|typesize| u8::try_from(typesize).unwrap_or(1));
        if flags & EXTENDED != EXTENDED || expected.is_some_and(|expected| typesize != expected) {
            return None;
        }
        let header = ChunkHeader::parse(bytes).ok()?;
        let (nbytes, cbytes) = (header.nbytes() as u64, header.cbytes() as u64);
        let max = self.chunksize.map_or(u64::MAX, u64::from);
        let fits = nbytes > 0 && nbytes <= max && cbytes <= room && !header.is_lazy();
        fits.then_some(header)
    }
}

/// Finds the chunks in `range` of a frame.
pub(super) fn walk(
    source: &Source,
    range: Range<u64>,
    likely: &Likely,
    dparams: &DParams,
) -> Result<Vec<Found>> {
    let mut walk = Walk { source, end: range.end, likely, scratch: Scratch::new(dparams), dparams };
    let (mut found, mut at) = (vec![], range.start);
    while at < range.end {
        if let Some(header) = walk.chunk_at(at)? {
            found.push(Found::Chunk { at, header });
            at = at.saturating_add(header.cbytes() as u64);
            continue;
        }
        let next = walk.next_chunk(at.saturating_add(1))?.unwrap_or(range.end);
        found.push(Found::Gap { at, nbytes: next.saturating_sub(at) });
        at = next;
    }
    Ok(found)
}

struct Walk<'a> {
    source: &'a Source,
    end: u64,
    likely: &'a Likely,
    scratch: Scratch,
    dparams: &'a DParams,
}

impl Walk<'_> {
    /// The header of the chunk that begins here and decodes.
    fn chunk_at(&mut self, at: u64) -> Result<Option<ChunkHeader>> {
        let room = self.end.saturating_sub(at);
        let (head, len) = self.source.read_head::<{ ChunkHeader::MAX_LEN }>(at, room)?;
        match self.likely.parse(head.get(..len).unwrap_or_default(), room) {
            Some(header) if self.is_vlmeta(at, &header)? => Ok(None),
            Some(header) if self.decodes(at, &header)? => Ok(Some(header)),
            _ => Ok(None),
        }
    }

    /// Whether the length of this chunk stands before it, as before a vlmetalayer.
    fn is_vlmeta(&self, at: u64, header: &ChunkHeader) -> Result<bool> {
        let Some(before) = at.checked_sub(5) else { return Ok(false) };
        let (lead, _) = self.source.read_head::<5>(before, 5)?;
        let [marker, len @ ..] = lead;
        Ok(marker == BIN32 && u32::from_be_bytes(len) as usize == header.cbytes())
    }

    fn decodes(&mut self, at: u64, header: &ChunkHeader) -> Result<bool> {
        if header.nbytes() as u64 > self.dparams.limits.max_nbytes {
            return Ok(false);
        }
        let mut buffer = vec![];
        let bytes = self.source.read_chunk(at, header, &mut buffer)?;
        let Ok(chunk) = Chunk::parse(bytes) else { return Ok(false) };
        if header.special().is_some() {
            return Ok(true);
        }
        // A header that claims a large size is trusted only as far as its blocks exist.
        let mut data = vec![0; header.nbytes()];
        Ok(chunk.decode_into(&mut data, &mut self.scratch).is_ok())
    }

    /// Position of the next chunk, from `at` on.
    fn next_chunk(&mut self, mut at: u64) -> Result<Option<u64>> {
        while at < self.end {
            let room = self.end.saturating_sub(at);
            let len = usize::try_from(room).unwrap_or(usize::MAX).min(WINDOW_NBYTES);
            let window = self.source.read_vec(at, len)?;
            let last = if len as u64 == room { len } else { len.saturating_sub(32) };
            for n in 0..last {
                let room = room.saturating_sub(n as u64);
                let bytes = window.get(n..).unwrap_or_default();
                let bytes = bytes.get(..ChunkHeader::MAX_LEN).unwrap_or(bytes);
                let here = at.saturating_add(n as u64);
                if let Some(header) = self.likely.parse(bytes, room)
                    && self.decodes(here, &header)?
                {
                    return Ok(Some(here));
                }
            }
            at = at.saturating_add(last.max(1) as u64);
        }
        Ok(None)
    }
}

/// Removes the index from the chunks that were found, if it is among them: a chunk of numbers that
/// are the positions of the others, all moved by the length of the header. Returns that length too.
pub(super) fn take_index(
    source: &Source,
    found: &mut Vec<Found>,
    dparams: &DParams,
) -> Option<(u64, Vec<u64>)> {
    let last = found.iter().rposition(|piece| piece.chunk_header().is_some())?;
    let Some(Found::Chunk { at, header }) = found.get(last).copied() else { return None };
    if header.typesize() != 8 || header.nbytes() % 8 != 0 {
        return None;
    }
    let mut buffer = vec![];
    let bytes = source.read_chunk(at, &header, &mut buffer).ok()?;
    let mut data = vec![0; header.nbytes()];
    Chunk::parse(bytes).ok()?.decode_into(&mut data, &mut Scratch::new(dparams)).ok()?;
    let (numbers, _) = data.as_chunks::<8>();
    let table: Vec<u64> = numbers.iter().map(|number| u64::from_le_bytes(*number)).collect();
    let stored: HashSet<u64> = table.iter().copied().filter(|number| number >> 63 == 0).collect();
    let others: Vec<u64> = found.get(..last)?.iter().filter_map(Found::chunk_at).collect();
    let (first, end) = (*others.first()?, *others.last()?);
    let fits = |base: &u64| {
        others.iter().all(|at| at.checked_sub(*base).is_some_and(|at| stored.contains(&at)))
    };
    // If all chunks have one length, the numbers fit several lengths of the header. If the last
    // chunk was found, right before the index, it decides; otherwise the shortest header counts,
    // since headers are short.
    let ends_here = found.get(last.checked_sub(1)?).and_then(Found::chunk_at) == Some(end);
    let of_last = stored.iter().max().and_then(|number| end.checked_sub(*number));
    let base = of_last.filter(|base| ends_here && fits(base)).or_else(|| {
        let likely = stored.iter().filter_map(|number| first.checked_sub(*number));
        likely.filter(|base| *base >= MIN_LEN).filter(fits).min()
    })?;
    found.truncate(last);
    Some((base, table))
}
