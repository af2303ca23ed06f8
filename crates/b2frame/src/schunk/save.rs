//! Whole frames made from super-chunks.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use super::SChunk;
use crate::edit::SChunkWriter;
use crate::error::Result;

impl SChunk {
    /// The super-chunk as one contiguous frame without unused bytes. Chunks are not compressed anew.
    ///
    /// # Errors
    /// What is wrong with a chunk.
    pub fn to_cframe(&self) -> Result<Vec<u8>> {
        SChunkWriter::image(self)
    }
}
