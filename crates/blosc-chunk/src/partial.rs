//! Parts of chunks: of one in memory, again and again; of one that lies elsewhere, without the
//! rest.

pub use crate::index::{ChunkIndex, IndexStep, Plan};
pub use crate::item_reader::ItemReader;
pub use crate::lazy::LazyChunk;
