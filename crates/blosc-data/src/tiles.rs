//! A part of an array as axes, and the tiles in which it is read.

use core::ops::Range;

use b2frame::nd::{Pick, Selection};
use blosc_dtype::numbers::NumberType;

use crate::error::{Error, Result};

/// The positions of a part along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The first position.
    pub start: u64,
    /// The distance between positions; negative for a reversed order.
    pub step: i64,
    /// The number of positions.
    pub len: u64,
    /// Whether a single position was chosen, which removes the dimension.
    pub is_index: bool,
}

impl Axis {
    /// Position number `n`.
    #[must_use]
    pub fn position(&self, n: u64) -> u64 {
        let way = n.saturating_mul(self.step.unsigned_abs());
        if self.step < 0 { self.start.saturating_sub(way) } else { self.start.saturating_add(way) }
    }

    /// The positions with the numbers `part`, along a dimension that is kept.
    #[must_use]
    pub fn part(&self, part: &Range<u64>) -> Self {
        let (start, len) = (self.position(part.start), part.end.saturating_sub(part.start));
        Self { start, step: self.step, len, is_index: false }
    }

    /// The axis as a slice.
    #[must_use]
    pub fn pick(&self) -> Pick {
        let number = |position: u64| i64::try_from(position).unwrap_or(i64::MAX);
        let last = number(self.position(self.len.saturating_sub(1)));
        let stop = match self.step {
            _ if self.len == 0 => Some(number(self.start)),
            ..0 => last.checked_sub(1).filter(|stop| *stop >= 0),
            _ => Some(last.saturating_add(1)),
        };
        Pick::Slice { start: Some(number(self.start)), stop, step: self.step }
    }

    /// The range from the lowest to the highest of the positions with the numbers `part`.
    #[must_use]
    pub fn cover(&self, part: &Range<u64>) -> Range<u64> {
        let (first, last) = (self.position(part.start), self.position(part.end.saturating_sub(1)));
        first.min(last)..first.max(last).saturating_add(1)
    }
}

/// The axes of a part of an array of shape `shape`.
///
/// # Errors
///
/// A selection that does not fit the array.
pub fn axes(picks: &[Pick], shape: &[u64]) -> Result<Vec<Axis>> {
    let to_error = |error| Error::from(b2frame::Error::from(error));
    let mut resolved = vec![];
    if picks.len() > shape.len() {
        Selection::from(picks.to_vec()).shape(shape).map_err(to_error)?;
    }
    for (dim, len) in shape.iter().enumerate() {
        let pick = picks.get(dim).copied().unwrap_or(Pick::ALL);
        // Selecting in all dimensions lets an error name the dimension.
        let mut whole = vec![Pick::slice(0, 0, 1); dim];
        whole.push(pick);
        let selection = Selection::from(whole);
        let mut positions = selection.positions(shape).map_err(to_error)?;
        let is_index = matches!(pick, Pick::Index(_));
        let count = selection.shape(shape).map_err(to_error)?.get(dim).copied().unwrap_or(0);
        let mut along = positions.swap_remove(dim);
        let first = along.next();
        let step = match (first, along.next()) {
            (Some(first), Some(second)) => {
                i64::try_from(i128::from(second) - i128::from(first)).unwrap_or(1)
            }
            _ => 1,
        };
        let len = match (is_index, first) {
            (true, _) => 1.min(*len),
            (false, None) => 0,
            (false, Some(_)) => count,
        };
        resolved.push(Axis { start: first.unwrap_or(0), step, len, is_index });
    }
    Ok(resolved)
}

/// The dimensions that are kept; if they are too many, without those of one position.
#[must_use]
pub fn kept(axes: &[Axis]) -> Vec<usize> {
    let left = |is_kept: &dyn Fn(&Axis) -> bool| -> Vec<usize> {
        (0..axes.len()).filter(|dim| is_kept(&axes[*dim])).collect()
    };
    let all = left(&|axis| !axis.is_index);
    let long = left(&|axis| !axis.is_index && axis.len > 1);
    if all.len() < 2 || long.is_empty() { all.into_iter().take(2).collect() } else { long }
}

/// The slice in brackets; empty for the whole.
#[must_use]
pub fn part_name(picks: &[Pick], ndim: usize) -> String {
    if picks.iter().all(|pick| *pick == Pick::ALL) {
        return String::new();
    }
    let end = |end: &Option<i64>| end.map(|end| end.to_string()).unwrap_or_default();
    let text = |pick: &Pick| match pick {
        Pick::Index(index) => index.to_string(),
        Pick::Slice { start, stop, step: 1 } => format!("{}:{}", end(start), end(stop)),
        Pick::Slice { start, stop, step } => format!("{}:{}:{step}", end(start), end(stop)),
    };
    let rest = ndim.saturating_sub(picks.len());
    let parts = picks.iter().map(text).chain(core::iter::repeat_n(":".to_owned(), rest));
    format!("[{}]", parts.collect::<Vec<_>>().join(", "))
}

/// The axes at each position of all kept dimensions but `along`, with their names. `None` if there
/// is no such dimension, or for more than `max` positions. A negative number counts from the end.
#[must_use]
pub fn each_along(axes: &[Axis], along: i64, max: u64) -> Option<Vec<(String, Vec<Axis>)>> {
    let stay: Vec<usize> = (0..axes.len()).filter(|dim| !axes[*dim].is_index).collect();
    let from_end = if along < 0 { stay.len() as i64 } else { 0 };
    let along = *stay.get(usize::try_from(along.checked_add(from_end)?).ok()?)?;
    let others: Vec<usize> = stay.into_iter().filter(|dim| *dim != along).collect();
    let count = others.iter().try_fold(1_u64, |count, dim| count.checked_mul(axes[*dim].len))?;
    (count <= max).then_some(())?;
    let one = |n: u64| {
        let (mut rest, mut at) = (n, axes.to_vec());
        for dim in others.iter().rev() {
            let position = axes[*dim].position(rest % axes[*dim].len.max(1));
            rest /= axes[*dim].len.max(1);
            at[*dim] = Axis { start: position, step: 1, len: 1, is_index: true };
        }
        let picks = at.iter().enumerate().map(|(dim, axis)| match dim == along {
            true => Pick::ALL,
            false => Pick::from(i64::try_from(axis.start).unwrap_or(i64::MAX)),
        });
        (part_name(&picks.collect::<Vec<_>>(), axes.len()), at)
    };
    Some((0..count).map(one).collect())
}

/// Adds the numbers at the positions of a tile to `values`. `bytes` starts at the first number in
/// the box that covers the tile. `sizes`: bytes of an item, and of a number.
pub fn numbers_of_tile(
    number: NumberType,
    sizes: (usize, usize),
    axes: &[Axis],
    (tile, bounds): (&[Range<u64>], &[Range<u64>]),
    bytes: &[u8],
    values: &mut Vec<f64>,
) {
    let (itemsize, nbytes) = sizes;
    if axes.iter().all(|axis| axis.step == 1) {
        return number.extend(bytes, itemsize, nbytes, usize::MAX, values);
    }
    // Bytes from one position of the box to the next.
    let mut strides = vec![itemsize as u64; axes.len()];
    for dim in (1..axes.len()).rev() {
        let len = bounds[dim].end - bounds[dim].start;
        strides[dim - 1] = strides[dim].saturating_mul(len);
    }
    let mut index: Vec<u64> = tile.iter().map(|range| range.start).collect();
    loop {
        let start = index.iter().enumerate().fold(0u64, |at, (dim, n)| {
            let position = axes[dim].position(*n) - bounds[dim].start;
            at.saturating_add(position.saturating_mul(strides[dim]))
        });
        let item = usize::try_from(start).ok().and_then(|start| bytes.get(start..));
        number.extend(item.unwrap_or_default(), itemsize, nbytes, 1, values);
        let Some(dim) = (0..index.len()).rev().find(|dim| index[*dim] + 1 < tile[*dim].end) else {
            return;
        };
        index[dim] += 1;
        for inner in dim + 1..index.len() {
            index[inner] = tile[inner].start;
        }
    }
}

/// The tiles of a part, in C order.
#[derive(Debug)]
pub struct Tiles {
    /// The division of each axis.
    cuts: Vec<Cut>,
    /// The start of the next tile.
    next: Option<Vec<u64>>,
}

/// The division of an axis into ranges.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// Length of the first range, which ends at a chunk border.
    first: u64,
    /// Length of the other ranges.
    len: u64,
    whole: u64,
}

impl Cut {
    /// The range from this start on.
    fn range(&self, start: u64) -> Range<u64> {
        let len = if start == 0 { self.first } else { self.len };
        start..start.saturating_add(len).min(self.whole)
    }
}

impl Tiles {
    /// Tiles whose boxes have at most `max_items` items. Where possible, boxes are multiples of
    /// `box_lens`.
    #[must_use]
    pub fn new(axes: &[Axis], box_lens: &[u64], max_items: u64) -> Self {
        let step = |dim: usize| axes[dim].step.unsigned_abs().max(1);
        let cover = |lens: &[u64]| {
            let covers =
                lens.iter().enumerate().map(|(dim, len)| (len - 1).saturating_mul(step(dim)));
            covers.fold(1u64, |nitems, len| nitems.saturating_mul(len.saturating_add(1)))
        };
        let mut lens: Vec<u64> = (0..axes.len())
            .map(|dim| (box_lens[dim] / step(dim)).clamp(1, axes[dim].len.max(1)))
            .collect();
        for dim in 0..axes.len() {
            while lens[dim] > 1 && cover(&lens) > max_items {
                lens[dim] = lens[dim].div_ceil(2);
            }
        }
        for dim in (0..axes.len()).rev() {
            let times = (max_items / cover(&lens)).max(1);
            let mut grown = lens.clone();
            grown[dim] = lens[dim].saturating_mul(times).min(axes[dim].len.max(1));
            if cover(&grown) <= max_items {
                lens = grown;
            }
            if lens[dim] < axes[dim].len {
                break;
            }
        }
        let cut = |(axis, len): (&Axis, &u64)| {
            let first = if axis.step == 1 { len - axis.start % len } else { *len };
            Cut { first, len: *len, whole: axis.len }
        };
        let cuts = axes.iter().zip(&lens).map(cut).collect();
        let is_empty = axes.iter().any(|axis| axis.len == 0);
        Self { cuts, next: (!is_empty).then(|| vec![0; axes.len()]) }
    }
}

impl Iterator for Tiles {
    type Item = Vec<Range<u64>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut starts = self.next.take()?;
        let tile: Vec<Range<u64>> =
            starts.iter().zip(&self.cuts).map(|(start, cut)| cut.range(*start)).collect();
        for dim in (0..starts.len()).rev() {
            starts[dim] = tile[dim].end;
            if starts[dim] < self.cuts[dim].whole {
                self.next = Some(starts);
                break;
            }
            starts[dim] = 0;
        }
        Some(tile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_those_of_numpy() {
        let found = axes(&[Pick::Index(-1), Pick::ALL.step(-4)], &[5, 10, 3]).unwrap();
        let axis = |start, step, len, is_index| Axis { start, step, len, is_index };
        assert_eq!(found, [axis(4, 1, 1, true), axis(9, -4, 3, false), axis(0, 1, 3, false)]);
        assert_eq!(found[1].cover(&(1..3)), 1..6);
        assert_eq!(axes(&[Pick::slice(7, 3, 1)], &[9]).unwrap(), [axis(0, 1, 0, false)]);
        assert_eq!(axes(&[], &[]).unwrap(), []);
        assert!(axes(&[Pick::Index(5)], &[5]).is_err());
        assert!(axes(&[Pick::ALL, Pick::ALL], &[5]).is_err());
    }

    #[test]
    fn positions_of_the_other_dimensions_are_in_c_order() {
        let all = axes(&[Pick::Index(1)], &[4, 2, 3]).unwrap();
        let names = |along, max| {
            let each = each_along(&all, along, max)?.into_iter().map(|(name, _)| name);
            Some(each.collect::<Vec<_>>())
        };
        let rows = ["[1, :, 0]", "[1, :, 1]", "[1, :, 2]"].map(str::to_owned).to_vec();
        assert_eq!(names(0, 9), Some(rows));
        assert_eq!(names(-1, 9), Some(["[1, 0, :]", "[1, 1, :]"].map(str::to_owned).to_vec()));
        assert_eq!((names(2, 9), names(-3, 9), names(0, 2)), (None, None, None));
    }

    #[test]
    fn tiles_cover_every_position_once_and_fit() {
        let axis = |start, step, len| Axis { start, step, len, is_index: false };
        for (axes, lens, max_items) in [
            (vec![axis(3, 1, 50), axis(0, 1, 40)], vec![8, 16], 300),
            (vec![axis(3, 1, 50), axis(0, 1, 40)], vec![100, 100], 1),
            (vec![axis(90, -7, 13), axis(1, 3, 11)], vec![20, 5], 200),
            (vec![axis(0, 1, 1000)], vec![1], 64),
            (vec![], vec![], 9),
        ] {
            let mut seen = 0;
            for tile in Tiles::new(&axes, &lens, max_items) {
                let covers = axes.iter().zip(&tile).map(|(axis, part)| axis.cover(part));
                let box_items: u64 = covers.map(|range| range.end - range.start).product();
                assert!(box_items <= max_items, "{tile:?}");
                seen += tile.iter().map(|range| range.end - range.start).product::<u64>();
            }
            assert_eq!(seen, axes.iter().map(|axis| axis.len).product::<u64>());
        }
        let huge = [axis(0, 1, u64::MAX), axis(0, 1, u64::MAX)];
        assert_eq!(Tiles::new(&huge, &[1, 1], 100).take(5).count(), 5);
        assert_eq!(Tiles::new(&[axis(0, 1, 0)], &[1], 100).count(), 0);
    }
}
