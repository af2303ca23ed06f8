//! Verifying an array by decoding every chunk.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "rows and bytes that were compared with the layout"
    )
)]

use core::convert::Infallible;

use blosc_chunk::ChunkHeader;
use blosc_container::parallel::for_each;
use blosc_container::report::{Progress, VerifyOptions};

use super::CArray;
use crate::error::{Corrupt, Error, Result};
use crate::files;
use crate::layout::chunk_path;
use crate::leftovers::chunk_numbers;
use crate::meta::{self, Sizes};
use crate::note::{Fault, Note};
use crate::sums::{FileSum, Found, Sums, sums_path};
use crate::table_sums::compare_attrs;
use crate::worker::Worker;

/// The findings of [`CArray::verify`]. Other damage is attributes that are not JSON.
pub type Report = blosc_container::report::Report<Error, Note>;
/// A chunk that cannot be read, at an unknown position of its file.
pub type BadChunk = blosc_container::report::BadChunk<Error>;

/// A chunk on its way through a worker.
struct Slot {
    nchunk: u64,
    /// The chunk that was read; `None` before that.
    result: Result<Option<Read>>,
}

/// A chunk that was read.
struct Read {
    /// Bytes of data.
    nbytes: usize,
    header: ChunkHeader,
    /// The sum of the file, if verifying compares it.
    sum: Option<FileSum>,
}

impl Slot {
    fn sum(&self) -> Option<FileSum> {
        self.result.as_ref().ok()?.as_ref()?.sum
    }
}

impl CArray {
    /// Decodes every chunk, and looks for files that do not belong to the array. Calls `progress`
    /// now and then. As the stored length may be false, stops after `max_reported` bad chunks.
    ///
    /// # Errors
    ///
    /// Only if the directory cannot be listed; the report has all faults of the data.
    pub fn verify(
        &self,
        options: &VerifyOptions,
        mut progress: impl FnMut(Progress),
    ) -> Result<Report> {
        let _lock = files::lock_shared(&*self.tree, &self.path, &self.options.lock)?;
        self.verify_locked(options, &mut progress)
    }

    /// Verifies an array under a lock that the caller holds.
    pub(crate) fn verify_locked(
        &self,
        options: &VerifyOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Report> {
        let mut report = Report::default();
        report.notes.clone_from(&self.notes);
        report.other.extend(self.attrs().err());
        let mut seal = self.open_seal(&mut report);
        let is_summed = seal.is_some();
        let mut next = 0;
        while next < self.nchunks() && report.bad.len() < options.max_reported {
            let end = self.nchunks().min(next.saturating_add(BATCH_NCHUNKS));
            let mut slots: Vec<Slot> =
                (next..end).map(|nchunk| Slot { nchunk, result: Ok(None) }).collect();
            let make = || (Worker::new(&self.options.dparams), Vec::new());
            let jobs = (&options.budget.threads, options.budget.threads.count_for(slots.len()));
            let Ok(()) = for_each(jobs, slots.iter_mut(), make, |(worker, data), slot| {
                slot.result = self
                    .decode_summed(slot.nchunk, is_summed, data, worker)
                    .map(|(header, sum)| Some(Read { nbytes: data.len(), header, sum }));
                Ok::<(), Infallible>(())
            });
            for mut slot in slots {
                if let (Some(seal), Some(sum)) = (&mut seal, slot.sum())
                    && let Err(what) = seal.compare_chunk(slot.nchunk, sum)
                {
                    let path = chunk_path(&self.path, slot.nchunk);
                    slot.result = Err(Error::corrupt(path, what));
                }
                self.count(slot, &mut report);
            }
            next = end;
            progress(Progress { nchunks: report.nchunks, nbytes: report.nbytes });
        }
        if let Some(seal) = seal {
            report.nsummed = seal.nsame;
            seal.finish(self, &mut report);
        }
        self.find_stale(&mut report)?;
        Ok(report)
    }

    /// The usable sums of the array, if any.
    fn open_seal(&self, report: &mut Report) -> Option<Seal> {
        report.checksum = Some("xxh3");
        let seal = Sums::read(&*self.tree, &self.path).and_then(|found| match found {
            Found::Sums(sums) => self.seal_of(sums, report),
            Found::Missing => {
                report.checksum = None;
                Ok(None)
            }
            Found::Damaged => Err(Error::corrupt(sums_path(&self.path), Corrupt::Sums)),
        });
        // The chunks are readable all the same.
        seal.unwrap_or_else(|error| {
            report.other.push(error);
            None
        })
    }

    /// Compares the metadata with sums; returns nothing if the sums are of another state.
    fn seal_of(&self, sums: Sums, report: &mut Report) -> Result<Option<Seal>> {
        compare_attrs(&*self.tree, &self.path, sums.attrs, report);
        let storage = self.storage_mismatch(&sums)?;
        report
            .other
            .extend(storage.map(|what| Error::corrupt(meta::storage_path(&self.path), what)));
        let text = files::read_metadata(&*self.tree, &meta::sizes_path(&self.path))?;
        let text = text.unwrap_or_default();
        let sizes = FileSum::of_file(&text);
        // The sums are of another state than the opened one, so they prove nothing.
        let parsed =
            meta::parse_object(&self.path, &text).and_then(|json| Sizes::parse(&json, &self.path));
        if !parsed.is_ok_and(|parsed| parsed == self.sizes) {
            return Ok(None);
        }
        Ok(Some(Seal { sums, sizes, nsame: 0, is_changed: false }))
    }

    /// The rows of a chunk. A chunk that cannot be read gives rows of the fill value, and the
    /// reason.
    ///
    /// # Errors
    ///
    /// [`Param`](crate::error::Param) if there is no such chunk or the array holds objects; `Limit`
    /// if the rows exceed the limits; [`Corrupt`](crate::Error::Corrupt) if the fill value is not
    /// one of the dtype.
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
            Ok(None) => {}
            Ok(Some(Read { nbytes, header, .. })) => {
                report.add_suspicions(slot.nchunk, &header);
                let typesize = header.typesize();
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
        // An empty array may have lost its empty directory when it was copied.
        let numbers = chunk_numbers(&*self.tree, &self.path)?.into_iter();
        let count = numbers.filter(|number| *number >= self.nchunks()).count() as u64;
        if count > 0 {
            report
                .notes
                .push(Note { path: self.path.clone(), fault: Fault::StaleChunks { count } });
        }
        Ok(())
    }
}

/// The state of comparing chunks with sums.
struct Seal {
    sums: Sums,
    /// The sum of the current `meta/sizes`.
    sizes: FileSum,
    /// Chunks whose files match their sums.
    nsame: u64,
    is_changed: bool,
}

impl Seal {
    /// Whether the sums are those of the current `meta/sizes`.
    fn is_current(&self) -> bool {
        self.sizes == self.sums.sizes
    }

    /// Compares a chunk that could be decoded.
    fn compare_chunk(&mut self, nchunk: u64, found: FileSum) -> Result<(), Corrupt> {
        let at = usize::try_from(nchunk).unwrap_or(usize::MAX);
        match self.sums.chunks.get(at).copied() {
            Some(stored) if stored == found => self.nsame = self.nsame.saturating_add(1),
            Some(stored) if !stored.is_known() => {}
            // Almost every change to an array alters a file's length.
            Some(stored) if self.is_current() && stored.nbytes == found.nbytes => {
                return Err(Corrupt::Checksum { found: found.sum, stored: stored.sum });
            }
            _ => self.is_changed = true,
        }
        Ok(())
    }

    /// Adds the findings about the array as a whole.
    fn finish(mut self, array: &CArray, report: &mut Report) {
        if !self.is_current() {
            // A genuine change of the length changes chunks too, and stores the right nbytes.
            let nbytes = array.layout.nbytes_of(array.len());
            let is_consistent = array.is_object() || array.sizes.nbytes == Some(nbytes.into());
            let nchunks = self.sums.chunks.len() as u64;
            let are_same = self.nsame == nchunks && array.nchunks() == nchunks;
            if !is_consistent || (are_same && array.len() == self.sums.len) {
                let what = Corrupt::Checksum { found: self.sizes.sum, stored: self.sums.sizes.sum };
                report.other.push(Error::corrupt(meta::sizes_path(array.path()), what));
            } else {
                self.is_changed = true;
            }
        }
        if self.is_changed {
            report.notes.push(Note { path: array.path.clone(), fault: Fault::ChangedByOther });
        }
    }
}

/// Chunks that are decoded together.
const BATCH_NCHUNKS: u64 = 256;
