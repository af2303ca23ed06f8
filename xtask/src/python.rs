//! `cargo xtask python`: the Python package: lints, the wheels, their stubs and their tests.
//!
//! The environment is `target/python-env`. The extension module is built under `target/python`, the
//! program of the wheel `blosckit-cli` in the workspace's own target folder. `cargo xtask python
//! bench` builds an optimised wheel instead, and measures it beside other packages.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    args::Args,
    failure::{Context, Result, fail},
    venv, workspace,
};

pub(crate) fn run(mut args: Args) -> Result<()> {
    let examples: Option<u32> = args.option("--examples")?;
    let rounds: Option<u32> = args.option("--rounds")?;
    let word = args.word();
    args.finish()?;
    let folder = workspace::root().join("python");
    let python = venv::made("python-env", &folder.join("requirements.txt"))?;
    let package = Package { folder, python };
    match word.as_deref() {
        None => package.check(examples),
        Some("bench") => package.bench(rounds),
        Some(word) => fail(format!("{word}: no word, or bench")),
    }
}

/// The sources, and the interpreter that tests them.
struct Package {
    folder: PathBuf,
    python: PathBuf,
}

impl Package {
    fn check(&self, examples: Option<u32>) -> Result<()> {
        workspace::run(cargo("fmt").arg("--check"))?;
        let lints = ["--all-targets", "--quiet", "--", "-D", "warnings"];
        workspace::run(cargo("clippy").args(lints))?;
        self.install_editable()?;
        self.install_program()?;
        workspace::run(self.module("mypy").args(["--strict", "-p", "blosckit"]))?;
        workspace::run(self.module("mypy").args(["--strict", "tests/typing_strict.py"]))?;
        workspace::run(self.module("mypy.stubtest").arg("blosckit._native"))?;
        let mut tests = self.module("pytest");
        tests.args(["-q", "-p", "no:cacheprovider"]);
        if let Some(examples) = examples {
            tests.env("BLOSCKIT_EXAMPLES", examples.to_string());
        }
        workspace::run(&mut tests)?;
        let archive = workspace::target().join("python/zarr");
        workspace::run(self.python().arg("tests/zarr_suite.py").arg(archive))
    }

    /// Builds the extension module without optimisation, and installs the package for the tests.
    fn install_editable(&self) -> Result<()> {
        let mut maturin = self.module("maturin");
        maturin.args(["develop", "--quiet"]);
        maturin.env("VIRTUAL_ENV", workspace::target().join("python-env"));
        workspace::run(maturin.env("CARGO_TARGET_DIR", workspace::target().join("python")))
    }

    /// Installs the wheel with the program, built as for the workspace's tests.
    fn install_program(&self) -> Result<()> {
        let cli = self.folder.join("cli");
        let wheel = self.wheel(&cli, "dev", &workspace::target())?;
        let options = ["install", "--quiet", "--no-index", "--no-deps", "--force-reinstall"];
        workspace::run(self.module("pip").args(options).arg(wheel))
    }

    /// Measures an optimised build, which does not replace the tested one.
    fn bench(&self, rounds: Option<u32>) -> Result<()> {
        let built = workspace::target().join("python");
        let wheel = self.wheel(&self.folder, "release", &built)?;
        let optimised = built.join("optimised");
        let options = ["install", "--quiet", "--no-index", "--no-deps", "--upgrade", "--target"];
        workspace::run(self.module("pip").args(options).arg(&optimised).arg(wheel))?;
        let mut bench = self.python();
        bench.arg("benches/compare.py").env("PYTHONPATH", optimised);
        if let Some(rounds) = rounds {
            bench.args(["--rounds", &rounds.to_string()]);
        }
        workspace::run(&mut bench)
    }

    /// The path of the wheel of a folder with a `pyproject.toml`.
    fn wheel(&self, project: &Path, profile: &str, target: &Path) -> Result<PathBuf> {
        let name = project.file_name().unwrap_or_default();
        let wheels = workspace::target().join("python/wheels").join(name);
        workspace::remove(&wheels)?;
        let mut maturin = self.module("maturin");
        maturin.args(["build", "--quiet", "--profile", profile, "--compatibility", "linux"]);
        maturin.arg("--out").arg(&wheels).current_dir(project);
        workspace::run(maturin.env("CARGO_TARGET_DIR", target))?;
        let first = fs::read_dir(&wheels).at(wheels.display())?.next();
        first.map_or_else(|| fail("maturin made no wheel"), |entry| Ok(entry?.path()))
    }

    fn python(&self) -> Command {
        let mut command = Command::new(&self.python);
        command.arg("-B").current_dir(&self.folder);
        command
    }

    fn module(&self, name: &str) -> Command {
        let mut command = self.python();
        command.args(["-m", name]);
        command
    }
}

/// The cargo command for the workspace of the package.
fn cargo(task: &str) -> Command {
    let mut cargo = workspace::cargo();
    cargo.args([task, "--manifest-path", "python/Cargo.toml"]);
    cargo.env("CARGO_TARGET_DIR", workspace::target().join("python"));
    cargo
}
