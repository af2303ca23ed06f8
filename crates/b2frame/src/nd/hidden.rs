//! The padding of chunks: usually zeros, or items that the shape hides since the array was made
//! smaller ("Hidden items" in `docs/formats/b2nd.md`).

use super::geometry::{Geometry, as_len, unravel};

/// The padding of a chunk.
pub(crate) struct Padding<'a> {
    geometry: &'a Geometry,
    /// Items of the chunk that are in the array, in each dimension.
    lens: Vec<u64>,
}

impl<'a> Padding<'a> {
    /// `None` for a chunk without padding.
    pub(crate) fn new(geometry: &'a Geometry, nchunk: u64) -> Option<Self> {
        let position = unravel(nchunk, geometry.grid());
        let dims = position.iter().zip(geometry.shape()).zip(geometry.chunkshape());
        let lens: Vec<u64> = dims
            .map(|((at, len), chunk)| len.saturating_sub(at.saturating_mul(*chunk)).min(*chunk))
            .collect();
        let stored = geometry.blocks().iter().zip(geometry.blockshape());
        let is_full = lens.iter().zip(stored).all(|(len, (n, block))| *len == n * block);
        (!is_full).then_some(Self { geometry, lens })
    }

    /// Whether the padding in `bytes`, the data of the chunk from byte `start` on, holds more than
    /// one value: a fill value leaves padding of that value.
    pub(crate) fn holds_items(&self, start: u64, bytes: &[u8]) -> bool {
        let typesize = self.geometry.typesize().max(1);
        let blockshape = self.geometry.blockshape();
        let row_len = blockshape.last().map_or(1, |len| (*len).max(1));
        let block_items = blockshape.iter().product::<u64>().max(1);
        let (mut item, end) = (start.div_ceil(typesize), (start + bytes.len() as u64) / typesize);
        let mut first: Option<&[u8]> = None;
        while item < end {
            let (nblock, inside) = (item / block_items, item % block_items);
            let block_end = end.min((nblock + 1) * block_items);
            let lens = self.lens_in_block(nblock);
            if lens == blockshape {
                item = block_end;
                continue;
            }
            let mut row = unravel(inside, blockshape);
            while item < block_end {
                let at = row.last_mut().map_or(0, core::mem::take);
                let next = (item + row_len - at).min(block_end);
                let is_row_hidden = row.iter().zip(&lens).rev().skip(1).any(|(at, len)| at >= len);
                let visible = match lens.last() {
                    Some(len) if !is_row_hidden => len.saturating_sub(at),
                    _ => 0,
                };
                let hidden = (item + visible).min(next) * typesize - start..next * typesize - start;
                let hidden = bytes.get(as_len(hidden.start)..as_len(hidden.end));
                let mut items = hidden.unwrap_or_default().chunks_exact(as_len(typesize));
                if items.any(|item| *first.get_or_insert(item) != item) {
                    return true;
                }
                item = next;
                // The next row: the last index of each dimension carries over.
                for (at, len) in row.iter_mut().zip(blockshape).rev().skip(1) {
                    *at += 1;
                    if *at < *len {
                        break;
                    }
                    *at = 0;
                }
            }
        }
        false
    }

    /// Items of a block that are in the array, in each dimension.
    fn lens_in_block(&self, nblock: u64) -> Vec<u64> {
        let block = unravel(nblock, self.geometry.blocks());
        let lens = block.iter().zip(self.geometry.blockshape()).zip(&self.lens);
        lens.map(|((n, len), all)| all.saturating_sub(n * len).min(*len)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nd::NdMeta;

    /// The data of a chunk: 1 for items of the array, and `hidden` of the position for padding.
    /// position.
    fn chunk(geometry: &Geometry, lens: [u64; 2], hidden: impl Fn(u64) -> u8) -> Vec<u8> {
        let (blocks, blockshape) = (geometry.blocks(), geometry.blockshape());
        let nitems = blocks.iter().product::<u64>() * blockshape.iter().product::<u64>();
        let block_items = blockshape.iter().product::<u64>();
        let value = |item: u64| {
            let block = unravel(item / block_items, blocks);
            let inside = unravel(item % block_items, blockshape);
            let is_in = |dim: usize| block[dim] * blockshape[dim] + inside[dim] < lens[dim];
            if is_in(0) && is_in(1) { 1 } else { hidden(item) }
        };
        (0..nitems).flat_map(|item| [value(item), 0]).collect()
    }

    #[test]
    fn only_padding_of_several_values_holds_items() {
        let meta = NdMeta::new(&[11, 7], &[6, 5], &[4, 2], "<i2").unwrap();
        let geometry = Geometry::new(&meta, 2);
        for (nchunk, lens) in [(0, [6, 5]), (1, [6, 2]), (2, [5, 5]), (3, [5, 2])] {
            let padding = Padding::new(&geometry, nchunk).unwrap();
            for (hidden, expected) in [
                ((|_| 0) as fn(u64) -> u8, false),
                (|_| 9, false),
                (|item| u8::from(item > 40), true),
            ] {
                let bytes = chunk(&geometry, lens, hidden);
                assert_eq!(padding.holds_items(0, &bytes), expected, "{nchunk}");
                // In parts: at least one part has both values, or none if the padding has none.
                let parts = bytes.chunks(16).enumerate();
                let holds = |(n, part): (usize, &[u8])| padding.holds_items(16 * n as u64, part);
                let found = parts.filter(|part| holds(*part)).count();
                assert!(found == 0 || expected, "{nchunk}");
            }
        }
        let meta = NdMeta::new(&[12, 10], &[4, 5], &[2, 5], "<i2").unwrap();
        let geometry = Geometry::new(&meta, 2);
        assert!((0..6).all(|nchunk| Padding::new(&geometry, nchunk).is_none()));
        let meta = NdMeta::new(&[], &[], &[], "<i2").unwrap();
        assert!(Padding::new(&Geometry::new(&meta, 2), 0).is_none());
    }
}
