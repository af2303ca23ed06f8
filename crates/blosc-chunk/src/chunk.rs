//! A chunk in memory.

mod block;

use core::ops::Range;

use crate::layout::Layout;
use crate::source::InMemory;
use crate::special::fill_special_from;
use crate::{
    Blame, ChunkHeader, Corrupt, Error, Kind, Result, Scratch, Special, SpecialKind, Unsupported, decode,
};

pub use block::{BlockRef, StreamKind, StreamRef};

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
    /// Takes the chunk at the start of `bytes`. What follows it is ignored.
    ///
    /// The cost does not depend on the size of the data: block starts and streams are checked when they are used,
    /// or by [`validate`](Self::validate).
    ///
    /// # Errors
    ///
    /// As [`ChunkHeader::parse`], and [`Error::Corrupt`] if the chunk is not all there, lazy, or its block starts or
    /// dictionary do not fit.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let header = ChunkHeader::parse(bytes)?;
        let cbytes = header.cbytes();
        let truncated = Corrupt::Truncated { cbytes, len: bytes.len() };
        let bytes = bytes.get(..cbytes).ok_or_else(|| Error::corrupt(0xc, truncated))?;
        if header.is_lazy() {
            return Err(Error::corrupt(0x1f, Corrupt::Lazy));
        }
        Ok(Self { bytes, layout: Layout::parse(header, bytes)? })
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

    /// The run that the chunk is, if it is one.
    #[must_use]
    pub fn special(&self) -> Option<Special<'a>> {
        Some(match self.header().special()? {
            SpecialKind::Zeros => Special::Zeros,
            SpecialKind::Nans => Special::Nans,
            SpecialKind::Value => Special::Value(self.body()),
            SpecialKind::Uninit => Special::Uninit,
        })
    }

    /// How many blocks are stored: 0 if the chunk is memcpyed, special or empty.
    #[must_use]
    pub const fn nblocks(&self) -> usize {
        self.layout.grid.nblocks
    }

    /// Bytes of data in a block, but for the last one, which may have less. `None` if the chunk has no blocks, or
    /// blocks of individual sizes.
    ///
    /// This is the size in the header except in some chunks of C-Blosc2 3.x, which stored another one than they used.
    #[must_use]
    pub fn blocksize(&self) -> Option<usize> {
        (self.header().kind() == Kind::Regular).then_some(self.layout.grid.blocksize)
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
    /// [`Error::Range`] if there is no such block, [`Error::Corrupt`] if it does not start inside the chunk.
    pub fn block(&self, nblock: usize) -> Result<BlockRef> {
        BlockRef::find(self, nblock)
    }

    /// Decodes all data to the start of `dest` and returns how many bytes they are.
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

    /// Decodes the items `items` to the start of `dest`. An item has [`typesize`](ChunkHeader::typesize) bytes; if
    /// the last item of the data is cut, it is only within reach of [`read_bytes`](Self::read_bytes).
    ///
    /// # Errors
    ///
    /// As [`read_bytes`](Self::read_bytes).
    pub fn read_items(&self, items: Range<usize>, dest: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let typesize = self.header().typesize();
        let Range { start, end } = items;
        let range = Error::Range { start, end, len: self.header().nbytes() / typesize };
        let bytes = start.checked_mul(typesize).zip(end.checked_mul(typesize));
        let (start, end) = bytes.filter(|&(_, end)| end <= self.header().nbytes()).ok_or(range)?;
        self.read_bytes(start..end, dest, scratch)
    }

    /// Decodes the bytes `range` of the data to the start of `dest`. Only the blocks that hold them are touched, and
    /// the first one if there is a delta filter.
    ///
    /// # Errors
    ///
    /// [`Error::Range`] or [`Error::Dest`] if the range or `dest` does not fit, [`Error::Limit`] if a block is larger
    /// than the limit, and otherwise whatever is wrong with the blocks; `dest` then holds anything.
    pub fn read_bytes(&self, range: Range<usize>, dest: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let dest = self.dest_for(&range, dest)?;
        match self.header().kind() {
            _ if dest.is_empty() => Ok(()),
            Kind::Special(_) => self.fill(range.start, dest),
            Kind::Memcpyed => self.copy(range, dest),
            Kind::Empty => Ok(()),
            Kind::Regular | Kind::Vl => self.read_blocks(range, dest, scratch),
        }
    }

    pub(crate) const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What follows the header.
    fn body(&self) -> &'a [u8] {
        self.bytes.get(self.header().header_len()..).unwrap_or_default()
    }

    fn dest_for<'d>(&self, range: &Range<usize>, dest: &'d mut [u8]) -> Result<&'d mut [u8]> {
        let (start, end, len) = (range.start, range.end, self.header().nbytes());
        let needed = end.checked_sub(start).filter(|_| end <= len);
        let needed = needed.ok_or(Error::Range { start, end, len })?;
        let room = dest.len();
        dest.get_mut(..needed).ok_or(Error::Dest { needed, room })
    }

    fn fill(&self, start: usize, dest: &mut [u8]) -> Result<()> {
        let special = self.special().ok_or(Error::Unsupported(Unsupported::NoBlocks))?;
        fill_special_from(special, self.header().typesize(), start, dest)
    }

    fn copy(&self, range: Range<usize>, dest: &mut [u8]) -> Result<()> {
        // The header was parsed only because the body is exactly as long as the data.
        dest.copy_from_slice(self.body().get(range).unwrap_or_default());
        Ok(())
    }

    fn read_blocks(&self, range: Range<usize>, dest: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let result = self.read_blocks_by(self.layout, range.clone(), dest, scratch);
        match (result, self.layout.literal_blocksize) {
            (Err(error), Some(blocksize)) if error.blame() == Blame::Data => {
                let layout = Layout::with_blocksize(*self.header(), blocksize, self.bytes)?;
                self.read_blocks_by(layout, range, dest, scratch).map_err(|_| error)
            }
            (result, _) => result,
        }
    }

    fn read_blocks_by(
        &self,
        layout: Layout,
        range: Range<usize>,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        decode::read(&InMemory::new(*self, layout)?, range, dest, scratch)
    }
}
