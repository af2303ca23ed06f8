//! Tables of bcolz, tables of Blosc2 stores (`.b2z`, `.b2d`) and arrays (`.b2nd`) as tables of
//! [DataFusion](datafusion).
//!
//! ```
//! use blosc_datafusion::{BloscTable, session};
//!
//! # use bcolz_store::{CTableWriter, CreateOptions};
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("trades.bcolz");
//! # let price = CreateOptions::new("int16".parse()?);
//! # let volume = CreateOptions::new("uint8".parse()?);
//! # let mut writer = CTableWriter::create(&path, &[("price", price), ("volume", volume)])?;
//! # writer.append(&[&[10, 0, 20, 0, 30, 0, 40, 0], &[1, 2, 3, 4]])?;
//! # writer.finish()?;
//! let session = session();
//! session.register_table("trades", BloscTable::open(&path)?.into_provider())?;
//! let rows = session.sql("SELECT sum(volume) FROM trades WHERE price > 15").await?;
//! assert_eq!(rows.collect().await?[0].num_rows(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! A scan decodes the columns of the condition first, and the others only where rows are left. The
//! engine's own expressions evaluate conditions on whole chunks, so that no filter has to run
//! afterwards. See `docs/engines.md`.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(feature = "ballista")]
mod ballista;
mod columns;
mod error;
mod kept;
mod members;
mod options;
mod predicate;
mod session;
mod source;
mod table;
mod tables;
mod waiting;
mod zones;

#[cfg(feature = "ballista")]
pub use ballista::{BloscLogicalCodec, BloscPhysicalCodec, cluster_config, cluster_session};
pub use datafusion;
pub use error::Error;
pub use options::TableOptions;
pub use session::{BloscTableFactory, FORMATS, session, session_with, session_with_options};
pub use table::BloscTable;
