//! Blosc2 stores and tables: many frames in a directory (`.b2d`), a zip archive (`.b2z`) or inside
//! of one frame (`.b2e`).
//!
//! ```text
//!   Store            keys, groups, attributes, tables
//!     |
//!   Content          the value of a key: array, frame, objects, batches, lists, recipe
//!   Table, Column    rows and columns, by ranges
//!     |
//!   b2frame          one frame: a file, a window of the archive, bytes in another frame
//! ```
//!
//! ```no_run
//! use b2store::{Content, Store};
//!
//! let store = Store::open("run.b2z")?;
//! for key in store.keys() {
//!     if let Content::Array(array) = store.get(key)? {
//!         println!("{key}: {:?} of {}", array.shape(), array.dtype());
//!     }
//! }
//! # Ok::<(), b2store::Error>(())
//! ```
//!
//! `docs/formats/store.md` describes the format. A store lies in a directory
//! ([`Tree`](blosc_io::Tree)), or in any storage with positions ([`ReadAt`](blosc_io::ReadAt)); the
//! members of an archive are read in place.
//!
//! Lazy expressions, functions, proxies and references hold no data: they are described
//! ([`Recipe`]), never resolved. Keys that lead outside, two files for one key, and members that
//! share bytes are refused. [`OpenOptions`] limits the numbers of files and keys, [`ValueLimits`]
//! depth and size of values.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "arrow-59")]
pub mod arrow_59;
mod batches;
mod content;
mod embed;
pub mod error;
mod files;
mod ipc;
mod key;
mod recipe;
pub mod rescue;
mod store;
pub mod table;
mod value;
mod write;
mod zip;

pub use batches::{BatchArray, ListArray, ObjectArray};
pub use content::Content;
pub use error::Error;
pub use recipe::{Recipe, RecipeKind};
pub use store::{
    Child, ChildKind, EMBED_FILE, Location, Note, OpenOptions, Store, StoreKind, differing_headers,
    first_member, has_marker, is_store,
};
pub use table::{Column, ColumnKind, ColumnValues, Nulls, Table, Values};
pub use value::{NdValue, Value, ValueLimits};
pub use write::{
    NewColumn, RowAppender, StoreForm, StoreWriter, TableParams, WriteOptions, joined_archive,
    pack, unpack,
};
pub use zip::{ArchiveMember, archive_members, surviving_members};
