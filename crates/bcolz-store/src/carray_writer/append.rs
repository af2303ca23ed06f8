//! Growing: by rows of the caller, or by rows of the fill value.
#![cfg_attr(
    not(test),
    expect(clippy::indexing_slicing, reason = "rows and bytes that were compared with the layout")
)]

use super::CArrayWriter;
use super::encode::Job;
use crate::chunk_file::PREAMBLE;
use crate::error::{Param, Result};
use crate::fill;
use crate::meta;

impl CArrayWriter {
    /// Appends rows: C order, items in the byte order of the dtype. Full chunks are written at
    /// once, but count only after [`flush`](Self::flush).
    ///
    /// # Errors
    ///
    /// [`Param::Ragged`] if the data are no whole number of rows; `Io`.
    pub fn append(&mut self, data: &[u8]) -> Result<()> {
        let rowsize = self.layout.rowsize;
        if !data.len().is_multiple_of(rowsize) {
            return Err(Param::Ragged { nbytes: data.len() as u64, rowsize: rowsize as u64 }.into());
        }
        let mut rest = data;
        // Fills the partial chunk first; whole chunks then come straight from the caller's data.
        if !self.tail.is_empty() {
            let (head, after) =
                rest.split_at(rest.len().min(self.chunk_nbytes() - self.tail.len()));
            self.push(head);
            rest = after;
            self.write_full_tail()?;
        }
        let whole = rest.len() - rest.len() % self.chunk_nbytes();
        let (whole, after) = rest.split_at(whole);
        self.write_chunks(whole)?;
        self.push(after);
        Ok(())
    }

    /// Makes the array longer or shorter, on disk at once; new rows have the fill value.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append) and [`trim`](Self::trim).
    pub fn resize(&mut self, len: u64) -> Result<()> {
        if len < self.len() {
            return self.trim(self.len() - len);
        }
        self.grow(len)?;
        self.flush()
    }

    /// Appends rows of the fill value.
    pub(crate) fn grow(&mut self, len: u64) -> Result<()> {
        let storage_path = meta::storage_path(&self.path);
        let row = fill::row(&self.layout, self.storage.dflt.as_ref(), &storage_path)?;
        let some = (FILL_NBYTES / row.len()).max(1);
        let rows = row.repeat(some);
        while self.len() < len {
            let more = usize::try_from(len - self.len()).unwrap_or(usize::MAX).min(some);
            self.append(&rows[..more * row.len()])?;
        }
        Ok(())
    }

    /// Adds rows to the partial chunk, which has room for them.
    fn push(&mut self, rows: &[u8]) {
        self.tail.extend_from_slice(rows);
        self.tail_changed |= !rows.is_empty();
        self.set_len(self.len() + (rows.len() / self.layout.rowsize) as u64);
    }

    fn write_full_tail(&mut self) -> Result<()> {
        if self.tail.len() < self.chunk_nbytes() {
            return Ok(());
        }
        self.check_unchanged()?;
        let nchunk = self.layout.nchunks() - 1;
        let file = self.encode(nchunk, &self.tail)?;
        self.write_chunk(nchunk, &file)?;
        self.tail.clear();
        self.tail_changed = false;
        Ok(())
    }

    /// Writes whole chunks after the last one; there must be no partial chunk.
    fn write_chunks(&mut self, data: &[u8]) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        self.check_unchanged()?;
        let nbytes = self.chunk_nbytes();
        let batch = CHUNKS_PER_WORKER * self.options.budget.nworkers();
        for data in data.chunks(nbytes.saturating_mul(batch)) {
            let numbers = self.layout.nchunks()..;
            let job = |(nchunk, data)| Job { nchunk, data, file: Vec::new() };
            let mut jobs: Vec<Job<'_>> = numbers.zip(data.chunks(nbytes)).map(job).collect();
            self.encode_all(&mut jobs)?;
            for job in jobs {
                self.write_chunk(job.nchunk, &job.file)?;
                self.set_len(self.len() + self.layout.chunklen);
            }
        }
        Ok(())
    }

    fn write_chunk(&mut self, nchunk: u64, file: &[u8]) -> Result<()> {
        self.replace_chunk(nchunk, file)?;
        self.cbytes += (file.len() - PREAMBLE.len()) as i128;
        Ok(())
    }

    pub(super) fn chunk_nbytes(&self) -> usize {
        usize::try_from(self.layout.chunk_nbytes()).unwrap_or(usize::MAX)
    }
}

/// Bytes of fill values to append together.
const FILL_NBYTES: usize = 1 << 20;

/// Chunks for each worker to compress together.
const CHUNKS_PER_WORKER: usize = 4;
