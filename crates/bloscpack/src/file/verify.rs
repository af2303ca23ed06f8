//! Checking a whole file without stopping at the first fault.

use blosc_container::report::{BadChunk, Progress, VerifyOptions};
use blosc_io::ReadAt;

use super::BlpFile;
use crate::chunk::{Expected, nbytes, read_chunk};
use crate::decoding::decode_leniently;
use crate::reader::check_position;
use crate::sizes::SizeCheck;
use crate::{Checksum, Corrupt, Error, Mismatch, Offsets, PackedChunk, Result};

/// The findings of [`BlpFile::verify`]. The chunks that cannot be read are in file order.
pub type Report = blosc_container::report::Report<Error, Note>;

/// A harmless oddity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Note {
    /// Number of bytes after the last chunk.
    #[error("{0} bytes after the last chunk")]
    TrailingBytes(u64),
    /// The offsets are not set, because the writer was interrupted.
    #[error("the offsets are not set")]
    OffsetsUnset,
    /// Reserved bytes of the header are not 0.
    #[error("reserved bytes of the header are not 0")]
    ReservedBytes,
    /// An append or another change was interrupted; the file shows its former state.
    #[error("a change was interrupted or goes on, the file is seen as it was before")]
    Interrupted,
    /// The number of chunks is not in the header. Bloscpack 0.16.0 decodes such a
    /// file to nothing.
    #[error("the number of chunks is not in the header")]
    CountUnknown,
}

impl<S: ReadAt> BlpFile<S> {
    /// Checks all positions, sizes and digests, and decodes all chunks. Calls `progress` after each
    /// decoded chunk.
    ///
    /// A bad chunk is reported. The next one is sought after it if its header can be read, and at
    /// its offset otherwise.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; everything else is in the report.
    pub fn verify(
        &self,
        options: &VerifyOptions,
        mut progress: impl FnMut(Progress),
    ) -> Result<Report> {
        let mut scan = Scan {
            file: self,
            next: 0,
            at: Some(self.preamble().chunks_at),
            before: 0,
            bad: vec![],
        };
        let (mut done, mut bad) = (Progress::default(), vec![]);
        let mut suspected = Report::default();
        let source = &mut || {
            let chunk = scan.next()?;
            if let Some(chunk) = &chunk {
                suspected.add_suspicions(chunk.nchunk(), chunk.header());
            }
            Ok(chunk)
        };
        let dparams = &self.options().dparams;
        decode_leniently(&options.budget, dparams, source, &mut |nchunk, decoded| match decoded {
            Ok(data) => {
                done.nchunks = done.nchunks.saturating_add(1);
                done.nbytes = done.nbytes.saturating_add(data.len() as u64);
                progress(done);
            }
            Err(error) => bad.push((nchunk, error)),
        })?;
        bad.append(&mut scan.bad);
        bad.sort_by_key(|(nchunk, _)| *nchunk);
        let mut report = suspected;
        report.nchunks = self.header().nchunks.unwrap_or(0).max(scan.next);
        report.nbytes = done.nbytes;
        if self.header().checksum() != Checksum::None {
            let name = self.header().checksum().name();
            (report.checksum, report.nsummed) = (Some(name), report.nchunks);
        }
        // A chunk can have several faults, and missing chunks count as bad, too.
        report.nbad = report.nchunks.saturating_sub(done.nchunks).max(u64::from(!bad.is_empty()));
        let reported = bad.into_iter().take(options.max_reported);
        report.bad = reported
            .map(|(nchunk, error)| BadChunk { nchunk, offset: offset_of(&error), error })
            .collect();
        report.notes = self.notes(scan.at);
        Ok(report)
    }

    fn notes(&self, end: Option<u64>) -> Vec<Note> {
        let trailing = end.map_or(0, |end| self.file_len().saturating_sub(end));
        let notes = [
            (trailing > 0, Note::TrailingBytes(trailing)),
            (self.offsets().is_some_and(Offsets::is_unset), Note::OffsetsUnset),
            (self.header().reserved_set, Note::ReservedBytes),
            (self.is_interrupted(), Note::Interrupted),
            (self.header().nchunks.is_none(), Note::CountUnknown),
        ];
        notes.into_iter().filter_map(|(is, note)| is.then_some(note)).collect()
    }
}

/// Goes from chunk to chunk, past bad ones.
struct Scan<'a, S> {
    file: &'a BlpFile<S>,
    /// Number of the next chunk.
    next: u64,
    /// Its position; `None` if the chunk before does not tell it.
    at: Option<u64>,
    /// Data of the chunk before (bytes).
    before: u32,
    /// Numbers of chunks, and their faults.
    bad: Vec<(u64, Error)>,
}

impl<S: ReadAt> Scan<'_, S> {
    /// The next chunk that has the right size and digest.
    fn next(&mut self) -> Result<Option<PackedChunk>> {
        while self.file.header().nchunks != Some(self.next) {
            let nchunk = self.next;
            let Some(at) = self.at.or_else(|| self.file.preamble().position(nchunk)) else { break };
            if let Err(error) = check_position(self.file.preamble(), nchunk, at) {
                self.complain(nchunk, error)?;
            }
            let chunk = match self.read(nchunk, at) {
                Ok(Some(chunk)) => chunk,
                Ok(None) => {
                    self.check_end(at)?;
                    break;
                }
                Err(error) => {
                    self.complain(nchunk, error)?;
                    (self.next, self.at) = (nchunk + 1, None);
                    continue;
                }
            };
            (self.next, self.at, self.before) =
                (nchunk + 1, Some(chunk.end()), nbytes(chunk.header()));
            match self.check_digest(&chunk) {
                Ok(()) => return Ok(Some(chunk)),
                Err(error) => self.complain(nchunk, error)?,
            }
        }
        Ok(None)
    }

    fn read(&self, nchunk: u64, at: u64) -> Result<Option<PackedChunk>> {
        let expected = Expected { mismatch: &Mismatch::Ignore, ..self.file.expected(nchunk) };
        let read = read_chunk(&mut self.file.input(at), expected);
        if self.file.is_rewritten(nchunk) || read.is_err() && self.file.is_changed() {
            return self.file.packed_chunk(nchunk).map(Some);
        }
        read
    }

    fn check_digest(&self, chunk: &PackedChunk) -> Result<()> {
        match self.file.options().mismatch {
            Mismatch::Ignore => Ok(()),
            _ => chunk.check_digest(self.file.header().checksum),
        }
    }

    /// The file ends at byte `at`.
    fn check_end(&mut self, at: u64) -> Result<()> {
        let (header, found) = (self.file.header(), self.next);
        let result = match (header.nchunks, found.checked_sub(1)) {
            (Some(nchunks), _) => Err(Corrupt::MissingChunks { nchunks, found }),
            (None, Some(last)) => SizeCheck::new(*header).check_last(last, self.before),
            (None, None) => Ok(()),
        };
        result.or_else(|what| self.complain(found, Error::corrupt(at, what)))
    }

    /// Notes a fault of a chunk; returns an error of the storage.
    fn complain(&mut self, nchunk: u64, error: Error) -> Result<()> {
        if matches!(error, Error::Io { .. }) {
            return Err(error);
        }
        self.bad.push((nchunk, error));
        Ok(())
    }
}

/// Position of the faulty chunk or part (bytes from the start of the file).
fn offset_of(error: &Error) -> Option<u64> {
    match error {
        Error::Chunk { at, .. } | Error::Corrupt { at, .. } => Some(*at),
        _ => None,
    }
}
