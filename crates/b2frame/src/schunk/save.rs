//! Whole frames made from super-chunks.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use super::SChunk;
use crate::edit::SChunkWriter;
use crate::error::Result;
use crate::legacy::FrameLayout;
use crate::legacy::convert::to_cframe;

impl SChunk {
    /// The super-chunk as one contiguous frame of the current layout without unused bytes. Chunks are not compressed
    /// anew. This is how frames of the 2.0.0 betas become readable for programs of today.
    ///
    /// # Errors
    /// What is wrong with a chunk.
    pub fn to_cframe(&self) -> Result<Vec<u8>> {
        if self.layout() == FrameLayout::Current { SChunkWriter::image(self) } else { to_cframe(self) }
    }
}
