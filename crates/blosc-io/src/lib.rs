//! Positional reads and writes: the storage under frames and other containers.
//!
//! A container holds positions, so its reader needs only one operation: *give me `n` bytes at
//! position `p`*. No cursor is shared, so readers take `&self` and any number of threads can use
//! one store at once.
//!
//! ```text
//!   b2frame, bloscpack, bcolz-store        meaning of the bytes
//!        |  ReadAt / WriteAt
//!   FileStore  MemStore  SeekStore<R>      the bytes themselves
//!   Windowed<S>                            a part of them
//! ```
//!
//! The module [`replace`] makes files and folders that appear whole or not at all.
//!
//! A container of several files has a [`Tree`] of them: see the module [`tree`]. Callers that must
//! not wait for I/O fetch the bytes for the readers: see the module [`steps`].
//!
//! | store | use it for |
//! |---|---|
//! | [`FileStore`] | a file, by `pread` and `pwrite` on one descriptor |
//! | [`MemStore`] | bytes in memory |
//! | [`BytesStore`] | bytes of another owner, copied when they are changed |
//! | [`SeekStore`] | anything that is `Read + Seek`; calls take turns |
//! | [`Windowed`] | a part of another store that looks like a whole one |
//! | [`Joined`] | several stores that look like one |
//! | `MmapStore` (feature `mmap`) | a file mapped into memory, which no program changes meanwhile |
//!
//! This crate interprets no content (see `b2frame`) and does not cache. The writer of a container
//! makes sure that it is the only one, by a [`Lock`]: see the module [`lock`].
//!
//! On systems other than Unix and Windows (WASI), a read or write of a [`FileStore`] moves the
//! position of the file, and the calls for all files take turns.
//!
//! ```
//! use blosc_io::{MemStore, ReadAt, Windowed, WriteAt};
//!
//! let mut store = MemStore::new(b"header".to_vec());
//! store.write_at(6, b" and data")?;
//!
//! let data = Windowed::new(store, 11, 4)?;
//! let mut four = [0; 4];
//! data.read_exact_at(0, &mut four)?;
//! assert_eq!(&four, b"data");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The `testing` feature adds the module `testing`: the suite that every store should pass, stores
//! that fail, and one that counts the bytes read.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod aligned;
mod bytes;
mod durability;
mod file;
mod joined;
pub mod lock;
mod mem;
#[cfg(feature = "mmap")]
#[allow(unsafe_code)]
mod mmap;
pub mod replace;
mod seek;
pub mod steps;
mod store;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod tree;
mod window;
#[allow(unsafe_code)]
mod zeroed;

pub use aligned::AlignedBytes;
pub use bytes::BytesStore;
pub use durability::Durability;
pub use file::{FileStore, OfFile, is_missing, look_at};
pub use joined::Joined;
pub use lock::{Lock, LockWait};
pub use mem::MemStore;
#[cfg(feature = "mmap")]
pub use mmap::MmapStore;
pub use seek::SeekStore;
pub use store::{ReadAt, Stamp, Sync, WriteAt};
pub use tree::Tree;
pub use window::Windowed;
pub use zeroed::zeroed;
