//! Rescue of bare chunks, one or several in a row: every readable block keeps its position.

use core::ops::Range;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use blosc_container::rescue::{
    ChunkError, ChunkSalvage, ChunkState, Fill, RescueOptions, chunk_members,
};
use blosc_io::{ReadAt, Windowed};

use super::{Bad, Caller, Counts, Job, Options, Output, Report, file, not_good};
use crate::error::{Doing, Error, Result};
use crate::size::{as_len, check_memory};

/// Rescues all chunks of a file, or the one at the wanted position.
pub(super) fn run<C: Caller>(job: Job<'_>, caller: &mut C) -> Result<Report, C::Error> {
    let store = job.unread.file(job.path)?;
    let members = members(&*store, job.at)?;
    let target = caller.output(Output::File)?;
    let mut output = File::create(target).map_err(Error::io(Doing::Write))?;
    let mut all = Report { complete: true, ..Report::default() };
    let (mut chunks, mut blocks) = (Counts::default(), Counts::default());
    for (nchunk, member) in (0u64..).zip(&members) {
        let len = member.end.saturating_sub(member.start);
        let place = match members.len() {
            1 => String::new(),
            _ => format!("chunk {nchunk} at byte {}: ", member.start),
        };
        let Some(saved) = salvage(job.options, &*store, member)? else {
            all.actions.push(format!("{place}{len} bytes of which nothing can be read"));
            all.complete = false;
            chunks.lost += 1;
            continue;
        };
        caller.admit(saved.data().len() as u64, len)?;
        let chunk = saved.to_chunk().map_err(bad_chunk(member.start))?;
        output.write_all(&chunk).map_err(Error::io(Doing::Write))?;
        chunks.add(state_of(&saved));
        saved.blocks.iter().for_each(|state| blocks.add(*state));
        all.complete &= saved.is_complete();
        all.nbytes = all.nbytes.saturating_add(saved.data().len() as u64);
        all.filled = all.filled.saturating_add(saved.filled);
        let of_chunk = (members.len() > 1).then_some(nchunk);
        Bad::list(&mut all.bad, Bad::blocks(of_chunk, &saved.blocks));
        let actions = saved.damage.iter().map(ToString::to_string);
        let actions = actions.chain(not_good("block", &saved.blocks, job.options.lost_are()));
        all.actions.extend(actions.map(|action| format!("{place}{action}")));
    }
    if chunks.good + chunks.doubtful == 0 {
        return Err(Error::NothingRescued.into());
    }
    Ok(Report { chunks: Some(chunks), blocks: Some(blocks), ..all })
}

/// The state of the bare chunk at byte `at`.
pub(super) fn readable(path: &Path, at: u64, options: &Options) -> Result<Counts> {
    let (store, mut counts) = (file(path)?, Counts::default());
    for member in members(&store, Some(at))? {
        let saved = salvage(options, &store, &member)?;
        counts.add(saved.map_or(ChunkState::Lost, |saved| state_of(&saved)));
    }
    Ok(counts)
}

/// The ranges of the chunks (bytes).
fn members(store: &dyn ReadAt, at: Option<u64>) -> Result<Vec<Range<u64>>> {
    let members = match at {
        None => chunk_members(store),
        Some(start) => store.len().and_then(|len| {
            let rest = Windowed::new(store, start, len.saturating_sub(start))?;
            let first = chunk_members(&rest)?.into_iter().take(1);
            Ok(first.map(|range| start..start.saturating_add(range.end)).collect())
        }),
    };
    members.map_err(Error::io(Doing::Read))
}

/// The readable blocks of a chunk; `None` if there are none.
fn salvage(
    options: &Options,
    store: &dyn ReadAt,
    member: &Range<u64>,
) -> Result<Option<ChunkSalvage>> {
    let len = member.end.saturating_sub(member.start);
    // The bytes, a copy with repaired block starts, and as much for the data.
    check_memory(len.saturating_mul(4), options.budget.max_memory)?;
    let mut bytes = vec![0; as_len(len)];
    store.read_exact_at(member.start, &mut bytes).map_err(Error::io(Doing::Read))?;
    let fill = RescueOptions::default().fill(options.fill.clone());
    match ChunkSalvage::from_bytes(&bytes, &options.dparams_in(4), &fill) {
        Ok(saved) => Ok(Some(saved).filter(|saved| state_of(saved) != ChunkState::Lost)),
        Err(ChunkError::Chunk(
            blosc_chunk::Error::Corrupt { .. } | blosc_chunk::Error::UnknownVersion { .. },
        )) => Ok(None),
        Err(ChunkError::Chunk(source)) => Err(bad_chunk(member.start)(source)),
        Err(ChunkError::Fill { typesize, .. }) => {
            Err(Error::Fill { typesize, is_nan: options.fill == Fill::NaN })
        }
        Err(_) => Err(Error::NothingRescued),
    }
}

fn bad_chunk(at: u64) -> impl Fn(blosc_chunk::Error) -> Error {
    move |source| Error::Chunk { at, source }
}

/// The state of a chunk, of which only some blocks may be readable.
fn state_of(saved: &ChunkSalvage) -> ChunkState {
    let nblocks = saved.blocks.len() as u64;
    match saved.count(ChunkState::Lost) {
        lost if lost == nblocks && nblocks > 0 => ChunkState::Lost,
        0 if saved.is_complete() => ChunkState::Good,
        _ => ChunkState::Doubtful,
    }
}
