//! The common machinery of the containers of Blosc chunks: frames (`b2frame`), Bloscpack files
//! (`bloscpack`) and the directories of bcolz (`bcolz-store`) use it. It knows chunks and storage,
//! and no format.
//!
//! | module | one concept |
//! |---|---|
//! | [`parallel`] | work on many chunks with several threads, in any order or in order and in bounded memory |
//! | [`budget`] | threads and bytes that an operation may use |
//! | [`checksums`] | the checksums that a writer adds |
//! | [`chunk_reader`] | a chunk at a position of a store: any range of its data, by few reads |
//! | [`mod@crc32`] | the CRC-32 of archives and of Bloscpack |
//! | [`block_cache`] | decoded blocks kept for later requests |
//! | [`buffer`] | reusable buffers that only grow |
//! | [`pool`] | scratch buffers that wait for the next caller |
//! | [`rescue`] | the filling in place of lost data |
//! | [`report`] | findings of verifying a container, and progress |
//!
//! Programs depend on a container, not on this crate: each container re-exports the types of its
//! own interface.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]
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

pub mod block_cache;
pub mod budget;
pub mod buffer;
pub mod checksums;
pub mod chunk_reader;
pub mod crc32;
pub mod parallel;
pub mod pool;
pub mod report;
pub mod rescue;

pub use budget::Budget;
