//! The selected positions of a dimension, cut by chunks and again by blocks.
//!
//! ```text
//! positions 1, 4, 7, 10 of a dimension       chunk 0 [0, 6)        chunk 1 [6, 12)
//! in chunks of 6 and blocks of 4:            block 0  block 1      block 0  block 1
//!                                            1        4            7        10
//! ```
//!
//! Slices with a step and lists of indexes share this code, so all of reading and writing is one
//! walk over chunks, blocks and rows. A slice takes no memory per position.

/// Positions along one dimension in ascending order, each with its place in the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis<'a> {
    Steps(Steps),
    /// Pairs of a position and its place, sorted.
    List(&'a [(u64, u64)]),
}

/// Every `step`th position from `start` on. The first has the place `to`; the places of the others
/// go up or down from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Steps {
    pub start: u64,
    pub step: u64,
    pub count: u64,
    pub to: u64,
    pub down: bool,
}

impl Steps {
    /// The positions `start..start + count`, in this order.
    pub(crate) fn run(start: u64, count: u64) -> Self {
        Self { start, step: 1, count, to: 0, down: false }
    }

    /// The greatest position.
    pub(crate) fn last(&self) -> u64 {
        self.start.saturating_add(self.count.saturating_sub(1).saturating_mul(self.step))
    }

    /// The first `count` positions, and the others.
    fn split(self, count: u64) -> (Self, Self) {
        let to =
            if self.down { self.to.saturating_sub(count) } else { self.to.saturating_add(count) };
        let start = self.start.saturating_add(count.saturating_mul(self.step));
        (Self { count, ..self }, Self { start, count: self.count - count, to, ..self })
    }

    /// Whether places go up by one with each position.
    fn is_run(&self) -> bool {
        self.count == 1 || (self.step == 1 && !self.down)
    }

    /// All positions, in the order of their places.
    pub(crate) fn positions(self) -> impl Iterator<Item = u64> + use<> {
        let Self { start, step, count, down, .. } = self;
        let nth = move |n: u64| if down { count - 1 - n } else { n };
        (0..count).map(move |n| start.saturating_add(nth(n).saturating_mul(step)))
    }

    fn place(&self, n: u64) -> u64 {
        if self.down { self.to.saturating_sub(n) } else { self.to.saturating_add(n) }
    }
}

impl Axis<'_> {
    /// Number of positions.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Steps(steps) => steps.count,
            Self::List(pairs) => pairs.len() as u64,
        }
    }

    /// The position, if there is only one.
    pub(crate) fn single(&self) -> Option<u64> {
        self.first().filter(|_| self.count() == 1)
    }

    /// Number of different positions.
    pub(crate) fn count_distinct(&self) -> u64 {
        match self {
            Self::Steps(steps) => steps.count,
            Self::List(pairs) => pairs.chunk_by(|a, b| a.0 == b.0).count() as u64,
        }
    }

    fn first(&self) -> Option<u64> {
        match self {
            Self::Steps(steps) => (steps.count > 0).then_some(steps.start),
            Self::List(pairs) => pairs.first().map(|pair| pair.0),
        }
    }

    /// The positions below `end`, and the others.
    fn split(self, end: u64) -> (Self, Self) {
        match self {
            Self::Steps(steps) => {
                let below = end.saturating_sub(steps.start).div_ceil(steps.step).min(steps.count);
                let (low, high) = steps.split(below);
                (Self::Steps(low), Self::Steps(high))
            }
            Self::List(pairs) => {
                let (low, high) = pairs.split_at(pairs.partition_point(|pair| pair.0 < end));
                (Self::List(low), Self::List(high))
            }
        }
    }

    /// Calls `f` with position, place and length of each run of positions whose places go up by
    /// one.
    fn for_each_run(&self, mut f: impl FnMut(u64, u64, u64)) {
        match self {
            Self::Steps(steps) if steps.is_run() => f(steps.start, steps.to, steps.count),
            Self::Steps(steps) => {
                (0..steps.count).for_each(|n| f(steps.start + n * steps.step, steps.place(n), 1));
            }
            Self::List(pairs) => {
                let follows = |a: &(u64, u64), b: &(u64, u64)| (a.0 + 1, a.1 + 1) == *b;
                for run in pairs.chunk_by(follows) {
                    run.first().into_iter().for_each(|first| f(first.0, first.1, run.len() as u64));
                }
            }
        }
    }
}

/// The selected positions of one chunk, or one block, along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span<'a> {
    /// Number of the chunk or block along the dimension.
    pub number: u64,
    /// Position of its first item in the array.
    pub origin: u64,
    pub axis: Axis<'a>,
}

/// Cuts an axis into spans of `len` positions, counted from `base`; leaves out spans without
/// selected positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spans<'a> {
    axis: Axis<'a>,
    base: u64,
    len: u64,
}

impl<'a> Spans<'a> {
    pub(crate) fn new(axis: Axis<'a>, base: u64, len: u64) -> Self {
        Self { axis, base, len }
    }
}

impl<'a> Iterator for Spans<'a> {
    type Item = Span<'a>;

    fn next(&mut self) -> Option<Span<'a>> {
        let number = (self.axis.first()? - self.base) / self.len;
        let origin = self.base + number * self.len;
        let (axis, rest) = self.axis.split(origin.saturating_add(self.len));
        self.axis = rest;
        Some(Span { number, origin, axis })
    }
}

/// All combinations of the spans of several dimensions, in C order.
#[derive(Clone, Debug)]
pub(crate) struct Product<'a> {
    starts: Vec<Spans<'a>>,
    running: Vec<Spans<'a>>,
    next: Option<Vec<Span<'a>>>,
}

impl<'a> Product<'a> {
    pub(crate) fn new(starts: Vec<Spans<'a>>) -> Self {
        let mut running = starts.clone();
        let next = running.iter_mut().map(Iterator::next).collect();
        Self { starts, running, next }
    }
}

impl<'a> Iterator for Product<'a> {
    type Item = Vec<Span<'a>>;

    fn next(&mut self) -> Option<Vec<Span<'a>>> {
        let now = self.next.take()?;
        let mut next = now.clone();
        for ((span, running), start) in
            next.iter_mut().zip(&mut self.running).zip(&self.starts).rev()
        {
            if let Some(following) = running.next() {
                *span = following;
                self.next = Some(next);
                break;
            }
            *running = *start;
            *span = running.next()?;
        }
        Some(now)
    }
}

/// The selected items of one block, and the strides in the block and in the selection: bytes from
/// one position to the next in each dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    pub spans: &'a [Span<'a>],
    pub in_block: &'a [u64],
    /// Strides in the selection.
    pub in_wanted: &'a [u64],
}

impl Parts<'_> {
    /// The first dimension, and the others.
    fn split_first(&self) -> Option<((Span<'_>, u64, u64), Self)> {
        let (span, spans) = self.spans.split_first()?;
        let (from, in_block) = self.in_block.split_first()?;
        let (to, in_wanted) = self.in_wanted.split_first()?;
        Some(((*span, *from, *to), Self { spans, in_block, in_wanted }))
    }
}

/// Calls `copy` for each row of the selected parts of a block: byte in the block, byte in the
/// selection, length (bytes).
pub(crate) fn for_each_row(parts: Parts<'_>, copy: &mut impl FnMut(u64, u64, u64)) {
    for_each_row_at(parts, (0, 0), copy);
}

fn for_each_row_at(parts: Parts<'_>, at: (u64, u64), copy: &mut impl FnMut(u64, u64, u64)) {
    let Some(((span, from, to), rest)) = parts.split_first() else { return };
    let is_last = rest.spans.is_empty();
    span.axis.for_each_run(|position, place, count| {
        let at = (at.0 + (position - span.origin) * from, at.1 + place * to);
        if is_last {
            copy(at.0, at.1, count * from);
            return;
        }
        (0..count).for_each(|n| for_each_row_at(rest, (at.0 + n * from, at.1 + n * to), copy));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(axis: Axis<'_>) -> Vec<(u64, u64)> {
        let mut places = vec![];
        axis.for_each_run(|position, place, count| {
            places.extend((0..count).map(|n| (position + n, place + n)));
        });
        places
    }

    #[test]
    fn an_axis_is_cut_where_chunks_and_blocks_end() {
        let axis = Axis::Steps(Steps { start: 1, step: 3, count: 4, to: 3, down: true });
        let chunks: Vec<_> = Spans::new(axis, 0, 6).collect();
        assert_eq!(
            chunks.iter().map(|s| (s.number, s.origin)).collect::<Vec<_>>(),
            [(0, 0), (1, 6)]
        );
        assert_eq!(places(chunks[0].axis), [(1, 3), (4, 2)]);
        let blocks: Vec<_> = Spans::new(chunks[1].axis, chunks[1].origin, 4).collect();
        assert_eq!(
            blocks.iter().map(|s| (s.number, s.origin)).collect::<Vec<_>>(),
            [(0, 6), (1, 10)]
        );
        assert_eq!(places(blocks[1].axis), [(10, 0)]);
    }

    #[test]
    fn a_list_is_cut_like_a_slice() {
        let list = [(2, 5), (3, 6), (3, 0), (9, 1)];
        let spans: Vec<_> = Spans::new(Axis::List(&list), 0, 4).collect();
        assert_eq!(spans.len(), 2);
        assert_eq!(places(spans[0].axis), list[..3]);
        assert_eq!((spans[1].number, spans[1].origin, spans[1].axis.count()), (2, 8, 1));
    }

    #[test]
    fn spans_without_positions_are_left_out() {
        let far = Axis::Steps(Steps { start: 5, step: 100, count: 3, to: 0, down: false });
        let numbers: Vec<u64> = Spans::new(far, 0, 10).map(|span| span.number).collect();
        assert_eq!(numbers, [0, 10, 20]);
        assert_eq!(Product::new(vec![Spans::new(Axis::Steps(Steps::run(0, 0)), 0, 4)]).count(), 0);
    }

    #[test]
    fn products_are_in_c_order() {
        let spans = |count| Spans::new(Axis::Steps(Steps::run(0, count)), 0, 2);
        let numbers: Vec<Vec<u64>> = Product::new(vec![spans(3), spans(4)])
            .map(|spans| spans.iter().map(|span| span.number).collect())
            .collect();
        assert_eq!(numbers, [[0, 0], [0, 1], [1, 0], [1, 1]]);
    }

    #[test]
    fn rows_are_copied_as_far_as_they_reach() {
        let span = |start, count| Span {
            number: 0,
            origin: 0,
            axis: Axis::Steps(Steps::run(start, count)),
        };
        let mut rows = vec![];
        let spans = [span(1, 2), span(2, 3)];
        let parts = Parts { spans: &spans, in_block: &[16, 2], in_wanted: &[6, 2] };
        for_each_row(parts, &mut |b, w, n| rows.push((b, w, n)));
        assert_eq!(rows, [(20, 0, 6), (36, 6, 6)]);
    }
}
