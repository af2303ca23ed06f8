//! Without the feature `parquet`: all functions refuse.

use std::path::Path;

use b2store::Table;
use bcolz_store::CTable;
use blosc_io::replace::Unfinished;

use crate::content::Object;
use crate::error::{Refusal, Result};
use crate::params::OpenOptions;

/// Refuses to read.
///
/// # Errors
///
/// [`Refusal::NoParquet`].
pub fn open(_: &Path, _: bool, _: &OpenOptions, _: &Unfinished) -> Result<Object> {
    Err(Refusal::NoParquet.into())
}

/// Refuses to write.
///
/// # Errors
///
/// [`Refusal::NoParquet`].
pub fn write(_: &CTable, _: &Path) -> Result<()> {
    Err(Refusal::NoParquet.into())
}

/// Refuses to write.
///
/// # Errors
///
/// [`Refusal::NoParquet`].
pub fn write_table(_: &Table, _: &Path) -> Result<Vec<String>> {
    Err(Refusal::NoParquet.into())
}
