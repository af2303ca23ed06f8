//! Compares a frame with its seal, and seals an existing frame.

use std::path::Path;

use blosc_chunk::error::Blame;

use super::{
    BodySum, FINGERPRINT_LEN, FINGERPRINT_TYPE, MAX_WRONG_SEAL_BITS, chunk_term, header_sum,
    is_stored, low_half, tail_term, watch::term_of_stored,
};
use crate::edit::SChunkWriter;
use crate::error::{Error, Result};
use crate::offsets::Offset;
use crate::params::{Checksums, EditOptions};
use crate::schunk::{ChunkBytes, SChunk};

/// The result of comparing a frame with its seal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SealState {
    /// All bytes that readers need are as sealed.
    Intact,
    /// There is no seal: the writer of the frame does not support seals.
    NeverSealed,
    /// Chunks, index and vlmetalayers are as sealed; the header was changed. Programs without
    /// support for seals do this when they change metalayers.
    HeaderChanged,
    /// A program without support for seals has changed the frame and removed the sum.
    BrokenByOtherWriter,
    /// Only the sum is damaged: it differs in a few bits from that of chunks, index and
    /// vlmetalayers, while sums of different bytes differ in many.
    SealDamaged,
    /// Bytes were changed, and no program has recorded a change.
    BodyDamaged {
        /// The damaged chunks, as far as the table of their sums, or decoding them, tells. Empty if
        /// the index or the vlmetalayers are damaged.
        chunks: Vec<u64>,
    },
}

/// The sums found so far while the chunks of a sealed frame are read.
#[derive(Debug, Default)]
pub(crate) struct ChunkSums {
    sum: u128,
    /// The sums in the seal, if it has one for each chunk.
    table: Vec<u64>,
    /// Chunks whose sum differs from the table.
    other: Vec<u64>,
    /// Chunks that are not at their position in the index.
    unread: Vec<u64>,
    /// Decoded chunks whose bytes were not all read at once.
    pub pending: Vec<u64>,
}

impl ChunkSums {
    /// The sums of a frame with a seal.
    pub(crate) fn new(schunk: &SChunk) -> Option<Self> {
        let mark = schunk.state().mark();
        mark.body()?;
        let table = mark.layer().map(|layer| layer.chunks).unwrap_or_default();
        Some(Self { table, ..Self::default() })
    }

    /// Adds the term of a chunk that is in the index `times` times.
    pub(crate) fn add(&mut self, nchunk: u64, term: u128, times: u64) {
        self.sum = self.sum.wrapping_add(term.wrapping_mul(times.into()));
        let entry = usize::try_from(nchunk).ok().and_then(|at| self.table.get(at));
        self.other.extend(entry.filter(|sum| **sum != low_half(term)).map(|_| nchunk));
    }
}

impl SChunk {
    /// Whether the frame has a seal. [`seal_state`](Self::seal_state) and [`verify`](Self::verify)
    /// read all chunks to check it.
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        self.state().mark().body().is_some()
    }

    /// The kind of sums in the seal, if there is one.
    pub(crate) fn checksums(&self) -> Option<Checksums> {
        let mark = self.state().mark();
        mark.body().map(|_| match mark.layer() {
            Some(layer) if !layer.chunks.is_empty() => Checksums::Chunks,
            _ => Checksums::Body,
        })
    }

    /// Reads the whole frame and compares it with the seal.
    ///
    /// ```
    /// use b2frame::{FrameParams, SChunk, to_cframe, seal::SealState};
    ///
    /// let params = FrameParams::default();
    /// let mut frame = to_cframe(b"some data, and more", &params)?;
    /// assert_eq!(SChunk::from_cframe(frame.clone())?.seal_state()?, SealState::Intact);
    /// frame[132] ^= 1; // in the chunk
    /// let state = SChunk::from_cframe(frame)?.seal_state()?;
    /// assert!(matches!(state, SealState::BodyDamaged { .. }));
    /// # Ok::<(), b2frame::Error>(())
    /// ```
    ///
    /// # Errors
    /// The error of the storage. Damage is a result, not an error.
    pub fn seal_state(&self) -> Result<SealState> {
        self.unwatched().find_seal_state()
    }

    fn find_seal_state(&self) -> Result<SealState> {
        let Some(mut sums) = ChunkSums::new(self) else {
            let is_broken = self.state().mark().layer.is_some();
            let state =
                if is_broken { SealState::BrokenByOtherWriter } else { SealState::NeverSealed };
            return Ok(state);
        };
        let (nchunks, times) = self.distinct_chunks();
        for nchunk in 0..nchunks {
            self.read_term(nchunk, times, &mut sums)?;
        }
        self.compare_sums(sums)
    }

    /// As [`seal_state`](Self::seal_state), with the sums of chunks that were read. Pending chunks
    /// are read now.
    pub(crate) fn compare_sums(&self, mut sums: ChunkSums) -> Result<SealState> {
        for nchunk in core::mem::take(&mut sums.pending) {
            self.read_term(nchunk, 1, &mut sums)?;
        }
        let mark = self.state().mark();
        let found = sums.sum.wrapping_add(self.tail_sum()?);
        let nwrong = (mark.body().unwrap_or(0) ^ found).count_ones();
        let is_bad = !sums.other.is_empty() || !sums.unread.is_empty();
        if is_bad || nwrong > MAX_WRONG_SEAL_BITS {
            let mut chunks = [sums.other, sums.unread].concat();
            if sums.table.is_empty() && chunks.is_empty() {
                chunks = self.undecodable()?;
            }
            chunks.sort_unstable();
            return Ok(SealState::BodyDamaged { chunks });
        }
        if nwrong > 0 || !mark.has_type() {
            return Ok(SealState::SealDamaged);
        }
        let is_same = match mark.layer() {
            Some(layer) => layer.header == header_sum(&self.raw_header()?),
            None => mark.layer.is_none(),
        };
        Ok(if is_same { SealState::Intact } else { SealState::HeaderChanged })
    }

    /// The term of all bytes after the chunks.
    pub(crate) fn tail_sum(&self) -> Result<u128> {
        let header = self.header();
        let end = header.frame_len().saturating_sub(FINGERPRINT_LEN as u64);
        let start = if self.nbytes() == 0 {
            header.frame_len().saturating_sub(self.trailer_len())
        } else {
            self.state().index().position()
        };
        let len = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
        let mut bytes = self.state().source().read_vec(start, len)?;
        // The type byte counts as that of a seal: it is checked separately.
        bytes.last_mut().into_iter().for_each(|kind| *kind = FINGERPRINT_TYPE);
        Ok(tail_term(start.saturating_sub(header.header_len().into()), &[&bytes]))
    }

    /// The header as stored.
    fn raw_header(&self) -> Result<Vec<u8>> {
        let len = usize::try_from(self.header().header_len()).unwrap_or(usize::MAX);
        self.state().source().read_vec(0, len)
    }

    /// Number of different chunks, and how often each is in the index: if all are the same chunk,
    /// one.
    pub(crate) fn distinct_chunks(&self) -> (u64, u64) {
        if self.state().index().is_repeated() {
            (self.nchunks().min(1), self.nchunks())
        } else {
            (self.nchunks(), 1)
        }
    }

    /// Reads a chunk for its sum.
    fn read_term(&self, nchunk: u64, times: u64, sums: &mut ChunkSums) -> Result<()> {
        let stored = self.offset_of(nchunk).and_then(|offset| match offset {
            Offset::Stored(number) => Ok(Some((number, self.chunk(nchunk)?))),
            Offset::Special(_) => Ok(None),
        });
        match stored {
            Ok(Some((number, ChunkBytes::Stored(bytes)))) => {
                sums.add(nchunk, chunk_term(number, &bytes), times);
            }
            Ok(_) => {}
            Err(error) => match (error.blame(), self.term_of_foreign(nchunk)) {
                (Blame::NotOurs, Ok(term)) => sums.add(nchunk, term, times),
                _ => sums.unread.extend(damaged(error, nchunk)?),
            },
        }
        Ok(())
    }

    /// The term of a chunk of unknown version: all versions store the size at the same position.
    fn term_of_foreign(&self, nchunk: u64) -> Result<u128> {
        let Offset::Stored(number) = self.offset_of(nchunk)? else { return Ok(0) };
        let (source, at, room) = self.place(nchunk, number)?;
        let mut cbytes = [0; 4];
        source.read_into(at.saturating_add(12), &mut cbytes)?;
        let cbytes = u64::from(u32::from_le_bytes(cbytes)).min(room);
        let cbytes = usize::try_from(cbytes).unwrap_or(usize::MAX);
        term_of_stored(number, (&source, at), cbytes)
    }

    /// The error of a chunk of unknown version. In a sealed frame the chunk is damaged unless its
    /// bytes are as sealed.
    pub(crate) fn foreign_or_damaged(&self, nchunk: u64, error: Error) -> Error {
        if error.blame() != Blame::NotOurs || self.watch().is_none() {
            return error;
        }
        match self.seal_state() {
            Ok(SealState::BodyDamaged { chunks }) if chunks.contains(&nchunk) => {
                self.sum_error(Some(nchunk))
            }
            _ => error,
        }
    }

    /// The chunks that do not decode.
    fn undecodable(&self) -> Result<Vec<u64>> {
        let mut bad = vec![];
        for nchunk in 0..self.distinct_chunks().0 {
            if let Err(error) = self.decode_chunk(nchunk) {
                bad.extend(damaged(error, nchunk)?);
            }
        }
        Ok(bad)
    }
}

/// The number of the chunk, if its data are to blame.
fn damaged(error: Error, nchunk: u64) -> Result<Option<u64>> {
    match error.blame() {
        Blame::Io | Blame::Busy => Err(error),
        _ => Ok(Some(nchunk)),
    }
}

impl SChunkWriter {
    /// Makes the seal of the frame wrong, so that the frame counts as damaged: for data that were
    /// read in spite of a mismatch ([`OpenOptions::mismatch`](crate::OpenOptions::mismatch)).
    ///
    /// # Errors
    /// As the first change.
    pub fn spoil_seal(&mut self) -> Result<()> {
        self.lock()?;
        self.spoil();
        Ok(())
    }

    /// Compares a super-chunk, whose chunks or data were appended here, with its seal.
    pub(crate) fn compare_source(&mut self, source: &SChunk) -> Result<()> {
        source.compare_seal()?;
        match source.open_options().mismatch.is_noted() {
            true => self.spoil_seal(),
            false => Ok(()),
        }
    }

    /// Gives the frame a seal, or another one, with the next commit. Reads each chunk: its present
    /// bytes are sealed. [`Checksums::None`] removes the seal.
    ///
    /// # Errors
    /// The error of a chunk.
    pub fn set_seal(&mut self, checksums: Checksums) -> Result<()> {
        self.lock()?;
        let schunk = self.schunk()?;
        let seal = BodySum::of_chunks(schunk, checksums)?;
        self.replace_seal(seal);
        Ok(())
    }
}

impl BodySum {
    /// The sum of the present chunks of a frame.
    pub(crate) fn of_chunks(schunk: &SChunk, checksums: Checksums) -> Result<Option<Self>> {
        let Some(mut seal) = Self::new(checksums) else { return Ok(None) };
        for (nchunk, number) in (0..).zip(schunk.offsets()?) {
            if is_stored(number)
                && let ChunkBytes::Stored(bytes) = schunk.chunk(nchunk)?
            {
                seal.add_chunk(number, &bytes);
            }
        }
        Ok(Some(seal))
    }
}

/// Gives a frame in a file, or a sparse one, a seal in place: for files of other programs. The
/// present bytes are sealed, so verify them first ([`SChunk::verify`]).
///
/// # Errors
/// As [`SChunkWriter::open`] and [`SChunkWriter::commit`]; the error of a chunk.
pub fn seal(path: impl AsRef<Path>, checksums: Checksums, options: &EditOptions) -> Result<()> {
    let mut writer = SChunkWriter::open_with(path, options)?;
    writer.set_seal(checksums)?;
    writer.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::FrameParams;

    /// A frame whose second chunk has version 9, with the sum of that chunk or of its old bytes.
    fn frame(checksums: Checksums, is_sealed_anew: bool) -> Vec<u8> {
        let data: Vec<u8> = (0..2000_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
        let params = FrameParams::default().chunksize(1000).checksums(checksums);
        let mut frame = crate::to_cframe(&data, &params).unwrap();
        let schunk = SChunk::from_cframe(frame.clone()).unwrap();
        let Offset::Stored(number) = schunk.offset_of(1).unwrap() else { panic!("a run") };
        let body = schunk.state().mark().body().unwrap();
        let ChunkBytes::Stored(mut chunk) = schunk.chunk(1).unwrap() else { panic!("a run") };
        let old = chunk_term(number, &chunk);
        chunk[0] = 9;
        let at = usize::try_from(schunk.chunk_info(1).unwrap().offset.unwrap()).unwrap();
        frame[at] = 9;
        if is_sealed_anew {
            let sealed = body.wrapping_sub(old).wrapping_add(chunk_term(number, &chunk));
            let before = body.to_be_bytes();
            let at = frame.windows(16).rposition(|bytes| bytes == before).unwrap();
            frame[at..at + 16].copy_from_slice(&sealed.to_be_bytes());
        }
        frame
    }

    #[test]
    fn a_chunk_of_an_unknown_version_is_damaged_unless_it_was_sealed_so() {
        for checksums in [Checksums::Body, Checksums::Chunks] {
            let schunk = SChunk::from_cframe(frame(checksums, false)).unwrap();
            let blame = |schunk: &SChunk| schunk.decode_chunk(1).unwrap_err().blame();
            assert_eq!(blame(&schunk), Blame::Data, "{checksums:?}");
            assert_eq!(schunk.chunk(1).unwrap_err().blame(), Blame::Data, "{checksums:?}");
        }
        let schunk = SChunk::from_cframe(frame(Checksums::Body, true)).unwrap();
        assert_eq!(schunk.decode_chunk(1).unwrap_err().blame(), Blame::NotOurs);
        let report = schunk.verify(&Default::default(), |_| ());
        assert_eq!(report.bad[0].error.blame(), Blame::NotOurs);
    }
}
