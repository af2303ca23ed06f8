//! From a located chunk to its data: runs in the index, and stored chunks, of which only the needed
//! bytes are read.

use core::ops::Range;

use blosc_chunk::internal::fill_special;
use blosc_chunk::{Chunk, ChunkHeader, FilterId, Kind, Special, SpecialKind};
use blosc_container::chunk_reader::ReadError;

use super::{Location, SChunk, Scratch};
use crate::error::{Error, Result};
use crate::seal::{Bytes, bytes_of, is_stored_plain};

/// A part of the data of a chunk.
#[derive(Clone, Debug)]
pub(crate) struct ChunkPart<'l> {
    pub nchunk: u64,
    pub location: &'l Location,
    /// Bytes of the chunk's data.
    pub range: Range<usize>,
}

impl SChunk {
    /// Decodes a part of a chunk to `dest`, which has the length of the part.
    pub(crate) fn decode_part(
        &self,
        part: ChunkPart<'_>,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.decode_part_after(part, 0, dest, scratch)
    }

    /// As [`decode_part`](Self::decode_part), for a chunk whose first `head_len` bytes are in
    /// `scratch`.
    pub(super) fn decode_part_after(
        &self,
        ChunkPart { nchunk, location, range }: ChunkPart<'_>,
        head_len: usize,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        match location {
            Location::Special { kind, .. } => {
                self.compare_chunk(nchunk, location, Bytes::Unread)?;
                let at = self.index_position();
                fill(*kind, self.typesize(), range.start, dest).map_err(|source| Error::Chunk {
                    nchunk,
                    at,
                    source,
                })
            }
            Location::Stored { source, at, header } => {
                let Scratch { bytes, chunk, .. } = scratch;
                let mut reader = source.chunk_reader(*at, header, bytes, head_len);
                let failed = |error| located(nchunk, source.position(*at), error);
                let is_whole = range.len() == header.nbytes();
                if !self.is_compared(nchunk, is_whole) {
                    return reader.decode(range, dest, chunk).map_err(failed);
                }
                if is_whole && is_stored_plain(header) && !source.is_in_memory() {
                    reader.decode(range, dest, chunk).map_err(failed)?;
                    return self.compare_chunk(nchunk, location, Bytes::Data(dest));
                }
                let read = if is_whole {
                    Bytes::Whole(reader.bytes().map_err(failed)?)
                } else {
                    Bytes::Unread
                };
                self.compare_chunk(nchunk, location, read)?;
                reader.decode(range, dest, chunk).map_err(failed)
            }
        }
    }

    /// Reads the bytes that decoding `ranges` of a chunk's data needs. The ranges ascend.
    pub(crate) fn fetch<'a>(
        &self,
        nchunk: u64,
        location: &'a Location,
        ranges: &[Range<usize>],
        bytes: &'a mut Vec<u8>,
    ) -> Result<Fetched<'a>> {
        let (at, content) = match location {
            Location::Special { kind, .. } => {
                self.compare_chunk(nchunk, location, Bytes::Unread)?;
                (self.index_position(), Content::Run { kind: *kind, typesize: self.typesize() })
            }
            Location::Stored { source, at, header } => {
                let position = source.position(*at);
                let fetched = source.chunk_reader(*at, header, bytes, 0).fetch(ranges);
                let fetched = fetched.map_err(|error| located(nchunk, position, error))?;
                if self.is_compared(nchunk, fetched.whole().is_some()) {
                    self.compare_chunk(nchunk, location, bytes_of(fetched.whole()))?;
                }
                (position, Content::Stored(fetched))
            }
        };
        Ok(Fetched { content, nchunk, at })
    }
}

/// The bytes of a chunk for some ranges of its data.
#[derive(Debug)]
pub(crate) struct Fetched<'a> {
    content: Content<'a>,
    nchunk: u64,
    /// Position in the file, for errors.
    at: u64,
}

#[derive(Debug)]
enum Content<'a> {
    /// A run that is not stored.
    Run {
        kind: SpecialKind,
        typesize: usize,
    },
    Stored(blosc_container::chunk_reader::Fetched<'a>),
}

impl<'a> Fetched<'a> {
    /// The real block size of a regular chunk (bytes).
    pub(crate) fn blocksize(&self) -> Option<usize> {
        match &self.content {
            Content::Run { .. } => None,
            Content::Stored(fetched) => fetched.blocksize(),
        }
    }

    /// The chunk, if it was read completely.
    pub(crate) fn whole(&self) -> Option<&Chunk<'a>> {
        match &self.content {
            Content::Run { .. } => None,
            Content::Stored(fetched) => fetched.whole(),
        }
    }

    /// Whether reading blocks of `len` bytes one by one decodes no byte twice.
    pub(crate) fn is_blockwise(&self, len: usize) -> bool {
        let Content::Stored(fetched) = &self.content else { return true };
        let header = fetched.header();
        match header.kind() {
            // Chunks of Blosc1 do not store the ends of blocks, and delta refers to the first
            // block.
            Kind::Regular => {
                header.version() > 2
                    && !header.pipeline().contains(FilterId::DELTA)
                    && header.blocksize() == len
                    && len.checked_rem(header.typesize()) == Some(0)
            }
            Kind::Vl => false,
            _ => true,
        }
    }

    /// Passes on the byte planes of the block at bytes `block` of the data. False unless all of the
    /// chunk was read and the block is stored as planes of items of `typesize` bytes.
    pub(crate) fn show_planes(
        &self,
        block: Range<usize>,
        typesize: usize,
        scratch: &mut blosc_chunk::Scratch,
        show: impl FnOnce(&[&[u8]]),
    ) -> Result<bool> {
        let Some((chunk, nblock)) = self.whole_block(&block, typesize) else { return Ok(false) };
        self.in_chunk(chunk.show_planes(nblock, scratch, show))
    }

    /// The chunk, and the number of the block at bytes `block` of the data; `None` unless all of
    /// the chunk was read and it has items of `typesize` bytes.
    fn whole_block(&self, block: &Range<usize>, typesize: usize) -> Option<(&Chunk<'a>, usize)> {
        let chunk = self.whole()?;
        let nblock = block.start.checked_div(block.len())?;
        is_whole_block(chunk.header(), block, typesize).then_some((chunk, nblock))
    }

    /// Decodes fields of the items of `typesize` bytes of the block at bytes `block` of the data,
    /// each to its destination; false if that is impossible.
    pub(crate) fn read_fields(
        &self,
        block: &Range<usize>,
        typesize: usize,
        fields: &[Range<usize>],
        dests: &mut [&mut [u8]],
        scratch: &mut blosc_chunk::Scratch,
    ) -> Result<bool> {
        let Content::Stored(fetched) = &self.content else { return Ok(false) };
        if !is_whole_block(fetched.header(), block, typesize) {
            return Ok(false);
        }
        let read = fetched.read_fields(block, fields, dests, scratch);
        read.map_err(|error| located(self.nchunk, self.at, error))
    }

    /// Adds number and position of the chunk to an error.
    fn in_chunk<T>(&self, result: blosc_chunk::error::Result<T>) -> Result<T> {
        result.map_err(|source| Error::Chunk { nchunk: self.nchunk, at: self.at, source })
    }

    /// Decodes the bytes `range` of the data to `dest`, which has their length. One of the ranges
    /// that were read must contain them.
    pub(crate) fn decode(
        &self,
        range: Range<usize>,
        dest: &mut [u8],
        scratch: &mut blosc_chunk::Scratch,
    ) -> Result<()> {
        let decoded = match &self.content {
            Content::Run { kind, typesize } => {
                fill(*kind, *typesize, range.start, dest).map_err(ReadError::from)
            }
            Content::Stored(fetched) => fetched.decode(range, dest, scratch),
        };
        decoded.map_err(|error| located(self.nchunk, self.at, error))
    }
}

/// Whether the bytes `block` of the data can be a whole block of items of `typesize` bytes. Reading
/// will report the errors of other chunks.
fn is_whole_block(header: &ChunkHeader, block: &Range<usize>, typesize: usize) -> bool {
    header.blocksize() == block.len()
        && block.end <= header.nbytes()
        && header.typesize() == typesize
}

/// Adds number and position of the chunk to the error.
#[cold]
pub(crate) fn located(nchunk: u64, at: u64, error: ReadError) -> Error {
    match error {
        ReadError::Io { at, len, source } => Error::Io { at, len, source },
        ReadError::Chunk(source) => Error::Chunk { nchunk, at, source },
    }
}

/// Fills `dest` with a run, from byte `start` of the run on.
pub(crate) fn fill(
    kind: SpecialKind,
    typesize: usize,
    start: usize,
    dest: &mut [u8],
) -> blosc_chunk::error::Result<()> {
    if kind != SpecialKind::Nans {
        dest.fill(0);
        return Ok(());
    }
    // A run begins with a whole item. If `dest` begins within an item, the rest of that item is
    // filled on its own.
    let cut = start.checked_rem(typesize).unwrap_or(0);
    let rest_of_item = typesize.saturating_sub(cut).checked_rem(typesize).unwrap_or(0);
    let (front, rest) = dest.split_at_mut(rest_of_item.min(dest.len()));
    let mut item = [0; 8];
    fill_special(Special::Nans, typesize, &mut item)?;
    front.iter_mut().zip(item.iter().skip(cut)).for_each(|(byte, of_item)| *byte = *of_item);
    fill_special(Special::Nans, typesize, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_nan_may_start_and_end_anywhere() {
        for typesize in [4, 8] {
            let mut whole = [1; 32];
            fill(SpecialKind::Nans, typesize, 0, &mut whole).unwrap();
            assert_eq!(f32::from_le_bytes(whole[..4].try_into().unwrap()).is_nan(), typesize == 4);
            for start in 0..16 {
                for len in 0..16 {
                    let mut part = vec![1; len];
                    fill(SpecialKind::Nans, typesize, start, &mut part).unwrap();
                    assert_eq!(part, whole[start..start + len], "{typesize} {start} {len}");
                }
            }
        }
        assert!(fill(SpecialKind::Nans, 2, 0, &mut [0; 4]).is_err());
    }
}
