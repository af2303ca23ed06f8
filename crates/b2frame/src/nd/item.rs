//! One item of an array: from its index right to its bytes, without the lists that boxes need.
//!
//! The first item of a block is decoded alone, the second one decodes the whole block into the
//! [`BlockCache`](blosc_container::block_cache) of the reader's buffers.

use blosc_container::block_cache::Block;
use blosc_container::buffer::resized;

use super::array::NdArray;
use super::axis::Axis;
use super::geometry::as_len;
use super::{Geometry, MAX_NDIM};
use crate::error::{Limited, Result};
use crate::schunk::{Buffers, ChunkRanges, Scratch, check_limit};

/// Blocks larger than this (bytes) are not kept.
const MAX_KEPT_NBYTES: u64 = 4 << 20;

/// The position of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub nchunk: u64,
    pub nblock: u64,
    /// Byte in the block.
    pub byte: u64,
}

impl NdArray {
    /// The position of the selected item in each stored dimension, if the axes select only one.
    pub(super) fn single_item(&self, axes: &[Axis<'_>]) -> Option<[u64; MAX_NDIM]> {
        let mut index = [0; MAX_NDIM];
        for (dim, axis) in self.dims.iter().zip(axes) {
            let at = axis.single()?;
            if let Some(place) = dim.and_then(|dim| index.get_mut(dim)) {
                *place = at;
            }
        }
        Some(index)
    }

    /// Fills `dest`, which has the length of an item, with the item at this position.
    pub(super) fn read_item(&self, index: &[u64], dest: &mut [u8]) -> Result<()> {
        let place = self.geometry.place(index);
        let nbytes = self.geometry.block_nbytes();
        check_limit(Limited::Memory, nbytes.saturating_mul(2), self.options.max_memory / 2)?;
        let item = as_len(place.byte)..as_len(place.byte).saturating_add(dest.len());
        let number = self.geometry.block_number(place);
        let mut scratch = self.schunk.pooled();
        let blocks = scratch.parts().blocks;
        if let Some(kept) = blocks.get(number, &item, None) {
            dest.copy_from_slice(kept);
            return Ok(());
        }
        if !blocks.is_repeated(number, 1) || nbytes > MAX_KEPT_NBYTES {
            return self.decode(place, dest, &mut scratch);
        }
        let mut data = blocks.make_room(as_len(nbytes));
        let whole = resized(&mut data, as_len(nbytes));
        self.decode(Place { byte: 0, ..place }, whole, &mut scratch)?;
        let kept = data.get(item);
        kept.into_iter().for_each(|kept| dest.copy_from_slice(kept));
        let block = Block { number, bytes: 0..data.len(), stamp: None, data };
        scratch.parts().blocks.insert(block);
        Ok(())
    }

    /// Decodes the data of a block from its byte `place.byte` on.
    fn decode(&self, place: Place, dest: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let nbytes = self.geometry.block_nbytes();
        let start = as_len(place.nblock.saturating_mul(nbytes));
        let block = start..start.saturating_add(as_len(nbytes));
        if self.schunk.prefetch_limit() > 0 {
            let ranges = vec![block.clone()];
            self.schunk.prefetch(&[ChunkRanges { nchunk: place.nchunk, ranges }], Some(nbytes));
        }
        let location = self.schunk.locate(place.nchunk)?;
        let Buffers { bytes, chunk, .. } = scratch.parts();
        let blocks = core::slice::from_ref(&block);
        let fetched = self.schunk.fetch(place.nchunk, &location, blocks, bytes)?;
        let from = start.saturating_add(as_len(place.byte));
        fetched.decode(from..from.saturating_add(dest.len()), dest, chunk)
    }
}

impl Geometry {
    /// The number of a block among those of all chunks.
    fn block_number(&self, place: Place) -> u64 {
        let blocks = self.blocks().iter().product::<u64>();
        place.nchunk.wrapping_mul(blocks).wrapping_add(place.nblock)
    }

    /// The chunk, block and byte of the item at this position. Positions after the last dimension
    /// are ignored.
    pub(super) fn place(&self, index: &[u64]) -> Place {
        let chunks = self.chunkshape().iter().zip(self.grid());
        let blocks = self.blockshape().iter().zip(self.blocks());
        let mut place = Place::default();
        for ((at, (chunk, grid)), (block, blocks)) in index.iter().zip(chunks).zip(blocks) {
            let in_chunk = at % chunk;
            place.nchunk = place.nchunk * grid + at / chunk;
            place.nblock = place.nblock * blocks + in_chunk / block;
            place.byte = place.byte * block + in_chunk % block;
        }
        Place { byte: place.byte * self.typesize(), ..place }
    }
}

#[cfg(test)]
mod tests {
    use blosc_chunk::CParams;

    use super::super::{NdMeta, NdParams, NdWriter};
    use super::*;

    #[test]
    fn an_item_is_in_a_chunk_and_in_a_block_of_it() {
        let meta = NdMeta::new(&[10, 20], &[6, 7], &[4, 3], "<i2").unwrap();
        let geometry = Geometry::new(&meta, 2);
        assert_eq!(geometry.place(&[0, 0]), Place::default());
        // Chunk 1, 2 of 2 x 3; in it 3, 5: block 0, 1 of 2 x 3; in it 3, 2.
        assert_eq!(geometry.place(&[9, 19]), Place { nchunk: 5, nblock: 1, byte: 2 * (3 * 3 + 2) });
    }

    #[test]
    fn a_block_is_kept_from_its_second_item_on() {
        let params =
            NdParams::new(&[8, 8], "|u1".parse().unwrap()).chunkshape(&[8, 8]).blockshape(&[4, 4]);
        let mut writer = NdWriter::in_memory(&params.cparams(CParams::default())).unwrap();
        let plain: Vec<u8> = (0..64).collect();
        writer.write_bytes(.., &plain).unwrap();
        let array = writer.finish().unwrap();
        let kept = || array.schunk().pooled().parts().blocks.nbytes();
        for (at, len) in
            [([1, 1], 0), ([1, 2], 16), ([3, 3], 16), ([4, 3], 16), ([1, 1], 16), ([4, 2], 16)]
        {
            assert_eq!(array.get::<u8>(&at).unwrap(), plain[as_len(8 * at[0] + at[1])]);
            assert_eq!(kept(), len, "{at:?}");
        }
    }
}
