//! Divides a destination among several threads.
//!
//! ```text
//!   chunks of the first dimension      selected: rows 2..11, in C order
//!     0 |          |                     slice 0: rows 2..4
//!     4 |          |                     slice 1: rows 4..8   each is one run in the destination
//!     8 |          |                     slice 2: rows 8..11
//! ```
//!
//! Leading dimensions with one selected position are skipped. If there are too few whole chunks for
//! the threads, slices end at the ends of blocks.

use super::Geometry;
use super::axis::{Axis, Span, Spans, Steps};
use super::geometry::as_len;

/// A part of the selection, and its destination.
pub(super) struct ThreadSlice<'a, 'd> {
    pub axes: Vec<Axis<'a>>,
    pub dest: &'d mut [u8],
}

/// Cuts the selection of the axes, with its destination. `None` if there are too few parts for the
/// threads, or if the first dimension is a list: its items go to scattered positions.
pub(super) fn thread_slices<'a, 'd>(
    geometry: &Geometry,
    axes: &[Axis<'a>],
    threads: u64,
    dest: &'d mut [u8],
) -> Option<ThreadSlices<'a, 'd>> {
    let dim = axes.iter().position(|axis| axis.count() > 1)?;
    let Axis::Steps(steps) = *axes.get(dim)? else { return None };
    let (chunk, block) = (*geometry.chunkshape().get(dim)?, *geometry.blockshape().get(dim)?);
    let per = |len: u64| (steps.last() / len).saturating_sub(steps.start / len).saturating_add(1);
    // Blocks are counted from the start of their chunk, so borders of blocks differ from chunk to
    // chunk.
    let blocks = per(chunk).saturating_mul(chunk.div_ceil(block)).min(per(block).saturating_add(1));
    let unit =
        if per(chunk) >= threads.saturating_mul(4) { Unit::Chunk } else { Unit::Block(block) };
    if unit != Unit::Chunk && blocks < threads {
        return None;
    }
    let row = dest.len().checked_div(as_len(steps.count))?;
    let chunks = Spans::new(Axis::Steps(steps), 0, chunk);
    Some(ThreadSlices { axes: axes.to_vec(), dim, unit, chunks, blocks: None, row, dest })
}

/// The borders at which slices end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Chunk,
    /// Blocks of this length.
    Block(u64),
}

/// The slices, cut on demand.
pub(super) struct ThreadSlices<'a, 'd> {
    axes: Vec<Axis<'a>>,
    /// The dimension that is cut.
    dim: usize,
    unit: Unit,
    chunks: Spans<'a>,
    /// The remaining blocks of the current chunk.
    blocks: Option<Spans<'a>>,
    /// Bytes of a position of that dimension.
    row: usize,
    /// The bytes that are not in a slice yet.
    dest: &'d mut [u8],
}

impl<'a> ThreadSlices<'a, '_> {
    fn next_span(&mut self) -> Option<Span<'a>> {
        loop {
            if let Some(span) = self.blocks.as_mut().and_then(Iterator::next) {
                return Some(span);
            }
            let span = self.chunks.next()?;
            match self.unit {
                Unit::Chunk => return Some(span),
                Unit::Block(len) => self.blocks = Some(Spans::new(span.axis, span.origin, len)),
            }
        }
    }
}

impl<'a, 'd> Iterator for ThreadSlices<'a, 'd> {
    type Item = ThreadSlice<'a, 'd>;

    fn next(&mut self) -> Option<ThreadSlice<'a, 'd>> {
        let Axis::Steps(steps) = self.next_span()?.axis else { return None };
        let len = as_len(steps.count).saturating_mul(self.row);
        let rest = core::mem::take(&mut self.dest);
        // In descending order, the first positions are at the end.
        let (dest, rest) = if steps.down {
            let (rest, dest) = rest.split_at_mut_checked(rest.len().checked_sub(len)?)?;
            (dest, rest)
        } else {
            rest.split_at_mut_checked(len)?
        };
        self.dest = rest;
        let mut axes = self.axes.clone();
        let to = if steps.down { steps.count.saturating_sub(1) } else { 0 };
        *axes.get_mut(self.dim)? = Axis::Steps(Steps { to, ..steps });
        Some(ThreadSlice { axes, dest })
    }
}

#[cfg(test)]
mod tests {
    use super::super::NdMeta;
    use super::*;

    /// Start and count of each slice, with its part of the numbers from 0 on.
    fn cut(steps: Steps, threads: u64) -> Option<Vec<(u64, u64, Vec<u8>)>> {
        let meta = NdMeta::new(&[1, 20, 2], &[1, 6, 2], &[1, 4, 1], "|u1").unwrap();
        let geometry = Geometry::new(&meta, 1);
        let axes =
            [Axis::Steps(Steps::run(0, 1)), Axis::Steps(steps), Axis::Steps(Steps::run(0, 1))];
        let mut dest: Vec<u8> = (0..20).take(as_len(steps.count)).collect();
        let slices = thread_slices(&geometry, &axes, threads, &mut dest)?;
        Some(
            slices
                .map(|slice| match slice.axes[..] {
                    [_, Axis::Steps(steps), _] => (steps.start, steps.count, slice.dest.to_vec()),
                    _ => panic!("other axes"),
                })
                .collect(),
        )
    }

    #[test]
    fn slices_end_where_chunks_or_blocks_do() {
        let run = |start, count| Steps::run(start, count);
        let chunks = cut(run(2, 18), 1).unwrap();
        let (low, high) =
            ([(2, 4, (0..4).collect()), (6, 6, (4..10).collect())], (10..16).collect());
        assert_eq!(chunks[..2], low);
        assert_eq!(chunks[2..], [(12, 6, high), (18, 2, vec![16, 17])]);
        let blocks = cut(run(2, 12), 2).unwrap();
        let starts: Vec<_> = blocks.iter().map(|slice| (slice.0, slice.1)).collect();
        assert_eq!(starts, [(2, 2), (4, 2), (6, 4), (10, 2), (12, 2)]);
        assert_eq!(cut(run(2, 2), 3), None);
        assert_eq!(cut(run(2, 1), 2), None);
    }

    #[test]
    fn descending_positions_are_divided_from_the_end() {
        let down = Steps { start: 1, step: 3, count: 4, to: 3, down: true };
        let slices = [(1, 1, vec![3]), (4, 1, vec![2]), (7, 1, vec![1]), (10, 1, vec![0])];
        assert_eq!(cut(down, 1).unwrap(), slices);
    }
}
