//! A chunk in memory.

pub mod block;
mod vl;

use core::ops::Range;

use blosc_filters::internal::StoreHint;

use crate::decode::{self, Map, Scratch, Wanted};
use crate::error::{Corrupt, Error, Result, Unsupported};
use crate::header::{ChunkHeader, Kind, too_short};
use crate::hooks::Postfilter;
use crate::layout::{Grid, Layout};
use crate::params::{DParams, Registries};
use crate::source::{Extents, InMemory};
use crate::special::{Special, SpecialKind, fill_special_from};

use block::BlockRef;
use vl::VlChunk;

/// A chunk whose header and layout are checked, borrowed from its bytes.
///
/// ```
/// use blosc_chunk::{CParams, Chunk, Scratch, compress};
///
/// let data = b"what a long text this is not ".repeat(1000);
/// let bytes = compress(&data, &CParams::default().typesize(1))?;
/// let chunk = Chunk::parse(&bytes)?;
/// assert_eq!(chunk.header().nbytes(), data.len());
///
/// let mut part = [0; 4];
/// chunk.read_bytes(29_007 - 29..29_011 - 29, &mut part, &mut Scratch::default())?;
/// assert_eq!(&part, b"long");
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// Exactly `cbytes` long.
    bytes: &'a [u8],
    layout: Layout,
}

impl<'a> Chunk<'a> {
    /// Takes the chunk at the start of `bytes`. Bytes after it are ignored.
    ///
    /// The cost does not depend on the size of the data: block starts and streams are checked when
    /// they are used, or by [`validate`](Self::validate).
    ///
    /// # Errors
    ///
    /// As [`ChunkHeader::parse`], and [`Error::Corrupt`] if the chunk is incomplete or lazy, or if
    /// its block starts or dictionary do not fit.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let kind = ChunkHeader::check(bytes)?;
        let Some(header) = ChunkHeader::load(bytes) else { return Err(too_short(bytes)) };
        match bytes.get(..header.cbytes()) {
            Some(bytes) if !matches!(kind, Kind::Regular | Kind::Vl) && !header.is_lazy() => {
                Ok(Self { bytes, layout: Layout::without_blocks(header, kind) })
            }
            _ => Self::parse_body(bytes, header, kind),
        }
    }

    #[inline(never)]
    fn parse_body(bytes: &'a [u8], header: ChunkHeader, kind: Kind) -> Result<Self> {
        // The chunk is made once and checked by reference: moving recently written fields takes
        // longer than most of the checks.
        let mut parsed = Ok(Self { bytes, layout: Layout::without_blocks(header, kind) });
        if let Ok(chunk) = &mut parsed
            && let Err(error) = chunk.check_body()
        {
            parsed = Err(error);
        }
        parsed
    }

    /// Checks the body, and finds the blocks.
    #[inline]
    fn check_body(&mut self) -> Result<()> {
        let (cbytes, len) = (self.header().cbytes(), self.bytes.len());
        let truncated = || Error::corrupt(0xc, Corrupt::Truncated { cbytes, len });
        self.bytes = self.bytes.get(..cbytes).ok_or_else(truncated)?;
        if self.header().is_lazy() {
            return Err(Error::corrupt(0x1f, Corrupt::Lazy));
        }
        self.layout.find_blocks(self.bytes)
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &ChunkHeader {
        &self.layout.header
    }

    /// The bytes of the chunk, header included.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The run, if the chunk is one.
    #[must_use]
    pub fn special(&self) -> Option<Special<'a>> {
        match self.layout.kind {
            Kind::Special(kind) => Some(self.special_of(kind)),
            _ => None,
        }
    }

    /// Number of stored blocks: 0 if the chunk is memcpyed, special or empty.
    #[must_use]
    pub const fn nblocks(&self) -> usize {
        self.layout.grid.nblocks
    }

    /// Bytes of data in a block; the last block may have less. `None` if the chunk has no blocks,
    /// or blocks of individual sizes.
    ///
    /// This is the size in the header, except in some chunks of C-Blosc2 3.x, which stored another
    /// size than it used.
    #[must_use]
    pub fn blocksize(&self) -> Option<usize> {
        (self.layout.kind == Kind::Regular).then_some(self.layout.grid.blocksize)
    }

    /// The dictionary.
    #[must_use]
    pub fn dict(&self) -> Option<&'a [u8]> {
        self.bytes.get(self.layout.dict()?)
    }

    /// A block and its streams, not decoded.
    ///
    /// # Errors
    ///
    /// [`Error::Range`] if there is no such block, [`Error::Corrupt`] if it does not start inside
    /// the chunk.
    pub fn block(&self, nblock: usize) -> Result<BlockRef> {
        BlockRef::find(self, nblock)
    }

    /// All blocks and their streams in order, not decoded: the same as [`block`](Self::block) for
    /// each, without a pass over the block starts each time.
    ///
    /// ```
    /// use blosc_chunk::{CParams, Chunk, compress};
    ///
    /// let data: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
    /// let bytes = compress(&data, &CParams::default().typesize(4).blocksize(Some(1 << 16)))?;
    /// for block in Chunk::parse(&bytes)?.blocks()? {
    ///     let block = block?;
    ///     assert!(block.offset() + block.cbytes() <= bytes.len());
    /// }
    /// # Ok::<(), blosc_chunk::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the block starts contradict each other; each block then has its own
    /// error.
    pub fn blocks(&self) -> Result<impl Iterator<Item = Result<BlockRef>> + use<'a>> {
        BlockRef::all(*self)
    }

    /// The blocks of a VL-block chunk, for reading one by one.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the chunk is of another kind, [`Error::Corrupt`] if the sizes of
    /// the blocks do not fit the data.
    pub fn as_vl(&self) -> Result<VlChunk<'a>> {
        match self.layout.kind {
            Kind::Vl => VlChunk::new(InMemory::new(*self)?),
            _ => Err(Error::Unsupported(Unsupported::NotVl)),
        }
    }

    /// Decodes all data to the start of `dest` and returns their number of bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Dest`] if `dest` is too small; otherwise as [`read_bytes`](Self::read_bytes).
    pub fn decode_into(&self, dest: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        let nbytes = self.header().nbytes();
        scratch.params().limits.check(self.header())?;
        self.read_bytes(0..nbytes, dest, scratch)?;
        Ok(nbytes)
    }

    /// Decodes the items `items` to the start of `dest`. An item has
    /// [`typesize`](ChunkHeader::typesize) bytes; a cut item at the end of the data can only be
    /// read by [`read_bytes`](Self::read_bytes).
    ///
    /// # Errors
    ///
    /// As [`read_bytes`](Self::read_bytes).
    pub fn read_items(
        &self,
        items: Range<usize>,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let bytes = self.items(items)?;
        self.read_bytes(bytes, dest, scratch)
    }

    /// Decodes the bytes `range` of the data to the start of `dest`. Only the blocks that contain
    /// them are decoded, often only up to the end of the range, and the first block if there is a
    /// delta filter. Damage elsewhere goes unnoticed.
    ///
    /// # Errors
    ///
    /// [`Error::Range`] or [`Error::Dest`] if the range or `dest` does not fit, [`Error::Limit`] if
    /// a block is larger than the limit, and otherwise the error of a damaged block; `dest` then
    /// holds anything.
    pub fn read_bytes(
        &self,
        range: Range<usize>,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.read(range, dest, scratch)
    }

    /// As [`read_bytes`](Self::read_bytes), with a postfilter that changes the data. Each block
    /// that contains some of the bytes is decoded whole.
    ///
    /// # Errors
    ///
    /// As [`read_bytes`](Self::read_bytes), and [`Error::Hook`] if the postfilter fails.
    pub fn read_bytes_with(
        &self,
        range: Range<usize>,
        dest: &mut [u8],
        scratch: &mut Scratch,
        postfilter: &dyn Postfilter,
    ) -> Result<()> {
        let dest = self.dest_for(&range, dest)?;
        let header = self.header();
        let grid = Grid::new(header.nbytes(), header.blocksize());
        let simd = scratch.params().registries.simd;
        match self.layout.kind {
            _ if dest.is_empty() => Ok(()),
            Kind::Special(kind) => {
                let (special, typesize) = (self.special_of(kind), header.typesize());
                let stores = (StoreHint::Cached, simd);
                decode::write_hooked(grid, range, dest, scratch, postfilter, |range, block| {
                    fill_special_from(special, typesize, range.start, block, stores)
                })
            }
            Kind::Memcpyed => {
                let body = self.body();
                decode::write_hooked(grid, range, dest, scratch, postfilter, |range, block| {
                    block.copy_from_slice(body.get(range).unwrap_or_default());
                    Ok(())
                })
            }
            _ => {
                let (source, wanted) = (InMemory::new(*self)?, Wanted { range, chosen: None });
                decode::read_hooked(&source, &wanted, dest, scratch, postfilter)
            }
        }
    }

    /// Decodes one block to the start of `dest` and returns its number of bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the chunk has no blocks, [`Error::Range`] if it has no such block,
    /// and otherwise as [`read_bytes`](Self::read_bytes).
    pub fn read_block(
        &self,
        nblock: usize,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<usize> {
        let data = self.block_data(nblock)?;
        let nbytes = data.len();
        self.read_bytes(data, dest, scratch)?;
        Ok(nbytes)
    }

    /// Decodes one block without undoing its shuffle, and passes the planes to `show`, each of
    /// which has a byte of every item: for callers that assemble the items themselves.
    ///
    /// Returns false without a call of `show` if shuffle is not the only filter of the block, if
    /// the block does not consist of whole items, or if several threads decode it.
    ///
    /// # Errors
    ///
    /// As [`read_block`](Self::read_block).
    #[doc(hidden)]
    pub fn show_planes(
        &self,
        nblock: usize,
        scratch: &mut Scratch,
        show: impl FnOnce(&[&[u8]]),
    ) -> Result<bool> {
        if self.layout.kind != Kind::Regular || Extents::are_needed(&self.layout) {
            return Ok(false);
        }
        self.check_nblock(nblock)?;
        decode::show_planes(self, nblock, scratch, show)
    }

    /// Decodes only some fields of the items of one block: the bytes of a field of each item go to
    /// the destination of that field, which has space for the fields of all items. Streams without
    /// a byte of a field are skipped.
    ///
    /// Returns false, with any content in the destinations, if shuffle is not the only filter of
    /// the block or the block does not consist of whole items: the caller then takes the fields
    /// from [`read_block`](Self::read_block).
    ///
    /// # Errors
    ///
    /// [`Error::Range`] if a field is not within an item, [`Error::Dest`] if a destination has
    /// another length, and otherwise as [`read_block`](Self::read_block).
    pub fn read_fields(
        &self,
        nblock: usize,
        fields: &[Range<usize>],
        dests: &mut [&mut [u8]],
        scratch: &mut Scratch,
    ) -> Result<bool> {
        if self.layout.kind != Kind::Regular || Extents::are_needed(&self.layout) {
            return Ok(false);
        }
        let nbytes = self.block_data(nblock)?.len();
        decode::check_fields(nbytes, self.header().typesize(), fields, dests)?;
        decode::read_fields(self, nblock, fields, dests, scratch)
    }

    /// Decodes the blocks for which `chosen` is true, each to its offset in `dest`, which has space
    /// for all data. The bytes of the other blocks do not change.
    ///
    /// # Errors
    ///
    /// As [`read_block`](Self::read_block).
    pub fn read_blocks(
        &self,
        chosen: impl Fn(usize) -> bool + Sync,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let (source, dest) = self.whole(dest)?;
        let wanted = Wanted { range: 0..dest.len(), chosen: Some(&chosen) };
        decode::read_by(&source, &Map::new(&source)?, &wanted, dest, scratch)
    }

    /// As [`read_blocks`](Self::read_blocks), with a postfilter that changes the data. The
    /// postfilter gets only the chosen blocks.
    ///
    /// # Errors
    ///
    /// As [`read_blocks`](Self::read_blocks), and [`Error::Hook`] if the postfilter fails.
    pub fn read_blocks_with(
        &self,
        chosen: impl Fn(usize) -> bool + Sync,
        dest: &mut [u8],
        scratch: &mut Scratch,
        postfilter: &dyn Postfilter,
    ) -> Result<()> {
        let (source, dest) = self.whole(dest)?;
        let wanted = Wanted { range: 0..dest.len(), chosen: Some(&chosen) };
        decode::read_hooked(&source, &wanted, dest, scratch, postfilter)
    }

    /// The blocks, if there are any, and the space for all data.
    fn whole<'d>(&self, dest: &'d mut [u8]) -> Result<(InMemory<'a>, &'d mut [u8])> {
        if self.nblocks() == 0 {
            return Err(Error::Unsupported(Unsupported::NoBlocks));
        }
        let dest = self.dest_for(&(0..self.header().nbytes()), dest)?;
        Ok((InMemory::new(*self)?, dest))
    }

    /// The bytes of the data that a block contains.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the chunk has no blocks, [`Error::Range`] if it has no such block,
    /// and [`Error::Corrupt`] if the sizes of VL-blocks do not fit the data.
    pub fn block_data(&self, nblock: usize) -> Result<Range<usize>> {
        self.check_nblock(nblock)?;
        match self.layout.kind {
            Kind::Vl => Ok(Map::new(&InMemory::new(*self)?)?.range(nblock)),
            _ => Ok(self.layout.grid.range(nblock)),
        }
    }

    /// Items as bytes of the data.
    pub(crate) fn items(&self, items: Range<usize>) -> Result<Range<usize>> {
        let typesize = self.header().typesize();
        let Range { start, end } = items;
        let nbytes = self.header().nbytes();
        let bytes = start.checked_mul(typesize).zip(end.checked_mul(typesize));
        let (start, end) = bytes.filter(|&(_, end)| end <= nbytes).ok_or_else(|| Error::Range {
            start,
            end,
            len: nbytes.checked_div(typesize).unwrap_or(0),
        })?;
        Ok(start..end)
    }

    pub(crate) const fn layout(&self) -> &Layout {
        &self.layout
    }

    fn special_of(&self, kind: SpecialKind) -> Special<'a> {
        match kind {
            SpecialKind::Zeros => Special::Zeros,
            SpecialKind::Nans => Special::Nans,
            SpecialKind::Value => Special::Value(self.body()),
            SpecialKind::Uninit => Special::Uninit,
        }
    }

    /// The bytes after the header.
    fn body(&self) -> &'a [u8] {
        self.bytes.get(self.header().header_len()..).unwrap_or_default()
    }

    fn dest_for<'d>(&self, range: &Range<usize>, dest: &'d mut [u8]) -> Result<&'d mut [u8]> {
        let (start, end, len) = (range.start, range.end, self.header().nbytes());
        let Some(needed) = end.checked_sub(start).filter(|_| end <= len) else {
            return Err(Error::Range { start, end, len });
        };
        let room = dest.len();
        // The error is made only if it is needed, which keeps small reads short.
        match dest.get_mut(..needed) {
            Some(dest) => Ok(dest),
            None => Err(Error::Dest { needed, room }),
        }
    }

    fn check_nblock(&self, nblock: usize) -> Result<()> {
        match self.nblocks() {
            0 => Err(Error::Unsupported(Unsupported::NoBlocks)),
            len if nblock >= len => {
                Err(Error::Range { start: nblock, end: nblock.saturating_add(1), len })
            }
            _ => Ok(()),
        }
    }

    /// Writes the data of a run from byte `start` on. Out of line: reads of blocks and of stored
    /// data then keep the registers that it needs.
    #[inline(never)]
    fn fill_special(
        &self,
        kind: SpecialKind,
        start: usize,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let DParams { registries: Registries { simd, .. }, destination, .. } = *scratch.params();
        let stores = destination.stores(dest.len());
        let (special, typesize) = (self.special_of(kind), self.header().typesize());
        decode::write_parts(dest, scratch, |range, part| {
            let start = start.saturating_add(range.start);
            fill_special_from(special, typesize, start, part, (stores, simd))
        })
    }

    #[inline]
    fn read(&self, range: Range<usize>, dest: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let dest = self.dest_for(&range, dest)?;
        let is_item = dest.len() <= MAX_ITEM_NBYTES;
        match self.layout.kind {
            Kind::Special(SpecialKind::Zeros) if is_item => dest.fill(0),
            // Parsing has checked that the body is exactly as long as the data.
            Kind::Memcpyed if is_item => {
                dest.copy_from_slice(self.body().get(range).unwrap_or_default());
            }
            Kind::Regular if !dest.is_empty() && !Extents::are_needed(&self.layout) => {
                return decode::read(self, range, dest, scratch);
            }
            _ => return self.read_other(range, dest, scratch),
        }
        Ok(())
    }

    /// The cases that [`read`](Self::read) leaves: runs, stored data, blocks of unknown extents.
    /// Out of line, since they need a large stack frame. `dest` is as long as `range`.
    #[inline(never)]
    fn read_other(
        &self,
        range: Range<usize>,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        if dest.is_empty() {
            return Ok(());
        }
        let start = range.start;
        let DParams { registries: Registries { simd, .. }, destination, .. } = *scratch.params();
        match self.layout.kind {
            Kind::Special(SpecialKind::Zeros) => fill_zeros(dest, scratch),
            Kind::Special(kind) => self.fill_special(kind, start, dest, scratch),
            Kind::Memcpyed => {
                let stores = destination.stores(dest.len());
                let body = self.body().get(range).unwrap_or_default();
                decode::write_parts(dest, scratch, |range, part| {
                    stores.copy(simd, body.get(range).unwrap_or_default(), part);
                    Ok(())
                })
            }
            _ => decode::read(&InMemory::new(*self)?, range, dest, scratch),
        }
    }
}

/// Up to this size (bytes) data without decoding are copied or filled at once: finding threads and
/// the best stores would take longer.
const MAX_ITEM_NBYTES: usize = 64;

/// Writes the data of a chunk of zeros.
#[inline(never)]
fn fill_zeros(dest: &mut [u8], scratch: &mut Scratch) -> Result<()> {
    let DParams { registries: Registries { simd, .. }, destination, .. } = *scratch.params();
    let stores = destination.stores(dest.len());
    decode::write_parts(dest, scratch, |_, part| {
        stores.fill(simd, 0, part);
        Ok(())
    })
}
