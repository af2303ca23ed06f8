//! Directories of bcolz: the fork bcolz-zipline against `bcolz-store`. One of them makes a data set
//! and either one changes it; after every step both read it.

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

/// A path where nothing exists.
pub(super) fn fresh(bench: &Bench) -> Result<PathBuf> {
    let root = bench.folder.join("bcolz");
    match fs::remove_dir_all(&root) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(root),
    }
}

/// Whether the checksums of a data set are reliable. bcolz may replace a chunk file without
/// changing its length, or change only the compressed size in `meta/sizes`. Either file then
/// differs from its checksum and must be reported as damaged, until the data set is sealed again
/// (`docs/formats/bcolz.md`, "Checksums").
#[derive(Default)]
struct Sums {
    outdated: bool,
}

impl Sums {
    fn changed(&mut self, ours: bool) {
        self.outdated |= !ours;
    }

    /// Verifies the data set. If only outdated checksums are wrong, seals it as users are advised
    /// to, and verifies again.
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
