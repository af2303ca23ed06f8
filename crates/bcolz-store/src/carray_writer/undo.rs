//! Undoing uncommitted rows when a writer is dropped.

use super::CArrayWriter;
use crate::error::{Error, Result};
use crate::layout::chunk_path;
use crate::sums::FileSum;

/// The chunk that the first uncommitted rows were added to, in its committed state.
#[derive(Debug)]
pub(super) struct Undo {
    nchunk: u64,
    /// Its file; `None` if the first new row began a chunk.
    file: Option<Vec<u8>>,
    sum: Option<FileSum>,
    /// Whether the file was replaced.
    is_replaced: bool,
}

impl CArrayWriter {
    /// Keeps the file that the first write of a chunk after a commit replaces.
    pub(super) fn keep_old(&mut self, nchunk: u64) -> Result<()> {
        if self.undo.is_some() {
            return Ok(());
        }
        let file = match nchunk < self.committed_nchunks() {
            true => Some(self.chunk_file(nchunk)?),
            false => None,
        };
        let number = usize::try_from(nchunk).unwrap_or(usize::MAX);
        let sum = self.sums.as_ref().and_then(|sums| sums.chunks.get(number).cloned());
        self.undo = Some(Undo { nchunk, file, sum, is_replaced: false });
        Ok(())
    }

    /// Notes that the file of a chunk was replaced.
    pub(super) fn note_replaced(&mut self, nchunk: u64) {
        if let Some(undo) = self.undo.as_mut().filter(|undo| undo.nchunk == nchunk) {
            undo.is_replaced = true;
        }
    }

    /// Restores the array of the last commit. Removes the new chunks first, as the disk may be
    /// full.
    fn undo(&mut self, undo: Undo) -> Result<()> {
        self.check_unchanged()?;
        self.drops_sums = false;
        self.set_len(self.committed_len());
        self.remove_chunks(self.layout.nchunks()..u64::MAX)?;
        if let Some(file) = undo.file {
            if undo.is_replaced {
                self.write(chunk_path(&self.path, undo.nchunk), &file)?;
            }
            if let (Some(sum), Some(sums)) = (undo.sum, &mut self.sums) {
                sums.set_chunk(undo.nchunk, sum);
            }
        }
        self.sums_changed = self.sums.is_some();
        self.sync()?;
        self.flush_sums()
    }

    fn committed_len(&self) -> u64 {
        self.committed.shape.first().copied().unwrap_or(0)
    }

    fn committed_nchunks(&self) -> u64 {
        self.committed_len().div_ceil(self.layout.chunklen.max(1))
    }

    fn chunk_file(&self, nchunk: u64) -> Result<Vec<u8>> {
        let path = chunk_path(&self.path, nchunk);
        let read = || {
            let file = self.tree.open(&path)?;
            let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or(usize::MAX)];
            file.read_exact_at(0, &mut bytes)?;
            Ok::<_, std::io::Error>(bytes)
        };
        read().map_err(|source| Error::io(&path, source))
    }
}

impl Drop for CArrayWriter {
    /// Removes uncommitted rows. If that fails too, the partial chunk has more rows than needed,
    /// which readers allow, and no sum.
    fn drop(&mut self) {
        if let Some(undo) = self.undo.take() {
            let _ = self.undo(undo);
        }
    }
}
