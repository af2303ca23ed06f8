//! The blocks of a chunk, one after another, or in parallel by [`slots`].

use blosc_codecs::CodecId;
use blosc_filters::{FilterId, Reference};

use super::plan::{Form, Plan};
use super::worker::Worker;
use super::{Input, slots, worker};
use crate::error::Result;
use crate::header::{ChunkHeader, field};
use crate::jobs;
use crate::memory;
use crate::params::CParams;
use crate::tuner::ThreadTuner;

/// The form of the encoded data.
pub(super) enum Fit {
    /// Compressed, and in the destination except for this header.
    Chunk(ChunkHeader),
    /// To be stored uncompressed.
    Memcpyed(ChunkHeader),
}

/// The facts that the blocks of one chunk share.
pub(super) struct Job<'a> {
    pub(super) params: &'a CParams,
    pub(super) plan: &'a Plan,
    pub(super) input: Input<'a>,
    /// The reference of blocks after the first.
    pub(super) reference: Option<&'a [u8]>,
    pub(super) is_filtered: bool,
}

impl<'a> Job<'a> {
    pub(super) fn new(
        params: &'a CParams,
        plan: &'a Plan,
        input: Input<'a>,
        reference: Option<&'a [u8]>,
    ) -> Self {
        Self { params, plan, input, reference, is_filtered: worker::is_filtered(params) }
    }

    /// All data, if there is no filter, so that streams are parts of the data.
    pub(super) fn source(&self) -> Option<&'a [u8]> {
        match self.input {
            Input::Slice(src) if !self.is_filtered => Some(src),
            _ => None,
        }
    }

    /// Whether filters keep a block of zeros the same, so that they can be skipped. All filters of
    /// the format do so, except delta with another block, and filters that fail without the shape
    /// of the block, or with a wrong one.
    pub(super) fn zeros_stay_zeros(&self, nblock: usize) -> bool {
        let refers = nblock > 0 && self.reference.is_some();
        let is_known = |id: FilterId| id <= FilterId::INT_TRUNC && !id.needs_block_shape();
        let known = self.params.filters.active().all(|slot| is_known(slot.id));
        self.plan.form() == Form::Blosc2 && known && !refers
    }
}

/// Compresses all blocks. `dest` is at most as long as the data and a header.
pub(super) fn encode(
    params: &CParams,
    plan: &Plan,
    input: Input<'_>,
    workers: &mut Vec<Worker>,
    tuner: &mut ThreadTuner,
    dest: &mut [u8],
) -> Result<Fit> {
    if plan.table_end() > dest.len() {
        return Ok(Fit::Memcpyed(plan.memcpyed()));
    }
    let first = first_block(params, plan, input, workers)?;
    let job = Job::new(params, plan, input, first.as_deref());
    let min_job_nbytes = if matches!(params.codec, CodecId::BLOSCLZ | CodecId::LZ4) {
        MIN_JOB_NBYTES_FAST
    } else {
        MIN_JOB_NBYTES
    };
    let parts = if plan.grid.nblocks == 1 { plan.all_streams() } else { plan.grid.nblocks };
    let end = tuner.run(
        params.threads.count_for(parts),
        plan.header.nbytes(),
        min_job_nbytes,
        |jobs| match jobs {
            1 => encode_serial(&job, workers, dest),
            jobs => slots::encode(&job, jobs, workers, dest),
        },
    )?;
    plan.write_dict(dest);
    let all_zeros = plan.table_end() + 4 * plan.all_streams();
    Ok(match end {
        Some(end) if end == all_zeros && may_be_special(params, plan) => Fit::Chunk(plan.zeros()),
        Some(end) => Fit::Chunk(plan.finish(end)),
        None => Fit::Memcpyed(plan.memcpyed()),
    })
}

/// Readers before C-Blosc2 3.1.5 refuse zeros that are not whole items.
fn may_be_special(params: &CParams, plan: &Plan) -> bool {
    let whole = plan.header.nbytes().is_multiple_of(plan.header.typesize());
    params.special_values && whole && plan.form() == Form::Blosc2
}

/// Compresses straight to the destination; `None` if it is too small.
fn encode_serial(
    job: &Job<'_>,
    workers: &mut Vec<Worker>,
    dest: &mut [u8],
) -> Result<Option<usize>> {
    let worker = jobs::first_worker(workers);
    let mut end = job.plan.table_end();
    for nblock in 0..job.plan.grid.nblocks {
        write_start(job.plan, nblock, end, dest);
        match worker.encode(job, nblock, &mut dest[end..])? {
            Some(cbytes) => end += cbytes,
            None => return Ok(None),
        }
    }
    Ok(Some(end))
}

pub(super) fn write_start(plan: &Plan, nblock: usize, start: usize, dest: &mut [u8]) {
    let at = plan.header.header_len() + 4 * nblock;
    dest[at..at + 4].copy_from_slice(&field(start).to_le_bytes());
}

/// The reference of delta in blocks after the first: the first block as a decoder will see it,
/// which differs from the data if a filter is lossy.
pub(super) fn first_block(
    params: &CParams,
    plan: &Plan,
    input: Input<'_>,
    workers: &mut Vec<Worker>,
) -> Result<Option<Vec<u8>>> {
    if plan.grid.nblocks < 2 || plan.form() == Form::Vl || !params.filters.contains(FilterId::DELTA)
    {
        return Ok(None);
    }
    let first = input.block(plan, 0, jobs::first_worker(workers).made())?;
    let mut first = memory::copy(first)?;
    let registry = &params.registries.filters;
    if params.filters.is_lossy(registry) {
        let geometry = worker::geometry(params);
        let cx = worker::filter_cx(params, plan, Reference::FirstBlock, geometry.as_ref());
        let (mut filtered, mut scratch) =
            (memory::zeros(first.len())?, memory::zeros(first.len())?);
        params.filters.forward(registry, &cx, &first, &mut filtered, &mut scratch)?;
        params.filters.backward(registry, &cx, &mut filtered, &mut first)?;
    }
    Ok(Some(first))
}

/// Bytes of data that justify a separate thread: they take some 80 us; see
/// `docs/performance/chunk.md`.
const MIN_JOB_NBYTES: usize = 16 << 10;
/// The same for fast codecs.
const MIN_JOB_NBYTES_FAST: usize = 256 << 10;
