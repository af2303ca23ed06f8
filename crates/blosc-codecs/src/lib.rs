//! The codecs of the Blosc family: each turns one *stream* of bytes into fewer bytes, and back.
//!
//! A codec is the last step from data to chunk. The filter pipeline makes a block easier to
//! compress; the block is cut into one or more streams; a codec sees one stream at a time and knows
//! nothing else.
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
//! A payload does not contain its decoded length: the caller knows it, and a decoder succeeds only
//! if it makes exactly that many bytes. Decoders are made for untrusted data: damage is an
//! [`Error`] with a position and a reason, never a panic. No number in a stream decides how much a
//! decoder allocates.
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
//! let options = EncodeOptions { clevel: Level::BEST, ..Default::default() };
//! let mut encoder = codec.new_encoder(&options)?;
//! let mut stream = vec![0; plain.len() - 1];
//! // `None` would mean that the stream does not fit, so that a chunk stores the bytes as they are.
//! let csize = encoder.encode(&plain, &mut stream)?.expect("repeated words are compressible");
//! assert!(csize < 100);
//!
//! let mut decoder = codec.new_decoder(&DecodeOptions::default())?;
//! let mut back = vec![0; plain.len()];
//! decoder.decode(&stream[..csize], &mut back)?;
//! assert_eq!(back, plain);
//! # Ok::<(), blosc_codecs::Error>(())
//! ```
//!
//! Encoders and decoders keep their tables and library contexts; make one per thread and reuse it.
//!
//! # What is not here
//!
//! Stored streams, runs of one byte and the size field belong to the chunk (`blosc-chunk`); filters
//! are in `blosc-filters`. Lizard, JPEG 2000 (`grok`, `j2k`), HTJ2K (`openhtj2k`, `htj2k`), OpenZL
//! and Zstandard frames from before 1.0 are known by name only: the error of [`Registry::require`]
//! says what they need. They can be added with [`Registry::register`].
//!
//! # Limits
//!
//! A stream decodes to less than 2 GiB (LZ4, NDLZ) or 4 GiB (BloscLZ, Snappy); a chunk holds less
//! than 2 GiB in any case.
//!
//! # Features
//!
//! `zlib`, `zstd` and `snappy` (all default) add the library of that name. Without `zlib` or
//! `snappy`, [`Registry::require`] of its codec gives [`Error::Unsupported`], which names the
//! feature. `write` (default, and part of `zstd`) adds the encoders: a build without it answers
//! [`Error::Unsupported`], and the linker leaves them out. Every build decodes Zstandard with our
//! own code; its encoder is the C library. `std` (default, and part of `zlib`) lets
//! [`Simd::detect`] ask the processor at run time; a build without it uses the instructions for
//! which the program is compiled.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

mod blosclz;
mod codec;
mod dict;
mod error;
mod id;
#[cfg(any(feature = "zlib", feature = "zstd"))]
mod incompressible;
mod lz;
mod lz4;
mod ndlz;
mod registry;
mod simd;
#[cfg(feature = "snappy")]
mod snappy;
mod zfp;
#[cfg(feature = "zlib")]
mod zlib;
mod zstd;

#[doc(hidden)]
pub mod internal;

pub use codec::{Codec, DecodeOptions, EncodeOptions, StreamDecoder, StreamEncoder};
pub use error::{Corrupt, Error, Param};
pub use id::{CodecId, FormatId, Level};
pub use registry::{Description, Registry};
pub use simd::Simd;
pub use zstd::fault::Fault as ZstdFault;
