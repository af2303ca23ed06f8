//! Without the feature `parquet`: all functions refuse.

use std::path::Path;

use b2store::Table;
use bcolz_store::CTable;
use blosc_io::{ReadAt, replace::Unfinished};

use crate::content::Object;
use crate::error::{Error, Refusal, Result};
use crate::format::Format;
use crate::params::OpenOptions;

/// Refuses to read.
///
/// # Errors
///
/// [`Refusal::NoParquet`].
pub fn open(_: &Path, _: bool, _: &OpenOptions, _: &Unfinished) -> Result<Object> {
    Err(Refusal::NoParquet.into())
}

/// Refuses to read.
pub(crate) fn of_file(_: &dyn ReadAt, _: &OpenOptions) -> Result<Object> {
    Err(Error::NoOpener(Format::Parquet))
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
