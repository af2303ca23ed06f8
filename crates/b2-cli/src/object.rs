//! What an input holds: a frame, or a bare chunk. Both are data of a known length, of which parts can be read.

use b2frame::SChunk;

use crate::chunk::BareChunk;

/// One thing with content.
pub(crate) enum Object {
    Frame(Box<SChunk>),
    Chunk(Box<BareChunk>),
}

impl Object {
    /// Bytes of data, padding of arrays included.
    pub(crate) fn nbytes(&self) -> u64 {
        match self {
            Self::Frame(schunk) => schunk.nbytes(),
            Self::Chunk(chunk) => chunk.header().nbytes() as u64,
        }
    }

    /// Bytes that it takes in the file.
    pub(crate) fn stored(&self) -> u64 {
        match self {
            Self::Frame(schunk) => schunk.frame_len(),
            Self::Chunk(chunk) => chunk.stored(),
        }
    }

    /// Bytes of an item.
    pub(crate) fn typesize(&self) -> u64 {
        match self {
            Self::Frame(schunk) => schunk.typesize() as u64,
            Self::Chunk(chunk) => chunk.header().typesize() as u64,
        }
    }
}
