//! Positions of the items of an array: chunk, block, byte ("Geometry" in `docs/formats/b2nd.md`).
//!
//! All orders are C order, the last dimension fastest: chunks in the array, blocks in a chunk,
//! items in a block. Chunks and blocks at the edges are stored in full; the part outside is
//! padding.

use core::ops::Range;

use super::NdMeta;

/// A part of an array: a range in each dimension (items).
pub(crate) type Region = Vec<Range<u64>>;

/// The shapes of an array with at least one dimension; an array without dimensions is one item
/// long.
///
/// All numbers come from a checked [`NdMeta`] of an array that has items, so products of them do
/// not overflow.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    shape: Vec<u64>,
    chunkshape: Vec<u64>,
    blockshape: Vec<u64>,
    grid: Vec<u64>,
    blocks: Vec<u64>,
    typesize: u64,
}

impl Geometry {
    pub(crate) fn new(meta: &NdMeta, typesize: usize) -> Self {
        let wide = |lens: &[u32]| lens.iter().map(|len| u64::from(*len)).collect();
        let mut geometry = Self {
            shape: meta.shape().to_vec(),
            chunkshape: wide(meta.chunkshape()),
            blockshape: wide(meta.blockshape()),
            grid: meta.grid(),
            blocks: meta.blocks_in_chunk(),
            typesize: typesize as u64,
        };
        if geometry.shape.is_empty() {
            let Self { shape, chunkshape, blockshape, grid, blocks, .. } = &mut geometry;
            [shape, chunkshape, blockshape, grid, blocks].into_iter().for_each(|lens| lens.push(1));
        }
        geometry
    }

    pub(crate) fn shape(&self) -> &[u64] {
        &self.shape
    }

    pub(crate) fn chunkshape(&self) -> &[u64] {
        &self.chunkshape
    }

    pub(crate) fn blockshape(&self) -> &[u64] {
        &self.blockshape
    }

    /// Chunks along each dimension.
    pub(crate) fn grid(&self) -> &[u64] {
        &self.grid
    }

    /// Blocks along each dimension of a chunk.
    pub(crate) fn blocks(&self) -> &[u64] {
        &self.blocks
    }

    /// Bytes of an item.
    pub(crate) fn typesize(&self) -> u64 {
        self.typesize
    }

    /// Bytes of a block.
    pub(crate) fn block_nbytes(&self) -> u64 {
        self.blockshape.iter().product::<u64>().saturating_mul(self.typesize)
    }
}

/// Counts through a box in C order.
pub(crate) struct Odometer {
    bounds: Region,
    next: Option<Vec<u64>>,
}

impl Odometer {
    pub(crate) fn new(bounds: Region) -> Self {
        let is_empty = bounds.iter().any(Range::is_empty);
        let next = (!is_empty).then(|| bounds.iter().map(|range| range.start).collect());
        Self { bounds, next }
    }
}

impl Iterator for Odometer {
    type Item = Vec<u64>;

    fn next(&mut self) -> Option<Vec<u64>> {
        let now = self.next.take()?;
        let mut next = now.clone();
        for (index, range) in next.iter_mut().zip(&self.bounds).rev() {
            *index += 1;
            if *index < range.end {
                self.next = Some(next);
                break;
            }
            *index = range.start;
        }
        Some(now)
    }
}

/// The number of a position in C order.
pub(crate) fn ravel(index: &[u64], lens: &[u64]) -> u64 {
    index.iter().zip(lens).fold(0, |number, (i, len)| number * len + i)
}

/// The position of a number in C order.
pub(crate) fn unravel(mut number: u64, lens: &[u64]) -> Vec<u64> {
    let mut index: Vec<u64> =
        lens.iter().rev().map(|len| (number % len, number /= len).0).collect();
    index.reverse();
    index
}

/// Bytes from one item to the next in each dimension.
pub(crate) fn strides(lens: &[u64], typesize: u64) -> Vec<u64> {
    let mut strides: Vec<u64> = (lens.iter().rev())
        .scan(typesize, |stride, len| {
            let this = *stride;
            *stride = stride.saturating_mul(*len);
            Some(this)
        })
        .collect();
    strides.reverse();
    strides
}

/// A number of bytes of a chunk or of a buffer.
pub(crate) fn as_len(nbytes: u64) -> usize {
    usize::try_from(nbytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_positions_are_inverse() {
        let lens = [3, 1, 4];
        let all: Vec<_> = Odometer::new(lens.iter().map(|len| 0..*len).collect()).collect();
        assert_eq!(all.len(), 12);
        for (number, index) in (0..).zip(all) {
            assert_eq!(ravel(&index, &lens), number);
            assert_eq!(unravel(number, &lens), index);
        }
        assert_eq!(Odometer::new(vec![0..2, 1..1]).next(), None);
    }

    #[test]
    fn an_array_without_dimensions_is_one_item() {
        let geometry = Geometry::new(&NdMeta::new(&[], &[], &[], "<f8").unwrap(), 8);
        assert_eq!(geometry.shape(), [1]);
        assert_eq!(geometry.block_nbytes(), 8);
    }
}
