//! `cargo xtask contend`: several programs change one file at the same time, without losing a
//! change.
//!
//! Pairs and groups of `b2` start at once on a copy of a small file of each container, with a
//! reader beside them: two `b2 append`, an append and a `b2 meta set`, or eight appends. After each
//! trial the file must hold its former content, and each change once; `b2 verify` must find no
//! fault; and all programs must have succeeded. The seed determines the order and the pauses
//! between the starts, but not the scheduling of the system, so a failure may take several runs to
//! recur. Processes of python-blosc2 append to frames of their own, with the locking of C-Blosc2
//! on.

mod container;
mod trial;

use core::ops::AddAssign;
use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use crate::{
    args::Args,
    failure::{Context, Result, fail},
    interop,
    script::Script,
    venv, workspace,
};
use container::{CONTAINERS, Container};
use trial::{Kind, Trial};

/// With this in their environment, C-Blosc2 and `b2` lock `.b2lock` before each change.
const LOCKING: (&str, &str) = ("BLOSC_LOCKING", "1");

/// Programs of a group that change the file.
const GROUP_LEN: usize = 8;

/// The options of the command line.
struct Plan {
    b2: PathBuf,
    python: PathBuf,
    pairs: u64,
    groups: u64,
    seed: u64,
    only: Option<String>,
}

pub(crate) fn run(mut args: Args) -> Result<()> {
    let program: Option<PathBuf> = args.option("--program")?;
    let pairs = args.option("--pairs")?.unwrap_or(100);
    let groups = args.option("--groups")?.unwrap_or(20);
    let seed = args.option("--seed")?.unwrap_or(1);
    let python = args.option("--python")?;
    let only: Option<String> = args.option("--only")?;
    args.finish()?;
    if !CONTAINERS.iter().any(|container| is_chosen(container, only.as_deref())) {
        let names: Vec<&str> = CONTAINERS.iter().map(|container| container.name).collect();
        return fail(format!("--only takes one of {}", names.join(", ")));
    }
    let b2 = program.map_or_else(interop::build_program, Ok)?;
    let b2 = fs::canonicalize(&b2).at(b2.display())?;
    let plan = Plan { b2, python: venv::python(python)?, pairs, groups, seed, only };
    let folder = workspace::target().join(format!("contend-{}", std::process::id()));
    fs::create_dir_all(&folder).at(folder.display())?;
    let counts = run_all(&plan, &folder)?;
    if counts.is_clean() {
        return Ok(fs::remove_dir_all(&folder)?);
    }
    fail(format!("{counts}; the first file of each kind is kept in {}", folder.display()))
}

fn is_chosen(container: &Container, only: Option<&str>) -> bool {
    only.is_none_or(|only| container.name == only)
}

fn run_all(plan: &Plan, folder: &Path) -> Result<Counts> {
    let mut counts = Counts::default();
    for container in CONTAINERS {
        if is_chosen(container, plan.only.as_deref()) {
            container.make(&plan.b2, folder).at(container.name)?;
            for &kind in Kind::list_for(container) {
                counts += run_kind(plan, folder, container, kind)?;
            }
        }
    }
    Ok(counts)
}

fn run_kind(plan: &Plan, folder: &Path, container: &Container, kind: Kind) -> Result<Counts> {
    let (start, mut counts) = (Instant::now(), Counts::default());
    let ntrials = if kind.is_group() { plan.groups } else { plan.pairs };
    let start_writer = |_| Script::start(&plan.python, "contend.py", LOCKING);
    let writers: Vec<Script> = (0..kind.npython()).map(start_writer).collect::<Result<_>>()?;
    for number in 0..ntrials {
        let trial = Trial {
            b2: &plan.b2,
            writers: &writers,
            folder,
            container,
            kind,
            seed: plan.seed,
            number,
        };
        let (found, said) = trial.run().at(format!("{} {kind} {number}", container.name))?;
        if counts.is_clean() && !found.is_clean() {
            keep(folder, container, kind)?;
            eprintln!("{} {kind} {number}: {found}\n{said}", container.name);
            let (seed, name) = (plan.seed, container.name);
            let (pairs, groups) = (plan.pairs, plan.groups);
            eprintln!(
                "again: cargo xtask contend --seed {seed} --only {name} --pairs {pairs} \
                 --groups {groups}"
            );
        }
        counts += found;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{:<12} {ntrials:>5} {kind}: {counts}; {seconds:.1} s", container.name);
    Ok(counts)
}

/// Keeps the file of a failed trial, which the next one would replace.
fn keep(folder: &Path, container: &Container, kind: Kind) -> Result<()> {
    let kept = folder.join(format!("bad-{}-{}", kind.slug(), container.file));
    Ok(fs::rename(folder.join(container.file), kept)?)
}

/// Numbers of failures and trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Changes of successful programs that are missing or occur twice.
    lost: u64,
    /// Files that `verify` refuses, or with other content than was written.
    damaged: u64,
    failed_writers: u64,
    failed_readers: u64,
    /// Readers that ran meanwhile and succeeded.
    nreaders: u64,
}

impl Counts {
    fn is_clean(&self) -> bool {
        *self == Self { nreaders: self.nreaders, ..Self::default() }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.lost += other.lost;
        self.damaged += other.damaged;
        self.failed_writers += other.failed_writers;
        self.failed_readers += other.failed_readers;
        self.nreaders += other.nreaders;
    }
}

impl core::fmt::Display for Counts {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { lost, damaged, failed_writers, failed_readers, nreaders } = self;
        write!(
            f,
            "{lost} lost updates, {damaged} damaged, {failed_writers} failed writers, \
             {failed_readers} of {nreaders} readers failed"
        )
    }
}
