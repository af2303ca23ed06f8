//! Announces reads to far storage: all bytes that a part of the data needs, over all its chunks, in
//! two batches.
//!
//! ```text
//!   1   short chunks as a whole; header and block starts of the others
//!         at positions from the index alone
//!   2   the blocks
//! ```
//!
//! Announcing reports no errors: reading a chunk will report them. Near storage ignores
//! announcements ([`ReadAt::prefetch_limit`](blosc_io::ReadAt::prefetch_limit)).

use core::ops::Range;
use core::slice::from_ref;
use std::sync::Arc;

use blosc_chunk::ChunkHeader;
use blosc_io::ReadAt;

use super::{Location, SChunk, Scratch};
use crate::error::Result;
use crate::header::{ChunkSize, FIXED_LEN, FrameHeader};
use crate::offsets::Offset;
use crate::source::Source;
use crate::sparse::file_name;

/// A chunk up to this size is announced as a whole (bytes): its blocks would take another round.
const MAX_WHOLE_NBYTES: u64 = 128 << 10;
/// Bytes announced at a chunk's start if the number of its blocks is unknown.
const HEAD_NBYTES: u64 = 2 << 10;
/// The longest dictionary of C-Blosc2 (bytes), which follows the block starts.
const MAX_DICT_NBYTES: u64 = 32 << 10;

/// Ranges of a chunk's data, which ascend.
#[derive(Clone, Debug)]
pub(crate) struct ChunkRanges {
    pub nchunk: u64,
    pub ranges: Vec<Range<usize>>,
}

impl ChunkRanges {
    fn nbytes(&self) -> u64 {
        self.ranges.iter().map(|range| range.len() as u64).sum()
    }
}

/// Announces header, metalayers, index and trailer of a frame that begins with `head`.
pub(super) fn announce_metadata(source: &Source, head: &[u8]) {
    let Ok(header) = FrameHeader::parse(head.get(..FIXED_LEN).unwrap_or(head)) else { return };
    let end = header.index_position()..header.frame_len();
    let parts = [0..u64::from(header.header_len()), end];
    let nbytes: u64 = parts.iter().map(|part| part.end.saturating_sub(part.start)).sum();
    if nbytes <= source.prefetch_limit() {
        source.prefetch(&parts.map(|part| source.position(part.start)..source.position(part.end)));
    }
}

/// The position of a stored chunk.
struct Place {
    store: Source,
    /// Position of its first byte in the store.
    at: u64,
    /// Bytes up to the next chunk, if known.
    room: Option<u64>,
}

impl SChunk {
    /// Bytes that may be announced at once; 0 for near storage: see [`ReadAt::prefetch_limit`].
    #[must_use]
    pub fn prefetch_limit(&self) -> u64 {
        match self.state.folder() {
            Some(folder) => folder.tree.prefetch_limit(),
            None => self.state.source().prefetch_limit(),
        }
    }

    /// Announces the bytes that reading these ranges of chunks needs. `blocksize` is the block size
    /// of the chunks, if the caller knows it better than the frame does (bytes).
    pub(crate) fn prefetch(&self, parts: &[ChunkRanges], blocksize: Option<u64>) {
        let longer = self.announce_heads(parts, blocksize);
        self.announce_blocks(&longer);
    }

    /// Announces the blocks of chunks whose block starts were announced before.
    pub(crate) fn announce_blocks(&self, parts: &[&ChunkRanges]) {
        let mut scratch = Scratch::default();
        let mut blocks: Vec<(Source, Vec<Range<u64>>)> = Vec::new();
        for part in parts {
            let Ok(Location::Stored { source, at, header }) = self.locate(part.nchunk) else {
                continue;
            };
            let reader = source.chunk_reader(at, &header, &mut scratch.bytes, 0);
            let Ok(needed) = reader.needs(&part.ranges) else { continue };
            match blocks.last_mut() {
                // Chunks share a store unless each has a file of its own.
                Some((_, ranges)) if self.state.folder().is_none() => ranges.extend(needed),
                _ => blocks.push((source, needed)),
            }
        }
        blocks.iter().for_each(|(source, ranges)| source.prefetch(ranges));
    }

    /// Announces short chunks, and the heads of longer ones. Returns the longer ones, whose blocks
    /// are still to be announced.
    pub(crate) fn announce_heads<'p>(
        &self,
        parts: &'p [ChunkRanges],
        blocksize: Option<u64>,
    ) -> Vec<&'p ChunkRanges> {
        let mut longer = Vec::new();
        let mut first: Vec<(Source, Vec<Range<u64>>)> = Vec::new();
        for part in parts.iter().filter(|part| !part.ranges.is_empty()) {
            let Some(Place { store, at, room }) = self.place_of(part.nchunk) else { continue };
            let is_whole = |room: u64| {
                let nbytes = self.nbytes_expected(part.nchunk);
                room <= MAX_WHOLE_NBYTES || nbytes.is_some_and(|all| part.nbytes() > all / 2)
            };
            let len = match room {
                Some(room) if is_whole(room) => room,
                room => {
                    longer.push(part);
                    self.head_nbytes(part.nchunk, blocksize).min(room.unwrap_or(u64::MAX))
                }
            };
            let range = at..at.saturating_add(len);
            match first.last_mut() {
                Some((_, ranges)) if self.state.folder().is_none() => ranges.push(range),
                _ => first.push((store, vec![range])),
            }
        }
        first.iter().for_each(|(source, ranges)| source.prefetch(ranges));
        longer
    }

    /// The largest number of bytes that reading a part fetches, if its chunk is as the frame says.
    pub(crate) fn stored_nbytes_at_most(&self, part: &ChunkRanges, blocksize: Option<u64>) -> u64 {
        let head = self.head_nbytes(part.nchunk, blocksize);
        let in_parts = part.nbytes().saturating_add(head);
        let extent = self.chunk_extent(part.nchunk);
        let whole = extent.map_or(u64::MAX, |extent| extent.end.saturating_sub(extent.start));
        match whole {
            ..=MAX_WHOLE_NBYTES => whole,
            _ => whole.min(in_parts),
        }
    }

    /// Announces whole chunks, as many as the storage takes at a time, and at least one. Returns
    /// the number of the first chunk that was not announced.
    pub(crate) fn prefetch_chunks(&self, nchunks: Range<u64>) -> u64 {
        let limit = self.prefetch_limit();
        if limit == 0 {
            return nchunks.end;
        }
        let (mut parts, mut nbytes) = (vec![], 0_u64);
        let mut next = nchunks.start;
        while next < nchunks.end {
            let len = self.nbytes_expected(next).unwrap_or(0);
            let all = 0..usize::try_from(len).unwrap_or(usize::MAX);
            let part = ChunkRanges { nchunk: next, ranges: vec![all] };
            nbytes = nbytes.saturating_add(self.stored_nbytes_at_most(&part, None));
            if nbytes > limit && !parts.is_empty() {
                break;
            }
            parts.push(part);
            next = next.saturating_add(1);
        }
        self.prefetch(&parts, None);
        next
    }

    /// Reads a range inside of the data, in batches of up to `limit` bytes; announces each batch
    /// before reading it.
    pub(super) fn read_announced(
        &self,
        start: u64,
        dest: &mut [u8],
        limit: u64,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let (mut at, mut dest) = (start, dest);
        while !dest.is_empty() {
            let (mut parts, mut nbytes, mut len) = (vec![], 0_u64, 0_usize);
            while len < dest.len() {
                let (nchunk, from) = self.chunk_at(at.saturating_add(len as u64))?;
                // With variable sizes, `chunk_at` has read the headers of all chunks.
                let end = self.chunk_nbytes(nchunk)?;
                let end = end.min(from.saturating_add(dest.len().saturating_sub(len)));
                let part = ChunkRanges { nchunk, ranges: from_ref(&(from..end)).to_vec() };
                nbytes = nbytes.saturating_add(self.stored_nbytes_at_most(&part, None));
                if (nbytes > limit && !parts.is_empty()) || end <= from {
                    break;
                }
                len = len.saturating_add(end.saturating_sub(from));
                parts.push(part);
            }
            self.prefetch(&parts, None);
            // An empty chunk within the data is an error of reading it.
            let len = if len == 0 { dest.len() } else { len };
            let (now, later) = dest.split_at_mut(len.min(dest.len()));
            self.read_bytes_now(at, now, scratch)?;
            at = at.saturating_add(now.len() as u64);
            dest = later;
        }
        Ok(())
    }

    /// Number of scattered items that may be announced at once.
    pub(super) fn items_within(&self, limit: u64) -> usize {
        let block = self.state.header().blocksize().map_or(HEAD_NBYTES, |size| size.get().into());
        let weight = block.saturating_mul(2).saturating_add(HEAD_NBYTES);
        let count = limit.checked_div(weight).unwrap_or(limit);
        usize::try_from(count).unwrap_or(usize::MAX).max(1)
    }

    /// Announces the items that begin at these bytes of the data, which ascend, and the bytes
    /// between items that are `near` each other.
    pub(super) fn prefetch_items(
        &self,
        starts: impl Iterator<Item = u64>,
        near: u64,
    ) -> Result<()> {
        let mut parts: Vec<ChunkRanges> = Vec::new();
        for at in starts {
            let (nchunk, from) = self.chunk_at(at)?;
            let end = from.saturating_add(self.typesize()).min(self.chunk_nbytes(nchunk)?);
            match parts.last_mut() {
                Some(part) if part.nchunk == nchunk => match part.ranges.last_mut() {
                    Some(last) if from.saturating_sub(last.end) as u64 <= near => last.end = end,
                    _ => part.ranges.push(from..end),
                },
                _ => parts.push(ChunkRanges { nchunk, ranges: from_ref(&(from..end)).to_vec() }),
            }
        }
        self.prefetch(&parts, None);
        Ok(())
    }

    /// Announces the headers of all chunks.
    pub(super) fn prefetch_headers(&self) {
        let limit = self.prefetch_limit();
        let all = self.nchunks().saturating_mul(ChunkHeader::MAX_LEN as u64);
        if limit == 0 || all > limit {
            return;
        }
        let mut ranges = Vec::new();
        for nchunk in 0..self.nchunks() {
            let Some(Place { store, at, room }) = self.place_of(nchunk) else { continue };
            let len = (ChunkHeader::MAX_LEN as u64).min(room.unwrap_or(u64::MAX));
            let range = at..at.saturating_add(len);
            match self.state.folder() {
                Some(_) => store.prefetch(&[range]),
                None => ranges.push(range),
            }
        }
        self.state.source().prefetch(&ranges);
    }

    /// The position of a chunk, without reading the chunk.
    fn place_of(&self, nchunk: u64) -> Option<Place> {
        let Some(folder) = self.state.folder() else {
            let at = self.stored_at(nchunk)?;
            let room = self.chunk_extent(nchunk).map(|extent| extent.end.saturating_sub(at));
            return Some(Place { store: self.state.source().clone(), at, room });
        };
        let Ok(Offset::Stored(id)) = self.offset_of(nchunk) else { return None };
        let file = folder.tree.open(&file_name(u32::try_from(id).ok()?)).ok()?;
        let room = file.len().ok();
        Some(Place { store: Source::new(Arc::from(file), 0), at: 0, room })
    }

    /// Bytes of a chunk up to its blocks.
    fn head_nbytes(&self, nchunk: u64, blocksize: Option<u64>) -> u64 {
        let header = self.state.header();
        let blocksize = blocksize.or_else(|| header.blocksize().map(|size| size.get().into()));
        let nbytes = self.nbytes_expected(nchunk);
        let starts = match (nbytes, blocksize.filter(|size| *size > 0)) {
            (Some(nbytes), Some(blocksize)) => nbytes.div_ceil(blocksize).saturating_mul(4),
            _ => HEAD_NBYTES,
        };
        let dict = if header.uses_dict() { MAX_DICT_NBYTES } else { 0 };
        starts.saturating_add(ChunkHeader::MAX_LEN as u64).saturating_add(dict)
    }

    /// Uncompressed size of a chunk, if it is known without reading the chunk (bytes).
    fn nbytes_expected(&self, nchunk: u64) -> Option<u64> {
        match self.chunksize() {
            ChunkSize::Fixed(_) => self.chunk_nbytes(nchunk).ok().map(|nbytes| nbytes as u64),
            ChunkSize::Variable | ChunkSize::Unset => {
                let starts = self.starts.get()?.as_ref().ok()?;
                let nchunk = usize::try_from(nchunk).ok()?;
                let (start, end) = (starts.get(nchunk)?, starts.get(nchunk.checked_add(1)?)?);
                end.checked_sub(*start)
            }
        }
    }
}
