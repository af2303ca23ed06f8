//! From the stored bytes of blocks to data ("Reader algorithm" in the format document).
//!
//! [`read`] decodes a range of a chunk's data and touches only the blocks that it needs; decoding
//! all data is the same with the full range. Blocks are independent, except with delta, which
//! refers to the first block of the chunk.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "ranges and block sizes were checked by `Layout` and `Chunk`; buffers are sized from them"
)]

mod decoders;
mod hooked;
mod planes;
mod shared;
mod slice;
mod worker;

use core::ops::Range;

use blosc_filters::{
    BlockGeometry, FilterCx, FilterId, Pipeline, Reference,
    internal::{StoreHint, Undo},
};

use crate::error::{Blame, Error, Result, Unsupported};
use crate::header::ChunkHeader;
use crate::jobs::{self, for_each};
use crate::layout::{Grid, Layout, Split};
use crate::memory;
use crate::params::{DParams, Destination};
use crate::source::Blocks;
use crate::stream::Payload;
use crate::tuner::ThreadTuner;
use crate::vl::VlSizes;

use decoders::DecoderKey;
pub(crate) use hooked::{read_hooked, write_hooked};
pub(crate) use worker::{Worker, nstreams};

/// Buffers and decoders that are kept from chunk to chunk, and their parameters.
///
/// ```
/// use blosc_chunk::{CParams, Chunk, Scratch, compress};
///
/// let data: Vec<u8> = (0..10_000u32).flat_map(u32::to_le_bytes).collect();
/// let chunk = compress(&data, &CParams::default().typesize(4))?;
/// let mut scratch = Scratch::default();
/// let mut items = [0; 3 * 4];
/// Chunk::parse(&chunk)?.read_items(5000..5003, &mut items, &mut scratch)?;
/// assert_eq!(items, data[4 * 5000..4 * 5003]);
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) params: DParams,
    /// One for each thread.
    pub(crate) workers: Vec<Worker>,
    /// The first block of the chunk, if others refer to it.
    pub(crate) reference: Vec<u8>,
    tuner: ThreadTuner,
    /// For chunks that are copied or filled, which is much faster than decoding.
    copy_tuner: ThreadTuner,
}

impl Scratch {
    /// Empty buffers for decoding with these parameters.
    #[must_use]
    pub fn new(params: &DParams) -> Self {
        Self { params: params.clone(), ..Self::default() }
    }

    /// The parameters.
    #[must_use]
    pub const fn params(&self) -> &DParams {
        &self.params
    }

    /// Uses all threads of the parameters, even for short data: for tests.
    #[doc(hidden)]
    pub fn use_all_threads(&mut self) {
        self.tuner.use_all_threads();
        self.copy_tuner.use_all_threads();
    }

    /// Decodes to another kind of destination from now on.
    pub const fn set_destination(&mut self, destination: Destination) {
        self.params.destination = destination;
    }
}

/// Decodes the bytes `range` of a chunk's data; `dest` is as long.
pub(crate) fn read(
    blocks: &impl Blocks,
    range: Range<usize>,
    dest: &mut [u8],
    scratch: &mut Scratch,
) -> Result<()> {
    if let Some(literal) = blocks.layout().literal() {
        let whole = read_ambiguous(blocks, literal, scratch)?;
        dest.copy_from_slice(&whole[range]);
        return Ok(());
    }
    if is_one_block(blocks.layout(), &range) {
        return read_one_block(blocks, dest, scratch);
    }
    let wanted = Wanted { range, chosen: None };
    read_by(blocks, &Map::new(blocks)?, &wanted, dest, scratch)
}

/// Writes data without decoding, with several threads if that is faster. `write` gets parts of
/// `dest`, and their ranges in it.
#[inline]
pub(crate) fn write_parts(
    dest: &mut [u8],
    scratch: &mut Scratch,
    write: impl Fn(Range<usize>, &mut [u8]) -> Result<()> + Sync,
) -> Result<()> {
    // Setting up threads would take too long for single items.
    if dest.len() < 2 * MIN_PART_NBYTES {
        return write(0..dest.len(), dest);
    }
    write_many_parts(dest, scratch, write)
}

#[inline(never)]
fn write_many_parts(
    dest: &mut [u8],
    scratch: &mut Scratch,
    write: impl Fn(Range<usize>, &mut [u8]) -> Result<()> + Sync,
) -> Result<()> {
    let nbytes = dest.len();
    let Scratch { params, copy_tuner, .. } = scratch;
    let max_jobs = params.threads.count_for(nbytes / MIN_PART_NBYTES);
    copy_tuner.run(max_jobs, nbytes, MIN_COPY_JOB_NBYTES, |jobs| {
        if jobs == 1 {
            return write(0..nbytes, dest);
        }
        let len = (nbytes / jobs / PARTS_PER_JOB).max(MIN_PART_NBYTES);
        let parts = dest.chunks_mut(len).enumerate();
        for_each((&params.threads, jobs), &mut Vec::new(), parts, |(), (n, part)| {
            write(n * len..n * len + part.len(), part)
        })
    })
}

/// Fewest bytes that are copied or filled at a time: that takes some microseconds, and the list of
/// parts has a lock.
const MIN_PART_NBYTES: usize = 64 << 10;
/// Bytes to copy or fill that justify a thread, as long as nothing was measured.
const MIN_COPY_JOB_NBYTES: usize = 512 << 10;
/// Parts for each thread, if they are long enough: the other threads start late.
const PARTS_PER_JOB: usize = 8;

/// Whether the range is all data of a chunk with only one block.
fn is_one_block(layout: &Layout, range: &Range<usize>) -> bool {
    let Grid { nbytes, nblocks, .. } = layout.grid;
    nblocks == 1 && *range == (0..nbytes) && !layout.header.is_vl()
}

/// The same as [`read_by`], without cutting the destination at blocks: for a small chunk the cut
/// takes as long as copying.
fn read_one_block(blocks: &impl Blocks, dest: &mut [u8], scratch: &mut Scratch) -> Result<()> {
    let Scratch { params, workers, tuner, .. } = scratch;
    if let Some(data) = stored_block(blocks, params, dest.len()) {
        params.destination.stores(data.len()).copy(params.registries.simd, data, dest);
        return Ok(());
    }
    let map = Map::Grid(blocks.layout().grid);
    // By reference, as it is large.
    let job = Job::new(blocks, &map, params, dest.len());
    let job = job.as_ref().map_err(Error::clone)?;
    let max_jobs = params.threads.count_for(job.certain_streams());
    tuner.run(max_jobs, dest.len(), job.key.min_job_nbytes(), |jobs| match jobs {
        1 => {
            let worker = jobs::first_worker(workers);
            worker.read_block(job, 0, Reference::FirstBlock, dest, job.stores)
        }
        jobs => shared::read_split_block(job, jobs, workers, dest),
    })
}

/// The data of a chunk's only block, if it is stored without filters: the usual preparations would
/// take a tenth of the time of copying 32 KiB. `None` also for damaged blocks; the usual way
/// returns their error.
#[inline]
fn stored_block<'a>(blocks: &'a impl Blocks, params: &DParams, nbytes: usize) -> Option<&'a [u8]> {
    let Layout { header, split, .. } = blocks.layout();
    if *split != Split::No {
        return None;
    }
    let mut streams = blocks.block(0).ok()?.streams(blocks.layout());
    let Ok(Payload::Stored(data)) = streams.next(nbytes) else { return None };
    let is_unfiltered =
        !header.is_instrumented() && header.pipeline().ids() == Pipeline::EMPTY.ids();
    (is_unfiltered && params.limits.check_blocks(1).is_ok()).then_some(data)
}

/// Decodes all data of a chunk with two possible block sizes; see `Layout::salvage`. The second one
/// is tried if the first gives an error. A single part could decode with both.
fn read_ambiguous(blocks: &impl Blocks, literal: Grid, scratch: &mut Scratch) -> Result<Vec<u8>> {
    let nbytes = blocks.layout().header.nbytes();
    scratch.params.limits.check_nbytes(nbytes)?;
    let mut whole = memory::zeros(nbytes)?;
    let wanted = Wanted { range: 0..nbytes, chosen: None };
    let first = read_by(blocks, &Map::Grid(blocks.layout().grid), &wanted, &mut whole, scratch);
    match first {
        Err(error) if error.blame() == Blame::Data => {
            read_by(blocks, &Map::Grid(literal), &wanted, &mut whole, scratch)
                .map_err(|_| error)?;
        }
        result => result?,
    }
    Ok(whole)
}

/// Passes the planes of a block to `show`; false if the block is not in planes.
pub(crate) fn show_planes(
    blocks: &impl Blocks,
    nblock: usize,
    scratch: &mut Scratch,
    show: impl FnOnce(&[&[u8]]),
) -> Result<bool> {
    let Scratch { params, workers, .. } = scratch;
    if blocks.layout().literal().is_some() || !params.threads.is_alone() {
        return Ok(false);
    }
    let map = Map::Grid(blocks.layout().grid);
    let job = Job::new(blocks, &map, params, 0);
    jobs::first_worker(workers).show_planes(job.as_ref().map_err(Error::clone)?, nblock, show)
}

/// Checks that fields are within an item, and that destinations have space for those of all items.
pub(crate) fn check_fields(
    nbytes: usize,
    typesize: usize,
    fields: &[Range<usize>],
    dests: &[&mut [u8]],
) -> Result<()> {
    if let Some(field) = fields.iter().find(|f| f.start > f.end || f.end > typesize) {
        return Err(Error::Range { start: field.start, end: field.end, len: typesize });
    }
    let nitems = nbytes.checked_div(typesize).unwrap_or(0);
    for (field, dest) in fields.iter().zip(dests) {
        let needed = nitems.saturating_mul(field.len());
        if dest.len() != needed {
            return Err(Error::Dest { needed, room: dest.len() });
        }
    }
    Ok(())
}

/// Decodes fields of the items of a block, each to its destination; false if the block is not in
/// planes.
pub(crate) fn read_fields(
    blocks: &impl Blocks,
    nblock: usize,
    fields: &[Range<usize>],
    dests: &mut [&mut [u8]],
    scratch: &mut Scratch,
) -> Result<bool> {
    let Scratch { params, workers, .. } = scratch;
    if blocks.layout().literal().is_some() {
        return Ok(false);
    }
    let map = Map::Grid(blocks.layout().grid);
    let job = Job::new(blocks, &map, params, 0);
    let job = job.as_ref().map_err(Error::clone)?;
    jobs::first_worker(workers).read_fields(job, nblock, fields, dests)
}

/// The data to decode.
pub(crate) struct Wanted<'a> {
    /// Bytes of the chunk's data; the destination is as long.
    pub(crate) range: Range<usize>,
    /// Selects blocks of it; `None` for all. In the destination, the bytes of the other blocks do
    /// not change.
    pub(crate) chosen: Option<&'a (dyn Fn(usize) -> bool + Sync)>,
}

impl Wanted<'_> {
    fn is_chosen(&self, nblock: usize) -> bool {
        self.chosen.is_none_or(|chosen| chosen(nblock))
    }
}

/// Decodes with one map of the blocks.
pub(crate) fn read_by(
    blocks: &impl Blocks,
    map: &Map,
    wanted: &Wanted<'_>,
    dest: &mut [u8],
    scratch: &mut Scratch,
) -> Result<()> {
    let Scratch { params, workers, reference, tuner, .. } = scratch;
    let job = Job::new(blocks, map, params, dest.len());
    let job = job.as_ref().map_err(Error::clone)?;
    job.prepare_reference(wanted, workers, reference)?;
    let (reference, nblocks) = (&*reference, map.covering(&wanted.range));
    let (nbytes, max_jobs) = (dest.len(), params.threads.count_for(nblocks.len()));
    let pieces = Pieces { map, nblocks, range: wanted.range.clone(), dest };
    let pieces = pieces.filter(|piece| wanted.is_chosen(piece.nblock));
    let read = |worker: &mut Worker, Piece { nblock, part, dest }: Piece<'_>| {
        job.read_part(worker, nblock, &part, dest, reference)
    };
    tuner.run(max_jobs, nbytes, job.key.min_job_nbytes(), |jobs| {
        for_each((&params.threads, jobs), workers, pieces, read)
    })
}

/// The facts that the blocks of one chunk share.
pub(crate) struct Job<'a, B> {
    blocks: &'a B,
    map: &'a Map,
    params: &'a DParams,
    undo: Undo<'a>,
    geometry: Option<BlockGeometry<'a>>,
    /// The decoder that the streams need.
    key: DecoderKey,
    /// Whether blocks refer to the first one.
    refers: bool,
    /// How the caller's destination is written.
    stores: StoreHint,
}

impl<'a, B: Blocks> Job<'a, B> {
    /// `nbytes` bytes are written to the caller's destination; 0 if none.
    pub(crate) fn new(
        blocks: &'a B,
        map: &'a Map,
        params: &'a DParams,
        nbytes: usize,
    ) -> Result<Self> {
        let Layout { header, grid, .. } = blocks.layout();
        params.limits.check_blocks(grid.nblocks)?;
        let pipeline = pipeline_to_undo(header, params)?;
        let refers = pipeline.contains(FilterId::DELTA) && matches!(map, Map::Grid(_));
        let geometry = params.blockshape.as_deref().map(BlockGeometry::new);
        let cx = filter_cx(header, params, geometry.as_ref(), Reference::FirstBlock);
        let undo = pipeline.undo(&params.registries.filters, &cx).map_err(unknown_filter)?;
        let (key, stores) = (DecoderKey::new(header), params.destination.stores(nbytes));
        Ok(Self { blocks, map, params, undo, geometry, key, refers, stores })
    }

    /// Number of streams of a full block, as far as the header determines it.
    fn certain_streams(&self) -> usize {
        let Layout { header, split, .. } = self.blocks.layout();
        if *split == Split::Yes { header.typesize() } else { 1 }
    }

    /// Whether this block refers to the first one.
    pub(crate) fn needs_reference(&self, nblock: usize) -> bool {
        nblock > 0 && self.refers
    }

    /// Decodes the first block, if a requested one refers to it.
    fn prepare_reference(
        &self,
        wanted: &Wanted<'_>,
        workers: &mut Vec<Worker>,
        reference: &mut Vec<u8>,
    ) -> Result<()> {
        let mut nblocks = self.map.covering(&wanted.range);
        if self.refers && nblocks.any(|nblock| nblock > 0 && wanted.is_chosen(nblock)) {
            return self.read_reference(workers, reference);
        }
        Ok(())
    }

    /// Decodes the first block.
    pub(crate) fn read_reference(
        &self,
        workers: &mut Vec<Worker>,
        reference: &mut Vec<u8>,
    ) -> Result<()> {
        let nbytes = self.map.range(0).len();
        self.params.limits.check_nbytes(nbytes)?;
        reference.clear();
        memory::resize(reference, nbytes)?;
        for_each(
            (&self.params.threads, 1),
            workers,
            [&mut **reference].into_iter(),
            |worker, dest| {
                worker.read_block(self, 0, Reference::FirstBlock, dest, StoreHint::Cached)
            },
        )
    }

    /// Decodes a part of a block, counted from the block's start. `first` is the first block if
    /// this one needs it.
    pub(crate) fn read_part(
        &self,
        worker: &mut Worker,
        nblock: usize,
        part: &Range<usize>,
        dest: &mut [u8],
        first: &[u8],
    ) -> Result<()> {
        let refers = self.needs_reference(nblock);
        let reference = if refers { Reference::Block(first) } else { Reference::FirstBlock };
        let nbytes = self.map.range(nblock).len();
        if dest.len() == nbytes {
            return worker.read_block(self, nblock, reference, dest, self.stores);
        }
        self.params.limits.check_nbytes(nbytes)?;
        worker.read_part(self, nblock, reference, part, dest)
    }

    #[inline]
    fn filter_cx<'b>(&'b self, reference: Reference<'b>, stores: StoreHint) -> FilterCx<'b> {
        let cx =
            filter_cx(&self.blocks.layout().header, self.params, self.geometry.as_ref(), reference);
        FilterCx { stores, ..cx }
    }
}

#[inline]
fn filter_cx<'a>(
    header: &ChunkHeader,
    params: &DParams,
    geometry: Option<&'a BlockGeometry<'a>>,
    reference: Reference<'a>,
) -> FilterCx<'a> {
    FilterCx {
        typesize: header.typesize(),
        schunk_typesize: params.schunk_typesize.unwrap_or(header.typesize()),
        reference,
        bitshuffle: header.bitshuffle_rule(),
        geometry,
        simd: params.registries.simd,
        stores: StoreHint::Cached,
    }
}

/// The data of each block.
#[derive(Debug)]
pub(crate) enum Map {
    Grid(Grid),
    Vl(VlSizes),
}

impl Map {
    pub(crate) fn new(blocks: &impl Blocks) -> Result<Self> {
        let layout = blocks.layout();
        if layout.header.is_vl() {
            VlSizes::read(blocks).map(Self::Vl)
        } else {
            Ok(Self::Grid(layout.grid))
        }
    }

    pub(crate) fn range(&self, nblock: usize) -> Range<usize> {
        match self {
            Self::Grid(grid) => grid.range(nblock),
            Self::Vl(sizes) => sizes.range(nblock),
        }
    }

    /// Bytes of a block; the last block may be shorter.
    fn blocksize(&self, nblock: usize) -> usize {
        match self {
            Self::Grid(grid) => grid.blocksize,
            Self::Vl(sizes) => sizes.range(nblock).len(),
        }
    }

    fn covering(&self, bytes: &Range<usize>) -> Range<usize> {
        match self {
            Self::Grid(grid) => grid.covering(bytes),
            Self::Vl(sizes) => sizes.covering(bytes),
        }
    }
}

/// The requested part of one block, and its destination.
struct Piece<'a> {
    nblock: usize,
    /// The requested bytes, counted from the start of the block.
    part: Range<usize>,
    /// As long as `part`.
    dest: &'a mut [u8],
}

/// Cuts a destination at the borders of blocks.
struct Pieces<'a, 'm> {
    map: &'m Map,
    nblocks: Range<usize>,
    /// The rest of the range, in bytes of the chunk's data; `dest` is as long.
    range: Range<usize>,
    dest: &'a mut [u8],
}

impl<'a> Iterator for Pieces<'a, '_> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let nblock = self.nblocks.next()?;
        let block = self.map.range(nblock);
        let end = block.end.min(self.range.end);
        let part = self.range.start - block.start..end - block.start;
        let (dest, rest) = core::mem::take(&mut self.dest).split_at_mut(part.len());
        self.range.start = end;
        self.dest = rest;
        Some(Piece { nblock, part, dest })
    }
}

/// The filters of a chunk. An instrumented chunk lists filters that were never applied.
fn pipeline_to_undo(header: &ChunkHeader, params: &DParams) -> Result<Pipeline> {
    match (header.is_instrumented(), params.instrumented) {
        (false, _) => Ok(header.pipeline()),
        (true, true) => Ok(Pipeline::EMPTY),
        (true, false) => Err(Error::Unsupported(Unsupported::Instrumented)),
    }
}

fn unknown_filter(error: blosc_filters::Error) -> Error {
    match error {
        blosc_filters::Error::UnknownFilter { id } => Error::UnknownFilter { id },
        other => other.into(),
    }
}
