//! A VL-block chunk, block by block.

use core::ops::Range;

use crate::decode::{Map, Scratch, Wanted, read_by};
use crate::error::{Error, Result};
use crate::source::{Blocks, InMemory};

/// A VL-block chunk with checked block sizes.
///
/// See [`Encoder::encode_vl`](crate::Encoder::encode_vl) for an example.
#[derive(Debug)]
pub struct VlChunk<'a> {
    blocks: InMemory<'a>,
    map: Map,
}

impl<'a> VlChunk<'a> {
    pub(crate) fn new(blocks: InMemory<'a>) -> Result<Self> {
        let map = Map::new(&blocks)?;
        Ok(Self { blocks, map })
    }

    /// Number of blocks.
    #[must_use]
    pub fn nblocks(&self) -> usize {
        self.blocks.layout().grid.nblocks
    }

    /// The bytes of the chunk's data that a block contains; empty beyond the last block.
    #[must_use]
    pub fn range(&self, nblock: usize) -> Range<usize> {
        self.map.range(nblock)
    }

    /// Decodes one block.
    ///
    /// # Errors
    ///
    /// [`Error::Range`] if there is no such block, [`Error::Limit`] if it is larger than the limit,
    /// and otherwise its defect.
    pub fn read(&self, nblock: usize, scratch: &mut Scratch) -> Result<Vec<u8>> {
        if nblock >= self.nblocks() {
            let (end, len) = (nblock.saturating_add(1), self.nblocks());
            return Err(Error::Range { start: nblock, end, len });
        }
        let range = self.range(nblock);
        scratch.params().limits.check_nbytes(range.len())?;
        let mut block = vec![0; range.len()];
        let wanted = Wanted { range, chosen: None };
        read_by(&self.blocks, &self.map, &wanted, &mut block, scratch)?;
        Ok(block)
    }
}
