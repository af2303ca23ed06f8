//! `cargo xtask engines`: the joins with engines and other projects' programs.
//!
//! `emulator` installs the S3 server of the tests into `target/emulators`. `oracles` lets
//! zarr-python read arrays that this workspace wrote, and compares its queries with NumPy's.

use std::{path::Path, process::Command};

use crate::{
    args::Args,
    failure::{Result, fail},
    venv, workspace,
};

const EMULATOR: &str = "moto[server]==5.2.5";

pub(crate) fn run(mut args: Args) -> Result<()> {
    let part = args.word();
    args.finish()?;
    match part.as_deref() {
        Some("emulator") => emulator(),
        Some("oracles") => oracles(),
        _ => fail("engines needs a part: emulator or oracles"),
    }
}

fn emulator() -> Result<()> {
    let dir = workspace::target().join("emulators");
    if dir.join("bin/moto_server").is_file() {
        return Ok(());
    }
    workspace::run(Command::new("python3").args(["-m", "venv"]).arg(&dir))?;
    let mut pip = Command::new(dir.join("bin/pip"));
    workspace::run(pip.args(["install", "--quiet", "--disable-pip-version-check", EMULATOR]))
}

/// Uses the programs that the tests have built: a single package would have other features, and
/// building its engine again would take long.
fn oracles() -> Result<()> {
    workspace::run(workspace::engines("build").args([
        "--workspace",
        "--all-features",
        "--bins",
        "--examples",
        "--quiet",
    ]))?;
    let python = venv::python(None)?;
    let built = workspace::target().join("engines/debug");
    let arrays = workspace::target().join("tmp/engines-arrays");
    workspace::remove(&arrays)?;
    std::fs::create_dir_all(&arrays)?;
    workspace::run(Command::new(built.join("examples/array")).arg(&arrays))?;
    let script = |path: &str, argument: &Path| {
        let path = workspace::root().join("engines").join(path);
        workspace::run(Command::new(&python).arg("-B").arg(path).arg(argument))
    };
    script("zarrs-blosc/tests/python/read_back.py", &arrays)?;
    script("blosc-datafusion/tests/python/queries.py", &built.join("b2-sql"))
}
