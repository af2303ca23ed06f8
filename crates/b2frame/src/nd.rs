//! N-dimensional arrays on super-chunks: a metalayer with shapes, and items in chunks and blocks.

mod geometry;
mod meta;
mod view;

pub use meta::{MAX_NDIM, NdCorrupt, NdMeta};
pub use view::NdView;
