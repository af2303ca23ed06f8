//! Parts of chunks: repeated reads of a chunk in memory, and partial reads of a chunk elsewhere.

pub use crate::index::{ChunkIndex, IndexStep, Plan};
pub use crate::item_reader::ItemReader;
pub use crate::lazy::LazyChunk;
