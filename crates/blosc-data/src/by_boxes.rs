//! Selections for formats of arrays that only read boxes.

use core::ops::Range;

use crate::array::Array;
use crate::boxes::{RowMajor, count};
use crate::error::{Error, Param, Result};
use crate::size::{as_len, nbytes, resize};
use crate::{Budget, cut::cut};

/// Hands the bytes `range` of the items in C order to `sink`, box by box, within the memory of
/// `budget`.
///
/// # Errors
///
/// When the items cannot be read; the error of `sink`.
pub fn part<A: Array + ?Sized, E: From<Error>>(
    array: &A,
    range: Range<u64>,
    budget: &Budget,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let itemsize = array.dtype().itemsize().max(1) as u64;
    let items = range.start / itemsize..range.end.div_ceil(itemsize);
    let max_items = (budget.max_memory / 4 / itemsize).max(1);
    let mut cut = cut(range, items.start.saturating_mul(itemsize), sink);
    let mut bytes = vec![];
    for bounds in RowMajor::new(array.shape(), &edges(array), items, max_items) {
        resize(&mut bytes, count(&bounds).saturating_mul(itemsize))?;
        array.read_box(&bounds, &mut bytes)?;
        cut(&bytes)?;
    }
    Ok(())
}

/// Items per dimension of a chunk, if they fit 32 bits; ones for an array without chunks.
fn edges<A: Array + ?Sized>(array: &A) -> Vec<u32> {
    let narrow = |len: &u64| u32::try_from(*len).unwrap_or(u32::MAX);
    match array.chunkshape() {
        [] => vec![1; array.shape().len()],
        lens => lens.iter().map(narrow).collect(),
    }
}

/// Fills `dest` with the items at all combinations of positions, in C order.
///
/// # Errors
///
/// When they cannot be read.
pub(crate) fn read_at<A: Array + ?Sized>(
    array: &A,
    positions: &[&[u64]],
    dest: &mut [u8],
) -> Result<()> {
    let itemsize = array.dtype().itemsize();
    let runs: Vec<Vec<Run>> = positions.iter().map(|list| runs(list)).collect();
    let lens: Vec<usize> = positions.iter().map(|list| list.len()).collect();
    let mut bytes = vec![];
    for_each_combination(&runs, &mut vec![], &mut |combination| {
        let bounds: Vec<Range<u64>> = combination.iter().map(|run| run.bounds.clone()).collect();
        resize(&mut bytes, count(&bounds).saturating_mul(itemsize as u64))?;
        array.read_box(&bounds, &mut bytes)?;
        let taken = Taken { combination, positions, lens: &lens, itemsize };
        taken.copy(0, 0, 0, &bytes, dest);
        Ok(())
    })
}

/// Fills `dest` with single items, by their numbers in C order. Items close to each other in a row
/// are read in one box.
///
/// # Errors
///
/// [`Param::Range`] for a number beyond the last item; when items cannot be read.
pub(crate) fn gather<A: Array + ?Sized>(array: &A, items: &[u64], dest: &mut [u8]) -> Result<()> {
    let (shape, itemsize) = (array.shape(), array.dtype().itemsize());
    let nitems = nbytes(1, shape);
    let row = shape.last().copied().unwrap_or(1).max(1);
    let mut order: Vec<(u64, usize)> = items.iter().copied().zip(0..).collect();
    order.sort_unstable();
    if let Some((item, _)) = order.last().filter(|(item, _)| *item >= nitems) {
        let (start, end) = (*item, item.saturating_add(1));
        return Err(Param::Range { start, end, len: nitems }.into());
    }
    let is_near = |a: &(u64, usize), b: &(u64, usize)| {
        a.0 / row == b.0 / row && b.0.saturating_sub(a.0) <= MAX_GAP
    };
    let mut bytes = vec![];
    for near in order.chunk_by(is_near) {
        let (first, last) = (near.first().map_or(0, |it| it.0), near.last().map_or(0, |it| it.0));
        let mut bounds: Vec<Range<u64>> = vec![];
        let mut rest = first;
        for len in shape.iter().rev() {
            bounds.push(rest % len..rest % len + 1);
            rest /= len;
        }
        if let Some(fastest) = bounds.first_mut() {
            fastest.end = fastest.start + (last - first) + 1;
        }
        bounds.reverse();
        resize(&mut bytes, count(&bounds).saturating_mul(itemsize as u64))?;
        array.read_box(&bounds, &mut bytes)?;
        for (item, place) in near {
            let (from, to) = (as_len(item - first) * itemsize, place * itemsize);
            dest[to..to + itemsize].copy_from_slice(&bytes[from..from + itemsize]);
        }
    }
    Ok(())
}

/// Positions of a list that one read covers.
struct Run {
    /// The range of items that covers them.
    bounds: Range<u64>,
    /// The range of the list.
    places: Range<usize>,
}

/// Positions at most this far apart are read together, with the items in between.
const MAX_GAP: u64 = 4;

fn runs(list: &[u64]) -> Vec<Run> {
    let mut runs: Vec<Run> = vec![];
    for (place, position) in list.iter().copied().enumerate() {
        if let Some(Run { bounds, places }) = runs.last_mut() {
            let is_near = position.saturating_add(MAX_GAP) >= bounds.start
                && position < bounds.end.saturating_add(MAX_GAP);
            if is_near {
                *bounds = bounds.start.min(position)..bounds.end.max(position.saturating_add(1));
                places.end = place.saturating_add(1);
                continue;
            }
        }
        let bounds = position..position.saturating_add(1);
        runs.push(Run { bounds, places: place..place.saturating_add(1) });
    }
    runs
}

/// Calls `work` for all combinations of one run of each dimension.
fn for_each_combination<'a>(
    runs: &'a [Vec<Run>],
    chosen: &mut Vec<&'a Run>,
    work: &mut dyn FnMut(&[&Run]) -> Result<()>,
) -> Result<()> {
    let Some(of_dimension) = runs.get(chosen.len()) else { return work(chosen) };
    for run in of_dimension {
        chosen.push(run);
        for_each_combination(runs, chosen, work)?;
        chosen.pop();
    }
    Ok(())
}

/// The part of a box that is copied.
struct Taken<'a> {
    combination: &'a [&'a Run],
    positions: &'a [&'a [u64]],
    /// Positions per dimension in the destination.
    lens: &'a [usize],
    itemsize: usize,
}

impl Taken<'_> {
    /// Copies the items of dimension `dim` and later ones. `from` and `to` count items.
    fn copy(&self, dim: usize, from: usize, to: usize, bytes: &[u8], dest: &mut [u8]) {
        let Some(run) = self.combination.get(dim) else {
            let (from, to) = (from * self.itemsize, to * self.itemsize);
            dest[to..to + self.itemsize].copy_from_slice(&bytes[from..from + self.itemsize]);
            return;
        };
        let len = as_len(run.bounds.end - run.bounds.start);
        for place in run.places.clone() {
            let inside = self.positions[dim][place] - run.bounds.start;
            let from = from * len + as_len(inside);
            self.copy(dim + 1, from, to * self.lens[dim] + place, bytes, dest);
        }
    }
}
