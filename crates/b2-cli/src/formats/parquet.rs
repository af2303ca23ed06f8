//! Parquet, by way of tables of bcolz and of stores, in programs that are built with the feature
//! `parquet`.

#[cfg(feature = "parquet")]
mod with;
#[cfg(not(feature = "parquet"))]
mod without;

#[cfg(feature = "parquet")]
pub(crate) use with::{read, read_to_store, write, write_table};
#[cfg(not(feature = "parquet"))]
pub(crate) use without::{read, read_to_store, write, write_table};

/// What files of Parquet begin with.
pub(crate) const MAGIC: &[u8] = b"PAR1";
