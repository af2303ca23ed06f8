//! `cargo xtask python`: the Python package: lints, the wheel, its stubs and its tests.
//!
//! The environment is `target/python-env`, the wheel is built under `target/python`.

use std::{path::Path, process::Command};

use crate::{args::Args, failure::Result, venv, workspace};

pub(crate) fn run(mut args: Args) -> Result<()> {
    let examples: Option<u32> = args.option("--examples")?;
    args.finish()?;
    let folder = workspace::root().join("python");
    let python = venv::made("python-env", &folder.join("requirements.txt"))?;
    workspace::run(cargo("fmt").arg("--check"))?;
    workspace::run(cargo("clippy").args(["--all-targets", "--quiet", "--", "-D", "warnings"]))?;
    build(&folder, &python)?;
    let tool = |words: &[&str]| {
        let mut command = Command::new(&python);
        command.args(["-B", "-m"]).args(words).current_dir(&folder);
        command
    };
    workspace::run(&mut tool(&["mypy", "--strict", "-p", "blosckit"]))?;
    workspace::run(&mut tool(&["mypy", "--strict", "tests/typing_strict.py"]))?;
    workspace::run(&mut tool(&["mypy.stubtest", "blosckit._native"]))?;
    let mut tests = tool(&["pytest", "-q", "-p", "no:cacheprovider"]);
    if let Some(examples) = examples {
        tests.env("BLOSCKIT_EXAMPLES", examples.to_string());
    }
    workspace::run(&mut tests)
}

/// The cargo for the workspace of the package.
fn cargo(task: &str) -> Command {
    let mut cargo = workspace::cargo();
    cargo.args([task, "--manifest-path", "python/Cargo.toml"]);
    cargo.env("CARGO_TARGET_DIR", workspace::target().join("python"));
    cargo
}

/// Builds the extension module without optimisation, and puts the package into the environment.
fn build(folder: &Path, python: &Path) -> Result<()> {
    let environment = workspace::target().join("python-env");
    let mut maturin = Command::new(python);
    maturin.args(["-m", "maturin", "develop", "--quiet"]).current_dir(folder);
    maturin.env("VIRTUAL_ENV", environment);
    workspace::run(maturin.env("CARGO_TARGET_DIR", workspace::target().join("python")))
}
