//! A chunk at a position of a store: reads any range of its data.
//!
//! ```text
//! in memory   the bytes of the chunk are borrowed                        no request
//! whole       the chunk is short, or most of its data are needed         1 request
//! in parts    header and block starts, then the needed blocks            2 requests, the second for
//!                                                                        several ranges
//! ```
//!
//! The three ways give the same data and the same errors: if the block starts or a part of the
//! chunk cannot be decoded, the reader reads and decodes the whole chunk instead.

use core::fmt;
use core::ops::Range;
use core::slice::from_ref;
use std::borrow::Cow;
use std::io;

use blosc_chunk::{
    Chunk, ChunkHeader, Scratch,
    error::Corrupt,
    partial::{ChunkIndex, IndexStep, Plan},
};
use blosc_io::ReadAt;

use crate::buffer::resized;

/// Bytes that [`ChunkReader::open`] reads: mostly enough for header and block starts.
const HEAD_NBYTES: usize = 2 << 10;
/// A chunk up to this size (bytes) is read whole: a second request would take longer.
pub const MAX_SHORT_NBYTES: usize = 16 << 10;
/// The largest gap between two needed ranges that is read with them (bytes): another request would
/// take longer.
pub const MERGE_GAP_NBYTES: usize = 4 << 10;

/// The reason why a chunk was not read. The containers add the number of the chunk.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The store failed, or ended too early.
    #[error("reading {len} bytes at {at}")]
    Io {
        /// Position in the store (bytes).
        at: u64,
        /// Bytes to read.
        len: u64,
        /// The cause.
        source: io::Error,
    },
    /// The chunk is damaged, or needs an unavailable codec or filter.
    #[error(transparent)]
    Chunk(#[from] blosc_chunk::Error),
}

/// The result of reading a chunk.
type Result<T> = core::result::Result<T, ReadError>;

/// A chunk at a position of a store, with a known header, and a buffer to read into.
///
/// ```
/// use blosc_chunk::{CParams, Scratch, compress};
/// use blosc_container::chunk_reader::ChunkReader;
/// use blosc_io::FileStore;
///
/// # let dir = std::env::temp_dir().join(format!("chunk_reader-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let path = dir.join("chunk");
/// let data: Vec<u8> = (0..500_000u32).flat_map(u32::to_le_bytes).collect();
/// std::fs::write(&path, compress(&data, &CParams::default().typesize(4))?)?;
///
/// let (file, len) = (FileStore::open(&path)?, std::fs::metadata(&path)?.len());
/// let (mut buffer, mut part) = (Vec::new(), [0; 100]);
/// let mut chunk = ChunkReader::open(&file, 0, len, &mut buffer)?;
/// assert_eq!(chunk.header().nbytes(), data.len());
/// chunk.decode(1_000_000..1_000_100, &mut part, &mut Scratch::default())?;
/// assert_eq!(part, data[1_000_000..1_000_100]);
/// # drop(chunk);
/// # drop(file);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ChunkReader<'a> {
    store: &'a dyn ReadAt,
    at: u64,
    header: ChunkHeader,
    /// Begins with the first `head_len` bytes of the chunk.
    buffer: &'a mut Vec<u8>,
    head_len: usize,
}

impl fmt::Debug for ChunkReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkReader")
            .field("at", &self.at)
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

impl<'a> ChunkReader<'a> {
    /// Reads the first bytes of the chunk at position `at`; the store has `available` bytes from
    /// there on. `buffer` is overwritten and grows as needed.
    ///
    /// # Errors
    ///
    /// [`ReadError::Io`], or [`ReadError::Chunk`] if there is no header or the chunk is longer than
    /// `available`.
    pub fn open(
        store: &'a dyn ReadAt,
        at: u64,
        available: u64,
        buffer: &'a mut Vec<u8>,
    ) -> Result<Self> {
        let available = usize::try_from(available).unwrap_or(usize::MAX);
        let len = available.min(HEAD_NBYTES);
        let (header, head_len) = match bytes_in_memory(store, at, len) {
            Some(head) => (ChunkHeader::parse(head)?, 0),
            None => {
                let head = resized(buffer, len);
                read(store, at, head)?;
                (ChunkHeader::parse(head)?, len)
            }
        };
        let cbytes = header.cbytes();
        if cbytes > available {
            let what = Corrupt::Truncated { cbytes, len: available };
            return Err(blosc_chunk::Error::Corrupt { at: 0xc, what }.into());
        }
        Ok(Self { store, at, header, buffer, head_len: head_len.min(cbytes) })
    }

    /// A chunk whose header is known. The caller has compared its `cbytes` with the bytes that the
    /// store has from `at` on. `buffer` begins with the first `head_len` bytes of the chunk; if
    /// that is 0, it may be any buffer.
    #[must_use]
    pub fn with_header(
        store: &'a dyn ReadAt,
        at: u64,
        header: ChunkHeader,
        buffer: &'a mut Vec<u8>,
        head_len: usize,
    ) -> Self {
        let head_len = head_len.min(buffer.len()).min(header.cbytes());
        Self { store, at, header, buffer, head_len }
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &ChunkHeader {
        &self.header
    }

    /// The bytes of the whole chunk, borrowed if they are in memory.
    ///
    /// # Errors
    ///
    /// [`ReadError::Io`].
    pub fn bytes(&mut self) -> Result<&[u8]> {
        self.read_head(self.header.cbytes())
    }

    /// The bytes of the whole chunk, borrowed for as long as the store and the buffer.
    ///
    /// # Errors
    ///
    /// [`ReadError::Io`].
    pub fn into_bytes(self) -> Result<&'a [u8]> {
        let Self { store, at, header, buffer, head_len } = self;
        read_head((store, at), header.cbytes(), (buffer, head_len))
    }

    /// Header, block starts and dictionary, which tell the positions of the blocks.
    ///
    /// # Errors
    ///
    /// [`ReadError::Io`], or [`ReadError::Chunk`] as [`ChunkIndex::parse`].
    pub fn index(&mut self) -> Result<ChunkIndex> {
        let cbytes = self.header.cbytes();
        let starts = self.header.nblocks().saturating_mul(4);
        let expected = starts.saturating_add(self.header.header_len());
        let mut len = expected.max(self.head_len).min(cbytes);
        loop {
            match ChunkIndex::parse(self.read_head(len)?)? {
                IndexStep::Ready(index) => return Ok(index),
                IndexStep::Needs(needed) if needed > len && needed <= cbytes => len = needed,
                // The head is longer than its chunk.
                IndexStep::Needs(end) => {
                    return Err(blosc_chunk::Error::Range { start: 0, end, len: cbytes }.into());
                }
            }
        }
    }

    /// Decodes the bytes `range` of the data to `dest`, which has the same length, and reads only
    /// the necessary bytes of the chunk.
    ///
    /// # Errors
    ///
    /// [`ReadError::Io`], or [`ReadError::Chunk`] as [`Chunk::read_bytes`].
    pub fn decode(
        &mut self,
        range: Range<usize>,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        if self.is_partly_read() {
            // A lazy chunk has no data; parsing reports it.
            if self.header.is_memcpyed() && !self.header.is_lazy() {
                return self.read_memcpyed(range, dest);
            }
            if let Some((index, plans)) = self.plan_parts(from_ref(&range))? {
                let decoded =
                    plans.iter().try_for_each(|plan| self.decode_plan(&index, plan, dest, scratch));
                match decoded {
                    Err(ReadError::Chunk(_)) => {} // The whole chunk decides.
                    other => return other,
                }
            }
        }
        Ok(Chunk::parse(self.bytes()?)?.read_bytes(range, dest, scratch)?)
    }

    /// Reads the bytes that a plan of `index` lists and decodes its data to the start of `dest`.
    ///
    /// # Errors
    ///
    /// [`ReadError::Io`], or [`ReadError::Chunk`] as [`ChunkIndex::decode`].
    pub fn decode_plan(
        &mut self,
        index: &ChunkIndex,
        plan: &Plan,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.head_len = 0;
        let parts = read_parts(self.store, self.at, plan.ranges(), self.buffer)?;
        Ok(index.decode(plan, &parts, dest, scratch)?)
    }

    /// Reads the bytes that are needed to decode `ranges` of the data, which must ascend.
    ///
    /// # Errors
    ///
    /// [`ReadError::Io`], or [`ReadError::Chunk`] as [`Chunk::parse`], and for a range outside the
    /// data.
    pub fn fetch(mut self, ranges: &[Range<usize>]) -> Result<Fetched<'a>> {
        let planned = if self.is_partly_read() { self.plan_parts(ranges)? } else { None };
        let (store, at, header) = (self.store, self.at, self.header);
        let content = match planned {
            Some((index, plans)) => {
                let needed = merged_ranges(&plans);
                let parts = read_parts(store, at, &needed, self.buffer)?;
                Content::Parts(index, needed.into_iter().zip(parts).collect())
            }
            None => Content::Whole(Chunk::parse(self.into_bytes()?)?),
        };
        Ok(Fetched { store, at, header, content })
    }

    /// The bytes of the store that [`fetch`](Self::fetch) reads for these ranges of the data, after
    /// the header and block starts. They ascend, as `ranges` do.
    ///
    /// # Errors
    ///
    /// As [`fetch`](Self::fetch).
    pub fn needs(mut self, ranges: &[Range<usize>]) -> Result<Vec<Range<u64>>> {
        if !self.is_partly_read() {
            return Ok(vec![]);
        }
        let needed = match self.plan_parts(ranges)? {
            Some((_, plans)) => merged_ranges(&plans),
            None => from_ref(&(0..self.header.cbytes())).to_vec(),
        };
        let position = |offset: usize| self.at.saturating_add(offset as u64);
        Ok(needed.iter().map(|range| position(range.start)..position(range.end)).collect())
    }

    /// Whether any bytes of the chunk are missing from memory and buffer.
    fn is_partly_read(&self) -> bool {
        self.head_len < self.header.cbytes() && self.store.in_memory().is_none()
    }

    /// The data of an uncompressed chunk follow the header, byte for byte.
    fn read_memcpyed(&self, range: Range<usize>, dest: &mut [u8]) -> Result<()> {
        let (Range { start, end }, len) = (range, self.header.nbytes());
        if start > end || end > len || end.saturating_sub(start) != dest.len() {
            return Err(blosc_chunk::Error::Range { start, end, len }.into());
        }
        let from = self.header.header_len().saturating_add(start) as u64;
        read(self.store, self.at.saturating_add(from), dest)
    }

    /// The parts to read for these ranges of the data; `None` if the chunk is better read whole,
    /// which also gives the right error.
    fn plan_parts(&mut self, ranges: &[Range<usize>]) -> Result<Option<(ChunkIndex, Vec<Plan>)>> {
        let (nbytes, cbytes) = (self.header.nbytes(), self.header.cbytes());
        let wanted: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        if cbytes <= MAX_SHORT_NBYTES || wanted > nbytes / 2 {
            return Ok(None);
        }
        let index = match self.index() {
            Ok(index) => index,
            Err(ReadError::Chunk(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let plans = ranges.iter().map(|range| index.plan(range.clone(), MERGE_GAP_NBYTES));
        let plans: Vec<Plan> = plans.collect::<blosc_chunk::error::Result<_>>()?;
        let needed: usize = plans.iter().flat_map(Plan::ranges).map(ExactSizeIterator::len).sum();
        Ok((needed <= cbytes / 2).then_some((index, plans)))
    }

    /// The first `len` bytes of the chunk, at most `cbytes`.
    fn read_head(&mut self, len: usize) -> Result<&[u8]> {
        let Self { store, at, buffer, head_len, .. } = self;
        let head = read_head((*store, *at), len, (buffer, *head_len))?;
        *head_len = (*head_len).max(len);
        Ok(head)
    }
}

/// The bytes of a chunk for some ranges of its data: see [`ChunkReader::fetch`].
pub struct Fetched<'a> {
    store: &'a dyn ReadAt,
    at: u64,
    header: ChunkHeader,
    content: Content<'a>,
}

enum Content<'a> {
    Whole(Chunk<'a>),
    /// Some ranges of the chunk, ascending and apart, with their bytes.
    Parts(ChunkIndex, Vec<(Range<usize>, Cow<'a, [u8]>)>),
}

impl fmt::Debug for Fetched<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetched").field("header", &self.header).finish_non_exhaustive()
    }
}

impl<'a> Fetched<'a> {
    /// The header.
    #[must_use]
    pub fn header(&self) -> &ChunkHeader {
        &self.header
    }

    /// The actual block size of the chunk: see [`Chunk::blocksize`].
    #[must_use]
    pub fn blocksize(&self) -> Option<usize> {
        match &self.content {
            Content::Whole(chunk) => chunk.blocksize(),
            Content::Parts(index, _) => index.blocksize(),
        }
    }

    /// The chunk, if all of it was read.
    #[must_use]
    pub fn whole(&self) -> Option<&Chunk<'a>> {
        match &self.content {
            Content::Whole(chunk) => Some(chunk),
            Content::Parts(..) => None,
        }
    }

    /// Decodes the bytes `range` of the data to `dest`, which has the same length; `range` must lie
    /// in one of the ranges read.
    ///
    /// # Errors
    ///
    /// As [`ChunkReader::decode`].
    pub fn decode(
        &self,
        range: Range<usize>,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        match &self.content {
            Content::Whole(chunk) => Ok(chunk.read_bytes(range, dest, scratch)?),
            Content::Parts(index, parts) => {
                let decoded = index.plan(range.clone(), 0).and_then(|plan| {
                    let ranges = plan.ranges().iter();
                    let parts: Vec<&[u8]> = ranges.map(|range| find_part(parts, range)).collect();
                    index.decode(&plan, &parts, dest, scratch)
                });
                decoded.or_else(|_| self.decode_whole(range, dest, scratch))
            }
        }
    }

    /// Decodes fields of all items of a block, as [`Chunk::read_fields`]; `block` is its range in
    /// the data, and must lie in one of the ranges read. Also returns false if the parts do not
    /// suffice: the caller then takes the fields from the result of [`decode`](Self::decode).
    ///
    /// # Errors
    ///
    /// As [`Chunk::read_fields`].
    pub fn read_fields(
        &self,
        block: &Range<usize>,
        fields: &[Range<usize>],
        dests: &mut [&mut [u8]],
        scratch: &mut Scratch,
    ) -> Result<bool> {
        match &self.content {
            Content::Whole(chunk) => {
                let nblock = block.start.checked_div(block.len()).unwrap_or(usize::MAX);
                Ok(chunk.read_fields(nblock, fields, dests, scratch)?)
            }
            Content::Parts(index, parts) => {
                let decoded = index.plan(block.clone(), 0).and_then(|plan| {
                    let ranges = plan.ranges().iter();
                    let parts: Vec<&[u8]> = ranges.map(|range| find_part(parts, range)).collect();
                    index.read_fields(&plan, &parts, fields, dests, scratch)
                });
                // Decoding the whole chunk gives the right error.
                Ok(decoded.unwrap_or(false))
            }
        }
    }

    /// Decodes the whole chunk, which gives the data that the parts did not, or the right error.
    #[cold]
    fn decode_whole(
        &self,
        range: Range<usize>,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let mut buffer = Vec::new();
        let store = (self.store, self.at);
        let bytes = read_head(store, self.header.cbytes(), (&mut buffer, 0))?;
        Ok(Chunk::parse(bytes)?.read_bytes(range, dest, scratch)?)
    }
}

/// The bytes of a range of the chunk from the parts read; empty if they are missing, which the
/// decoder reports.
fn find_part<'p>(parts: &'p [(Range<usize>, Cow<'_, [u8]>)], range: &Range<usize>) -> &'p [u8] {
    let before = parts.partition_point(|(part, _)| part.start <= range.start);
    let found =
        before.checked_sub(1).and_then(|npart| parts.get(npart)).and_then(|(part, bytes)| {
            bytes.get(range.start.checked_sub(part.start)?..range.end.checked_sub(part.start)?)
        });
    found.unwrap_or_default()
}

/// The ranges of the chunk in several plans, ascending and apart.
fn merged_ranges(plans: &[Plan]) -> Vec<Range<usize>> {
    let mut ranges: Vec<_> = plans.iter().flat_map(Plan::ranges).cloned().collect();
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let is_near = next.start <= last.end.saturating_add(MERGE_GAP_NBYTES);
        if is_near {
            last.end = last.end.max(next.end);
        }
        is_near
    });
    ranges
}

/// Reads ranges of a chunk; a single one to `buffer`, several by one request.
fn read_parts<'b>(
    store: &dyn ReadAt,
    at: u64,
    ranges: &[Range<usize>],
    buffer: &'b mut Vec<u8>,
) -> Result<Vec<Cow<'b, [u8]>>> {
    let position = |offset: usize| at.saturating_add(offset as u64);
    match ranges {
        [] => Ok(vec![]),
        [range] => {
            let bytes = resized(buffer, range.len());
            read(store, position(range.start), bytes)?;
            Ok(vec![Cow::Borrowed(bytes)])
        }
        [first, ..] => {
            let ranges: Vec<Range<u64>> =
                ranges.iter().map(|range| position(range.start)..position(range.end)).collect();
            let parts = store.read_ranges(&ranges).map_err(|source| ReadError::Io {
                at: position(first.start),
                len: ranges.iter().map(|range| range.end.saturating_sub(range.start)).sum(),
                source,
            })?;
            Ok(parts.into_iter().map(Cow::Owned).collect())
        }
    }
}

/// The first `len` bytes of a chunk: in memory, or in a buffer that begins with `head_len` of them.
fn read_head<'b>(
    (store, at): (&'b dyn ReadAt, u64),
    len: usize,
    (buffer, head_len): (&'b mut Vec<u8>, usize),
) -> Result<&'b [u8]> {
    if let Some(bytes) = bytes_in_memory(store, at, len) {
        return Ok(bytes);
    }
    let bytes = resized(buffer, len);
    if let Some(rest) = bytes.get_mut(head_len..).filter(|rest| !rest.is_empty()) {
        read(store, at.saturating_add(head_len as u64), rest)?;
    }
    Ok(bytes)
}

fn bytes_in_memory(store: &dyn ReadAt, at: u64, len: usize) -> Option<&[u8]> {
    store.in_memory()?.get(usize::try_from(at).ok()?..)?.get(..len)
}

fn read(store: &dyn ReadAt, at: u64, dest: &mut [u8]) -> Result<()> {
    let len = dest.len() as u64;
    store.read_exact_at(at, dest).map_err(|source| ReadError::Io { at, len, source })
}
