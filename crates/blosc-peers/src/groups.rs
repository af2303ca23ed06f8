//! What is compared.

pub(crate) mod arrays;
pub(crate) mod bcolz;
pub(crate) mod chunks;
pub(crate) mod filters;
pub(crate) mod frames;
pub(crate) mod many;
#[cfg(feature = "rust-peers")]
pub(crate) mod peers;
pub(crate) mod scaling;

use std::path::PathBuf;

pub(crate) use crate::table::Subject;

use crate::{
    c_blosc2::CBlosc2,
    clock::{Effort, Times, Work, compare},
    failure::Result,
    sets::Set,
    table::Row,
};

/// Everything that the groups share.
pub(crate) struct Bench {
    pub(crate) c: CBlosc2,
    pub(crate) sets: Vec<Set>,
    pub(crate) effort: Effort,
    /// Fewer settings.
    pub(crate) quick: bool,
    /// For frames; emptied by whoever made it.
    pub(crate) folder: PathBuf,
    /// The interpreter that has the original programs, and the root of the repository.
    pub(crate) python: PathBuf,
    pub(crate) root: PathBuf,
    pub(crate) rows: Vec<Row>,
}

impl Bench {
    /// Measures both sides and keeps the row.
    pub(crate) fn measure(&mut self, subject: Subject, ours: Work<'_>, theirs: Work<'_>) -> Result<()> {
        let times = compare(self.effort, subject.threads, ours, theirs)?;
        self.keep(subject, times);
        Ok(())
    }

    pub(crate) fn keep(&mut self, subject: Subject, times: Times) {
        self.rows.push(Row { subject, times });
    }
}
