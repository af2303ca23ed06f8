//! One entry point to the files of the Blosc family. Arrays, tables, stores, frames and chunks of
//! any format open behind the same interface.
//!
//! ```text
//!   name, bytes, ReadAt, Tree --> open --> Dataset { name, format, data }
//!                                            |
//!      Bytes        Array          Table          Group        Objects      Recipe
//!      read_at      read(part)     read(rows)     members      get          (no data)
//!      chunks       chunks         filter         open
//! ```
//!
//! | format | kind |
//! |---|---|
//! | frames (`.b2frame`, `.b2nd`, sparse folders) | bytes, an array, or objects |
//! | stores and tables (`.b2z`, `.b2d`, `.b2e`) | a group, or a table |
//! | Bloscpack files (`.blp`) | bytes or an array |
//! | directories of bcolz | an array, a table, or objects |
//! | bare chunks | bytes |
//! | frames one after the other | a group |
//! | `.npy` | an array |
//! | comma-separated values | a table |
//! | Parquet (feature `parquet`) | a table |
//!
//! [`Opener`]s add other formats, with the same traits.
//!
//! Functions over these traits return reports that `serde` can write, and print nothing:
//!
//! | module | report |
//! |---|---|
//! | [`verify`] | what cannot be read, and what does not match its checksum |
//! | [`rescue`] | the sound parts of something damaged, written anew |
//! | [`sum`] | a hash of the content, equal for equal values in all formats |
//! | [`stats`] | least, largest, mean, nulls and distribution of values |
//! | [`diff`] | how far apart two arrays are |
//! | [`compat`] | the programs that open an object |
//! | [`scan`] | frames and chunks inside any file |
//!
//! ```
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("temperature.b2nd");
//! # let params = b2frame::NdParams::new(&[100, 200], "<f4".parse()?);
//! # b2frame::NdWriter::create(&path, &params)?.finish()?;
//! use blosc_data::Data;
//!
//! let found = blosc_data::open(&path)?;
//! let Data::Array(array) = &found.data else { panic!("an array was written") };
//! assert_eq!((array.shape(), array.dtype().to_string().as_str()), (&[100, 200][..], "<f4"));
//! let row: Vec<f32> = array.to_vec((7, ..))?;
//! assert_eq!(row.len(), 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Limits
//!
//! For hostile files, the formats compare every number with the existing bytes before they
//! allocate. References and recipes are shown, never followed. Reads over many chunks keep to the
//! memory of [`OpenOptions::budget`]. Everything but [`open`] works without a file system: on bytes
//! in memory, or on any [`ReadAt`](blosc_io::ReadAt).

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod append;
mod array;
#[cfg(feature = "arrow")]
pub mod arrow;
pub mod boxes;
mod by_boxes;
mod bytes;
pub mod cells;
mod chunks;
pub mod columns;
pub mod compat;
pub mod content;
pub mod convert;
pub mod cookbook;
mod cut;
mod dataset;
pub mod diff;
mod digest;
pub mod error;
mod format;
pub mod formats;
mod group;
pub mod json;
pub mod labels;
pub mod limits;
pub mod loss;
mod objects;
mod one_column;
mod open;
mod params;
mod refusal;
pub mod repack;
pub mod rescue;
pub mod resources;
pub mod scan;
pub mod size;
pub mod slice;
mod source;
mod spool;
pub mod stats;
pub mod sum;
mod table;
pub mod table_edit;
mod tail;
pub mod tiles;
pub mod trial;
pub mod typesize;
pub mod verify;
mod word;

pub use array::{Array, check_box};
pub use b2frame::nd::{Element, Pick, Selection};
pub use b2store::{ColumnKind, ColumnValues, Value, Values};
pub use blosc_container::Budget;
pub use blosc_dtype::Dtype;
pub use by_boxes::part as array_part;
pub use bytes::Bytes;
pub use chunks::{ChunkSizes, Chunks};
pub use cut::cut;
pub use dataset::{Data, Dataset};
pub use digest::Digest;
pub use error::{Error, Result};
pub use format::{Format, HEAD_LEN, opened_by, recognise, starts_with};
pub use formats::npz::open_archive;
pub use group::{Group, Member, MemberKind};
pub use objects::ListOfObjects;
pub use open::{open, open_bytes, open_part, open_source, open_with};
pub use params::OpenOptions;
pub use resources::Resources;
pub use source::{ForeignGroup, Opened, Opener, Openers, Source};
pub use spool::{Shifted, Spool, Station};
pub use table::{Column, RowFilter, Table};
pub use tail::Tail;
pub use word::{Part, Word};
