//! `b2 rescue`: saves the sound parts of a damaged object as a new one. The damaged one is only
//! read.

mod bcolz;
mod blp;
pub(super) mod chunk;
pub(super) mod frame;
mod store;

use core::fmt::Write as _;
use std::{
    fs,
    path::{Path, PathBuf},
};

use b2frame::rescue::{ChunkState, RescueOptions};
use blosc_chunk::{DParams, Limits};
use serde::Serialize;

use crate::{
    args::RescueArgs,
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    formats::bcolz::stored,
    inputs::{Guard, Origin, Part, origin, walk},
    memory,
    output::{Naming, StageOptions, Staged, Target, Targets, check_frame_name},
    render::{harmless, path_text},
    report::MAX_LISTED_CHUNKS,
};

/// The result of one input.
#[derive(Serialize)]
#[serde(tag = "schema", rename = "b2.rescue/1")]
struct RescueReport<'a> {
    path: &'a str,
    output: String,
    #[serde(flatten)]
    saved: &'a Saved,
}

/// A rescue under way.
#[derive(Clone, Copy)]
struct Rescue<'a> {
    args: &'a RescueArgs,
    cx: &'a Context,
    /// The damaged object.
    path: &'a Path,
    /// The byte at which the only one starts that is wanted of several in a file.
    offset: Option<u64>,
    /// Where the sound parts go.
    target: &'a Path,
}

impl Rescue<'_> {
    /// How chunks are decoded, in half of the memory.
    fn dparams(self) -> DParams {
        let limits = Limits::none().max_nbytes(self.cx.memory() / 2);
        self.cx.dparams().limits(limits)
    }

    fn stage_options(self) -> StageOptions {
        StageOptions { force: self.args.force, sync: !self.args.no_sync }
    }

    /// Starts the new object as a file that is written by handle.
    fn stage_file(self) -> Result<Staged> {
        Staged::create(self.target, self.stage_options(), &self.cx.unfinished)
    }

    /// Starts the new object, which is written by path.
    fn stage(self) -> Result<Staged> {
        Staged::in_folder(self.target, self.stage_options(), &self.cx.unfinished)
    }

    /// Puts the new object in its place.
    fn commit(self, staged: Staged) -> Result<()> {
        staged.commit_with_mode(fs::metadata(self.path).ok().as_ref())
    }

    /// What is made of an object of `stored` bytes, with a bound for the data.
    fn options(self, stored: u64) -> RescueOptions {
        let allowed = Guard::allowance(self.args.limits, stored);
        RescueOptions::default().fill(self.args.fill()).max_nbytes(Some(allowed))
    }

    /// What is done with chunks that are lost.
    fn lost_are(self) -> &'static str {
        if self.args.cut { "cut" } else { "filled" }
    }
}

/// How many chunks or blocks were in which state.
#[derive(Clone, Copy, Default, Serialize)]
struct Counts {
    good: u64,
    doubtful: u64,
    lost: u64,
}

impl Counts {
    fn of_states(states: &[ChunkState]) -> Self {
        let mut counts = Self::default();
        states.iter().for_each(|state| counts.add(*state));
        counts
    }

    fn add(&mut self, state: ChunkState) {
        match state {
            ChunkState::Good => self.good += 1,
            ChunkState::Doubtful => self.doubtful += 1,
            ChunkState::Lost => self.lost += 1,
        }
    }

    fn add_all(&mut self, other: Self) {
        self.good += other.good;
        self.doubtful += other.doubtful;
        self.lost += other.lost;
    }
}

/// A chunk, or a block of a bare chunk, that is not good.
#[derive(Clone, Default, Serialize)]
struct Bad {
    /// The frame of a file of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<u64>,
    /// The value of a store, or the column of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u64>,
    state: &'static str,
}

impl Bad {
    /// Those of the chunks that are not good, but no more than are listed elsewhere: how many are
    /// lost may be what a damaged header says.
    fn chunks(states: &[ChunkState]) -> impl Iterator<Item = Self> {
        let max_listed = memory::as_len(MAX_LISTED_CHUNKS);
        let bad = numbered(states).take(max_listed);
        bad.map(|(chunk, state)| Self { chunk: Some(chunk), state, ..Self::default() })
    }

    /// Those of the blocks of a bare chunk that are not good.
    fn blocks(chunk: Option<u64>, states: &[ChunkState]) -> impl Iterator<Item = Self> {
        numbered(states).map(move |(block, state)| Self {
            chunk,
            block: Some(block),
            state,
            ..Self::default()
        })
    }
}

/// The numbers and the names of states that are not good.
fn numbered(states: &[ChunkState]) -> impl Iterator<Item = (u64, &'static str)> {
    (0u64..).zip(states).filter_map(|(number, state)| match state {
        ChunkState::Good => None,
        ChunkState::Doubtful => Some((number, "doubtful")),
        ChunkState::Lost => Some((number, "lost")),
    })
}

/// The result of one format.
#[derive(Default, Serialize)]
struct Saved {
    /// Is everything there that there was?
    complete: bool,
    /// Bytes of data in the new object, and how many of them are fill values.
    nbytes: u64,
    filled: u64,
    /// The steps of the rescue.
    actions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunks: Option<Counts>,
    /// The same of the blocks of bare chunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<Counts>,
    /// Those that are not good.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bad: Vec<Bad>,
    /// What the seal of a frame says.
    #[serde(skip_serializing_if = "Option::is_none")]
    seal: Option<&'static str>,
}

/// Rescues each input.
pub(crate) fn run(args: &RescueArgs, cx: &Context) -> Code {
    let mut inputs = origin::find(&args.inputs, &walk::ours);
    // A store without its embed.b2e is a directory like any other, and so is an array of bcolz
    // without its meta.
    for found in &mut inputs.found {
        let path = found.as_ref().err().map(|(name, _)| PathBuf::from(name));
        if let Some(path) = path.filter(|path| store::was_one(path) || bcolz::was_one(path)) {
            *found = Ok(Origin::File { path: path.into(), part: Part::Whole });
        }
    }
    cx.run_into_targets(inputs, &args.outputs(), |origin, targets| {
        rescue_input(args, cx, origin, targets)
    })
}

fn rescue_input(
    args: &RescueArgs,
    cx: &Context,
    origin: &Origin,
    targets: &mut Targets<'_>,
) -> Result<()> {
    let (path, offset) = match origin {
        Origin::File { path, part: Part::Whole } => (path, None),
        Origin::File { path, part: Part::Offset(at) } => (path, Some(*at)),
        _ => return Err(message::RESCUE_NEEDS_FILES.error()),
    };
    let target = targets.next(origin, Naming::Add(""))?;
    check_frame_name(&target)?;
    let Target::File(target) = target else {
        return Err(message::RESCUE_NEEDS_FILES.error());
    };
    let _lock = cx.lock_shared(origin, args.lock)?;
    let rescue = Rescue { args, cx, path, offset, target: &target };
    let is_bcolz = offset.is_none() && bcolz::was_one(path);
    if args.dtype.is_some() && !is_bcolz {
        return Err(message::TYPE_OF_BCOLZ.error());
    }
    let of_store = match offset.is_none() && store::was_one(path) {
        true => store::run(rescue)?,
        false => None,
    };
    let saved = if let Some(saved) = of_store {
        saved
    } else if is_bcolz {
        bcolz::run(rescue)?
    } else if offset.is_none() && path.is_file() && blp::is_blp(path)? {
        blp::run(rescue)?
    } else if path.is_file() && chunk::is_chunk(path, offset.unwrap_or(0))? {
        chunk::run(rescue)?
    } else {
        frame::run(rescue)?
    };
    report(cx, origin, &target, saved)
}

fn report(cx: &Context, origin: &Origin, target: &Path, saved: Saved) -> Result<()> {
    let (console, path) = (&cx.console, &origin.name());
    let Saved { complete, nbytes, filled, .. } = saved;
    if console.json() {
        let output = path_text(target);
        console.document(&RescueReport { path, output, saved: &saved })?;
    } else {
        let mut text = String::new();
        for action in &saved.actions {
            let _written = writeln!(text, "{}", harmless(action));
        }
        let sizes = console.units().size(nbytes);
        let share = match (complete, filled) {
            (true, _) => format!("everything ({sizes})"),
            (false, 0) => format!("{sizes} of data, see above"),
            (false, _) => {
                format!(
                    "{} of {sizes} are data, see above",
                    percent(nbytes.saturating_sub(filled), nbytes)
                )
            }
        };
        let _written = writeln!(text, "{}: {share}", console.name(&path_text(target)));
        if console.quiet() == 0 {
            console.print(&text)?;
        }
    }
    if complete { Ok(()) } else { Err(Error::Reported { code: Code::Data }) }
}

/// `99.73 %`, and never 100 of less than everything.
fn percent(part: u64, whole: u64) -> String {
    let hundredths = u128::from(part) * 10_000 / u128::from(whole.max(1));
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

/// The system refused to read the input.
fn unreadable(path: &Path) -> impl FnOnce(std::io::Error) -> Error + use<'_> {
    Error::io_at(Doing::Read, path)
}

/// Bytes that a file or a directory takes.
pub(super) fn size_of(path: &Path) -> u64 {
    match path.is_dir() {
        true => stored(&path.into()),
        false => fs::metadata(path).map_or(0, |found| found.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_never_rounded_up() {
        assert_eq!(percent(99_999, 100_000), "99.99 %");
        assert_eq!(percent(1, 3), "33.33 %");
        assert_eq!(percent(0, 0), "0.00 %");
    }

    #[test]
    fn lost_chunks_without_end_are_not_all_listed() {
        let states = vec![ChunkState::Lost; 200_000];
        assert_eq!(Bad::chunks(&states).count() as u64, MAX_LISTED_CHUNKS);
        assert_eq!(Bad::chunks(&states[..3]).count(), 3);
    }
}
