//! `cargo xtask instructions`: instruction counts of the hot cases, compared with noted ones.
//!
//! Times vary on shared machines, instruction counts do not: a case fails if it takes over 3 % more
//! than noted in `xtask/instructions.txt`. The counts depend on the compiler, so another version
//! than the noted one is reported and no count is compared. `update` notes the present counts. It
//! needs valgrind; without it, it does nothing.

use core::fmt::Write as _;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    args::Args,
    failure::{Context, Result, fail},
    workspace,
};

/// The cases of `crates/blosc-peers/src/bin/hot_cases.rs`.
const CASES: [&str; 8] = [
    "lz4-shuffle-compress",
    "lz4-shuffle-decompress",
    "lz4-bitshuffle-decompress",
    "blosclz-shuffle-decompress",
    "tiny-decompress",
    "tiny-shuffle-item",
    "stored-item",
    "frame-chunk",
];

/// The greatest allowed ratio to the noted count.
const LIMIT: f64 = 1.03;

pub(crate) fn run(mut args: Args) -> Result<()> {
    let is_update = args.word().as_deref() == Some("update");
    args.finish()?;
    if !cfg!(target_arch = "x86_64") {
        println!("counts are noted for x86-64 only: nothing was counted");
        return Ok(());
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("valgrind is not installed: nothing was counted");
        return Ok(());
    }
    let path = workspace::root().join("xtask/instructions.txt");
    let noted = Noted::parse(&fs::read_to_string(&path).unwrap_or_default());
    let compiler = compiler()?;
    if !is_update && noted.compiler != compiler {
        println!("noted with {}, this is {compiler}: nothing was compared", noted.compiler);
        return Ok(());
    }
    let program = build()?;
    let counts: Vec<(&str, u64)> =
        CASES.iter().map(|case| Ok((*case, count(&program, case)?))).collect::<Result<_>>()?;
    if is_update {
        return fs::write(&path, text(&compiler, &counts)).at(path.display());
    }
    compare(&counts, &noted)
}

/// Builds the cases as users get them: optimised.
fn build() -> Result<PathBuf> {
    let mut cargo = workspace::cargo();
    workspace::run(cargo.args([
        "build",
        "--quiet",
        "--release",
        "--package",
        "blosc-peers",
        "--bin",
        "hot_cases",
    ]))?;
    Ok(workspace::target().join("release").join("hot_cases"))
}

fn compiler() -> Result<String> {
    let version =
        workspace::output(Command::new("rustc").arg("--version").current_dir(workspace::root()))?;
    Ok(String::from_utf8_lossy(&version).trim().to_owned())
}

/// Instructions of one call, computed from ten additional calls, so that the start does not count.
fn count(program: &Path, case: &str) -> Result<u64> {
    let (few, many) = (counted(program, case, 2)?, counted(program, case, 12)?);
    Ok(many.saturating_sub(few) / 10)
}

fn counted(program: &Path, case: &str, calls: u32) -> Result<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(program).args([case, &calls.to_string()]);
    let output = valgrind.output().at(workspace::describe(&valgrind))?;
    let said = String::from_utf8_lossy(&output.stderr);
    match collected(&said).filter(|_| output.status.success()) {
        Some(count) => Ok(count),
        None => fail(format!(
            "{}: {}\n{}",
            workspace::describe(&valgrind),
            output.status,
            said.trim_end()
        )),
    }
}

/// The number after `Collected :`.
fn collected(said: &str) -> Option<u64> {
    let (_, after) = said.split_once("Collected :")?;
    after.split_whitespace().next()?.parse().ok()
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn compare(counts: &[(&str, u64)], noted: &Noted) -> Result<()> {
    let mut too_many = Vec::new();
    for (case, count) in counts {
        let Some(before) = noted.counts.get(*case) else {
            return fail(format!("{case}: nothing noted; `cargo xtask instructions update`"));
        };
        let ratio = *count as f64 / *before as f64;
        println!("{case:<27} {count:>10} instructions, {ratio:.3} times as many as noted");
        if ratio > LIMIT {
            too_many.push(*case);
        }
    }
    if too_many.is_empty() {
        Ok(())
    } else {
        fail(format!("more than {LIMIT} times as many: {}", too_many.join(", ")))
    }
}

/// The file: a line for the compiler, then one per case.
#[derive(Debug, Default, PartialEq, Eq)]
struct Noted {
    compiler: String,
    counts: BTreeMap<String, u64>,
}

impl Noted {
    fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let compiler = lines.next().unwrap_or_default().to_owned();
        let counts = lines.filter_map(|line| {
            let (case, count) = line.split_once(' ')?;
            Some((case.to_owned(), count.parse().ok()?))
        });
        Self { compiler, counts: counts.collect() }
    }
}

fn text(compiler: &str, counts: &[(&str, u64)]) -> String {
    let mut text = format!("{compiler}\n");
    for (case, count) in counts {
        let _ = writeln!(text, "{case} {count}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_numbers_are_read_back() {
        let noted = Noted::parse(&text("rustc 1", &[("a-case", 12), ("another", 7)]));
        assert_eq!(noted.compiler, "rustc 1");
        assert_eq!(noted.counts.get("a-case"), Some(&12));
        assert_eq!(Noted::parse(""), Noted::default());
    }

    #[test]
    fn only_more_instructions_are_an_error() {
        let noted = Noted::parse(&text("rustc 1", &[("a", 1000)]));
        assert!(compare(&[("a", 1030)], &noted).is_ok());
        assert!(compare(&[("a", 500)], &noted).is_ok());
        assert!(compare(&[("a", 1031)], &noted).is_err());
        assert!(compare(&[("b", 1)], &noted).is_err());
    }

    #[test]
    fn the_number_of_valgrind_is_found() {
        assert_eq!(
            collected("==1== Events    : Ir\n==1== Collected : 12345\n==1==\n"),
            Some(12345)
        );
        assert_eq!(collected("==1== no such thing"), None);
    }
}
