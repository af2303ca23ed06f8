//! Chunks of Blosc 1 and Blosc2.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

extern crate alloc;

mod blocksize;
mod chunk;
mod decode;
mod decoder;
mod encode;
mod error;
mod flags;
mod header;
mod index;
mod jobs;
mod layout;
mod limits;
mod params;
pub mod raw;
pub mod read;
mod source;
mod special;
mod stream;
mod validate;
mod vl;
pub mod write;

pub use blosc_codecs::{CodecId, FormatId, Level};
pub use blosc_filters::{FilterId, Pipeline};
pub use chunk::{BlockRef, Chunk, StreamKind, StreamRef};
pub use decode::{Postfilter, Scratch};
pub use decoder::{Decoder, decompress, decompress_into};
pub use encode::{Encoder, Prefilter, compress, compress_into, max_compressed_len, special_chunk};
pub use error::{Blame, Corrupt, Error, Param, Result, Unsupported};
pub use flags::{Blosc2Flags, Blosc2Flags2, Flags};
pub use header::{ChunkHeader, Kind};
pub use index::{ChunkIndex, IndexStep, Plan};
pub use limits::Limits;
pub use params::{CParams, DParams, Dict, Registries, SplitMode, Target, Threads};
pub use special::{Special, SpecialKind, fill_special};
pub use validate::{BlockReport, Depth, Note, Report};
pub use vl::VlChunk;
