//! `cargo xtask web`: the libraries as WebAssembly.
//!
//! `check` compiles them for browsers, without C code and without an operating system, and runs the
//! tests of the filters with SIMD128 under Node: as programs of WASI, since a browser has no tests.

use std::process::Command;

use crate::{
    args::Args,
    failure::{Result, fail},
    workspace,
};

/// Browsers: no files, no clock, no threads.
const BROWSER: &str = "wasm32-unknown-unknown";
/// Node.
const WASI: &str = "wasm32-wasip1";
/// All browsers have it since 2023.
const RUSTFLAGS: &str = "-C target-feature=+simd128";

pub(crate) fn run(mut args: Args) -> Result<()> {
    let word = args.word();
    args.finish()?;
    match word.as_deref() {
        None | Some("check") => check(),
        Some(word) => fail(format!("{word}: no word, or check")),
    }
}

fn check() -> Result<()> {
    install(BROWSER)?;
    install(WASI)?;
    let mut libraries = cargo("check", BROWSER);
    libraries.args(["--lib", "--no-default-features"]);
    for name in ["blosc-data", "b2-plot", "b2-view"] {
        libraries.args(["--package", name]);
    }
    workspace::run(&mut libraries)?;
    let mut tests = cargo("test", WASI);
    tests.args(["--package", "blosc-filters", "--lib"]);
    // Cargo starts it in the folder of the package.
    let runner = workspace::root().join("web/test/wasi.mjs");
    let runner = format!("node --no-warnings {}", runner.display());
    tests.env("CARGO_TARGET_WASM32_WASIP1_RUNNER", runner);
    workspace::run(&mut tests)
}

/// Installs the standard library of a target, if it is missing.
fn install(target: &str) -> Result<()> {
    match Command::new("rustup").args(["target", "add", target]).output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => fail(format!("{target}: needs rustup, to install its standard library")),
    }
}

fn cargo(task: &str, target: &str) -> Command {
    let mut cargo = workspace::cargo();
    cargo.args([task, "--quiet", "--target", target]).env("RUSTFLAGS", RUSTFLAGS);
    cargo
}
