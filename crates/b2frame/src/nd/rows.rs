//! Copies between a block, or a chunk, and the items of the caller.
//!
//! ```text
//! dimension       0          1        2          The last dimensions are one row, as far as
//! selected        2 of 4     3 of 5   7 of 7     their selection is one run in both places;
//! rows            2 x    one row of 3 x 7        the others are loops with two strides.
//! ```
//!
//! Lists of positions, and descending places, have no strides: `for_each_row` copies them.

use core::ops::Range;

use blosc_chunk::{
    Simd,
    internal::{EvenRows, StoreHint},
};

use super::MAX_NDIM;
use super::axis::{Axis, Parts, for_each_row};
use super::geometry::as_len;

/// A loop: its count, and its strides in source and destination (bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Loop {
    count: usize,
    from: usize,
    to: usize,
}

/// Rows of bytes that lie evenly in source and destination.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// Loops from the outermost to the innermost.
    loops: [Loop; MAX_NDIM],
    nloops: usize,
    /// Bytes of a row.
    row: usize,
    /// Position of the first row.
    from: usize,
    to: usize,
}

impl Rows {
    /// The rows of the selected parts of a block; `None` if they lie unevenly.
    pub(super) fn new(parts: Parts<'_>) -> Option<Self> {
        let Parts { spans, in_block, in_wanted } = parts;
        let last = in_block.len().checked_sub(1)?;
        let (mut loops, mut nloops) = ([Loop::default(); MAX_NDIM], 0);
        let (mut row, mut from, mut to) = (as_len(*in_block.get(last)?), 0, 0);
        for ((span, stride), wanted) in spans.iter().zip(in_block).zip(in_wanted).rev() {
            let Axis::Steps(steps) = &span.axis else { return None };
            if steps.down && steps.count > 1 {
                return None;
            }
            let (stride, wanted) = (as_len(*stride), as_len(*wanted));
            from += as_len(steps.start - span.origin) * stride;
            to += as_len(steps.to) * wanted;
            let this = Loop {
                count: as_len(steps.count),
                from: as_len(steps.step).saturating_mul(stride),
                to: wanted,
            };
            if nloops == 0 && (this.from, this.to) == (row, row) {
                row *= this.count;
            } else if this.count != 1 {
                *loops.get_mut(nloops)? = this;
                nloops += 1;
            }
        }
        loops.get_mut(..nloops)?.reverse();
        Some(Self { loops, nloops, row, from, to })
    }

    fn loops(&self) -> &[Loop] {
        self.loops.get(..self.nloops).unwrap_or_default()
    }

    /// The range of the row in source and destination, if there is only one.
    pub(super) fn single(&self) -> Option<(Range<usize>, Range<usize>)> {
        let range = |start: usize| start..start.saturating_add(self.row);
        (self.nloops == 0).then(|| (range(self.from), range(self.to)))
    }

    /// The range from the first to the last selected byte of the block.
    pub(super) fn extent(&self) -> Range<usize> {
        let last =
            self.loops().iter().map(|this| this.count.saturating_sub(1) * this.from).sum::<usize>();
        self.from..self.from + last + self.row
    }

    /// Copies all rows from `block` to `wanted`. `block` is a part that begins with byte `start`.
    pub(super) fn read(&self, block: &[u8], start: usize, wanted: &mut [u8], reach: Reach) {
        let from = self.from.saturating_sub(start);
        let wanted = wanted.get_mut(self.to..).unwrap_or_default();
        for_each_inner(self.loops(), from, wanted, &|inner, from, dest| {
            let src = block.get(from..).unwrap_or_default();
            match inner.far(self.row, reach) {
                Some((rows, simd)) => rows.copy_to_array(simd, src, dest),
                None => copy_rows(inner, self.row, src, dest),
            }
        });
    }

    /// Whether to copy rows right from the planes of a shuffled block with items of `typesize`
    /// bytes.
    pub(super) fn suit_planes(&self, simd: Simd, typesize: usize) -> bool {
        let inner = self.loops().last().copied().unwrap_or(Loop::ONCE);
        inner.even(self.row).suits_planes(simd, typesize)
    }

    /// Copies all rows from the planes of a block before its shuffle is undone.
    pub(super) fn read_planes(
        &self,
        simd: Simd,
        planes: &[&[u8]],
        wanted: &mut [u8],
        reach: Reach,
    ) {
        let stores =
            if matches!(reach, Reach::Far(_)) { StoreHint::NonTemporal } else { StoreHint::Cached };
        let wanted = wanted.get_mut(self.to..).unwrap_or_default();
        for_each_inner(self.loops(), self.from, wanted, &|inner, from, dest| {
            inner.even(self.row).copy_planes_to_array(simd, stores, planes, from, dest);
        });
    }

    /// Copies all rows into the block.
    pub(super) fn write(&self, block: &mut [u8], items: &[u8], reach: Reach) {
        let mut loops = self.loops;
        for this in &mut loops {
            core::mem::swap(&mut this.from, &mut this.to);
        }
        let loops = loops.get(..self.nloops).unwrap_or_default();
        let block = block.get_mut(self.from..).unwrap_or_default();
        for_each_inner(loops, self.to, block, &|inner, from, dest| {
            let src = items.get(from..).unwrap_or_default();
            match inner.swapped().far(self.row, reach) {
                Some((rows, simd)) => rows.copy_to_block(simd, src, dest),
                None => copy_rows(inner, self.row, src, dest),
            }
        });
    }
}

/// The nearness of the items that rows are copied from or to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reach {
    /// Probably in a cache.
    Near,
    /// In more memory than a cache holds.
    Far(Simd),
}

impl Reach {
    /// The nearness of `nbytes` bytes of items.
    pub(super) fn for_nbytes(nbytes: usize, simd: Simd) -> Self {
        if nbytes >= MIN_FAR_NBYTES { Self::Far(simd) } else { Self::Near }
    }
}

impl Loop {
    /// The loop of a single iteration.
    const ONCE: Self = Self { count: 1, from: usize::MAX, to: usize::MAX };

    /// The loop with source and destination exchanged.
    fn swapped(self) -> Self {
        Self { from: self.to, to: self.from, ..self }
    }

    /// Rows from a block to far items, if they are long enough for a prefetch of the next row.
    fn far(self, row: usize, reach: Reach) -> Option<(EvenRows, Simd)> {
        let Reach::Far(simd) = reach else { return None };
        (row >= MIN_STREAMED_ROW_NBYTES).then_some((self.even(row), simd))
    }

    /// Rows of `row` bytes from a block to items.
    fn even(self, row: usize) -> EvenRows {
        EvenRows { count: self.count, len: row, in_block: self.from, in_array: self.to }
    }
}

/// Shorter rows than a cache line are not prefetched.
const MIN_STREAMED_ROW_NBYTES: usize = 64;

/// More items than the private caches of a core hold (bytes). From here on rows are worth a
/// prefetch, even where a contiguous write is still too small for
/// [`Destination`](blosc_chunk::Destination) to change.
const MIN_FAR_NBYTES: usize = 8 << 20;

/// Copies the selected parts out of a block, evenly spaced or not.
pub(super) fn read_rows(parts: Parts<'_>, block: &[u8], wanted: &mut [u8]) {
    for_each_row(parts, &mut |from, to, len| {
        let (from, to, len) = (as_len(from), as_len(to), as_len(len));
        let block = block.get(from..from.saturating_add(len));
        if let Some((block, wanted)) = block.zip(wanted.get_mut(to..to.saturating_add(len))) {
            wanted.copy_from_slice(block);
        }
    });
}

/// Calls `copy` for each innermost loop with its first byte in the source, and the destination from
/// there on. An iteration never reaches beyond the start of the next: strides are at least as long
/// as the loops inside.
fn for_each_inner(
    loops: &[Loop],
    from: usize,
    dest: &mut [u8],
    copy: &impl Fn(Loop, usize, &mut [u8]),
) {
    match loops {
        [] => copy(Loop::ONCE, from, dest),
        [inner] => copy(*inner, from, dest),
        [outer, rest @ ..] => {
            let sides = (0..outer.count).zip(dest.chunks_mut(outer.to));
            sides.for_each(|(n, dest)| for_each_inner(rest, from + n * outer.from, dest, copy));
        }
    }
}

/// The innermost loop. Rows as short as an item are copied without a call.
fn copy_rows(inner: Loop, row: usize, src: &[u8], dest: &mut [u8]) {
    match row {
        1 => copy_items::<1>(inner, src, dest),
        2 => copy_items::<2>(inner, src, dest),
        4 => copy_items::<4>(inner, src, dest),
        8 => copy_items::<8>(inner, src, dest),
        16 => copy_items::<16>(inner, src, dest),
        _ => {
            let sides = src.chunks(inner.from).zip(dest.chunks_mut(inner.to));
            sides.take(inner.count).for_each(|(src, dest)| copy_row(row, src, dest));
        }
    }
}

fn copy_items<const N: usize>(inner: Loop, src: &[u8], dest: &mut [u8]) {
    let sides = src.chunks(inner.from).zip(dest.chunks_mut(inner.to));
    for (src, dest) in sides.take(inner.count) {
        if let Some((src, dest)) = src.first_chunk::<N>().zip(dest.first_chunk_mut::<N>()) {
            *dest = *src;
        }
    }
}

fn copy_row(row: usize, src: &[u8], dest: &mut [u8]) {
    if let Some((src, dest)) = src.get(..row).zip(dest.get_mut(..row)) {
        dest.copy_from_slice(src);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::axis::{Span, Steps};
    use super::super::geometry::strides;
    use super::*;

    fn span(start: u64, step: u64, count: u64) -> Span<'static> {
        let steps = Steps { start, step, count, to: 0, down: false };
        Span { number: 0, origin: 0, axis: Axis::Steps(steps) }
    }

    /// The rows of a block of 4 x 5 x 7 items of 2 bytes.
    fn rows(spans: &[Span<'_>]) -> Rows {
        let counts: Vec<u64> = spans.iter().map(|span| span.axis.count()).collect();
        let (in_block, in_wanted) = (strides(&[4, 5, 7], 2), strides(&counts, 2));
        Rows::new(Parts { spans, in_block: &in_block, in_wanted: &in_wanted }).unwrap()
    }

    #[test]
    fn dimensions_that_follow_each_other_on_both_sides_are_one_row() {
        let whole = rows(&[span(0, 1, 4), span(0, 1, 5), span(0, 1, 7)]);
        assert_eq!(whole.single(), Some((0..280, 0..280)));
        let planes = rows(&[span(1, 2, 2), span(0, 1, 5), span(0, 1, 7)]);
        assert_eq!((planes.nloops, planes.row, planes.extent()), (1, 70, 70..280));
        let part = rows(&[span(0, 1, 4), span(1, 1, 3), span(0, 1, 7)]);
        assert_eq!((part.nloops, part.row, part.extent()), (1, 42, 14..266));
        let item = rows(&[span(3, 1, 1), span(2, 1, 1), span(6, 1, 1)]);
        assert_eq!(item.single(), Some((250..252, 0..2)));
    }

    #[test]
    fn what_goes_down_has_no_even_rows() {
        let down = Steps { start: 0, step: 1, count: 3, to: 2, down: true };
        let span = Span { number: 0, origin: 0, axis: Axis::Steps(down) };
        assert!(Rows::new(Parts { spans: &[span], in_block: &[1], in_wanted: &[1] }).is_none());
    }

    proptest! {
        #[test]
        fn rows_are_what_single_positions_give(
            dims in prop::collection::vec((1_u64..6, 0_u64..3, 1_u64..3, 1_u64..5), 1..4),
            typesize in prop::sample::select(vec![1_u64, 2, 3, 4, 8, 16, 24]),
        ) {
            let spans: Vec<_> = dims.iter()
                .map(|(_, start, step, count)| span(*start, *step, *count)).collect();
            let lens: Vec<u64> = dims.iter()
                .map(|(more, start, step, count)| start + step * count + more).collect();
            let counts: Vec<u64> = dims.iter().map(|dim| dim.3).collect();
            let (in_block, in_wanted) = (strides(&lens, typesize), strides(&counts, typesize));
            let len = |lens: &[u64]| as_len(lens.iter().product::<u64>() * typesize);
            let block: Vec<u8> = (0..251).cycle().take(len(&lens)).collect();
            let (mut expected, mut found) = (vec![0; len(&counts)], vec![0; len(&counts)]);
            let parts = Parts { spans: &spans, in_block: &in_block, in_wanted: &in_wanted };
            read_rows(parts, &block, &mut expected);
            let rows = Rows::new(parts).unwrap();
            let part = rows.extent();
            for reach in [Reach::Far(Simd::detect()), Reach::Near] {
                found.fill(0);
                rows.read(&block[part.clone()], part.start, &mut found, reach);
                prop_assert_eq!(&found, &expected);
            }
            let typesize = as_len(typesize);
            let planes: Vec<Vec<u8>> =
                (0..typesize)
                    .map(|j| block.iter().skip(j).step_by(typesize).copied().collect())
                    .collect();
            let planes: Vec<&[u8]> = planes.iter().map(Vec::as_slice).collect();
            for reach in [Reach::Far(Simd::detect()), Reach::Near] {
                found.fill(0);
                rows.read_planes(Simd::detect(), &planes, &mut found, reach);
                prop_assert_eq!(&found, &expected);
            }
            let mut back = vec![255; block.len()];
            rows.write(&mut back, &found, Reach::Far(Simd::detect()));
            for (byte, was) in back.iter().zip(&block) {
                prop_assert!(*byte == 255 || byte == was);
            }
            prop_assert_eq!(back.iter().filter(|byte| **byte != 255).count(), found.len());
        }
    }
}
