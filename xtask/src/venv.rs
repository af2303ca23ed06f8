//! The virtual environment with the oracles, `target/oracles`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    failure::{Context, Result},
    workspace,
};

/// The interpreter with the oracles: `chosen` if given, otherwise that of this workspace's
/// environment. The environment is made on first use and again whenever
/// `xtask/python/requirements.txt` changes.
pub(crate) fn python(chosen: Option<PathBuf>) -> Result<PathBuf> {
    if let Some(python) = chosen {
        return Ok(python);
    }
    made("oracles", &scripts().join("requirements.txt"))
}

/// The interpreter of the environment `name`, which is made on first use and again whenever its
/// requirements change.
pub(crate) fn made(name: &str, requirements: &Path) -> Result<PathBuf> {
    let wanted = fs::read(requirements).at(requirements.display())?;
    let dir = workspace::target().join(name);
    let installed = dir.join("requirements.txt");
    let python = dir.join("bin/python");
    if fs::read(&installed).ok() != Some(wanted) {
        install(&dir, &python, requirements)?;
        fs::copy(requirements, &installed).at(installed.display())?;
    }
    Ok(python)
}

/// The libblosc2 in the wheel of python-blosc2, if it is installed in the environment `name`.
pub(crate) fn libblosc2(name: &str) -> Option<PathBuf> {
    let versions = fs::read_dir(workspace::target().join(name).join("lib")).ok()?.flatten();
    let mut files =
        versions.map(|python| python.path().join("site-packages/blosc2/lib/libblosc2.so"));
    files.find(|file| file.is_file())
}

/// The folder with the Python scripts.
pub(crate) fn scripts() -> PathBuf {
    workspace::root().join("xtask/python")
}

/// A command that runs one of the Python scripts, without leaving byte code beside it.
pub(crate) fn script(python: &Path, name: &str) -> Command {
    let mut command = Command::new(python);
    command.arg("-B").arg(scripts().join(name)).current_dir(workspace::root());
    command
}

fn install(dir: &Path, python: &Path, requirements: &Path) -> Result<()> {
    eprintln!("making an environment of Python in {}", dir.display());
    workspace::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(dir))?;
    let mut pip = Command::new(python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
        "-r",
    ]);
    workspace::run(pip.arg(requirements))
}
