//! Reading parts of an array: which blocks hold them, and where the items of a block go.
//!
//! Each chunk that is touched is a job for a thread: read what its wanted blocks need, decode them. One thread copies
//! the items of each block to where they belong while it is in the cache, or decodes it right there. Of several, the
//! caller's thread copies, so no two write to one buffer.

use core::ops::Range;

use super::array::NdArray;
use super::axis::{Axis, Product, Span, Spans, Steps};
use super::fetch::{Fetched, fetch, plan_ranges};
use super::geometry::{as_len, ravel, strides, unravel};
use super::rows::{Rows, read_rows};
use super::{Geometry, NdParam, Selection};
use crate::error::{Limited, Param, Result};
use crate::ordered::{Budget, Job, in_order};
use crate::params::count;
use crate::schunk::{Buffers, Scratch, check_limit};

/// A thread more is started for so many bytes of items.
const PER_THREAD: u64 = 256 << 10;

impl NdArray {
    /// Fills `dest` with a part of the array in C order; it has as many bytes as the part.
    ///
    /// # Errors
    /// [`Param::Nd`] if there is no such part, [`Param::BufferLen`], [`Error::Limit`](crate::Error::Limit) if a block
    /// does not fit into half of [`ReadOptions::max_memory`](crate::ReadOptions::max_memory) twice, or what is wrong
    /// with a chunk.
    pub fn read_bytes(&self, selection: impl Into<Selection>, dest: &mut [u8]) -> Result<()> {
        let steps = selection.into().resolve(self.shape())?;
        let axes: Vec<_> = steps.into_iter().map(Axis::Steps).collect();
        self.read_axes(&axes, dest)
    }

    /// Reads a part of the array in C order.
    ///
    /// # Errors
    /// As [`read_bytes`](Self::read_bytes), and [`Error::Limit`](crate::Error::Limit) if the part has more bytes than
    /// [`Limits::max_nbytes`](blosc_chunk::Limits::max_nbytes) of the options it was opened with.
    pub fn to_bytes(&self, selection: impl Into<Selection>) -> Result<Vec<u8>> {
        let steps = selection.into().resolve(self.shape())?;
        let axes: Vec<_> = steps.into_iter().map(Axis::Steps).collect();
        let mut dest = vec![0; self.checked_len(&axes)?];
        self.read_axes(&axes, &mut dest)?;
        Ok(dest)
    }

    /// Fills `dest` with what stands at all combinations of these positions, one list for each dimension: NumPy's
    /// `a[np.ix_(..)]`. Positions may come in any order, and repeat.
    ///
    /// # Errors
    /// As [`read_bytes`](Self::read_bytes).
    pub fn read_oindex_bytes(&self, positions: &[&[u64]], dest: &mut [u8]) -> Result<()> {
        let lists = lists(self.shape(), positions)?;
        let axes: Vec<_> = lists.iter().map(|list| Axis::List(list)).collect();
        self.read_axes(&axes, dest)
    }

    /// Fills `dest` with single items, given by their numbers in C order. They may come in any order, and repeat.
    ///
    /// # Errors
    /// [`NdParam::Item`], or as [`read_bytes`](Self::read_bytes).
    pub fn gather_bytes(&self, items: &[u64], dest: &mut [u8]) -> Result<()> {
        let typesize = self.typesize();
        check_len(dest, (items.len() as u64).saturating_mul(typesize as u64))?;
        let mut points: Vec<Point> = Vec::with_capacity(items.len());
        for (place, &item) in items.iter().enumerate() {
            if item >= self.nitems() {
                return Err(NdParam::Item { item, nitems: self.nitems() }.into());
            }
            points.push(self.geometry.point(item, place));
        }
        points.sort_unstable();
        let nbytes = dest.len() as u64;
        let max = blocks_at_a_time(&self.geometry, self.budget(nbytes).share(4));
        let blocks: Vec<&[Point]> = points.chunk_by(Point::is_in_block).collect();
        let wanted = blocks.chunk_by(|a, b| nchunk(a) == nchunk(b)).flat_map(|blocks| blocks.chunks(max));
        let wanted = wanted.map(|blocks| {
            let numbered = blocks.iter().filter_map(|points| Some((points.first()?.nblock, *points)));
            Wanted { nchunk: blocks.first().map_or(0, |points| nchunk(points)), blocks: numbered.collect() }
        });
        self.read_blocks(nbytes, wanted, |points: &&[Point], block: &mut Block<'_, '_>| {
            let (first, last) = (points.first(), points.last());
            let from = first.map_or(0, |point| as_len(point.byte));
            let data =
                block.part(from..last.map_or(0, |point| as_len(point.byte).saturating_add(typesize)))?;
            for point in *points {
                let (at, to) =
                    (as_len(point.byte).saturating_sub(from), point.place.saturating_mul(typesize));
                copy(data, at, dest, to, typesize);
            }
            Ok(())
        })
    }

    /// What reading a part would fetch, chunk by chunk. For it the headers of these chunks are read, and the block
    /// starts of those that are fetched in parts.
    ///
    /// # Errors
    /// As [`read_bytes`](Self::read_bytes), for what is read.
    pub fn plan(&self, selection: impl Into<Selection>) -> Result<Vec<ChunkPlan>> {
        let steps = selection.into().resolve(self.shape())?;
        let axes: Vec<_> = steps.into_iter().map(Axis::Steps).collect();
        let axes = self.stored_axes(&axes);
        let len = as_len(self.geometry.block_nbytes());
        let plan = |wanted: Wanted<_>| {
            let nchunk = wanted.nchunk;
            let location = self.schunk.locate(nchunk)?;
            Ok(ChunkPlan { nchunk, ranges: plan_ranges(nchunk, &location, &wanted.ranges(len))? })
        };
        BoxBlocks::new(&self.geometry, &axes, u64::MAX).map(plan).collect()
    }

    /// Bytes of what these axes select, if so many may be allocated.
    pub(super) fn checked_len(&self, axes: &[Axis<'_>]) -> Result<usize> {
        let nbytes = self.nbytes_of(axes);
        check_limit(Limited::Memory, nbytes, self.schunk.dparams().limits.max_nbytes)?;
        Ok(as_len(nbytes))
    }

    /// Bytes of what these axes select.
    pub(super) fn nbytes_of(&self, axes: &[Axis<'_>]) -> u64 {
        let nitems = axes.iter().fold(1_u64, |nitems, axis| nitems.saturating_mul(axis.count()));
        nitems.saturating_mul(self.typesize() as u64)
    }

    /// Fills `dest` with what the axes select, one for each dimension that is shown.
    pub(super) fn read_axes(&self, axes: &[Axis<'_>], dest: &mut [u8]) -> Result<()> {
        let nbytes = self.nbytes_of(axes);
        check_len(dest, nbytes)?;
        if nbytes == 0 {
            return Ok(());
        }
        let axes = self.stored_axes(axes);
        let typesize = self.geometry.typesize();
        let in_block = strides(self.geometry.blockshape(), typesize);
        let in_dest = strides(&axes.iter().map(Axis::count).collect::<Vec<_>>(), typesize);
        let wanted = BoxBlocks::new(&self.geometry, &axes, self.at_a_time(&axes, nbytes));
        self.read_blocks(nbytes, wanted, |spans: &Vec<Span<'_>>, block: &mut Block<'_, '_>| {
            let Some(rows) = Rows::new(spans, &in_block, &in_dest) else {
                read_rows(spans, &in_block, &in_dest, block.all()?, dest);
                return Ok(());
            };
            if let Some((from, to)) = rows.single() {
                return block.decode(from, dest.get_mut(to).unwrap_or_default());
            }
            let extent = rows.extent();
            let start = extent.start;
            rows.read(block.part(extent)?, start, dest);
            Ok(())
        })
    }

    /// The axes of all stored dimensions; those that a view does not show have one position.
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

    /// Threads and memory for reading so many bytes.
    fn budget(&self, nbytes: u64) -> Budget {
        let useful = usize::try_from(nbytes / PER_THREAD).unwrap_or(usize::MAX).saturating_add(1);
        Budget { threads: count(self.options.threads).min(useful), bytes: self.options.max_memory / 2 }
    }

    /// Bytes of blocks that are a job for a thread: those of a chunk, unless memory is short or there are so few
    /// chunks that threads would have none.
    fn at_a_time(&self, axes: &[Axis<'_>], nbytes: u64) -> u64 {
        let budget = self.budget(nbytes);
        let touched = axes.iter().zip(self.geometry.grid()).map(|(axis, len)| axis.count().min(*len));
        let (nchunks, wanted) = (touched.fold(1, u64::saturating_mul), 2 * budget.threads as u64);
        if budget.threads == 1 || nchunks >= wanted {
            return budget.share(4);
        }
        budget.share(4).min(nbytes.div_ceil(2 * wanted).max(PER_THREAD))
    }

    /// Decodes blocks and shows them to `sink`, in order, with what came with them.
    fn read_blocks<T: Send>(
        &self,
        nbytes: u64,
        mut wanted: impl Iterator<Item = Wanted<T>>,
        mut sink: impl FnMut(&T, &mut Block<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let block_nbytes = self.geometry.block_nbytes();
        let budget = self.budget(nbytes);
        let mut next = || {
            let Some(job) = wanted.next() else { return Ok(None) };
            // The data, and as much again for the chunk as stored.
            let weight = block_nbytes.saturating_mul(job.blocks.len() as u64).saturating_mul(2);
            check_limit(Limited::Memory, weight, budget.bytes)?;
            Ok(Some(Job { job, weight }))
        };
        if budget.threads == 1 {
            let mut scratch = self.schunk.pooled();
            while let Some(Job { job, .. }) = next()? {
                self.show_blocks(&job, &mut scratch, &mut sink)?;
            }
            return Ok(());
        }
        in_order(
            budget,
            next,
            || self.schunk.pooled(),
            |scratch, wanted| self.decode_blocks(wanted, scratch),
            |decoded: Result<(Wanted<T>, Vec<u8>)>| {
                let (wanted, bytes) = decoded?;
                let blocks = bytes.chunks(as_len(block_nbytes).max(1));
                (wanted.blocks.iter().zip(blocks))
                    .try_for_each(|((_, what), block)| sink(what, &mut Block::Decoded(block)))
            },
        )
    }

    /// Shows blocks of a chunk to `sink`, which decodes them.
    fn show_blocks<T>(
        &self,
        wanted: &Wanted<T>,
        scratch: &mut Scratch,
        sink: &mut impl FnMut(&T, &mut Block<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let location = self.schunk.locate(wanted.nchunk)?;
        let len = as_len(self.geometry.block_nbytes());
        let ranges = wanted.ranges(len);
        let Buffers { bytes, data, chunk } = scratch.parts();
        let fetched = fetch(&self.schunk, wanted.nchunk, &location, &ranges, bytes)?;
        if fetched.is_blockwise(len) {
            return wanted.blocks.iter().try_for_each(|(nblock, what)| {
                let start = as_len(*nblock).saturating_mul(len);
                sink(what, &mut Block::Stored { fetched: &fetched, start, len, data, scratch: chunk })
            });
        }
        let data = room(data, wanted.blocks.len().saturating_mul(len));
        decode_ranges(&fetched, &ranges, data, chunk)?;
        let blocks = wanted.blocks.iter().zip(data.chunks(len.max(1)));
        blocks.into_iter().try_for_each(|((_, what), block)| sink(what, &mut Block::Decoded(block)))
    }

    fn decode_blocks<T>(&self, wanted: Wanted<T>, scratch: &mut Scratch) -> Result<(Wanted<T>, Vec<u8>)> {
        let location = self.schunk.locate(wanted.nchunk)?;
        let len = as_len(self.geometry.block_nbytes());
        let ranges = wanted.ranges(len);
        let Buffers { bytes, chunk, .. } = scratch.parts();
        let fetched = fetch(&self.schunk, wanted.nchunk, &location, &ranges, bytes)?;
        let mut data = vec![0; wanted.blocks.len().saturating_mul(len)];
        decode_ranges(&fetched, &ranges, &mut data, chunk)?;
        Ok((wanted, data))
    }
}

/// A block to take items from.
enum Block<'f, 'a> {
    /// Still to be decoded: `len` bytes from byte `start` of the chunk's data.
    Stored {
        fetched: &'f Fetched<'a>,
        start: usize,
        len: usize,
        data: &'f mut Vec<u8>,
        scratch: &'f mut blosc_chunk::Scratch,
    },
    Decoded(&'f [u8]),
}

impl Block<'_, '_> {
    /// Decodes a part to `dest`, which has as many bytes.
    fn decode(&mut self, part: Range<usize>, dest: &mut [u8]) -> Result<()> {
        match self {
            Self::Stored { fetched, start, scratch, .. } => {
                let part = start.saturating_add(part.start)..start.saturating_add(part.end);
                fetched.decode(part, dest, scratch)
            }
            Self::Decoded(block) => {
                copy(block, part.start, dest, 0, part.len());
                Ok(())
            }
        }
    }

    /// All of its data.
    fn all(&mut self) -> Result<&[u8]> {
        self.part(0..usize::MAX)
    }

    /// A part of its data, as far as it has them.
    fn part(&mut self, part: Range<usize>) -> Result<&[u8]> {
        match self {
            Self::Stored { fetched, start, len, data, scratch } => {
                let part = part.start..part.end.min(*len);
                // A small part may be less work than all; else it would be decoded and then copied.
                let whole = if part.len() <= *len / 4 { part.clone() } else { 0..*len };
                let data = room(data, whole.len());
                let decoded = start.saturating_add(whole.start)..start.saturating_add(whole.end);
                fetched.decode(decoded, data, scratch)?;
                let part = part.start.saturating_sub(whole.start)..part.end.saturating_sub(whole.start);
                Ok(data.get(part).unwrap_or_default())
            }
            Self::Decoded(block) => Ok(block.get(part.start..part.end.min(block.len())).unwrap_or_default()),
        }
    }
}

/// Decodes `ranges` of a chunk's data, one behind the other, to `dest`. They ascend, and `dest` has as many bytes.
fn decode_ranges(
    fetched: &Fetched<'_>,
    ranges: &[Range<usize>],
    mut dest: &mut [u8],
    scratch: &mut blosc_chunk::Scratch,
) -> Result<()> {
    for range in ranges {
        let (now, later) = dest.split_at_mut(range.len().min(dest.len()));
        fetched.decode(range.clone(), now, scratch)?;
        dest = later;
    }
    Ok(())
}

/// The first `len` bytes of a buffer that only grows.
fn room(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    buffer.get_mut(..len).unwrap_or_default()
}

/// Blocks of one chunk, ascending, each with what is wanted of it.
struct Wanted<T> {
    nchunk: u64,
    blocks: Vec<(u64, T)>,
}

impl<T> Wanted<T> {
    /// The bytes of the chunk's data that blocks of `len` bytes are.
    fn ranges(&self, len: usize) -> Vec<Range<usize>> {
        let runs = self.blocks.chunk_by(|(a, _), (b, _)| a + 1 == *b);
        let range = |run: &[(u64, T)]| {
            let start = as_len(run.first()?.0).saturating_mul(len);
            Some(start..start.saturating_add(run.len().saturating_mul(len)))
        };
        runs.filter_map(range).collect()
    }
}

/// What reading a part of an array fetches of one chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkPlan {
    /// Number of the chunk.
    pub nchunk: u64,
    /// Positions in the file (bytes), or in the chunk's own file of a sparse frame. None for a run.
    pub ranges: Vec<Range<u64>>,
}

/// The blocks that hold what the axes select, chunk by chunk.
struct BoxBlocks<'a> {
    geometry: &'a Geometry,
    chunks: Product<'a>,
    /// The chunk that is not through, and its blocks to come.
    current: Option<(u64, Product<'a>)>,
    /// Most blocks at a time.
    max: usize,
}

impl<'a> BoxBlocks<'a> {
    /// Blocks of at most `max` bytes at a time, or one.
    fn new(geometry: &'a Geometry, axes: &[Axis<'a>], max: u64) -> Self {
        let spans = axes.iter().zip(geometry.chunkshape()).map(|(axis, len)| Spans::new(*axis, 0, *len));
        let max = blocks_at_a_time(geometry, max);
        Self { geometry, chunks: Product::new(spans.collect()), current: None, max }
    }

    /// The blocks of a chunk.
    fn open(&self, chunk: &[Span<'a>]) -> (u64, Product<'a>) {
        let spans = chunk.iter().zip(self.geometry.blockshape());
        let spans = spans.map(|(span, len)| Spans::new(span.axis, span.origin, *len));
        (ravel(&numbers(chunk), self.geometry.grid()), Product::new(spans.collect()))
    }
}

impl<'a> Iterator for BoxBlocks<'a> {
    type Item = Wanted<Vec<Span<'a>>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (nchunk, mut left) = match self.current.take() {
                Some(current) => current,
                None => {
                    let chunk = self.chunks.next()?;
                    self.open(&chunk)
                }
            };
            let blocks: Vec<_> = (left.by_ref().take(self.max))
                .map(|spans| (ravel(&numbers(&spans), self.geometry.blocks()), spans))
                .collect();
            if !blocks.is_empty() {
                self.current = Some((nchunk, left));
                return Some(Wanted { nchunk, blocks });
            }
        }
    }
}

/// Where an item is, and where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    nchunk: u64,
    nblock: u64,
    /// Byte in the block.
    byte: u64,
    /// Number among the items wanted.
    place: usize,
}

impl Point {
    fn is_in_block(&self, other: &Self) -> bool {
        (self.nchunk, self.nblock) == (other.nchunk, other.nblock)
    }
}

/// The chunk of points that share one.
fn nchunk(points: &[Point]) -> u64 {
    points.first().map_or(0, |point| point.nchunk)
}

/// How many blocks have at most `max` bytes; at least one.
fn blocks_at_a_time(geometry: &Geometry, max: u64) -> usize {
    as_len(max / geometry.block_nbytes().max(1)).max(1)
}

impl Geometry {
    /// Where the item of this number is.
    fn point(&self, item: u64, place: usize) -> Point {
        let index = unravel(item, self.shape());
        let (mut nchunk, mut nblock, mut in_block) = (0, 0, 0);
        for (dim, at) in index.into_iter().enumerate() {
            let len = |lens: &[u64]| lens.get(dim).copied().unwrap_or(1);
            let in_chunk = at % len(self.chunkshape());
            nchunk = nchunk * len(self.grid()) + at / len(self.chunkshape());
            nblock = nblock * len(self.blocks()) + in_chunk / len(self.blockshape());
            in_block = in_block * len(self.blockshape()) + in_chunk % len(self.blockshape());
        }
        Point { nchunk, nblock, byte: in_block * self.typesize(), place }
    }
}

/// Positions in ascending order with their places, for each dimension.
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

fn numbers(spans: &[Span<'_>]) -> Vec<u64> {
    spans.iter().map(|span| span.number).collect()
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
