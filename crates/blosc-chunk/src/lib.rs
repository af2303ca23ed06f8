//! Chunks of Blosc 1 and Blosc2: one compressed buffer, as C-Blosc writes it and Zarr, Bloscpack,
//! bcolz and Blosc2 frames store it.
//!
//! ```text
//!  chunk   | header | block starts | dictionary? | block 2 | block 0 | block 1 |     blocks in any order
//!                                                 /         \
//!  block                           | csize, stream | csize, stream | ...  |           one, or one per byte of an item
//!                                          |
//!                                  codec, then filters backward, give the block's data
//! ```
//!
//! It implements `docs/formats/chunk.md`: it reads every chunk that C-Blosc 1.0 to 1.21 and
//! C-Blosc2 2.0 to 3.3 write, and they read every chunk that it writes. Codecs are in
//! `blosc-codecs`, filters in `blosc-filters`; files of many chunks in `b2frame`, `bloscpack` and
//! `bcolz-store`. Nothing here opens files.
//!
//! ```
//! use blosc_chunk::{CParams, Chunk, CodecId, Scratch, compress, decompress};
//!
//! let data: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
//! let chunk = compress(&data, &CParams::default().codec(CodecId::LZ4).typesize(4))?;
//! assert!(chunk.len() < data.len() / 10);
//! assert_eq!(decompress(&chunk)?, data);
//!
//! // Ten items from the middle: only the block that holds them is decoded.
//! let mut items = [0; 10 * 4];
//! Chunk::parse(&chunk)?.read_items(60_000..60_010, &mut items, &mut Scratch::default())?;
//! assert_eq!(items[..4], 60_000u32.to_le_bytes());
//! # Ok::<(), blosc_chunk::Error>(())
//! ```
//!
//! # Which entry point
//!
//! | you have | and want | use |
//! |---|---|---|
//! | data | a chunk | [`compress`], or an [`Encoder`] for many |
//! | a chunk | its data | [`decompress`], or a [`Decoder`] for many |
//! | a chunk | a part, a block, a look inside, a check | [`Chunk`] |
//! | a chunk on disk | the byte ranges to read for a part | [`ChunkIndex`](partial::ChunkIndex) |
//! | 32 bytes | the kind and sizes of a chunk | [`ChunkHeader`] |
//! | a run | a chunk without data | [`special_chunk`] |
//! | a chunk | the same for other readers, not decoded | [`transcode::transcode_header`] |
//! | a chunk of a super-chunk | the same on its own | [`transcode::detach_from_schunk`] |
//! | pieces of individual sizes | one chunk that keeps them apart | [`Encoder::encode_vl`] |
//!
//! # Limits
//!
//! A chunk has less than 2 GiB of data. Untrusted bytes are safe to decode: sizes are compared with
//! the available bytes before they are used, and [`Limits`] bound the data of a small chunk, to 1
//! GiB unless set otherwise. The bytes of a chunk depend on data and parameters, not on threads,
//! buffers or the machine.
//!
//! # Threads
//!
//! [`CParams::threads`] and [`DParams::threads`] are a number ([`Threads`]), or an [`Executor`]
//! that many encoders and decoders share. Without one, the caller's thread does all work. A
//! [`ThreadPool`] belongs to the caller.
//!
//! ```
//! use blosc_chunk::{CParams, DParams, Decoder, Encoder, Executor};
//!
//! let executor = Executor::threads(4);
//! let mut encoder = Encoder::new(CParams::default().threads(executor.clone()))?;
//! let mut decoder = Decoder::new(DParams::default().threads(executor));
//! let data = vec![7; 1_000_000];
//! assert!(decoder.decode(&encoder.encode(&data)?)? == data);
//! # Ok::<(), blosc_chunk::Error>(())
//! ```
//!
//! # Features
//!
//! `zlib`, `zstd` and `snappy` add the codecs of these names; all are on by default.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing
    )
)]

extern crate alloc;

mod blocksize;
mod chunk;
mod decode;
mod decoder;
mod encode;
pub mod error;
mod flags;
mod header;
pub mod hooks;
mod index;
#[doc(hidden)]
pub mod internal;
mod item_reader;
mod jobs;
mod layout;
mod lazy;
mod limits;
mod memory;
mod params;
pub mod partial;
mod promise;
pub mod raw;
mod setters;
mod source;
mod special;
mod stream;
mod suspicion;
pub mod transcode;
mod tuner;
pub mod validate;
mod vl;

pub use blosc_codecs::{CodecId, Level};
pub use blosc_filters::{FilterId, Pipeline, Simd};
pub use blosc_threads::{Executor, HAS_THREADS, ThreadPool, Threads};
pub use chunk::{Chunk, block};
pub use decode::Scratch;
pub use decoder::{Decoder, decompress};
pub use encode::{Encoder, compress, max_compressed_len, special_chunk};
pub use error::Error;
pub use header::{ChunkHeader, Kind};
pub use limits::Limits;
pub use params::{CParams, DParams, Destination, Dict, Registries, SplitMode, Target};
pub use special::{Special, SpecialKind};
pub use suspicion::Suspicion;

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
