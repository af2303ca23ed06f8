//! `b2 rescue`: saves the sound parts of a damaged object as a new one. The damaged one is only
//! read.

mod bcolz;
mod blp;
pub(super) mod frame;
mod store;

use core::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{
    args::RescueArgs,
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    inputs::origin::{self, Origin, Part},
    output::{
        staged::StageOptions,
        targets::{Naming, Target, Targets},
    },
    render::escape::{harmless, path_text},
};

/// The result of one input.
#[derive(Serialize)]
struct RescueReport<'a> {
    schema: &'static str,
    path: &'a str,
    output: String,
    /// Is everything there that there was?
    complete: bool,
    /// Bytes of data in the new object, and how many of them are fill values.
    nbytes: u64,
    filled: u64,
    /// The steps of the rescue.
    actions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunks: Option<Chunks>,
}

/// How many chunks of a frame were in which state.
#[derive(Clone, Copy, Serialize)]
struct Chunks {
    good: u64,
    doubtful: u64,
    lost: u64,
}

/// The result of one format.
struct Saved {
    complete: bool,
    nbytes: u64,
    filled: u64,
    actions: Vec<String>,
    chunks: Option<Chunks>,
}

/// Rescues each input.
pub(crate) fn run(args: &RescueArgs, cx: &Context) -> Code {
    let mut inputs = origin::find(&args.inputs, &origin::is_ours);
    // A store without its embed.b2e is a directory like any other.
    for found in &mut inputs {
        let path = found.as_ref().err().map(|(name, _)| PathBuf::from(name));
        if let Some(path) = path.filter(|path| store::was_one(path)) {
            *found = Ok(Origin::File { path, part: Part::Whole });
        }
    }
    cx.run_into_targets(inputs, args.inputs.roots(), &args.outputs(), |origin, targets| {
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
    let Target::File(target) = targets.next(origin, Naming::Add(""))? else {
        return Err(message::RESCUE_NEEDS_FILES.error());
    };
    let _lock = cx.lock_shared(origin, args.lock)?;
    let options = StageOptions { force: args.force, sync: !args.no_sync };
    let saved = if offset.is_none() && store::was_one(path) {
        store::run(args, cx, path, &target, options)?
    } else if offset.is_none() && crate::formats::bcolz::is_data_set(path) {
        bcolz::run(args, cx, path, &target, options)?
    } else if offset.is_none() && path.is_file() && blp::is_blp(path)? {
        blp::run(args, cx, path, &target, options)?
    } else {
        frame::run(args, cx, path, offset, &target, options)?
    };
    report(cx, origin, &target, saved)
}

fn report(cx: &Context, origin: &Origin, target: &Path, saved: Saved) -> Result<()> {
    let (console, name) = (&cx.console, origin.name());
    let Saved { complete, nbytes, filled, actions, chunks } = saved;
    if console.json() {
        let output = path_text(target);
        let schema = "b2.rescue/1";
        let path = &name;
        console.document(&RescueReport {
            schema,
            path,
            output,
            complete,
            nbytes,
            filled,
            actions,
            chunks,
        })?;
    } else {
        let mut text = String::new();
        for action in &actions {
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
        console.print(&text)?;
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
