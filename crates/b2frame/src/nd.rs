//! N-dimensional arrays on super-chunks: a metalayer with shapes, and items in chunks and blocks.
//!
//! ```text
//! meta.rs        the metalayer             select.rs   parts of an array, as NumPy writes them
//! geometry.rs    chunks, blocks, bytes     axis.rs     positions of a part in a dimension
//! array.rs       the array and its views   read.rs     reading parts
//! row_ranges.rs  all items, in C order     blocks.rs   the blocks of a part, decoded
//! thread_slices.rs  a part for a thread    fetch.rs    blocks of a chunk, from storage
//! element.rs     Rust types as items       typed.rs    parts as values
//! params.rs      parameters of new arrays  writer.rs   making arrays, writing parts
//! shapes.rs      chunk and block shapes    resize.rs   other shapes for an array
//! join.rs        items of other arrays     rows.rs     copying between blocks and items
//! patch.rs       new chunks out of old     item.rs     one item
//! hidden.rs      items in the padding      fields.rs   some fields of items
//! layout.rs      chunks outside of frames
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
