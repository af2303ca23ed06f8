//! Parts of the data: only the chunks that hold them are touched, and of those only the blocks.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use core::num::NonZeroU64;
use core::ops::Range;

use blosc_chunk::{
    Chunk, DParams, Destination, Special, SpecialKind, Threads, VlChunk, internal::fill_special,
};

use super::partial::{SHORT, fetch};
use super::{Location, SChunk, check_limit};
use crate::error::{Error, Limited, Param, Result};
use crate::header::ChunkSize;
use crate::nd::LastBlock;

/// Buffers for decoding, kept from chunk to chunk. Each thread has its own.
#[derive(Debug, Default)]
pub struct Scratch {
    /// A chunk as stored.
    bytes: Vec<u8>,
    /// Decoded data that are copied on.
    data: Vec<u8>,
    chunk: blosc_chunk::Scratch,
    /// See [`blocksize`](Self::blocksize).
    blocksize: Option<usize>,
    /// Of an array that is read by items.
    last_block: LastBlock,
}

/// The buffers of a [`Scratch`], to be borrowed apart.
pub(crate) struct Buffers<'a> {
    pub bytes: &'a mut Vec<u8>,
    pub data: &'a mut Vec<u8>,
    pub chunk: &'a mut blosc_chunk::Scratch,
    pub last_block: &'a mut LastBlock,
}

impl Scratch {
    /// Buffers for a thread that is one of many: chunks are spread over threads, so blocks are not.
    pub(crate) fn of_one_thread(dparams: &DParams) -> Self {
        let chunk = blosc_chunk::Scratch::new(&dparams.clone().threads(Threads::One));
        Self { chunk, ..Self::default() }
    }

    pub(crate) fn parts(&mut self) -> Buffers<'_> {
        let Self { bytes, data, chunk, last_block, .. } = self;
        Buffers { bytes, data, chunk, last_block }
    }

    /// Bytes that are held, apart from the chunk layer's.
    pub(crate) fn capacity(&self) -> usize {
        let buffers = self.bytes.capacity().saturating_add(self.data.capacity());
        buffers.saturating_add(self.last_block.capacity())
    }

    /// The block size that the regular chunk which was decoded last has in truth (bytes).
    pub(crate) fn blocksize(&self) -> Option<usize> {
        self.blocksize
    }
}

impl SChunk {
    /// Buffers for decoding chunks of this frame.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        let chunk = blosc_chunk::Scratch::new(&self.options.dparams);
        Scratch { chunk, ..Scratch::default() }
    }

    /// Decodes a chunk to the start of `dest`, which must have room for
    /// [`chunk_nbytes`](Self::chunk_nbytes), and returns how many bytes that are.
    ///
    /// # Errors
    /// What is wrong with the chunk, or [`Param::BufferLen`].
    pub fn decode_chunk_into(
        &self,
        nchunk: u64,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<usize> {
        let (location, read) = self.locate_reading(nchunk, room(&mut scratch.bytes, SHORT))?;
        let (nbytes, len) = (location.nbytes(), dest.len());
        let Some(dest) = dest.get_mut(..nbytes) else {
            return Err(Param::BufferLen { len: len as u64, expected: nbytes as u64 }.into());
        };
        self.decode_read(nchunk, &location, read, 0..nbytes, dest, scratch)?;
        Ok(nbytes)
    }

    /// Decodes a chunk.
    ///
    /// # Errors
    /// What is wrong with the chunk; its size is limited by
    /// [`OpenOptions::dparams`](crate::OpenOptions::dparams).
    pub fn decode_chunk(&self, nchunk: u64) -> Result<Vec<u8>> {
        let location = self.locate(nchunk)?;
        let nbytes = location.nbytes();
        check_limit(Limited::Memory, nbytes as u64, self.options.dparams.limits.max_nbytes)?;
        let mut dest = vec![0; nbytes];
        self.decode_part(nchunk, &location, 0..nbytes, &mut dest, &mut self.scratch())?;
        Ok(dest)
    }

    /// Decodes all blocks of a chunk with VL-blocks.
    ///
    /// # Errors
    /// As [`vl_block`](Self::vl_block).
    pub fn vl_blocks(&self, nchunk: u64) -> Result<Vec<Vec<u8>>> {
        self.with_vl(nchunk, |chunk, scratch| {
            (0..chunk.nblocks()).map(|n| chunk.read(n, scratch)).collect()
        })
    }

    /// Decodes one block of a chunk with VL-blocks.
    ///
    /// # Errors
    /// What is wrong with the chunk; that it has no such block, or no VL-blocks.
    pub fn vl_block(&self, nchunk: u64, nblock: usize) -> Result<Vec<u8>> {
        self.with_vl(nchunk, |chunk, scratch| chunk.read(nblock, scratch))
    }

    fn with_vl<T>(
        &self,
        nchunk: u64,
        read: impl FnOnce(VlChunk<'_>, &mut blosc_chunk::Scratch) -> blosc_chunk::Result<T>,
    ) -> Result<T> {
        let location = self.locate(nchunk)?;
        let (at, bytes) = match &location {
            Location::Stored { source, at, header } => {
                (source.position(*at), source.read_vec(*at, header.cbytes())?)
            }
            Location::Special { .. } => return Err(Param::VlBlocks.into()),
        };
        let mut scratch = blosc_chunk::Scratch::new(&self.options.dparams);
        Chunk::parse(&bytes)
            .and_then(|chunk| read(chunk.as_vl()?, &mut scratch))
            .map_err(|source| Error::Chunk { nchunk, at, source })
    }

    /// Fills `dest` with the data from byte `start` on.
    ///
    /// # Errors
    /// [`Param::Range`] if the data end before, or what is wrong with the chunks that hold them.
    pub fn read_bytes(&self, start: u64, dest: &mut [u8]) -> Result<()> {
        let mut scratch = self.scratch();
        scratch.chunk.set_destination(Destination::of(dest.len()));
        self.read_bytes_with(start, dest, &mut scratch)
    }

    /// The same, with buffers of the caller.
    pub(crate) fn read_bytes_with(
        &self,
        start: u64,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let len = self.nbytes();
        let end = start.saturating_add(dest.len() as u64);
        if end > len {
            return Err(Param::Range { start, end, len }.into());
        }
        let (mut at, mut dest) = (start, dest);
        while !dest.is_empty() {
            let (nchunk, from) = self.chunk_at(at)?;
            let (location, read) = self.locate_reading(nchunk, room(&mut scratch.bytes, SHORT))?;
            let part = location.nbytes().saturating_sub(from).min(dest.len());
            let (now, later) = dest.split_at_mut(part);
            self.decode_read(
                nchunk,
                &location,
                read,
                from..from.saturating_add(part),
                now,
                scratch,
            )?;
            at = at.saturating_add(part as u64);
            dest = later;
        }
        Ok(())
    }

    /// Fills `dest` with the items `items`; it has as many bytes as they.
    ///
    /// # Errors
    /// [`Param::Range`], [`Param::BufferLen`], or what is wrong with the chunks that hold them.
    pub fn read(&self, items: Range<u64>, dest: &mut [u8]) -> Result<()> {
        self.read_bytes(self.start_of(items, dest)?, dest)
    }

    /// The first byte of `items`, for which `dest` must have room.
    pub(super) fn start_of(&self, items: Range<u64>, dest: &[u8]) -> Result<u64> {
        let typesize = NonZeroU64::from(self.state.header.typesize());
        let (start, end, len) = (items.start, items.end, self.nbytes() / typesize);
        let nitems = end.checked_sub(start).filter(|_| end <= len).ok_or(Param::Range {
            start,
            end,
            len,
        })?;
        let expected = nitems.saturating_mul(typesize.get());
        if dest.len() as u64 != expected {
            return Err(Param::BufferLen { len: dest.len() as u64, expected }.into());
        }
        Ok(start.saturating_mul(typesize.get()))
    }

    /// The chunk that holds a byte of the data, and which byte of the chunk that is. Of several
    /// chunks that begin at one byte, all but the last are empty.
    pub(crate) fn chunk_at(&self, at: u64) -> Result<(u64, usize)> {
        let (nchunk, from) = match self.chunksize() {
            ChunkSize::Fixed(size) => (at / NonZeroU64::from(size), at % NonZeroU64::from(size)),
            ChunkSize::Variable | ChunkSize::Unset => {
                let starts = self.starts()?;
                let nchunk = starts.partition_point(|start| *start <= at).saturating_sub(1);
                (nchunk as u64, at.saturating_sub(starts.get(nchunk).copied().unwrap_or(0)))
            }
        };
        Ok((nchunk, usize::try_from(from).unwrap_or(usize::MAX)))
    }

    /// Decodes the bytes `range` of a chunk's data; `dest` has as many.
    pub(crate) fn decode_part(
        &self,
        nchunk: u64,
        location: &Location,
        range: Range<usize>,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.decode_read(nchunk, location, 0, range, dest, scratch)
    }

    /// The same for a chunk of which the first `read` bytes are in the buffer of `scratch`.
    fn decode_read(
        &self,
        nchunk: u64,
        location: &Location,
        read: usize,
        range: Range<usize>,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let (source, at, header) = match location {
            Location::Special { kind, .. } => {
                let at = self.index_position();
                return fill(*kind, self.typesize(), range.start, dest)
                    .map_err(|source| Error::Chunk { nchunk, at, source });
            }
            Location::Stored { source, at, header } => (source, *at, header),
        };
        let cbytes = header.cbytes();
        if header.is_memcpyed() && read < cbytes {
            // The header was parsed only because the data follow it, byte for byte.
            let from = header.header_len().saturating_add(range.start) as u64;
            return source.read_into(at.saturating_add(from), dest);
        }
        let Scratch { bytes, chunk: buffers, blocksize, .. } = scratch;
        let bytes = match source.in_memory(at, cbytes) {
            Some(there) => there,
            None if read >= cbytes => bytes,
            None => {
                fetch(source, at, header, &range, bytes)?;
                bytes
            }
        };
        let decode = |chunk: Chunk<'_>| {
            *blocksize = chunk.blocksize();
            chunk.read_bytes(range, dest, buffers)
        };
        let done = Chunk::parse(bytes).and_then(decode);
        done.map_err(|error| Error::Chunk { nchunk, at: source.position(at), source: error })
    }
}

/// The first `len` bytes of a buffer that only grows.
pub(crate) fn room(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    buffer.get_mut(..len).unwrap_or_default()
}

/// Fills `dest` with a run, of which it starts at byte `start`.
pub(crate) fn fill(
    kind: SpecialKind,
    typesize: usize,
    start: usize,
    dest: &mut [u8],
) -> blosc_chunk::Result<()> {
    if kind != SpecialKind::Nans {
        dest.fill(0);
        return Ok(());
    }
    // A run begins with a whole item: the cut one in front is filled apart.
    let cut = start.checked_rem(typesize).unwrap_or(0);
    let (front, rest) = dest.split_at_mut(
        typesize.saturating_sub(cut).checked_rem(typesize).unwrap_or(0).min(dest.len()),
    );
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
