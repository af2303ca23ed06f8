//! The location of a frame: a store, and the position of the frame's first byte in it.
//!
//! Positions inside of a frame count from its first byte; errors name positions of the store.

use core::fmt;
use core::ops::Range;
use std::sync::Arc;

use blosc_chunk::ChunkHeader;
use blosc_container::chunk_reader::ChunkReader;
use blosc_io::ReadAt;

use crate::error::{Error, Result};
use crate::schunk::located;

/// A store with a frame in it.
#[derive(Clone)]
pub(crate) struct Source {
    store: Arc<dyn ReadAt>,
    base: u64,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("base", &self.base).finish_non_exhaustive()
    }
}

impl Source {
    /// The frame that begins at position `base` of `store`.
    pub(crate) fn new(store: Arc<dyn ReadAt>, base: u64) -> Self {
        Self { store, base }
    }

    /// Position of the frame in the store (bytes).
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// Position in the store of a position in the frame.
    pub(crate) fn position(&self, at: u64) -> u64 {
        self.base.saturating_add(at)
    }

    /// Bytes of the store from the frame's first byte on.
    pub(crate) fn available(&self) -> Result<u64> {
        let len = self.store.len().map_err(|source| Error::Open { source })?;
        Ok(len.saturating_sub(self.base))
    }

    /// Fills `buf` from position `at` of the frame.
    pub(crate) fn read_into(&self, at: u64, buf: &mut [u8]) -> Result<()> {
        let at = self.position(at);
        self.store.read_exact_at(at, buf).map_err(|source| Error::Io {
            at,
            len: buf.len() as u64,
            source,
        })
    }

    /// The first bytes from position `at` of the frame, up to `N` of them and at most `room`.
    pub(crate) fn read_head<const N: usize>(&self, at: u64, room: u64) -> Result<([u8; N], usize)> {
        let mut head = [0; N];
        let len = usize::try_from(room).map_or(N, |room| room.min(N));
        self.read_into(at, head.get_mut(..len).unwrap_or_default())?;
        Ok((head, len))
    }

    /// Reads `len` bytes from position `at` of the frame. The caller has compared `len` with the
    /// available bytes.
    pub(crate) fn read_vec(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.read_into(at, &mut bytes)?;
        Ok(bytes)
    }

    /// The chunk with this header at position `at` of the frame. The caller has compared its length
    /// with the available bytes; `buffer` begins with its first `head_len` bytes.
    pub(crate) fn chunk_reader<'a>(
        &'a self,
        at: u64,
        header: &ChunkHeader,
        buffer: &'a mut Vec<u8>,
        head_len: usize,
    ) -> ChunkReader<'a> {
        ChunkReader::with_header(&*self.store, self.position(at), *header, buffer, head_len)
    }

    /// The bytes of such a chunk, borrowed if they are in memory.
    pub(crate) fn read_chunk<'a>(
        &'a self,
        at: u64,
        header: &ChunkHeader,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        let bytes = self.chunk_reader(at, header, buffer, 0).into_bytes();
        bytes.map_err(|error| located(0, self.position(at), error))
    }

    /// Bytes that may be announced at once: see [`ReadAt::prefetch_limit`].
    pub(crate) fn prefetch_limit(&self) -> u64 {
        self.store.prefetch_limit()
    }

    /// Announces reads of these positions of the store.
    pub(crate) fn prefetch(&self, positions: &[Range<u64>]) {
        self.store.prefetch(positions);
    }

    /// Whether a read only copies memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.store.in_memory().is_some()
    }
}
