//! Changes of data: append, replace, insert and overwrite.
//!
//! Appended data fill the short last chunk up. They are held back until a chunk is full:
//! compressing the last chunk anew for every few bytes would take time quadratic in the length.

use std::io;

use super::chunks::Place;
use super::{SChunkWriter, is_same_way};
use blosc_container::Budget;

use crate::error::{Error, Param, Result};
use crate::header::{ChunkSize, MAX_CHUNK};
use crate::schunk::SChunk;

impl SChunkWriter {
    /// Appends data.
    ///
    /// With a fixed chunk size the data continue the last chunk, if that is short, and then fill
    /// chunks of that size. If no size was set, all of `data` is the first chunk and sets the size.
    /// With variable sizes `data` is a chunk.
    ///
    /// # Errors
    /// [`Param::VlBlocks`] if the frame has chunks of another kind, the error of the last chunk,
    /// [`Error::Compress`](crate::Error::Compress), or [`Error::Write`](crate::Error::Write).
    pub fn append(&mut self, data: &[u8]) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        self.lock()?;
        let Some(size) = self.frame.header().chunksize().fixed() else {
            return data.chunks(self.max_chunk()).try_for_each(|data| self.append_as_chunk(data));
        };
        let size = size as usize;
        self.load_tail()?;
        let mut data = data;
        while !data.is_empty() {
            let room = size.saturating_sub(self.tail.len()).min(data.len());
            let (now, later) = data.split_at(room);
            if now.len() == size {
                self.append_as_chunk(now)?;
            } else {
                self.tail.extend_from_slice(now);
                self.flush_full_tail(size)?;
            }
            data = later;
        }
        Ok(())
    }

    /// Whether the compressed chunks of another super-chunk can follow the chunks here: chunks and
    /// items have the same sizes and the same compression, and the last chunk here is full.
    ///
    /// # Errors
    /// As [`schunk`](Self::schunk).
    pub fn is_alike(&mut self, other: &SChunk) -> Result<bool> {
        self.lock()?;
        let is_full = self.tail.is_empty() && !self.has_short_end();
        let size = |schunk: &SChunk| (schunk.chunksize().fixed(), schunk.typesize());
        let (mine, others) = (size(self.schunk()?), size(other));
        let is_data = mine.0.is_some() && !other.header().flags().vl_blocks();
        Ok(is_full && is_data && mine == others && is_same_way(&other.cparams(), self.cparams()))
    }

    /// Appends the data of another super-chunk, compressed anew: as chunks of the size that is set
    /// here, or, where sizes vary, chunk by chunk. VL-blocks stay VL-blocks.
    ///
    /// # Errors
    /// As [`append`](Self::append), or the error of a chunk.
    pub fn append_data(&mut self, other: &SChunk, budget: &Budget) -> Result<()> {
        if other.header().flags().vl_blocks() {
            (0..other.nchunks()).try_for_each(|nchunk| {
                let blocks = other.vl_blocks(nchunk)?;
                self.append_vl(&blocks.iter().map(Vec::as_slice).collect::<Vec<_>>())
            })?;
        } else if self.frame.header().chunksize().fixed().is_some() {
            other.decode_ordered(0..other.nchunks(), budget, |_, data| self.append(data))?;
        } else {
            // Large chunks would be read in parts.
            (0..other.nchunks())
                .try_for_each(|nchunk| self.append(&other.decode_chunk(nchunk)?))?;
        }
        self.compare_source(other)
    }

    /// Replaces the data of a chunk. With a fixed chunk size `data` must have that size; the last
    /// chunk may be shorter.
    ///
    /// # Errors
    /// [`Param::ChunkNumber`], [`Param::ChunkNbytes`], [`Error::Compress`](crate::Error::Compress),
    /// or [`Error::Write`](crate::Error::Write).
    pub fn update(&mut self, nchunk: u64, data: &[u8]) -> Result<()> {
        self.begin()?;
        self.place_data(Place::InsteadOf(nchunk), data)
    }

    /// Inserts a chunk of data before another one, or after the last. With a fixed chunk size
    /// `data` must have that size.
    ///
    /// # Errors
    /// As [`update`](Self::update); [`Param::AfterLastChunk`] after a short chunk.
    pub fn insert(&mut self, nchunk: u64, data: &[u8]) -> Result<()> {
        self.begin()?;
        self.place_data(Place::Before(nchunk), data)
    }

    /// Overwrites items, from item `start` on. Chunks that are overwritten in part are decoded and
    /// compressed again.
    ///
    /// # Errors
    /// [`Param::Range`] if the range ends after the last item, [`Param::BufferLen`] unless `items`
    /// has whole items, the error of a chunk, [`Error::Compress`](crate::Error::Compress), or
    /// [`Error::Write`](crate::Error::Write).
    pub fn write(&mut self, start: u64, items: &[u8]) -> Result<()> {
        let typesize = self.frame.typesize() as u64;
        let (len, at) = (items.len() as u64, start.saturating_mul(typesize));
        if len.checked_rem(typesize) != Some(0) {
            let expected = len.next_multiple_of(typesize.max(1));
            return Err(Param::BufferLen { len, expected }.into());
        }
        self.write_bytes(at, items)
    }

    /// Overwrites bytes of the data, from byte `start` on.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_bytes(&mut self, start: u64, bytes: &[u8]) -> Result<()> {
        self.begin()?;
        let len = self.frame.header().nbytes();
        let end = start.saturating_add(bytes.len() as u64);
        if end > len {
            return Err(Param::Range { start, end, len }.into());
        }
        let (mut at, mut bytes) = (start, bytes);
        while !bytes.is_empty() {
            let (nchunk, from) = self.frame.snapshot().chunk_at(at)?;
            let nbytes = self.frame.chunk_nbytes(nchunk)?;
            let (now, later) = bytes.split_at(nbytes.saturating_sub(from).min(bytes.len()));
            if now.len() == nbytes {
                self.place_data(Place::InsteadOf(nchunk), now)?;
            } else {
                self.patch(nchunk, from, now)?;
            }
            at = at.saturating_add(now.len() as u64);
            bytes = later;
        }
        Ok(())
    }

    /// Makes a chunk of data that were held back.
    pub(super) fn settle(&mut self) -> Result<()> {
        if self.tail.is_empty() {
            return Ok(());
        }
        let tail = core::mem::take(&mut self.tail);
        let result = self.append_as_chunk(&tail);
        if result.is_err() {
            self.tail = tail;
        }
        result
    }

    /// Overwrites a part of a chunk.
    fn patch(&mut self, nchunk: u64, from: usize, bytes: &[u8]) -> Result<()> {
        self.compare_old(nchunk)?;
        let mut data = self.frame.snapshot().decode_chunk(nchunk)?;
        let to = from.saturating_add(bytes.len());
        let part = data.get_mut(from..to).ok_or(Error::internal("items outside of their chunk"))?;
        part.copy_from_slice(bytes);
        self.place_data(Place::InsteadOf(nchunk), &data)
    }

    fn append_as_chunk(&mut self, data: &[u8]) -> Result<()> {
        self.place_data(Place::Before(self.frame.nchunks()), data)
    }

    /// Decodes a short last chunk back to held data, so that more data can fill it up.
    fn load_tail(&mut self) -> Result<()> {
        if !self.tail.is_empty() || !self.has_short_end() {
            return Ok(());
        }
        let Some(last) = self.frame.nchunks().checked_sub(1) else { return Ok(()) };
        self.compare_old(last)?;
        let tail = self.frame.snapshot().decode_chunk(last)?;
        self.delete(last)?;
        self.tail = tail;
        Ok(())
    }

    fn flush_full_tail(&mut self, size: usize) -> Result<()> {
        if self.tail.len() < size { Ok(()) } else { self.settle() }
    }

    /// The largest size of a chunk, in whole items (bytes).
    fn max_chunk(&self) -> usize {
        let rest = MAX_CHUNK.checked_rem(self.frame.typesize()).unwrap_or(0);
        match self.frame.header().chunksize() {
            ChunkSize::Fixed(size) => size.get() as usize,
            ChunkSize::Variable | ChunkSize::Unset => MAX_CHUNK.saturating_sub(rest).max(1),
        }
    }
}

/// Writing appends. Flushing commits.
impl io::Write for SChunkWriter {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.append(data).map_err(io::Error::other)?;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.commit().map_err(io::Error::other)
    }
}
