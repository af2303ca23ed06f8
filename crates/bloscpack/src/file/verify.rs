//! Checking a whole file without stopping at the first thing that is wrong.

use core::fmt;

use blosc_io::ReadAt;

use super::BlpFile;
use crate::chunk::{Expected, nbytes, read_chunk};
use crate::decoding::Decoding;
use crate::reader::check_position;
use crate::sizes::SizeCheck;
use crate::{Corrupt, Digests, Error, Offsets, PackedChunk, ReadOptions, Result};

/// What [`BlpFile::verify`] found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Chunks that there should be, or that were found if the header does not tell.
    pub nchunks: u64,
    /// Chunks that were decoded without complaint.
    pub good: u64,
    /// Data of those (bytes).
    pub nbytes: u64,
    /// What is wrong, in the order of the file.
    pub bad: Vec<BadChunk>,
    /// What is unusual and does no harm.
    pub notes: Vec<Note>,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.bad.is_empty()
    }
}

/// A chunk that cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub struct BadChunk {
    /// The number of the chunk.
    pub nchunk: u64,
    /// What is wrong with it, and where.
    pub error: Error,
}

/// Something unusual that does no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// So many bytes behind the last chunk.
    TrailingBytes(u64),
    /// The offsets are not set, because the writer was interrupted.
    OffsetsUnset,
    /// Reserved bytes of the header are not 0.
    ReservedBytes,
    /// An append or another change was interrupted; the file is seen as it was before.
    Interrupted,
    /// The number of chunks is not in the header. Release 0.16.0 of the original decodes such a
    /// file to nothing.
    CountUnknown,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TrailingBytes(n) => write!(f, "{n} bytes behind the last chunk"),
            Self::OffsetsUnset => f.write_str("the offsets are not set"),
            Self::ReservedBytes => f.write_str("reserved bytes of the header are not 0"),
            Self::Interrupted => {
                f.write_str("a change was interrupted, the file is seen as it was before")
            }
            Self::CountUnknown => f.write_str("the number of chunks is not in the header"),
        }
    }
}

impl<S: ReadAt> BlpFile<S> {
    /// Checks all positions, sizes and digests, and decodes all chunks.
    ///
    /// A chunk that is wrong is reported, and the next one looked for: behind it if its header can
    /// be read, otherwise where the offsets say.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; everything else is in the report.
    pub fn verify(&self) -> Result<Report> {
        self.verify_with(self.options())
    }

    /// The same with the `threads`, `max_memory` and `dparams` of other options.
    ///
    /// # Errors
    ///
    /// As [`verify`](Self::verify).
    pub fn verify_with(&self, options: &ReadOptions) -> Result<Report> {
        let mut report =
            Report { nchunks: self.header().nchunks.unwrap_or(0), ..Report::default() };
        let mut scan = Scan {
            file: self,
            next: 0,
            at: Some(self.preamble().chunks_at),
            before: 0,
            bad: vec![],
        };
        let mut decoding = Decoding::new(options).lenient();
        loop {
            match decoding.next(&mut || scan.next()) {
                Ok(None) => break,
                Ok(Some((_, data))) => {
                    report.good += 1;
                    report.nbytes += data.len() as u64;
                }
                Err(Error::Chunk { nchunk, at, source }) => {
                    let error = Error::Chunk { nchunk, at, source };
                    report.bad.push(BadChunk { nchunk, error });
                }
                Err(error) => return Err(error),
            }
        }
        report.nchunks = report.nchunks.max(scan.next);
        report.notes = self.notes(scan.at);
        report.bad.extend(scan.bad);
        report.bad.sort_by_key(|bad| bad.nchunk);
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

/// Goes from chunk to chunk, and on after one that is wrong.
struct Scan<'a, S> {
    file: &'a BlpFile<S>,
    /// Number of the next chunk.
    next: u64,
    /// Where it begins; `None` if the one before does not tell.
    at: Option<u64>,
    /// Data of the chunk before (bytes).
    before: u32,
    bad: Vec<BadChunk>,
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
        let expected = Expected { digests: Digests::Ignore, ..self.file.expected(nchunk) };
        read_chunk(&mut self.file.input(at), expected)
    }

    fn check_digest(&self, chunk: &PackedChunk) -> Result<()> {
        match self.file.options().digests {
            Digests::Check => chunk.check_digest(self.file.header().checksum),
            Digests::Ignore => Ok(()),
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

    /// Notes what is wrong with a chunk, unless it is the storage.
    fn complain(&mut self, nchunk: u64, error: Error) -> Result<()> {
        if matches!(error, Error::Io { .. }) {
            return Err(error);
        }
        self.bad.push(BadChunk { nchunk, error });
        Ok(())
    }
}
