//! `b2 rescue`: saves the sound parts of a damaged object as a new one. The damaged one is only
//! read.

use core::fmt::Write as _;
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use blosc_data::{
    limits::OutputLimits,
    rescue::{self, Caller, Output, Remains},
};
use serde::Serialize;

use crate::{
    args::RescueArgs,
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    inputs::{Guard, Origin, Part, foreign, origin, walk},
    output::{Naming, StageOptions, Staged, Target, Targets, check_frame_name},
    render::{harmless, path_text},
};

/// The result of one input.
#[derive(Serialize)]
#[serde(tag = "schema", rename = "b2.rescue/1")]
struct RescueReport<'a> {
    path: &'a str,
    output: String,
    #[serde(flatten)]
    saved: &'a rescue::Report,
}

/// The options of the user, and the output once it is under way.
struct Rescue<'a> {
    args: &'a RescueArgs,
    cx: &'a Context,
    guard: Guard,
    /// The damaged object.
    path: &'a Path,
    /// Where the sound parts go.
    target: &'a Path,
    staged: Option<Staged>,
}

impl Caller for Rescue<'_> {
    type Error = Error;

    fn allowance(&self, stored: u64) -> u64 {
        OutputLimits::from(self.args.limits).allowance(stored)
    }

    fn admit(&mut self, nbytes: u64, stored: u64) -> Result<()> {
        Ok(self.guard.admit_bytes(nbytes, stored)?)
    }

    fn output(&mut self, kind: Output) -> Result<PathBuf> {
        let (force, sync) = (self.args.force, !self.args.no_sync);
        let options = StageOptions { force, sync };
        let staged = match kind {
            Output::File => Staged::create(self.target, options, &self.cx.unfinished)?,
            _ => Staged::in_folder(self.target, options, &self.cx.unfinished)?,
        };
        if kind == Output::Copy {
            copy(self.path, staged.path(), MAX_DEPTH, sync)?;
        }
        let path = staged.path().to_owned();
        self.staged = Some(staged);
        Ok(path)
    }
}

/// Rescues each input.
pub(crate) fn run(args: &RescueArgs, cx: &Context) -> Code {
    let mut inputs = origin::find(&args.inputs, &walk::ours);
    // A store without its embed.b2e is a directory like any other, and so is an array of bcolz
    // without its meta.
    for found in &mut inputs.found {
        let path = found.as_ref().err().map(|(name, _)| PathBuf::from(name));
        let was_one = |path: &PathBuf| {
            matches!(rescue::remains(path, None), Ok(Remains::Store | Remains::Bcolz))
        };
        if let Some(path) = path.filter(was_one) {
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
    if let Some(error) = foreign::refusal(path).filter(|_| offset.is_none()) {
        return Err(error);
    }
    let target = targets.next(origin, Naming::Add(""))?;
    check_frame_name(&target)?;
    let Target::File(target) = target else {
        return Err(message::RESCUE_NEEDS_FILES.error());
    };
    let _lock = cx.lock_shared(origin, args.lock)?;
    if args.dtype.is_some() && rescue::remains(path, offset)? != Remains::Bcolz {
        return Err(message::TYPE_OF_BCOLZ.error());
    }
    let options = rescue::Options::default().fill(args.fill()).dtype(args.dtype.clone());
    let options = options.dparams(cx.dparams()).budget(cx.read_options());
    let options = options.max_filled(args.limits.max_output.map(|limit| limit.0));
    let guard = Guard::new(args.limits);
    let mut caller = Rescue { args, cx, guard, path, target: &target, staged: None };
    let saved = rescue::rescue(path, offset, &options, &mut caller);
    let saved = saved.map_err(|error| error.of_output(&target))?;
    if let Some(staged) = caller.staged {
        staged.commit_with_mode(fs::metadata(path).ok().as_ref())?;
    }
    report(cx, origin, &target, saved)
}

fn report(cx: &Context, origin: &Origin, target: &Path, saved: rescue::Report) -> Result<()> {
    let (console, path) = (&cx.console, &origin.name());
    let rescue::Report { complete, nbytes, filled, .. } = saved;
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

/// Copies the ordinary files below a directory; links and devices stay where they are.
fn copy(from: &Path, to: &Path, depth: usize, sync: bool) -> Result<()> {
    fs::create_dir(to).map_err(Error::io_at(Doing::Create, to))?;
    for entry in fs::read_dir(from).map_err(unreadable(from))? {
        let entry = entry.map_err(unreadable(from))?;
        let (source, copied) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(unreadable(&source))?;
        if kind.is_dir() && depth > 0 {
            copy(&source, &copied, depth - 1, sync)?;
        } else if kind.is_file() {
            copy_file(&source, &copied, sync)?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path, sync: bool) -> Result<()> {
    let mut source = File::open(from).map_err(unreadable(from))?;
    let mut copied = File::create(to).map_err(Error::io_at(Doing::Create, to))?;
    io::copy(&mut source, &mut copied).map_err(Error::io_at(Doing::Write, to))?;
    if sync { copied.sync_all().map_err(Error::io_at(Doing::Sync, to)) } else { Ok(()) }
}

/// Directories of a table, of a column, and of its chunks.
const MAX_DEPTH: usize = 3;

/// The system refused to read the input.
fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> Error + use<'_> {
    Error::io_at(Doing::Read, path)
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
}
