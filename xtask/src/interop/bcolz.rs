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

use bcolz_store::{
    DataSet,
    error::{Corrupt, Error},
    verify::VerifyOptions,
};

use super::Bench;
use crate::failure::{Result, fail};

/// A place where nothing is.
pub(super) fn fresh(bench: &Bench) -> Result<PathBuf> {
    let root = bench.folder.join("bcolz");
    match fs::remove_dir_all(&root) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(root),
    }
}

/// Whether the checksums of a data set can be trusted. A chunk file that bcolz replaced and that
/// kept its length, or a `meta/sizes` in which only the compressed size is another one, differs
/// from its checksum and has to be called damaged, until the data set is sealed again
/// (`docs/formats/bcolz.md`, "Checksums").
#[derive(Default)]
struct Sums {
    outdated: bool,
}

impl Sums {
    fn changed(&mut self, ours: bool) {
        self.outdated |= !ours;
    }

    /// Verifies the data set; if nothing but outdated checksums is wrong, as users are told: seals
    /// it, and verifies again.
    fn verify(&mut self, set: &DataSet) -> Result<()> {
        let mut report = set.verify(&VerifyOptions::default(), |_| ())?;
        let is_sum =
            |error: &Error| matches!(error, Error::Corrupt { what: Corrupt::Checksum { .. }, .. });
        let mut errors = report.bad.iter().map(|bad| &bad.error).chain(&report.other);
        let only_sums = errors.all(is_sum);
        if self.outdated && !report.is_ok() && only_sums {
            set.seal()?;
            self.outdated = false;
            report = set.verify(&VerifyOptions::default(), |_| ())?;
        }
        if report.is_ok() { Ok(()) } else { fail(format!("{report:?}")) }
    }
}
