//! The filters of Blosc: they reorder or difference the bytes of a block so that a codec finds more
//! to remove.
//!
//! ```text
//!            slot 0      slot 1            slot 5
//!  block --> filter ---> filter ---> ... ---> filter --> codec      forward (encoding)
//!  block <-- filter <--- filter <--- ... <--- filter <-- codec      backward (decoding)
//!
//!  shuffle, typesize 4:   a0 a1 a2 a3  b0 b1 b2 b3  c0 c1 c2 c3     three items of four bytes
//!                         a0 b0 c0  a1 b1 c1  a2 b2 c2  a3 b3 c3    four planes of three bytes
//! ```
//!
//! A [`Pipeline`] is stored in a chunk header: six slots of a filter id and a meta byte. It filters
//! one block at a time, out of place, and the output is as long as the input. [`FilterCx`] has the
//! facts that a filter needs besides the bytes: the typesize, the first block of the chunk, the
//! shape of the block. [`Registry`] has the available filters; programs extend it with their own.
//!
//! Each filter is also a function: [`shuffle`] and [`unshuffle`], [`bitshuffle`] and
//! [`bitunshuffle`], and the others in [`functions`].
//!
//! This crate knows blocks only. Chunks, headers and codecs are in `blosc-chunk` and
//! `blosc-codecs`. The format document is `docs/formats/filters.md`.
//!
//! ```
//! use blosc_filters::{FilterCx, Pipeline, Registry};
//!
//! let block: Vec<u8> = (2000..2040u32).flat_map(u32::to_le_bytes).collect();
//! let (pipeline, registry) = (Pipeline::parse("delta, shuffle")?, Registry::builtin());
//! let cx = FilterCx::new(4);
//!
//! let (mut filtered, mut scratch) = (vec![0; block.len()], vec![0; block.len()]);
//! pipeline.forward(&registry, &cx, &block, &mut filtered, &mut scratch)?;
//! assert!(filtered[41..].iter().all(|&byte| byte == 0)); // the high bytes of the differences
//!
//! let mut restored = vec![0; block.len()];
//! pipeline.backward(&registry, &cx, &mut filtered, &mut restored)?;
//! assert_eq!(restored, block);
//! # Ok::<(), blosc_filters::Error>(())
//! ```
//!
//! # Limits
//!
//! No filter allocates. Any block length is accepted, also one that is no multiple of the typesize:
//! the leftover bytes are copied. Hostile parameters given through [`Pipeline`] cause [`Error`]s,
//! never panics.

#![cfg_attr(all(doctest, feature = "write"), doc = include_str!("../README.md"))]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
// Test data are made by casts.
#![cfg_attr(test, allow(clippy::cast_possible_truncation, clippy::cast_sign_loss))]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

#[allow(unsafe_code)]
mod arch;
mod bitshuffle;
mod bytedelta;
mod cells;
mod delta;
mod error;
mod filter;
pub mod functions;
mod geometry;
mod id;
mod int_trunc;
#[doc(hidden)]
pub mod internal;
mod mask;
mod ndcell;
mod ndmean;
mod pipeline;
mod processor;
mod registry;
mod rows;
mod shuffle;
mod simd;
mod store_hint;
mod trunc_prec;

pub use bitshuffle::{BitshuffleRule, bitshuffle, bitunshuffle};
pub use delta::Reference;
pub use error::{Error, Param, Result, Spec};
pub use filter::{Filter, FilterCx};
pub use geometry::BlockGeometry;
pub use id::FilterId;
pub use pipeline::{FilterSlot, Pipeline};
pub use registry::{Description, Registry};
pub use shuffle::{shuffle, unshuffle};
pub use simd::Simd;
