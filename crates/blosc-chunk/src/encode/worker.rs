//! One thread's part: the filters forward, the cut into streams, and the codec.

use core::fmt;
use std::sync::Arc;

use blosc_codecs::{BlockEncoder, EncodeOptions};
use blosc_filters::{BlockGeometry, FilterCx, FilterId, Reference, Simd, Stores};

use super::blocks::Job;
use super::plan::{Form, Plan};
use super::slots::Slot;
use crate::header::field;
use crate::jobs::{self, for_each};
use crate::{CParams, Error, Result};

/// The buffers and the encoder of one thread.
#[derive(Debug, Default)]
pub(super) struct Worker {
    encoder: Option<Cached>,
    buffers: Buffers,
    /// A stream, where the destination has not enough room to try.
    stream: Vec<u8>,
}

#[derive(Debug, Default)]
struct Buffers {
    /// A block of data that are made on the way.
    plain: Vec<u8>,
    filtered: Vec<u8>,
    scratch: Vec<u8>,
}

impl Worker {
    /// Compresses a block to the start of `dest`; returns how long it is (bytes), or `None` if it does not fit.
    pub(super) fn encode(&mut self, job: &Job<'_>, nblock: usize, dest: &mut [u8]) -> Result<Option<usize>> {
        let Some(block) = filtered_unless_zeros(&mut self.buffers, job, nblock)? else {
            let nbytes = job.input.block_nbytes(job.plan, nblock);
            return Ok(put_zeros(job.plan.nstreams(nbytes), dest));
        };
        let mut coder = Coder::new(encoder(&mut self.encoder, job)?, job);
        let mut end = 0;
        for stream in block.chunks_exact(block.len() / job.plan.nstreams(block.len())) {
            match coder.put(stream, &mut dest[end..], &mut self.stream)? {
                Some(cbytes) => end += cbytes,
                None => return Ok(None),
            }
        }
        Ok(Some(end))
    }

    /// Compresses a block to its slot, without the sizes of streams; returns how long it is with them (bytes).
    pub(super) fn encode_apart(&mut self, job: &Job<'_>, slot: Slot<'_>) -> Result<usize> {
        let Slot { nblock, room, streams } = slot;
        let mut cbytes = 4 * streams.len();
        let Some(block) = filtered_unless_zeros(&mut self.buffers, job, nblock)? else { return Ok(cbytes) };
        let mut coder = Coder::new(encoder(&mut self.encoder, job)?, job);
        for (plain, room, coded) in parts(block, room, streams) {
            *coded = coder.code(plain, room)?;
            cbytes += coded.len;
        }
        Ok(cbytes)
    }

    /// Whether a block is zeros that need no filter.
    pub(super) fn is_zero(&mut self, job: &Job<'_>, nblock: usize) -> bool {
        let block = job.input.block(job.plan, nblock, &mut self.buffers.plain);
        is_zero(job, nblock, block)
    }

    /// A block as the codec gets it.
    pub(super) fn filtered<'b>(&'b mut self, job: &Job<'b>, nblock: usize) -> Result<&'b [u8]> {
        filtered(&mut self.buffers, job, nblock)
    }
}

/// The same as [`Worker::encode_apart`], with the streams in several threads.
pub(super) fn encode_streams(
    job: &Job<'_>,
    jobs: usize,
    workers: &mut Vec<Worker>,
    slot: Slot<'_>,
) -> Result<usize> {
    let Slot { nblock, room, streams } = slot;
    let mut buffers = core::mem::take(&mut jobs::first(workers).buffers);
    let block = filtered(&mut buffers, job, nblock)?;
    for_each(jobs, workers, parts(block, room, &mut *streams), |worker, (plain, room, coded)| {
        *coded = Coder::new(encoder(&mut worker.encoder, job)?, job).code(plain, room)?;
        Ok(())
    })?;
    jobs::first(workers).buffers = buffers;
    Ok(streams.iter().map(|coded| 4 + coded.len).sum())
}

/// The streams of a block, and where each goes.
fn parts<'a>(
    block: &'a [u8],
    room: &'a mut [u8],
    streams: &'a mut [Coded],
) -> impl Iterator<Item = (&'a [u8], &'a mut [u8], &'a mut Coded)> + Send {
    let len = block.len() / streams.len();
    let parts = block.chunks_exact(len).zip(room.chunks_exact_mut(len)).zip(streams);
    parts.map(|((plain, room), coded)| (plain, room, coded))
}

/// A block after the filters.
fn filtered<'b>(buffers: &'b mut Buffers, job: &Job<'b>, nblock: usize) -> Result<&'b [u8]> {
    let Buffers { plain, filtered, scratch } = buffers;
    let block = job.input.block(job.plan, nblock, plain);
    pass(job, nblock, block, filtered, scratch)
}

/// The same, made but once; `None` for zeros that need no filter.
fn filtered_unless_zeros<'b>(
    buffers: &'b mut Buffers,
    job: &Job<'b>,
    nblock: usize,
) -> Result<Option<&'b [u8]>> {
    let Buffers { plain, filtered, scratch } = buffers;
    let block = job.input.block(job.plan, nblock, plain);
    if is_zero(job, nblock, block) {
        return Ok(None);
    }
    pass(job, nblock, block, filtered, scratch).map(Some)
}

/// Whether a block is zeros that need no filter. It stops at the first byte that is not.
fn is_zero(job: &Job<'_>, nblock: usize, block: &[u8]) -> bool {
    job.zeros_stay_zeros(nblock) && run_value(block) == Some(0)
}

/// Filters a block, if there are filters.
fn pass<'b>(
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
        stores: Stores::Plain,
    }
}

fn filter<'b>(
    job: &Job<'_>,
    block: &[u8],
    reference: Reference<'_>,
    filtered: &'b mut Vec<u8>,
    scratch: &mut Vec<u8>,
) -> Result<&'b [u8]> {
    filtered.resize(block.len(), 0);
    if job.params.filters.active().nth(1).is_some() {
        scratch.resize(block.len(), 0);
    }
    let geometry = geometry(job.params);
    let cx = filter_cx(job.params, job.plan, reference, geometry.as_ref());
    job.params.filters.forward(&job.params.registries.filters, &cx, block, filtered, scratch)?;
    Ok(filtered)
}

/// What a stream became: its size field, and how many bytes follow that. At first, a run of zeros.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Coded {
    pub(super) size: [u8; 4],
    pub(super) len: usize,
}

/// Writes streams.
struct Coder<'a> {
    encoder: &'a mut dyn BlockEncoder,
    form: Form,
    simd: Simd,
}

impl<'a> Coder<'a> {
    fn new(encoder: &'a mut dyn BlockEncoder, job: &Job<'_>) -> Self {
        Self { encoder, form: job.plan.form(), simd: job.params.registries.simd }
    }

    /// Writes one stream with its size; returns how long both are (bytes), or `None` if they do not fit. `spare` is
    /// for streams that may turn out to fit.
    fn put(&mut self, plain: &[u8], dest: &mut [u8], spare: &mut Vec<u8>) -> Result<Option<usize>> {
        let Some((size, body)) = dest.split_at_mut_checked(4) else { return Ok(None) };
        let coded = if body.len() >= plain.len() {
            self.code(plain, body)?
        } else if !self.encoder.depends_on_room() {
            let Some(coded) = self.shorten(plain, body)? else { return Ok(None) };
            coded
        } else {
            // What would be stored does not fit, and is not worth a copy.
            spare.resize(plain.len(), 0);
            let Some(coded) = self.shorten(plain, spare)? else { return Ok(None) };
            let Some(body) = body.get_mut(..coded.len) else { return Ok(None) };
            body.copy_from_slice(&spare[..coded.len]);
            coded
        };
        size.copy_from_slice(&coded.size);
        Ok(Some(4 + coded.len))
    }

    /// Writes what follows the size of a stream, for all of which there is room.
    fn code(&mut self, plain: &[u8], room: &mut [u8]) -> Result<Coded> {
        if let Some(coded) = self.shorten(plain, room)? {
            return Ok(coded);
        }
        Stores::Plain.copy(self.simd, plain, &mut room[..plain.len()]);
        Ok(Coded { size: field(plain.len()).to_le_bytes(), len: plain.len() })
    }

    /// The same if it gets shorter and fits. If there is room for all of `plain`, the codec gets one byte less, so that
    /// the result depends neither on the room nor on the side that measures it.
    fn shorten(&mut self, plain: &[u8], room: &mut [u8]) -> Result<Option<Coded>> {
        if self.form == Form::Blosc2
            && let Some(value) = run_value(plain)
        {
            return Ok(put_run(value, room));
        }
        let most = room.len().min(plain.len() - 1);
        let coded = self.encoder.encode(plain, &mut room[..most]);
        let Some(len) = coded.map_err(|source| Error::Codec { at: 0, source })? else { return Ok(None) };
        let size = if self.form == Form::Vl { plain.len() } else { len };
        Ok(Some(Coded { size: field(size).to_le_bytes(), len }))
    }
}

/// The byte that the stream consists of.
fn run_value(plain: &[u8]) -> Option<u8> {
    let (&first, rest) = plain.split_first()?;
    // A comparison with itself, shifted by one: memcmp does it faster than any loop over bytes.
    (rest == &plain[..rest.len()]).then_some(first)
}

/// Runs of zeros, one for each stream.
fn put_zeros(nstreams: usize, dest: &mut [u8]) -> Option<usize> {
    let sizes = dest.get_mut(..4 * nstreams)?;
    sizes.fill(0);
    Some(4 * nstreams)
}

/// A run of zeros is its size alone; other runs are confirmed by a token, if there is room.
fn put_run(value: u8, room: &mut [u8]) -> Option<Coded> {
    let len = usize::from(value != 0);
    room.get_mut(..len)?.fill(1);
    Some(Coded { size: (-i32::from(value)).to_le_bytes(), len })
}

struct Cached {
    split: bool,
    dict: Option<Arc<[u8]>>,
    encoder: Box<dyn BlockEncoder>,
}

impl fmt::Debug for Cached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cached").field("split", &self.split).finish_non_exhaustive()
    }
}

/// The encoder of the last chunk, if this one wants the same.
fn encoder<'a>(cached: &'a mut Option<Cached>, job: &Job<'_>) -> Result<&'a mut dyn BlockEncoder> {
    let (split, dict) = (job.plan.header.is_split(), &job.plan.dict);
    let encoder = match cached.take().filter(|cached| cached.split == split && cached.dict == *dict) {
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
            level: params.level,
            meta: params.codec_meta,
            typesize: usize::from(params.stored_typesize()),
            split,
            dict: dict.as_deref(),
            blockshape: params.blockshape.as_deref(),
        };
        let encoder = codec.new_encoder(&options).map_err(|source| Error::Codec { at: 0, source })?;
        Ok(Self { split, dict, encoder })
    }
}
