//! The error of a build without the feature.

use std::path::Path;

use b2store::Table;
use bcolz_store::CTable;

use crate::error::{Result, message};

/// Says that nothing can be written.
pub(crate) fn write(_: &CTable, _: &Path) -> Result<()> {
    Err(message::NO_PARQUET.error())
}

/// Says that nothing can be written.
pub(crate) fn write_table(_: &Table, _: &Path) -> Result<Vec<String>> {
    Err(message::NO_PARQUET.error())
}

/// Says that nothing can be read.
pub(crate) fn read(_: &Path, _: &Path) -> Result<()> {
    Err(message::NO_PARQUET.error())
}

/// Says that nothing can be read.
pub(crate) fn read_to_store(_: &Path, _: &Path) -> Result<()> {
    Err(message::NO_PARQUET.error())
}
