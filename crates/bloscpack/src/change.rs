//! A change in place that is either complete or undone.

use core::ops::Range;

use blosc_io::{Durability, ReadAt, WriteAt};

use crate::journal::{self, Journal};
use crate::{Error, Result};

/// What a change will overwrite.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// What it was worked out from, to be compared before anything is written.
    pub(crate) seen: Seen,
    /// Position and length of what is overwritten and cannot be made again (bytes).
    pub(crate) overwritten: Vec<(u64, u64)>,
    /// Length of the file, but for what follows its last chunk (bytes).
    pub(crate) len_before: u64,
    /// The most that the length can be afterwards (bytes).
    pub(crate) end: u64,
}

/// The state of a file that a change builds on: length and the bytes that tell where everything is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Length of the file (bytes).
    pub(crate) len: u64,
    /// Position and content of header, offsets or header of the metadata.
    pub(crate) parts: Vec<(u64, Vec<u8>)>,
}

impl Seen {
    /// Whether the file is still so, but for its length, which has to be `len` now.
    fn check(&self, store: &impl ReadAt, len: u64) -> Result<()> {
        let found = store.len().map_err(|source| Error::io(0, source))?;
        if found != len {
            return Err(Error::ChangedByOther { at: found.min(len) });
        }
        for (at, expected) in &self.parts {
            let mut bytes = vec![0; expected.len()];
            store.read_exact_at(*at, &mut bytes).map_err(|source| Error::io(*at, source))?;
            let differs = bytes.iter().zip(expected).position(|(found, seen)| found != seen);
            if let Some(inside) = differs {
                return Err(Error::ChangedByOther { at: at.saturating_add(inside as u64) });
            }
        }
        Ok(())
    }
}

/// A change that was begun. It must be ended; what is dropped before leaves the file half changed.
pub(crate) struct Change<'a, S> {
    store: &'a mut S,
    seen: Seen,
    len_before: u64,
    /// Length of the file now, if nobody else writes to it.
    len: u64,
    undo: Undo,
}

/// How to go back.
enum Undo {
    /// A journal at the end of the file.
    Journal,
    /// The overwritten bytes, in memory.
    Memory(Vec<(u64, Vec<u8>)>),
}

impl<'a, S: WriteAt> Change<'a, S> {
    pub(crate) fn begin(store: &'a mut S, plan: Plan, durability: Durability) -> Result<Self> {
        let Plan { seen, overwritten, len_before, end } = plan;
        seen.check(store, seen.len)?;
        let undo = match durability {
            Durability::PowerLoss | Durability::ProcessDeath => {
                Journal::begin(store, end, len_before, &overwritten)
                    .map_err(|source| Error::io(end, source))
                    .inspect_err(|_| {
                        // Nothing has changed but what follows the last chunk.
                        let _ = store.set_len(len_before);
                    })?;
                Undo::Journal
            }
            Durability::None => Undo::Memory(read_ranges(store, &overwritten)?),
        };
        let len = store.len().map_err(|source| Error::io(0, source))?;
        Ok(Self { store, seen, len_before, len, undo })
    }

    /// Whether nobody else changed the file: asked before header and offsets are written, so that
    /// all that was written so far can be undone.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        self.seen.check(self.store, self.len)
    }

    pub(crate) fn write(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.len = self.len.max(at.saturating_add(bytes.len() as u64));
        self.store.write_at(at, bytes).map_err(|source| Error::io(at, source))
    }

    /// Completes the change if it was made, with the new length of the file, and undoes it
    /// otherwise.
    pub(crate) fn end(mut self, made: Result<u64>) -> Result<u64> {
        let ended = made.and_then(|len| {
            let commit = match self.undo {
                Undo::Journal => journal::commit(self.store, len),
                Undo::Memory(_) => self.store.set_len(len),
            };
            commit.map(|()| len).map_err(|source| Error::io(len, source))
        });
        if ended.is_err() {
            // If this fails too, the journal remains, and the first error says more than the
            // second.
            let _ = self.undo();
        }
        ended
    }

    fn undo(&mut self) -> Result<()> {
        let Undo::Memory(ranges) = &self.undo else { return recover(self.store).map(drop) };
        for (at, bytes) in ranges {
            self.store.write_at(*at, bytes).map_err(|source| Error::io(*at, source))?;
        }
        self.store.set_len(self.len_before).map_err(|source| Error::io(self.len_before, source))
    }
}

/// Restores a file whose change was interrupted; true if there was something to restore.
pub(crate) fn recover<S: WriteAt>(store: &mut S) -> Result<bool> {
    let journal = Journal::find(store).map_err(|source| Error::io(0, source))?;
    let Some(journal) = journal else { return Ok(false) };
    journal.roll_back(store).map_err(|source| Error::io(0, source))?;
    Ok(true)
}

fn read_ranges(store: &impl ReadAt, ranges: &[(u64, u64)]) -> Result<Vec<(u64, Vec<u8>)>> {
    let whole: Vec<Range<u64>> =
        ranges.iter().map(|(at, len)| *at..at.saturating_add(*len)).collect();
    let bytes = store.read_ranges(&whole).map_err(|source| Error::io(0, source))?;
    Ok(ranges.iter().map(|(at, _)| *at).zip(bytes).collect())
}
