//! The physical rows that are alive ("Tables: rows, nulls, names" in `docs/formats/store.md`).

use core::ops::Range;
use std::sync::OnceLock;

use b2frame::NdArray;
use b2frame::nd::{Pick, Selection};
use blosc_chunk::Executor;
use blosc_container::parallel::for_each;

use crate::error::{Error, Result};

/// The flags of the physical rows, counted when a logical row is first requested.
#[derive(Debug)]
pub(crate) struct Live {
    flags: NdArray,
    name: String,
    /// The threads that count the flags.
    threads: Executor,
    counts: OnceLock<Counts>,
}

/// Number of alive rows before each chunk of flags.
#[derive(Debug)]
struct Counts {
    /// One count more than there are chunks; or one for every `step` chunks.
    before: Vec<u64>,
    step: u64,
    /// The flags of chunks with some dead rows, as far as the memory limit keeps them.
    kept: Vec<Option<Bits>>,
}

/// Flags, eight in a byte.
#[derive(Debug)]
struct Bits {
    bytes: Vec<u8>,
    len: usize,
}

/// Physical rows of one chunk of flags: the alive ones of `rows`.
pub(crate) struct Span {
    pub(crate) rows: Range<u64>,
    /// One flag for each of `rows`; empty if all are alive.
    pub(crate) flags: Vec<bool>,
    /// The requested ones of the alive rows here.
    pub(crate) wanted: Range<usize>,
}

impl Span {
    /// Number of alive rows among some physical rows.
    pub(crate) fn count(&self, rows: Range<u64>) -> u64 {
        let at =
            |row: u64| usize::try_from(row.saturating_sub(self.rows.start)).unwrap_or(usize::MAX);
        match self.flags.get(at(rows.start)..at(rows.end)) {
            Some(flags) => flags.iter().filter(|is_alive| **is_alive).count() as u64,
            // Rows that are all alive have no flags.
            None => rows.end.saturating_sub(rows.start),
        }
    }
}

/// The largest memory of kept flags (bytes).
const MAX_BITS_NBYTES: usize = 16 << 20;

/// Chunks whose flags are held until the decision to keep them.
const MAX_CHUNKS_AT_A_TIME: u64 = 64;

/// The largest number of kept counts (64 MiB).
const MAX_COUNTS: u64 = 1 << 23;

impl Live {
    /// The frame of the flags.
    pub(crate) fn schunk(&self) -> &b2frame::SChunk {
        self.flags.schunk()
    }

    pub(crate) fn new(flags: NdArray, name: String, threads: &Executor) -> Self {
        Self { flags, name, threads: threads.clone(), counts: OnceLock::new() }
    }

    /// Number of rows with a flag.
    pub(crate) fn capacity(&self) -> u64 {
        self.flags.shape().first().copied().unwrap_or_default()
    }

    /// Number of rows that are alive.
    pub(crate) fn len(&self) -> Result<u64> {
        Ok(self.counts()?.before.last().copied().unwrap_or_default())
    }

    fn chunk_rows(&self) -> u64 {
        self.flags.chunkshape().first().map_or(1, |rows| u64::from(*rows).max(1))
    }

    /// The rows of a chunk of flags.
    fn rows_of(&self, nchunk: u64) -> Range<u64> {
        let start = nchunk.saturating_mul(self.chunk_rows());
        start..start.saturating_add(self.chunk_rows()).min(self.capacity())
    }

    fn counts(&self) -> Result<&Counts> {
        if let Some(counts) = self.counts.get() {
            return Ok(counts);
        }
        self.flags.prefetch_blocks(Selection::ALL);
        let nchunks = self.capacity().div_ceil(self.chunk_rows());
        let step = nchunks.div_ceil(MAX_COUNTS).max(1);
        let (mut before, mut count) = (vec![0], 0_u64);
        let (mut kept, mut nbytes) = (Vec::new(), 0_usize);
        let mut nchunk = 0_u64;
        while nchunk < nchunks {
            let end = nchunks.min(nchunk.saturating_add(MAX_CHUNKS_AT_A_TIME));
            let mut counts: Vec<_> = (nchunk..end).map(|nchunk| (nchunk, (0, None))).collect();
            let jobs = (&self.threads, self.threads.count_for(counts.len()));
            for_each(jobs, counts.iter_mut(), Vec::new, |bytes, (nchunk, found)| {
                *found = self.count_chunk(*nchunk, bytes)?;
                Ok::<(), Error>(())
            })?;
            for (_, (alive, bits)) in counts {
                count = count.saturating_add(alive);
                let bits = bits.filter(|bits| {
                    nbytes = nbytes.saturating_add(bits.bytes.len());
                    nbytes <= MAX_BITS_NBYTES
                });
                if step == 1 {
                    kept.push(bits);
                }
                nchunk = nchunk.saturating_add(1);
                if nchunk == nchunks || nchunk.is_multiple_of(step) {
                    before.push(count);
                }
            }
        }
        Ok(self.counts.get_or_init(|| Counts { before, step, kept }))
    }

    /// Number of alive rows in a chunk of flags, and the flags if they are not all equal. A chunk
    /// that is one repeated value is not decoded, others are decoded to `bytes`.
    fn count_chunk(&self, nchunk: u64, bytes: &mut Vec<u8>) -> Result<(u64, Option<Bits>)> {
        let rows = self.rows_of(nchunk);
        let len = rows.end.saturating_sub(rows.start);
        let info = self.flags.schunk().chunk_info(nchunk).map_err(|error| self.error(error))?;
        if info.special.is_some() {
            let first = self.read(rows.start..rows.start.saturating_add(1))?;
            return Ok((if first == [true] { len } else { 0 }, None));
        }
        read_rows_to(&self.flags, &rows, bytes, 0).map_err(|error| self.error(error))?;
        // As many at a time as a byte can count, so that one instruction compares sixteen.
        let alive = |flags: &[u8]| -> u64 {
            flags.iter().fold(0_u8, |count, flag| count.wrapping_add(u8::from(*flag != 0))).into()
        };
        let alive = bytes.chunks(u8::MAX.into()).map(alive).sum();
        let bits = (alive != 0 && alive != len).then(|| Bits::new(bytes));
        Ok((alive, bits))
    }

    fn read(&self, rows: Range<u64>) -> Result<Vec<bool>> {
        let bytes = read_rows(&self.flags, rows).map_err(|error| self.error(error))?;
        Ok(bytes.iter().map(|byte| *byte != 0).collect())
    }

    fn error(&self, error: b2frame::Error) -> Error {
        Error::frame(&self.name, error)
    }

    /// The physical rows of some logical ones, by chunks of flags.
    pub(crate) fn spans(&self, rows: &Range<u64>) -> Result<Vec<Span>> {
        let counts = self.counts()?;
        let mut spans = Vec::new();
        if rows.start >= rows.end {
            return Ok(spans);
        }
        let first = counts.before.partition_point(|before| *before <= rows.start);
        let first = first.saturating_sub(1);
        let mut before = counts.before.get(first).copied().unwrap_or_default();
        let mut nchunk = (first as u64).saturating_mul(counts.step);
        while before < rows.end {
            let physical = self.rows_of(nchunk);
            if physical.is_empty() {
                break;
            }
            let after = match counts.after(nchunk) {
                Some(after) => after,
                None => before.saturating_add(self.count_chunk(nchunk, &mut Vec::new())?.0),
            };
            let alive = after.saturating_sub(before);
            let nchunk_of_span = nchunk;
            nchunk = nchunk.saturating_add(1);
            let start = rows.start.max(before).saturating_sub(before);
            let end = rows.end.min(after).saturating_sub(before);
            before = after;
            if start >= end {
                continue;
            }
            let narrow = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
            if alive == physical.end.saturating_sub(physical.start) {
                let at = |n: u64| physical.start.saturating_add(n);
                push_all_alive(&mut spans, at(start)..at(end));
            } else {
                let wanted = narrow(start)..narrow(end);
                spans.push(match counts.bits(nchunk_of_span) {
                    Some(bits) => bits.span(physical.start, wanted),
                    None => trimmed(physical.clone(), self.read(physical)?, wanted),
                });
            }
        }
        Ok(spans)
    }
}

impl Counts {
    /// Number of alive rows up to and with a chunk, if the count is kept.
    fn after(&self, nchunk: u64) -> Option<u64> {
        let next = usize::try_from(nchunk.saturating_add(1)).ok()?;
        self.before.get(next).copied().filter(|_| self.step == 1)
    }
}

impl Counts {
    /// The flags of a chunk, if they are kept.
    fn bits(&self, nchunk: u64) -> Option<&Bits> {
        self.kept.get(usize::try_from(nchunk).ok()?)?.as_ref()
    }
}

impl Bits {
    fn new(flags: &[u8]) -> Self {
        let byte = |flags: &[u8]| {
            flags.iter().rev().fold(0_u8, |byte, flag| (byte << 1) | u8::from(*flag != 0))
        };
        Self { bytes: flags.chunks(8).map(byte).collect(), len: flags.len() }
    }

    fn is_alive(&self, at: usize) -> bool {
        self.bytes.get(at >> 3).is_some_and(|byte| (byte >> (at & 7)) & 1 == 1)
    }

    /// The position of the `n`-th alive row; the number of all rows if there is none.
    fn place_of(&self, n: usize) -> usize {
        let mut left = n;
        for (nbyte, byte) in self.bytes.iter().enumerate() {
            let alive = usize::try_from(byte.count_ones()).unwrap_or_default();
            if left >= alive {
                left = left.saturating_sub(alive);
                continue;
            }
            let start = nbyte.saturating_mul(8);
            let mut places = (start..start.saturating_add(8)).filter(|at| self.is_alive(*at));
            return places.nth(left).unwrap_or(self.len);
        }
        self.len
    }

    /// The physical rows from the first to the last requested one; `first_row` is the first row of
    /// the chunk.
    fn span(&self, first_row: u64, wanted: Range<usize>) -> Span {
        let start = self.place_of(wanted.start);
        let last = wanted.end.checked_sub(1).map_or(start, |last| self.place_of(last));
        let end = last.saturating_add(1).min(self.len);
        let flags = (start..end).map(|at| self.is_alive(at)).collect();
        let at = |n: usize| first_row.saturating_add(n as u64);
        Span { rows: at(start)..at(end), flags, wanted: 0..wanted.len() }
    }
}

/// Adds rows that are all alive, to the last span if they are adjacent.
fn push_all_alive(spans: &mut Vec<Span>, rows: Range<u64>) {
    let len = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
    match spans.last_mut() {
        Some(last) if last.flags.is_empty() && last.rows.end == rows.start => {
            last.rows.end = rows.end;
            last.wanted.end = last.wanted.end.saturating_add(len);
        }
        _ => spans.push(Span { rows, flags: Vec::new(), wanted: 0..len }),
    }
}

/// A span without the physical rows before and after the requested ones.
fn trimmed(rows: Range<u64>, flags: Vec<bool>, wanted: Range<usize>) -> Span {
    let alive = |n: usize| {
        let mut alive = flags.iter().enumerate().filter(|(_, is_alive)| **is_alive);
        alive.nth(n).map_or(flags.len(), |(at, _)| at)
    };
    let start = alive(wanted.start);
    let end = wanted.end.checked_sub(1).map_or(start, |last| alive(last).saturating_add(1));
    let end = end.min(flags.len());
    let kept = flags.get(start..end).unwrap_or_default().to_vec();
    let at = |n: usize| rows.start.saturating_add(n as u64);
    Span { rows: at(start)..at(end), flags: kept, wanted: 0..wanted.len() }
}

/// Items of the first dimension of an array, with all of the others.
pub(crate) fn read_rows(array: &NdArray, rows: Range<u64>) -> Result<Vec<u8>, b2frame::Error> {
    array.to_bytes(selection(&rows))
}

/// As [`read_rows`], to position `from` of `dest`, which then ends with them.
pub(crate) fn read_rows_to(
    array: &NdArray,
    rows: &Range<u64>,
    dest: &mut Vec<u8>,
    from: usize,
) -> Result<(), b2frame::Error> {
    array.read_to_vec(selection(rows), dest, from)
}

/// Items of the first dimension, with all of the others.
pub(crate) fn selection(rows: &Range<u64>) -> Selection {
    let bound = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
    Selection::from([Pick::slice(bound(rows.start), bound(rows.end), 1)])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn kept_flags_give_the_same_rows(
            flags in prop::collection::vec(any::<bool>(), 1..70),
            part: (prop::sample::Index, prop::sample::Index),
        ) {
            let alive = flags.iter().filter(|is_alive| **is_alive).count();
            prop_assume!(alive > 0);
            let (a, b) = (part.0.index(alive), part.1.index(alive));
            let wanted = a.min(b)..a.max(b) + 1;
            let bytes: Vec<u8> = flags.iter().map(|flag| u8::from(*flag)).collect();
            let found = Bits::new(&bytes).span(1000, wanted.clone());
            let expected = trimmed(1000..1000 + flags.len() as u64, flags, wanted);
            prop_assert_eq!(found.rows, expected.rows);
            prop_assert_eq!(found.flags, expected.flags);
            prop_assert_eq!(found.wanted, expected.wanted);
        }
    }
}
