//! The use of a frame's bytes.

use blosc_chunk::SpecialKind;

use super::{ChunkInfo, SChunk};
use crate::error::{Error, Result};
use crate::sparse::unwanted_files;

/// Sums over the bytes of a frame, and counts of its runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Bytes of all chunks, headers included.
    pub cbytes: u64,
    /// Unused bytes of the frame: replaced chunks and indexes, holes; in a sparse frame, files of
    /// chunks outside of the index.
    pub dead_bytes: u64,
    /// Chunks of zeros.
    pub zeros: u64,
    /// Chunks of NaN.
    pub nans: u64,
    /// Chunks of one repeated value.
    pub value: u64,
    /// Chunks that were never written to.
    pub uninit: u64,
    /// Chunks stored without compression.
    pub memcpyed: u64,
}

impl SChunk {
    /// Adds up all chunks. Reads the header of each chunk, or only one header if all are the same
    /// chunk.
    ///
    /// # Errors
    /// The error of the first bad chunk.
    pub fn usage(&self) -> Result<Usage> {
        let mut usage = Usage::default();
        if self.state.index().is_repeated() && self.nchunks() > 0 {
            usage.add(&self.chunk_info(0)?, self.nchunks());
        } else {
            for info in self.chunk_infos() {
                usage.add(&info?, 1);
            }
        }
        if let Some(folder) = self.state.folder() {
            let files = unwanted_files(&*folder.tree, &self.offsets()?)
                .map_err(|source| Error::Open { source })?;
            usage.dead_bytes = files.iter().fold(0, |sum: u64, (_, len)| sum.saturating_add(*len));
            return Ok(usage);
        }
        let parts = [
            self.state.header().header_len().into(),
            usage.cbytes,
            self.index_len(),
            self.trailer_len(),
        ];
        usage.dead_bytes =
            self.frame_len().saturating_sub(parts.into_iter().fold(0, u64::saturating_add));
        Ok(usage)
    }
}

impl Usage {
    /// Adds a chunk that occurs `times` times and is stored once.
    fn add(&mut self, info: &ChunkInfo, times: u64) {
        self.cbytes = self.cbytes.saturating_add(info.cbytes);
        if let Some(kind) = info.special {
            *self.count(kind) = self.count(kind).saturating_add(times);
        }
        if info.stored.as_ref().is_some_and(|stored| stored.is_memcpyed) {
            self.memcpyed = self.memcpyed.saturating_add(times);
        }
    }

    fn count(&mut self, kind: SpecialKind) -> &mut u64 {
        match kind {
            SpecialKind::Zeros => &mut self.zeros,
            SpecialKind::Nans => &mut self.nans,
            SpecialKind::Value => &mut self.value,
            SpecialKind::Uninit => &mut self.uninit,
        }
    }
}
