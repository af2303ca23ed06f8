//! Comparing a frame with its seal, and sealing a frame that is there.

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

/// What the seal of a frame says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SealState {
    /// All that readers need is what was written.
    Intact,
    /// There is no seal: the frame is from a program that writes none.
    NeverSealed,
    /// Chunks, index and vlmetalayers are what was written; the header is another one. Programs
    /// that know of no seals change metalayers so.
    HeaderChanged,
    /// A program that knows of no seals has changed the frame. It removes the sum.
    BrokenByOtherWriter,
    /// The sum is damaged, and nothing else: it is nearly that of the chunks, the index and the
    /// vlmetalayers, as sums of other bytes are not.
    SealDamaged,
    /// Other bytes than those that were written, and no program has said so.
    BodyDamaged {
        /// The chunks that are damaged, as far as the table of their sums, or decoding them, tells.
        /// None if it is the index or the vlmetalayers.
        chunks: Vec<u64>,
    },
}

/// What is known of the chunks of a sealed frame while they are read.
#[derive(Debug, Default)]
pub(crate) struct ChunkSums {
    sum: u128,
    /// The sums that the seal has, if it has one for each chunk.
    table: Vec<u64>,
    /// Chunks with another sum than that in the table.
    other: Vec<u64>,
    /// Chunks that are not where the index says.
    unread: Vec<u64>,
    /// Chunks that were decoded without reading all of their bytes at once.
    pub pending: Vec<u64>,
}

impl ChunkSums {
    /// Of a frame that has a seal.
    pub(crate) fn new(schunk: &SChunk) -> Option<Self> {
        let mark = schunk.state().mark();
        mark.body()?;
        let table = mark.layer().map(|layer| layer.chunks).unwrap_or_default();
        Some(Self { table, ..Self::default() })
    }

    /// Adds the term of a chunk that stands in the index `times` times.
    pub(crate) fn add(&mut self, nchunk: u64, term: u128, times: u64) {
        self.sum = self.sum.wrapping_add(term.wrapping_mul(times.into()));
        let entry = usize::try_from(nchunk).ok().and_then(|at| self.table.get(at));
        self.other.extend(entry.filter(|sum| **sum != low_half(term)).map(|_| nchunk));
    }
}

impl SChunk {
    /// Whether the frame has a seal. Whether it is right, [`seal_state`](Self::seal_state) and
    /// [`verify`](Self::verify) tell, which read all chunks.
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        self.state().mark().body().is_some()
    }

    /// Which sums the seal has, if there is one.
    pub(crate) fn checksums(&self) -> Option<Checksums> {
        let mark = self.state().mark();
        mark.body().map(|_| match mark.layer() {
            Some(layer) if !layer.chunks.is_empty() => Checksums::Chunks,
            _ => Checksums::Body,
        })
    }

    /// Reads everything and compares it with the seal.
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
    /// What the storage says. Damage is no error.
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

    /// The same with what reading the chunks has given. Those that are pending are read.
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

    /// The term of everything after the chunks.
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
        // The type of a seal, whatever stands there: that is compared on its own.
        bytes.last_mut().into_iter().for_each(|kind| *kind = FINGERPRINT_TYPE);
        Ok(tail_term(start.saturating_sub(header.header_len().into()), &[&bytes]))
    }

    /// The header as it is stored.
    fn raw_header(&self) -> Result<Vec<u8>> {
        let len = usize::try_from(self.header().header_len()).unwrap_or(usize::MAX);
        self.state().source().read_vec(0, len)
    }

    /// Of chunks that are all one and the same, one stands for all.
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

    /// The term of a chunk of a version that is not known: each has its size at the same place.
    fn term_of_foreign(&self, nchunk: u64) -> Result<u128> {
        let Offset::Stored(number) = self.offset_of(nchunk)? else { return Ok(0) };
        let (source, at, room) = self.place(nchunk, number)?;
        let mut cbytes = [0; 4];
        source.read_into(at.saturating_add(12), &mut cbytes)?;
        let cbytes = u64::from(u32::from_le_bytes(cbytes)).min(room);
        let cbytes = usize::try_from(cbytes).unwrap_or(usize::MAX);
        term_of_stored(number, (&source, at), cbytes)
    }

    /// The error of a chunk of a version that is not known: one of a sealed frame is damaged unless
    /// its bytes are those that were sealed.
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

    /// The chunks that cannot be decoded.
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

/// The chunk, if its data are to blame.
fn damaged(error: Error, nchunk: u64) -> Result<Option<u64>> {
    match error.blame() {
        Blame::Io | Blame::Busy => Err(error),
        _ => Ok(Some(nchunk)),
    }
}

impl SChunkWriter {
    /// Makes the seal of the frame one of other bytes, so that the frame counts as damaged: for
    /// data that were read in spite of a mismatch
    /// ([`OpenOptions::mismatch`](crate::OpenOptions::mismatch)).
    ///
    /// # Errors
    /// As those of the first change.
    pub fn spoil_seal(&mut self) -> Result<()> {
        self.lock()?;
        self.spoil();
        Ok(())
    }

    /// Compares a super-chunk whose chunks or data were appended with its seal.
    pub(crate) fn compare_source(&mut self, source: &SChunk) -> Result<()> {
        source.compare_seal()?;
        match source.open_options().mismatch.is_noted() {
            true => self.spoil_seal(),
            false => Ok(()),
        }
    }

    /// Gives the frame a seal, or another one, with the next commit: of its chunks as they are now,
    /// each of which is read. With [`Checksums::None`], removes it.
    ///
    /// # Errors
    /// What is wrong with a chunk.
    pub fn set_seal(&mut self, checksums: Checksums) -> Result<()> {
        self.lock()?;
        let schunk = self.schunk()?;
        let seal = BodySum::of_chunks(schunk, checksums)?;
        self.replace_seal(seal);
        Ok(())
    }
}

impl BodySum {
    /// Of the chunks of a frame as they are.
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

/// Gives a frame in a file, or a sparse one, a seal in place: for files of other programs. What its
/// bytes are now counts, so look at them first ([`SChunk::verify`]).
///
/// # Errors
/// As [`SChunkWriter::open`] and [`SChunkWriter::commit`]; what is wrong with a chunk.
pub fn seal(path: impl AsRef<Path>, checksums: Checksums, options: &EditOptions) -> Result<()> {
    let mut writer = SChunkWriter::open_with(path, options)?;
    writer.set_seal(checksums)?;
    writer.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::FrameParams;

    /// A frame whose second chunk has version 9, with a sum of it or of what it was before.
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
