//! Compares a frame with its seal while it is read.
//!
//! Each stored chunk that is read as a whole adds its term, once. A seal with a sum for each chunk
//! checks that chunk at once. The body sum can be checked after all chunks were read:
//! [`SChunk::compare_seal`] reads the missing chunks. Every call that reads all data ends with it.

use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use blosc_chunk::{Chunk, ChunkHeader};
use blosc_container::buffer::resized;
use xxhash_rust::xxh3::Xxh3;

use super::{MAX_WRONG_SEAL_BITS, chunk_term, low_half};
use crate::error::{Corrupt, Error, Result};
use crate::metalayers::MAX_VLMETALAYERS_WRITTEN;
use crate::offsets::Offset;
use crate::schunk::{Location, SChunk};
use crate::source::Source;

/// Bytes of a chunk that are read at a time only for its sum.
const PIECE_NBYTES: usize = 256 << 10;

/// The chunks of a sealed frame that were compared so far.
#[derive(Debug)]
pub(crate) struct SealWatch {
    /// Multiplicity of each entry of the index: if all are the same chunk, it is read once.
    times: u128,
    /// The sums in the seal, if it has one for each chunk.
    table: Vec<u64>,
    /// A bit for each chunk that has been read.
    seen: Box<[AtomicU64]>,
    /// Chunks that have not been read.
    nleft: AtomicU64,
    /// Sum of the terms so far.
    sum: Mutex<u128>,
    /// The result, after all chunks were read.
    result: OnceLock<Option<Corrupt>>,
}

impl SealWatch {
    /// The watch of a frame with a seal.
    pub(crate) fn new(schunk: &SChunk) -> Option<Self> {
        let mark = schunk.state().mark();
        mark.body()?;
        // Other programs may have changed the fingerprint. Our layer is missing only if it had no
        // room.
        let is_full = schunk.vlmeta().len() >= MAX_VLMETALAYERS_WRITTEN;
        if mark.layer.is_none() && !is_full {
            return None;
        }
        let (nchunks, times) = schunk.distinct_chunks();
        let table = mark.layer().map(|layer| layer.chunks).unwrap_or_default();
        let nwords = usize::try_from(nchunks.div_ceil(64)).unwrap_or(usize::MAX);
        Some(Self {
            times: times.into(),
            table,
            seen: (0..nwords).map(|_| AtomicU64::new(0)).collect(),
            nleft: AtomicU64::new(nchunks),
            sum: Mutex::new(0),
            result: OnceLock::new(),
        })
    }

    fn is_complete(&self) -> bool {
        self.nleft.load(Ordering::Acquire) == 0
    }

    /// Whether a chunk has not been read.
    fn wants(&self, nchunk: u64) -> bool {
        self.word(nchunk).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit == 0)
    }

    fn word(&self, nchunk: u64) -> Option<(&AtomicU64, u64)> {
        let nchunk = if self.times > 1 { 0 } else { nchunk };
        let word = self.seen.get(usize::try_from(nchunk / 64).ok()?)?;
        Some((word, 1 << (nchunk % 64)))
    }

    /// Whether the term of a chunk, 0 for a run in the index, matches the table, if there is one.
    fn is_right(&self, nchunk: u64, term: u128) -> bool {
        let entry = usize::try_from(nchunk).ok().and_then(|at| self.table.get(at));
        entry.is_none_or(|sum| *sum == low_half(term))
    }

    /// Notes that a chunk with this term was read.
    fn note(&self, nchunk: u64, term: u128) {
        let Some((word, bit)) = self.word(nchunk) else { return };
        if word.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            let mut sum = self.sum.lock().unwrap_or_else(PoisonError::into_inner);
            *sum = sum.wrapping_add(term.wrapping_mul(self.times));
            drop(sum);
            self.nleft.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// The result of comparing the body sum, after all chunks were read.
    fn compare(&self, schunk: &SChunk) -> Result<Option<Corrupt>> {
        let sum = *self.sum.lock().unwrap_or_else(PoisonError::into_inner);
        let found = sum.wrapping_add(schunk.tail_sum()?);
        let mark = schunk.state().mark();
        let nwrong = (mark.body().unwrap_or(0) ^ found).count_ones();
        Ok(match nwrong {
            0 if mark.has_type() => None,
            0..=MAX_WRONG_SEAL_BITS => Some(Corrupt::Seal),
            _ => Some(Corrupt::BodySum),
        })
    }
}

/// The bytes of a stored chunk for a comparison.
#[derive(Clone, Copy)]
pub(crate) enum Bytes<'a> {
    /// All bytes.
    Whole(&'a [u8]),
    /// The data of an uncompressed chunk, which follow its header.
    Data(&'a [u8]),
    /// No bytes: the comparison reads them.
    Unread,
}

impl SChunk {
    /// Compares the frame with its seal: chunks that were read before count, missing ones are read
    /// now. Calls that read all data do so at their end. Code that reads all of a frame part by
    /// part calls this before trusting it. A frame without a seal is compared with
    /// [`OpenOptions::outer_sum`](crate::OpenOptions::outer_sum), if there is one.
    ///
    /// # Errors
    /// [`Corrupt::ChunkSum`], [`Corrupt::BodySum`] or [`Corrupt::Seal`], unless
    /// [`OpenOptions::mismatch`](crate::OpenOptions::mismatch) only notes them; the error of the
    /// storage; the error of a chunk's position or header.
    pub fn compare_seal(&self) -> Result<()> {
        let Some(watch) = self.watch() else { return self.compare_outer() };
        for nchunk in (0..self.distinct_chunks().0).take_while(|_| !watch.is_complete()) {
            if watch.wants(nchunk) {
                self.compare_chunk(nchunk, &self.locate(nchunk)?, Bytes::Unread)?;
            }
        }
        let result = match watch.result.get() {
            Some(result) => result,
            None => {
                let result = watch.compare(self)?;
                watch.result.get_or_init(|| result)
            }
        };
        let Some(what) = result else { return Ok(()) };
        self.found_mismatch(self.seal_error(what.clone()))
    }

    /// Fails, or notes the mismatch. If another program has changed the frame meanwhile, the bytes
    /// may be of another state; then there is no mismatch.
    fn found_mismatch(&self, error: Error) -> Result<()> {
        match self.reopen() {
            Ok(None) => self.open_options().mismatch.found(error),
            _ => Ok(()),
        }
    }

    /// As [`compare_seal`](Self::compare_seal), if all chunks were read; reads only the end of the
    /// frame.
    pub(crate) fn compare_if_read(&self) -> Result<()> {
        match self.watch().is_some_and(SealWatch::is_complete) {
            true => self.compare_seal(),
            false => Ok(()),
        }
    }

    /// Whether a chunk must be compared during this read: if the read covers the whole chunk, or
    /// any part of it when the seal has a sum for each chunk.
    pub(crate) fn is_compared(&self, nchunk: u64, is_whole: bool) -> bool {
        let Some(watch) = self.watch() else { return false };
        (is_whole || !watch.table.is_empty()) && watch.wants(nchunk)
    }

    /// Compares a chunk during its read.
    pub(crate) fn compare_chunk(
        &self,
        nchunk: u64,
        location: &Location,
        bytes: Bytes<'_>,
    ) -> Result<()> {
        let Some(watch) = self.watch().filter(|watch| watch.wants(nchunk)) else { return Ok(()) };
        let term = match (self.offset_of(nchunk)?, location) {
            (Offset::Stored(number), Location::Stored { source, at, header }) => match bytes {
                Bytes::Whole(bytes) => chunk_term(number, bytes),
                Bytes::Data(data) => term_around(number, (source, *at), header, data)?,
                Bytes::Unread => term_of_stored(number, (source, *at), header.cbytes())?,
            },
            _ => 0,
        };
        if !watch.is_right(nchunk, term) {
            // If this fails, the chunk is not noted as read: each later read fails as well.
            self.found_mismatch(self.sum_error(Some(nchunk)))?;
        }
        watch.note(nchunk, term);
        Ok(())
    }

    /// Reads a chunk and compares it with its entry of a table, if there is one.
    pub(crate) fn compare_with(&self, table: &HashMap<u64, u64>, nchunk: u64) -> Result<()> {
        let (offset, location) = (self.offset_of(nchunk)?, self.locate(nchunk)?);
        if let (Offset::Stored(number), Location::Stored { source, at, header }) =
            (offset, location)
            && let Some(entry) = table.get(&number)
            && low_half(term_of_stored(number, (&source, at), header.cbytes())?) != *entry
        {
            return self.open_options().mismatch.found(self.sum_error(Some(nchunk)));
        }
        Ok(())
    }
}

/// Whether the data of a chunk are its bytes after the header, and can be used as such.
pub(crate) fn is_stored_plain(header: &ChunkHeader) -> bool {
    header.is_memcpyed()
        && header.header_len().checked_add(header.nbytes()) == Some(header.cbytes())
}

/// The term of a chunk from its data; reads the header.
fn term_around(
    number: u64,
    (source, at): (&Source, u64),
    header: &ChunkHeader,
    data: &[u8],
) -> Result<u128> {
    let mut head = [0; ChunkHeader::MAX_LEN];
    let head = head.get_mut(..header.header_len()).unwrap_or_default();
    source.read_into(at, head)?;
    let mut hasher = Xxh3::with_seed(number);
    hasher.update(head);
    hasher.update(data);
    Ok(hasher.digest128())
}

/// The term of a chunk; reads its bytes piece by piece.
pub(crate) fn term_of_stored(
    number: u64,
    (source, at): (&Source, u64),
    cbytes: usize,
) -> Result<u128> {
    let (mut hasher, mut buffer, mut done) = (Xxh3::with_seed(number), vec![], 0);
    while done < cbytes {
        let piece = resized(&mut buffer, cbytes.saturating_sub(done).min(PIECE_NBYTES));
        source.read_into(at.saturating_add(done as u64), piece)?;
        hasher.update(piece);
        done = done.saturating_add(piece.len());
    }
    Ok(hasher.digest128())
}

/// The bytes of a chunk that was read, in the form for a comparison.
pub(crate) fn bytes_of<'a>(chunk: Option<&Chunk<'a>>) -> Bytes<'a> {
    chunk.map_or(Bytes::Unread, |chunk| Bytes::Whole(chunk.bytes()))
}
