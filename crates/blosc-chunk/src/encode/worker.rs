//! Encoding in one thread: the filters forward, the split into streams, and the codec.

use core::cmp::Reverse;
use core::fmt;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use blosc_codecs::{EncodeOptions, StreamEncoder};
use blosc_filters::{
    BlockGeometry, FilterCx, FilterId, FilterSlot, Reference, Simd, internal::StoreHint,
};

use super::blocks::Job;
use super::plan::{Form, Plan};
use super::slots::Slot;
use super::{Input, MadeBlock};
use crate::error::{Error, Result};
use crate::header::field;
use crate::hooks::HookWorker;
use crate::jobs::{self, for_each};
use crate::memory;
use crate::params::CParams;
use crate::promise::Promise;

/// The buffers and the encoder of one thread.
#[derive(Debug, Default)]
pub(super) struct Worker {
    encoder: Option<Cached>,
    buffers: Buffers,
    /// A stream, if the destination is too short for trying; or some shuffled items.
    stream: Vec<u8>,
    /// The time for each stream of the last block with shared streams.
    took: Vec<Duration>,
}

#[derive(Debug, Default)]
struct Buffers {
    made: MadeBlock,
    filtered: Vec<u8>,
    scratch: Vec<u8>,
}

impl Worker {
    /// Compresses a block to the start of `dest`; returns its length (bytes), or `None` if it does
    /// not fit.
    pub(super) fn encode(
        &mut self,
        job: &Job<'_>,
        nblock: usize,
        dest: &mut [u8],
    ) -> Result<Option<usize>> {
        let Some(block) = filtered_unless_zeros(&mut self.buffers, job, nblock)? else {
            let nbytes = job.input.block_nbytes(job.plan, nblock);
            return Ok(write_zero_runs(job.plan.nstreams(nbytes), dest));
        };
        let mut coder = Coder::new(encoder(&mut self.encoder, job)?, job);
        let len = block.len() / job.plan.nstreams(block.len());
        let is_only = job.plan.grid.nblocks == 1;
        // The last streams, if they are stored and not copied yet: if the only block of a chunk
        // does not fit, none of them is needed.
        let (mut end, mut waiting) = (0, 0);
        for (n, stream) in block.chunks_exact(len).enumerate() {
            let room = &mut dest[end..];
            let Some(coded) = coder.write(stream, room, &mut self.stream)? else { return Ok(None) };
            if !coded.is_source {
                coder.store_last(waiting, len, &block[..n * len], &mut dest[..end]);
            }
            waiting = if coded.is_source { waiting + 1 } else { 0 };
            end += 4 + coded.len;
            if !is_only {
                coder.store_last(waiting, len, &block[..(n + 1) * len], &mut dest[..end]);
                waiting = 0;
            }
        }
        coder.store_last(waiting, len, block, &mut dest[..end]);
        Ok(Some(end))
    }

    /// Compresses a block to its slot, without the sizes of streams; returns its length with them
    /// (bytes).
    pub(super) fn encode_apart(&mut self, job: &Job<'_>, slot: Slot<'_>) -> Result<usize> {
        let Slot { nblock, room, streams } = slot;
        let mut cbytes = 4 * streams.len();
        let Some(block) = filtered_unless_zeros(&mut self.buffers, job, nblock)? else {
            return Ok(cbytes);
        };
        let mut coder = Coder::new(encoder(&mut self.encoder, job)?, job);
        let is_kept = job.source().is_some();
        for (data, room, coded) in zip_streams(block, room, streams) {
            *coded =
                if is_kept { coder.code_apart(data, room)? } else { coder.code(data, room)? };
            cbytes += coded.len;
        }
        Ok(cbytes)
    }

    /// Shuffles items in a buffer, and copies them to the bytes from `first` on of all planes.
    fn shuffle(
        &mut self,
        job: &Job<'_>,
        items: &[u8],
        first: usize,
        planes: &[Mutex<&mut [u8]>],
    ) -> Result<()> {
        let cx = filter_cx(job.params, job.plan, Reference::FirstBlock, None);
        let registry = &job.params.registries.filters;
        memory::resize(&mut self.stream, items.len())?;
        job.params.filters.forward(registry, &cx, items, &mut self.stream, &mut [])?;
        let nitems = items.len() / planes.len();
        // Threads begin with different planes.
        let rows = planes.iter().zip(self.stream.chunks_exact(nitems));
        for (plane, row) in rows.cycle().skip(first / nitems % planes.len()).take(planes.len()) {
            StoreHint::Cached.copy(cx.simd, row, &mut lock(plane)[first..first + nitems]);
        }
        Ok(())
    }

    /// Compresses one stream of a block whose streams are shared.
    fn encode_stream(&mut self, job: &Job<'_>, data: &[u8], stream: Shared<'_>) -> Result<()> {
        let Shared { room, coded, took } = stream;
        let begin = Instant::now();
        let mut coder = Coder::new(encoder(&mut self.encoder, job)?, job);
        *coded = coder.code_apart(data, room)?;
        *took = begin.elapsed();
        Ok(())
    }

    /// The block for prefilters.
    pub(super) fn made(&mut self) -> &mut MadeBlock {
        &mut self.buffers.made
    }

    /// Its memory for prefilters.
    pub(super) fn hook(&mut self) -> &mut HookWorker {
        &mut self.buffers.made.hook
    }

    /// The source of stored streams: the data, or after [`encode_streams`] the only block,
    /// filtered.
    pub(super) fn kept<'b>(&'b self, job: &Job<'b>) -> &'b [u8] {
        match job.source() {
            Some(source) => source,
            None if job.is_filtered => &self.buffers.filtered,
            None => &self.buffers.made.data,
        }
    }

    /// A filtered block.
    pub(super) fn filtered<'b>(&'b mut self, job: &Job<'b>, nblock: usize) -> Result<&'b [u8]> {
        filtered(&mut self.buffers, job, nblock)
    }
}

/// A stream that any thread may compress, and the destination of its result.
struct Shared<'a> {
    room: &'a mut [u8],
    coded: &'a mut Coded,
    took: &'a mut Duration,
}

/// The same as [`Worker::encode_apart`], with the streams in several threads. The slowest stream of
/// the block before comes first: often one plane of bytes that compress badly takes longer than all
/// others together. Stored streams stay in the block, which is [`Worker::kept`] of the first
/// worker.
pub(super) fn encode_streams(
    job: &Job<'_>,
    jobs: usize,
    workers: &mut Vec<Worker>,
    slot: Slot<'_>,
) -> Result<usize> {
    let Slot { nblock, room, streams } = slot;
    let first = jobs::first_worker(workers);
    let (mut buffers, mut took) =
        (core::mem::take(&mut first.buffers), core::mem::take(&mut first.took));
    took.resize(streams.len(), Duration::ZERO);
    let len = room.len() / streams.len();
    let shared = room.chunks_exact_mut(len).zip(&mut *streams).zip(&mut took);
    let shared = shared.map(|((room, coded), took)| Shared { room, coded, took }).enumerate();
    let mut shared: Vec<_> = shared.collect();
    shared.sort_by_key(|(_, stream)| Reverse(*stream.took));
    if is_shuffle(job) {
        let Buffers { made, filtered, .. } = &mut buffers;
        let block = job.input.block(job.plan, nblock, made)?;
        memory::resize(filtered, block.len())?;
        encode_shuffled(job, jobs, workers, (block, filtered), shared.into_iter())?;
    } else {
        let block = filtered(&mut buffers, job, nblock)?;
        for_each(
            (&job.params.threads, jobs),
            workers,
            shared.into_iter(),
            |worker, (n, stream)| worker.encode_stream(job, &block[n * len..][..len], stream),
        )?;
    }
    let first = jobs::first_worker(workers);
    (first.buffers, first.took) = (buffers, took);
    Ok(streams.iter().map(|coded| 4 + coded.len).sum())
}

/// Whether the only filter is a shuffle of items, some of which can be shuffled without the others.
fn is_shuffle(job: &Job<'_>) -> bool {
    let shuffle = FilterSlot { id: FilterId::SHUFFLE, meta: 0 };
    job.is_filtered && job.params.filters.active().eq([shuffle])
}

/// A part of the work on a shuffled block.
enum Step<'a> {
    /// Shuffle some items to the same bytes of all planes.
    Shuffle { items: &'a [u8], first: usize, done: &'a Promise<()> },
    /// Encode a plane, after all items are shuffled.
    Encode { plane: &'a Mutex<&'a mut [u8]>, stream: Shared<'a> },
}

/// The threads share the filter as well: each shuffles some items at a time, which fit the
/// first-level cache.
fn encode_shuffled<'a>(
    job: &Job<'_>,
    jobs: usize,
    workers: &mut Vec<Worker>,
    (block, filtered): (&[u8], &mut [u8]),
    streams: impl Iterator<Item = (usize, Shared<'a>)> + Send,
) -> Result<()> {
    let typesize = job.plan.header.typesize();
    let nitems =
        (block.len() / jobs / PARTS_PER_JOB).clamp(MIN_PART_NBYTES, MAX_PART_NBYTES) / typesize;
    let planes: Vec<_> =
        filtered.chunks_exact_mut(block.len() / typesize).map(Mutex::new).collect();
    let parts = block.chunks(nitems * typesize);
    let done: Vec<_> = parts.clone().map(|_| Promise::default()).collect();
    let shuffle = parts.zip(&done).enumerate();
    let shuffle =
        shuffle.map(|(n, (items, done))| Step::Shuffle { items, first: n * nitems, done });
    let encode = streams.map(|(n, stream)| Step::Encode { plane: &planes[n], stream });
    for_each((&job.params.threads, jobs), workers, shuffle.chain(encode), |worker, step| match step
    {
        Step::Shuffle { items, first, done } => {
            done.fulfil(|| worker.shuffle(job, items, first, &planes))
        }
        // If items are missing, the error is that of the step that shuffles them.
        Step::Encode { .. } if done.iter().any(|done| done.wait().is_none()) => Ok(()),
        Step::Encode { plane, stream } => worker.encode_stream(job, &lock(plane), stream),
    })
}

fn lock<'l, 'a>(plane: &'l Mutex<&'a mut [u8]>) -> MutexGuard<'l, &'a mut [u8]> {
    plane.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of data that are shuffled at a time (see `docs/performance/chunk.md`): they and their
/// planes fit the second-level cache at most. With more bytes, threads wait less for each other's
/// locks.
const MIN_PART_NBYTES: usize = 16 << 10;
const MAX_PART_NBYTES: usize = 128 << 10;
/// Parts for each thread, if they are long enough.
const PARTS_PER_JOB: usize = 8;

/// The streams of a block, and the destination of each.
fn zip_streams<'a>(
    block: &'a [u8],
    room: &'a mut [u8],
    streams: &'a mut [Coded],
) -> impl Iterator<Item = (&'a [u8], &'a mut [u8], &'a mut Coded)> + Send {
    let len = block.len() / streams.len();
    let parts = block.chunks_exact(len).zip(room.chunks_exact_mut(len)).zip(streams);
    parts.map(|((data, room), coded)| (data, room, coded))
}

/// A block after the filters.
fn filtered<'b>(buffers: &'b mut Buffers, job: &Job<'b>, nblock: usize) -> Result<&'b [u8]> {
    let Buffers { made, filtered, scratch } = buffers;
    let block = job.input.block(job.plan, nblock, made)?;
    filter_unless_none(job, nblock, block, filtered, scratch)
}

/// The same, made only once; `None` for zeros that need no filter.
fn filtered_unless_zeros<'b>(
    buffers: &'b mut Buffers,
    job: &Job<'b>,
    nblock: usize,
) -> Result<Option<&'b [u8]>> {
    let Buffers { made, filtered, scratch } = buffers;
    let block = job.input.block(job.plan, nblock, made)?;
    if is_zero_block(job, nblock, block) {
        return Ok(None);
    }
    filter_unless_none(job, nblock, block, filtered, scratch).map(Some)
}

/// Whether a block is in memory, and consists of zeros that need no filter.
pub(super) fn is_given_as_zeros(job: &Job<'_>, nblock: usize) -> bool {
    let block = match job.input {
        Input::Slice(src) => &src[job.plan.grid.range(nblock)],
        Input::Blocks(blocks) => blocks[nblock],
        Input::Made { .. } => return false,
    };
    is_zero_block(job, nblock, block)
}

/// Whether a block consists of zeros that need no filter. It stops at the first other byte.
fn is_zero_block(job: &Job<'_>, nblock: usize, block: &[u8]) -> bool {
    job.zeros_stay_zeros(nblock) && run_value(block) == Some(0)
}

/// Filters a block, if there are filters.
fn filter_unless_none<'b>(
    job: &Job<'_>,
    nblock: usize,
    block: &'b [u8],
    filtered: &'b mut Vec<u8>,
    scratch: &mut Vec<u8>,
) -> Result<&'b [u8]> {
    if !job.is_filtered {
        return Ok(block);
    }
    let reference = job.reference.filter(|_| nblock > 0);
    let reference = reference.map_or(Reference::FirstBlock, Reference::Block);
    filter(job, block, reference, filtered, scratch)
}

/// Whether the filters change anything.
pub(super) fn is_filtered(params: &CParams) -> bool {
    let width = |meta| if meta == 0 { params.stored_typesize() } else { meta };
    params.filters.active().any(|slot| slot.id != FilterId::SHUFFLE || width(slot.meta) != 1)
}

/// The shape of a block, if it is part of an array.
pub(super) fn geometry(params: &CParams) -> Option<BlockGeometry<'_>> {
    params.blockshape.as_deref().map(BlockGeometry::new)
}

pub(super) fn filter_cx<'a>(
    params: &CParams,
    plan: &Plan,
    reference: Reference<'a>,
    geometry: Option<&'a BlockGeometry<'a>>,
) -> FilterCx<'a> {
    FilterCx {
        typesize: plan.header.typesize(),
        schunk_typesize: params.schunk_typesize.unwrap_or(params.typesize),
        reference,
        bitshuffle: plan.header.bitshuffle_rule(),
        geometry,
        simd: params.registries.simd,
        stores: StoreHint::Cached,
    }
}

fn filter<'b>(
    job: &Job<'_>,
    block: &[u8],
    reference: Reference<'_>,
    filtered: &'b mut Vec<u8>,
    scratch: &mut Vec<u8>,
) -> Result<&'b [u8]> {
    memory::resize(filtered, block.len())?;
    if job.params.filters.active().nth(1).is_some() {
        memory::resize(scratch, block.len())?;
    }
    let geometry = geometry(job.params);
    let cx = filter_cx(job.params, job.plan, reference, geometry.as_ref());
    job.params.filters.forward(&job.params.registries.filters, &cx, block, filtered, scratch)?;
    Ok(filtered)
}

/// A stream in its final form: its size field, and the number of bytes after it. Initially a run of
/// zeros.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Coded {
    pub(super) size: [u8; 4],
    pub(super) len: usize,
    /// Whether the bytes still have to be copied from the block.
    pub(super) is_source: bool,
}

impl Coded {
    /// A stored stream.
    fn stored(data: &[u8]) -> Self {
        Self { size: field(data.len()).to_le_bytes(), len: data.len(), is_source: false }
    }
}

/// Writes streams.
struct Coder<'a> {
    encoder: &'a mut dyn StreamEncoder,
    form: Form,
    simd: Simd,
}

impl<'a> Coder<'a> {
    fn new(encoder: &'a mut dyn StreamEncoder, job: &Job<'_>) -> Self {
        Self { encoder, form: job.plan.form(), simd: job.params.registries.simd }
    }

    /// Writes one stream with its size, or only the size if it is stored; `None` if both do not
    /// fit. `spare` is for streams that may turn out to fit.
    fn write(
        &mut self,
        data: &[u8],
        dest: &mut [u8],
        spare: &mut Vec<u8>,
    ) -> Result<Option<Coded>> {
        let Some((size, body)) = dest.split_at_mut_checked(4) else { return Ok(None) };
        let coded = if body.len() >= data.len() {
            self.code_apart(data, body)?
        } else if !self.encoder.depends_on_room() {
            let Some(coded) = self.shorten(data, body)? else { return Ok(None) };
            coded
        } else {
            // A stored stream would not fit, and is not worth a copy.
            memory::resize(spare, data.len())?;
            let Some(coded) = self.shorten(data, spare)? else { return Ok(None) };
            let Some(body) = body.get_mut(..coded.len) else { return Ok(None) };
            body.copy_from_slice(&spare[..coded.len]);
            coded
        };
        size.copy_from_slice(&coded.size);
        Ok(Some(coded))
    }

    /// Copies the last `n` streams of `len` bytes of a block, which are stored and the last of
    /// `dest`, after their sizes.
    fn store_last(&self, n: usize, len: usize, block: &[u8], dest: &mut [u8]) {
        let from = block[block.len() - n * len..].chunks_exact(len);
        let to = dest.len() - n * (4 + len);
        for (from, to) in from.zip(dest[to..].chunks_exact_mut(4 + len)) {
            StoreHint::Cached.copy_read(self.simd, from, &mut to[4..]);
        }
    }

    /// Writes the payload of a stream; `room` is long enough for all of it.
    fn code(&mut self, data: &[u8], room: &mut [u8]) -> Result<Coded> {
        let mut coded = self.code_apart(data, room)?;
        if core::mem::take(&mut coded.is_source) {
            StoreHint::Cached.copy_read(self.simd, data, &mut room[..data.len()]);
        }
        Ok(coded)
    }

    /// The same, but a stored stream is not copied yet.
    fn code_apart(&mut self, data: &[u8], room: &mut [u8]) -> Result<Coded> {
        let coded = self.shorten(data, room)?;
        Ok(coded.unwrap_or_else(|| Coded { is_source: true, ..Coded::stored(data) }))
    }

    /// The same if the stream gets shorter and fits. If `room` is as long as `data`, the codec gets
    /// one byte less, so that the result does not depend on the room.
    fn shorten(&mut self, data: &[u8], room: &mut [u8]) -> Result<Option<Coded>> {
        if self.form == Form::Blosc2
            && let Some(value) = run_value(data)
        {
            return Ok(write_run(value, room));
        }
        let max_len = room.len().min(data.len() - 1);
        let coded = self.encoder.encode(data, &mut room[..max_len]);
        let Some(len) = coded.map_err(|source| Error::Codec { at: 0, source })? else {
            return Ok(None);
        };
        let size = if self.form == Form::Vl { data.len() } else { len };
        Ok(Some(Coded { size: field(size).to_le_bytes(), len, is_source: false }))
    }
}

/// The byte of which the stream consists.
fn run_value(data: &[u8]) -> Option<u8> {
    let (&first, rest) = data.split_first()?;
    // A comparison with itself, shifted by one: memcmp does it faster than any loop over bytes.
    (rest == &data[..rest.len()]).then_some(first)
}

/// Runs of zeros, one for each stream.
fn write_zero_runs(nstreams: usize, dest: &mut [u8]) -> Option<usize> {
    let sizes = dest.get_mut(..4 * nstreams)?;
    sizes.fill(0);
    Some(4 * nstreams)
}

/// A run of zeros is only a size; a token confirms other runs, if there is space.
fn write_run(value: u8, room: &mut [u8]) -> Option<Coded> {
    let len = usize::from(value != 0);
    room.get_mut(..len)?.fill(1);
    Some(Coded { size: (-i32::from(value)).to_le_bytes(), len, is_source: false })
}

struct Cached {
    split: bool,
    dict: Option<Arc<[u8]>>,
    encoder: Box<dyn StreamEncoder>,
}

impl fmt::Debug for Cached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cached").field("split", &self.split).finish_non_exhaustive()
    }
}

/// The encoder of the last chunk, if this one needs the same.
fn encoder<'a>(cached: &'a mut Option<Cached>, job: &Job<'_>) -> Result<&'a mut dyn StreamEncoder> {
    let (split, dict) = (job.plan.header.is_split(), &job.plan.dict);
    let encoder = match cached.take().filter(|cached| cached.split == split && cached.dict == *dict)
    {
        Some(cached) => cached,
        None => Cached::new(job.params, split, dict.clone())?,
    };
    Ok(&mut *cached.insert(encoder).encoder)
}

impl Cached {
    fn new(params: &CParams, split: bool, dict: Option<Arc<[u8]>>) -> Result<Self> {
        let (id, format) = (params.codec, params.codec.format());
        let codec = params.registries.codecs.require(id);
        let codec = codec.map_err(|source| Error::UnknownCodec { format, id, source })?;
        let options = EncodeOptions {
            clevel: params.clevel,
            meta: params.codec_meta,
            typesize: usize::from(params.stored_typesize()),
            split,
            dict: dict.as_deref(),
            blockshape: params.blockshape.as_deref(),
            simd: params.registries.codec_simd(),
        };
        let encoder =
            codec.new_encoder(&options).map_err(|source| Error::Codec { at: 0, source })?;
        Ok(Self { split, dict, encoder })
    }
}
