//! Reading a chunk from elsewhere, with the I/O left to the caller. C-Blosc2 has lazy chunks for
//! it, see [`LazyChunk`](crate::partial::LazyChunk).
//!
//! ```text
//!   first bytes --> ChunkIndex::parse --+--> Needs(n): read n bytes and try again
//!                                       +--> Ready(index)
//!   index.plan(range) --> plan.ranges() --> read them --> index.decode(plan, parts)
//! ```

use core::iter::once;
use core::ops::Range;

use blosc_filters::FilterId;

use crate::decode::{self, Scratch};
use crate::error::{Corrupt, Error, Result};
use crate::header::{ChunkHeader, Kind};
use crate::layout::{Layout, head_len};
use crate::memory;
use crate::params::{DParams, Registries};
use crate::source::{Blocks, Extents, StoredBlock};
use crate::special::{Special, SpecialKind, fill_special_from};

/// All of a chunk except its blocks: enough to locate the bytes of any data.
///
/// ```
/// use blosc_chunk::{CParams, Scratch, compress, partial::{ChunkIndex, IndexStep}};
///
/// let data: Vec<u8> = (0..500_000u32).flat_map(u32::to_le_bytes).collect();
/// // On a disk, or on another machine.
/// let stored = compress(&data, &CParams::default().typesize(4))?;
/// let read = |range: std::ops::Range<usize>| &stored[range];
///
/// let mut head = 32;
/// let index = loop {
///     match ChunkIndex::parse(read(0..head))? {
///         IndexStep::Ready(index) => break index,
///         IndexStep::Needs(len) => head = len,
///     }
/// };
/// let plan = index.plan(1_000_000..1_000_100, 0)?;
/// let parts: Vec<&[u8]> = plan.ranges().iter().cloned().map(read).collect();
/// assert!(parts.iter().map(|part| part.len()).sum::<usize>() < stored.len() / 4);
///
/// let mut dest = [0; 100];
/// index.decode(&plan, &parts, &mut dest, &mut Scratch::default())?;
/// assert_eq!(dest, data[1_000_000..1_000_100]);
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ChunkIndex {
    layout: Layout,
    /// The chunk up to its blocks, or with its value.
    head: Vec<u8>,
    extents: Extents,
}

/// Whether the given bytes suffice.
#[derive(Clone, Debug)]
pub enum IndexStep {
    /// They suffice.
    Ready(ChunkIndex),
    /// They do not suffice: this number of bytes is needed, from the start of the chunk on.
    Needs(usize),
}

/// The bytes of a chunk to read for a range of its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    range: Range<usize>,
    ranges: Vec<Range<usize>>,
}

impl Plan {
    /// The bytes to read, counted from the start of the chunk: ascending and disjoint, possibly
    /// none.
    #[must_use]
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// The bytes of the chunk's data that the plan covers.
    #[must_use]
    pub fn data(&self) -> Range<usize> {
        self.range.clone()
    }
}

impl ChunkIndex {
    /// Makes an index from the first bytes of a chunk. Begin with 32 bytes, or with the whole chunk
    /// if it is shorter; some kilobytes usually avoid a second step.
    ///
    /// # Errors
    ///
    /// As [`Chunk::parse`](crate::Chunk::parse), and [`Error::Corrupt`] if a block starts outside
    /// the chunk.
    pub fn parse(head: &[u8]) -> Result<IndexStep> {
        if head.len() < ChunkHeader::MIN_LEN {
            return Ok(IndexStep::Needs(ChunkHeader::MIN_LEN));
        }
        let header = match ChunkHeader::parse(head) {
            Err(Error::Corrupt { what: Corrupt::TooShort { needed, .. }, .. }) => {
                return Ok(IndexStep::Needs(needed));
            }
            other => other?,
        };
        if header.is_lazy() {
            return Err(Error::corrupt(0x1f, Corrupt::Lazy));
        }
        let is_value = header.special() == Some(SpecialKind::Value);
        let needed = if is_value { header.cbytes() } else { head_len(&header, head) };
        match head.get(..needed) {
            Some(head) => Self::new(header, head).map(IndexStep::Ready),
            None => Ok(IndexStep::Needs(needed)),
        }
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &ChunkHeader {
        &self.layout.header
    }

    /// Number of stored blocks.
    #[must_use]
    pub const fn nblocks(&self) -> usize {
        self.layout.grid.nblocks
    }

    /// Bytes of data in a block, as [`Chunk::blocksize`](crate::Chunk::blocksize).
    #[must_use]
    pub fn blocksize(&self) -> Option<usize> {
        (self.layout.kind == Kind::Regular).then_some(self.layout.grid.blocksize)
    }

    /// The position of a block in the chunk (bytes); empty beyond the last block.
    #[must_use]
    pub fn extent(&self, nblock: usize) -> Range<usize> {
        self.extents.range(nblock)
    }

    /// The bytes to read for a range of the data (bytes). Ranges with gaps of at most `merge_gap`
    /// bytes are merged.
    ///
    /// The sizes of VL-blocks are stored with the blocks, so all blocks of such a chunk are
    /// read.
    ///
    /// # Errors
    ///
    /// [`Error::Range`] if the range is not inside the data.
    pub fn plan(&self, range: Range<usize>, merge_gap: usize) -> Result<Plan> {
        let Range { start, end } = range;
        let len = self.header().nbytes();
        if start > end || end > len {
            return Err(Error::Range { start, end, len });
        }
        let in_body = |at: usize| self.header().header_len().saturating_add(at);
        let ranges = match self.header().kind() {
            _ if range.is_empty() => Vec::new(),
            Kind::Memcpyed => once(in_body(start)..in_body(end)).collect(),
            Kind::Vl => once(self.layout.data_start..self.layout.data_end()).collect(),
            Kind::Regular => self.merged(&range, merge_gap),
            Kind::Special(_) | Kind::Empty => Vec::new(),
        };
        Ok(Plan { range, ranges })
    }

    /// Decodes the data of a plan to the start of `dest`. `parts` are the bytes of
    /// [`Plan::ranges`], in their order.
    ///
    /// # Errors
    ///
    /// As [`Chunk::read_bytes`](crate::Chunk::read_bytes). [`Error::Range`] also if a part is
    /// missing or has another length than planned.
    pub fn decode<P: AsRef<[u8]> + Sync>(
        &self,
        plan: &Plan,
        parts: &[P],
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        check_parts(plan, parts)?;
        let (needed, room) = (plan.range.len(), dest.len());
        let dest = dest.get_mut(..needed).ok_or(Error::Dest { needed, room })?;
        let DParams { registries: Registries { simd, .. }, destination, .. } = *scratch.params();
        let stores = destination.stores(dest.len());
        match self.layout.kind {
            _ if dest.is_empty() => Ok(()),
            Kind::Special(kind) => {
                let (special, start) = (self.special(kind), plan.range.start);
                fill_special_from(special, self.header().typesize(), start, dest, (stores, simd))
            }
            Kind::Memcpyed => {
                stores.copy(simd, parts.first().map_or(&[], AsRef::as_ref), dest);
                Ok(())
            }
            _ => {
                let blocks = PlannedParts { index: self, ranges: &plan.ranges, parts };
                decode::read(&blocks, plan.range.clone(), dest, scratch)
            }
        }
    }

    /// Decodes fields of all items of the block that a plan covers, as
    /// [`Chunk::read_fields`](crate::Chunk::read_fields); false also if the plan does not cover a
    /// whole block. `parts` are the bytes of [`Plan::ranges`], in their order.
    ///
    /// # Errors
    ///
    /// As [`Chunk::read_fields`](crate::Chunk::read_fields), and as [`decode`](Self::decode) for
    /// wrong parts.
    pub fn read_fields<P: AsRef<[u8]> + Sync>(
        &self,
        plan: &Plan,
        parts: &[P],
        fields: &[Range<usize>],
        dests: &mut [&mut [u8]],
        scratch: &mut Scratch,
    ) -> Result<bool> {
        check_parts(plan, parts)?;
        let grid = &self.layout.grid;
        let nblock = plan.range.start.checked_div(grid.blocksize).unwrap_or(grid.nblocks);
        let is_block = nblock < grid.nblocks && grid.range(nblock) == plan.range;
        if self.layout.kind != Kind::Regular || !is_block {
            return Ok(false);
        }
        decode::check_fields(plan.range.len(), self.header().typesize(), fields, dests)?;
        let blocks = PlannedParts { index: self, ranges: &plan.ranges, parts };
        decode::read_fields(&blocks, nblock, fields, dests, scratch)
    }

    pub(crate) fn new(header: ChunkHeader, head: &[u8]) -> Result<Self> {
        let layout = Layout::parse(header, header.kind(), head)?;
        let extents = Extents::new(&layout, |nblock| layout.block_start(head, nblock))?;
        Ok(Self { layout, head: memory::copy(head)?, extents })
    }

    /// The bytes of the chunk up to its blocks.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    fn special(&self, kind: SpecialKind) -> Special<'_> {
        match kind {
            SpecialKind::Zeros => Special::Zeros,
            SpecialKind::Nans => Special::Nans,
            SpecialKind::Value => {
                Special::Value(self.head.get(ChunkHeader::MAX_LEN..).unwrap_or_default())
            }
            SpecialKind::Uninit => Special::Uninit,
        }
    }

    /// The extents of the blocks that contain these data, and of the first block if others refer to
    /// it.
    fn merged(&self, range: &Range<usize>, merge_gap: usize) -> Vec<Range<usize>> {
        let covering = self.layout.grid.covering(range);
        // If the block size is ambiguous, only the whole chunk decides it.
        let nblocks = if self.layout.literal().is_some() { 0..self.nblocks() } else { covering };
        let first = self.header().pipeline().contains(FilterId::DELTA).then_some(0);
        let mut extents: Vec<_> =
            first.into_iter().chain(nblocks).map(|nblock| self.extent(nblock)).collect();
        extents.sort_unstable_by_key(|extent| extent.start);
        let mut merged: Vec<Range<usize>> = Vec::new();
        for extent in extents {
            match merged.last_mut() {
                Some(last) if extent.start <= last.end.saturating_add(merge_gap) => {
                    last.end = last.end.max(extent.end);
                }
                _ => merged.push(extent),
            }
        }
        merged
    }
}

/// The blocks of a chunk; only the parts of a plan are in memory.
struct PlannedParts<'a, P> {
    index: &'a ChunkIndex,
    ranges: &'a [Range<usize>],
    parts: &'a [P],
}

impl<P: AsRef<[u8]> + Sync> Blocks for PlannedParts<'_, P> {
    fn layout(&self) -> &Layout {
        &self.index.layout
    }

    fn dict(&self) -> Option<&[u8]> {
        self.index.head.get(self.index.layout.dict()?)
    }

    fn block(&self, nblock: usize) -> Result<StoredBlock<'_>> {
        let extent = self.index.extent(nblock);
        let npart = self.ranges.partition_point(|range| range.end < extent.end);
        let bytes = self.ranges.get(npart).zip(self.parts.get(npart)).and_then(|(range, part)| {
            let start = extent.start.checked_sub(range.start)?;
            part.as_ref().get(start..extent.end.checked_sub(range.start)?)
        });
        let (end, len) = (nblock.saturating_add(1), self.index.nblocks());
        let missing = Error::Range { start: nblock, end, len };
        Ok(StoredBlock { bytes: bytes.ok_or(missing)?, at: extent.start })
    }
}

fn check_parts<P: AsRef<[u8]>>(plan: &Plan, parts: &[P]) -> Result<()> {
    let fits =
        plan.ranges.iter().zip(parts).all(|(range, part)| range.len() == part.as_ref().len());
    if fits && plan.ranges.len() == parts.len() {
        return Ok(());
    }
    let (start, end) = (0, plan.ranges.iter().map(Range::len).sum());
    Err(Error::Range { start, end, len: parts.iter().map(|part| part.as_ref().len()).sum() })
}
