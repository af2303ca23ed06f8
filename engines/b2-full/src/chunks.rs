//! The findings about chunks of another format, which are verified one after the other.

use std::io;

use blosc_data::Array;
use blosc_data::verify::{BadChunk, OnProgress, Progress, Report, VerifyOptions};

/// The findings so far.
pub(crate) struct Findings<'a> {
    options: &'a VerifyOptions,
    report: Report,
    nmissing: u64,
}

impl<'a> Findings<'a> {
    /// Starts without findings, for chunks that may have checksums of a kind.
    pub(crate) fn new(options: &'a VerifyOptions, checksum: Option<&'static str>) -> Self {
        let mut report = Report::default();
        report.checksum = checksum;
        Self { options, report, nmissing: 0 }
    }

    /// Adds a chunk that is sound, and had a checksum if these chunks have any.
    pub(crate) fn add_sound(&mut self, has_checksum: bool) {
        let is_summed = has_checksum && self.report.checksum.is_some();
        self.report.nchunks = self.report.nchunks.saturating_add(1);
        self.report.nsummed = self.report.nsummed.saturating_add(is_summed.into());
    }

    /// Adds chunks that are not there and have the fill value, which may be intended.
    pub(crate) fn add_missing(&mut self, nchunks: u64) {
        self.report.nchunks = self.report.nchunks.saturating_add(nchunks);
        self.nmissing = self.nmissing.saturating_add(nchunks);
    }

    /// Adds a chunk at a place that is damaged.
    ///
    /// # Errors
    ///
    /// A file that the system refuses to read is no damage.
    pub(crate) fn add_bad(&mut self, place: &str, error: &io::Error) -> blosc_data::Result<()> {
        let nchunk = self.report.nchunks;
        self.report.nchunks = nchunk.saturating_add(1);
        let error = io::Error::new(error.kind(), format!("chunk {nchunk}, {place}: {error}"));
        let error = blosc_data::Error::of_opener(error);
        if matches!(error, blosc_data::Error::Io { .. }) {
            return Err(error);
        }
        let bad = BadChunk { nchunk, offset: None, error };
        self.report.add_bad(bad, self.options.max_reported);
        Ok(())
    }

    /// The report about an array, all chunks of which were added.
    pub(crate) fn finish(mut self, array: &dyn Array, progress: OnProgress<'_>) -> Report {
        let itemsize = array.dtype().itemsize() as u64;
        let nbytes = array.chunkshape().iter().fold(itemsize, |n, len| n.saturating_mul(*len));
        let lost = self.report.nbad.saturating_mul(nbytes);
        self.report.nbytes = array.nbytes().saturating_sub(lost);
        progress(Progress { nchunks: self.report.nchunks, nbytes: self.report.nbytes });
        if self.nmissing > 0 {
            self.report.notes.push(format!(
                "{} of {} chunks are not there, which stands for the fill value",
                self.nmissing, self.report.nchunks
            ));
        }
        self.report
    }
}
