//! `cargo xtask interop`: random data, written by the oracles and read by this workspace, and the
//! other way round.
//!
//! The seed, the kind and its number determine every case, so the one command that is printed with
//! a difference reproduces it. A new original program needs an `op` in `xtask/python/oracle.py` and
//! a row in [`KINDS`].

mod arrays;
mod bcolz;
mod bloscpack;
mod c_blosc2;
mod case;
mod chunks;
mod edit;
mod frames;
mod oracle;
mod program;
mod rescue;
mod share;
mod stores;
mod transcode;

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
    time::Instant,
};

use serde_json::json;

use crate::{
    args::Args,
    failure::{Context, Failure, Result, fail},
    venv, workspace,
};
use case::{Case, Draw, Filters, Scope};
use oracle::Oracle;

/// One direction between an original program and this workspace.
struct Kind {
    name: &'static str,
    /// Cases for each 100 of `--cases`.
    share: u64,
    scope: Scope,
    run: fn(&mut Bench, &Case) -> Result<Verdict>,
}

/// The result of a case without a difference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Both read the same data.
    Equal,
    /// The oracle cannot read its own output; this workspace reads the right data from it.
    Rescued,
    /// The oracle cannot read its own output, and this workspace refuses it too.
    Lost,
    /// The oracle refuses to write the data.
    Refused,
    /// The oracle reads the whole, and gets parts of it wrong, as expected.
    Misread,
}

const FRAME: Scope = Scope { bits: 22, filters: Filters::Frame };
const CHUNK: Scope = Scope { bits: 17, filters: Filters::Blosc2 };
const BLOSC1: Scope = Scope { bits: 17, filters: Filters::Blosc1 };
const BLP: Scope = Scope { bits: 20, filters: Filters::Blosc1 };

const KINDS: &[Kind] = &[
    Kind { name: "frame-read", share: 120, scope: FRAME, run: frames::read },
    Kind { name: "frame-write", share: 120, scope: FRAME, run: frames::write },
    Kind { name: "frame-edit", share: 60, scope: CHUNK, run: edit::contiguous },
    Kind { name: "frame-edit-sparse", share: 20, scope: CHUNK, run: edit::sparse },
    Kind { name: "frame-variable", share: 20, scope: CHUNK, run: edit::variable },
    Kind { name: "share-turns", share: 10, scope: CHUNK, run: share::take_turns },
    Kind { name: "share-follow", share: 20, scope: CHUNK, run: share::follow },
    Kind { name: "array-read", share: 60, scope: CHUNK, run: arrays::read },
    Kind { name: "array-write", share: 60, scope: CHUNK, run: arrays::write },
    Kind { name: "array-edit", share: 60, scope: CHUNK, run: arrays::edit },
    Kind { name: "store-read", share: 40, scope: CHUNK, run: stores::read },
    Kind { name: "store-table-read", share: 20, scope: CHUNK, run: stores::read_table },
    Kind { name: "store-where", share: 12, scope: CHUNK, run: stores::filter_table },
    Kind { name: "store-index", share: 12, scope: CHUNK, run: stores::filter_indexed },
    Kind { name: "store-write", share: 20, scope: CHUNK, run: stores::write },
    Kind { name: "store-table-write", share: 12, scope: CHUNK, run: stores::write_table },
    Kind { name: "program-read", share: 10, scope: FRAME, run: program::read },
    Kind { name: "program-write", share: 10, scope: FRAME, run: program::write },
    Kind { name: "program-show", share: 30, scope: CHUNK, run: program::show },
    Kind { name: "program-convert", share: 10, scope: BLP, run: program::there_and_back },
    Kind { name: "program-bcolz-array", share: 10, scope: CHUNK, run: program::bcolz_array },
    Kind { name: "program-bcolz-table", share: 5, scope: CHUNK, run: program::bcolz_table },
    Kind { name: "program-bcolz-csv", share: 5, scope: CHUNK, run: program::bcolz_csv },
    Kind { name: "program-bcolz-query", share: 5, scope: CHUNK, run: program::bcolz_query },
    Kind { name: "program-bcolz-store", share: 10, scope: CHUNK, run: program::bcolz_to_store },
    Kind { name: "rescue-damaged", share: 40, scope: CHUNK, run: rescue::damaged },
    Kind { name: "rescue-unreadable", share: 60, scope: FRAME, run: rescue::unreadable },
    Kind { name: "blosc2-read", share: 600, scope: CHUNK, run: chunks::blosc2_read },
    Kind { name: "blosc2-write", share: 600, scope: CHUNK, run: chunks::blosc2_write },
    Kind { name: "blosc1-read", share: 300, scope: BLOSC1, run: chunks::blosc1_read },
    Kind { name: "blosc1-write", share: 300, scope: BLOSC1, run: chunks::blosc1_write },
    Kind { name: "c-read", share: 600, scope: CHUNK, run: c_blosc2::read },
    Kind { name: "c-write", share: 600, scope: CHUNK, run: c_blosc2::write },
    Kind { name: "c-vl-read", share: 200, scope: CHUNK, run: c_blosc2::vl_read },
    Kind { name: "c-vl-write", share: 200, scope: CHUNK, run: c_blosc2::vl_write },
    Kind { name: "c-special-read", share: 100, scope: CHUNK, run: c_blosc2::special_read },
    Kind { name: "c-special-write", share: 100, scope: CHUNK, run: c_blosc2::special_write },
    Kind { name: "c-compat-read", share: 100, scope: BLOSC1, run: c_blosc2::compat_read },
    Kind { name: "to-blosc2", share: 60, scope: BLOSC1, run: transcode::to_blosc2 },
    Kind { name: "to-blosc1", share: 60, scope: BLOSC1, run: transcode::to_blosc1 },
    Kind { name: "numcodecs-read", share: 200, scope: BLOSC1, run: chunks::numcodecs_read },
    Kind { name: "numcodecs-write", share: 200, scope: BLOSC1, run: chunks::numcodecs_write },
    Kind { name: "blp-read", share: 60, scope: BLP, run: bloscpack::read },
    Kind { name: "blp-write", share: 60, scope: BLP, run: bloscpack::write },
    Kind { name: "blp-array-read", share: 60, scope: BLP, run: bloscpack::array_read },
    Kind { name: "blp-array-write", share: 60, scope: BLP, run: bloscpack::array_write },
    Kind { name: "bcolz-read", share: 30, scope: CHUNK, run: bcolz::read },
    Kind { name: "bcolz-write", share: 30, scope: CHUNK, run: bcolz::write },
    Kind { name: "bcolz-table-read", share: 20, scope: CHUNK, run: bcolz::table_read },
    Kind { name: "bcolz-table-write", share: 20, scope: CHUNK, run: bcolz::table_write },
    Kind { name: "bcolz-query", share: 10, scope: CHUNK, run: bcolz::query },
];

/// Only with `--parquet`: building the reader of Parquet takes minutes, and the environment lacks
/// pyarrow.
const PARQUET: Kind =
    Kind { name: "program-parquet", share: 100, scope: CHUNK, run: program::bcolz_parquet };

/// The tools of a case, one set for each thread.
struct Bench {
    oracle: Oracle,
    /// A private folder.
    folder: PathBuf,
    /// The built program.
    b2: PathBuf,
}

/// The options of the command line.
struct Plan {
    seed: u64,
    cases: u64,
    only: Option<String>,
    case: Option<u64>,
    jobs: usize,
    python: PathBuf,
}

/// Builds `b2` as for tests, with all checks on, and returns its path.
pub(crate) fn build_program() -> Result<PathBuf> {
    program::build(false)
}

pub(crate) fn run(mut args: Args) -> Result<()> {
    let plan = Plan {
        seed: args.option("--seed")?.unwrap_or(1),
        cases: args.option("--cases")?.unwrap_or(500),
        only: args.option("--only")?,
        case: args.option("--case")?,
        jobs: args.option("--jobs")?.unwrap_or(thread::available_parallelism()?.get()),
        python: venv::python(args.option("--python")?)?,
    };
    let parquet = args.flag("--parquet");
    let program: Option<PathBuf> = args.option("--program")?;
    args.finish()?;
    let kinds: Vec<&Kind> =
        KINDS.iter().chain(parquet.then_some(&PARQUET)).filter(|kind| plan.wants(kind)).collect();
    if kinds.is_empty() {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        return fail(format!("--only takes one of {}, or the start of one", names.join(", ")));
    }
    let b2 = program.map_or_else(|| program::build(parquet), Ok)?;
    announce(&plan)?;
    for kind in kinds {
        run_kind(kind, &plan, &b2)?;
    }
    Ok(())
}

impl Plan {
    fn wants(&self, kind: &Kind) -> bool {
        self.only.as_ref().is_none_or(|only| kind.name.starts_with(only.as_str()))
    }

    /// The numbers of the cases.
    fn numbers(&self, kind: &Kind) -> core::ops::Range<u64> {
        match self.case {
            Some(case) => case..case + 1,
            None => 0..(self.cases * kind.share).div_ceil(100),
        }
    }
}

fn announce(plan: &Plan) -> Result<()> {
    let versions = Oracle::start(&plan.python)?.ask(json!({"op": "versions"}), &[])?.facts;
    let version = |name: &str| versions[name].as_str().unwrap_or("?").to_owned();
    println!(
        "interop: seed {}, python-blosc2 {}, python-blosc {}, numcodecs {}, bloscpack {}",
        plan.seed,
        version("blosc2"),
        version("blosc"),
        version("numcodecs"),
        version("bloscpack")
    );
    Ok(())
}

/// Runs all cases of a kind in several threads; the first difference stops all of them.
fn run_kind(kind: &Kind, plan: &Plan, b2: &Path) -> Result<()> {
    let start = Instant::now();
    let tally = Tally::new(plan.numbers(kind));
    thread::scope(|scope| {
        for job in 0..plan.jobs.max(1) {
            let tally = &tally;
            scope.spawn(move || {
                if let Err(failure) = work(kind, plan, b2, job, tally) {
                    tally.stop(failure);
                }
            });
        }
    });
    tally.report(kind, start)
}

fn work(kind: &Kind, plan: &Plan, b2: &Path, job: usize, tally: &Tally) -> Result<()> {
    let folder = workspace::target().join(format!("interop-{job}"));
    std::fs::create_dir_all(&folder).at(folder.display())?;
    let mut bench = Bench { oracle: Oracle::start(&plan.python)?, folder, b2: b2.to_path_buf() };
    while let Some(number) = tally.next() {
        let case = Case::draw(&mut Draw::new(plan.seed, kind.name, number), kind.scope);
        let verdict =
            (kind.run)(&mut bench, &case).at(Reproduce { kind, plan, number, case: &case })?;
        tally.count(verdict, number, case.recipe.nbytes);
    }
    Ok(std::fs::remove_dir_all(&bench.folder)?)
}

/// Names a case and prints the command that runs it alone.
struct Reproduce<'a> {
    kind: &'a Kind,
    plan: &'a Plan,
    number: u64,
    case: &'a Case,
}

impl core::fmt::Display for Reproduce<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (kind, seed, number) = (self.kind.name, self.plan.seed, self.number);
        let mut case = self.case.clone();
        // Metadata are long, and never the reason.
        case.metalayers
            .iter_mut()
            .chain(&mut case.vlmetalayers)
            .for_each(|(_, content)| content.clear());
        writeln!(f, "{case:?}")?;
        writeln!(f, "again: cargo xtask interop --seed {seed} --only {kind} --case {number}")?;
        write!(f, "{kind} case {number}")
    }
}

/// The number of the next case, and the results of the others.
struct Tally {
    next: AtomicU64,
    end: u64,
    stopped: AtomicBool,
    nbytes: AtomicU64,
    counts: [AtomicU64; 5],
    /// The first case that neither side can read, or `u64::MAX`.
    lost: AtomicU64,
    failure: Mutex<Option<Failure>>,
}

impl Tally {
    fn new(numbers: core::ops::Range<u64>) -> Self {
        Self {
            next: AtomicU64::new(numbers.start),
            end: numbers.end,
            stopped: AtomicBool::new(false),
            nbytes: AtomicU64::new(0),
            counts: Default::default(),
            lost: AtomicU64::new(u64::MAX),
            failure: Mutex::new(None),
        }
    }

    fn next(&self) -> Option<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.end && !self.stopped.load(Ordering::Relaxed)).then_some(number)
    }

    fn count(&self, verdict: Verdict, number: u64, nbytes: usize) {
        if verdict == Verdict::Lost {
            self.lost.fetch_min(number, Ordering::Relaxed);
        }
        self.counts[verdict as usize].fetch_add(1, Ordering::Relaxed);
        self.nbytes.fetch_add(nbytes as u64, Ordering::Relaxed);
    }

    fn stop(&self, failure: Failure) {
        self.stopped.store(true, Ordering::Relaxed);
        if let Ok(mut first) = self.failure.lock() {
            first.get_or_insert(failure);
        }
    }

    fn report(self, kind: &Kind, start: Instant) -> Result<()> {
        if let Ok(Some(failure)) = self.failure.into_inner() {
            return Err(failure);
        }
        let [equal, rescued, lost, refused, misread] = self.counts.map(AtomicU64::into_inner);
        let mut line = format!("{:<19} {equal:>6} equal", kind.name);
        let others = [
            (rescued, "that only we can read"),
            (lost, "that nobody can read"),
            (refused, "that the writer refused"),
            (misread, "of which the reader gets parts wrong, as expected"),
        ];
        for (count, what) in others.iter().filter(|(count, _)| *count > 0) {
            line += &format!(", {count} {what}");
        }
        if lost > 0 {
            line += &format!(" (first: case {})", self.lost.into_inner());
        }
        let mib = self.nbytes.into_inner() >> 20;
        println!("{line}; {mib} MiB, {:.1} s", start.elapsed().as_secs_f64());
        Ok(())
    }
}

/// Fails with the first difference between `expected` and `found`.
fn compare(what: &str, expected: &[u8], found: &[u8]) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let at = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
    fail(format!(
        "{what}: differ at byte {at}: expected {:02x?} of {} bytes, found {:02x?} of {} bytes",
        excerpt(expected, at),
        expected.len(),
        excerpt(found, at),
        found.len()
    ))
}

fn excerpt(bytes: &[u8], at: usize) -> &[u8] {
    &bytes[at..(at + 8).min(bytes.len())]
}
