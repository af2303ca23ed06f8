//! Compresses many blocks at once, or many streams of one block: each stream goes to the part of
//! the destination that is as long as its data, and all move to their offsets after their sizes are
//! known.
//!
//! A stored stream has four bytes more than its data, its size field, so sizes are kept separately
//! until then: without them, a block always fits. Some streams move up, others down, and no stream
//! overwrites one that still has to move: see [`Packing::move_all`].

use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::MIN_COPY_JOB_NBYTES;
use super::blocks::{Job, write_start};
use super::worker::{self, Coded, Worker};
use crate::error::{Error, Result};
use crate::jobs::{self, for_each};
use crate::memory;

/// A block and the memory for its compressed form.
pub(super) struct Slot<'a> {
    pub(super) nblock: usize,
    /// As long as the block's data.
    pub(super) room: &'a mut [u8],
    /// One for each stream, empty at first.
    pub(super) streams: &'a mut [Coded],
}

/// Compresses all blocks to the destination and returns their end; `None` if it is too small.
pub(super) fn encode(
    job: &Job<'_>,
    jobs: usize,
    workers: &mut Vec<Worker>,
    dest: &mut [u8],
) -> Result<Option<usize>> {
    let nbytes = job.plan.header.nbytes();
    if dest.len() >= nbytes {
        return encode_within(job, jobs, workers, dest, dest.len());
    }
    let mut long = memory::zeros(nbytes)?;
    let end = encode_within(job, jobs, workers, &mut long, dest.len())?;
    if let Some(end) = end {
        dest[..end].copy_from_slice(&long[..end]);
    }
    Ok(end)
}

/// The same for a destination with space for all data; the chunk may use the first `max_cbytes`.
fn encode_within(
    job: &Job<'_>,
    jobs: usize,
    workers: &mut Vec<Worker>,
    dest: &mut [u8],
    max_cbytes: usize,
) -> Result<Option<usize>> {
    let first = dest.len() - job.plan.header.nbytes();
    let room = max_cbytes.saturating_sub(job.plan.table_end());
    let mut streams = Vec::new();
    memory::resize::<Coded>(&mut streams, job.plan.all_streams())?;
    let nblocks = 0..job.plan.grid.nblocks;
    let slots = Slots { job, nblocks, room: &mut dest[first..], streams: &mut streams };
    if !fill_slots(job, jobs, workers, slots, room)? {
        return Ok(None);
    }
    let packing = Packing::new(job, &streams, first);
    packing.move_all(dest);
    packing.copy_stored(
        job,
        jobs,
        jobs::first_worker(workers).kept(job),
        &mut dest[..max_cbytes],
        first,
    )?;
    Ok(Some(packing.finish(job, dest)))
}

/// Compresses each block to its slot; returns whether all fit `room`. If they do not, the rest is
/// skipped.
fn fill_slots(
    job: &Job<'_>,
    jobs: usize,
    workers: &mut Vec<Worker>,
    slots: Slots<'_, '_>,
    room: usize,
) -> Result<bool> {
    let mut slots = slots.peekable();
    let mut cbytes = 0;
    // Blocks of zeros take less time than waking a thread.
    while let Some(slot) = slots.next_if(|slot| worker::is_given_as_zeros(job, slot.nblock)) {
        cbytes += 4 * slot.streams.len();
    }
    if slots.peek().is_none() {
        return Ok(cbytes <= room);
    }
    if job.plan.grid.nblocks == 1
        && let Some(slot) = slots.next()
    {
        return Ok(worker::encode_streams(job, jobs, workers, slot)? <= room);
    }
    let total = AtomicUsize::new(cbytes);
    jobs::number(workers, jobs, |worker, number| worker.hook().number = number);
    for_each((&job.params.threads, jobs), workers, slots, |worker, slot| {
        if total.load(Ordering::Relaxed) <= room {
            total.fetch_add(worker.encode_apart(job, slot)?, Ordering::Relaxed);
        }
        Ok::<(), Error>(())
    })?;
    Ok(total.into_inner() <= room)
}

/// Cuts the destination at the borders of blocks.
struct Slots<'a, 'j> {
    job: &'j Job<'j>,
    nblocks: Range<usize>,
    room: &'a mut [u8],
    streams: &'a mut [Coded],
}

impl<'a> Iterator for Slots<'a, '_> {
    type Item = Slot<'a>;

    fn next(&mut self) -> Option<Slot<'a>> {
        let nblock = self.nblocks.next()?;
        let nbytes = self.job.input.block_nbytes(self.job.plan, nblock);
        let (room, rest) = core::mem::take(&mut self.room).split_at_mut(nbytes);
        let nstreams = self.job.plan.nstreams(nbytes);
        let (streams, more) = core::mem::take(&mut self.streams).split_at_mut(nstreams);
        (self.room, self.streams) = (rest, more);
        Some(Slot { nblock, room, streams })
    }
}

/// A stream without its size field: its position, and its final position.
#[derive(Clone, Copy, Debug)]
struct Move {
    from: usize,
    to: usize,
    coded: Coded,
}

/// All streams in order, the ends of streams, and the ends of blocks.
struct Packing {
    moves: Vec<Move>,
    starts: Vec<usize>,
    end: usize,
}

impl Packing {
    /// A packing of slots that begin at `first`.
    fn new(job: &Job<'_>, streams: &[Coded], first: usize) -> Self {
        let (mut slot, mut rest) = (first, streams);
        let mut packing = Self { moves: Vec::new(), starts: Vec::new(), end: job.plan.table_end() };
        for nblock in 0..job.plan.grid.nblocks {
            packing.starts.push(packing.end);
            let nbytes = job.input.block_nbytes(job.plan, nblock);
            let (streams, more) = rest.split_at(job.plan.nstreams(nbytes));
            for (nstream, &coded) in streams.iter().enumerate() {
                let from = slot + nstream * (nbytes / streams.len());
                packing.moves.push(Move { from, to: packing.end + 4, coded });
                packing.end += 4 + coded.len;
            }
            (slot, rest) = (slot + nbytes, more);
        }
        packing
    }

    /// Streams and offsets have the same order. So a stream that moves up can overwrite only later
    /// streams, which move up as well and move first; one that moves down can overwrite only
    /// earlier ones.
    fn move_all(&self, dest: &mut [u8]) {
        let mut copy =
            |Move { from, to, coded }: &Move| dest.copy_within(*from..from + coded.len, *to);
        let moves = self.moves.iter().filter(|item| !item.coded.is_source);
        moves.clone().rev().filter(|item| item.to > item.from).for_each(&mut copy);
        moves.filter(|item| item.to < item.from).for_each(copy);
    }

    /// Copies stored streams from `source`, which is as long as all slots. `first` is the start of
    /// the slots.
    fn copy_stored(
        &self,
        job: &Job<'_>,
        jobs: usize,
        source: &[u8],
        dest: &mut [u8],
        first: usize,
    ) -> Result<()> {
        let moves = self.moves.iter().filter(|item| item.coded.is_source);
        let nbytes = moves.clone().map(|item| item.coded.len).sum::<usize>();
        let (mut rest, mut at) = (dest, 0);
        let copies = moves.map(|Move { from, to, coded }| {
            let (room, after) = core::mem::take(&mut rest)[to - at..].split_at_mut(coded.len);
            (rest, at) = (after, to + coded.len);
            (&source[from - first..][..coded.len], room)
        });
        let jobs = (&job.params.threads, jobs.min(nbytes / MIN_COPY_JOB_NBYTES));
        jobs::copy(jobs, job.params.registries.simd, copies)
    }

    /// Writes the sizes of streams and the starts of blocks, and returns the end of the blocks.
    fn finish(self, job: &Job<'_>, dest: &mut [u8]) -> usize {
        for Move { to, coded, .. } in self.moves {
            dest[to - 4..to].copy_from_slice(&coded.size);
        }
        for (nblock, start) in self.starts.into_iter().enumerate() {
            write_start(job.plan, nblock, start, dest);
        }
        self.end
    }
}
