//! Reads parts of an array: slices, lists of positions, single items.
//!
//! Their common code is in `nd/blocks.rs`.

use blosc_io::zeroed;

use super::array::NdArray;
use super::axis::{Axis, Steps};
use super::blocks::{Block, BlockReader, BoxBlocks, Memory, Wanted, blocks_at_a_time};
use super::geometry::{as_len, unravel};
use super::item::Place;
use super::{NdParam, Selection};
use crate::error::{Limited, Param, Result};
use crate::schunk::{ChunkRanges, check_limit};

impl NdArray {
    /// Fills `dest` with a part of the array in C order; `dest` has the length of the part.
    ///
    /// # Errors
    /// [`Param::Nd`] if the part is outside of the array, [`Param::BufferLen`],
    /// [`Error::Limit`](crate::Error::Limit) if a block does not fit into half of
    /// [`Budget::max_memory`](crate::Budget::max_memory) twice, or the error of a chunk.
    pub fn read_bytes(&self, selection: impl Into<Selection>, dest: &mut [u8]) -> Result<()> {
        let steps = selection.into().resolve(self.shape())?;
        let axes: Vec<_> = steps.into_iter().map(Axis::Steps).collect();
        self.read_axes(&axes, dest)
    }

    /// Reads a part of the array in C order.
    ///
    /// # Errors
    /// As [`read_bytes`](Self::read_bytes), and [`Error::Limit`](crate::Error::Limit) if the part
    /// has more bytes than [`Limits::max_nbytes`](blosc_chunk::Limits::max_nbytes) in the options
    /// of the array.
    pub fn to_bytes(&self, selection: impl Into<Selection>) -> Result<Vec<u8>> {
        let steps = selection.into().resolve(self.shape())?;
        let axes: Vec<_> = steps.into_iter().map(Axis::Steps).collect();
        let mut dest = zeroed(self.checked_len(&axes)?);
        self.read_axes_to(Memory::New, &axes, &mut dest)?;
        Ok(dest)
    }

    /// Reads a part of the array in C order to position `from` of `dest`, and cuts `dest` after it.
    /// Memory of `dest` is kept and not zeroed first: a caller that reads many parts saves the cost
    /// of new memory.
    ///
    /// # Errors
    /// As [`to_bytes`](Self::to_bytes). The content of `dest` from `from` on then has no meaning.
    ///
    /// # Panics
    /// If `dest` has fewer than `from` bytes.
    pub fn read_to_vec(
        &self,
        selection: impl Into<Selection>,
        dest: &mut Vec<u8>,
        from: usize,
    ) -> Result<()> {
        assert!(from <= dest.len(), "bytes before the part");
        let steps = selection.into().resolve(self.shape())?;
        let axes: Vec<_> = steps.into_iter().map(Axis::Steps).collect();
        let nbytes = self.checked_len(&axes)?;
        if from == 0 && dest.capacity() < nbytes {
            *dest = zeroed(nbytes);
            return self.read_axes_to(Memory::New, &axes, dest);
        }
        dest.resize(from.saturating_add(nbytes), 0);
        let (_, part) = dest.split_at_mut(from);
        self.read_axes(&axes, part)
    }

    /// Fills `dest` with the items at all combinations of these positions, one list for each
    /// dimension: NumPy's `a[np.ix_(..)]`. Positions may be unsorted and repeated.
    ///
    /// # Errors
    /// As [`read_bytes`](Self::read_bytes).
    pub fn read_oindex_bytes(&self, positions: &[&[u64]], dest: &mut [u8]) -> Result<()> {
        let lists = lists(self.shape(), positions)?;
        let axes: Vec<_> = lists.iter().map(|list| Axis::List(list)).collect();
        self.read_axes(&axes, dest)
    }

    /// Fills `dest` with single items, given by their numbers in C order. The numbers may be
    /// unsorted and repeated.
    ///
    /// # Errors
    /// [`NdParam::Item`], or as [`read_bytes`](Self::read_bytes).
    pub fn gather_bytes(&self, items: &[u64], dest: &mut [u8]) -> Result<()> {
        let typesize = self.typesize();
        check_len(dest, (items.len() as u64).saturating_mul(typesize as u64))?;
        let mut points: Vec<Point> = Vec::with_capacity(items.len());
        for (to, &item) in items.iter().enumerate() {
            if item >= self.nitems() {
                return Err(NdParam::Item { item, nitems: self.nitems() }.into());
            }
            points.push(Point {
                from: self.geometry.place(&unravel(item, self.geometry.shape())),
                to,
            });
        }
        points.sort_unstable();
        let reader = self.reader();
        let budget = reader.budget(dest.len() as u64);
        let max = blocks_at_a_time(&self.geometry, budget.share(4));
        let blocks: Vec<&[Point]> = points.chunk_by(Point::is_in_block).collect();
        let wanted =
            blocks.chunk_by(|a, b| nchunk(a) == nchunk(b)).flat_map(|blocks| blocks.chunks(max));
        let wanted = wanted.map(|blocks| {
            let numbered =
                blocks.iter().filter_map(|points| Some((points.first()?.from.nblock, *points)));
            Wanted {
                nchunk: blocks.first().map_or(0, |points| nchunk(points)),
                blocks: numbered.collect(),
            }
        });
        reader.read_blocks(&budget, wanted, |points: &&[Point], block: &mut Block<'_, '_>| {
            let (first, last) = (points.first(), points.last());
            let byte = |point: &Point| as_len(point.from.byte);
            let start = first.map_or(0, byte);
            let data = block.part(start..last.map_or(0, byte).saturating_add(typesize))?;
            for point in *points {
                let from = byte(point).saturating_sub(start);
                copy(data, from, dest, point.to.saturating_mul(typesize), typesize);
            }
            Ok(())
        })
    }

    /// Announces to far storage the headers and block starts of the chunks of a part; does not
    /// wait. Reading a part does this by itself. A caller that reads parts of several arrays
    /// announces all of them first, so that they share a round: first the heads of all arrays, then
    /// their blocks.
    pub fn prefetch_heads(&self, selection: impl Into<Selection>) {
        let parts = self.parts_to_announce(selection.into());
        self.schunk.announce_heads(&parts, Some(self.geometry.block_nbytes()));
    }

    /// Announces the blocks of a part; waits for its heads.
    pub fn prefetch_blocks(&self, selection: impl Into<Selection>) {
        let parts = self.parts_to_announce(selection.into());
        let longer = self.schunk.announce_heads(&parts, Some(self.geometry.block_nbytes()));
        self.schunk.announce_blocks(&longer);
    }

    /// The byte ranges for a part, as many as far storage takes at a time.
    fn parts_to_announce(&self, selection: Selection) -> Vec<ChunkRanges> {
        let limit = self.schunk.prefetch_limit();
        let Ok(steps) = selection.resolve(self.shape()) else { return vec![] };
        let axes: Vec<_> = steps.into_iter().map(Axis::Steps).collect();
        if limit == 0 || self.nbytes_of(&axes) == 0 {
            return vec![];
        }
        let axes = self.stored_axes(&axes);
        self.reader().first_parts(&mut BoxBlocks::new(&self.geometry, &axes, u64::MAX), limit)
    }

    /// Length of the selection of these axes, if the memory limit allows it (bytes).
    pub(super) fn checked_len(&self, axes: &[Axis<'_>]) -> Result<usize> {
        let nbytes = self.nbytes_of(axes);
        check_limit(Limited::Memory, nbytes, self.schunk.dparams().limits.max_nbytes)?;
        Ok(as_len(nbytes))
    }

    /// Length of the selection of these axes (bytes).
    pub(super) fn nbytes_of(&self, axes: &[Axis<'_>]) -> u64 {
        let nitems = axes.iter().fold(1_u64, |nitems, axis| nitems.saturating_mul(axis.count()));
        nitems.saturating_mul(self.typesize() as u64)
    }

    /// Fills `dest` with the selection of the axes, one for each dimension that is shown.
    pub(super) fn read_axes(&self, axes: &[Axis<'_>], dest: &mut [u8]) -> Result<()> {
        self.read_axes_to(Memory::Kept, axes, dest)
    }

    /// As [`read_axes`](Self::read_axes), to memory of this kind.
    pub(super) fn read_axes_to(
        &self,
        memory: Memory,
        axes: &[Axis<'_>],
        dest: &mut [u8],
    ) -> Result<()> {
        let nbytes = self.nbytes_of(axes);
        check_len(dest, nbytes)?;
        if nbytes == 0 {
            return Ok(());
        }
        match self.single_item(axes) {
            Some(index) => self.read_item(&index, dest)?,
            None => self.reader().read(&self.stored_axes(axes), dest, memory)?,
        }
        // As many items as the array has: most likely all of them.
        if nbytes == self.nbytes() { self.schunk.compare_seal() } else { Ok(()) }
    }

    pub(super) fn reader(&self) -> BlockReader<'_> {
        BlockReader { schunk: &self.schunk, geometry: &self.geometry, options: &self.options }
    }

    /// The axes of all stored dimensions; dimensions that a view hides have one position.
    fn stored_axes<'a>(&self, axes: &[Axis<'a>]) -> Vec<Axis<'a>> {
        let one = Axis::Steps(Steps::run(0, 1));
        let mut stored = vec![one; self.geometry.shape().len()];
        for (dim, axis) in self.dims.iter().zip(axes) {
            if let Some(place) = dim.and_then(|dim| stored.get_mut(dim)) {
                *place = *axis;
            }
        }
        stored
    }
}

/// The position of an item, and its place in the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    from: Place,
    /// Number of the item in the selection.
    to: usize,
}

impl Point {
    fn is_in_block(&self, other: &Self) -> bool {
        (self.from.nchunk, self.from.nblock) == (other.from.nchunk, other.from.nblock)
    }
}

/// The common chunk of these points.
fn nchunk(points: &[Point]) -> u64 {
    points.first().map_or(0, |point| point.from.nchunk)
}

/// Positions in ascending order with their places in the selection, for each dimension.
pub(super) fn lists(shape: &[u64], positions: &[&[u64]]) -> Result<Vec<Vec<(u64, u64)>>> {
    let (given, ndim) = (positions.len(), shape.len());
    if given != ndim {
        return Err(NdParam::Dims { given, ndim }.into());
    }
    let list = |(dim, (list, &len)): (usize, (&&[u64], &u64))| {
        if let Some(&outside) = list.iter().find(|position| **position >= len) {
            let index = i64::try_from(outside).unwrap_or(i64::MAX);
            return Err(NdParam::Index { dim, index, len }.into());
        }
        let mut pairs: Vec<_> = list.iter().copied().zip(0..).collect();
        pairs.sort_unstable();
        Ok(pairs)
    };
    positions.iter().zip(shape).enumerate().map(list).collect()
}

/// Copies `len` bytes.
fn copy(src: &[u8], from: usize, dest: &mut [u8], to: usize, len: usize) {
    let src = src.get(from..from.saturating_add(len));
    let dest = dest.get_mut(to..to.saturating_add(len));
    if let Some((src, dest)) = src.zip(dest) {
        dest.copy_from_slice(src);
    }
}

fn check_len(dest: &[u8], expected: u64) -> Result<()> {
    let len = dest.len() as u64;
    if len == expected { Ok(()) } else { Err(Param::BufferLen { len, expected }.into()) }
}
