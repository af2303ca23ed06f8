//! Reads parts of the data: only their chunks, and only the needed blocks.

use core::num::NonZeroU64;
use core::ops::Range;

use blosc_chunk::{Chunk, DParams, Destination, Threads, block::VlChunk};
use blosc_container::block_cache::BlockCache;
use blosc_container::pool::{Pooled, Reusable};
use blosc_io::zeroed;

use super::fetch::ChunkPart;
use super::{Location, SChunk, check_limit};
use crate::error::{Error, Limited, Param, Result};
use crate::header::ChunkSize;
use crate::seal::Bytes;

/// Buffers for decoding, used for one chunk after the other. Each thread has its own.
#[derive(Debug, Default)]
pub struct Scratch {
    /// A chunk as stored, or parts of it.
    pub(super) bytes: Vec<u8>,
    /// Decoded data before they are copied.
    data: Vec<u8>,
    pub(super) chunk: blosc_chunk::Scratch,
    /// The last block of an array from which single items were read.
    blocks: BlockCache,
}

/// The buffers of a [`Scratch`], borrowed separately.
pub(crate) struct Buffers<'a> {
    pub bytes: &'a mut Vec<u8>,
    pub data: &'a mut Vec<u8>,
    pub chunk: &'a mut blosc_chunk::Scratch,
    pub blocks: &'a mut BlockCache,
}

impl Scratch {
    /// Buffers for one thread of many: threads divide chunks, not blocks.
    pub(crate) fn for_one_thread(dparams: &DParams) -> Self {
        let chunk = blosc_chunk::Scratch::new(&dparams.clone().threads(Threads::One));
        Self { chunk, ..Self::default() }
    }

    pub(crate) fn parts(&mut self) -> Buffers<'_> {
        let Self { bytes, data, chunk, blocks, .. } = self;
        Buffers { bytes, data, chunk, blocks }
    }
}

impl Reusable for Scratch {
    /// Without the buffers of `blosc-chunk`, which are as long as a block.
    fn held_nbytes(&self) -> usize {
        let buffers = self.bytes.capacity().saturating_add(self.data.capacity());
        let blocks = usize::try_from(self.blocks.nbytes()).unwrap_or(usize::MAX);
        buffers.saturating_add(blocks)
    }
}

impl SChunk {
    /// Buffers for one thread of many, from an earlier reader if available.
    pub(crate) fn pooled(&self) -> Pooled<'_, Scratch> {
        self.context.pool.check_out(|| Scratch::for_one_thread(self.dparams()))
    }

    /// Buffers for decoding chunks of this frame.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        let chunk = blosc_chunk::Scratch::new(self.dparams());
        Scratch { chunk, ..Scratch::default() }
    }

    /// Decodes a chunk to the start of `dest`, which must have room for
    /// [`chunk_nbytes`](Self::chunk_nbytes), and returns the number of bytes.
    ///
    /// # Errors
    /// The error of the chunk, or [`Param::BufferLen`].
    pub fn decode_chunk_into(
        &self,
        nchunk: u64,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<usize> {
        let (location, head_len) = self.locate_reading(nchunk, &mut scratch.bytes)?;
        let (nbytes, len) = (location.nbytes(), dest.len());
        let Some(dest) = dest.get_mut(..nbytes) else {
            return Err(Param::BufferLen { len: len as u64, expected: nbytes as u64 }.into());
        };
        let part = ChunkPart { nchunk, location: &location, range: 0..nbytes };
        self.decode_part_after(part, head_len, dest, scratch)?;
        Ok(nbytes)
    }

    /// Decodes a chunk.
    ///
    /// # Errors
    /// The error of the chunk; [`OpenOptions::dparams`](crate::OpenOptions::dparams) limits its
    /// size.
    pub fn decode_chunk(&self, nchunk: u64) -> Result<Vec<u8>> {
        let location = self.locate(nchunk)?;
        let nbytes = location.nbytes();
        check_limit(Limited::Memory, nbytes as u64, self.dparams().limits.max_nbytes)?;
        let mut dest = zeroed(nbytes);
        let part = ChunkPart { nchunk, location: &location, range: 0..nbytes };
        self.decode_part(part, &mut dest, &mut self.scratch())?;
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
    /// The error of the chunk, also if it has no such block, or no VL-blocks.
    pub fn vl_block(&self, nchunk: u64, nblock: usize) -> Result<Vec<u8>> {
        self.with_vl(nchunk, |chunk, scratch| chunk.read(nblock, scratch))
    }

    fn with_vl<T>(
        &self,
        nchunk: u64,
        read: impl FnOnce(VlChunk<'_>, &mut blosc_chunk::Scratch) -> blosc_chunk::error::Result<T>,
    ) -> Result<T> {
        let location = self.locate(nchunk)?;
        let Location::Stored { source, at, header } = &location else {
            return Err(Param::VlBlocks.into());
        };
        let mut scratch = self.scratch();
        let bytes = source.read_chunk(*at, header, &mut scratch.bytes)?;
        self.compare_chunk(nchunk, &location, Bytes::Whole(bytes))?;
        Chunk::parse(bytes)
            .and_then(|chunk| read(chunk.as_vl()?, &mut scratch.chunk))
            .map_err(|error| Error::Chunk { nchunk, at: source.position(*at), source: error })
    }

    /// Fills `dest` with the data from byte `start` on.
    ///
    /// # Errors
    /// [`Param::Range`] if the data end before, or the error of a chunk.
    pub fn read_bytes(&self, start: u64, dest: &mut [u8]) -> Result<()> {
        let mut scratch = self.scratch();
        scratch.chunk.set_destination(Destination::for_nbytes(dest.len()));
        self.read_bytes_with(start, dest, &mut scratch)?;
        if dest.len() as u64 == self.nbytes() { self.compare_seal() } else { Ok(()) }
    }

    /// As [`read_bytes`](Self::read_bytes), with buffers of the caller.
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
        match self.prefetch_limit() {
            0 => self.read_bytes_now(start, dest, scratch),
            limit => self.read_announced(start, dest, limit, scratch),
        }
    }

    /// Reads a range inside of the data, chunk by chunk.
    pub(super) fn read_bytes_now(
        &self,
        start: u64,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let (mut at, mut dest) = (start, dest);
        while !dest.is_empty() {
            let (nchunk, from) = self.chunk_at(at)?;
            let (location, head_len) = self.locate_reading(nchunk, &mut scratch.bytes)?;
            let len = location.nbytes().saturating_sub(from).min(dest.len());
            let (now, later) = dest.split_at_mut(len);
            let range = from..from.saturating_add(len);
            let part = ChunkPart { nchunk, location: &location, range };
            self.decode_part_after(part, head_len, now, scratch)?;
            at = at.saturating_add(len as u64);
            dest = later;
        }
        Ok(())
    }

    /// Fills `dest` with the items `items`; `dest` has the length of these items.
    ///
    /// # Errors
    /// [`Param::Range`], [`Param::BufferLen`], or the error of a chunk.
    pub fn read(&self, items: Range<u64>, dest: &mut [u8]) -> Result<()> {
        self.read_bytes(self.start_of(items, dest)?, dest)
    }

    /// The first byte of `items`; checks that `dest` has the length of these items.
    pub(super) fn start_of(&self, items: Range<u64>, dest: &[u8]) -> Result<u64> {
        let typesize = NonZeroU64::from(self.state.header().typesize());
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

    /// The chunk that holds a byte of the data, and the position in this chunk. If several chunks
    /// begin at one byte, all but the last are empty.
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
}
