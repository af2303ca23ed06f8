//! Decoding everything to see whether it can be.

use core::convert::Infallible;

use blosc_container::parallel::for_each;
use blosc_container::{Progress, VerifyOptions};

use super::CArray;
use crate::error::{Error, Result};
use crate::files::{is_missing, join};
use crate::layout::chunk_number;
use crate::meta;
use crate::note::{Fault, Note};
use crate::worker::Worker;

/// What [`CArray::verify`] found. Other damage is attributes that are not JSON.
pub type Report = blosc_container::Report<Error, Note>;
/// A chunk that cannot be read. Its position in its file is not known.
pub type BadChunk = blosc_container::BadChunk<Error>;

/// A chunk on its way through a worker.
struct Slot {
    nchunk: u64,
    /// Bytes of data and typesize.
    result: Result<(usize, usize)>,
}

impl CArray {
    /// Decodes every chunk, and looks for what does not belong to the array. `progress` is called
    /// now and then. As the length of an array may be a lie, no more chunks are decoded after
    /// `max_reported` bad ones.
    ///
    /// # Errors
    ///
    /// Only where the directory cannot be listed; what is wrong with the data is in the report.
    pub fn verify(
        &self,
        options: &VerifyOptions,
        mut progress: impl FnMut(Progress),
    ) -> Result<Report> {
        let mut report = Report::default();
        report.notes.clone_from(&self.notes);
        report.other.extend(self.attrs().err());
        let mut next = 0;
        while next < self.nchunks() && report.bad.len() < options.max_reported {
            let end = self.nchunks().min(next.saturating_add(BATCH_NCHUNKS));
            let mut slots: Vec<Slot> =
                (next..end).map(|nchunk| Slot { nchunk, result: Ok((0, 0)) }).collect();
            let make = || (Worker::new(&self.options.dparams), Vec::new());
            let nworkers = options.budget.nworkers().min(slots.len());
            let Ok(()) = for_each(nworkers, slots.iter_mut(), make, |(worker, data), slot| {
                let decoded = self.decode_chunk(slot.nchunk, data, worker);
                slot.result = decoded.map(|header| (data.len(), header.typesize()));
                Ok::<(), Infallible>(())
            });
            slots.into_iter().for_each(|slot| self.count(slot, &mut report));
            next = end;
            progress(Progress { nchunks: report.nchunks, nbytes: report.nbytes });
        }
        self.find_stale(&mut report)?;
        Ok(report)
    }

    /// The rows of a chunk; those of one that cannot be read have the fill value, and come with the
    /// reason.
    ///
    /// # Errors
    ///
    /// [`Param`](crate::Param) where there is no such chunk or the array holds objects; `Limit`
    /// where the rows would be too many for the limits; where the fill value is none.
    pub fn salvage_chunk(&self, nchunk: u64) -> Result<(Vec<u8>, Option<Error>)> {
        let start = nchunk.saturating_mul(self.layout.chunklen);
        let rows = start..start.saturating_add(self.layout.rows_in(nchunk).max(1));
        self.check_rows(&rows)?;
        match self.read(rows.clone()) {
            Ok(bytes) => Ok((bytes, None)),
            Err(error) => {
                let needed = self.layout.nbytes_of(rows.end - rows.start);
                let limit = self.options.dparams.limits.max_nbytes;
                if needed > limit {
                    return Err(Error::Limit { path: self.path.clone(), needed, limit });
                }
                let row = self.dflt_row()?;
                let rows = usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX);
                Ok((row.repeat(rows), Some(error)))
            }
        }
    }

    fn count(&self, slot: Slot, report: &mut Report) {
        report.nchunks += 1;
        match slot.result {
            Ok((nbytes, typesize)) => {
                let kept = usize::try_from(self.layout.nbytes_of(self.layout.rows_in(slot.nchunk)));
                let kept = if self.layout.is_object { nbytes } else { kept.unwrap_or(nbytes) };
                report.nbytes += kept as u64;
                let expected = meta::typesize(self.dtype());
                let is_known = |note: &Note| matches!(note.fault, Fault::Typesize { .. });
                if typesize != expected && !report.notes.iter().any(is_known) {
                    let fault = Fault::Typesize { nchunk: slot.nchunk, found: typesize, expected };
                    report.notes.push(Note { path: self.path.clone(), fault });
                }
            }
            Err(error) => {
                report.add_bad(BadChunk { nchunk: slot.nchunk, offset: None, error }, usize::MAX);
            }
        }
    }

    fn find_stale(&self, report: &mut Report) -> Result<()> {
        let data = join(&self.path, "data");
        let entries = match self.tree.list(&data) {
            Ok(entries) => entries,
            // An empty array may have lost its empty directory on the way.
            Err(error) if is_missing(&error) => return Ok(()),
            Err(error) => return Err(Error::io(data, error)),
        };
        let numbers = entries.iter().filter_map(|entry| chunk_number(&entry.name));
        let count = numbers.filter(|number| *number >= self.nchunks()).count() as u64;
        if count > 0 {
            report
                .notes
                .push(Note { path: self.path.clone(), fault: Fault::StaleChunks { count } });
        }
        Ok(())
    }
}

/// Chunks that are decoded together.
const BATCH_NCHUNKS: u64 = 256;
