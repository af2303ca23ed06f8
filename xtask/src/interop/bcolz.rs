//! Directories of bcolz: the fork bcolz-zipline against `bcolz-store`. A data set is made by one
//! and changed by either; after every step both read it.

mod arrays;
pub(super) mod items;
pub(super) mod queries;
mod tables;

pub(super) use arrays::{read, write};
pub(super) use queries::query;
pub(super) use tables::{read as table_read, write as table_write};

use std::{fs, io::ErrorKind, path::PathBuf};

use super::Bench;
use crate::failure::Result;

/// A place where nothing is.
pub(super) fn fresh(bench: &Bench) -> Result<PathBuf> {
    let root = bench.folder.join("bcolz");
    match fs::remove_dir_all(&root) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(root),
    }
}
