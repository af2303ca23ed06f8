//! `cargo xtask mutate`: damages sound chunks and containers, and applies every operation of a
//! reader.

#[cfg(feature = "commands")]
mod commands;

use std::time::Instant;

use blosc_trials::mutate;

#[cfg(not(feature = "commands"))]
use crate::workspace;
use crate::{args::Args, failure::Result};

pub(crate) fn run(mut args: Args) -> Result<()> {
    if args.flag("--commands") {
        return run_commands(args);
    }
    let cases: u64 = args.option("--cases")?.unwrap_or(50_000);
    let seed: u64 = args.option("--seed")?.unwrap_or(1);
    let only: Option<u64> = args.option("--case")?;
    let nfiles: u64 = args.option("--files")?.unwrap_or(cases / 10);
    let only_file: Option<u64> = args.option("--file")?;
    args.finish()?;
    let start = Instant::now();
    let say = &mut |line| println!("{line}");
    if only_file.is_none() {
        mutate::chunks(only.map_or(0..cases, |case| case..case + 1), seed, say)?;
    }
    if only.is_none() {
        mutate::containers(only_file.map_or(0..nfiles, |file| file..file + 1), seed, say)?;
    }
    println!("{:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

#[cfg(feature = "commands")]
fn run_commands(args: Args) -> Result<()> {
    commands::run(args)
}

/// Builds the task with `b2` in it, optimised as users get it.
#[cfg(not(feature = "commands"))]
fn run_commands(args: Args) -> Result<()> {
    let mut cargo = workspace::cargo();
    cargo.args(["run", "--quiet", "--release", "-p", "xtask", "--features", "commands", "--"]);
    workspace::run(cargo.args(["mutate", "--commands"]).args(args.into_words()))
}
