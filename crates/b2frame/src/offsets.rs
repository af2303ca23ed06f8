//! The index chunk: the position of each chunk, or the run of one value that it is.
//!
//! ```text
//! index chunk, uncompressed:  nchunks x u64, little-endian
//!   0 .. 2^63     stored: position after the header (bytes)
//!   81 00 .. 00   zeros      82 00 .. 00   NaN      84 00 .. 00   uninitialised
//! ```
//!
//! A file of 172 bytes can describe 2^28 chunks with one repeated offset, so that case stays one
//! number. Other indexes are decoded page by page on demand, and kept. Small ones are decoded and
//! checked when the frame is opened: this finds damage early at almost no cost.

use core::num::NonZeroUsize;
use std::sync::OnceLock;

use blosc_chunk::{Chunk, ChunkHeader, DParams, Scratch, Special, SpecialKind};

use crate::error::{Corrupt, Error, Limited, Param, Result};
use crate::header::{FrameHeader, FrameType};
use crate::source::Source;

/// The largest number of chunks in a frame: their index must have less than 2^31 bytes.
pub(crate) const MAX_NCHUNKS: u64 = (1 << 28) - 1;
/// Bytes of an offset.
const WIDTH: usize = size_of::<u64>();
/// The least length of a stored chunk (bytes).
const MIN_CHUNK_NBYTES: u64 = 32;
/// An index of at most this size is decoded when the frame is opened (bytes).
const MAX_EAGER_NBYTES: u64 = 16 << 10;
/// The least size of a page; C-Blosc2 uses it as block size (bytes).
const MIN_PAGE_NBYTES: usize = 16 << 10;
/// Larger blocks than this are not divided into pages (bytes).
const MAX_PAGE_NBYTES: usize = 1 << 20;

/// Entries of runs that are skipped to find the next stored chunk.
const MAX_RUNS_SKIPPED: usize = 64;

/// The position of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offset {
    /// In the data section, at this position after the header (bytes).
    Stored(u64),
    /// No position: all its items have one value.
    Special(SpecialKind),
}

impl Offset {
    /// Decodes a number of the index.
    pub(crate) fn parse(nchunk: u64, offset: u64) -> Result<Self, Corrupt> {
        // The kind is in the lower half of the top byte. C-Blosc2 tests its bits one by one and
        // accepts some combinations that no writer makes.
        match (offset >> 56) as u8 {
            0x81 => Ok(Self::Special(SpecialKind::Zeros)),
            0x82 => Ok(Self::Special(SpecialKind::Nans)),
            0x84 => Ok(Self::Special(SpecialKind::Uninit)),
            0x80.. => Err(Corrupt::SpecialOffset { nchunk, offset }),
            _ => Ok(Self::Stored(offset)),
        }
    }

    /// The number of a special value, if it has one.
    pub(crate) fn of_special(kind: SpecialKind) -> Option<u64> {
        match kind {
            SpecialKind::Zeros => Some(0x81 << 56),
            SpecialKind::Nans => Some(0x82 << 56),
            SpecialKind::Uninit => Some(0x84 << 56),
            _ => None,
        }
    }
}

/// The index of a frame.
#[derive(Clone)]
pub(crate) struct Index {
    nchunks: u64,
    cbytes: u64,
    /// Position of the index chunk in the frame.
    at: u64,
    /// The container of stored chunks.
    section: Section,
    offsets: Offsets,
}

/// The meaning of the numbers of stored chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// Positions in a data section of this length (bytes).
    Bytes(u64),
    /// Numbers of files.
    Files,
}

impl Section {
    /// The section of a frame with this header.
    pub(crate) fn of_header(header: &FrameHeader) -> Self {
        match header.frame_type() {
            FrameType::Contiguous => Self::Bytes(header.cbytes()),
            FrameType::Sparse => Self::Files,
        }
    }

    /// Checks that a stored chunk has its header inside of the data section, or a possible number
    /// of a file.
    fn check(self, nchunk: u64, offset: u64) -> Result<(), Corrupt> {
        match self {
            Self::Bytes(cbytes) if offset.saturating_add(MIN_CHUNK_NBYTES) > cbytes => {
                Err(Corrupt::Offset { nchunk, offset, cbytes })
            }
            Self::Files if u32::try_from(offset).is_err() => {
                Err(Corrupt::ChunkId { nchunk, id: offset })
            }
            _ => Ok(()),
        }
    }
}

#[derive(Clone)]
enum Offsets {
    /// All numbers, under change.
    Table(Vec<u64>),
    Repeated(u64),
    Paged(Pages),
}

/// An index chunk and its decoded pages.
#[derive(Clone)]
struct Pages {
    nbytes: usize,
    cbytes: usize,
    page_bytes: NonZeroUsize,
    chunk: OnceLock<Vec<u8>>,
    pages: Vec<OnceLock<Box<[u64]>>>,
}

impl Index {
    /// The index of a frame without chunks.
    pub(crate) fn empty(section: Section) -> Self {
        Self { nchunks: 0, cbytes: 0, at: 0, section, offsets: Offsets::Table(vec![]) }
    }

    /// Reads the header of the index chunk of a frame with chunks, and all of the index if it is
    /// small.
    ///
    /// `end` is the position of the trailer.
    pub(crate) fn open(
        source: &Source,
        header: &FrameHeader,
        end: u64,
        max: u64,
        d: &DParams,
    ) -> Result<Self> {
        let at = header.index_position();
        let chunk = parse_header(source, at, end)?;
        let nchunks = count(source.position(at), header, &chunk)?;
        let section = Section::of_header(header);
        let cbytes = chunk.cbytes() as u64;
        let offsets = match read_repeated(source, at, &chunk)? {
            Some(offset) => Offsets::Repeated(offset),
            None => Offsets::Paged(Pages::new(&chunk, max)?),
        };
        let index = Self { nchunks, cbytes, at, section, offsets };
        index.check_small(source, d)?;
        Ok(index)
    }

    /// Number of chunks.
    pub(crate) fn nchunks(&self) -> u64 {
        self.nchunks
    }

    /// Length of the index chunk (bytes).
    pub(crate) fn cbytes(&self) -> u64 {
        self.cbytes
    }

    /// Position of the index chunk in the frame (bytes).
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// Whether one number stands for all chunks, of which there may be millions.
    pub(crate) fn is_repeated(&self) -> bool {
        matches!(self.offsets, Offsets::Repeated(_))
    }

    /// The position of chunk `nchunk`. The caller has compared `nchunk` with the number of chunks.
    pub(crate) fn get(&self, source: &Source, nchunk: u64, d: &DParams) -> Result<Offset> {
        let offset = match &self.offsets {
            Offsets::Table(table) => at_number(table, nchunk)?,
            Offsets::Repeated(offset) => *offset,
            Offsets::Paged(pages) => pages.get(source, self.at, nchunk, d)?,
        };
        self.check(nchunk, offset)
            .map_err(|what| Error::Corrupt { at: source.position(self.at), what })
    }

    /// Bytes from a stored chunk to the next one in the index, or to the end, as far as the index
    /// is in memory: the length of the chunk, unless chunks were moved.
    pub(crate) fn gap(&self, nchunk: u64, offset: u64) -> Option<u64> {
        let next = nchunk.saturating_add(1);
        if let (Section::Bytes(end), true) = (self.section, next == self.nchunks) {
            return end.checked_sub(offset);
        }
        let next = match &self.offsets {
            Offsets::Table(table) => at_number(table, next).ok(),
            Offsets::Repeated(_) => None,
            Offsets::Paged(pages) => pages.peek(next),
        };
        match Offset::parse(nchunk, next?) {
            Ok(Offset::Stored(next)) => next.checked_sub(offset),
            _ => None,
        }
    }

    /// Bytes from a stored chunk to the next one in the index, or to the end of the section;
    /// decodes pages of the index as needed. `None` if chunks were moved.
    pub(crate) fn room(
        &self,
        source: &Source,
        nchunk: u64,
        offset: u64,
        d: &DParams,
    ) -> Option<u64> {
        let Section::Bytes(end) = self.section else { return None };
        let later = nchunk.saturating_add(1)..self.nchunks;
        let mut next = end;
        for (n, later) in later.enumerate() {
            match self.get(source, later, d).ok()? {
                Offset::Stored(later) => {
                    next = later;
                    break;
                }
                // With many runs, reading the header of the chunk is faster.
                Offset::Special(_) if n >= MAX_RUNS_SKIPPED => return None,
                Offset::Special(_) => {}
            }
        }
        next.checked_sub(offset).filter(|room| *room >= MIN_CHUNK_NBYTES)
    }

    /// Whether all offsets are in memory, for changes.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self.offsets, Offsets::Table(_))
    }

    /// All offsets of an index that is a table.
    pub(crate) fn as_table(&self) -> &[u64] {
        match &self.offsets {
            Offsets::Table(table) => table,
            _ => &[],
        }
    }

    /// Reads all offsets, up to `max` bytes.
    pub(crate) fn table(&self, source: &Source, max: u64, d: &DParams) -> Result<Vec<u64>> {
        let nbytes = self.nchunks.saturating_mul(WIDTH as u64);
        if nbytes > max {
            return Err(Error::Limit { what: Limited::Index, nbytes, limit: max });
        }
        match &self.offsets {
            Offsets::Table(table) => Ok(table.clone()),
            Offsets::Repeated(offset) => (0..self.nchunks).map(|_| Ok(*offset)).collect(),
            Offsets::Paged(pages) => {
                (0..self.nchunks).map(|n| pages.get(source, self.at, n, d)).collect()
            }
        }
    }

    /// Makes the index a table that can be changed.
    pub(crate) fn set_table(&mut self, table: Vec<u64>) {
        self.nchunks = table.len() as u64;
        self.offsets = Offsets::Table(table);
    }

    /// Changes an index that is a table.
    pub(crate) fn edit(&mut self, edit: impl FnOnce(&mut Vec<u64>) -> Result<()>) -> Result<()> {
        let Offsets::Table(table) = &mut self.offsets else {
            return Err(Error::internal("an index is changed that is no table"));
        };
        edit(table)?;
        self.nchunks = table.len() as u64;
        Ok(())
    }

    /// Sets the container of stored chunks.
    pub(crate) fn set_section(&mut self, section: Section) {
        self.section = section;
    }

    /// Sets position and length of the index chunk (bytes).
    pub(crate) fn set_position(&mut self, at: u64, cbytes: u64) {
        (self.at, self.cbytes) = (at, cbytes);
    }

    /// Decodes a number of the index, and checks it.
    fn check(&self, nchunk: u64, offset: u64) -> Result<Offset, Corrupt> {
        let parsed = Offset::parse(nchunk, offset)?;
        match parsed {
            Offset::Stored(offset) => self.section.check(nchunk, offset).map(|()| parsed),
            Offset::Special(_) => Ok(parsed),
        }
    }

    /// Checks all offsets of a small or repeated index. An unknown special value is only refused
    /// when its chunk is read: the other chunks stay readable.
    fn check_small(&self, source: &Source, d: &DParams) -> Result<()> {
        let looked_at = match &self.offsets {
            Offsets::Repeated(_) => self.nchunks.min(1),
            Offsets::Paged(pages) if pages.nbytes as u64 <= MAX_EAGER_NBYTES => self.nchunks,
            Offsets::Paged(_) | Offsets::Table(_) => 0,
        };
        for nchunk in 0..looked_at {
            match self.get(source, nchunk, d) {
                Err(Error::Corrupt { what: Corrupt::SpecialOffset { .. }, .. }) | Ok(_) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }
}

impl Pages {
    fn new(chunk: &ChunkHeader, max: u64) -> Result<Self> {
        let nbytes = chunk.nbytes().max(chunk.cbytes());
        if nbytes as u64 > max {
            return Err(Error::Limit { what: Limited::Index, nbytes: nbytes as u64, limit: max });
        }
        let page_bytes = page_bytes(chunk);
        let npages = chunk.nbytes().div_ceil(page_bytes.get());
        let pages = core::iter::repeat_with(OnceLock::new).take(npages).collect();
        Ok(Self {
            nbytes: chunk.nbytes(),
            cbytes: chunk.cbytes(),
            page_bytes,
            chunk: OnceLock::new(),
            pages,
        })
    }

    /// The number of chunk `nchunk` in the index.
    fn get(&self, source: &Source, at: u64, nchunk: u64, d: &DParams) -> Result<u64> {
        let (npage, in_page) = self.place(nchunk);
        let offset = self.page(source, at, npage, d)?.get(in_page).copied();
        let nchunks = (self.nbytes / WIDTH) as u64;
        offset.ok_or_else(|| Param::ChunkNumber { nchunk, nchunks }.into())
    }

    /// As [`get`](Self::get), if the page was decoded before.
    fn peek(&self, nchunk: u64) -> Option<u64> {
        let (npage, in_page) = self.place(nchunk);
        self.pages.get(npage)?.get()?.get(in_page).copied()
    }

    /// The page of a number, and its position there.
    fn place(&self, nchunk: u64) -> (usize, usize) {
        let at_byte = usize::try_from(nchunk).unwrap_or(usize::MAX).saturating_mul(WIDTH);
        (at_byte / self.page_bytes, at_byte % self.page_bytes / WIDTH)
    }

    /// A page, decoded on first use. Two threads may both decode it; one result is kept.
    fn page(&self, source: &Source, at: u64, npage: usize, d: &DParams) -> Result<&[u64]> {
        let Some(page) = self.pages.get(npage) else { return Ok(&[]) };
        if let Some(decoded) = page.get() {
            return Ok(decoded);
        }
        let decoded = self.decode(source, at, npage, d)?;
        Ok(page.get_or_init(|| decoded))
    }

    fn decode(&self, source: &Source, at: u64, npage: usize, d: &DParams) -> Result<Box<[u64]>> {
        let chunk = match self.chunk.get() {
            Some(chunk) => chunk,
            None => {
                let read = source.read_vec(at, self.cbytes)?;
                self.chunk.get_or_init(|| read)
            }
        };
        let start = npage.saturating_mul(self.page_bytes.get());
        let end = start.saturating_add(self.page_bytes.get()).min(self.nbytes);
        let mut bytes = vec![0; end.saturating_sub(start)];
        Chunk::parse(chunk)
            .and_then(|chunk| chunk.read_bytes(start..end, &mut bytes, &mut Scratch::new(d)))
            .map_err(|error| Error::Index { at: source.position(at), source: error })?;
        let (offsets, _) = bytes.as_chunks();
        Ok(offsets.iter().copied().map(u64::from_le_bytes).collect())
    }
}

/// The number of a chunk.
fn at_number(table: &[u64], nchunk: u64) -> Result<u64> {
    let nchunks = table.len() as u64;
    let number = usize::try_from(nchunk).ok().and_then(|nchunk| table.get(nchunk));
    number.copied().ok_or_else(|| Param::ChunkNumber { nchunk, nchunks }.into())
}

/// The size of a page: whole blocks of at least [`MIN_PAGE_NBYTES`] bytes, or the whole index if
/// its blocks are unusual.
fn page_bytes(chunk: &ChunkHeader) -> NonZeroUsize {
    let nbytes = match chunk.blocksize() {
        blocksize @ 1..=MAX_PAGE_NBYTES if blocksize % WIDTH == 0 => {
            MIN_PAGE_NBYTES.div_ceil(blocksize).saturating_mul(blocksize)
        }
        _ => chunk.nbytes(),
    };
    NonZeroUsize::new(nbytes).unwrap_or(NonZeroUsize::MIN)
}

/// The header of the index chunk; checks that the chunk ends before the trailer.
fn parse_header(source: &Source, at: u64, end: u64) -> Result<ChunkHeader> {
    let room = end.saturating_sub(at);
    let (head, len) = source.read_head::<{ ChunkHeader::MAX_LEN }>(at, room)?;
    let at = source.position(at);
    let chunk = ChunkHeader::parse(head.get(..len).unwrap_or_default())
        .map_err(|error| Error::Index { at, source: error })?;
    let cbytes = chunk.cbytes() as u64;
    if cbytes > room || cbytes < MIN_CHUNK_NBYTES {
        return Err(Error::Corrupt { at, what: Corrupt::IndexCbytes { cbytes, room } });
    }
    Ok(chunk)
}

/// The number of chunks; header and index must agree.
fn count(at: u64, header: &FrameHeader, chunk: &ChunkHeader) -> Result<u64> {
    let corrupt = |what| Error::Corrupt { at, what };
    let nbytes = chunk.nbytes() as u64;
    let width = WIDTH as u64;
    let nchunks = header.nchunks().or_else(|| nbytes.checked_div(width)).unwrap_or(0);
    if nchunks > MAX_NCHUNKS {
        return Err(corrupt(Corrupt::TooManyChunks { nchunks, max: MAX_NCHUNKS }));
    }
    let expected = nchunks.saturating_mul(width);
    if nbytes != expected || nchunks == 0 {
        return Err(corrupt(Corrupt::IndexNbytes { nbytes, expected: expected.max(width) }));
    }
    Ok(nchunks)
}

/// The single offset of an index that is a run.
fn read_repeated(source: &Source, at: u64, chunk: &ChunkHeader) -> Result<Option<u64>> {
    if chunk.special().is_none() || chunk.cbytes() > ChunkHeader::MAX_LEN.saturating_add(WIDTH) {
        return Ok(None);
    }
    let bytes = source.read_vec(at, chunk.cbytes())?;
    let index_error = |error| Error::Index { at: source.position(at), source: error };
    match Chunk::parse(&bytes).map_err(index_error)?.special() {
        Some(Special::Value(value)) => Ok(value
            .first_chunk()
            .filter(|v| v.len() == value.len())
            .copied()
            .map(u64::from_le_bytes)),
        Some(Special::Zeros | Special::Uninit) => Ok(Some(0)),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_values_are_there_and_back() {
        for kind in [SpecialKind::Zeros, SpecialKind::Nans, SpecialKind::Uninit] {
            let offset = Offset::of_special(kind).unwrap();
            assert_eq!(Offset::parse(0, offset), Ok(Offset::Special(kind)));
        }
        assert_eq!(Offset::of_special(SpecialKind::Value), None);
        assert_eq!(Offset::parse(0, 7), Ok(Offset::Stored(7)));
    }

    #[test]
    fn other_kinds_are_none() {
        for top in [0x80_u64, 0x83, 0x85, 0x86, 0x87, 0x88, 0x90, 0xc1, 0xff] {
            let what = Corrupt::SpecialOffset { nchunk: 3, offset: top << 56 };
            assert_eq!(Offset::parse(3, top << 56), Err(what));
        }
    }

    #[test]
    fn an_index_that_is_no_table_is_not_changed() {
        let mut index = Index::empty(Section::Files);
        let push = |table: &mut Vec<u64>| {
            table.push(3);
            Ok(())
        };
        index.edit(push).unwrap();
        assert_eq!((index.nchunks(), index.as_table()), (1, &[3][..]));
        index.offsets = Offsets::Repeated(3);
        let changed = index.edit(push);
        assert!(matches!(changed, Err(Error::Internal { .. })), "{changed:?}");
        assert_eq!(index.nchunks(), 1);
    }
}
