//! Frames, contiguous or sparse: every chunk that can be read stays at its position.

use core::ops::Range;
use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::Arc,
};

use b2frame::{
    OpenOptions,
    probe::Kind,
    rescue::{self, ChunkState, RescueOptions, Salvage},
    seal::SealState,
};
use blosc_chunk::Limits;
use blosc_io::{FileStore, ReadAt, Windowed};

use super::{Bad, Counts, Rescue, Saved, unreadable};
use crate::{
    context::Context,
    error::{Doing, Error, Result},
    inputs::{Guard, frame_bytes},
    render::size,
};

/// Rescues the frames of `path` as `target`: all that follow each other, or the one at byte
/// `offset`.
pub(super) fn run(rescue: Rescue<'_>) -> Result<Saved> {
    let Rescue { args, cx, path, offset, .. } = rescue;
    let members = match offset {
        None if path.is_file() => {
            rescue::members(Arc::new(FileStore::open(path).map_err(unreadable(path))?))?
        }
        _ => vec![],
    };
    if members.len() > 1 {
        return several(rescue, &members);
    }
    let offset = offset.unwrap_or(0);
    let saved = salvage(cx, path, offset, &rescue.options(super::size_of(path)))?;
    Guard::new(args.limits).admit_bytes(saved.schunk.nbytes(), frame_bytes(&saved.schunk))?;
    let staged = rescue.stage()?;
    saved.save(staged.path())?;
    rescue.commit(staged)?;
    Ok(summary(rescue, &saved))
}

/// Rescues frames that follow each other as a file of frames that follow each other.
fn several(rescue: Rescue<'_>, members: &[Range<u64>]) -> Result<Saved> {
    let Rescue { args, cx, path, target, .. } = rescue;
    let store: Arc<dyn ReadAt> = Arc::new(FileStore::open(path).map_err(unreadable(path))?);
    let staged = rescue.stage()?;
    let written = Error::io_at(Doing::Write, target);
    let mut output = File::create(staged.path()).map_err(written)?;
    let member_path = staged.path().with_extension("member");
    let mut guard = Guard::new(args.limits);
    let mut all = Saved { complete: true, ..Saved::default() };
    let mut counts = Counts::default();
    let mut nframes = 0;
    for (number, member) in members.iter().enumerate() {
        let len = member.end.saturating_sub(member.start);
        let place = format!("frame {number} at byte {}", member.start);
        let window = Windowed::new(Arc::clone(&store), member.start, len);
        let window = window.map_err(unreadable(path))?;
        let (window, open) = (Arc::new(window), open_options(cx, 0));
        let saved = match Salvage::from_store(window, &open, &rescue.options(len)) {
            Ok(saved) => saved,
            Err(b2frame::Error::NotAFrame { .. }) => {
                all.actions.push(format!("{place}: {len} bytes of which nothing can be read"));
                all.complete = false;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        guard.admit_bytes(saved.schunk.nbytes(), frame_bytes(&saved.schunk))?;
        saved.save(&member_path)?;
        let copied = File::open(&member_path).and_then(|mut file| io::copy(&mut file, &mut output));
        copied.map_err(Error::io_at(Doing::Write, target))?;
        fs::remove_file(&member_path).map_err(Error::io_at(Doing::Write, target))?;
        let one = summary(rescue, &saved);
        all.complete &= one.complete;
        all.nbytes = all.nbytes.saturating_add(one.nbytes);
        all.filled = all.filled.saturating_add(one.filled);
        all.actions.extend(one.actions.iter().map(|action| format!("{place}: {action}")));
        one.chunks.into_iter().for_each(|chunks| counts.add_all(chunks));
        let frame = Some(number as u64);
        all.bad.extend(one.bad.into_iter().map(|bad| Bad { frame, ..bad }));
        nframes += 1;
    }
    if nframes == 0 {
        return Err(b2frame::Error::NotAFrame { found: Kind::Unknown }.into());
    }
    drop(output);
    rescue.commit(staged)?;
    Ok(Saved { chunks: Some(counts), ..all })
}

/// What to say of a frame that was saved.
fn summary(rescue: Rescue<'_>, saved: &Salvage) -> Saved {
    let mut actions: Vec<String> = saved.damage.iter().map(ToString::to_string).collect();
    let lost = with_state(&saved.chunks, ChunkState::Lost);
    let mut doubtful = with_state(&saved.chunks, ChunkState::Doubtful);
    match &saved.seal {
        Some(SealState::BodyDamaged { chunks }) if !chunks.is_empty() => {
            actions
                .push(format!("the checksum says that data changed: {}", listed("chunk", chunks)));
            doubtful.clear();
        }
        Some(SealState::BodyDamaged { .. }) => doubtful.clear(),
        Some(state @ (SealState::HeaderChanged | SealState::BrokenByOtherWriter)) => {
            actions.push(format!("the seal is not valid any more: {}", seal_text(state)));
        }
        _ => {}
    }
    for (found, what) in [(&lost, rescue.lost_are()), (&doubtful, "perhaps elsewhere")] {
        if !found.is_empty() {
            actions.push(format!("{what}: {}", listed("chunk", found)));
        }
    }
    if !saved.rewritten().is_empty() {
        let which = listed("chunk", saved.rewritten());
        actions.push(format!("compressed anew, as C-Blosc2 cannot read them back: {which}"));
    }
    let chunksize = saved.schunk.chunksize().fixed().map_or(0, u64::from);
    let filled = if rescue.args.cut { 0 } else { chunksize.saturating_mul(lost.len() as u64) };
    Saved {
        complete: saved.is_complete(),
        nbytes: saved.schunk.nbytes(),
        filled: filled.min(saved.schunk.nbytes()),
        actions,
        chunks: Some(Counts::of_states(&saved.chunks)),
        bad: Bad::chunks(&saved.chunks).collect(),
        seal: saved.seal.as_ref().map(seal_text),
        blocks: None,
    }
}

/// The state of a seal, as JSON has it.
fn seal_text(state: &SealState) -> &'static str {
    match state {
        SealState::Intact => "intact",
        SealState::NeverSealed => "never sealed",
        SealState::HeaderChanged => "header changed",
        SealState::BrokenByOtherWriter => "changed by another program",
        SealState::SealDamaged => "seal damaged",
        SealState::BodyDamaged { .. } => "body damaged",
        _ => "unknown",
    }
}

/// What can be read of a frame, in bounded memory.
pub(crate) fn salvage(
    cx: &Context,
    path: &Path,
    offset: u64,
    rescue: &RescueOptions,
) -> Result<Salvage> {
    Ok(Salvage::open(path, &open_options(cx, offset), rescue)?)
}

fn open_options(cx: &Context, offset: u64) -> OpenOptions {
    let dparams = cx.dparams().limits(Limits::none().max_nbytes(cx.memory() / 2));
    OpenOptions::default().offset(offset).dparams(dparams)
}

fn with_state(chunks: &[ChunkState], state: ChunkState) -> Vec<u64> {
    (0..).zip(chunks).filter(|(_, found)| **found == state).map(|(nchunk, _)| nchunk).collect()
}

/// `filled: blocks 3, 7 to 9`, and the doubtful ones.
pub(super) fn not_good<'a>(
    unit: &'a str,
    states: &'a [ChunkState],
    lost_are: &'a str,
) -> impl Iterator<Item = String> + use<'a> {
    let kinds = [(ChunkState::Lost, lost_are), (ChunkState::Doubtful, "doubtful")];
    let found = kinds.into_iter().map(|(state, what)| (what, with_state(states, state)));
    let found = found.filter(|(_, numbers)| !numbers.is_empty());
    found.map(move |(what, numbers)| format!("{what}: {}", listed(unit, &numbers)))
}

/// `chunks 3, 7 to 9`, and of many only how many. The unit is a chunk or a block.
fn listed(unit: &str, nchunks: &[u64]) -> String {
    let runs: Vec<String> = nchunks
        .chunk_by(|a, b| a + 1 == *b)
        .map(|run| match run {
            [one] => one.to_string(),
            [first, .., last] => format!("{first} to {last}"),
            [] => String::new(),
        })
        .collect();
    match (nchunks.len(), runs.len()) {
        (1, _) => format!("{unit} {}", runs.concat()),
        (_, ..=MAX_LISTED_RUNS) => format!("{unit}s {}", runs.join(", ")),
        (many, _) => format!("{} {unit}s", size::count(many as u64)),
    }
}

/// Runs of chunks that are listed one by one.
const MAX_LISTED_RUNS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_chunks_are_put_together() {
        assert_eq!(listed("chunk", &[3]), "chunk 3");
        assert_eq!(listed("chunk", &[3, 7, 8, 9]), "chunks 3, 7 to 9");
        assert_eq!(listed("chunk", &(0..100).map(|n| 2 * n).collect::<Vec<_>>()), "100 chunks");
    }
}
