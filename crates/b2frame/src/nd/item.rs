//! One item of an array: straight from its index to its bytes, without the lists that boxes need.
//!
//! ```text
//! an item of another block    its block is decoded as far as the item needs
//! the second of a block       all of the block is decoded, and kept
//! the others of it            are copied
//! ```
//!
//! Kept blocks lie with the buffers that readers leave to the next one (`schunk/pool.rs`).

use blosc_container::buffer::resized;

use super::array::NdArray;
use super::axis::Axis;
use super::geometry::as_len;
use super::{Geometry, MAX_NDIM};
use crate::error::{Limited, Result};
use crate::schunk::{Buffers, Scratch, check_limit};

/// Blocks larger than this (bytes) are not kept.
const MAX_KEPT: usize = 4 << 20;

/// Where an item is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub nchunk: u64,
    pub nblock: u64,
    /// Byte in the block.
    pub byte: u64,
}

/// The block of which an item was wanted last.
#[derive(Debug, Default)]
pub(crate) struct LastBlock {
    /// Numbers of chunk and block.
    numbers: Option<(u64, u64)>,
    /// Its data; empty if they were not decoded.
    data: Vec<u8>,
}

impl LastBlock {
    /// Bytes that are held.
    pub(crate) fn capacity(&self) -> usize {
        self.data.capacity()
    }
}

impl NdArray {
    /// The position in each stored dimension of the item that the axes select, if it is but one.
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

    /// Fills `dest`, which is as long as an item, with the one at this position.
    pub(super) fn read_item(&self, index: &[u64], dest: &mut [u8]) -> Result<()> {
        let place = self.geometry.place(index);
        let nbytes = self.geometry.block_nbytes();
        check_limit(Limited::Memory, nbytes.saturating_mul(2), self.options.max_memory / 2)?;
        let mut scratch = self.schunk.pooled();
        let numbers = (place.nchunk, place.nblock);
        let last = scratch.parts().last_block;
        if last.numbers == Some(numbers) && as_len(nbytes) <= MAX_KEPT {
            return self.read_kept(place, dest, &mut scratch);
        }
        last.numbers = Some(numbers);
        last.data.clear();
        self.decode(numbers, place.byte, dest, &mut scratch)
    }

    /// The same out of the block that is kept from now on.
    fn read_kept(&self, place: Place, dest: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let mut data = core::mem::take(&mut scratch.parts().last_block.data);
        if data.is_empty() {
            let block = resized(&mut data, as_len(self.geometry.block_nbytes()));
            self.decode((place.nchunk, place.nblock), 0, block, scratch)?;
        }
        let from = as_len(place.byte);
        let item = data.get(from..from.saturating_add(dest.len()));
        item.into_iter().for_each(|item| dest.copy_from_slice(item));
        scratch.parts().last_block.data = data;
        Ok(())
    }

    /// Decodes the data of a block from byte `from` on.
    fn decode(
        &self,
        (nchunk, nblock): (u64, u64),
        from: u64,
        dest: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let nbytes = self.geometry.block_nbytes();
        let start = as_len(nblock.saturating_mul(nbytes));
        let block = start..start.saturating_add(as_len(nbytes));
        let location = self.schunk.locate(nchunk)?;
        let Buffers { bytes, chunk, .. } = scratch.parts();
        let fetched = self.schunk.fetch(nchunk, &location, core::slice::from_ref(&block), bytes)?;
        let from = start.saturating_add(as_len(from));
        fetched.decode(from..from.saturating_add(dest.len()), dest, chunk)
    }
}

impl Geometry {
    /// Where the item at this position is. Positions after the last dimension are ignored.
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
        let kept = || array.schunk().pooled().parts().last_block.data.len();
        for (at, len) in
            [([1, 1], 0), ([1, 2], 16), ([3, 3], 16), ([4, 3], 0), ([1, 1], 0), ([0, 0], 16)]
        {
            assert_eq!(array.get::<u8>(&at).unwrap(), plain[as_len(8 * at[0] + at[1])]);
            assert_eq!(kept(), len, "{at:?}");
        }
    }
}
