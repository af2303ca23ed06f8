//! A change in place that is either complete or undone.

use core::ops::Range;

use blosc_io::{Durability, ReadAt, WriteAt};

use crate::journal::{self, Journal};
use crate::{Error, Result};

/// The ranges that a change overwrites.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The state that the plan is based on, compared with the file before the first write.
    pub(crate) seen: Seen,
    /// Position and length of the overwritten bytes that cannot be recomputed (bytes).
    pub(crate) overwritten: Vec<(u64, u64)>,
    /// Length of the file without the bytes after its last chunk (bytes).
    pub(crate) len_before: u64,
    /// The greatest length of the file after the change (bytes).
    pub(crate) end: u64,
}

/// The state of a file that a change builds on: its length, and the bytes with all positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Length of the file (bytes).
    pub(crate) len: u64,
    /// Position and content of header, offsets or header of the metadata.
    pub(crate) parts: Vec<(u64, Vec<u8>)>,
}

impl Seen {
    /// Checks that the file has the same content and the length `len`.
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

/// A change in progress. The caller must end it; dropping it leaves the file half changed.
pub(crate) struct Change<'a, S> {
    store: &'a mut S,
    seen: Seen,
    len_before: u64,
    /// The file's present length, if no other program writes to it.
    len: u64,
    undo: Undo,
}

/// The way to undo a change.
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
                        // The change has so far overwritten only the bytes after the last chunk.
                        let _ = store.set_len(len_before);
                    })?;
                Undo::Journal
            }
            Durability::None => Undo::Memory(read_ranges(store, &overwritten)?),
        };
        let len = store.len().map_err(|source| Error::io(0, source))?;
        Ok(Self { store, seen, len_before, len, undo })
    }

    /// Checks that no other program changed the file. This happens before header and offsets are
    /// written, while all earlier writes can be undone.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        self.seen.check(self.store, self.len)
    }

    pub(crate) fn write(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.len = self.len.max(at.saturating_add(bytes.len() as u64));
        self.store.write_at(at, bytes).map_err(|source| Error::io(at, source))
    }

    /// Completes a successful change, with the new length of the file, and undoes a failed one.
    pub(crate) fn end(mut self, made: Result<u64>) -> Result<u64> {
        let ended = made.and_then(|len| {
            let commit = match self.undo {
                Undo::Journal => journal::commit(self.store, len),
                Undo::Memory(_) => self.store.set_len(len),
            };
            commit.map(|()| len).map_err(|source| Error::io(len, source))
        });
        if ended.is_err() {
            // If undoing fails too, the journal remains; the first error says more than the second.
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

/// Restores a file whose change was interrupted; returns whether there was such a change.
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
