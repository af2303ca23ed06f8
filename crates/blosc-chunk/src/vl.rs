//! Blocks of individual sizes ("VL-block chunk" in the format document).
//!
//! A VL-block stores the size of its data; the size of its payload follows from the start of the
//! next block. There are no runs and no splits, and every block is independent: delta refers to the
//! block itself.

use core::ops::Range;

use crate::error::{Corrupt, Error, Result};
use crate::layout::read_i32;
use crate::memory;
use crate::source::{Blocks, StoredBlock};
use crate::stream::Payload;

/// The data (bytes of the chunk's data) of each VL-block.
#[derive(Clone, Debug, Default)]
pub(crate) struct VlSizes {
    /// Where each block ends.
    ends: Vec<u32>,
}

impl VlSizes {
    /// Reads the size of every block; their sum must be the size of the chunk's data.
    pub(crate) fn read(blocks: &impl Blocks) -> Result<Self> {
        let layout = blocks.layout();
        // The field has 32 bits.
        let nbytes = u32::try_from(layout.header.nbytes()).unwrap_or(u32::MAX);
        let mut ends = Vec::new();
        memory::reserve(&mut ends, layout.grid.nblocks)?;
        let mut end = 0u32;
        for nblock in 0..layout.grid.nblocks {
            let left = nbytes.saturating_sub(end);
            end = end.saturating_add(block_nbytes(blocks.block(nblock)?, left)?);
            ends.push(end);
        }
        if end != nbytes {
            let what = Corrupt::VlSum { sum: end.into(), nbytes: nbytes as usize };
            return Err(Error::corrupt(4, what));
        }
        Ok(Self { ends })
    }

    /// The data of one block.
    pub(crate) fn range(&self, nblock: usize) -> Range<usize> {
        let end = |nblock: usize| self.ends.get(nblock).map_or(0, |&end| end as usize);
        nblock.checked_sub(1).map_or(0, end)..end(nblock)
    }

    /// The blocks that contain these bytes.
    pub(crate) fn covering(&self, bytes: &Range<usize>) -> Range<usize> {
        if bytes.is_empty() {
            return 0..0;
        }
        let first = self.ends.partition_point(|&end| end as usize <= bytes.start);
        let last = self.ends.partition_point(|&end| (end as usize) < bytes.end);
        first..last.saturating_add(1)
    }
}

/// The size of a block's data, at most `left` bytes.
fn block_nbytes(StoredBlock { bytes, at }: StoredBlock<'_>, left: u32) -> Result<u32> {
    let field = read_i32(bytes, 0);
    let nbytes =
        field.ok_or_else(|| Error::corrupt(at, Corrupt::StreamHeader { left: bytes.len() }))?;
    let size = u32::try_from(nbytes).ok().filter(|size| (1..=left).contains(size));
    size.ok_or_else(|| Error::corrupt(at, Corrupt::VlSize { nbytes, left: left as usize }))
}

/// The payload of a block with `nbytes` bytes of data and the extent `bytes`.
pub(crate) fn payload(bytes: &[u8], nbytes: usize) -> Payload<'_> {
    let payload = bytes.get(4..).unwrap_or_default();
    if payload.len() == nbytes { Payload::Stored(payload) } else { Payload::Coded(payload) }
}
