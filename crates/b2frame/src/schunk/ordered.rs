//! Decodes all the data, or those of many chunks, by several threads, and passes them on in order
//! and in bounded memory.

use core::cell::RefCell;
use core::ops::Range;

use blosc_chunk::Kind;
use blosc_container::Budget;
use blosc_container::parallel::{Job, in_order};

use super::{ChunkPart, Location, SChunk, Scratch, check_limit};
use crate::error::{Error, Limited, Param, Result};
use crate::seal::Bytes;

/// The least size of a part (bytes), unless memory is short: for smaller parts, passing them
/// between threads takes a noticeable time.
const MIN_PART: u64 = 1 << 20;
/// The least size of parts if there are few chunks, so that all threads get some (bytes).
const MIN_SHARE: usize = 256 << 10;

/// A part of a chunk to decode, and its destination.
pub(crate) struct Part {
    pub nchunk: u64,
    pub range: Range<usize>,
    pub location: Location,
    pub dest: Vec<u8>,
}

impl SChunk {
    /// Decodes the chunks `nchunks` and passes their data to `sink` in order, with the number of
    /// the chunk.
    ///
    /// A chunk comes in several consecutive calls if it is large for the allowed memory, or if
    /// there are fewer chunks than threads.
    ///
    /// # Errors
    /// The error of the first bad chunk, after all data before it; [`Error::Limit`] if one block
    /// needs more memory than allowed; or the error of `sink`.
    ///
    /// ```
    /// use b2frame::{Budget, FrameParams, SChunk, to_cframe};
    ///
    /// let data: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    /// let schunk =
    ///     SChunk::from_cframe(to_cframe(&data, &FrameParams::default().chunksize(10_000))?)?;
    /// let mut back = Vec::new();
    /// schunk.decode_ordered(0..schunk.nchunks(), &Budget::default(), |_, bytes| {
    ///     back.extend_from_slice(bytes);
    ///     Ok::<(), b2frame::Error>(())
    /// })?;
    /// assert_eq!(back, data);
    /// # Ok::<(), b2frame::Error>(())
    /// ```
    pub fn decode_ordered<E: From<Error>>(
        &self,
        nchunks: Range<u64>,
        budget: &Budget,
        mut sink: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if nchunks.end > self.nchunks() {
            let param = Param::ChunkNumber { nchunk: nchunks.end, nchunks: self.nchunks() };
            return Err(Error::from(param).into());
        }
        let is_all = nchunks == (0..self.nchunks());
        let mut parts = Parts::new(self, nchunks, budget);
        let buffers = RefCell::new(Vec::<Vec<u8>>::new());
        in_order(
            budget,
            || {
                let Some(mut job) = parts.next()? else { return Ok(None) };
                job.job.dest = buffers.borrow_mut().pop().unwrap_or_default();
                Ok(Some(job))
            },
            || self.pooled(),
            |scratch, part| self.decode(part, scratch),
            |(part, result): (Part, Result<()>)| {
                result?;
                sink(part.nchunk, &part.dest)?;
                buffers.borrow_mut().push(part.dest);
                Ok::<(), E>(())
            },
        )?;
        // After all data, so that a caller that writes them has all of them.
        if is_all {
            self.compare_seal()?;
        }
        Ok(())
    }

    /// Decodes a part to its buffer.
    pub(crate) fn decode(&self, mut part: Part, scratch: &mut Scratch) -> (Part, Result<()>) {
        part.dest.resize(part.range.len(), 0);
        let Part { nchunk, range, location, dest } = &mut part;
        let found = ChunkPart { nchunk: *nchunk, location, range: range.clone() };
        let result = self.decode_part(found, dest, scratch);
        // In a chunk of several parts, the first part compares the whole chunk.
        let is_first = range.start == 0 && self.is_compared(*nchunk, true);
        let result = result.and_then(|()| match is_first {
            true => self.compare_chunk(*nchunk, location, Bytes::Unread),
            false => Ok(()),
        });
        (part, result)
    }
}

/// Cuts chunks into parts that fit into memory.
pub(crate) struct Parts<'a> {
    schunk: &'a SChunk,
    nchunks: Range<u64>,
    budget: &'a Budget,
    /// Number of parts per chunk, so that all threads have work.
    split: usize,
    /// The first chunk that is not announced yet.
    announced: u64,
    /// The current chunk: its number, its location, the size of its parts, and its remaining range.
    current: Option<(u64, Location, usize, Range<usize>)>,
}

impl<'a> Parts<'a> {
    pub(crate) fn new(schunk: &'a SChunk, nchunks: Range<u64>, budget: &'a Budget) -> Self {
        let nworkers = budget.nworkers();
        let (count, wanted) =
            (nchunks.end.saturating_sub(nchunks.start), (nworkers as u64).saturating_mul(2));
        let is_few = nworkers > 1 && count < wanted;
        let split = if is_few { wanted.saturating_mul(2).div_ceil(count.max(1)) } else { 1 };
        let split = usize::try_from(split).unwrap_or(1);
        Self { schunk, announced: nchunks.start, nchunks, budget, split, current: None }
    }

    /// The next part. An error concerns one chunk; the next call continues with the chunk after it.
    pub(crate) fn next(&mut self) -> Result<Option<Job<Part>>> {
        loop {
            if let Some(part) = self.cut() {
                return Ok(Some(part));
            }
            let Some(nchunk) = self.nchunks.next() else { return Ok(None) };
            if nchunk >= self.announced {
                self.announced = self.schunk.prefetch_chunks(nchunk..self.nchunks.end);
            }
            let location = self.schunk.locate(nchunk)?;
            let part = self.part_nbytes(&location)?;
            let all = 0..location.nbytes();
            self.current = Some((nchunk, location, part, all));
        }
    }

    /// The number of the chunk at which the next call begins.
    pub(crate) fn next_chunk(&self) -> u64 {
        self.nchunks.start
    }

    /// A part of the current chunk.
    fn cut(&mut self) -> Option<Job<Part>> {
        let (nchunk, location, part, left) =
            self.current.as_mut().filter(|(.., left)| !left.is_empty())?;
        let end = left.start.saturating_add(*part).min(left.end);
        let range = left.start..end;
        left.start = end;
        let weight = weight(location, range.len());
        Some(Job {
            job: Part { nchunk: *nchunk, range, location: location.clone(), dest: vec![] },
            weight,
        })
    }

    /// Bytes of a chunk's data to decode at a time: all, unless threads would lack memory.
    fn part_nbytes(&self, location: &Location) -> Result<usize> {
        let nbytes = location.nbytes();
        let share = self.budget.share(2).max(MIN_PART.min(self.budget.max_memory));
        let unit = match location {
            Location::Stored { header, .. } => match header.kind() {
                Kind::Regular => header.blocksize().clamp(1, nbytes.max(1)),
                Kind::Vl => nbytes.max(1),
                _ => 1,
            },
            Location::Special { .. } => 1,
        };
        if weight(location, nbytes) <= share {
            let part = nbytes.div_ceil(self.split.max(1)).max(MIN_SHARE.min(nbytes));
            return Ok(part.next_multiple_of(unit).max(1));
        }
        check_limit(Limited::Memory, weight(location, unit), self.budget.max_memory)?;
        let wanted = usize::try_from(share / 2).unwrap_or(usize::MAX);
        Ok(wanted.checked_div(unit).unwrap_or(0).max(1).saturating_mul(unit))
    }
}

/// Memory for a part of a chunk (bytes): its data, and its share of the stored chunk.
fn weight(location: &Location, part: usize) -> u64 {
    let stored = match location {
        Location::Special { .. } => 0,
        Location::Stored { header, .. } if header.is_memcpyed() => 0,
        Location::Stored { header, .. } => {
            let (cbytes, nbytes) = (header.cbytes() as u64, header.nbytes().max(1) as u64);
            // The product fits: neither number exceeds 2^31.
            cbytes.saturating_mul(part as u64).div_ceil(nbytes)
        }
    };
    (part as u64).saturating_add(stored)
}
