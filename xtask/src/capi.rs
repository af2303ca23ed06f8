//! `cargo xtask capi`: programs that use libblosc, run with C-Blosc and with this workspace's
//! library.
//!
//! Each suite is part of its client. It runs once with C-Blosc as control and once with our
//! library, and the same tests must pass. Before that, the loader's log must show that the client
//! calls the library: a green run proves nothing otherwise.
//!
//! The task makes its tools under `target/capi-clients`: a Python environment with clients from
//! PyPI, Debian packages, and a folder for each library under the name that programs look for.
//! `cargo xtask capi bench` measures, `random` sends the same random calls to both libraries, and
//! `chunks` compares libblosc2 with C-Blosc2. `change` is a selection that takes a few minutes.

mod chunks;
mod clients;
mod files;
mod filter;
mod library;
mod matrix;
mod suites;
mod symbols;

use crate::{
    args::Args,
    failure::{Result, fail},
    venv, workspace,
};

pub(crate) use chunks::{OLDER, SONAME, build as build_blosc2};
use clients::Clients;
use library::Libraries;
pub(crate) use library::build;

pub(crate) fn run(mut args: Args) -> Result<()> {
    let only: Option<String> = args.option("--only")?;
    let seed: u64 = args.option("--seed")?.unwrap_or(1);
    let cases: Option<u32> = args.option("--cases")?;
    let case: Option<u32> = args.option("--case")?;
    let (is_all, is_updated) = (args.flag("--all"), args.flag("--update"));
    let word = args.word();
    args.finish()?;
    let is_short = word.as_deref() == Some("change");
    if is_short || word.as_deref() == Some("chunks") {
        let cases = cases.unwrap_or(if is_short { 200 } else { 1000 });
        chunks::check(&chunks::Options { seed, cases, case, is_updated, is_short })?;
        return if is_short { check_some(seed) } else { Ok(()) };
    }
    let clients = Clients::make()?;
    let libraries = Libraries::make(&clients)?;
    match word.as_deref() {
        None if is_updated => symbols::check(&clients, &libraries, true),
        None => check(&clients, &libraries, only.as_deref(), is_all),
        Some("bench") => bench(&clients, &libraries, only.as_deref()),
        Some("random") => random(&clients, &libraries, seed, cases.unwrap_or(2000), case),
        Some(word) => fail(format!("{word}: no word, bench, change, chunks or random")),
    }
}

/// The checks of libblosc for each change. C-Blosc comes from Debian; without Debian packages the
/// task reports that it compares nothing.
fn check_some(seed: u64) -> Result<()> {
    let clients = match Clients::make() {
        Ok(clients) => clients,
        Err(error) => {
            eprintln!("capi: SKIPPED all of libblosc, whose original is a package of Debian:");
            eprintln!("capi: {error}; after `apt-get update` there may be one");
            return Ok(());
        }
    };
    let libraries = Libraries::make(&clients)?;
    for name in ["symbols", "numcodecs of PyPI", "h5py"] {
        check(&clients, &libraries, Some(name), false)?;
    }
    random(&clients, &libraries, seed, 200, None)
}

/// Runs all suites, or those whose names contain a word; without `--all` only those that take
/// seconds.
fn check(clients: &Clients, libraries: &Libraries, only: Option<&str>, is_all: bool) -> Result<()> {
    let is_chosen = |name: &str| only.is_none_or(|only| name.contains(only));
    let mut nrun = 0;
    if is_chosen("symbols") {
        symbols::check(clients, libraries, false)?;
        nrun += 1;
    }
    for suite in suites::SUITES {
        let is_due = is_all || only.is_some() || !suite.is_long;
        if is_chosen(suite.name) && is_due {
            suite.check(clients, libraries)?;
            nrun += 1;
        }
    }
    for kind in files::KINDS {
        if (is_chosen(kind.name) || only == Some("files"))
            && (is_all || only.is_some() || !kind.is_long)
        {
            kind.check(clients, libraries)?;
            nrun += 1;
        }
    }
    if is_chosen("threads") {
        threads(clients, libraries, if is_all { 200 } else { 20 })?;
        nrun += 1;
    }
    if is_chosen("random") && only.is_none_or(|only| only == "random") {
        random(clients, libraries, 1, if is_all { 100_000 } else { 1000 }, None)?;
        nrun += 1;
    }
    if nrun == 0 { fail("no suite has such a name") } else { Ok(()) }
}

/// Forks, threads and closing, with our library only: C-Blosc need not pass.
fn threads(clients: &Clients, libraries: &Libraries, times: u32) -> Result<()> {
    let mut command = venv::script(&clients.python, "capi_threads.py");
    let said = workspace::output(command.arg(&libraries.ours.file).arg(times.to_string()))?;
    println!("threads, {times} times each:\n{}", String::from_utf8_lossy(&said).trim_end());
    Ok(())
}

/// Sends the same random calls to both libraries.
fn random(
    clients: &Clients,
    libraries: &Libraries,
    seed: u64,
    cases: u32,
    case: Option<u32>,
) -> Result<()> {
    let mut command = venv::script(&clients.python, "capi_random.py");
    command.arg(&libraries.original.file).arg(&libraries.ours.file);
    command.args(["--seed", &seed.to_string(), "--cases", &cases.to_string()]);
    if let Some(case) = case {
        command.args(["--case", &case.to_string()]);
    }
    println!("random calls, {cases} sequences:");
    workspace::run(&mut command)
}

/// Measures numcodecs with each library, in turns.
fn bench(clients: &Clients, libraries: &Libraries, only: Option<&str>) -> Result<()> {
    let mut command = venv::script(&clients.python, "capi_bench.py");
    command.arg(&libraries.original.file).arg(&libraries.ours.file);
    if let Some(only) = only {
        command.args(["--only", only]);
    }
    workspace::run(&mut command)
}
