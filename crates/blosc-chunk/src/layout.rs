//! The positions of a chunk's blocks and the data that they cover ("Body layout" in the format
//! document).

use core::ops::Range;

use crate::blocksize::splits_in_blosc1;
use crate::error::{Corrupt, Error, Result};
use crate::header::{ChunkHeader, Kind};

/// The data of a chunk cut into blocks of one size; the last one may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) nbytes: usize,
    pub(crate) blocksize: usize,
    pub(crate) nblocks: usize,
}

impl Grid {
    /// A block size that exceeds the data is reduced to their size, as C-Blosc2 3.x does.
    /// `blocksize` is at least 1.
    pub(crate) fn new(nbytes: usize, blocksize: usize) -> Self {
        if (1..=blocksize).contains(&nbytes) {
            return Self { nbytes, blocksize: nbytes, nblocks: 1 };
        }
        Self { nbytes, blocksize, nblocks: nbytes.div_ceil(blocksize) }
    }

    /// The data (bytes) of block `nblock`.
    pub(crate) fn range(&self, nblock: usize) -> Range<usize> {
        let start = nblock.saturating_mul(self.blocksize).min(self.nbytes);
        start..start.saturating_add(self.blocksize).min(self.nbytes)
    }

    /// The blocks of these bytes, which lie within the data.
    pub(crate) fn covering(&self, bytes: &Range<usize>) -> Range<usize> {
        if bytes.is_empty() {
            return 0..0;
        }
        let first = bytes.start.checked_div(self.blocksize).unwrap_or(0);
        first..bytes.end.div_ceil(self.blocksize)
    }
}

/// The facts that a reader needs to find and decode the blocks of a regular or VL-block chunk.
/// Other kinds have no blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) header: ChunkHeader,
    pub(crate) kind: Kind,
    /// In a VL-block chunk only `nblocks` is used.
    pub(crate) grid: Grid,
    pub(crate) split: Split,
    /// Where the dictionary is (bytes from the start of the chunk).
    dict: Option<(u32, u32)>,
    /// Where the block area begins (bytes from the start of the chunk).
    pub(crate) data_start: usize,
    /// Whether the stored block size is possible as well.
    is_ambiguous: bool,
}

/// The split of full blocks into streams. Leftover blocks are always one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    /// One stream.
    No,
    /// `typesize` streams.
    Yes,
    /// One stream if its size fills the extent of the block, `typesize` streams otherwise: Blosc 1
    /// chunks that deviate from the rule, from before the flag existed or from C-Blosc 1.14 and
    /// later in mode ALWAYS.
    ByExtent,
}

impl Layout {
    /// Finds the parts of the chunk. `head` holds the chunk at least up to its block area.
    pub(crate) fn parse(header: ChunkHeader, kind: Kind, head: &[u8]) -> Result<Self> {
        let mut layout = Self::without_blocks(header, kind);
        layout.find_blocks(head)?;
        Ok(layout)
    }

    /// The layout of a chunk without blocks.
    #[inline]
    pub(crate) fn without_blocks(header: ChunkHeader, kind: Kind) -> Self {
        let grid = Grid { nbytes: header.nbytes(), blocksize: header.blocksize(), nblocks: 0 };
        let data_start = header.header_len();
        Self { header, kind, grid, split: Split::No, dict: None, data_start, is_ambiguous: false }
    }

    /// The grid to try if this one gives an error; see [`salvage`](Self::salvage). Both have the
    /// same block starts.
    pub(crate) fn literal(&self) -> Option<Grid> {
        self.is_ambiguous.then(|| header_grid(&self.header))
    }

    /// Whether the block size differs from the stored one, although the latter does not exceed the
    /// data.
    pub(crate) fn is_salvaged(&self) -> bool {
        self.kind == Kind::Regular && self.grid.blocksize < header_grid(&self.header).blocksize
    }

    /// Where the dictionary is.
    pub(crate) fn dict(&self) -> Option<Range<usize>> {
        self.dict.map(|(start, end)| start as usize..end as usize)
    }

    /// Whether a block of `len` bytes is shorter than the others, and so never split.
    pub(crate) fn is_leftover(&self, len: usize) -> bool {
        len < self.grid.blocksize
    }

    /// Where the block area ends (bytes from the start of the chunk).
    pub(crate) fn data_end(&self) -> usize {
        self.header.cbytes()
    }

    /// The stored start of a block, checked to lie in the block area.
    pub(crate) fn block_start(&self, head: &[u8], nblock: usize) -> Result<usize> {
        let at = self.header.header_len().saturating_add(nblock.saturating_mul(4));
        let bstart = read_i32(head, at).ok_or_else(|| self.starts_outside())?;
        self.check_block_start(nblock, bstart)
    }

    pub(crate) fn check_block_start(&self, nblock: usize, bstart: i32) -> Result<usize> {
        let (min, max) = (self.data_start, self.data_end().saturating_sub(4));
        let start = usize::try_from(bstart).ok().filter(|start| (min..=max).contains(start));
        let at = self.header.header_len().saturating_add(nblock.saturating_mul(4));
        start.ok_or_else(|| Error::corrupt(at, Corrupt::BlockStart { nblock, bstart, min, max }))
    }

    /// Finds the blocks, if there are any. `head` holds the chunk at least up to its block area.
    pub(crate) fn find_blocks(&mut self, head: &[u8]) -> Result<()> {
        match self.kind {
            Kind::Regular => {}
            Kind::Vl => return self.set_grid(vl_grid(&self.header), head),
            _ => return Ok(()),
        }
        match rounded(&self.header).and_then(|grid| self.salvage(grid, head)) {
            Some(layout) => *self = layout,
            None => self.set_grid(header_grid(&self.header), head)?,
        }
        self.check_split()
    }

    /// Sets the grid, and the properties that depend on it: the split, the dictionary, the block
    /// area.
    fn set_grid(&mut self, grid: Grid, head: &[u8]) -> Result<()> {
        self.grid = grid;
        self.split = split_rule(&self.header, &grid);
        let starts = (grid.nblocks as u64).saturating_mul(4);
        let end = (self.header.header_len() as u64).saturating_add(starts);
        let cbytes = self.header.cbytes().min(head.len());
        let Some(end) = usize::try_from(end).ok().filter(|&end| end <= cbytes) else {
            return Err(self.starts_outside());
        };
        self.data_start = end;
        if self.header.has_dict() {
            let (start, data_start) = find_dict(&self.header, head, end)?;
            self.dict = u32::try_from(start).ok().zip(u32::try_from(data_start).ok());
            self.data_start = data_start;
        }
        Ok(())
    }

    /// C-Blosc2 3.0 to 3.3.5 store the block size of the user, but cut the data by that size
    /// rounded down to whole items, which is `grid`. If the block starts match the rounded size, it
    /// is the right one. The literal size remains possible if the two cannot be distinguished.
    #[cold]
    fn salvage(&self, grid: Grid, head: &[u8]) -> Option<Self> {
        let mut layout = *self;
        layout.set_grid(grid, head).ok()?;
        let header_len = self.header.header_len();
        let starts = (0..grid.nblocks).filter_map(|nblock| {
            read_i32(head, header_len.saturating_add(nblock.saturating_mul(4)))
        });
        let first = usize::try_from(starts.min()?).ok()?;
        layout.is_ambiguous =
            layout.split == Split::No && header_grid(&self.header).nblocks == grid.nblocks;
        (first == layout.data_start).then_some(layout)
    }

    /// A split block consists of whole items, so its size must be a multiple of theirs.
    fn check_split(&self) -> Result<()> {
        let (blocksize, typesize) = (self.grid.blocksize, self.header.typesize());
        if self.split == Split::Yes && blocksize.checked_rem(typesize) != Some(0) {
            return Err(Error::corrupt(8, Corrupt::Split { blocksize, typesize }));
        }
        Ok(())
    }

    fn starts_outside(&self) -> Error {
        let (nblocks, at) = (self.grid.nblocks as u64, self.header.header_len());
        let end = (at as u64).saturating_add(nblocks.saturating_mul(4));
        Error::corrupt(at, Corrupt::BlockStarts { nblocks, end, cbytes: self.header.cbytes() })
    }
}

/// Reads an `i32` at an offset that may be outside.
pub(crate) fn read_i32(bytes: &[u8], at: usize) -> Option<i32> {
    let field = bytes.get(at..)?.first_chunk()?;
    Some(i32::from_le_bytes(*field))
}

/// Number of bytes from the start of a chunk that are needed to find its blocks, as far as `head`,
/// which contains the header, tells. At most the size of the chunk.
pub(crate) fn head_len(header: &ChunkHeader, head: &[u8]) -> usize {
    let table_of = |nblocks: usize| nblocks.saturating_mul(4).saturating_add(header.header_len());
    // The smaller one of two possible block sizes, unless the chunk is too short for it.
    let rounded = rounded(header).filter(|grid| table_of(grid.nblocks) <= header.cbytes());
    let nblocks = match header.kind() {
        Kind::Regular => rounded.unwrap_or(header_grid(header)).nblocks,
        Kind::Vl => header.blocksize(),
        _ => 0,
    };
    let table = table_of(nblocks);
    let end = if header.has_dict() { table.saturating_add(4) } else { table };
    let dict = match read_i32(head, table) {
        Some(_) if !header.has_dict() => 0,
        // The dictionary may begin earlier.
        Some(_) if rounded.is_some() => MAX_DICT_NBYTES,
        Some(dsize) => usize::try_from(dsize).unwrap_or(0).min(MAX_DICT_NBYTES),
        None => 0,
    };
    // If the block starts alone exceed the chunk, reading them is useless.
    if table > header.cbytes() {
        header.header_len()
    } else {
        end.saturating_add(dict).min(header.cbytes())
    }
}

fn header_grid(header: &ChunkHeader) -> Grid {
    Grid::new(header.nbytes(), header.blocksize())
}

fn vl_grid(header: &ChunkHeader) -> Grid {
    Grid { nbytes: header.nbytes(), blocksize: header.nbytes(), nblocks: header.blocksize() }
}

/// The grid of the block size rounded down to whole items, or to 1 for data shorter than an item,
/// if that makes a difference.
fn rounded(header: &ChunkHeader) -> Option<Grid> {
    let literal = header_grid(header);
    let blocksize = if literal.nbytes < header.typesize() {
        1
    } else {
        let rest = literal.blocksize.checked_rem(header.typesize())?;
        literal.blocksize.checked_sub(rest).filter(|&blocksize| blocksize > 0)?
    };
    let differs = header.version() > 2 && blocksize < literal.blocksize;
    differs.then(|| Grid::new(literal.nbytes, blocksize))
}

fn split_rule(header: &ChunkHeader, grid: &Grid) -> Split {
    let (typesize, blocksize) = (header.typesize(), grid.blocksize);
    if !header.is_split() || header.is_vl() || typesize == 1 {
        return Split::No;
    }
    if header.version() > 2 || splits_in_blosc1(typesize, blocksize) {
        return Split::Yes;
    }
    if blocksize.checked_rem(typesize) == Some(0) { Split::ByExtent } else { Split::No }
}

/// The start and the end of the dictionary whose size field is at `at`.
fn find_dict(header: &ChunkHeader, head: &[u8], at: usize) -> Result<(usize, usize)> {
    let cbytes = header.cbytes().min(head.len());
    let start = at.saturating_add(4);
    let no_room = |end| Error::corrupt(at, Corrupt::DictRoom { end, cbytes });
    let dsize = read_i32(head, at).filter(|_| start <= cbytes).ok_or_else(|| no_room(start))?;
    let len = usize::try_from(dsize).ok().filter(|len| (1..=MAX_DICT_NBYTES).contains(len));
    let len =
        len.ok_or_else(|| Error::corrupt(at, Corrupt::DictSize { dsize, max: MAX_DICT_NBYTES }))?;
    let end = start.saturating_add(len);
    if end <= cbytes { Ok((start, end)) } else { Err(no_room(end)) }
}

/// Greatest size of a dictionary (bytes).
pub(crate) const MAX_DICT_NBYTES: usize = 32768;
