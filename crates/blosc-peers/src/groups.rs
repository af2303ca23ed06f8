//! What is compared.

pub(crate) mod chunks;
pub(crate) mod filters;
pub(crate) mod frames;

use std::path::PathBuf;

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
    pub(crate) rows: Vec<Row>,
}

/// A row without its times.
pub(crate) struct Subject {
    pub(crate) group: &'static str,
    pub(crate) what: &'static str,
    pub(crate) setting: String,
    pub(crate) case: String,
    pub(crate) threads: u16,
    pub(crate) nbytes: usize,
    pub(crate) size: f64,
}

impl Bench {
    /// Measures both sides and keeps the row.
    pub(crate) fn measure(&mut self, subject: Subject, ours: Work<'_>, theirs: Work<'_>) -> Result<()> {
        let times = compare(self.effort, subject.threads, ours, theirs)?;
        self.keep(subject, times);
        Ok(())
    }

    pub(crate) fn keep(&mut self, subject: Subject, times: Times) {
        let Subject { group, what, setting, case, threads, nbytes, size } = subject;
        let Times { ours, theirs } = times;
        self.rows.push(Row { group, what, setting, case, threads, nbytes, ours, theirs, size });
    }
}
