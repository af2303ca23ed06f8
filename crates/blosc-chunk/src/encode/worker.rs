//! One thread's part: the filters forward, the cut into streams, and the codec.

use core::fmt;
use core::ops::Range;
use std::sync::Arc;

use blosc_codecs::{BlockEncoder, EncodeOptions};
use blosc_filters::{BlockGeometry, FilterCx, FilterId, Reference};

use super::blocks::Job;
use super::plan::{Form, Plan, field};
use crate::{CParams, Error, Result};

/// The buffers and the encoder of one thread.
#[derive(Debug, Default)]
pub(super) struct Worker {
    encoder: Option<Cached>,
    buffers: Buffers,
    /// A stream, where the destination has not enough room to try.
    stream: Vec<u8>,
    /// Compressed blocks, of which `used` bytes count.
    packed: Vec<u8>,
    used: usize,
    /// Which block is where in `packed`.
    index: Vec<(usize, Range<usize>)>,
}

#[derive(Debug, Default)]
struct Buffers {
    /// A block of data that are made on the way.
    plain: Vec<u8>,
    filtered: Vec<u8>,
    scratch: Vec<u8>,
}

impl Worker {
    /// Forgets the compressed blocks.
    pub(super) fn clear(&mut self) {
        self.used = 0;
        self.index.clear();
    }

    /// The compressed blocks by number.
    pub(super) fn packed(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.index.iter().map(|(nblock, range)| (*nblock, &self.packed[range.clone()]))
    }

    /// Compresses a block and keeps it; returns how long it is (bytes).
    pub(super) fn encode_packed(&mut self, job: &Job<'_>, nblock: usize) -> Result<usize> {
        let nbytes = job.input.block_nbytes(job.plan, nblock);
        let most = nbytes + 4 * job.plan.nstreams(nbytes);
        let start = self.used;
        let mut packed = core::mem::take(&mut self.packed);
        if packed.len() < start + most {
            packed.resize(start + most, 0);
        }
        let result = self.encode(job, nblock, &mut packed[start..start + most]);
        self.packed = packed;
        // A block that is stored fits always.
        let cbytes = result?.unwrap_or(most);
        self.used = start + cbytes;
        self.index.push((nblock, start..self.used));
        Ok(cbytes)
    }

    /// Compresses a block to the start of `dest`; returns how long it is (bytes), or `None` if it does not fit.
    pub(super) fn encode(&mut self, job: &Job<'_>, nblock: usize, dest: &mut [u8]) -> Result<Option<usize>> {
        let nbytes = job.input.block_nbytes(job.plan, nblock);
        if job.zeros_stay_zeros(nblock) && is_zero(job.input.block(job.plan, nblock, &mut self.buffers.plain))
        {
            return Ok(put_zeros(job.plan.nstreams(nbytes), dest));
        }
        let block = filtered(&mut self.buffers, job, nblock)?;
        let encoder = encoder(&mut self.encoder, job)?;
        let mut put = Put { encoder, spare: &mut self.stream, form: job.plan.form() };
        let mut end = 0;
        for stream in block.chunks_exact(block.len() / job.plan.nstreams(block.len())) {
            match put.stream(stream, &mut dest[end..])? {
                Some(cbytes) => end += cbytes,
                None => return Ok(None),
            }
        }
        Ok(Some(end))
    }

    /// A block as the codec gets it.
    pub(super) fn filtered<'b>(&'b mut self, job: &Job<'b>, nblock: usize) -> Result<&'b [u8]> {
        filtered(&mut self.buffers, job, nblock)
    }
}

/// A block after the filters.
fn filtered<'b>(buffers: &'b mut Buffers, job: &Job<'b>, nblock: usize) -> Result<&'b [u8]> {
    let Buffers { plain, filtered, scratch } = buffers;
    let block = job.input.block(job.plan, nblock, plain);
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
    scratch.resize(block.len(), 0);
    let geometry = geometry(job.params);
    let cx = filter_cx(job.params, job.plan, reference, geometry.as_ref());
    job.params.filters.forward(&job.params.registries.filters, &cx, block, filtered, scratch)?;
    Ok(filtered)
}

/// Writes streams.
struct Put<'a> {
    encoder: &'a mut dyn BlockEncoder,
    spare: &'a mut Vec<u8>,
    form: Form,
}

impl Put<'_> {
    /// Writes one stream with its size; returns how long both are (bytes), or `None` if they do not fit.
    fn stream(&mut self, plain: &[u8], dest: &mut [u8]) -> Result<Option<usize>> {
        if self.form == Form::Blosc2
            && let Some(value) = run_value(plain)
        {
            return Ok(put_run(value, dest));
        }
        let Some((csize, body)) = dest.split_at_mut_checked(4) else { return Ok(None) };
        let coded = self.coded(plain, body)?;
        let len = coded.unwrap_or(plain.len());
        let Some(body) = body.get_mut(..len) else { return Ok(None) };
        if coded.is_none() {
            body.copy_from_slice(plain);
        }
        let size = if self.form == Form::Vl { plain.len() } else { len };
        csize.copy_from_slice(&field(size).to_le_bytes());
        Ok(Some(4 + len))
    }

    /// Compresses a stream to less than its size, if that goes. The codec always gets the same room, so that the
    /// result does not depend on what is left of the destination.
    fn coded(&mut self, plain: &[u8], body: &mut [u8]) -> Result<Option<usize>> {
        let most = plain.len() - 1;
        let failed = |source| Error::Codec { at: 0, source };
        if let Some(body) = body.get_mut(..most) {
            return self.encoder.encode(plain, body).map_err(failed);
        }
        self.spare.resize(most, 0);
        let len = self.encoder.encode(plain, self.spare).map_err(failed)?;
        if let Some(len) = len
            && let Some(body) = body.get_mut(..len)
        {
            body.copy_from_slice(&self.spare[..len]);
        }
        Ok(len)
    }
}

/// The byte that the stream consists of.
fn run_value(plain: &[u8]) -> Option<u8> {
    let (&first, rest) = plain.split_first()?;
    // A comparison with itself, shifted by one: memcmp does it faster than any loop over bytes.
    (rest == &plain[..rest.len()]).then_some(first)
}

/// Whether all bytes are zero. It stops at the first that is not.
fn is_zero(plain: &[u8]) -> bool {
    run_value(plain) == Some(0)
}

/// Runs of zeros, one for each stream.
fn put_zeros(nstreams: usize, dest: &mut [u8]) -> Option<usize> {
    let sizes = dest.get_mut(..4 * nstreams)?;
    sizes.fill(0);
    Some(4 * nstreams)
}

/// A run of zeros is its size alone; other runs are confirmed by a token.
fn put_run(value: u8, dest: &mut [u8]) -> Option<usize> {
    dest.get_mut(..4)?.copy_from_slice(&(-i32::from(value)).to_le_bytes());
    if value == 0 {
        return Some(4);
    }
    *dest.get_mut(4)? = 1;
    Some(5)
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
