//! Data, fixtures and digests shared by the tests of every crate; never published.
//!
//! - [`data`]: bytes of several kinds and any length, from a fixed seed;
//! - [`corpus`]: the named data sets for comparing codec sizes;
//! - [`fixture`]: files that programs wrote, with their writers, and other inputs of tests;
//! - [`conformance`]: the cases of the conformance suite;
//! - [`sha256_hex`]: the digest in the manifest; [`crc32`]: the checksum in documents;
//! - `in_child`: the rest of a test in a child of `fork`, on systems that have it.
//!
//! It knows no filters, codecs, chunks or frames, so all of those crates can use it in their tests.
//!
//! ```
//! use blosc_testdata::data::Kind;
//!
//! let walk = Kind::Walk.bytes(10_001);
//! assert_eq!(walk.len(), 10_001);
//! assert_eq!(walk, Kind::Walk.bytes(10_001));
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(unix)]
mod child;
pub mod conformance;
pub mod corpus;
pub mod data;
mod digest;
pub mod fixture;

#[cfg(unix)]
pub use child::in_child;
pub use digest::{crc32, sha256_hex};
