//! From a chunk file to rows.

use core::ops::Range;

use blosc_chunk::{Chunk, ChunkHeader, Kind};
use blosc_io::Stamp;

use super::CArray;
use super::recent::Block;
use crate::chunk_file::{self, ChunkFile, Expected};
use crate::error::{Error, Result};
use crate::files;
use crate::layout::chunk_path;
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

    /// Decodes some bytes of the data of a chunk.
    pub(crate) fn decode_bytes(
        &self,
        nchunk: u64,
        bytes: Range<usize>,
        dest: &mut [u8],
        worker: &mut Worker,
    ) -> Result<()> {
        let path = chunk_path(&self.path, nchunk);
        let file = chunk_file::open(&*self.tree, &path)?;
        let is_small = bytes.len() as u64 <= self.options.cache;
        let stamp =
            if is_small { file.stamp().filter(|stamp| stamp.modified.is_some()) } else { None };
        if stamp.is_some_and(|stamp| self.recent.copy(nchunk, stamp, &bytes, dest)) {
            return Ok(());
        }
        let file = ChunkFile::parse(file, path, self.expected(nchunk))?;
        let is_small = bytes.len() < file.header.nbytes() / PART;
        if is_small && self.decode_small(nchunk, &file, stamp, bytes.clone(), dest, worker)? {
            return Ok(());
        }
        let Worker { scratch, packed, .. } = worker;
        let decoded = Chunk::parse(file.read_to(packed)?).and_then(|chunk| {
            if bytes == (0..chunk.header().nbytes()) {
                chunk.decode_into(dest, scratch).map(drop)
            } else {
                chunk.read_bytes(bytes, dest, scratch)
            }
        });
        decoded.map_err(|source| Error::Chunk { path: file.path().to_owned(), nchunk, source })
    }

    /// Decodes a few bytes of the data of a chunk by the blocks that hold them. False where that
    /// cannot be: what is wrong with the chunk is left to reading all of it.
    fn decode_small(
        &self,
        nchunk: u64,
        file: &ChunkFile,
        stamp: Option<Stamp>,
        bytes: Range<usize>,
        dest: &mut [u8],
        worker: &mut Worker,
    ) -> Result<bool> {
        let Some(index) = file.index()? else { return Ok(false) };
        let Worker { scratch, packed, spare } = worker;
        let mut decode = |bytes: Range<usize>, dest: &mut [u8]| {
            let Ok(plan) = index.plan(bytes, MERGE_GAP) else { return Ok(false) };
            Ok(index.decode(&plan, &file.fetch(&plan, packed)?, dest, scratch).is_ok())
        };
        let (Some(stamp), Some(block)) = (stamp, block_around(&file.header, &bytes)) else {
            return decode(bytes, dest);
        };
        if !self.recent.is_again(nchunk, self.kept_chunks()) {
            return decode(bytes, dest);
        }
        let mut data = core::mem::take(spare);
        data.resize(block.len(), 0);
        if !decode(block.clone(), &mut data)? {
            return Ok(false);
        }
        let start = bytes.start - block.start;
        dest.copy_from_slice(&data[start..start + bytes.len()]);
        *spare = self.recent.keep(Block { nchunk, bytes: block, stamp, data }, self.options.cache);
        Ok(true)
    }

    /// How many chunks could be kept, decoded.
    pub(super) fn kept_chunks(&self) -> usize {
        let chunk = self.layout.nbytes_of(self.layout.chunklen).max(1);
        usize::try_from(self.options.cache / chunk).unwrap_or(usize::MAX).clamp(1, MOST_ASKED)
    }

    /// Decodes a whole chunk, however long it is within what is allowed; `dest` gets its size.
    pub(crate) fn decode_chunk(
        &self,
        nchunk: u64,
        dest: &mut Vec<u8>,
        worker: &mut Worker,
    ) -> Result<()> {
        let file = self.open_chunk(nchunk)?;
        let chunk = file.read_to(&mut worker.packed)?;
        // Compared with the place of the chunk in the array and with the limits.
        dest.resize(file.header.nbytes(), 0);
        let decoded = Chunk::parse(chunk)
            .and_then(|chunk| chunk.decode_into(dest, &mut worker.scratch).map(drop));
        decoded.map_err(|source| Error::Chunk { path: file.path().to_owned(), nchunk, source })
    }
}

/// The block that holds all these data, if there is one that has to be decoded and that has more
/// than them.
pub(super) fn block_around(header: &ChunkHeader, bytes: &Range<usize>) -> Option<Range<usize>> {
    let is_coded = header.kind() == Kind::Regular && header.blocksize() > 0;
    let start = bytes.start - bytes.start.checked_rem(header.blocksize()).filter(|_| is_coded)?;
    let block = start..start.saturating_add(header.blocksize()).min(header.nbytes());
    (bytes.end <= block.end && *bytes != block).then_some(block)
}

/// For less than this part (1/n) of a chunk, only the blocks that hold it are read.
const PART: usize = 2;

/// Bytes that are rather read than jumped over.
const MERGE_GAP: usize = 4096;

/// Chunks to remember at most: they are looked through.
const MOST_ASKED: usize = 4096;
