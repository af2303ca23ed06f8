//! Bare chunks, one or several that follow each other: every block that can be read stays at its
//! position.

use core::ops::Range;
use std::{io::Write as _, path::Path};

use b2frame::{probe, probe::Kind};
use blosc_chunk::Limits;
use blosc_container::rescue::{
    ChunkError, ChunkSalvage, ChunkState, Fill, RescueOptions, chunk_members,
};
use blosc_io::{FileStore, ReadAt};

use super::{Bad, Counts, Rescue, Saved, frame::not_good, unreadable};
use crate::{
    error::{Doing, Error, Result, message},
    formats::chunk,
    inputs::Guard,
    memory,
    output::targets::CHUNK_SUFFIX,
};

/// Whether what stands at `offset` of the file begins like a chunk, or the file is called like one
/// and begins like nothing else.
pub(crate) fn is_chunk(path: &Path, offset: u64) -> Result<bool> {
    let store = FileStore::open(path).map_err(Error::io(Doing::Open))?;
    let left = store.len().map_err(unreadable(path))?.saturating_sub(offset);
    let mut head = vec![0; usize::try_from(left).unwrap_or(HEAD_NBYTES).min(HEAD_NBYTES)];
    store.read_exact_at(offset, &mut head).map_err(unreadable(path))?;
    let is_called = path.as_os_str().as_encoded_bytes().ends_with(CHUNK_SUFFIX.as_bytes());
    Ok(match probe(&head) {
        Kind::Chunk | Kind::Unknown => is_called || chunk::header_of(&head).is_some(),
        _ => false,
    })
}

/// Bytes that tell the format of a file.
const HEAD_NBYTES: usize = 64;

/// Rescues the chunks of `path` as `target`: all that follow each other, or the one at byte
/// `offset`.
pub(super) fn run(rescue: Rescue<'_>) -> Result<Saved> {
    let Rescue { args, path, target, .. } = rescue;
    let store = FileStore::open(path).map_err(Error::io(Doing::Open))?;
    let members = members(&store, rescue.offset, path)?;
    let mut guard = Guard::new(args.limits);
    let staged = rescue.stage_file()?;
    let mut output = staged.handle()?;
    let mut all = Saved { complete: true, ..Saved::default() };
    let (mut chunks, mut blocks) = (Counts::default(), Counts::default());
    for (nchunk, member) in (0u64..).zip(&members) {
        let place = match members.len() {
            1 => String::new(),
            _ => format!("chunk {nchunk} at byte {}: ", member.start),
        };
        let Some(saved) = salvage(rescue, &store, member)? else {
            let len = member.end.saturating_sub(member.start);
            all.actions.push(format!("{place}{len} bytes of which nothing can be read"));
            all.complete = false;
            chunks.lost += 1;
            continue;
        };
        guard.admit_bytes(saved.data().len() as u64, member.end.saturating_sub(member.start))?;
        let chunk = saved.to_chunk().map_err(bad_chunk(member.start))?;
        output.write_all(&chunk).map_err(Error::io_at(Doing::Write, target))?;
        chunks.add(state_of(&saved));
        saved.blocks.iter().for_each(|state| blocks.add(*state));
        all.complete &= saved.is_complete();
        all.nbytes = all.nbytes.saturating_add(saved.data().len() as u64);
        all.filled = all.filled.saturating_add(saved.filled);
        let of_chunk = (members.len() > 1).then_some(nchunk);
        all.bad.extend(Bad::blocks(of_chunk, &saved.blocks));
        all.actions
            .extend(actions_of(rescue, &saved).iter().map(|action| format!("{place}{action}")));
    }
    if chunks.good + chunks.doubtful == 0 {
        return Err(message::NOTHING_RESCUED.error());
    }
    rescue.commit(staged)?;
    Ok(Saved { chunks: Some(chunks), blocks: Some(blocks), ..all })
}

/// Where the chunks are (bytes).
fn members(store: &FileStore, offset: Option<u64>, path: &Path) -> Result<Vec<Range<u64>>> {
    let members = match offset {
        None => chunk_members(store),
        Some(start) => store.len().and_then(|len| {
            let rest = blosc_io::Windowed::new(store, start, len.saturating_sub(start))?;
            let first = chunk_members(&rest)?.into_iter().take(1);
            Ok(first.map(|range| start..start.saturating_add(range.end)).collect())
        }),
    };
    members.map_err(unreadable(path))
}

/// What can be read of the chunk there; `None` if no block can.
fn salvage(
    rescue: Rescue<'_>,
    store: &FileStore,
    member: &Range<u64>,
) -> Result<Option<ChunkSalvage>> {
    let Rescue { args, cx, path, .. } = rescue;
    let len = member.end.saturating_sub(member.start);
    // The bytes, a copy with sound block starts, and as much for the data.
    let (needed, limit) = (len.saturating_mul(4), cx.memory());
    memory::check(needed, limit)?;
    let mut bytes = vec![0; memory::as_len(len)];
    store.read_exact_at(member.start, &mut bytes).map_err(unreadable(path))?;
    let dparams = cx.dparams().limits(Limits::none().max_nbytes(cx.memory() / 4));
    let options = RescueOptions::default().fill(args.fill());
    match ChunkSalvage::from_bytes(&bytes, &dparams, &options) {
        Ok(saved) => Ok(Some(saved).filter(|saved| state_of(saved) != ChunkState::Lost)),
        Err(ChunkError::Chunk(
            blosc_chunk::Error::Corrupt { .. } | blosc_chunk::Error::UnknownVersion { .. },
        )) => Ok(None),
        Err(ChunkError::Chunk(source)) => Err(bad_chunk(member.start)(source)),
        Err(ChunkError::Fill { typesize, .. }) => Err(misfit(&args.fill(), typesize)),
        Err(_) => Err(message::NOTHING_RESCUED.error()),
    }
}

fn misfit(fill: &Fill, typesize: usize) -> Error {
    match fill {
        Fill::NaN => message::NO_NAN.about(typesize),
        _ => message::FILL_OF_ITEM.about(typesize),
    }
}

fn bad_chunk(at: u64) -> impl Fn(blosc_chunk::Error) -> Error {
    move |source| Error::Chunk { at, source }
}

/// What became of a chunk, of which some blocks may be there and others not.
fn state_of(saved: &ChunkSalvage) -> ChunkState {
    let nblocks = saved.blocks.len() as u64;
    match saved.count(ChunkState::Lost) {
        lost if lost == nblocks && nblocks > 0 => ChunkState::Lost,
        0 if saved.is_complete() => ChunkState::Good,
        _ => ChunkState::Doubtful,
    }
}

fn actions_of(rescue: Rescue<'_>, saved: &ChunkSalvage) -> Vec<String> {
    let mut actions: Vec<String> = saved.damage.iter().map(ToString::to_string).collect();
    actions.extend(not_good("block", &saved.blocks, rescue.lost_are()));
    actions
}
