//! Findings of verifying a container, and progress.
//!
//! `E` is the error of the container, `N` its notes: harmless oddities differ from format to
//! format.

use core::fmt;

use blosc_chunk::{ChunkHeader, Suspicion};

use crate::Budget;

/// The findings of verifying a container.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report<E, N> {
    /// Chunks of the container.
    pub nchunks: u64,
    /// Bytes that were decoded.
    pub nbytes: u64,
    /// Number of chunks whose checksum was compared, if each chunk has its own.
    pub nsummed: u64,
    /// The kind of checksum that was compared; `None` without checksums.
    pub checksum: Option<&'static str>,
    /// Blocks of a chunk without a container: `bad` then counts and numbers blocks.
    pub nblocks: Option<u64>,
    /// Number of chunks that could not be read.
    pub nbad: u64,
    /// The chunks that could not be read, in order; at most [`VerifyOptions::max_reported`].
    pub bad: Vec<BadChunk<E>>,
    /// Damage outside of chunks: metadata, sums of sizes.
    pub other: Vec<E>,
    /// Harmless oddities; at most [`VerifyOptions::max_reported`].
    pub notes: Vec<N>,
    /// Readable chunks whose data an encoder with a known defect may have spoiled.
    pub suspected: Vec<Suspected>,
}

impl<E, N> Default for Report<E, N> {
    fn default() -> Self {
        Self {
            nchunks: 0,
            nbytes: 0,
            nsummed: 0,
            checksum: None,
            nblocks: None,
            nbad: 0,
            bad: vec![],
            other: vec![],
            notes: vec![],
            suspected: vec![],
        }
    }
}

impl<E, N> Report<E, N> {
    /// Number of faults: bad chunks, and other damage.
    #[must_use]
    pub fn nfaults(&self) -> u64 {
        self.nbad.saturating_add(self.other.len() as u64)
    }

    /// Whether all data could be read.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.nfaults() == 0
    }

    /// Counts a bad chunk, and lists it unless the list has `max_reported` already.
    pub fn add_bad(&mut self, bad: BadChunk<E>, max_reported: usize) {
        self.nbad = self.nbad.saturating_add(1);
        if self.bad.len() < max_reported {
            self.bad.push(bad);
        }
    }

    /// Notes suspicious properties in the header of a chunk.
    pub fn add_suspicions(&mut self, nchunk: u64, header: &ChunkHeader) {
        for suspicion in header.suspicions() {
            self.add_suspected(Suspected { suspicion, nchunks: 1, first: nchunk });
        }
    }

    fn add_suspected(&mut self, new: Suspected) {
        match self.suspected.iter_mut().find(|known| known.suspicion == new.suspicion) {
            Some(known) => {
                known.nchunks = known.nchunks.saturating_add(new.nchunks);
                known.first = known.first.min(new.first);
            }
            None => self.suspected.push(new),
        }
    }

    /// Adds the findings in another part of the container.
    pub fn merge(&mut self, other: Self) {
        self.nchunks = self.nchunks.saturating_add(other.nchunks);
        self.nbytes = self.nbytes.saturating_add(other.nbytes);
        self.nsummed = self.nsummed.saturating_add(other.nsummed);
        self.checksum = self.checksum.or(other.checksum);
        self.nbad = self.nbad.saturating_add(other.nbad);
        self.bad.extend(other.bad);
        self.other.extend(other.other);
        self.notes.extend(other.notes);
        other.suspected.into_iter().for_each(|new| self.add_suspected(new));
    }
}

/// The chunks that a known defect of an encoder may have spoiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspected {
    /// The defect.
    pub suspicion: Suspicion,
    /// The number of chunks in the form that the defect spoils.
    pub nchunks: u64,
    /// The lowest number of these chunks.
    pub first: u64,
}

impl fmt::Display for Suspected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { suspicion, nchunks, first } = self;
        match nchunks {
            0 | 1 => write!(f, "chunk {first}: {suspicion}"),
            _ => write!(f, "{nchunks} chunks, the first is {first}: {suspicion}"),
        }
    }
}

/// A chunk that could not be read.
#[derive(Clone, Debug)]
pub struct BadChunk<E> {
    /// Its number.
    pub nchunk: u64,
    /// Its position in its file (bytes), if known.
    pub offset: Option<u64>,
    /// The error of reading it.
    pub error: E,
}

/// The progress of an operation on many chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Chunks done.
    pub nchunks: u64,
    /// Uncompressed bytes done.
    pub nbytes: u64,
}

blosc_chunk::setters! {
/// Options for verifying a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyOptions {
    /// Threads and memory.
    pub budget: Budget,
    /// The most bad chunks and notes that the report lists; it counts all. Default: 1000.
    pub max_reported: usize,
}
}

impl Default for VerifyOptions {
    fn default() -> Self {
        Self { budget: Budget::default(), max_reported: 1000 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_chunks_beyond_the_limit_are_counted() {
        let mut report: Report<&str, ()> = Report::default();
        assert!(report.is_ok());
        for nchunk in 0..5 {
            report.add_bad(BadChunk { nchunk, offset: None, error: "cut" }, 3);
        }
        assert_eq!((report.nbad, report.bad.len(), report.is_ok()), (5, 3, false));
        let mut all = Report { other: vec!["sum"], nbytes: 7, ..Report::default() };
        assert!(!all.is_ok());
        all.merge(report);
        assert_eq!((all.nbad, all.nbytes, all.other.len()), (5, 7, 1));
    }
}
