//! The sources of stored blocks: a chunk in memory, or the parts of a plan.

use core::ops::Range;

use crate::chunk::Chunk;
use crate::error::{Corrupt, Error, Result};
use crate::layout::{Layout, Split};
use crate::stream::Streams;

/// The stored bytes of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredBlock<'a> {
    /// From the size field of its first stream on. They may reach beyond the block unless decoding
    /// depends on its extent: see [`Extents::are_needed`].
    pub(crate) bytes: &'a [u8],
    /// Where they begin (bytes from the start of the chunk).
    pub(crate) at: usize,
}

impl<'a> StoredBlock<'a> {
    /// The streams, from the first on; not for VL-blocks, whose payload has no size field.
    #[inline]
    pub(crate) fn streams(self, layout: &Layout) -> Streams<'a> {
        Streams::new(self.bytes, self.at, layout.header.version() > 2)
    }
}

/// The stored bytes of the blocks of one chunk.
pub(crate) trait Blocks: Sync {
    /// The chunk's layout.
    fn layout(&self) -> &Layout;

    /// The chunk's dictionary.
    fn dict(&self) -> Option<&[u8]>;

    /// The stored bytes of a block.
    fn block(&self, nblock: usize) -> Result<StoredBlock<'_>>;
}

/// The blocks of a chunk in memory whose extents are not needed.
impl Blocks for Chunk<'_> {
    #[inline]
    fn layout(&self) -> &Layout {
        self.layout()
    }

    #[inline]
    fn dict(&self) -> Option<&[u8]> {
        self.dict()
    }

    #[inline]
    fn block(&self, nblock: usize) -> Result<StoredBlock<'_>> {
        let at = self.layout().block_start(self.bytes(), nblock)?;
        let bytes = self.bytes().get(at..self.layout().data_end()).unwrap_or_default();
        Ok(StoredBlock { bytes, at })
    }
}

/// The blocks of any chunk in memory.
#[derive(Clone, Debug)]
pub(crate) struct InMemory<'a> {
    chunk: Chunk<'a>,
    extents: Option<Extents>,
}

impl<'a> InMemory<'a> {
    pub(crate) fn new(chunk: Chunk<'a>) -> Result<Self> {
        let layout = chunk.layout();
        let start = |nblock| layout.block_start(chunk.bytes(), nblock);
        let extents =
            Extents::are_needed(layout).then(|| Extents::new(layout, start)).transpose()?;
        Ok(Self { chunk, extents })
    }
}

impl Blocks for InMemory<'_> {
    fn layout(&self) -> &Layout {
        self.chunk.layout()
    }

    fn dict(&self) -> Option<&[u8]> {
        self.chunk.dict()
    }

    fn block(&self, nblock: usize) -> Result<StoredBlock<'_>> {
        let Some(extents) = &self.extents else { return Blocks::block(&self.chunk, nblock) };
        let range = extents.range(nblock);
        let at = range.start;
        Ok(StoredBlock { bytes: self.chunk.bytes().get(range).unwrap_or_default(), at })
    }
}

/// The extent of each block: from its start to the next larger start or the end of the chunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extents(Vec<Range<u32>>);

impl Extents {
    /// Whether decoding depends on the ends of blocks. Otherwise the streams determine them.
    pub(crate) fn are_needed(layout: &Layout) -> bool {
        layout.header.is_vl() || layout.split == Split::ByExtent
    }

    /// Blocks may be stored in any order, except VL-blocks.
    pub(crate) fn new(layout: &Layout, start: impl Fn(usize) -> Result<usize>) -> Result<Self> {
        let starts = (0..layout.grid.nblocks).map(|nblock| start(nblock).map(field));
        let starts = starts.collect::<Result<Vec<u32>>>()?;
        let end = field(layout.data_end());
        if layout.header.is_vl() {
            check_order(layout, &starts, end)?;
        }
        let mut sorted = starts.clone();
        sorted.sort_unstable();
        let next =
            |start| sorted.get(sorted.partition_point(|&s| s <= start)).copied().unwrap_or(end);
        Ok(Self(starts.iter().map(|&start| start..next(start)).collect()))
    }

    /// The position of a block in the chunk (bytes).
    pub(crate) fn range(&self, nblock: usize) -> Range<usize> {
        self.0.get(nblock).map_or(0..0, |range| range.start as usize..range.end as usize)
    }
}

/// The payload of a VL-block has no size field, so the order of the blocks matters, and each needs
/// the size of its data and at least one byte.
fn check_order(layout: &Layout, starts: &[u32], end: u32) -> Result<()> {
    let ends = starts.iter().skip(1).chain([&end]);
    for (nblock, (&start, &end)) in starts.iter().zip(ends).enumerate() {
        if end.saturating_sub(start) <= 4 {
            let at = layout.header.header_len().saturating_add(nblock.saturating_mul(4));
            let what = Corrupt::VlSpan { nblock, start: start.into(), end: end.into() };
            return Err(Error::corrupt(at, what));
        }
    }
    Ok(())
}

/// An offset in a chunk, which has less than 2 GiB.
fn field(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}
