//! Parquet, by way of tables of bcolz, in programs that are built with the feature `parquet`.

#[cfg(feature = "parquet")]
mod with;
#[cfg(not(feature = "parquet"))]
mod without;

#[cfg(feature = "parquet")]
pub(crate) use with::{read, write};
#[cfg(not(feature = "parquet"))]
pub(crate) use without::{read, write};

/// What files of Parquet begin with.
pub(crate) const MAGIC: &[u8] = b"PAR1";
