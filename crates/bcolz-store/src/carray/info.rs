//! What a chunk says of itself, without decoding it.

use blosc_chunk::ChunkHeader;

use super::CArray;
use crate::error::{Param, Result};

impl CArray {
    /// The header of a chunk: codec, filter, sizes. Its file has 16 bytes more than the chunk.
    ///
    /// # Errors
    ///
    /// [`Param::Rows`] where there is no such chunk; `Corrupt`, `Chunk` and `Io` where its file
    /// cannot be used.
    pub fn chunk_header(&self, nchunk: u64) -> Result<ChunkHeader> {
        let (start, end, len) = (nchunk, nchunk.saturating_add(1), self.nchunks());
        if nchunk >= len {
            return Err(Param::Rows { start, end, len }.into());
        }
        self.open_chunk(nchunk).map(|file| file.header)
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
        let behind = array.chunk_header(2);
        assert!(matches!(behind, Err(Error::Param(Param::Rows { start: 2, end: 3, len: 2 }))));
    }
}
