//! Data, fixtures and digests shared by the tests of every crate; never published.
//!
//! - [`data`]: bytes of several kinds and any length, from a fixed seed;
//! - [`corpus`]: the named data sets that codec sizes are compared on;
//! - [`fixture`]: the files under `testdata/` and the manifest that says who made them;
//! - [`sha256_hex`]: the digest that the manifest holds; [`crc32`]: the checksum that documents
//!   quote;
//! - `in_child`: the rest of a test in a child of `fork`, where there is one.
//!
//! It knows nothing of filters, codecs, chunks or frames, so that any of those crates can use it in
//! its tests.
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
pub mod corpus;
pub mod data;
mod digest;
pub mod fixture;

#[cfg(unix)]
pub use child::in_child;
pub use digest::{crc32, sha256_hex};
