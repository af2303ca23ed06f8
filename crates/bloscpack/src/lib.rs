//! Read, write, append to and verify Bloscpack files (`.blp`).
//!
//! A `.blp` file is a sequence of Blosc 1 chunks with their digests. Before them stand a header,
//! metadata (JSON) and a table of positions that leaves room for chunks to be appended:
//!
//! ```text
//! | header | metadata | offsets, reserve | chunk 0 | digest 0 | chunk 1 | digest 1 | ...
//!   32       optional   optional           16-byte header and blocks, see blosc-chunk
//! ```
//!
//! This crate implements `docs/formats/bloscpack.md`. It reads versions 1, 2 and 3, which are all
//! that the Python package and bcolz ever wrote. It writes version 3, which all releases since 2013
//! read.
//!
//! | to | use |
//! |---|---|
//! | read and write whole files in memory | [`unpack`], [`pack`] |
//! | read from a pipe | [`Reader`], an [`io::Read`](std::io::Read) of the data |
//! | read any part, inspect, verify | [`BlpFile`] |
//! | write | [`Writer`], an [`io::Write`](std::io::Write) for the data |
//! | change in place | [`LockedFile`], [`append`], [`rewrite_metadata`] |
//! | copy a file with its chunks unchanged | [`repack`] |
//! | repair, rescue | [`recover`], [`repair_offsets`], [`rescue()`] |
//! | NumPy arrays and `.npy` files | [`numpy`] |
//!
//! ```
//! use std::io::Write;
//! use bloscpack::{BlpFile, WriteOptions, Writer};
//! use serde_json::json;
//!
//! let dir = tempfile::tempdir()?;
//! let path = dir.path().join("squares.blp");
//! let squares: Vec<u8> = (0..100_000_u64).flat_map(|n| (n * n).to_le_bytes()).collect();
//!
//! let metadata = json!({ "of": "squares" });
//! let options = WriteOptions::default().nbytes(Some(800_000)).metadata(Some(metadata));
//! let mut writer = Writer::seekable(std::fs::File::create(&path)?, options)?;
//! writer.write_all(&squares)?;
//! writer.finish()?;
//!
//! let file = BlpFile::open(&path)?;
//! assert!(file.file_len() < 300_000);
//! let mut item = [0; 8];
//! file.read_at(8 * 12_345, &mut item)?;
//! assert_eq!(u64::from_le_bytes(item), 12_345 * 12_345);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Files of strangers are safe to read: every number is compared with the file and with
//! [`FileLimits`] before memory is allocated; digests are checked before chunks are decoded; memory
//! holds only one chunk, or as many as the [`Budget`] allows.
//!
//! `blosc-chunk` handles the chunks; file names are the caller's.
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

mod append;
mod batch;
mod change;
mod checksum;
mod chunk;
mod decoding;
mod encoding;
pub mod error;
mod file;
mod header;
mod input;
mod journal;
mod json;
mod locked_file;
pub mod metadata;
pub mod numpy;
mod offsets;
mod pack;
pub mod params;
mod preamble;
pub mod raw;
mod reader;
mod repack;
pub mod report;
pub mod rescue;
mod sizes;
mod writer;

pub use blosc_container::{
    Budget,
    checksums::{Mismatch, MismatchLog},
};
pub use blosc_io::{Durability, LockWait};

pub use append::{AppendOptions, AppendReport, append, recover, rewrite_metadata};
pub use checksum::{Checksum, Digest};
pub use chunk::PackedChunk;
pub use error::{Error, Result};
pub use file::{BlpFile, DataReader};
pub use header::{Header, Version};
pub use locked_file::LockedFile;
pub use metadata::Metadata;
pub use offsets::Offsets;
pub use pack::{pack, unpack};
pub use params::{ReadOptions, WriteOptions};
pub use reader::Reader;
pub use repack::{RepackOptions, repack, repair_offsets};
pub use rescue::rescue;
pub use writer::Writer;

// Short names inside of the crate.
use error::{Blame, Corrupt, Field, Param, Part};
use metadata::{MetadataHeader, MetadataUse};
use params::{FileLimits, OffsetsUse, RcHeader, Reserve};
