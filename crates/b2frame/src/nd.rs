//! N-dimensional arrays on super-chunks: a metalayer with shapes, and items in chunks and blocks.
//!
//! ```text
//! meta.rs        the metalayer             select.rs   what part is wanted, as NumPy writes it
//! geometry.rs    chunks, blocks, bytes     axis.rs     that per dimension, by chunks and blocks
//! array.rs       the array and its views   read.rs     parts of it
//! row_ranges.rs  everything, in C order    blocks.rs   which blocks hold a part, and how
//! thread_slices.rs  a part for a thread    fetch.rs    blocks of a chunk, from storage
//! element.rs     Rust types as items       typed.rs    parts as values
//! params.rs      what a new array is like  writer.rs   making arrays, writing parts
//! shapes.rs      chunk and block shapes    resize.rs   other shapes for an array
//! join.rs        items of other arrays     rows.rs     copying between blocks and items
//! patch.rs       chunks with items put in  item.rs     one item
//! hidden.rs      what lies in padding      fields.rs    some fields of items
//! layout.rs      chunks that lie elsewhere
//! ```

mod array;
mod axis;
mod blocks;
pub(crate) mod element;
mod fields;
mod geometry;
mod hidden;
mod item;
mod join;
mod layout;
mod meta;
mod param;
mod params;
mod patch;
mod read;
mod resize;
mod row_ranges;
mod rows;
mod select;
mod shapes;
mod thread_slices;
mod typed;
#[cfg(feature = "ndarray")]
mod with_ndarray;
mod writer;

pub use array::{NdArray, item_dtype};
pub use element::Element;
pub use layout::{ArrayLayout, BoxAt, ChunkPart, copy_box};
#[doc(hidden)]
pub use meta::NdCorrupt;
pub use meta::{MAX_NDIM, NdMeta};
#[doc(hidden)]
pub use param::NdParam;
pub use params::{Fill, NdParams};
pub use select::{Pick, Selection};
pub use writer::NdWriter;

pub(crate) use geometry::Geometry;
pub(crate) use hidden::Padding;
pub(crate) use params::chunk_cparams;
