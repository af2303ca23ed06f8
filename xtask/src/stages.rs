//! `cargo xtask check` and `cargo xtask stages`: all checks of a change, in one table.
//!
//! ```text
//! check    before a commit: format, invariants, lints, tests                  5 minutes
//! change   each change, `.ci/run`: and a small run of everything random      20 minutes
//! night    each night, `.ci/nightly`: everything, long, with a new seed       hours
//! ```
//!
//! A tier runs the stages of the earlier tiers too. Except at night, a stage is left out if the
//! change has none of its files ([`changes`]). All stages run, even after one that failed; then a
//! table shows the time of each, and the slowest tests ([`times`]).

mod changes;
mod command;
mod table;
pub(crate) mod times;

use core::time::Duration;
use std::{process::Command, time::Instant};

use crate::{
    args::Args,
    failure::{Result, fail},
    workspace,
};
use changes::Changes;
use table::{STAGES, Stage, Tier};

/// The end of a stage.
enum Outcome {
    Passed(Duration),
    Failed(Duration),
    /// The change has none of the stage's files.
    NotNeeded,
}

/// `cargo xtask check`.
pub(crate) fn check(args: Args) -> Result<()> {
    args.finish()?;
    run_tier(Tier::Check, None)
}

/// `cargo xtask stages`.
pub(crate) fn run(mut args: Args) -> Result<()> {
    let tier: Tier = args.option("--tier")?.unwrap_or(Tier::Change);
    let only: Option<String> = args.option("--only")?;
    let is_list = args.flag("--list");
    args.finish()?;
    if is_list {
        return list(tier);
    }
    run_tier(tier, only.as_deref())
}

/// Prints the table; a star marks the stages of the tier that the change needs.
fn list(tier: Tier) -> Result<()> {
    let changes = Changes::find(tier)?;
    println!("{tier}, {changes}");
    for stage in STAGES {
        let runs = stage.command(tier).is_some() && changes.need(stage.when);
        println!("{} {stage}", if runs { '*' } else { ' ' });
    }
    Ok(())
}

fn run_tier(tier: Tier, only: Option<&str>) -> Result<()> {
    let start = Instant::now();
    let changes = Changes::find(tier)?;
    println!("{changes}");
    let seed = seed(tier)?;
    println!("seed {seed}");
    let setting = command::Setting::new(seed)?;
    times::forget()?;
    let tree = tree_state();
    let mut outcomes = vec![];
    for stage in STAGES.iter().filter(|stage| only.is_none_or(|only| stage.name == only)) {
        let Some(words) = stage.command(tier) else { continue };
        let outcome = match changes.need(stage.when) {
            true => run_stage(stage, words, &setting),
            false => Outcome::NotNeeded,
        };
        outcomes.push((stage, outcome));
    }
    report(&outcomes)?;
    let seconds = start.elapsed().as_secs();
    println!("\n{tier}: {seconds} s (aim {} s on two cores)", tier.aim().as_secs());
    if tree_state() != tree {
        return fail("the stages changed the tree");
    }
    let is_failure = |(_, outcome): &&(&Stage, Outcome)| matches!(outcome, Outcome::Failed(_));
    match outcomes.iter().filter(is_failure).count() {
        0 if outcomes.is_empty() => fail("no stage of this name in the tier"),
        0 => Ok(()),
        count => fail(format!("{count} of {} stages failed", outcomes.len())),
    }
}

fn run_stage(stage: &Stage, words: &str, setting: &command::Setting) -> Outcome {
    println!("\n==> {}: {words}", stage.name);
    let start = Instant::now();
    let done = setting.command(words).and_then(|mut command| workspace::run(&mut command));
    let took = start.elapsed();
    match done {
        Ok(()) => Outcome::Passed(took),
        Err(failure) => {
            println!("==> {}: FAILED: {failure}", stage.name);
            Outcome::Failed(took)
        }
    }
}

/// Prints the time of each stage, and the slowest tests.
fn report(outcomes: &[(&Stage, Outcome)]) -> Result<()> {
    println!("\n{:<44} {:>8}", "stage", "seconds");
    for (stage, outcome) in outcomes {
        let (took, word) = match outcome {
            Outcome::Passed(took) => (took.as_secs().to_string(), ""),
            Outcome::Failed(took) => (took.as_secs().to_string(), "  FAILED"),
            Outcome::NotNeeded => ("-".to_owned(), ""),
        };
        println!("{:<44} {took:>8}{word}", stage.name);
    }
    let slowest = times::slowest(10)?;
    if !slowest.is_empty() {
        println!("\n{:<74} {:>8}", "the slowest tests", "seconds");
        slowest.iter().for_each(|(name, seconds)| println!("{name:<74} {seconds:>8.2}"));
    }
    Ok(())
}

/// A constant, so that only the change itself affects the result; the date at night.
fn seed(tier: Tier) -> Result<u64> {
    if tier != Tier::Night {
        return Ok(1);
    }
    if let Ok(seed) = std::env::var("CI_SEED") {
        return Ok(seed.parse()?);
    }
    let date = workspace::output(Command::new("date").args(["-u", "+%Y%m%d"]))?;
    Ok(String::from_utf8_lossy(&date).trim().parse()?)
}

/// The files that differ from the last commit; empty without git.
fn tree_state() -> Vec<String> {
    workspace::git_lines(&["status", "--porcelain"]).unwrap_or_default()
}
