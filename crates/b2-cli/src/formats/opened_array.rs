//! Parts of arrays of other formats, which give boxes.

use core::ops::Range;

use b2frame::Budget;

use crate::{
    error::{Doing, Error, Result},
    formats::stored_array::count,
    inputs::{Sink, decoded::boxes},
    memory,
    opener::OpenedArray,
};

/// Bytes of the items.
pub(crate) fn nbytes(array: &dyn OpenedArray) -> u64 {
    let itemsize = array.dtype().itemsize() as u64;
    memory::nbytes(itemsize, array.shape())
}

/// Bytes that it takes where it is stored; where that is not known, as many as without compression.
pub(crate) fn stored(array: &dyn OpenedArray) -> u64 {
    array.stored_nbytes().unwrap_or_else(|| nbytes(array))
}

/// Number of chunks; 1 for an array that is not stored in chunks.
pub(crate) fn nchunks(array: &dyn OpenedArray) -> u64 {
    let lens = array.shape().iter().zip(array.chunkshape());
    lens.fold(1, |n, (len, chunk)| n.saturating_mul(len.div_ceil((*chunk).max(1))))
}

/// Hands the bytes `range` of the items in C order to `sink`, box by box.
///
/// # Errors
///
/// When they cannot be read; or the error of `sink`.
pub(crate) fn part(
    array: &dyn OpenedArray,
    range: Range<u64>,
    options: &Budget,
    sink: Sink<'_>,
) -> Result<()> {
    let narrow = |len: &u64| u32::try_from(*len).unwrap_or(u32::MAX);
    let chunkshape: Vec<u32> = match array.chunkshape() {
        [] => vec![1; array.shape().len()],
        lens => lens.iter().map(narrow).collect(),
    };
    let grid = (array.shape(), &chunkshape[..], array.dtype().itemsize());
    boxes(grid, range, options, sink, |bounds, bytes| read(array, bounds, bytes))
}

/// Fills `dest` with the items at all combinations of positions, in C order.
///
/// # Errors
///
/// When they cannot be read.
pub(crate) fn read_at(
    array: &dyn OpenedArray,
    positions: &[&[u64]],
    dest: &mut [u8],
) -> Result<()> {
    let itemsize = array.dtype().itemsize();
    let runs: Vec<Vec<Run>> = positions.iter().map(|list| runs(list)).collect();
    let lens: Vec<usize> = positions.iter().map(|list| list.len()).collect();
    let mut bytes = vec![];
    for_each_combination(&runs, &mut vec![], &mut |combination| {
        let bounds: Vec<Range<u64>> = combination.iter().map(|run| run.bounds.clone()).collect();
        let nbytes = count(&bounds).saturating_mul(itemsize as u64);
        bytes.clear();
        bytes.resize(memory::as_len(nbytes), 0);
        read(array, &bounds, &mut bytes)?;
        let taken = Taken { combination, positions, lens: &lens, itemsize };
        taken.copy(0, 0, 0, &bytes, dest);
        Ok(())
    })
}

fn read(array: &dyn OpenedArray, bounds: &[Range<u64>], dest: &mut [u8]) -> Result<()> {
    array.read(bounds, dest).map_err(Error::of_opener(Doing::Read))
}

/// Positions of a list that are read at once.
struct Run {
    /// The items that hold them.
    bounds: Range<u64>,
    /// Where they are in the list.
    places: Range<usize>,
}

/// Positions that are at most this far apart are read together with what lies between.
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

/// What is taken out of a box.
struct Taken<'a> {
    combination: &'a [&'a Run],
    positions: &'a [&'a [u64]],
    /// Positions per dimension in the destination.
    lens: &'a [usize],
    itemsize: usize,
}

impl Taken<'_> {
    /// Copies the items of dimension `dim` and those after it; `from` and `to` count items.
    fn copy(&self, dim: usize, from: usize, to: usize, bytes: &[u8], dest: &mut [u8]) {
        let Some(run) = self.combination.get(dim) else {
            let (from, to) = (from * self.itemsize, to * self.itemsize);
            dest[to..to + self.itemsize].copy_from_slice(&bytes[from..from + self.itemsize]);
            return;
        };
        let len = memory::as_len(run.bounds.end - run.bounds.start);
        for place in run.places.clone() {
            let inside = self.positions[dim][place] - run.bounds.start;
            let from = from * len + memory::as_len(inside);
            self.copy(dim + 1, from, to * self.lens[dim] + place, bytes, dest);
        }
    }
}
