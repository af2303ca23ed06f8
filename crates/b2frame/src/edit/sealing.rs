//! The seal of a frame that is edited: each change of a chunk adds and subtracts its entry.

use super::SChunkWriter;
use crate::error::{Blame, Result};
use crate::header::FrameHeader;
use crate::params::Checksums;
use crate::schunk::{ChunkBytes, Draft};
use crate::seal::{BodySum, Ending, Mark, SealFrom, Sealed, is_stored};

/// The largest number of chunks that are counted to find the unused bytes of a frame without a
/// seal.
const MAX_COUNTED: u64 = 4096;

/// The seal of the draft.
#[derive(Debug, Default)]
pub(super) struct KeptSeal {
    /// The sum of the chunks of the draft, if the frame has a seal.
    sum: Option<BodySum>,
    /// Whether `sum` belongs to this frame.
    is_known: bool,
    /// The committed seal.
    mark: Mark,
    /// From this length on, chunks are counted to find unused bytes (bytes).
    count_at: u64,
}

impl KeptSeal {
    /// The seal of a new frame.
    pub(super) fn new(checksums: Checksums) -> Self {
        Self { sum: BodySum::new(checksums), is_known: true, ..Self::default() }
    }

    /// Notes that the frame was opened again.
    pub(super) fn forget(&mut self) {
        self.is_known = false;
    }

    /// Finds the sums of the locked frame. While the frame is changed, the super-chunk shows no
    /// seal, as none would fit.
    ///
    /// # Errors
    /// The storage cannot be read: a change without the sums would break the seal.
    pub(super) fn load(&mut self, frame: &mut Draft) -> Result<()> {
        if !self.is_known {
            self.sum = match BodySum::of_frame(frame.snapshot()) {
                Err(error) if error.blame() == Blame::Io => return Err(error),
                // Without its sums a broken seal stays broken.
                found => found.unwrap_or(None),
            };
            self.mark = frame.mark().clone();
            self.is_known = true;
        }
        if self.sum.is_some() && *frame.mark() != Mark::default() {
            frame.change().set_mark(Mark::default());
        }
        Ok(())
    }

    /// Makes the super-chunk show the committed seal.
    pub(super) fn show(&self, frame: &mut Draft) {
        if *frame.mark() != self.mark {
            frame.change().set_mark(self.mark.clone());
        }
    }

    /// Notes the seal that was written.
    pub(super) fn note_sealed(&mut self, frame: &mut Draft, mark: Mark) {
        self.mark = mark;
        self.sum.iter_mut().for_each(BodySum::note_commit);
        self.show(frame);
    }

    /// Replaces the sum.
    pub(super) fn set_sum(&mut self, sum: Option<BodySum>) {
        self.sum = sum;
    }

    /// The sum of the chunks, if the frame has a seal.
    pub(super) fn sum(&self) -> Option<&BodySum> {
        self.sum.as_ref()
    }

    /// Whether the frame has a seal that changes update.
    pub(super) fn is_kept(&self) -> bool {
        self.sum.is_some()
    }

    /// Notes the bytes of a chunk that will be entered into the index.
    pub(super) fn note_stored(&mut self, number: u64, chunk: &[u8]) {
        self.sum.iter_mut().for_each(|sum| sum.note_stored(number, chunk));
    }

    /// Notes the bytes of a chunk that replaces the one of number `old`.
    pub(super) fn note_instead(
        &mut self,
        old: Option<u64>,
        number: u64,
        chunk: &[u8],
    ) -> Result<()> {
        match &mut self.sum {
            Some(sum) if old == Some(number) => sum.replace(number, chunk),
            Some(sum) => {
                sum.note_stored(number, chunk);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Adds an entry of the index.
    pub(super) fn add(&mut self, number: u64) -> Result<()> {
        self.sum.as_mut().map_or(Ok(()), |sum| sum.add(number))
    }

    /// Subtracts the entry of a chunk; reads the chunk, if it was not stored just now.
    ///
    /// # Errors
    /// The storage cannot read the chunk: a temporary failure must not lose the seal.
    pub(super) fn remove(&mut self, frame: &mut Draft, nchunk: u64, number: u64) -> Result<()> {
        let Some(sum) = &mut self.sum else { return Ok(()) };
        if !is_stored(number) {
            return Ok(());
        }
        if !sum.knows(number) {
            match frame.snapshot().chunk(nchunk) {
                Ok(ChunkBytes::Stored(bytes)) => sum.note_stored(number, &bytes),
                Err(error) if error.blame() == Blame::Io => return Err(error),
                // The sum can no longer be known.
                _ => {
                    self.sum = None;
                    let mark = Mark { layer: self.mark.layer.clone(), ..frame.mark().clone() };
                    frame.change().set_mark(mark);
                    return Ok(());
                }
            }
        }
        sum.remove(number);
        Ok(())
    }

    /// The seal that a frame gets when it is written anew.
    pub(super) fn source(&self) -> SealFrom<'_> {
        self.sum.as_ref().map_or(SealFrom::Nothing, |sum| SealFrom::Old(sum, sum.checksums()))
    }

    /// Whether the trailer needs the index.
    pub(super) fn has_chunk_sums(&self) -> bool {
        self.sum.as_ref().is_some_and(|sum| sum.checksums() == Checksums::Chunks)
    }

    /// Encodes the trailer that begins at `start`, after the bytes `lead` and an index of
    /// `index_len` bytes.
    pub(super) fn encode_trailer(
        &self,
        frame: &Draft,
        header: &mut FrameHeader,
        start: u64,
        lead: &[u8],
        index_len: u64,
    ) -> Result<Sealed> {
        let ending = Ending {
            seal: self.sum.as_ref(),
            old_mark: frame.mark(),
            meta: frame.meta(),
            vlmeta: frame.vlmeta(),
            numbers: if self.has_chunk_sums() { frame.index().as_table() } else { &[] },
            registries: frame.registries(),
            index_len,
        };
        ending.encode(header, start, lead)
    }

    /// Bytes of chunks that the index refers to, of `data_len` in all. `None` unless the seal or a
    /// count of few chunks gives the number.
    pub(super) fn live_nbytes(&mut self, frame: &Draft, data_len: u64) -> Option<u64> {
        if let Some(sum) = &self.sum {
            return Some(sum.live_nbytes);
        }
        if data_len < self.count_at || frame.nchunks() > MAX_COUNTED {
            return None;
        }
        self.count_at = data_len.saturating_add(data_len / 2);
        frame.snapshot().usage().ok().map(|usage| usage.cbytes)
    }
}

impl SChunkWriter {
    /// Replaces the seal with the next commit.
    pub(crate) fn replace_seal(&mut self, sum: Option<BodySum>) {
        self.seal.set_sum(sum);
        self.seal.mark = Mark::default();
        self.frame.change().set_mark(Mark::default());
        self.changed.vlmeta = true;
    }

    /// Makes the sum wrong, in the next commit.
    pub(crate) fn spoil(&mut self) {
        self.seal.sum.iter_mut().for_each(BodySum::spoil);
        self.changed.vlmeta = true;
    }

    /// Compares a chunk whose data go into a new one with its sum, if the seal has a sum for each
    /// chunk.
    pub(crate) fn compare_old(&self, nchunk: u64) -> Result<()> {
        match self.seal.sum().and_then(BodySum::table) {
            Some(table) => self.frame.snapshot().compare_with(table, nchunk),
            None => Ok(()),
        }
    }
}
