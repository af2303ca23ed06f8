//! The codecs of the Blosc family: each turns one *stream* of bytes into fewer bytes, and back.
//!
//! A codec sits at the end of the way from data to chunk. The filter pipeline turns a block into
//! one that is easier to compress; the block is cut into one or more streams; a codec sees one
//! stream at a time and knows nothing else.
//!
//! ```text
//! chunk   header | block starts | block | block | ...             blosc-chunk
//! block   stream | stream | ...          one, or one per byte of the item
//! stream  size (i32) | payload
//!                      ^^^^^^^ this crate                         format code, bits 5-7 of the chunk flags
//!                      BloscLZ instructions ....................  0  blosclz
//!                      LZ4 block ...............................  1  lz4, lz4hc
//!                      raw Snappy (Blosc 1 only) ...............  2  snappy
//!                      zlib stream .............................  3  zlib
//!                      Zstandard frame .........................  4  zstd
//!                      a plugin's payload ......................  6  ndlz, zfp_acc, zfp_prec, zfp_rate, your own
//! ```
//!
//! The format document is `docs/formats/codecs.md`.
//!
//! Nothing in a payload says how long the plain bytes are: the caller knows, and a decoder succeeds
//! only if exactly so many come out. Decoders are made for strangers' data: damage is an [`Error`]
//! that says where and what, never a panic, and what a decoder allocates depends on nothing that it
//! read.
//!
//! # Example
//!
//! ```
//! use blosc_codecs::{CodecId, DecodeOptions, EncodeOptions, Level, Registry};
//!
//! let registry = Registry::builtin();
//! let codec = registry.require(CodecId::LZ4)?;
//!
//! let plain = b"to be, or not to be, that is the question; to be, or not to be".repeat(4);
//! let mut encoder = codec.new_encoder(&EncodeOptions { level: Level::BEST, ..Default::default() })?;
//! let mut stream = vec![0; plain.len() - 1];
//! // `None` would mean that the stream does not fit, so that the bytes are better stored as they are.
//! let csize = encoder.encode(&plain, &mut stream)?.expect("words that come again are compressible");
//! assert!(csize < 100);
//!
//! let mut decoder = codec.new_decoder(&DecodeOptions::default())?;
//! let mut back = vec![0; plain.len()];
//! decoder.decode(&stream[..csize], &mut back)?;
//! assert_eq!(back, plain);
//! # Ok::<(), blosc_codecs::Error>(())
//! ```
//!
//! Encoders and decoders keep their tables and library contexts; make one per thread and use it
//! again. Where only one format is wanted, its module has plain functions, such as
//! [`blosclz::decompress`] and [`lz4::decompress`].
//!
//! # What is not here
//!
//! Stored streams, runs of one byte and the size field are the chunk's (`blosc-chunk`); filters are
//! `blosc-filters`. Lizard, JPEG 2000 (`grok`, `j2k`), HTJ2K (`openhtj2k`, `htj2k`), OpenZL and
//! Zstandard frames from before 1.0 are known by name only: [`Registry::require`] says what they
//! need. They can be added with [`Registry::register`].
//!
//! # Limits
//!
//! A stream holds less than 2 GiB (LZ4, NDLZ) or 4 GiB (BloscLZ, Snappy) of plain bytes; a chunk
//! holds less than 2 GiB in any case.
//!
//! # Features
//!
//! `zlib`, `zstd` and `snappy` (all default) bring in the library of that name. Without one, asking
//! for its codec gives [`Error::Unsupported`], which names the feature. `std` (default, and part of
//! `zlib`) looks at run time for instructions that make decoders faster.
#![no_std]
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

mod codec;
mod dict;
mod error;
mod id;
mod lz;
#[cfg(any(feature = "zlib", feature = "zstd"))]
mod noise;
mod registry;

pub mod blosclz;
pub mod lz4;
pub mod ndlz;
#[cfg(feature = "snappy")]
pub mod snappy;
pub mod zfp;
#[cfg(feature = "zlib")]
pub mod zlib;
#[cfg(feature = "zstd")]
pub mod zstd;

pub use codec::{Codec, DecodeOptions, EncodeOptions, StreamDecoder, StreamEncoder};
pub use error::{Corrupt, Error, Param};
pub use id::{CodecId, FormatId, Level};
pub use registry::{Description, Registry};
