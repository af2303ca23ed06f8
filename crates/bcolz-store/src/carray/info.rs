//! The header of a chunk, read without decoding the chunk.

use blosc_chunk::ChunkHeader;

use super::CArray;
use crate::error::{Param, Result};
use crate::files::join;
use crate::layout::chunk_number;
use crate::leftovers::dead_nbytes;

impl CArray {
    /// The header of a chunk: codec, filter, sizes. Its file has 16 bytes more than the chunk.
    ///
    /// # Errors
    ///
    /// [`Param::Rows`] if there is no such chunk; `Corrupt`, `Chunk` and `Io` if its file cannot be
    /// used.
    pub fn chunk_header(&self, nchunk: u64) -> Result<ChunkHeader> {
        let (start, end, len) = (nchunk, nchunk.saturating_add(1), self.nchunks());
        if nchunk >= len {
            return Err(Param::Rows { start, end, len }.into());
        }
        self.open_chunk(nchunk).map(|file| file.header)
    }
}

impl CArray {
    /// Bytes of files that nothing refers to: chunk files after the last chunk, and temporary files
    /// of killed writers. The next writer removes them.
    ///
    /// # Errors
    ///
    /// `Io` if a directory cannot be listed.
    pub fn dead_nbytes(&self) -> Result<u64> {
        let is_stale = |name: &str| chunk_number(name).is_some_and(|n| n >= self.nchunks());
        let mut nbytes = dead_nbytes(&*self.tree, &join(&self.path, "data"), is_stale)?;
        for inner in ["", "meta"] {
            let found = dead_nbytes(&*self.tree, &join(&self.path, inner), |_| false)?;
            nbytes = nbytes.saturating_add(found);
        }
        Ok(nbytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CArrayWriter, CreateOptions, Dtype, Error};

    #[test]
    fn the_header_of_each_chunk_is_told_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("a");
        let options = CreateOptions::new(Dtype::parse("int16").unwrap()).chunklen(Some(4));
        let mut writer = CArrayWriter::create(&root, &options).unwrap();
        writer.append(&[7; 12]).unwrap();
        writer.finish().unwrap();
        let array = CArray::open(&root).unwrap();
        let sizes = [0, 1].map(|nchunk| array.chunk_header(nchunk).unwrap().nbytes());
        assert_eq!(sizes, [8, 4]);
        let after = array.chunk_header(2);
        assert!(matches!(after, Err(Error::Param(Param::Rows { start: 2, end: 3, len: 2 }))));
    }
}
