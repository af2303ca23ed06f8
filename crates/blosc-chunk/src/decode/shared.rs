//! The only block of a chunk, whose streams several threads decode.
//!
//! The result is that of [`Worker::decode_block`](super::Worker): another thread decodes each
//! stream and each run of items, but in the same way.

use blosc_filters::{
    Reference,
    internal::{StoreHint, unshuffle_planes},
};

use super::Job;
use super::planes::SHUFFLE;
use super::worker::{Worker, resized};
use crate::error::{Error, Result};
use crate::jobs::{self, for_each, for_each_after};
use crate::promise::Promise;
use crate::source::Blocks;
use crate::stream::{Payload, Streams};

/// Bytes of data whose shuffle is undone at a time; see `docs/performance/chunk.md`.
const MIN_PART_NBYTES: usize = 64 << 10;
const MAX_PART_NBYTES: usize = 256 << 10;
/// Parts for each thread, if they are long enough.
const PARTS_PER_JOB: usize = 8;

/// Decodes the only block of a chunk, which is split.
pub(super) fn read_split_block<B: Blocks>(
    job: &Job<'_, B>,
    jobs: usize,
    workers: &mut Vec<Worker>,
    dest: &mut [u8],
) -> Result<()> {
    let block = job.blocks.block(0)?;
    let in_block = |error: Error| error.in_block(0, block.at);
    let streams = block.streams(job.blocks.layout());
    if job.undo.is_nothing() {
        return decode_streams(job, jobs, workers, streams, dest, job.stores).map_err(in_block);
    }
    job.params.limits.check_nbytes(dest.len()).map_err(in_block)?;
    let mut filtered = core::mem::take(&mut jobs::first_worker(workers).filtered);
    let src = resized(&mut filtered, dest.len())?;
    let result = if job.undo.only() == Some(SHUFFLE) {
        unshuffle_streams(job, jobs, workers, streams, (src, dest))
    } else {
        let cx = job.filter_cx(Reference::FirstBlock, job.stores);
        decode_streams(job, jobs, workers, streams, src, StoreHint::Cached)
            .and_then(|()| Ok(job.undo.apply(&cx, src, dest)?))
    };
    jobs::first_worker(workers).filtered = filtered;
    result.map_err(in_block)
}

fn decode_streams<B: Blocks>(
    job: &Job<'_, B>,
    jobs: usize,
    workers: &mut Vec<Worker>,
    mut streams: Streams<'_>,
    dest: &mut [u8],
    stores: StoreHint,
) -> Result<()> {
    let len = dest.len() / job.blocks.layout().header.typesize();
    let parts = dest.chunks_exact_mut(len).map(|part| (streams.at, streams.next(len), part));
    for_each((&job.params.threads, jobs), workers, parts, |worker, (at, payload, part)| {
        worker.decode_stream(job, (payload?, at), part, 0..len, stores)
    })
}

/// A part of the work on a shuffled block.
enum Step<'a> {
    /// Decode a stream to a plane.
    Decode {
        at: usize,
        payload: Result<Payload<'a>>,
        plane: &'a mut [u8],
        decoded: &'a Promise<&'a [u8]>,
    },
    /// Assemble items from the bytes from `first` on of all planes.
    Unshuffle { first: usize, items: &'a mut [u8] },
}

/// The threads share the filter as well: each undoes it for some items at a time, after all planes
/// are decoded.
fn unshuffle_streams<'a, B: Blocks>(
    job: &Job<'_, B>,
    jobs: usize,
    workers: &mut Vec<Worker>,
    mut streams: Streams<'a>,
    (filtered, dest): (&'a mut [u8], &'a mut [u8]),
) -> Result<()> {
    let typesize = job.blocks.layout().header.typesize();
    let part = (dest.len() / jobs / PARTS_PER_JOB).clamp(MIN_PART_NBYTES, MAX_PART_NBYTES);
    let (width, nitems) = (filtered.len() / typesize, part / typesize);
    let planes: Vec<_> = (0..typesize).map(|_| Promise::default()).collect();
    let decode = filtered.chunks_exact_mut(width).zip(&planes).map(|(plane, decoded)| {
        let at = streams.at;
        Step::Decode { at, payload: streams.next(width), plane, decoded }
    });
    let unshuffle = dest.chunks_mut(nitems * typesize).enumerate();
    let unshuffle = unshuffle.map(|(n, items)| Step::Unshuffle { first: n * nitems, items });
    for_each_after((&job.params.threads, jobs), workers, decode, unshuffle, |worker, step| {
        match step {
            Step::Decode { at, payload, plane, decoded } => {
                decoded.fulfil(|| worker.decode_plane(job, (payload?, at), plane))
            }
            Step::Unshuffle { first, items } => {
                let range = first..first + items.len() / typesize;
                let planes = planes.iter().map(|plane| Some(&plane.wait()?[range.clone()]));
                // If a plane is missing, the error is that of the step that decodes it.
                let Some(planes) = planes.collect::<Option<Vec<_>>>() else { return Ok(()) };
                unshuffle_planes(job.params.registries.simd, job.stores, &planes, items);
                Ok(())
            }
        }
    })
}
