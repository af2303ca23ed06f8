//! Frames, contiguous or sparse: every chunk that can be read stays at its position.

use std::path::Path;

use b2frame::{
    OpenOptions, SChunk,
    rescue::{ChunkState, RescueOptions, Salvage},
    seal::SealState,
};
use blosc_chunk::Limits;

use super::{Chunks, Saved};
use crate::{
    args::RescueArgs,
    context::Context,
    error::Result,
    inputs::{decoded::Guard, object::frame_bytes},
    output::staged::{Nest, StageOptions},
    render::size,
};

/// Rescues the frame at byte `offset` of `path` as `target`.
pub(super) fn run(
    args: &RescueArgs,
    cx: &Context,
    path: &Path,
    offset: u64,
    target: &Path,
    options: StageOptions,
) -> Result<Saved> {
    let fill = args.fill();
    let saved = salvage(cx, path, offset, &RescueOptions::default().fill(fill))?;
    let unlike_seal = unlike_seal(cx, path, offset);
    Guard::new(args.limits).admit_bytes(saved.schunk.nbytes(), frame_bytes(&saved.schunk))?;
    let nest = Nest::create(target, options, &cx.unfinished)?;
    saved.save(nest.path())?;
    nest.commit(None)?;
    let mut actions: Vec<String> = saved.damage.iter().map(ToString::to_string).collect();
    if let Some(chunks) = &unlike_seal {
        let which = if chunks.is_empty() { "unknown".to_owned() } else { listed(chunks) };
        actions.push(format!("the checksum says that data changed: {which}"));
    }
    let lost = with_state(&saved.chunks, ChunkState::Lost);
    let what = if args.cut { "cut" } else { "filled" };
    for (state, what) in [(ChunkState::Lost, what), (ChunkState::Doubtful, "perhaps elsewhere")] {
        let found = with_state(&saved.chunks, state);
        if !found.is_empty() {
            actions.push(format!("{what}: {}", listed(&found)));
        }
    }
    let chunksize = saved.schunk.chunksize().fixed().map_or(0, u64::from);
    let filled = if args.cut { 0 } else { chunksize.saturating_mul(lost.len() as u64) };
    Ok(Saved {
        complete: saved.is_complete() && unlike_seal.is_none(),
        nbytes: saved.schunk.nbytes(),
        filled: filled.min(saved.schunk.nbytes()),
        actions,
        chunks: Some(Chunks {
            good: saved.count(ChunkState::Good),
            doubtful: saved.count(ChunkState::Doubtful),
            lost: lost.len() as u64,
        }),
    })
}

/// The chunks of a frame that opens which are not what its seal says. Some chunks decode to other
/// data than were written.
fn unlike_seal(cx: &Context, path: &Path, offset: u64) -> Option<Vec<u64>> {
    let open = OpenOptions::default().offset(offset).dparams(cx.dparams());
    match SChunk::open_with(path, &open).ok()?.seal_state() {
        Ok(SealState::BodyDamaged { chunks }) => Some(chunks),
        _ => None,
    }
}

/// What can be read of a frame, in bounded memory.
pub(in crate::commands) fn salvage(
    cx: &Context,
    path: &Path,
    offset: u64,
    rescue: &RescueOptions,
) -> Result<Salvage> {
    let dparams = cx.dparams().limits(Limits::none().max_nbytes(cx.memory() / 2));
    let open = OpenOptions::default().offset(offset).dparams(dparams);
    Ok(Salvage::open(path, &open, rescue)?)
}

fn with_state(chunks: &[ChunkState], state: ChunkState) -> Vec<u64> {
    (0..).zip(chunks).filter(|(_, found)| **found == state).map(|(nchunk, _)| nchunk).collect()
}

/// `chunks 3, 7 to 9`, and of many only how many.
fn listed(nchunks: &[u64]) -> String {
    let runs: Vec<String> = nchunks
        .chunk_by(|a, b| a + 1 == *b)
        .map(|run| match run {
            [one] => one.to_string(),
            [first, .., last] => format!("{first} to {last}"),
            [] => String::new(),
        })
        .collect();
    match (nchunks.len(), runs.len()) {
        (1, _) => format!("chunk {}", runs.concat()),
        (_, ..=MAX_LISTED_RUNS) => format!("chunks {}", runs.join(", ")),
        (many, _) => format!("{} chunks", size::count(many as u64)),
    }
}

/// Runs of chunks that are listed one by one.
const MAX_LISTED_RUNS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_chunks_are_put_together() {
        assert_eq!(listed(&[3]), "chunk 3");
        assert_eq!(listed(&[3, 7, 8, 9]), "chunks 3, 7 to 9");
        assert_eq!(listed(&(0..100).map(|n| 2 * n).collect::<Vec<_>>()), "100 chunks");
    }
}
