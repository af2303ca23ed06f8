//! Blosc2 frames: super-chunks in `.b2frame` files, and the n-dimensional arrays in `.b2nd` files.
//!
//! ```text
//!  0            header_len                             frame_len - trailer_len    frame_len
//!  | header     | data section                 | index     |   | trailer          |
//!  | 87 bytes   | chunk  chunk  (dead)  chunk  | one chunk |   | vlmetalayers     |
//!  | metalayers |                              |           |   | trailer_len      |
//!      |                 ^                          |                   |
//!      |                 '------- offsets ----------'                   found from the end
//!      '-- nbytes, cbytes: position of the index; typesize, chunk_size, defaults for new chunks
//! ```
//!
//! `docs/formats/cframe.md` describes the layout byte by byte, `b2nd.md` arrays, `legacy-frame.md`
//! the frames of the betas. The crate `blosc-chunk` decodes the content of chunks; `blosc-io` finds
//! the bytes; this crate knows of files only that they have positions.
//!
//! ```
//! use b2frame::{FrameParams, SChunk, to_cframe};
//!
//! let data: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
//! let params = FrameParams::default().chunksize(64 << 10).metalayer("kind", *b"demo");
//! let frame = to_cframe(&data, &params)?;
//! assert!(frame.len() < data.len() / 10);
//!
//! let schunk = SChunk::from_cframe(frame)?;
//! let mut items = [0; 8 * 2];
//! schunk.read(1000..1002, &mut items)?;
//! assert_eq!(items, data[8000..8016]);
//! # Ok::<(), b2frame::Error>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | look at a frame | [`SChunk::open`], [`SChunk::header`], [`SChunk::chunk_infos`], [`SChunk::usage`] |
//! | read parts of it | [`SChunk::read`], [`SChunk::read_bytes`], [`SChunk::decode_chunk`] |
//! | read parts of an array | [`NdArray`] |
//! | make and change an array | [`NdWriter`] |
//! | read it as a stream, or scattered items | [`SChunk::reader`], [`SChunk::gather`] |
//! | read all of it on all processors | [`SChunk::read_par`], [`SChunk::decode_ordered`], [`NdArray::for_each_band`] |
//! | look for damage | [`SChunk::verify`] |
//! | write one | [`compress_stream`], [`compress_slice`], [`FrameWriter`], [`to_cframe`]; to a pipe [`FrameStream`] |
//! | change one | [`SChunkWriter`] |
//! | copy one, with other parameters or to another kind of frame | [`SChunk::copy`], [`NdArray::copy`] |
//! | follow one that other programs change | [`SChunk::refresh`], [`FrameLock`](lock::FrameLock) |
//! | recognise the format of a file | [`probe()`] |
//!
//! # Limits
//!
//! The crate reads contiguous and sparse frames of format versions 2 and 3, which every C-Blosc2
//! from 2.0.0-rc.1 on writes, contiguous ones at any position of a file, and frames of the 2.0.0
//! betas ([`FrameLayout`](header::FrameLayout)). Every C-Blosc2 from 2.0.3 on reads the written
//! frames with a fixed chunk size; 3.0 and later also read variable chunk sizes and VL-blocks.
//!
//! A length in a file is compared with the bytes of the file and with [`OpenOptions`] before memory
//! is allocated for it; reading and compressing keep to the `max_memory` of their options. Further
//! memory is 8 bytes for a chunk. Only calls start threads, and they end them.
#![cfg_attr(all(doctest, feature = "write"), doc = include_str!("../README.md"))]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod compress;
mod copy;
mod dest;
mod edit;
pub mod error;
pub mod frames;
pub mod header;
mod legacy;
pub mod lock;
pub mod metalayers;
mod msgpack;
#[allow(
    clippy::arithmetic_side_effects,
    reason = "indexes and lengths come from a checked NdMeta, whose products do not overflow"
)]
pub mod nd;
mod offsets;
mod params;
pub mod probe;
pub mod raw;
pub mod report;
pub mod rescue;
mod rewrite;
mod save;
mod schunk;
pub mod seal;
mod source;
mod sparse;
mod stream;
mod trailer;
#[cfg(feature = "serde")]
mod values;
mod writer;

/// Derives [`Element`](trait@Element) for a struct with named fields; see the crate
/// `b2frame-derive`.
///
/// ```
/// use b2frame::Element;
///
/// #[derive(Clone, Copy, Element)]
/// #[repr(C)]
/// struct Station {
///     id: u32,
///     #[element(rename = "temp")]
///     temperature: f64,
/// }
/// assert_eq!(Station::dtype().to_string(), "[('id', '<u4'), ('temp', '<f8')]");
/// ```
#[cfg(feature = "derive")]
pub use b2frame_derive::Element;
pub use blosc_container::Budget;
pub use blosc_dtype::Dtype;
pub use blosc_io::Durability;
pub use compress::{Totals, compress_slice, compress_stream};
pub use dest::Dest;
pub use edit::SChunkWriter;
pub use error::{Error, Result};
pub use nd::{Element, NdArray, NdParams, NdWriter};
/// The crate `ndarray`, in the version that the arrays here are read to and written from.
#[cfg(feature = "ndarray")]
pub use ndarray;
pub use params::{
    Checksums, CompressOptions, CopyOptions, EditOptions, FrameParams, Mismatch, MismatchLog,
    OpenOptions, OuterSum,
};
pub use probe::probe;
pub use schunk::{ChunkBytes, ChunkInfo, Locked, Reader, SChunk, Scratch, StoredInfo, Usage};
pub use sparse::INDEX_FILE;
pub use stream::FrameStream;
pub use writer::{FrameWriter, to_cframe};

/// For the other crates of this workspace; may change in any release.
#[doc(hidden)]
pub mod internal {
    #[cfg(feature = "serde")]
    pub use crate::values::{decode_value, encode_value};
}

/// Called by the code that [`element!`] makes; not for others.
#[doc(hidden)]
pub use nd::element::fields as element_fields;
