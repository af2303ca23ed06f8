//! A chunk at a position of a store: from its header to any range of its data.
//!
//! ```text
//! in memory   the bytes of the chunk are borrowed                        no request
//! whole       the chunk is short, or most of its data are needed         1 request
//! in parts    header and block starts, then the blocks that are needed  2 requests, the second for
//!                                                                        several ranges
//! ```
//!
//! The three ways give the same data and the same errors: if the block starts or a part of the
//! chunk cannot be decoded, the whole chunk is read and decoded instead.

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

/// Bytes that [`ChunkReader::open`] reads: mostly header and all block starts.
const HEAD_NBYTES: usize = 2 << 10;
/// A chunk up to this size (bytes) is read as a whole: a second request would take longer.
pub const MAX_SHORT_NBYTES: usize = 16 << 10;
/// Bytes between two needed ranges that are read with them: a further request would take longer.
pub const MERGE_GAP_NBYTES: usize = 4 << 10;

/// Why a chunk was not read. The containers add the number of the chunk.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The store failed, or ended too early.
    #[error("reading {len} bytes at {at}")]
    Io {
        /// Position in the store (bytes).
        at: u64,
        /// Bytes that were to be read.
        len: u64,
        /// The cause.
        source: io::Error,
    },
    /// The chunk is damaged, or needs a codec or filter that is not there.
    #[error(transparent)]
    Chunk(#[from] blosc_chunk::Error),
}

/// The result of reading a chunk.
type Result<T> = core::result::Result<T, ReadError>;

/// A chunk at a position of a store, of which the header is known, and a buffer to read to.
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
    /// Reads the first bytes of the chunk at position `at`, for which the store has `available`
    /// bytes. `buffer` is overwritten and grows as needed.
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

    /// A chunk whose header was read before. The caller has compared its `cbytes` with the bytes
    /// that the store has from `at` on. `buffer` begins with the first `head_len` bytes of the
    /// chunk; with 0 of them it is any buffer.
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

    /// The bytes of the whole chunk, borrowed where they are in memory.
    ///
    /// # Errors
    ///
    /// [`ReadError::Io`].
    pub fn bytes(&mut self) -> Result<&[u8]> {
        self.read_head(self.header.cbytes())
    }

    /// The same, for as long as the store and the buffer.
    ///
    /// # Errors
    ///
    /// [`ReadError::Io`].
    pub fn into_bytes(self) -> Result<&'a [u8]> {
        let Self { store, at, header, buffer, head_len } = self;
        read_head((store, at), header.cbytes(), (buffer, head_len))
    }

    /// Header, block starts and dictionary, which tell where each block is.
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
                // A head that is longer than its chunk.
                IndexStep::Needs(end) => {
                    return Err(blosc_chunk::Error::Range { start: 0, end, len: cbytes }.into());
                }
            }
        }
    }

    /// Decodes the bytes `range` of the data to `dest`, which has as many, and reads no more of the
    /// chunk than that takes.
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
            // A lazy one has no data; parsing says so.
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

    /// Reads the bytes that a plan of `index` names and decodes its data to the start of `dest`.
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

    /// Reads what decoding `ranges` of the data needs. They ascend.
    ///
    /// # Errors
    ///
    /// [`ReadError::Io`], or [`ReadError::Chunk`] as [`Chunk::parse`], and if a range is not inside
    /// the data.
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
    /// those that tell where blocks are. They ascend, as `ranges` do.
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

    /// Whether bytes of the chunk are neither in memory nor in the buffer.
    fn is_partly_read(&self) -> bool {
        self.head_len < self.header.cbytes() && self.store.in_memory().is_none()
    }

    /// The data of a chunk that is stored without compression follow the header, byte for byte.
    fn read_memcpyed(&self, range: Range<usize>, dest: &mut [u8]) -> Result<()> {
        let (Range { start, end }, len) = (range, self.header.nbytes());
        if start > end || end > len || end.saturating_sub(start) != dest.len() {
            return Err(blosc_chunk::Error::Range { start, end, len }.into());
        }
        let from = self.header.header_len().saturating_add(start) as u64;
        read(self.store, self.at.saturating_add(from), dest)
    }

    /// What to read for these ranges of the data; `None` if the chunk is better read as a whole,
    /// which also tells what is wrong with it.
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

/// The bytes of a chunk that some ranges of its data need: see [`ChunkReader::fetch`].
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

    /// The block size that the chunk really has: see [`Chunk::blocksize`].
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

    /// Decodes the bytes `range` of the data, which lie in one of the ranges that were read, to
    /// `dest`, which has as many.
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

    /// Decodes fields of all items of a block, which lies in one of the ranges that were read, as
    /// [`Chunk::read_fields`]; `block` are the bytes of the data that it is. False also where the
    /// parts do not give them: the caller then takes the fields out of what
    /// [`decode`](Self::decode) gives.
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
                // Decoding the whole chunk tells what is wrong with it.
                Ok(decoded.unwrap_or(false))
            }
        }
    }

    /// What the parts did not give, the whole chunk does, or says why not.
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

/// The bytes of a range of the chunk out of the parts that were read; if they are missing, none,
/// and the decoder says so.
fn find_part<'p>(parts: &'p [(Range<usize>, Cow<'_, [u8]>)], range: &Range<usize>) -> &'p [u8] {
    let before = parts.partition_point(|(part, _)| part.start <= range.start);
    let found =
        before.checked_sub(1).and_then(|npart| parts.get(npart)).and_then(|(part, bytes)| {
            bytes.get(range.start.checked_sub(part.start)?..range.end.checked_sub(part.start)?)
        });
    found.unwrap_or_default()
}

/// The ranges of the chunk that several plans name, ascending and apart.
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
