//! Reads the blocks that hold a selection, and copies their items to the destination.
//!
//! Of each chunk only the selected blocks are fetched. A block is decoded to a small buffer and its
//! items are copied while the buffer is in the cache; or it is decoded right to the destination, if
//! its items are one run of bytes there. Several threads divide the destination into slices
//! (`thread_slices.rs`). Where slices are impossible, the threads decode and the caller's thread
//! copies.

use core::ops::Range;

use blosc_chunk::Destination;
use blosc_container::parallel::{Job, for_each, in_order};
use blosc_container::{Budget, buffer::resized};

use super::Geometry;
use super::axis::{Axis, Parts, Product, Span, Spans};
use super::geometry::{as_len, ravel, strides};
use super::rows::{Reach, Rows, read_rows};
use super::thread_slices::thread_slices;
use crate::error::{Limited, Result};
use crate::schunk::{Buffers, ChunkRanges, Fetched, SChunk, Scratch, check_limit};

/// One more thread is started for each multiple of this size (bytes of items).
const PER_THREAD: u64 = 256 << 10;

/// An array under reading.
#[derive(Debug)]
pub(super) struct BlockReader<'a> {
    pub schunk: &'a SChunk,
    pub geometry: &'a Geometry,
    pub options: &'a Budget,
}

/// The kind of memory of a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// Newly allocated memory, whose pages are untouched.
    New,
    /// Memory that the caller had before.
    Kept,
}

/// The way to write a destination, of which threads may have parts.
#[derive(Clone, Copy, Debug)]
struct Whole {
    destination: Destination,
    reach: Reach,
}

impl BlockReader<'_> {
    /// Fills `dest` with the selection of the axes, one for each stored dimension. `dest` has the
    /// length of the selection, which is not empty.
    pub(super) fn read(&self, axes: &[Axis<'_>], dest: &mut [u8], memory: Memory) -> Result<()> {
        let budget = self.budget(dest.len() as u64);
        let nbytes = dest.len();
        let whole = match memory {
            Memory::New => {
                Whole { destination: Destination::for_new_memory(nbytes), reach: Reach::Near }
            }
            Memory::Kept => Whole {
                destination: Destination::for_nbytes(nbytes),
                reach: Reach::for_nbytes(nbytes, self.schunk.dparams().registries.simd),
            },
        };
        // Each thread needs a block, decoded and as stored.
        let threads = budget.nworkers_for(self.geometry.block_nbytes().saturating_mul(2));
        // Far storage is told the whole selection at once; slices would divide it.
        if threads == 1 || self.schunk.prefetch_limit() > 0 {
            return self.read_slice(axes, &budget.at_most(threads), dest, whole);
        }
        let Some(slices) = thread_slices(self.geometry, axes, threads as u64, dest) else {
            return self.read_slice(axes, &budget, dest, whole);
        };
        let max_memory = budget.max_memory.checked_div(threads as u64).unwrap_or(0);
        let alone = budget.at_most(1).max_memory(max_memory);
        // A thread may find a bad block before another thread finds one in an earlier chunk. A
        // second reading in order names the first, as with one thread.
        for_each(
            (&budget.threads, threads),
            slices,
            || (),
            |(), part| self.read_slice(&part.axes, &alone, part.dest, whole),
        )
        .or_else(|_| self.read_slice(axes, &budget.at_most(1), dest, whole))
    }

    /// As [`read`](Self::read), with the threads of `budget`; `dest` is a part of the whole
    /// destination.
    fn read_slice(
        &self,
        axes: &[Axis<'_>],
        budget: &Budget,
        dest: &mut [u8],
        whole: Whole,
    ) -> Result<()> {
        let Whole { destination, reach } = whole;
        let typesize = self.geometry.typesize();
        let in_block = strides(self.geometry.blockshape(), typesize);
        let in_dest = strides(&axes.iter().map(Axis::count).collect::<Vec<_>>(), typesize);
        let at_a_time = self.at_a_time(axes, budget, dest.len() as u64);
        let wanted = BoxBlocks::new(self.geometry, axes, at_a_time);
        self.read_blocks(budget, wanted, |spans: &Vec<Span<'_>>, block: &mut Block<'_, '_>| {
            let parts = Parts { spans, in_block: &in_block, in_wanted: &in_dest };
            let Some(rows) = Rows::new(parts) else {
                read_rows(parts, block.all()?, dest);
                return Ok(());
            };
            if let Some((from, to)) = rows.single() {
                return block.decode(from, dest.get_mut(to).unwrap_or_default(), destination);
            }
            if block.put_planes(&rows, as_len(typesize), dest, reach)? {
                return Ok(());
            }
            let extent = rows.extent();
            let start = extent.start;
            rows.read(block.part(extent)?, start, dest, reach);
            Ok(())
        })
    }

    /// Threads and memory for reading `nbytes` bytes.
    pub(super) fn budget(&self, nbytes: u64) -> Budget {
        let useful = usize::try_from(nbytes / PER_THREAD).unwrap_or(usize::MAX).saturating_add(1);
        self.options.at_most(useful).max_memory(self.options.max_memory / 2)
    }

    /// Bytes of blocks in the job of a thread: the blocks of a chunk, or fewer if memory is short
    /// or there are too few chunks for all threads.
    fn at_a_time(&self, axes: &[Axis<'_>], budget: &Budget, nbytes: u64) -> u64 {
        let touched =
            axes.iter().zip(self.geometry.grid()).map(|(axis, len)| axis.count().min(*len));
        let (nchunks, wanted) =
            (touched.fold(1, u64::saturating_mul), 2 * budget.nworkers() as u64);
        if budget.nworkers() == 1 || nchunks >= wanted {
            return budget.share(4);
        }
        budget.share(4).min(nbytes.div_ceil(2 * wanted).max(PER_THREAD))
    }

    /// Decodes blocks and passes them to `sink` in order, each with the data of its job. Announces
    /// the blocks to far storage before, as many as it takes at a time.
    pub(super) fn read_blocks<T: Send>(
        &self,
        budget: &Budget,
        mut wanted: impl Iterator<Item = Wanted<T>>,
        mut sink: impl FnMut(&T, &mut Block<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let limit = self.schunk.prefetch_limit();
        if limit == 0 {
            return self.read_batch(budget, &mut wanted, &mut sink);
        }
        let mut wanted = wanted.peekable();
        while wanted.peek().is_some() {
            let batch = self.announce(&mut wanted, limit);
            self.read_batch(budget, &mut batch.into_iter(), &mut sink)?;
        }
        Ok(())
    }

    /// Announces to the storage the reads for the first entries of `wanted`, up to `limit` bytes.
    fn announce<T>(
        &self,
        wanted: &mut core::iter::Peekable<impl Iterator<Item = Wanted<T>>>,
        limit: u64,
    ) -> Vec<Wanted<T>> {
        let (mut batch, mut parts, mut nbytes) = (vec![], vec![], 0_u64);
        while let Some(next) = wanted.peek() {
            let (part, weight) = self.part_to_announce(next);
            nbytes = nbytes.saturating_add(weight);
            if !batch.is_empty() && nbytes > limit {
                break;
            }
            parts.push(part);
            batch.extend(wanted.next());
        }
        self.schunk.prefetch(&parts, Some(self.geometry.block_nbytes()));
        batch
    }

    /// The parts of chunks for the first entries of `wanted`, up to `limit` bytes.
    pub(super) fn first_parts<T>(
        &self,
        wanted: &mut impl Iterator<Item = Wanted<T>>,
        limit: u64,
    ) -> Vec<ChunkRanges> {
        let mut nbytes = 0_u64;
        let parts = wanted.map(|wanted| self.part_to_announce(&wanted));
        let within = parts.take_while(|(_, weight)| {
            nbytes = nbytes.saturating_add(*weight);
            nbytes <= limit
        });
        within.map(|(part, _)| part).collect()
    }

    /// The parts of a chunk for these blocks, and their largest total length (bytes).
    fn part_to_announce<T>(&self, wanted: &Wanted<T>) -> (ChunkRanges, u64) {
        let block_nbytes = self.geometry.block_nbytes();
        let ranges = wanted.ranges(as_len(block_nbytes));
        let part = ChunkRanges { nchunk: wanted.nchunk, ranges };
        let weight = self.schunk.stored_nbytes_at_most(&part, Some(block_nbytes));
        (part, weight)
    }

    fn read_batch<T: Send>(
        &self,
        budget: &Budget,
        wanted: &mut dyn Iterator<Item = Wanted<T>>,
        mut sink: &mut impl FnMut(&T, &mut Block<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let block_nbytes = self.geometry.block_nbytes();
        let mut next = || {
            let Some(job) = wanted.next() else { return Ok(None) };
            // The decoded data, and as much again for the stored chunk.
            let weight = block_nbytes.saturating_mul(job.blocks.len() as u64).saturating_mul(2);
            check_limit(Limited::Memory, weight, budget.max_memory)?;
            Ok(Some(Job { job, weight }))
        };
        if budget.nworkers() == 1 {
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

    /// Passes the blocks of a chunk to `sink`, which decodes them.
    fn show_blocks<T>(
        &self,
        wanted: &Wanted<T>,
        scratch: &mut Scratch,
        sink: &mut impl FnMut(&T, &mut Block<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let location = self.schunk.locate(wanted.nchunk)?;
        let len = as_len(self.geometry.block_nbytes());
        let ranges = wanted.ranges(len);
        let Buffers { bytes, data, chunk, .. } = scratch.parts();
        let fetched = self.schunk.fetch(wanted.nchunk, &location, &ranges, bytes)?;
        if fetched.is_blockwise(len) {
            return wanted.blocks.iter().try_for_each(|(nblock, what)| {
                let start = as_len(*nblock).saturating_mul(len);
                sink(
                    what,
                    &mut Block::Stored { fetched: &fetched, start, len, data, scratch: chunk },
                )
            });
        }
        let data = resized(data, wanted.blocks.len().saturating_mul(len));
        decode_ranges(&fetched, &ranges, data, chunk)?;
        let blocks = wanted.blocks.iter().zip(data.chunks(len.max(1)));
        blocks.into_iter().try_for_each(|((_, what), block)| sink(what, &mut Block::Decoded(block)))
    }

    fn decode_blocks<T>(
        &self,
        wanted: Wanted<T>,
        scratch: &mut Scratch,
    ) -> Result<(Wanted<T>, Vec<u8>)> {
        let location = self.schunk.locate(wanted.nchunk)?;
        let len = as_len(self.geometry.block_nbytes());
        let ranges = wanted.ranges(len);
        let Buffers { bytes, chunk, .. } = scratch.parts();
        let fetched = self.schunk.fetch(wanted.nchunk, &location, &ranges, bytes)?;
        let mut data = vec![0; wanted.blocks.len().saturating_mul(len)];
        decode_ranges(&fetched, &ranges, &mut data, chunk)?;
        Ok((wanted, data))
    }
}

/// A block, as a source of items.
pub(super) enum Block<'f, 'a> {
    /// Not decoded yet: `len` bytes from byte `start` of the chunk's data.
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
    /// Decodes a part to `dest`, which has the length of the part and this kind of destination.
    fn decode(
        &mut self,
        part: Range<usize>,
        dest: &mut [u8],
        destination: Destination,
    ) -> Result<()> {
        match self {
            Self::Stored { fetched, start, scratch, .. } => {
                let part = start.saturating_add(part.start)..start.saturating_add(part.end);
                scratch.set_destination(destination);
                let result = fetched.decode(part, dest, scratch);
                // Other blocks decode to small buffers with the same scratch.
                scratch.set_destination(Destination::Cached);
                result
            }
            Self::Decoded(block) => {
                block.get(part).into_iter().for_each(|part| dest.copy_from_slice(part));
                Ok(())
            }
        }
    }

    /// Decodes the block and joins its items of `typesize` bytes right at the positions of the
    /// rows; false if that is impossible or not faster.
    fn put_planes(
        &mut self,
        rows: &Rows,
        typesize: usize,
        dest: &mut [u8],
        reach: Reach,
    ) -> Result<bool> {
        let Self::Stored { fetched, start, len, scratch, .. } = self else { return Ok(false) };
        let simd = scratch.params().registries.simd;
        // Decoding a small part alone may be less work.
        if rows.extent().len() <= *len / 4 || !rows.suit_planes(simd, typesize) {
            return Ok(false);
        }
        let show = |planes: &[&[u8]]| rows.read_planes(simd, planes, dest, reach);
        fetched.show_planes(*start..start.saturating_add(*len), typesize, scratch, show)
    }

    /// Decodes only fields of all `nitems` items of the block, if it has as many; false if that is
    /// impossible.
    pub(super) fn read_fields(
        &mut self,
        itemsize: usize,
        nitems: usize,
        fields: &[Range<usize>],
        dests: &mut [&mut [u8]],
    ) -> Result<bool> {
        let Self::Stored { fetched, start, len, scratch, .. } = self else { return Ok(false) };
        if nitems.checked_mul(itemsize) != Some(*len) {
            return Ok(false);
        }
        let block = *start..start.saturating_add(*len);
        fetched.read_fields(&block, itemsize, fields, dests, scratch)
    }

    /// All data of the block.
    fn all(&mut self) -> Result<&[u8]> {
        self.part(0..usize::MAX)
    }

    /// A part of the block's data, cut at its end.
    pub(super) fn part(&mut self, part: Range<usize>) -> Result<&[u8]> {
        match self {
            Self::Stored { fetched, start, len, data, scratch } => {
                let part = part.start..part.end.min(*len);
                // Decoding a small part alone may be less work; a large one would be decoded and
                // then copied.
                let whole = if part.len() <= *len / 4 { part.clone() } else { 0..*len };
                let data = resized(data, whole.len());
                let decoded = start.saturating_add(whole.start)..start.saturating_add(whole.end);
                fetched.decode(decoded, data, scratch)?;
                let part =
                    part.start.saturating_sub(whole.start)..part.end.saturating_sub(whole.start);
                Ok(data.get(part).unwrap_or_default())
            }
            Self::Decoded(block) => {
                Ok(block.get(part.start..part.end.min(block.len())).unwrap_or_default())
            }
        }
    }
}

/// Decodes `ranges` of a chunk's data, one after the other, to `dest`. The ranges ascend, and
/// `dest` has their total length.
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

/// Blocks of one chunk, ascending, each with its selected part.
pub(super) struct Wanted<T> {
    pub nchunk: u64,
    pub blocks: Vec<(u64, T)>,
}

impl<T> Wanted<T> {
    /// The ranges of the chunk's data for blocks of `len` bytes.
    pub(super) fn ranges(&self, len: usize) -> Vec<Range<usize>> {
        let runs = self.blocks.chunk_by(|(a, _), (b, _)| a + 1 == *b);
        let range = |run: &[(u64, T)]| {
            let start = as_len(run.first()?.0).saturating_mul(len);
            Some(start..start.saturating_add(run.len().saturating_mul(len)))
        };
        runs.filter_map(range).collect()
    }
}

/// The blocks that hold the selection of the axes, chunk by chunk.
pub(super) struct BoxBlocks<'a> {
    geometry: &'a Geometry,
    chunks: Product<'a>,
    /// The current chunk, and its blocks still to come.
    current: Option<(u64, Product<'a>)>,
    /// The largest number of blocks at a time.
    max: usize,
}

impl<'a> BoxBlocks<'a> {
    /// Blocks of at most `max` bytes at a time, or one.
    pub(super) fn new(geometry: &'a Geometry, axes: &[Axis<'a>], max: u64) -> Self {
        let spans =
            axes.iter().zip(geometry.chunkshape()).map(|(axis, len)| Spans::new(*axis, 0, *len));
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

/// Number of blocks that have at most `max` bytes; at least one.
pub(super) fn blocks_at_a_time(geometry: &Geometry, max: u64) -> usize {
    as_len(max / geometry.block_nbytes().max(1)).max(1)
}

fn numbers(spans: &[Span<'_>]) -> Vec<u64> {
    spans.iter().map(|span| span.number).collect()
}
