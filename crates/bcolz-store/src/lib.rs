//! Read, write, query and repair the arrays and tables of bcolz.
//!
//! bcolz keeps an array (*carray*) in a directory with one file for each chunk, and a table (*ctable*) in a directory with
//! one array for each column:
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
//! This crate implements `docs/formats/bcolz.md`: whatever carray 0.5 to bcolz 1.2.1 and the fork bcolz-zipline wrote is
//! read.
//!
//! ```no_run
//! use bcolz_store::{CArray, CTable};
//!
//! let array = CArray::open("prices")?;
//! let last: Vec<f64> = array.read_as(array.len() - 10..array.len())?;
//!
//! let table = CTable::open("trades")?;
//! for column in table.columns() {
//!     let rows = column.array.read(0..table.len().min(5))?;
//!     assert_eq!(rows.len() % column.array.rowsize(), 0);
//! }
//! # Ok::<(), bcolz_store::Error>(())
//! ```
//!
//! Directories of strangers: every number is compared with what is there before anything is allocated, names of columns
//! and links never lead out of the directory, and Python objects are read by [`pickle`], which runs nothing.
//!
//! What it does not do: chunks are the business of `blosc-chunk`, dtypes that of `blosc-dtype`.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod carray;
mod carray_writer;
mod chunk_file;
mod chunklen;
mod create;
mod ctable;
mod ctable_writer;
mod error;
mod fill;
mod json;
mod layout;
mod meta;
mod names;
mod note;
mod open;
mod params;
pub mod pickle;
mod quantize;
mod repair;
pub mod store;
mod team;

pub use blosc_dtype::Dtype;
pub use carray::{BadChunk, Blocks, CArray, Element, Objects, Report};
pub use carray_writer::CArrayWriter;
pub use create::CreateOptions;
pub use ctable::{CTable, Column};
pub use ctable_writer::CTableWriter;
pub use error::{Blame, Corrupt, Error, Field, NameFault, Param, Result};
pub use json::Json;
pub use meta::Attrs;
pub use note::{Fault, Note};
pub use open::{DataSet, Found, Walk, open, open_in, walk, walk_in};
pub use params::{BrokenColumns, CParams, Cname, OpenOptions, Shuffle};
pub use repair::{Action, Repair, repair, repair_in};
