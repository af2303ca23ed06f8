//! Reads items of one chunk in succession without decoding a block twice.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "ranges were compared with the block"
)]

use core::ops::Range;

use crate::chunk::Chunk;
use crate::decode::Scratch;
use crate::error::Result;
use crate::memory;

/// Reads parts of one chunk and keeps the last decoded block, so that reading another part of it is
/// a copy.
///
/// ```
/// use blosc_chunk::{CParams, Chunk, Scratch, compress, partial::ItemReader};
///
/// let data: Vec<u8> = (0..10_000u32).flat_map(u32::to_le_bytes).collect();
/// let chunk = compress(&data, &CParams::default().typesize(4))?;
/// let mut reader = ItemReader::new(Chunk::parse(&chunk)?, Scratch::default());
/// let mut item = [0; 4];
/// for i in [5000, 5001, 4999u32] {
///     reader.read_items(i as usize..i as usize + 1, &mut item)?;
///     assert_eq!(u32::from_le_bytes(item), i);
/// }
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
#[derive(Debug)]
pub struct ItemReader<'a> {
    chunk: Chunk<'a>,
    scratch: Scratch,
    /// The data of the last decoded block.
    block: Vec<u8>,
    /// Their range in the data of the chunk; empty without a block.
    kept: Range<usize>,
}

impl<'a> ItemReader<'a> {
    /// A reader that has decoded nothing yet. The parameters are those of `scratch`.
    #[must_use]
    pub const fn new(chunk: Chunk<'a>, scratch: Scratch) -> Self {
        Self { chunk, scratch, block: Vec::new(), kept: 0..0 }
    }

    /// The chunk.
    #[must_use]
    pub const fn chunk(&self) -> &Chunk<'a> {
        &self.chunk
    }

    /// As [`Chunk::read_items`].
    ///
    /// # Errors
    ///
    /// As [`Chunk::read_items`].
    pub fn read_items(&mut self, items: Range<usize>, dest: &mut [u8]) -> Result<()> {
        let bytes = self.chunk.items(items)?;
        self.read_bytes(bytes, dest)
    }

    /// As [`Chunk::read_bytes`].
    ///
    /// # Errors
    ///
    /// As [`Chunk::read_bytes`].
    pub fn read_bytes(&mut self, range: Range<usize>, dest: &mut [u8]) -> Result<()> {
        let len = range.end.saturating_sub(range.start);
        // A chunk without blocks has none to keep. This test comes first, since copying an item of
        // that chunk takes no longer than the call of `keep`.
        let has_blocks = self.chunk.blocksize().is_some();
        let is_kept = has_blocks && (self.keeps(&range) || self.keep(&range)?);
        if !is_kept || dest.len() < len {
            return self.chunk.read_bytes(range, dest, &mut self.scratch);
        }
        let start = range.start - self.kept.start;
        dest[..len].copy_from_slice(&self.block[start..start + len]);
        Ok(())
    }

    fn keeps(&self, range: &Range<usize>) -> bool {
        self.kept.start <= range.start && range.start < range.end && range.end <= self.kept.end
    }

    /// Decodes the block that contains all of `range`, if there is one and it contains more.
    fn keep(&mut self, range: &Range<usize>) -> Result<bool> {
        let Some(blocksize) =
            self.chunk.blocksize().filter(|_| range.start < self.chunk.header().nbytes())
        else {
            return Ok(false);
        };
        let nblock = range.start / blocksize;
        let block = self.chunk.block_data(nblock)?;
        if range.start >= range.end || range.end > block.end || *range == block {
            return Ok(false);
        }
        self.scratch.params().limits.check_nbytes(block.len())?;
        self.kept = 0..0;
        memory::resize(&mut self.block, block.len())?;
        self.chunk.read_block(nblock, &mut self.block, &mut self.scratch)?;
        self.kept = block;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::compress;
    use crate::error::Error;
    use crate::params::CParams;
    use blosc_filters::Pipeline;

    fn chunk_of(data: &[u8]) -> Vec<u8> {
        let params =
            CParams::default().typesize(4).blocksize(Some(4096)).filters(Pipeline::SHUFFLE);
        compress(data, &params).unwrap()
    }

    #[test]
    fn any_order_of_parts_gives_what_the_chunk_gives() {
        let data: Vec<u8> = (0..5000u32).flat_map(|i| (i * i).to_le_bytes()).collect();
        let chunk = chunk_of(&data);
        let mut reader = ItemReader::new(Chunk::parse(&chunk).unwrap(), Scratch::default());
        for i in 0..3000 {
            let start = i * 7919 % 5000;
            let items = start..(start + i % 5 * i % 1500).min(5000);
            let mut dest = vec![0xEE; 4 * items.len() + 3];
            reader.read_items(items.clone(), &mut dest).unwrap();
            let (there, beyond) = dest.split_at(4 * items.len());
            assert_eq!(there, &data[4 * items.start..4 * items.end]);
            assert_eq!(beyond, [0xEE; 3]);
        }
    }

    #[test]
    fn runs_and_copies_have_no_blocks_to_keep() {
        for data in [vec![0; 20_000], (0..20_000u32).map(|i| (i % 251 * i % 241) as u8).collect()] {
            let chunk =
                compress(&data, &CParams::default().typesize(1).clevel(blosc_codecs::Level::NONE))
                    .unwrap();
            let mut reader = ItemReader::new(Chunk::parse(&chunk).unwrap(), Scratch::default());
            let mut dest = [1; 10];
            reader.read_bytes(500..510, &mut dest).unwrap();
            assert_eq!(dest, data[500..510]);
        }
    }

    #[test]
    fn what_is_outside_is_refused_as_by_the_chunk() {
        let chunk = chunk_of(&(0..5000u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>());
        let mut reader = ItemReader::new(Chunk::parse(&chunk).unwrap(), Scratch::default());
        for _ in 0..2 {
            let outside = reader.read_items(5000..5001, &mut [0; 4]);
            assert_eq!(outside, Err(Error::Range { start: 5000, end: 5001, len: 5000 }));
            let outside = reader.read_bytes(20_000..20_001, &mut [0; 4]);
            assert_eq!(outside, Err(Error::Range { start: 20_000, end: 20_001, len: 20_000 }));
            assert_eq!(
                reader.read_items(3..5, &mut [0; 4]),
                Err(Error::Dest { needed: 8, room: 4 })
            );
            assert_eq!(reader.read_items(3..4, &mut [0; 4]), Ok(()));
        }
    }
}
