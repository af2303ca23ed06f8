//! From the number of a chunk to its bytes: offset and header, and a check that the size fits the
//! position.

use core::ops::Range;

use blosc_chunk::{ChunkHeader, CodecId, Kind, Pipeline, SpecialKind};
use blosc_container::buffer::resized;
use blosc_container::chunk_reader::MAX_SHORT_NBYTES;

use super::{SChunk, check_limit};
use crate::error::{Corrupt, Error, Limited, Result};
use crate::offsets::Offset;
use crate::seal::Bytes;
use crate::source::Source;

/// The position of a chunk, checked.
///
/// Invariants: the bytes `at..at + header.cbytes()` of `source` lie in the data section, or in the
/// chunk's file; `nbytes` is the size that the frame requires of this chunk.
#[derive(Clone, Debug)]
pub(crate) enum Location {
    /// A run in the index.
    Special { kind: SpecialKind, nbytes: usize },
    /// A chunk at a position of the frame, or of its own file.
    Stored { source: Source, at: u64, header: ChunkHeader },
}

impl Location {
    /// Uncompressed size (bytes).
    pub(crate) fn nbytes(&self) -> usize {
        match self {
            Self::Special { nbytes, .. } => *nbytes,
            Self::Stored { header, .. } => header.nbytes(),
        }
    }
}

/// A chunk as it is stored in the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkBytes {
    /// The bytes of a stored chunk.
    Stored(Vec<u8>),
    /// A run that only the index notes.
    #[non_exhaustive]
    Special {
        /// The kind of the run.
        kind: SpecialKind,
        /// Uncompressed size (bytes).
        nbytes: usize,
    },
}

/// The properties of a chunk, without its data.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkInfo {
    /// Number of the chunk.
    pub nchunk: u64,
    /// Position of its start in the file (bytes), or in the chunk's own file in a sparse frame;
    /// `None` for a run that only the index notes.
    pub offset: Option<u64>,
    /// Its length in the data section (bytes).
    pub cbytes: u64,
    /// Uncompressed size (bytes).
    pub nbytes: u64,
    /// The kind of the run, if the chunk is a run.
    pub special: Option<SpecialKind>,
    /// The properties of a stored chunk; `None` for a run that only the index notes.
    pub stored: Option<StoredInfo>,
}

/// The fields of a stored chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredInfo {
    /// Chunk format version.
    pub version: u8,
    /// Bytes of an item, as in the chunk: wide items (over 255 bytes) have 1.
    pub typesize: usize,
    /// Bytes of a block; in a chunk with VL-blocks, their number.
    pub blocksize: usize,
    /// Id of the codec.
    pub codec: CodecId,
    /// Filters and their parameters.
    pub pipeline: Pipeline,
    /// Whether the data are stored uncompressed.
    pub is_memcpyed: bool,
    /// Whether blocks are split into streams.
    pub is_split: bool,
    /// Whether the blocks share a dictionary.
    pub has_dict: bool,
    /// Whether blocks have individual sizes.
    pub is_vl: bool,
}

impl SChunk {
    /// Reads a chunk as stored.
    ///
    /// # Errors
    /// [`Param::ChunkNumber`](crate::error::Param::ChunkNumber), or the error of the chunk's
    /// position or header.
    pub fn chunk(&self, nchunk: u64) -> Result<ChunkBytes> {
        let location = self.locate(nchunk)?;
        match &location {
            Location::Special { kind, nbytes } => {
                self.compare_chunk(nchunk, &location, Bytes::Unread)?;
                Ok(ChunkBytes::Special { kind: *kind, nbytes: *nbytes })
            }
            Location::Stored { source, at, header } => {
                let bytes = source.read_vec(*at, header.cbytes())?;
                self.compare_chunk(nchunk, &location, Bytes::Whole(&bytes))?;
                Ok(ChunkBytes::Stored(bytes))
            }
        }
    }

    /// Reads a chunk as stored to `buffer`, which grows as needed and may be kept for the next
    /// chunk. `None` for a run that only the index notes; [`chunk_info`](Self::chunk_info)
    /// describes it.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    pub fn chunk_to<'a>(&self, nchunk: u64, buffer: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>> {
        let location = self.locate(nchunk)?;
        let Location::Stored { source, at, header } = &location else {
            self.compare_chunk(nchunk, &location, Bytes::Unread)?;
            return Ok(None);
        };
        let bytes = resized(buffer, header.cbytes());
        source.read_into(*at, bytes)?;
        self.compare_chunk(nchunk, &location, Bytes::Whole(bytes))?;
        Ok(Some(bytes))
    }

    /// The properties of a chunk. Reads at most its header.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    pub fn chunk_info(&self, nchunk: u64) -> Result<ChunkInfo> {
        Ok(match self.locate(nchunk)? {
            Location::Special { kind, nbytes } => ChunkInfo {
                nchunk,
                offset: None,
                cbytes: 0,
                nbytes: nbytes as u64,
                special: Some(kind),
                stored: None,
            },
            Location::Stored { source, at, header } => ChunkInfo {
                nchunk,
                offset: Some(source.position(at)),
                cbytes: header.cbytes() as u64,
                nbytes: header.nbytes() as u64,
                special: header.special(),
                stored: Some(StoredInfo::new(&header)),
            },
        })
    }

    /// The properties of each chunk, in order.
    pub fn chunk_infos(&self) -> impl Iterator<Item = Result<ChunkInfo>> {
        (0..self.nchunks()).map(|nchunk| self.chunk_info(nchunk))
    }

    /// Uncompressed size of a chunk (bytes).
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk); with a fixed chunk size only
    /// [`Param::ChunkNumber`](crate::error::Param::ChunkNumber).
    pub fn chunk_nbytes(&self, nchunk: u64) -> Result<usize> {
        match self.state.expected_nbytes(nchunk)? {
            Some(nbytes) => Ok(nbytes),
            None => Ok(self.locate(nchunk)?.nbytes()),
        }
    }

    /// Finds a chunk and checks its header.
    pub(crate) fn locate(&self, nchunk: u64) -> Result<Location> {
        self.locate_into(nchunk, &mut [0; ChunkHeader::MAX_LEN]).map(|(location, _)| location)
    }

    /// As [`locate`](Self::locate), and reads the whole chunk to `bytes` with its header if it is
    /// probably short. Returns the number of chunk bytes at the start of `bytes`.
    pub(crate) fn locate_reading(
        &self,
        nchunk: u64,
        bytes: &mut Vec<u8>,
    ) -> Result<(Location, usize)> {
        if self.state.source().is_in_memory() {
            return Ok((self.locate(nchunk)?, 0));
        }
        self.locate_into(nchunk, resized(bytes, MAX_SHORT_NBYTES))
    }

    /// As [`locate_reading`](Self::locate_reading), to `first`, which has room for a header.
    fn locate_into(&self, nchunk: u64, first: &mut [u8]) -> Result<(Location, usize)> {
        let expected = self.state.expected_nbytes(nchunk)?;
        let kind = match self.offset_of(nchunk)? {
            Offset::Special(kind) => kind,
            Offset::Stored(offset) => {
                let stored = self.stored(nchunk, offset, first);
                let (source, at, header, len) =
                    stored.map_err(|error| self.foreign_or_damaged(nchunk, error))?;
                self.check_chunk(nchunk, source.position(at), &header, expected)?;
                return Ok((Location::Stored { source, at, header }, len));
            }
        };
        let corrupt = |what| Error::Corrupt { at: self.index_position(), what };
        let typesize = self.state.header().typesize().get();
        if kind == SpecialKind::Nans && !matches!(typesize, 4 | 8) {
            return Err(corrupt(Corrupt::NanTypesize { nchunk, typesize }));
        }
        let nbytes = match expected {
            Some(nbytes) => nbytes,
            None => self.nbytes_of_special(nchunk)?,
        };
        Ok((Location::Special { kind, nbytes }, 0))
    }

    /// All numbers of the index, if the limit allows their memory.
    pub(crate) fn offsets(&self) -> Result<Vec<u64>> {
        let state = &self.state;
        state.index().table(state.source(), self.open_options().max_index, self.dparams())
    }

    /// The entry of the index for a chunk, checked.
    pub(crate) fn offset_of(&self, nchunk: u64) -> Result<Offset> {
        self.state.index().get(self.state.source(), nchunk, self.dparams())
    }

    /// The byte range from a chunk to the next one in the file, which the index gives without
    /// reading the chunk. `None` for a run that only the index notes, for a chunk in a file of its
    /// own, and if the next chunk lies before this one.
    ///
    /// ```
    /// use b2frame::{FrameParams, SChunk, to_cframe};
    ///
    /// let data: Vec<u8> = (0..50_000_u32).flat_map(u32::to_le_bytes).collect();
    /// let schunk =
    ///     SChunk::from_cframe(to_cframe(&data, &FrameParams::default().chunksize(100_000))?)?;
    /// let extent = schunk.chunk_extent(1).unwrap_or_default();
    /// assert_eq!(Some(extent.start), schunk.chunk_info(1)?.offset);
    /// assert_eq!(extent.end - extent.start, schunk.chunk_info(1)?.cbytes);
    /// # Ok::<(), b2frame::Error>(())
    /// ```
    #[must_use]
    pub fn chunk_extent(&self, nchunk: u64) -> Option<Range<u64>> {
        let state = &self.state;
        if nchunk >= self.nchunks() || state.folder().is_some() {
            return None;
        }
        let Ok(Offset::Stored(offset)) = self.offset_of(nchunk) else { return None };
        let room = state.index().room(state.source(), nchunk, offset, self.dparams())?;
        let at = u64::from(state.header().header_len()).saturating_add(offset);
        let start = state.source().position(at);
        Some(start..start.saturating_add(room))
    }

    /// Position of a chunk's start in the file, as the index gives it (bytes).
    pub(crate) fn stored_at(&self, nchunk: u64) -> Option<u64> {
        match self.offset_of(nchunk) {
            Ok(Offset::Stored(_)) if self.state.folder().is_some() => Some(0),
            Ok(Offset::Stored(offset)) => Some(
                self.state
                    .source()
                    .position(offset)
                    .saturating_add(self.state.header().header_len().into()),
            ),
            _ => None,
        }
    }

    /// The header of the chunk with this number in the index. The whole chunk must lie in the data
    /// section or in its file. The last number is the count of chunk bytes read to `first`.
    fn stored(
        &self,
        nchunk: u64,
        offset: u64,
        first: &mut [u8],
    ) -> Result<(Source, u64, ChunkHeader, usize)> {
        let (source, at, room) = self.place(nchunk, offset)?;
        let likely = if first.len() <= ChunkHeader::MAX_LEN {
            // There is room only for the header.
            None
        } else if self.state.folder().is_some() {
            Some(room)
        } else {
            self.state.index().gap(nchunk, offset)
        };
        let len = match likely.and_then(|likely| usize::try_from(likely).ok()) {
            Some(likely) if likely <= first.len() => likely.max(ChunkHeader::MAX_LEN),
            _ => ChunkHeader::MAX_LEN,
        };
        let len = usize::try_from(room).map_or(len, |room| room.min(len));
        let head = first.get_mut(..len).unwrap_or_default();
        source.read_into(at, head)?;
        let position = source.position(at);
        let header = ChunkHeader::parse(head).map_err(|source| Error::Chunk {
            nchunk,
            at: position,
            source,
        })?;
        let cbytes = header.cbytes() as u64;
        if cbytes > room {
            return Err(Error::Corrupt {
                at: position,
                what: Corrupt::ChunkCbytes { nchunk, cbytes, room },
            });
        }
        Ok((source, at, header, len))
    }

    /// The error of a missing file: if the present index does not refer to it, the frame has
    /// changed.
    fn outdated(&self, error: Error) -> Error {
        match error {
            Error::ChunkFile { nchunk, name, source }
                if source.kind() == std::io::ErrorKind::NotFound
                    && matches!(self.reopen(), Ok(Some(_))) =>
            {
                Error::Outdated { nchunk, name }
            }
            error => error,
        }
    }

    /// The start of a stored chunk, and the number of bytes available for it.
    pub(crate) fn place(&self, nchunk: u64, offset: u64) -> Result<(Source, u64, u64)> {
        let Some(folder) = self.state.folder() else {
            let at = u64::from(self.state.header().header_len()).saturating_add(offset);
            return Ok((self.state.source().clone(), at, self.cbytes().saturating_sub(offset)));
        };
        // The index has checked that its numbers are numbers of files.
        let file = folder.open_chunk(nchunk, u32::try_from(offset).unwrap_or(u32::MAX));
        let source = file.map_err(|error| self.outdated(error))?;
        let room = source.available()?;
        Ok((source, 0, room))
    }

    /// Checks that the chunk fits its position in the frame.
    fn check_chunk(
        &self,
        nchunk: u64,
        at: u64,
        header: &ChunkHeader,
        expected: Option<usize>,
    ) -> Result<()> {
        let corrupt = |what| Err(Error::Corrupt { at, what });
        let (found, expected_vl) =
            (header.kind() == Kind::Vl, self.state.header().flags().vl_blocks());
        let is_run = header.special().is_some();
        if found != expected_vl && !is_run {
            return corrupt(Corrupt::VlBlocks { nchunk, found, expected: expected_vl });
        }
        match expected {
            Some(expected) if expected != header.nbytes() => corrupt(Corrupt::ChunkNbytes {
                nchunk,
                nbytes: header.nbytes() as u64,
                expected: expected as u64,
            }),
            _ => Ok(()),
        }
    }

    /// The start of each chunk in the data (bytes), and the end, in a frame with variable chunk
    /// sizes. The first call reads the headers of all chunks.
    ///
    /// The frame then stores no sizes of special chunks. The size of a single one can be computed.
    /// With two or more only their sum is known, and positions after the first of them are unknown.
    pub(crate) fn starts(&self) -> Result<&[u64]> {
        if let Some(starts) = self.starts.get() {
            return self.starts_or_error(starts);
        }
        let read = self.read_starts()?;
        self.starts_or_error(self.starts.get_or_init(|| read))
    }

    fn starts_or_error<'a>(&self, starts: &'a Result<Vec<u64>, Corrupt>) -> Result<&'a [u64]> {
        let at = self.index_position();
        starts.as_deref().map_err(|what| Error::Corrupt { at, what: what.clone() })
    }

    /// The outer result is a failure to read; the inner one is a property of the frame.
    fn read_starts(&self) -> Result<Result<Vec<u64>, Corrupt>> {
        let needed = self.nchunks().saturating_mul(size_of::<u64>() as u64);
        check_limit(Limited::Index, needed, self.open_options().max_index)?;
        self.prefetch_headers();
        let mut sizes = Vec::new();
        let (mut known, mut specials) = (0_u64, vec![]);
        for nchunk in 0..self.nchunks() {
            let nbytes = match self.offset_of(nchunk)? {
                Offset::Special(_) => {
                    specials.push(nchunk);
                    0
                }
                Offset::Stored(offset) => {
                    let (_, _, header, _) =
                        self.stored(nchunk, offset, &mut [0; ChunkHeader::MAX_LEN])?;
                    header.nbytes() as u64
                }
            };
            known = known.saturating_add(nbytes);
            sizes.push(nbytes);
        }
        let expected = self.nbytes();
        let left = expected.checked_sub(known);
        Ok(match (specials.as_slice(), left) {
            (&[], Some(0)) => Ok(sums(&sizes)),
            (&[special], Some(left)) if left <= i32::MAX.unsigned_abs().into() => {
                if let Some(size) = usize::try_from(special).ok().and_then(|n| sizes.get_mut(n)) {
                    *size = left;
                }
                Ok(sums(&sizes))
            }
            (&[nchunk, _, ..], Some(nbytes)) => {
                Err(Corrupt::SizeLost { nchunk, count: specials.len() as u64, nbytes })
            }
            _ => Err(Corrupt::SumOfChunks { found: known, expected }),
        })
    }

    /// The size of a special chunk in a frame with variable chunk sizes (bytes).
    fn nbytes_of_special(&self, nchunk: u64) -> Result<usize> {
        let at = self.index_position();
        let starts = self.starts().map_err(|error| match error {
            Error::Corrupt { what: Corrupt::SizeLost { count, nbytes, .. }, .. } => {
                Error::Corrupt { at, what: Corrupt::SizeLost { nchunk, count, nbytes } }
            }
            other => other,
        })?;
        let n = usize::try_from(nchunk).unwrap_or(usize::MAX);
        let (start, end) = (starts.get(n), starts.get(n.saturating_add(1)));
        let nbytes = end.copied().unwrap_or(0).saturating_sub(start.copied().unwrap_or(0));
        Ok(usize::try_from(nbytes).unwrap_or(usize::MAX))
    }
}

impl StoredInfo {
    fn new(header: &ChunkHeader) -> Self {
        Self {
            version: header.version(),
            typesize: header.typesize(),
            blocksize: header.blocksize(),
            codec: header.codec_id(),
            pipeline: header.pipeline(),
            is_memcpyed: header.is_memcpyed(),
            is_split: header.is_split(),
            has_dict: header.has_dict(),
            is_vl: header.is_vl(),
        }
    }
}

/// The start of each of these sizes, and the end.
fn sums(sizes: &[u64]) -> Vec<u64> {
    let sum = |total: &mut u64, size: &u64| {
        *total = total.saturating_add(*size);
        Some(*total)
    };
    core::iter::once(0).chain(sizes.iter().scan(0, sum)).collect()
}
