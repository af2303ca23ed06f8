//! Where the items of an array are: chunk, block, byte ("Geometry" in `docs/formats/b2nd.md`).
//!
//! All orders are C order, the last dimension fastest: chunks in the array, blocks in a chunk, items in a block.
//! Chunks and blocks at the edges are stored in full; what sticks out is padding.

use core::ops::Range;

use super::NdMeta;

/// A part of an array: from where to where in each dimension (items).
pub(crate) type Box = Vec<Range<u64>>;

/// The shapes of an array with at least one dimension; an array of none is one item long.
///
/// All numbers come from a checked [`NdMeta`] of an array that has items, so products of them do not overflow.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    shape: Vec<u64>,
    chunkshape: Vec<u64>,
    blockshape: Vec<u64>,
    grid: Vec<u64>,
    blocks: Vec<u64>,
    typesize: u64,
}

/// A run of blocks of one chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub nchunk: u64,
    /// Position of the chunk in the grid of chunks.
    chunk: Vec<u64>,
    /// Numbers of the blocks.
    blocks: Range<u64>,
    /// What the run is in bytes of the chunk's data.
    pub bytes: Range<usize>,
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

    /// The runs of blocks that hold a box, each of at most `max` bytes or one block.
    pub(crate) fn runs<'a>(&'a self, bounds: &'a Box, max: u64) -> impl Iterator<Item = Run> + 'a {
        let chunks =
            bounds.iter().zip(&self.chunkshape).map(|(b, c)| b.start / c..b.end.div_ceil(*c)).collect();
        let per_run = (max / self.block_nbytes().max(1)).max(1);
        Odometer::new(chunks).flat_map(move |chunk| {
            let of_chunk = self.blocks_of(&chunk, bounds);
            // In a box, blocks of the chunk that are wanted follow each other closely; those between are padding.
            let first = ravel(&of_chunk.iter().map(|b| b.start).collect::<Vec<_>>(), &self.blocks);
            let last =
                ravel(&of_chunk.iter().map(|b| b.end.saturating_sub(1)).collect::<Vec<_>>(), &self.blocks);
            cut(first..last.saturating_add(1), per_run).map(move |blocks| self.run(chunk.clone(), blocks))
        })
    }

    /// Copies the items of a box out of the bytes of a run, to where they are in the box.
    pub(crate) fn scatter(&self, run: &Run, bytes: &[u8], bounds: &Box, dest: &mut [u8]) {
        let block_nbytes = as_len(self.block_nbytes());
        for (nblock, block) in run.blocks.clone().zip(bytes.chunks(block_nbytes.max(1))) {
            let origin: Vec<u64> = (unravel(nblock, &self.blocks).iter().zip(&self.blockshape))
                .zip(run.chunk.iter().zip(&self.chunkshape))
                .map(|((b, len), (q, chunk))| q * chunk + b * len)
                .collect();
            if let Some(part) = self.part_in_box(&origin, &run.chunk, bounds) {
                self.copy_rows(&part, &origin, block, bounds, dest);
            }
        }
    }

    fn run(&self, chunk: Vec<u64>, blocks: Range<u64>) -> Run {
        let nbytes = self.block_nbytes();
        let bytes = as_len(blocks.start.saturating_mul(nbytes))..as_len(blocks.end.saturating_mul(nbytes));
        Run { nchunk: ravel(&chunk, &self.grid), chunk, blocks, bytes }
    }

    /// The blocks of a chunk that a box touches, in each dimension.
    fn blocks_of(&self, chunk: &[u64], bounds: &Box) -> Box {
        let lens = self.chunkshape.iter().zip(&self.blockshape);
        let of_dim = |((q, bounds), (chunklen, blocklen)): ((&u64, &Range<u64>), (&u64, &u64))| {
            let start = q * chunklen;
            let from = bounds.start.saturating_sub(start) / blocklen;
            let to = bounds.end.saturating_sub(start).min(*chunklen).div_ceil(*blocklen);
            from..to
        };
        chunk.iter().zip(bounds).zip(lens).map(of_dim).collect()
    }

    /// The part of a block that is no padding and lies in a box, if any.
    fn part_in_box(&self, origin: &[u64], chunk: &[u64], bounds: &Box) -> Option<Box> {
        let ends = chunk.iter().zip(&self.chunkshape).map(|(q, len)| (q + 1) * len);
        let of_dim = |(((start, len), chunk_end), bounds): (((&u64, &u64), u64), &Range<u64>)| {
            let part = bounds.start.max(*start)..bounds.end.min(start + len).min(chunk_end);
            (!part.is_empty()).then_some(part)
        };
        origin.iter().zip(&self.blockshape).zip(ends).zip(bounds).map(of_dim).collect()
    }

    /// Copies a part of a block row by row: along the last dimension items follow each other on both sides.
    fn copy_rows(&self, part: &Box, origin: &[u64], block: &[u8], bounds: &Box, dest: &mut [u8]) {
        let lens = lens(bounds);
        let strides = |lens: &[u64]| strides(lens, self.typesize).into_iter().map(as_len).collect::<Vec<_>>();
        let (from, to) = (strides(&self.blockshape), strides(&lens));
        let starts = || part.iter().map(|range| range.start);
        let mut source = offset(starts().zip(origin.iter().copied()), &from);
        let mut target = offset(starts().zip(bounds.iter().map(|range| range.start)), &to);
        let Some((last, outer)) = part.split_last() else { return };
        let row = as_len((last.end - last.start) * self.typesize);
        let mut index = vec![0; outer.len()];
        loop {
            let rows = (
                block.get(source..source.saturating_add(row)),
                dest.get_mut(target..target.saturating_add(row)),
            );
            if let (Some(read), Some(written)) = rows {
                written.copy_from_slice(read);
            }
            // The next row: carry over the dimensions that are through.
            let Some(dim) = (0..outer.len()).rev().find(|dim| {
                let len = outer[*dim].end - outer[*dim].start;
                index[*dim] += 1;
                let goes_on = index[*dim] < len;
                if !goes_on {
                    source -= as_len((len - 1) * from[*dim] as u64);
                    target -= as_len((len - 1) * to[*dim] as u64);
                    index[*dim] = 0;
                }
                goes_on
            }) else {
                return;
            };
            source += from[dim];
            target += to[dim];
        }
    }
}

/// Counts through a box in C order.
pub(crate) struct Odometer {
    bounds: Box,
    next: Option<Vec<u64>>,
}

impl Odometer {
    pub(crate) fn new(bounds: Box) -> Self {
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

/// Lengths of a box.
pub(crate) fn lens(bounds: &Box) -> Vec<u64> {
    bounds.iter().map(|range| range.end - range.start).collect()
}

/// The number of a position in C order.
pub(crate) fn ravel(index: &[u64], lens: &[u64]) -> u64 {
    index.iter().zip(lens).fold(0, |number, (i, len)| number * len + i)
}

/// The position of a number in C order.
pub(crate) fn unravel(mut number: u64, lens: &[u64]) -> Vec<u64> {
    let mut index: Vec<u64> = lens.iter().rev().map(|len| (number % len, number /= len).0).collect();
    index.reverse();
    index
}

/// Ranges of at most `len` numbers.
fn cut(range: Range<u64>, len: u64) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    let starts = core::iter::successors(Some(range.start), move |start| start.checked_add(len));
    starts.take_while(move |start| *start < end).map(move |start| start..start.saturating_add(len).min(end))
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

/// The byte of a position, given where each dimension is and where it begins.
fn offset(positions: impl Iterator<Item = (u64, u64)>, strides: &[usize]) -> usize {
    positions.zip(strides).map(|((at, start), stride)| as_len(at - start) * stride).sum()
}

/// A number of bytes that are in memory, or of a chunk.
pub(crate) fn as_len(nbytes: u64) -> usize {
    usize::try_from(nbytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The annotated array: 5 x 3 in chunks of 4 x 2 and blocks of 2 x 2.
    fn tiny() -> Geometry {
        Geometry::new(&NdMeta::new(&[5, 3], &[4, 2], &[2, 2], "|u1").unwrap(), 1)
    }

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
    fn a_box_touches_the_blocks_of_the_document() {
        let geometry = tiny();
        let last_row = vec![4..5, 0..3];
        let runs: Vec<_> = geometry.runs(&last_row, 100).map(|run| (run.nchunk, run.bytes)).collect();
        assert_eq!(runs, [(2, 0..4), (3, 0..4)]);
        let middle = vec![1..3, 0..3];
        let runs: Vec<_> = geometry.runs(&middle, 4).map(|run| (run.nchunk, run.bytes)).collect();
        assert_eq!(runs, [(0, 0..4), (0, 4..8), (1, 0..4), (1, 4..8)]);
    }

    #[test]
    fn padding_is_left_behind() {
        let geometry = tiny();
        let chunks: [[u8; 8]; 4] = [
            [1, 2, 4, 5, 7, 8, 10, 11],
            [3, 99, 6, 99, 9, 99, 12, 99],
            [13, 14, 99, 99, 99, 99, 99, 99],
            [15, 99, 99, 99, 99, 99, 99, 99],
        ];
        for max in [1, 100] {
            let bounds = vec![1..5, 0..3];
            let mut dest = [0; 12];
            for run in geometry.runs(&bounds, max) {
                let chunk = &chunks[usize::try_from(run.nchunk).unwrap()];
                geometry.scatter(&run, &chunk[run.bytes.clone()], &bounds, &mut dest);
            }
            assert_eq!(dest, [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        }
    }

    #[test]
    fn an_array_without_dimensions_is_one_item() {
        let geometry = Geometry::new(&NdMeta::new(&[], &[], &[], "<f8").unwrap(), 8);
        assert_eq!(geometry.shape(), [1]);
        let whole = core::iter::once(0..1).collect();
        let runs: Vec<_> = geometry.runs(&whole, 1).map(|run| (run.nchunk, run.bytes)).collect();
        assert_eq!(runs, [(0, 0..8)]);
    }
}
