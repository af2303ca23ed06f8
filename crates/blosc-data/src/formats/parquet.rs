//! Parquet, through tables of bcolz and of stores (builds with the feature `parquet`).

#[cfg(not(feature = "parquet"))]
mod disabled;
#[cfg(feature = "parquet")]
mod enabled;

#[cfg(not(feature = "parquet"))]
pub(crate) use disabled::of_file;
#[cfg(not(feature = "parquet"))]
pub use disabled::{open, write, write_table};
#[cfg(feature = "parquet")]
pub(crate) use enabled::of_file;
#[cfg(feature = "parquet")]
pub use enabled::{open, write, write_table};

/// The first bytes of a Parquet file.
pub const MAGIC: &[u8] = b"PAR1";
