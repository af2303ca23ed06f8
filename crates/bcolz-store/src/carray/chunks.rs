//! From a chunk file to rows.

use core::ops::Range;

use blosc_chunk::Chunk;

use super::CArray;
use crate::chunk_file::{ChunkFile, Expected};
use crate::error::{Error, Result};
use crate::layout::chunk_path;
use crate::store;
use crate::team::Worker;

impl CArray {
    /// Opens the file of a chunk and checks its headers.
    pub(crate) fn open_chunk(&self, nchunk: u64) -> Result<ChunkFile> {
        let limit = self.options.dparams.limits.max_nbytes;
        let (nbytes, rowsize) = if self.layout.is_object {
            ((1, crate::layout::MAX_CHUNK_BYTES), 1)
        } else {
            (self.layout.allowed_nbytes(nchunk), self.layout.rowsize as u64)
        };
        let expected = Expected { nchunk, nbytes, rowsize, limit };
        ChunkFile::open(&*self.store, chunk_path(&self.path, nchunk), expected)
    }

    /// Bytes of the file of a chunk.
    pub(crate) fn file_len(&self, nchunk: u64) -> Result<u64> {
        let path = chunk_path(&self.path, nchunk);
        let file = self.store.open(&path).map_err(|error| store::of_open(&path, error))?;
        file.len().map_err(|source| Error::io(path, source))
    }

    /// Decodes some bytes of the data of a chunk.
    pub(crate) fn decode_bytes(
        &self,
        nchunk: u64,
        bytes: Range<usize>,
        dest: &mut [u8],
        worker: &mut Worker,
    ) -> Result<()> {
        let file = self.open_chunk(nchunk)?;
        let Worker { scratch, packed } = worker;
        let is_small = bytes.len() < file.header.nbytes() / PART;
        if let Some(index) = if is_small { file.index()? } else { None }
            && let Ok(plan) = index.plan(bytes.clone(), MERGE_GAP)
        {
            // What is wrong with the chunk is left to reading all of it.
            if index.decode(&plan, &file.fetch(&plan, packed)?, dest, scratch).is_ok() {
                return Ok(());
            }
        }
        let decoded = Chunk::parse(file.read_to(packed)?).and_then(|chunk| {
            if bytes == (0..chunk.header().nbytes()) {
                chunk.decode_into(dest, scratch).map(drop)
            } else {
                chunk.read_bytes(bytes, dest, scratch)
            }
        });
        decoded.map_err(|source| Error::Chunk { path: file.path().to_owned(), nchunk, source })
    }

    /// Decodes a whole chunk, however long it is within what is allowed; `dest` gets its size.
    pub(crate) fn decode_chunk(&self, nchunk: u64, dest: &mut Vec<u8>, worker: &mut Worker) -> Result<()> {
        let file = self.open_chunk(nchunk)?;
        let chunk = file.read_to(&mut worker.packed)?;
        // Compared with the place of the chunk in the array and with the limits.
        dest.resize(file.header.nbytes(), 0);
        let decoded =
            Chunk::parse(chunk).and_then(|chunk| chunk.decode_into(dest, &mut worker.scratch).map(drop));
        decoded.map_err(|source| Error::Chunk { path: file.path().to_owned(), nchunk, source })
    }
}

/// For less than one part in so many of a chunk, only the blocks that hold it are read.
const PART: usize = 2;

/// Bytes that are rather read than jumped over.
const MERGE_GAP: usize = 4096;
