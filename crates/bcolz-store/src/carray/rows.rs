//! Reading rows: any range or list, into new buffers or those of the caller.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "rows and bytes that were compared with the layout"
    )
)]

use core::convert::Infallible;
use core::ops::Range;

use blosc_chunk::{Destination, Executor};
use blosc_container::parallel::for_each;
use blosc_container::{buffer::resized, pool::Pooled};
use blosc_io::zeroed;

use super::{CArray, Element};
use crate::error::{Error, Param, Result};
use crate::worker::Worker;

/// Rows of one chunk on their way to the caller's buffer.
struct Part<'a> {
    nchunk: u64,
    bytes: Range<usize>,
    dest: &'a mut [u8],
}

impl CArray {
    /// Reads rows into `dest`, which has exactly their size: C order, items as they are stored.
    ///
    /// # Errors
    ///
    /// [`Param`](crate::error::Param) if rows or buffer do not fit; `Corrupt`, `Chunk` and `Io` for
    /// the first chunk that cannot be read.
    pub fn read_into(&self, rows: Range<u64>, dest: &mut [u8]) -> Result<()> {
        let destination = Destination::for_nbytes(dest.len());
        self.read_by(&self.options.budget.threads, rows, dest, destination)
    }

    /// Reads rows; the buffer grows only as far as chunk headers confirm the metadata.
    ///
    /// # Errors
    ///
    /// As [`read_into`](Self::read_into); `Limit` if the rows have more bytes than
    /// [`max_nbytes`](crate::OpenOptions::max_nbytes).
    pub fn read(&self, rows: Range<u64>) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.append_to(rows, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads rows as values, one for each item of a row of any shape.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let root = dir.path().join("a");
    /// # use bcolz_store::{CArray, CArrayWriter, CreateOptions, Dtype};
    /// # let options = CreateOptions::new(Dtype::parse("int16")?);
    /// # let mut writer = CArrayWriter::create(&root, &options)?;
    /// # writer.append(&[7, 0, 8, 0])?;
    /// # writer.finish()?;
    /// let values: Vec<i16> = CArray::open(root)?.read_as(0..2)?;
    /// assert_eq!(values, [7, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and [`Param::Element`] if items are of another type.
    pub fn read_as<T: Element>(&self, rows: Range<u64>) -> Result<Vec<T>> {
        if !T::accepts(self.dtype()) {
            return Err(Param::Element { found: self.dtype().to_string(), asked: T::NAME }.into());
        }
        let bytes = self.read(rows)?;
        Ok(bytes
            .chunks_exact(self.dtype().itemsize())
            .map(|item| T::decode(self.dtype(), item))
            .collect())
    }

    /// Reads the rows of a list, in its order; a row may come twice. Each chunk is decoded once.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_rows(&self, rows: &[u64]) -> Result<Vec<u8>> {
        let end = rows.iter().max().map_or(0, |row| row.saturating_add(1));
        self.check_rows(&(0..end))?;
        self.check_limit(rows.len() as u64)?;
        let rowsize = self.layout.rowsize;
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by_key(|place| rows[*place]);
        let chunk_of = |place: &usize| rows[*place] / self.layout.chunklen;
        if self.prefetch_limit() > 0 {
            let chunks = order.chunk_by(|a, b| chunk_of(a) == chunk_of(b));
            let part = |places: &[usize]| {
                let (first, last) = (places.first()?, places.last()?);
                let end = self.at_in_chunk(rows[*last]) + rowsize;
                Some((chunk_of(first), self.at_in_chunk(rows[*first])..end))
            };
            self.prefetch_parts(&self.first_parts(chunks.filter_map(part)));
        }
        let mut worker = self.check_out_worker();
        let mut data = Vec::new();
        let mut found = Vec::new();
        for places in order.chunk_by(|a, b| chunk_of(a) == chunk_of(b)) {
            let (Some(first), Some(last)) = (places.first(), places.last()) else { continue };
            // The rows of a chunk are sorted.
            let bytes = self.at_in_chunk(rows[*first])..self.at_in_chunk(rows[*last]) + rowsize;
            if bytes.len() as u64 > UNPROVEN_NBYTES {
                // Memory is allocated only for a chunk that holds this many bytes.
                self.open_chunk(chunk_of(first))?;
            }
            data.resize(bytes.len(), 0);
            self.decode_bytes(chunk_of(first), bytes.clone(), &mut data, &mut worker)?;
            if found.is_empty() {
                // The chunk exists, and the caller's list already has eight bytes for each row.
                found.resize(rows.len() * rowsize, 0);
            }
            for place in places {
                let at = self.at_in_chunk(rows[*place]) - bytes.start;
                found[place * rowsize..][..rowsize].copy_from_slice(&data[at..at + rowsize]);
            }
        }
        Ok(found)
    }

    /// Reads rows with the given threads in place of those of the options, into memory of this
    /// kind.
    fn read_by(
        &self,
        threads: &Executor,
        rows: Range<u64>,
        dest: &mut [u8],
        destination: Destination,
    ) -> Result<()> {
        self.check_rows(&rows)?;
        let needed = self.layout.nbytes_of(rows.end - rows.start);
        if dest.len() as u64 != needed {
            return Err(Param::Buffer { found: dest.len() as u64, needed }.into());
        }
        let (mut row, mut rest) = (rows.start, dest);
        let mut announced = if self.prefetch_limit() > 0 { row } else { rows.end };
        while row < rows.end {
            let mut parts = Vec::new();
            if row >= announced {
                announced = self.announce(row..rows.end);
            }
            let end = if announced > row { announced.min(rows.end) } else { rows.end };
            while row < end && parts.len() < BATCH_NCHUNKS {
                let (part, after, end) = self.cut(row..rows.end, rest);
                parts.push(part);
                (row, rest) = (end, after);
            }
            let read = |worker: &mut Worker, part: &mut Part<'_>| {
                worker.scratch.set_destination(destination);
                let result = self.decode_bytes(part.nchunk, part.bytes.clone(), part.dest, worker);
                // Resets the worker for the next caller, who decodes to small buffers.
                worker.scratch.set_destination(Destination::Cached);
                result
            };
            let runs = runs_of(&mut parts, threads);
            let nworkers = threads.count_for(runs.len());
            for_each(
                (threads, nworkers),
                runs.into_iter(),
                || self.check_out_worker(),
                |worker, run| run.iter_mut().try_for_each(|part| read(worker, part)),
            )?;
        }
        Ok(())
    }

    /// Announces the first of these rows, up to the prefetch limit; returns the row after them.
    fn announce(&self, rows: Range<u64>) -> u64 {
        let parts = self.first_parts(self.parts_of(rows.clone()));
        self.prefetch_parts(&parts);
        let last = parts.last().map_or(rows.start / self.layout.chunklen, |(nchunk, _)| *nchunk);
        last.saturating_add(1).saturating_mul(self.layout.chunklen).min(rows.end)
    }

    /// The chunks that hold some rows, and the byte range of the rows in each chunk.
    pub(crate) fn parts_of(&self, rows: Range<u64>) -> impl Iterator<Item = (u64, Range<usize>)> {
        let chunklen = self.layout.chunklen.max(1);
        let nchunks = rows.start / chunklen..rows.end.div_ceil(chunklen);
        let nchunks = if rows.is_empty() { 0..0 } else { nchunks };
        nchunks.map(move |nchunk| {
            let first = nchunk.saturating_mul(chunklen);
            let start = rows.start.max(first) - first;
            let end = rows.end.min(first.saturating_add(chunklen)) - first;
            let byte = |row| usize::try_from(self.layout.nbytes_of(row)).unwrap_or(usize::MAX);
            (nchunk, byte(start)..byte(end))
        })
    }

    /// Reads rows in this thread, to the start of a buffer that only grows. Bytes after the rows
    /// have no meaning, and after an error no byte has. A buffer that is used again needs no fresh
    /// memory.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_to(&self, rows: Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        self.check_rows(&rows)?;
        let nbytes = self.layout.nbytes_of(rows.end - rows.start);
        match usize::try_from(nbytes) {
            Ok(len) if nbytes <= UNPROVEN_NBYTES => {
                let destination = Destination::for_nbytes(len);
                self.read_by(&Executor::default(), rows, resized(buffer, len), destination)
            }
            _ => {
                buffer.clear();
                self.append_to(rows, buffer)
            }
        }
    }

    /// Appends rows to a buffer, which grows only as chunks are found.
    pub(crate) fn append_to(&self, rows: Range<u64>, bytes: &mut Vec<u8>) -> Result<()> {
        self.check_rows(&rows)?;
        self.check_limit(rows.end - rows.start)?;
        if bytes.is_empty()
            && self.layout.nbytes_of(rows.end - rows.start) > UNPROVEN_NBYTES
            && self.are_there(&rows)
        {
            let nbytes = self.layout.nbytes_of(rows.end - rows.start);
            let nbytes =
                usize::try_from(nbytes).map_err(|_| self.limit(nbytes, isize::MAX as u64))?;
            // The files exist for all rows. Untouched zeroed pages cost nothing; growing would
            // copy.
            *bytes = zeroed(nbytes);
            let destination = Destination::for_new_memory(nbytes);
            return self.read_by(&self.options.budget.threads, rows, bytes, destination);
        }
        let mut row = rows.start;
        while row < rows.end {
            let trusted = (bytes.len() as u64).max(UNPROVEN_NBYTES) / self.layout.rowsize as u64;
            let end = rows.end.min(row.saturating_add(trusted.max(1)));
            let start = bytes.len();
            let more = usize::try_from(self.layout.nbytes_of(end - row)).unwrap_or(usize::MAX);
            bytes.try_reserve(more).map_err(|_| self.limit(more as u64, isize::MAX as u64))?;
            bytes.resize(start.saturating_add(more), 0);
            self.read_into(row..end, &mut bytes[start..])?;
            row = end;
        }
        Ok(())
    }

    /// Whether the chunk files are long enough that they probably hold the rows.
    fn are_there(&self, rows: &Range<u64>) -> bool {
        let nchunks = rows.start / self.layout.chunklen..rows.end.div_ceil(self.layout.chunklen);
        let mut chunks: Vec<(u64, Result<u64>)> = Vec::new();
        let (mut len, mut next) = (0_u64, nchunks.start);
        while next < nchunks.end {
            let end = nchunks.end.min(next + BATCH_NCHUNKS as u64);
            chunks.clear();
            chunks.extend((next..end).map(|nchunk| (nchunk, Ok(0))));
            let threads = &self.options.budget.threads;
            let Ok(()) = for_each(
                (threads, threads.count_for(chunks.len())),
                chunks.iter_mut(),
                || (),
                |(), (nchunk, len)| {
                    *len = self.file_len(*nchunk);
                    Ok::<(), Infallible>(())
                },
            );
            for (_, found) in chunks.drain(..) {
                // The caller must report the first chunk that cannot be read, so it reads in order.
                let Ok(found) = found else { return false };
                len = len.saturating_add(found);
            }
            next = end;
        }
        self.layout.nbytes_of(rows.end - rows.start) / MAX_RATIO <= len
    }

    /// The first of `rows` that lie in one chunk, with their part of `dest`; the rest of `dest`,
    /// and the next row.
    fn cut<'a>(&self, rows: Range<u64>, dest: &'a mut [u8]) -> (Part<'a>, &'a mut [u8], u64) {
        let nchunk = rows.start / self.layout.chunklen;
        let end = rows.end.min((nchunk + 1).saturating_mul(self.layout.chunklen));
        let at = self.at_in_chunk(rows.start);
        // Start and end lie in one chunk, so their difference is below a chunk's size.
        let nbytes = usize::try_from(self.layout.nbytes_of(end - rows.start)).unwrap_or(usize::MAX);
        let (dest, after) = dest.split_at_mut(nbytes.min(dest.len()));
        (Part { nchunk, bytes: at..at + nbytes, dest }, after, end)
    }

    pub(super) fn check_out_worker(&self) -> Pooled<'_, Worker> {
        self.pool.check_out(|| Worker::new(&self.options.dparams))
    }

    /// Where a row begins in the data of its chunk (bytes).
    pub(super) fn at_in_chunk(&self, row: u64) -> usize {
        usize::try_from(self.layout.nbytes_of(row % self.layout.chunklen)).unwrap_or(usize::MAX)
    }

    fn check_limit(&self, rows: u64) -> Result<()> {
        let (needed, limit) = (self.layout.nbytes_of(rows), self.options.max_nbytes);
        if needed > limit { Err(self.limit(needed, limit)) } else { Ok(()) }
    }

    fn limit(&self, needed: u64, limit: u64) -> Error {
        Error::Limit { path: self.path.clone(), needed, limit }
    }
}

/// Consecutive parts for one worker to read. Runs shrink towards the end, so that no worker waits
/// long for another.
fn runs_of<'p, 'a>(parts: &'p mut [Part<'a>], threads: &Executor) -> Vec<&'p mut [Part<'a>]> {
    let longest = parts.iter().map(|part| part.dest.len()).max().unwrap_or(1).max(1);
    let nworkers = threads.count_for(parts.len());
    let (most, share) = ((MAX_RUN_NBYTES / longest).max(1), nworkers * RUNS_PER_SHARE);
    let (mut runs, mut rest) = (Vec::new(), parts);
    while !rest.is_empty() {
        let (run, after) = rest.split_at_mut((rest.len() / share).clamp(1, most));
        runs.push(run);
        rest = after;
    }
    runs
}

/// Bytes that one worker reads in a row. If two workers write to neighbouring chunks, both touch
/// the same huge page first, and the system clears one for each of them.
const MAX_RUN_NBYTES: usize = 4 << 20;

/// A run is at most this part (1/n) of a worker's share of the remaining chunks.
const RUNS_PER_SHARE: usize = 2;

/// Chunks that are handed to the workers together.
const BATCH_NCHUNKS: usize = 1024;

/// Bytes that are allocated before the first chunk is read; after that, as many bytes as the chunks
/// have given are added.
pub(super) const UNPROVEN_NBYTES: u64 = 16 << 20;

/// Chunks with a higher compression ratio are decoded before more memory is allocated.
const MAX_RATIO: u64 = 256;
