//! The seal of a frame that is edited: each change adds and subtracts what concerns it.

use super::{Changed, SChunkWriter};
use crate::error::{Blame, Result};
use crate::header::FrameHeader;
use crate::params::Checksums;
use crate::schunk::ChunkBytes;
use crate::seal::{BodySum, Ending, Mark, SealFrom, Sealed, is_stored};

/// Unused bytes up to this number are no reason to write a frame anew.
const MAX_SMALL_NBYTES: u64 = 64 << 10;
/// Most chunks that are counted to find the unused bytes of a frame without a seal.
const MAX_COUNTED: u64 = 4096;

impl SChunkWriter {
    /// Finds the sums of the frame that was locked. As long as it is changed, the super-chunk shows
    /// no seal: it would not fit.
    ///
    /// # Errors
    /// The storage cannot be read: a change without the sums would break the seal.
    pub(super) fn load_seal(&mut self) -> Result<()> {
        if !self.is_seal_known {
            self.seal = match BodySum::of_frame(self.frame.snapshot()) {
                Err(error) if error.blame() == Blame::Io => return Err(error),
                // Without its sums it stays what it is: broken.
                found => found.unwrap_or(None),
            };
            self.mark = self.frame.mark().clone();
            self.is_seal_known = true;
        }
        if self.seal.is_some() && *self.frame.mark() != Mark::default() {
            self.frame.change().set_mark(Mark::default());
        }
        Ok(())
    }

    /// The super-chunk shows the seal that was committed.
    pub(super) fn show_seal(&mut self) {
        if *self.frame.mark() != self.mark {
            self.frame.change().set_mark(self.mark.clone());
        }
    }

    /// Takes over the seal that was written.
    pub(super) fn note_sealed(&mut self, mark: Mark) {
        self.mark = mark;
        self.seal.iter_mut().for_each(BodySum::note_commit);
        self.show_seal();
    }

    /// Puts another seal in place of this one, with the next commit.
    pub(crate) fn replace_seal(&mut self, seal: Option<BodySum>) {
        self.seal = seal;
        self.mark = Mark::default();
        self.frame.change().set_mark(Mark::default());
        self.changed = Changed { vlmeta: true, ..self.changed };
    }

    /// Notes the bytes of a chunk that will get its place.
    pub(super) fn note_stored(&mut self, number: u64, chunk: &[u8]) {
        self.seal.iter_mut().for_each(|seal| seal.note_stored(number, chunk));
    }

    /// Adds an entry of the index.
    pub(super) fn seal_entry(&mut self, number: u64) {
        self.seal.iter_mut().for_each(|seal| seal.add(number));
    }

    /// Makes the sum one of other bytes, in the next commit.
    pub(crate) fn spoil(&mut self) {
        self.seal.iter_mut().for_each(BodySum::spoil);
        self.changed = Changed { vlmeta: true, ..self.changed };
    }

    /// Compares a chunk whose data go into a new one with its sum, if the seal has one for each.
    pub(crate) fn compare_old(&self, nchunk: u64) -> Result<()> {
        match self.seal.as_ref().and_then(BodySum::table) {
            Some(table) => self.frame.snapshot().compare_with(table, nchunk),
            None => Ok(()),
        }
    }

    /// Subtracts the entry of a chunk, which is read for it, if it was not stored just now.
    pub(super) fn unseal_entry(&mut self, nchunk: u64, number: u64) {
        let Some(seal) = &mut self.seal else { return };
        if !is_stored(number) {
            return;
        }
        if !seal.knows(number) {
            match self.frame.snapshot().chunk(nchunk) {
                Ok(ChunkBytes::Stored(bytes)) => seal.note_stored(number, &bytes),
                // Nothing can be said of the sum any more.
                _ => {
                    self.seal = None;
                    let layer = self.mark.layer.clone();
                    let mark = Mark { layer, ..self.frame.mark().clone() };
                    self.frame.change().set_mark(mark);
                    return;
                }
            }
        }
        seal.remove(number);
    }

    /// Which seal the frame has that is written anew.
    pub(super) fn seal_from(&self) -> SealFrom<'_> {
        self.seal.as_ref().map_or(SealFrom::Nothing, |seal| SealFrom::Old(seal, seal.checksums()))
    }

    /// Whether the index is needed for the trailer.
    pub(super) fn has_chunk_sums(&self) -> bool {
        self.seal.as_ref().is_some_and(|seal| seal.checksums() == Checksums::Chunks)
    }

    /// The trailer that begins at `start`, after the bytes `lead` from an index of `index_len`
    /// bytes on.
    pub(super) fn encode_trailer(
        &self,
        header: &mut FrameHeader,
        start: u64,
        lead: &[u8],
        index_len: u64,
    ) -> Result<Sealed> {
        let ending = Ending {
            seal: self.seal.as_ref(),
            old_mark: self.frame.mark(),
            meta: self.frame.meta(),
            vlmeta: self.frame.vlmeta(),
            numbers: if self.has_chunk_sums() { self.table() } else { &[] },
            registries: self.frame.registries(),
            index_len,
        };
        ending.encode(header, start, lead)
    }

    /// Whether more bytes of the file are unused than used, so that a commit had better write it
    /// anew. What that costs was spent on the unused bytes before.
    pub(super) fn is_mostly_dead(&mut self) -> bool {
        let end = self.file.end().saturating_sub(self.frame.header().header_len().into());
        if self.file.path().is_none() || self.file.is_new() || end <= MAX_SMALL_NBYTES {
            return false;
        }
        let live = match &self.seal {
            Some(seal) => seal.live_nbytes,
            None if end >= self.count_at && self.frame.nchunks() <= MAX_COUNTED => {
                self.count_at = end.saturating_add(end / 2);
                self.frame.snapshot().usage().map_or(end, |usage| usage.cbytes)
            }
            None => return false,
        };
        let dead = end.saturating_sub(live);
        dead > live.max(MAX_SMALL_NBYTES)
    }
}
