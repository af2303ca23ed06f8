//! Rescue of frames, contiguous or sparse: every readable chunk keeps its position.

use core::ops::Range;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use b2frame::probe::{Kind, probe};
use b2frame::rescue::{ChunkState, Salvage, members};
use b2frame::{OpenOptions, seal::SealState};
use blosc_io::{ReadAt, Windowed};

use super::{
    Bad, Caller, Counts, Job, Options, Output, Report, Unread, head, listed, stored_nbytes,
    with_state,
};
use crate::Tail;
use crate::error::{Doing, Error, Result};
use crate::formats::frame;

/// Rescues all frames of a file, or the one at the wanted position.
pub(super) fn run<C: Caller>(job: Job<'_>, caller: &mut C) -> Result<Report, C::Error> {
    let Job { path, at, options, unread } = job;
    let members = match at {
        None if path.is_file() => members(job.unread.file(path)?).map_err(Error::from)?,
        _ => vec![],
    };
    if members.len() > 1 {
        return several(job, &members, caller);
    }
    let allowed = caller.allowance(stored_nbytes(path));
    let saved = salvage(path, at.unwrap_or(0), options, allowed, unread)?;
    caller.admit(saved.schunk.nbytes(), frame::stored_nbytes(&saved.schunk))?;
    saved.save(caller.output(Output::Any)?).map_err(Error::from)?;
    Ok(report(options, &saved))
}

/// Rescues the frames of a sequence to a new sequence.
fn several<C: Caller>(
    job: Job<'_>,
    members: &[Range<u64>],
    caller: &mut C,
) -> Result<Report, C::Error> {
    let store = job.unread.file(job.path)?;
    let target = caller.output(Output::Any)?;
    let mut output = File::create(&target).map_err(Error::io(Doing::Write))?;
    let member_path = target.with_extension("member");
    let mut all = Report { complete: true, ..Report::default() };
    let (mut counts, mut nframes) = (Counts::default(), 0);
    for (number, member) in members.iter().enumerate() {
        let len = member.end.saturating_sub(member.start);
        let place = format!("frame {number} at byte {}", member.start);
        let Some(saved) = salvage_member(job.options, &store, member, caller.allowance(len))?
        else {
            let head = head(job.path, member.start)?;
            let (tail, is_frame) = (Tail::of_frames(len, &head), probe(&head) == Kind::Frame);
            all.actions.push(match tail.is_a_file() && !is_frame {
                true => format!("left out: {tail}"),
                false => format!("{place}: {len} bytes of which nothing can be read"),
            });
            all.complete = false;
            continue;
        };
        caller.admit(saved.schunk.nbytes(), frame::stored_nbytes(&saved.schunk))?;
        saved.save(&member_path).map_err(Error::from)?;
        append(&member_path, &mut output).map_err(Error::io(Doing::Write))?;
        let one = report(job.options, &saved);
        all.complete &= one.complete;
        all.nbytes = all.nbytes.saturating_add(one.nbytes);
        all.filled = all.filled.saturating_add(one.filled);
        all.actions.extend(one.actions.iter().map(|action| format!("{place}: {action}")));
        one.chunks.into_iter().for_each(|chunks| counts.add_all(chunks));
        let frame = Some(number as u64);
        Bad::list(&mut all.bad, one.bad.into_iter().map(|bad| Bad { frame, ..bad }));
        nframes += 1;
    }
    if nframes == 0 {
        return Err(Error::from(b2frame::Error::NotAFrame { found: Kind::Unknown }).into());
    }
    Ok(Report { chunks: Some(counts), ..all })
}

/// The readable part of one frame of a sequence; `None` if the part is not a frame.
fn salvage_member(
    options: &Options,
    store: &Arc<dyn ReadAt>,
    member: &Range<u64>,
    max_nbytes: u64,
) -> Result<Option<Salvage>> {
    let len = member.end.saturating_sub(member.start);
    let window = Windowed::new(Arc::clone(store), member.start, len);
    let window = Arc::new(window.map_err(Error::io(Doing::Read))?);
    let open = OpenOptions::default().dparams(options.dparams_in(2));
    match Salvage::from_store(window, &open, &options.of_container(max_nbytes)) {
        Ok(saved) => Ok(Some(saved)),
        Err(b2frame::Error::NotAFrame { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Moves the content of a file to the end of another one.
fn append(from: &Path, output: &mut File) -> io::Result<()> {
    io::copy(&mut File::open(from)?, output)?;
    fs::remove_file(from)
}

/// The readable part of a frame, in bounded memory.
pub(super) fn salvage(
    path: &Path,
    at: u64,
    options: &Options,
    max_nbytes: u64,
    unread: &Unread,
) -> Result<Salvage> {
    let open = OpenOptions::default().offset(at).dparams(options.dparams_in(2));
    let rescue = options.of_container(max_nbytes);
    let saved = match path.is_dir() {
        true => Salvage::from_tree(unread.tree(path), &open, &rescue),
        false => Salvage::from_store(unread.file(path)?, &open, &rescue),
    };
    match saved {
        // Without any part of a frame, the error names the real format of the file.
        Err(b2frame::Error::NotAFrame { .. }) if path.is_file() => {
            Err(b2frame::Error::NotAFrame { found: probe(&head(path, at)?) }.into())
        }
        saved => Ok(saved?),
    }
}

/// The report of a frame that was saved.
fn report(options: &Options, saved: &Salvage) -> Report {
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
    for (found, what) in [(&lost, options.lost_are()), (&doubtful, "perhaps elsewhere")] {
        if !found.is_empty() {
            actions.push(format!("{what}: {}", listed("chunk", found)));
        }
    }
    if !saved.rewritten().is_empty() {
        let which = listed("chunk", saved.rewritten());
        actions.push(format!("compressed anew, as C-Blosc2 cannot read them back: {which}"));
    }
    let chunksize = saved.schunk.chunksize().fixed().map_or(0, u64::from);
    let is_cut = options.lost_are() == "cut";
    let filled = if is_cut { 0 } else { chunksize.saturating_mul(lost.len() as u64) };
    Report {
        complete: saved.is_complete(),
        nbytes: saved.schunk.nbytes(),
        filled: filled.min(saved.schunk.nbytes()),
        actions,
        chunks: Some(Counts::of_states(&saved.chunks)),
        bad: Bad::chunks(&saved.chunks).collect(),
        seal: saved.seal.as_ref().map(seal_text),
        ..Report::default()
    }
}

/// The state of a seal in documents.
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
