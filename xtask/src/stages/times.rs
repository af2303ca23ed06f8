//! The time of each test.
//!
//! Cargo runs each program of tests by `xtask timed PROGRAM`, because of `CARGO_TARGET_…_RUNNER`.
//! That requests times from the program, which the harness of stable compilers reports only with
//! the variable `RUSTC_BOOTSTRAP`; set here, it affects no build. If a harness reports no times,
//! the list stays empty, without an error.

use std::{
    fs::{self, OpenOptions},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    args::Args,
    failure::{Context, Result, fail},
    workspace,
};

/// The variable that makes cargo run tests through this task.
pub(super) fn runner(host: &str, xtask: &Path) -> (String, String) {
    (workspace::target_variable(host, "RUNNER"), format!("{} timed", xtask.display()))
}

/// `xtask timed PROGRAM ARGUMENTS`: runs a program of tests and notes the time of each.
pub(crate) fn run(args: Args) -> Result<()> {
    let mut words = args.into_words().into_iter();
    let Some(program) = words.next() else { return fail("needs a program of tests") };
    let mut command = Command::new(&program);
    command.args(words);
    // Examples in documents have no harness.
    let is_harness = Path::new(&program).parent().is_some_and(|folder| folder.ends_with("deps"));
    if is_harness {
        command.args(["-Z", "unstable-options", "--report-time"]).env("RUSTC_BOOTSTRAP", "1");
    }
    let mut child = command.stdout(Stdio::piped()).spawn().at(&program)?;
    let Some(stdout) = child.stdout.take() else { return fail("the program has no output") };
    let mut notes = OpenOptions::new().create(true).append(true).open(notes())?;
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line?;
        let text = String::from_utf8_lossy(&line);
        match time_of(&text) {
            Some((name, seconds)) => writeln!(notes, "{seconds} {name}")?,
            None => {
                let mut out = std::io::stdout().lock();
                out.write_all(&line)?;
                out.write_all(b"\n")?;
            }
        }
    }
    match child.wait()?.code() {
        Some(0) => Ok(()),
        code => std::process::exit(code.unwrap_or(101)),
    }
}

/// Name and time of a test that passed: `test module::name ... ok <0.123s>`.
fn time_of(line: &str) -> Option<(&str, f64)> {
    let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let seconds = result.strip_prefix("ok <")?.strip_suffix("s>")?;
    Some((name, seconds.parse().ok()?))
}

/// The tests that took the longest.
pub(super) fn slowest(count: usize) -> Result<Vec<(String, f64)>> {
    let Ok(text) = fs::read_to_string(notes()) else { return Ok(vec![]) };
    let mut times = vec![];
    for line in text.lines() {
        if let Some((seconds, name)) = line.split_once(' ') {
            times.push((name.to_owned(), seconds.parse::<f64>()?));
        }
    }
    times.sort_by(|a, b| b.1.total_cmp(&a.1));
    times.truncate(count);
    Ok(times)
}

/// Begins a new list.
pub(super) fn forget() -> Result<()> {
    workspace::remove(&notes())
}

fn notes() -> PathBuf {
    workspace::target().join("test-times.txt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_stand_after_results() {
        assert_eq!(time_of("test a::b ... ok <0.250s>"), Some(("a::b", 0.25)));
        for line in ["test a::b ... ok", "test a::b ... FAILED <0.250s>", "test result: ok.", ""] {
            assert_eq!(time_of(line), None, "{line}");
        }
    }
}
