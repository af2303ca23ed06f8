//! `cargo xtask bench-peers`: speed and size against C-Blosc2, side by side in one process.
//!
//! Builds `crates/blosc-peers` optimised and gives it the shared library of the oracles' wheel. The
//! machine should be quiet, but need not be: both sides take turns, so ratios stay right even if
//! times do not. With `--runs 5`, that many processes measure one after another, and the median of
//! each setting counts. With `--control`, the reference is measured against itself, which shows the
//! machine's part of a ratio.
//!
//! `--machine NAME` writes the results and a description of the machine to
//! `target/bench-peers/NAME.md`; its numbers become a column of `docs/performance/machines.md`.
//! `--only GROUP,GROUP` measures some groups; with `--keep`, the rows of the other groups come from
//! the previous run.

use std::{path::PathBuf, process::Command};

use crate::{
    args::Args,
    failure::{Result, fail},
    venv, workspace,
};

pub(crate) fn run(mut args: Args) -> Result<()> {
    let python = venv::python(args.option("--python")?)?;
    let only: Option<String> = args.option("--only")?;
    let runs: usize = args.option("--runs")?.unwrap_or(1);
    let machine: Option<String> = args.option("--machine")?;
    let (is_control, is_kept) = (args.flag("--control"), args.flag("--keep"));
    let is_quick = match args.word().as_deref() {
        None | Some("quick") => true,
        Some("full") => false,
        Some(word) => return fail(format!("{word}: neither quick nor full")),
    };
    args.finish()?;
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--quiet", "--release", "--package", "blosc-peers"]);
    // Crates that only this group needs.
    if only.as_deref() == Some("peers") {
        cargo.args(["--features", "rust-peers"]);
    }
    workspace::run(&mut cargo)?;
    let mut bench = Command::new(workspace::target().join("release").join("blosc-peers"));
    bench
        .arg("--library")
        .arg(library(&python)?)
        .arg("--python")
        .arg(&python)
        .arg("--root")
        .arg(workspace::root());
    bench.arg("--out").arg(workspace::target().join("bench-peers"));
    bench.arg(if is_quick { "--quick" } else { "--full" });
    bench.arg("--runs").arg(runs.to_string());
    if is_control {
        bench.arg("--control");
    }
    if is_kept {
        bench.arg("--keep");
    }
    if let Some(machine) = machine {
        bench.args(["--machine", &machine]);
    }
    if let Some(only) = only {
        bench.args(["--only", &only]);
    }
    workspace::run(&mut bench)
}

/// The shared library inside the wheel of python-blosc2.
fn library(python: &PathBuf) -> Result<PathBuf> {
    const PRINT: &str = "import blosc2, os; print(os.path.join(os.path.dirname(blosc2.__file__), 'lib', 'libblosc2.so'))";
    let path = workspace::output(Command::new(python).args(["-c", PRINT]))?;
    Ok(PathBuf::from(String::from_utf8_lossy(&path).trim()))
}
