//! Read, write, query and repair the arrays and tables of bcolz.
//!
//! bcolz keeps an array (*carray*) in a directory with one file for each chunk, and a table
//! (*ctable*) in a directory with one array for each column:
//!
//! ```text
//! array/                         table/
//!     __attrs__        JSON          __rootdirs__     JSON: names of the columns
//!     meta/sizes       JSON          __attrs__        JSON
//!     meta/storage     JSON          price/           an array
//!     data/__0.blp     chunk 0       volume/          an array
//!     data/__1.blp     chunk 1
//! ```
//!
//! This crate implements `docs/formats/bcolz.md`. It reads everything that carray 0.5 to
//! bcolz 1.2.1 and the fork bcolz-zipline wrote, and they read everything that it writes.
//!
//! | to | use |
//! |---|---|
//! | open either kind, or find all of them | [`open`](open()), [`walk`](walk::walk) |
//! | read an array: rows, values, blocks, objects | [`CArray`] |
//! | read a table: columns, records | [`CTable`] |
//! | find rows, sum up | [`CTable::scan`], [`query`] |
//! | make and change | [`CArrayWriter`], [`CTableWriter`] |
//! | verify an array, read around damage | [`CArray::verify`], [`CArray::salvage_chunk`] |
//! | repair the state after a crash, make a damaged copy readable | [`repair`](mod@repair) |
//! | exchange record batches, Parquet files | `arrow`, `parquet`: features, off by default |
//! | keep data elsewhere than in a directory | [`tree::Tree`] |
//!
//! ```
//! use bcolz_store::{CTable, CTableWriter, CreateOptions, Dtype};
//!
//! # let dir = tempfile::tempdir()?;
//! # let root = dir.path().join("trades");
//! let columns = [
//!     ("price", CreateOptions::new(Dtype::parse("float64")?)),
//!     ("volume", CreateOptions::new(Dtype::parse("int32")?)),
//! ];
//! let mut writer = CTableWriter::create(&root, &columns)?;
//! for day in 1..=5_i32 {
//!     writer.append(&[&(f64::from(day) / 2.0).to_le_bytes(), &day.to_le_bytes()])?;
//! }
//! writer.finish()?;
//!
//! let table = CTable::open(&root)?;
//! let prices: Vec<f64> = table.column("price")?.read_as(3..5)?;
//! assert_eq!(prices, [2.0, 2.5]);
//! let volume = table.scan().filter("price > 1")?.aggregate("volume")?;
//! assert_eq!(volume.mean(), Some(4.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Directories of strangers are safe to read: every number is compared with the files before memory
//! is allocated, names of columns and links never lead out of the directory, and [`pickle`] reads
//! Python objects without running code.
//!
//! `blosc-chunk` handles the chunks, `blosc-dtype` the dtypes.
#![cfg_attr(all(doctest, feature = "write"), doc = include_str!("../README.md"))]
#![cfg_attr(docsrs, feature(doc_cfg))]
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

#[cfg(feature = "arrow")]
pub mod arrow;
mod carray;
mod carray_writer;
mod chunk_file;
mod chunklen;
mod create;
mod ctable;
mod ctable_writer;
pub mod error;
mod files;
mod fill;
mod layout;
mod leftovers;
mod meta;
mod names;
mod note;
mod open;
mod params;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod pickle;
mod prefetch;
mod quantize;
pub mod query;
pub mod repair;
mod rescue;
mod sums;
mod table_sums;
pub mod verify;
pub mod walk;
mod worker;

pub use blosc_container::{
    Budget,
    checksums::{Checksums, Mismatch, MismatchLog},
};
pub use blosc_dtype::Dtype;
pub use blosc_dtype::json::Json;
pub use blosc_io::{Durability, LockWait, tree};
pub use carray::{Blocks, CArray, Element, Objects, RowReader};
pub use carray_writer::CArrayWriter;
pub use create::CreateOptions;
pub use ctable::{CTable, Column};
pub use ctable_writer::{CTableWriter, check_new_column, place_of_column};
pub use error::{Error, Result};
pub use meta::Attrs;
pub use open::{DataSet, open, open_in};
pub use params::{BrokenColumns, Cname, OpenOptions, Shuffle, StorageParams};
