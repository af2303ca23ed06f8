//! Shrinking, and changing rows in place.
#![cfg_attr(
    not(test),
    expect(clippy::indexing_slicing, reason = "rows and bytes that were compared with the layout")
)]

use super::CArrayWriter;
use crate::chunk_file::PREAMBLE;
use crate::error::{Error, Param, Result};
use crate::layout::chunk_path;
use crate::leftovers::chunk_numbers;
use crate::worker::Worker;

impl CArrayWriter {
    /// Removes the last rows, on disk at once.
    ///
    /// # Errors
    ///
    /// [`Param::Rows`] if the array has fewer; `Io`; the errors of reading the chunk that is cut.
    pub fn trim(&mut self, rows: u64) -> Result<()> {
        let len = self.len();
        let Some(left) = len.checked_sub(rows) else {
            return Err(Param::Rows { start: 0, end: rows, len }.into());
        };
        let dropped = self.cut(left)?;
        self.commit_cut()?;
        self.flush_sums()?;
        self.remove_chunks(dropped)
    }

    /// Drops rows from the state in memory; returns the numbers of the chunk files that become
    /// useless.
    pub(crate) fn cut(&mut self, len: u64) -> Result<core::ops::Range<u64>> {
        let before = self.layout.nchunks();
        let full_before = self.len() / self.layout.chunklen;
        let full = len / self.layout.chunklen;
        let keep = usize::try_from(self.layout.nbytes_of(len % self.layout.chunklen))
            .unwrap_or(usize::MAX);
        if full < full_before {
            let mut tail = Vec::new();
            let array = self.reader()?;
            let mut worker = Worker::new(&self.options.dparams);
            if keep > 0 {
                array.decode_chunk(full, &mut tail, &mut worker)?;
            }
            for nchunk in self.files(full..full_before)? {
                // A statistic: a missing chunk counts as 0.
                self.cbytes -=
                    array.open_chunk(nchunk).map_or(0, |file| file.header.cbytes() as i128);
            }
            self.tail = tail;
        }
        self.tail.truncate(keep);
        self.tail_changed = true;
        self.set_len(len);
        Ok(self.layout.nchunks()..before)
    }

    /// Writes a cut to disk. The files for the smaller length exist already, unless rows were
    /// appended that have never been flushed.
    pub(crate) fn commit_cut(&mut self) -> Result<()> {
        let committed = self.committed.shape.first().copied().unwrap_or(0);
        if self.len() > committed {
            return self.flush();
        }
        // The partial chunk holds changed rows that were not flushed, and is written last.
        self.sync()?;
        self.flush_sizes()?;
        self.flush_chunks()?;
        // The longer chunk that this one replaced is no longer needed.
        self.undo = None;
        Ok(())
    }

    pub(crate) fn remove_chunks(&mut self, numbers: core::ops::Range<u64>) -> Result<()> {
        for nchunk in self.files(numbers)? {
            let path = chunk_path(&self.path, nchunk);
            self.tree.remove(&path).map_err(|source| Error::io(path, source))?;
        }
        Ok(())
    }

    /// The chunks of a range that have files: a false length can count far more.
    fn files(&self, numbers: core::ops::Range<u64>) -> Result<Vec<u64>> {
        let mut found = chunk_numbers(&*self.tree, &self.path)?;
        found.retain(|number| numbers.contains(number));
        Ok(found)
    }

    /// Changes rows. Rows of full chunks are on disk at once, chunk by chunk; rows of the partial
    /// chunk after [`flush`](Self::flush).
    ///
    /// # Errors
    ///
    /// [`Param`] if the data are no whole number of rows or go past the end of the array; the
    /// errors of reading the chunks.
    pub fn write_rows(&mut self, start: u64, data: &[u8]) -> Result<()> {
        let rowsize = self.layout.rowsize;
        if !data.len().is_multiple_of(rowsize) {
            return Err(Param::Ragged { nbytes: data.len() as u64, rowsize: rowsize as u64 }.into());
        }
        let end = start.saturating_add((data.len() / rowsize) as u64);
        if end > self.len() {
            return Err(Param::Rows { start, end, len: self.len() }.into());
        }
        self.check_unchanged()?;
        let chunklen = self.layout.chunklen;
        self.mark_replaced(start / chunklen..end.div_ceil(chunklen).min(self.len() / chunklen))?;
        let (mut row, mut rest) = (start, data);
        while row < end {
            let after = (row / self.layout.chunklen + 1) * self.layout.chunklen;
            let rows = end.min(after) - row;
            let nbytes = usize::try_from(self.layout.nbytes_of(rows)).unwrap_or(usize::MAX);
            let (part, left) = rest.split_at(nbytes.min(rest.len()));
            self.write_part(row, part)?;
            (row, rest) = (row + rows, left);
        }
        Ok(())
    }

    /// Changes rows of a single chunk.
    fn write_part(&mut self, row: u64, data: &[u8]) -> Result<()> {
        let nchunk = row / self.layout.chunklen;
        let at = usize::try_from(self.layout.nbytes_of(row % self.layout.chunklen))
            .unwrap_or(usize::MAX);
        if nchunk == self.len() / self.layout.chunklen {
            self.tail[at..at + data.len()].copy_from_slice(data);
            self.tail_changed = true;
            return Ok(());
        }
        let array = self.reader()?;
        let old = array.open_chunk(nchunk)?.header.cbytes();
        let mut rows = Vec::new();
        array.decode_chunk(nchunk, &mut rows, &mut Worker::new(&self.options.dparams))?;
        rows[at..at + data.len()].copy_from_slice(data);
        let file = self.encode(nchunk, &rows)?;
        self.mark_replaced(nchunk..nchunk + 1)?;
        self.write(chunk_path(&self.path, nchunk), &file)?;
        self.set_sum(nchunk, &file);
        self.cbytes += (file.len() - PREAMBLE.len()) as i128 - old as i128;
        Ok(())
    }
}
