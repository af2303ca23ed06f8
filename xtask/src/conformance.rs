//! `cargo xtask conformance`: the suite in `conformance/` is what its builders make, and the
//! programs and libraries of this workspace have no wrong case.
//!
//! `--all` runs all implementations that have an adapter, with the programs of others in an
//! environment of Python, and writes a page that compares them to `target/conformance.html`;
//! `--record` keeps the results in `conformance/results` and makes `docs/conformance.md` anew.
//! `--seeds DIR` only packs the corpus for libFuzzer and OSS-Fuzz.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{args::Args, failure::Result, interop, venv, workspace};

/// The page of results.
const PAGE: &str = "docs/conformance.md";

pub(crate) fn run(mut args: Args) -> Result<()> {
    let program: Option<PathBuf> = args.option("--program")?;
    let seeds: Option<PathBuf> = args.option("--seeds")?;
    let (is_all, is_recorded) = (args.flag("--all"), args.flag("--record"));
    args.finish()?;
    if let Some(seeds) = seeds {
        return workspace::run(script("corpus.py").arg("--out").arg(seeds));
    }
    workspace::run(script("build.py").arg("--check"))?;
    let program = program.map_or_else(interop::build_program, Ok)?;
    run_suite(&program, is_all || is_recorded, is_recorded)?;
    if is_recorded {
        workspace::run(script("report.py").arg(PAGE))?;
        return workspace::run(&mut script("build.py"));
    }
    workspace::run(script("report.py").args([PAGE, "--check"]))
}

fn script(name: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg("-B").arg(workspace::root().join("conformance").join(name));
    command.current_dir(workspace::root());
    command
}

fn run_suite(program: &Path, is_all: bool, is_recorded: bool) -> Result<()> {
    let mut suite = script("run.py");
    suite.arg("--b2").arg(program).args(["--strict", "b2"]);
    let mut ours = vec!["b2"];
    // Cargo leaves libraries that only tests use in `deps`.
    for (name, file) in
        [("libblosc ours", "deps/libblosc.so"), ("libblosc2 ours", "deps/libblosc2.so")]
    {
        let file = program.with_file_name(file);
        if file.is_file() {
            suite.arg("--library").arg(format!("{name}={}", file.display()));
            suite.args(["--strict", name]);
            ours.push(name);
        }
    }
    if is_all {
        let requirements = workspace::root().join("conformance/requirements.txt");
        let python = venv::made("conformance", &requirements)?;
        suite.arg("--python").arg(&python);
        if let Some(library) = venv::libblosc2("conformance") {
            suite.arg("--library").arg(format!("libblosc2={}", library.display()));
        }
        suite.arg("--html").arg(workspace::target().join("conformance.html"));
    } else {
        // Without the option, all adapters run.
        for name in ours {
            suite.args(["--adapter", name]);
        }
    }
    if is_recorded {
        suite.arg("--record");
    }
    workspace::run(suite.arg("--verbose"))
}
