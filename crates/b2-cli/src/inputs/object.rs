//! What an input holds, as the library has it.

use b2frame::{SChunk, header::FrameType};

pub(crate) use blosc_data::{content::Object, formats::frame::stored_nbytes as frame_bytes};

/// Is it a directory?
pub(crate) fn is_sparse(schunk: &SChunk) -> bool {
    schunk.header().frame_type() == FrameType::Sparse
}
