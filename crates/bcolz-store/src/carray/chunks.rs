//! From a chunk file to rows.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "rows and bytes that were compared with the layout"
    )
)]

use core::ops::Range;
use std::sync::{MutexGuard, PoisonError};

use blosc_chunk::{ChunkHeader, Kind};
use blosc_container::block_cache::{Block, BlockCache, settled_stamp};
use blosc_io::Stamp;

use super::CArray;
use crate::chunk_file::{self, ChunkFile, Expected};
use crate::error::Result;
use crate::files;
use crate::layout::chunk_path;
use crate::sums::FileSum;
use crate::worker::Worker;

impl CArray {
    /// Opens the file of a chunk and checks its headers.
    pub(crate) fn open_chunk(&self, nchunk: u64) -> Result<ChunkFile> {
        ChunkFile::open(&*self.tree, chunk_path(&self.path, nchunk), self.expected(nchunk))
    }

    pub(super) fn expected(&self, nchunk: u64) -> Expected {
        let limit = self.options.dparams.limits.max_nbytes;
        let (nbytes, rowsize) = if self.layout.is_object {
            ((1, crate::layout::MAX_CHUNK_BYTES), 1)
        } else {
            (self.layout.allowed_nbytes(nchunk), self.layout.rowsize as u64)
        };
        Expected { nchunk, nbytes, rowsize, limit }
    }

    /// Bytes of the file of a chunk.
    pub(crate) fn file_len(&self, nchunk: u64) -> Result<u64> {
        let path = chunk_path(&self.path, nchunk);
        self.tree.len_of(&path).map_err(|error| files::open_error(&path, error))
    }

    /// Decodes some bytes of a chunk's data, from a kept block or from the chunk's file.
    pub(crate) fn decode_bytes(
        &self,
        nchunk: u64,
        bytes: Range<usize>,
        dest: &mut [u8],
        worker: &mut Worker,
    ) -> Result<()> {
        let path = chunk_path(&self.path, nchunk);
        let file = chunk_file::open(&*self.tree, &path)?;
        let may_be_kept = bytes.len() as u64 <= self.options.cache;
        let stamp = file.stamp().filter(|stamp| may_be_kept && stamp.modified.is_some());
        if let Some(stamp) = stamp
            && let Some(kept) = self.cache().get(nchunk, &bytes, Some(stamp))
        {
            dest.copy_from_slice(kept);
            return Ok(());
        }
        let file = ChunkFile::parse(file, path, self.expected(nchunk))?;
        match stamp.and_then(|stamp| self.block_to_keep(&file, &bytes, stamp)) {
            Some((block, stamp)) => self.decode_kept(&file, (block, stamp), bytes, dest, worker),
            None => self.decode_file(&file, bytes, dest, worker),
        }
    }

    /// The block that holds these data, if its chunk was requested before and the cache can keep
    /// it.
    fn block_to_keep(
        &self,
        file: &ChunkFile,
        bytes: &Range<usize>,
        stamp: Stamp,
    ) -> Option<(Range<usize>, Stamp)> {
        if bytes.len() >= file.header.nbytes() / 2 {
            return None;
        }
        let block = block_around(&file.header, bytes)?;
        let is_repeated = self.cache().is_repeated(file.nchunk(), self.max_kept_chunks());
        let fits = block.len() as u64 <= self.options.cache;
        Some((block, settled_stamp(Some(stamp)).filter(|_| is_repeated && fits)?))
    }

    /// Decodes a block, copies the data out of it, and keeps it.
    fn decode_kept(
        &self,
        file: &ChunkFile,
        (block, stamp): (Range<usize>, Stamp),
        bytes: Range<usize>,
        dest: &mut [u8],
        worker: &mut Worker,
    ) -> Result<()> {
        let mut data = core::mem::take(&mut worker.spare);
        data.resize(block.len(), 0);
        self.decode_file(file, block.clone(), &mut data, worker)?;
        let start = bytes.start - block.start;
        dest.copy_from_slice(&data[start..start + bytes.len()]);
        let block = Block { number: file.nchunk(), bytes: block, stamp: Some(stamp), data };
        worker.spare = self.cache().insert(block);
        Ok(())
    }

    fn cache(&self) -> MutexGuard<'_, BlockCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of decoded chunks that the cache can keep.
    pub(super) fn max_kept_chunks(&self) -> usize {
        let chunk = self.layout.chunk_nbytes().max(1);
        usize::try_from(self.options.cache / chunk)
            .unwrap_or(usize::MAX)
            .clamp(1, MAX_REQUESTED_CHUNKS)
    }

    /// Decodes a whole chunk of any length within the limits; `dest` gets its size.
    pub(crate) fn decode_chunk(
        &self,
        nchunk: u64,
        dest: &mut Vec<u8>,
        worker: &mut Worker,
    ) -> Result<ChunkHeader> {
        let file = self.open_chunk(nchunk)?;
        // `open_chunk` compared this size with the chunk's position in the array and with the
        // limits.
        dest.resize(file.header.nbytes(), 0);
        self.decode_file(&file, 0..dest.len(), dest, worker)?;
        Ok(file.header)
    }

    /// Decodes a part of a chunk, and compares its file with the checksum.
    fn decode_file(
        &self,
        file: &ChunkFile,
        bytes: Range<usize>,
        dest: &mut [u8],
        worker: &mut Worker,
    ) -> Result<()> {
        let Worker { scratch, packed, .. } = worker;
        let mut reader = file.reader(packed);
        self.compare_file(file, &mut reader)?;
        reader.decode(bytes, dest, scratch).map_err(|error| file.error(error))
    }

    /// Decodes a part of a chunk; computes the file's checksum if requested, without comparing it.
    pub(super) fn decode_summed(
        &self,
        nchunk: u64,
        is_summed: bool,
        dest: &mut Vec<u8>,
        worker: &mut Worker,
    ) -> Result<(ChunkHeader, Option<FileSum>)> {
        let file = self.open_chunk(nchunk)?;
        let Worker { scratch, packed, .. } = worker;
        let mut reader = file.reader(packed);
        let sum = match is_summed {
            true => Some(FileSum::of_chunk(reader.bytes().map_err(|error| file.error(error))?)),
            false => None,
        };
        dest.resize(file.header.nbytes(), 0);
        let decoded = reader.decode(0..dest.len(), dest, scratch);
        decoded.map_err(|error| file.error(error))?;
        Ok((file.header, sum))
    }
}

/// The block that holds all these data, if it must be decoded and is longer than they are.
pub(super) fn block_around(header: &ChunkHeader, bytes: &Range<usize>) -> Option<Range<usize>> {
    let is_coded = header.kind() == Kind::Regular && header.blocksize() > 0;
    let start = bytes.start - bytes.start.checked_rem(header.blocksize()).filter(|_| is_coded)?;
    let block = start..start.saturating_add(header.blocksize()).min(header.nbytes());
    (bytes.end <= block.end && *bytes != block).then_some(block)
}

/// Chunks whose requests are remembered; each lookup searches all of them.
const MAX_REQUESTED_CHUNKS: usize = 4096;
