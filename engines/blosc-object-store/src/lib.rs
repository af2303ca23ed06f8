//! Frames, arrays, stores and tables in object stores (S3, Google, Azure), on web servers, or
//! anywhere else that [`object_store`] reaches. They are read in parts, as files are.
//!
//! ```
//! use std::sync::Arc;
//!
//! use b2frame::SChunk;
//! use blosc_object_store::{Cache, Remote};
//! use object_store::{ObjectStoreExt as _, memory::InMemory, path::Path};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let store = Arc::new(InMemory::new());
//! let frame = b2frame::to_cframe(&[7; 1_000_000], &b2frame::FrameParams::default())?;
//! store.put(&Path::from("data.b2frame"), frame.into()).await?;
//!
//! let cache = Cache::new(64 << 20)?;
//! let remote = Remote::open(store, &Path::from("data.b2frame"), &cache)?;
//! let schunk = SChunk::from_store(Arc::new(remote))?;
//! assert_eq!(schunk.nbytes(), 1_000_000);
//! assert_eq!(cache.counts().rounds, 1);
//! # Ok(())
//! # }
//! ```
//!
//! All objects of a [`Cache`] share a budget, within which fetched bytes are kept; several threads
//! that need the same bytes wait for one request. An object that is replaced while it is read gives
//! an error: every request names the version that was opened.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod address;
mod cache;
mod client;
mod driver;
mod environment;
mod object;
mod pages;
mod remote;
mod session;
mod tree;

pub use address::Address;
pub use cache::{Cache, Counts};
pub use object_store;
pub use remote::Remote;
pub use session::{prefetch_async, read_async};
pub use tree::RemoteTree;
