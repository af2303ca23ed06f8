//! Boxes of arrays: one range of items for each dimension, as large as the memory allows, with
//! edges at chunk borders where possible.
//!
//! [`Stored`] is an array whose items lie uncompressed in a file, in C or Fortran order. Its boxes
//! are in C order.

use core::ops::Range;
use std::io::{self, Read};
use std::sync::Arc;

use b2frame::nd::{Pick, Selection};
use blosc_io::ReadAt;

use crate::error::{Doing, Error, Result};
use crate::size::{as_len, nbytes, zeroed};

/// One range (items) per dimension.
pub type Bounds = Vec<Range<u64>>;

/// The boxes that together form an array.
#[derive(Clone, Debug)]
pub struct Boxes {
    shape: Vec<u64>,
    /// Lengths of a box; boxes at the end may be shorter.
    lens: Vec<u64>,
    /// The start of the next box; `None` after the last.
    next: Option<Vec<u64>>,
}

impl Boxes {
    /// Boxes of whole chunks, as large as `budget` bytes allow, and at least one chunk.
    #[must_use]
    pub fn new(shape: &[u64], chunkshape: &[u32], itemsize: u64, budget: u64) -> Self {
        let mut lens: Vec<u64> = chunkshape
            .iter()
            .zip(shape)
            .map(|(len, whole)| u64::from(*len).clamp(1, (*whole).max(1)))
            .collect();
        for dim in (0..shape.len()).rev() {
            let chunks = (budget / nbytes(itemsize, &lens).max(1)).max(1);
            lens[dim] = lens[dim].saturating_mul(chunks).min(shape[dim].max(1));
            if lens[dim] < shape[dim] {
                break;
            }
        }
        let next = (!shape.contains(&0)).then(|| vec![0; shape.len()]);
        Self { shape: shape.to_vec(), lens, next }
    }

    /// Whether the boxes follow each other in C order, so that a stream can fill them.
    #[must_use]
    pub fn are_row_ranges(&self) -> bool {
        // Row ranges have length 1 in all dimensions before the last one that is cut.
        let cut =
            (0..self.shape.len()).rfind(|dim| self.lens[*dim] < self.shape[*dim]).unwrap_or(0);
        self.lens[..cut].iter().all(|len| *len == 1)
    }

    /// Bytes of the largest box.
    #[must_use]
    pub fn nbytes(&self, itemsize: u64) -> u64 {
        nbytes(itemsize, &self.lens)
    }
}

impl Iterator for Boxes {
    type Item = Bounds;

    fn next(&mut self) -> Option<Bounds> {
        let mut start = self.next.take()?;
        let ends = start.iter().zip(&self.lens).zip(&self.shape);
        let bounds = ends.map(|((start, len), whole)| *start..(*start + len).min(*whole)).collect();
        for dim in (0..start.len()).rev() {
            start[dim] += self.lens[dim];
            if start[dim] < self.shape[dim] {
                self.next = Some(start);
                break;
            }
            start[dim] = 0;
        }
        Some(bounds)
    }
}

/// The boxes of a range of items in C order, up to chunk borders as far as the memory allows.
#[derive(Clone, Debug)]
pub struct RowMajor {
    shape: Vec<u64>,
    chunkshape: Vec<u64>,
    /// The remaining items.
    items: Range<u64>,
    max_items: u64,
}

impl RowMajor {
    /// Boxes of at most `max_items` items, for the range `items` of an array of this shape.
    #[must_use]
    pub fn new(shape: &[u64], chunkshape: &[u32], items: Range<u64>, max_items: u64) -> Self {
        let chunkshape = chunkshape.iter().map(|len| u64::from(*len).max(1)).collect();
        Self { shape: shape.to_vec(), chunkshape, items, max_items: max_items.max(1) }
    }
}

impl Iterator for RowMajor {
    type Item = Bounds;

    fn next(&mut self) -> Option<Bounds> {
        let left = self.items.end.checked_sub(self.items.start).filter(|left| *left > 0)?;
        let most = left.min(self.max_items);
        // Take the outermost dimension of which whole positions begin here and fit.
        let mut bounds: Bounds = self.shape.iter().map(|len| 0..*len).collect();
        let (mut stride, mut at) = (1u64, self.items.start);
        let mut is_inner_whole = true;
        for dim in (0..self.shape.len()).rev() {
            let (len, chunk) = (self.shape[dim].max(1), self.chunkshape[dim]);
            let position = at % len;
            let mut end = position + 1;
            if is_inner_whole {
                end = position + (most / stride).clamp(1, len - position);
                let at_chunk = end - end % chunk;
                end = if end < len && at_chunk > position { at_chunk } else { end };
                is_inner_whole = position == 0 && end == len;
            }
            bounds[dim] = position..end;
            stride = stride.saturating_mul(len);
            at /= len;
        }
        self.items.start = self.items.start.saturating_add(count(&bounds)).min(self.items.end);
        Some(bounds)
    }
}

/// Items of a box.
#[must_use]
pub fn count(bounds: &[Range<u64>]) -> u64 {
    bounds.iter().map(|range| range.end - range.start).product()
}

/// A box as a selection.
#[must_use]
pub fn selection(bounds: &[Range<u64>]) -> Selection {
    bounds.iter().map(|range| Pick::from(range.clone())).collect::<Vec<_>>().into()
}

/// The items of an array.
pub enum BoxSource {
    /// A stream of items in C order.
    Stream(Box<dyn Read>),
    /// A file.
    File(Stored),
}

/// An array in a file.
#[derive(Clone)]
pub struct Stored {
    /// The file.
    pub store: Arc<dyn ReadAt>,
    /// Start of the items (bytes).
    pub start: u64,
    /// Items per dimension.
    pub shape: Vec<u64>,
    /// Bytes of an item.
    pub itemsize: u64,
    /// Whether the first dimension varies fastest, instead of the last.
    pub fortran_order: bool,
}

impl core::fmt::Debug for Stored {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut fields = f.debug_struct("Stored");
        fields.field("start", &self.start).field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl BoxSource {
    /// Fills `dest` with the items of a box in C order. A stream gives boxes in their order only.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub fn fill(&mut self, bounds: &[Range<u64>], dest: &mut [u8]) -> Result<()> {
        match self {
            Self::Stream(reader) => reader.read_exact(dest).map_err(Error::io(Doing::Read)),
            Self::File(stored) => stored.fill_box(bounds, dest),
        }
    }

    /// Checks that a stream ended with its last item, at byte `expected`.
    ///
    /// # Errors
    ///
    /// When the stream has more bytes.
    pub fn finish(self, expected: u64) -> Result<()> {
        let Self::Stream(mut reader) = self else { return Ok(()) };
        let more = io::copy(&mut reader, &mut io::sink()).map_err(Error::io(Doing::Read))?;
        match more {
            0 => Ok(()),
            more => Err(Error::ArrayLen { expected, found: expected.saturating_add(more) }),
        }
    }
}

impl Stored {
    /// Fills `dest` with the items of a box in C order.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub fn fill_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> Result<()> {
        if self.fortran_order {
            return self.fill_transposed(bounds, dest);
        }
        let read = &mut |at: u64, piece: &mut [u8]| self.read(at, piece);
        read_runs(&self.shape, self.itemsize, bounds, dest, read)
    }

    /// Fills a box from Fortran order: runs of the first dimension lie together in the file, but
    /// far apart in the box.
    fn fill_transposed(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> Result<()> {
        let Some((first, others)) = bounds.split_first() else { return self.read(0, dest) };
        let strides = strides(self.shape.iter(), self.itemsize);
        let itemsize = as_len(self.itemsize);
        let row = as_len(count(others)).saturating_mul(itemsize);
        let mut run = zeroed((first.end - first.start).saturating_mul(self.itemsize))?;
        for (column, at) in Positions::new(others, &strides[1..]).enumerate() {
            self.read(at + first.start * self.itemsize, &mut run)?;
            for (item, row) in run.chunks_exact(itemsize).zip(dest.chunks_exact_mut(row)) {
                row[column * itemsize..][..itemsize].copy_from_slice(item);
            }
        }
        Ok(())
    }

    /// Fills `dest` with the bytes of items from byte `at` on.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub fn read(&self, at: u64, dest: &mut [u8]) -> Result<()> {
        self.store.read_exact_at(self.start + at, dest).map_err(Error::io(Doing::Read))
    }
}

/// Fills a buffer with the bytes from a position on.
pub type Fill<'a, E> = &'a mut dyn FnMut(u64, &mut [u8]) -> Result<(), E>;

/// Reads a box of items stored in C order, run by run: along the last dimensions, items lie
/// together in the file and in the box. `read` fills its buffer from a byte position.
///
/// # Errors
///
/// Errors of `read`.
pub fn read_runs<E>(
    shape: &[u64],
    itemsize: u64,
    bounds: &[Range<u64>],
    mut dest: &mut [u8],
    read: Fill<'_, E>,
) -> Result<(), E> {
    let strides = strides(shape.iter().rev(), itemsize);
    let strides: Vec<u64> = strides.into_iter().rev().collect();
    let is_full = |dim: &usize| count(&bounds[*dim..=*dim]) == shape[*dim];
    let cut = (0..bounds.len()).rfind(|dim| !is_full(dim)).unwrap_or(0);
    let run = bounds[cut.min(bounds.len())..]
        .iter()
        .map(|range| range.end - range.start)
        .product::<u64>();
    let run = as_len(run.saturating_mul(itemsize));
    let first = bounds.get(cut).map_or(0, |range| range.start * strides[cut]);
    for at in Positions::new(&bounds[..cut.min(bounds.len())], &strides) {
        let (piece, rest) = dest.split_at_mut(run.min(dest.len()));
        read(at + first, piece)?;
        dest = rest;
    }
    Ok(())
}

/// Bytes from one item to the next in each dimension; the first varies fastest.
fn strides<'a>(lens: impl Iterator<Item = &'a u64>, itemsize: u64) -> Vec<u64> {
    let mut stride = itemsize;
    let next = |len: &u64| {
        let this = stride;
        stride = stride.saturating_mul(*len);
        this
    };
    lens.map(next).collect()
}

/// The positions (bytes) of all items of a box, in C order.
struct Positions<'a> {
    bounds: &'a [Range<u64>],
    strides: &'a [u64],
    next: Option<Vec<u64>>,
}

impl<'a> Positions<'a> {
    fn new(bounds: &'a [Range<u64>], strides: &'a [u64]) -> Self {
        Self { bounds, strides, next: Some(bounds.iter().map(|range| range.start).collect()) }
    }
}

impl Iterator for Positions<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let mut index = self.next.take()?;
        let at = index.iter().zip(self.strides).map(|(index, stride)| index * stride).sum();
        for dim in (0..index.len()).rev() {
            index[dim] += 1;
            if index[dim] < self.bounds[dim].end {
                self.next = Some(index);
                break;
            }
            index[dim] = self.bounds[dim].start;
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_of_a_range_follow_each_other_in_c_order() {
        let shape = [3, 4, 5];
        let position = |at: &[u64]| (at[0] * 4 + at[1]) * 5 + at[2];
        for (items, max_items) in [(0..60, 60), (0..60, 7), (7..53, 100), (13..14, 1), (5..60, 20)]
        {
            let mut next = items.start;
            for bounds in RowMajor::new(&shape, &[2, 3, 2], items.clone(), max_items) {
                let [a, b, c] = &bounds[..] else { panic!("three dimensions") };
                assert!(count(&bounds) <= max_items, "{bounds:?}");
                for i in a.clone() {
                    for j in b.clone() {
                        for k in c.clone() {
                            assert_eq!(position(&[i, j, k]), next, "{bounds:?}");
                            next += 1;
                        }
                    }
                }
            }
            assert_eq!(next, items.end);
        }
        assert_eq!(RowMajor::new(&[], &[], 0..1, 9).collect::<Vec<_>>(), [vec![]]);
        let whole: Vec<_> = RowMajor::new(&shape, &[2, 3, 2], 0..60, 1000).collect();
        assert_eq!(whole, [vec![0..3, 0..4, 0..5]]);
    }
    use blosc_io::MemStore;

    /// A file in either order, where the value of each item is its number in C order.
    fn stored(shape: &[u64], fortran_order: bool) -> Stored {
        let nitems = shape.iter().product::<u64>();
        let mut items = vec![0u16; usize::try_from(nitems).unwrap()];
        let whole: Bounds = shape.iter().map(|len| 0..*len).collect();
        let strides = strides(shape.iter(), 1);
        for (number, at) in Positions::new(&whole, &strides).enumerate() {
            let position = if fortran_order { usize::try_from(at).unwrap() } else { number };
            items[position] = u16::try_from(number).unwrap();
        }
        let bytes: Vec<u8> =
            [9].into_iter().chain(items.iter().flat_map(|item| item.to_le_bytes())).collect();
        let store = Arc::new(MemStore::new(bytes));
        Stored { store, start: 1, shape: shape.to_vec(), itemsize: 2, fortran_order }
    }

    #[test]
    fn boxes_of_both_orders_have_the_same_items_and_cover_all() {
        for shape in [&[7, 5, 6][..], &[4], &[1, 9], &[3, 1, 1, 4], &[]] {
            for budget in [1, 20, 64, 100_000] {
                let chunkshape = vec![2; shape.len()];
                let mut seen = 0;
                for bounds in Boxes::new(shape, &chunkshape, 2, budget) {
                    let nbytes = usize::try_from(2 * count(&bounds)).unwrap();
                    let (mut c, mut fortran) = (vec![0; nbytes], vec![0; nbytes]);
                    BoxSource::File(stored(shape, false)).fill(&bounds, &mut c).unwrap();
                    BoxSource::File(stored(shape, true)).fill(&bounds, &mut fortran).unwrap();
                    assert_eq!(c, fortran, "{bounds:?} of {shape:?}");
                    seen += count(&bounds);
                }
                assert_eq!(seen, shape.iter().product::<u64>(), "{shape:?}");
            }
        }
        assert_eq!(Boxes::new(&[3, 0], &[1, 1], 2, 100).count(), 0);
    }

    #[test]
    fn row_ranges_follow_each_other() {
        let bands = |shape: &[u64], chunks: &[u32], budget| {
            Boxes::new(shape, chunks, 1, budget).are_row_ranges()
        };
        assert!(bands(&[10, 20], &[2, 20], 40));
        assert!(bands(&[10, 20], &[2, 5], 40));
        assert!(!bands(&[10, 20], &[2, 5], 10));
        assert!(bands(&[10, 20], &[1, 5], 10));
        assert!(bands(&[10], &[3], 1));
        assert!(bands(&[], &[], 1));
    }
}
