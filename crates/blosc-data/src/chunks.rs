//! Chunks as they are stored.

use core::fmt::Debug;

use b2frame::ChunkBytes;

use crate::error::Result;

/// The chunks of something, to be moved to another container without decoding them.
pub trait Chunks: Debug + Send + Sync {
    /// Number of chunks.
    fn nchunks(&self) -> u64;

    /// A chunk as it is stored, compared with its checksum where it has one.
    ///
    /// # Errors
    ///
    /// A number that no chunk has; a chunk that cannot be read.
    fn chunk(&self, nchunk: u64) -> Result<ChunkBytes>;
}
