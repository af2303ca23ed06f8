//! What the bytes of a frame are used for.

use blosc_chunk::SpecialKind;

use super::SChunk;
use crate::error::Result;

/// How a frame uses its bytes, and which of its chunks are runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Bytes of all chunks, headers included.
    pub cbytes: u64,
    /// Bytes of the frame that nothing refers to: replaced chunks and indexes, holes.
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
    /// Adds up all chunks. Reads the header of each.
    ///
    /// # Errors
    /// What is wrong with the first bad chunk.
    pub fn usage(&self) -> Result<Usage> {
        let mut usage = Usage::default();
        if let Some(kind) = self.index.all_special() {
            *usage.count(kind) = self.nchunks();
        } else {
            for info in self.chunk_infos() {
                let info = info?;
                usage.cbytes = usage.cbytes.saturating_add(info.cbytes);
                if let Some(kind) = info.special {
                    *usage.count(kind) = usage.count(kind).saturating_add(1);
                }
                let is_memcpyed = info.stored.is_some_and(|stored| stored.is_memcpyed);
                usage.memcpyed = usage.memcpyed.saturating_add(is_memcpyed.into());
            }
        }
        let parts = [self.header.header_len().into(), usage.cbytes, self.index_len(), self.trailer_len()];
        usage.dead_bytes = self.frame_len().saturating_sub(parts.into_iter().fold(0, u64::saturating_add));
        Ok(usage)
    }
}

impl Usage {
    fn count(&mut self, kind: SpecialKind) -> &mut u64 {
        match kind {
            SpecialKind::Zeros => &mut self.zeros,
            SpecialKind::Nans => &mut self.nans,
            SpecialKind::Value => &mut self.value,
            SpecialKind::Uninit => &mut self.uninit,
        }
    }
}
