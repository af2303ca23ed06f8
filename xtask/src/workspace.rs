//! Paths of the workspace, and running other programs.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::failure::{Context, Result, fail};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// `path` below the root, with forward slashes.
pub(crate) fn relative(path: &Path) -> String {
    let path = path.strip_prefix(root()).unwrap_or(path);
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The folder for all build output; never tracked.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// The cargo for the workspace of the engines, which has its own target folder.
pub(crate) fn engines(task: &str) -> Command {
    let mut cargo = cargo();
    cargo.args([task, "--manifest-path", "engines/Cargo.toml"]);
    cargo.env("CARGO_TARGET_DIR", target().join("engines"));
    cargo
}

/// The target of programs for this machine.
pub(crate) fn host() -> Result<String> {
    let said = output(Command::new("rustc").arg("-vV"))?;
    let said = String::from_utf8_lossy(&said);
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map_or_else(|| fail("rustc -vV names no host"), |host| Ok(host.to_owned()))
}

/// Cargo's environment variable for a field of a target: `CARGO_TARGET_…_RUNNER`.
pub(crate) fn target_variable(target: &str, field: &str) -> String {
    format!("CARGO_TARGET_{}_{field}", target.replace('-', "_").to_uppercase())
}

/// Runs `command` to its end with this program's output; its failure is this program's.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().at(describe(command))?;
    if status.success() { Ok(()) } else { fail(format!("{}: {status}", describe(command))) }
}

/// Runs `command` and returns its output.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().at(describe(command))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    fail(format!("{}: {}\n{}", describe(command), output.status, said.trim_end()))
}

/// The lines that `git` prints.
pub(crate) fn git_lines(words: &[&str]) -> Result<Vec<String>> {
    let printed = output(Command::new("git").args(words).current_dir(root()))?;
    Ok(String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect())
}

/// The commit before the change, if `CI_BASE` names one.
pub(crate) fn given_base() -> Option<String> {
    std::env::var("CI_BASE").ok().filter(|base| !base.is_empty())
}

/// The command as typed in a shell.
pub(crate) fn describe(command: &Command) -> String {
    let words = core::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// All files below `dir`, sorted.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).at(folder.display())? {
            let entry = entry?;
            let list = if entry.file_type()?.is_dir() { &mut folders } else { &mut found };
            list.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// The size of all files below `dir` (bytes).
pub(crate) fn size(dir: &Path) -> Result<u64> {
    let sizes = files(dir)?.into_iter().map(|path| Ok(fs::metadata(path)?.len()));
    sizes.sum()
}

/// Removes a file or a directory, if it exists.
pub(crate) fn remove(path: &Path) -> Result<()> {
    if path.is_dir() {
        fs::remove_dir_all(path)?;
    } else if path.exists() {
        fs::remove_file(path)?;
    }
    Ok(())
}
