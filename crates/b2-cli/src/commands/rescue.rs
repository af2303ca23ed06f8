//! `b2 rescue`: saves the sound parts of a damaged object as a new one. The damaged object is never
//! written.

use core::fmt::Write as _;
use std::{
    fs,
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
    error::{Error, Result, message},
    exit::Code,
    inputs::{Guard, Origin, Part, foreign, origin, walk},
    output::{Naming, StageOptions, Staged, Target, Targets, check_frame_name},
    render::{harmless, path_text, size},
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

/// The options of the user, and the output once it has begun.
struct Rescue<'a, 't> {
    args: &'a RescueArgs,
    cx: &'a Context,
    guard: Guard,
    remains: Remains,
    origin: &'a Origin,
    targets: &'a mut Targets<'t>,
    /// The output, once there is a sound part.
    target: Option<PathBuf>,
    staged: Option<Staged>,
}

impl Caller for Rescue<'_, '_> {
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
        let target = self.targets.next(self.origin, Naming::Add(""))?;
        if let Some(suffix) = of_numpy(self.remains) {
            let name = target.path().unwrap_or(Path::new(""));
            if name.extension().is_none_or(|it| it != suffix) {
                return Err(message::RESCUED_ARRAY.about(suffix));
            }
        } else {
            check_frame_name(&target)?;
        }
        let Target::File(target) = target else {
            return Err(message::RESCUE_NEEDS_FILES.error());
        };
        let staged = match kind {
            Output::File => Staged::create(&target, options, &self.cx.unfinished)?,
            Output::Any => Staged::in_folder(&target, options, &self.cx.unfinished)?,
        };
        self.target = Some(target);
        let path = staged.path().to_owned();
        self.staged = Some(staged);
        Ok(path)
    }
}

/// The suffix of NumPy's files, if one is rescued.
fn of_numpy(remains: Remains) -> Option<&'static str> {
    match remains {
        Remains::Npy => Some("npy"),
        Remains::Npz => Some("npz"),
        _ => None,
    }
}

/// Rescues each input.
pub(crate) fn run(args: &RescueArgs, cx: &Context) -> Code {
    let mut inputs = origin::find(&args.inputs, &walk::ours);
    // Without its embed.b2e a store is an ordinary directory, and so is an array of bcolz without
    // its meta: take it as one damaged object.
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
    let _lock = cx.lock_shared(origin, args.lock)?;
    let remains = rescue::remains(path, offset)?;
    if args.dtype.is_some() && remains != Remains::Bcolz {
        return Err(message::TYPE_OF_BCOLZ.error());
    }
    if args.fill.is_some() && of_numpy(remains).is_some() {
        return Err(message::NO_FILL.error());
    }
    let options = rescue::Options::default().fill(args.fill()).dtype(args.dtype.clone());
    let options = options.dparams(cx.dparams()).budget(cx.read_options());
    let options = options.max_filled(args.limits.max_output.map(|limit| limit.0));
    let guard = Guard::new(args.limits);
    let mut caller =
        Rescue { args, cx, guard, remains, origin, targets, target: None, staged: None };
    let saved = rescue::rescue(path, offset, &options, &mut caller);
    let target = caller.target.unwrap_or_default();
    let saved = saved.map_err(|error| error.of_output(&target))?;
    if let Some(staged) = caller.staged {
        staged.commit_with_mode(fs::metadata(path).ok().as_ref())?;
    }
    report(cx, origin, &target, saved)
}

fn report(cx: &Context, origin: &Origin, target: &Path, saved: rescue::Report) -> Result<()> {
    let (console, path) = (&cx.console, &origin.name());
    let rescue::Report { complete, nbytes, filled, .. } = saved;
    let code = if saved.unread.is_empty() { Code::Data } else { Code::System };
    if console.json() {
        let output = path_text(target);
        console.document(&RescueReport { path, output, saved: &saved })?;
    } else {
        let mut text = String::new();
        for action in saved.unread.iter().chain(&saved.actions) {
            let _written = writeln!(text, "{}", harmless(action));
        }
        let sizes = console.units().size(nbytes);
        let share = match (complete, filled) {
            (true, _) => format!("everything ({sizes})"),
            (false, 0) => format!("{sizes} of data, see above"),
            (false, _) => {
                format!(
                    "{} of {sizes} are data, see above",
                    size::percent(nbytes.saturating_sub(filled), nbytes)
                )
            }
        };
        let _written = writeln!(text, "{}: {share}", console.name(&path_text(target)));
        if console.quiet() == 0 {
            console.print(&text)?;
        }
    }
    if complete { Ok(()) } else { Err(Error::Reported { code }) }
}
