//! The measured groups.

pub(crate) mod arrays;
pub(crate) mod bcolz;
pub(crate) mod bloscpack;
pub(crate) mod chunks;
pub(crate) mod filters;
pub(crate) mod frames;
pub(crate) mod many;
#[cfg(feature = "rust-peers")]
pub(crate) mod peers;
mod python;
pub(crate) mod scaling;
pub(crate) mod stores;
pub(crate) mod streams;

use std::path::PathBuf;

pub(crate) use crate::table::Subject;

use crate::{
    c_blosc2::CBlosc2,
    clock::{Effort, Times, Work, compare},
    failure::{Result, fail},
    sets::Set,
    table::Row,
};

/// The data and tools that all groups share.
pub(crate) struct Bench {
    pub(crate) c: CBlosc2,
    pub(crate) sets: Vec<Set>,
    pub(crate) effort: Effort,
    /// Fewer settings.
    pub(crate) quick: bool,
    /// The folder of frames; the group that makes them empties it.
    pub(crate) folder: PathBuf,
    /// The interpreter with the reference programs, and the root of the repository.
    pub(crate) python: PathBuf,
    pub(crate) root: PathBuf,
    pub(crate) rows: Vec<Row>,
}

impl Bench {
    /// Measures both sides and keeps the row.
    pub(crate) fn measure(
        &mut self,
        subject: Subject,
        ours: Work<'_>,
        theirs: Work<'_>,
    ) -> Result<()> {
        let times = compare(self.effort, subject.threads, ours, theirs)?;
        self.keep(subject, times);
        Ok(())
    }

    /// The baseline of a group: both sides alike copy as many bytes as its largest setting has. The
    /// distance of its ratio from 1 shows the disturbance by the machine.
    pub(crate) fn memcpy(&mut self, group: &'static str) -> Result<()> {
        let rows = self.rows.iter().filter(|row| row.subject.group == group);
        let nbytes = rows.map(|row| row.subject.nbytes).max().unwrap_or(0).min(MOST_COPIED);
        if nbytes < LEAST_COPIED {
            return Ok(());
        }
        let (src, mut dest) = (vec![1; nbytes], vec![0; nbytes]);
        let mut their_dest = dest.clone();
        let copy = |dest: &mut [u8]| {
            dest.copy_from_slice(core::hint::black_box(&src));
            core::hint::black_box(dest);
            Ok(())
        };
        let case = format!("{} KiB", nbytes >> 10);
        let subject = Subject::new(group, "memcpy", "nothing but a copy", case).nbytes(nbytes);
        self.measure(subject, &mut || copy(&mut dest), &mut || copy(&mut their_dest))
    }

    /// The data set with this name.
    pub(crate) fn set(&self, name: &str) -> Result<&Set> {
        let set = self.sets.iter().find(|set| set.name == name);
        set.map_or_else(|| fail(format!("{name}: no such set")), Ok)
    }

    pub(crate) fn keep(&mut self, subject: Subject, times: Times) {
        self.rows.push(Row { subject, times });
    }
}

/// Groups of opening and single items have no copy to compare with.
const LEAST_COPIED: usize = 4 << 10;
const MOST_COPIED: usize = 256 << 20;
