//! `cargo xtask dist --try`: the archive and the packages are installed, used and removed.
//!
//! Each is installed into an empty folder that becomes the root of the file system for the
//! programs: neither a library nor a variable of this machine is there. The packages need `dpkg`
//! and `rpm`, and a user who may change the root: root itself, or any where `unshare` works.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use blosc_testdata::data::Kind;

use super::emulator;
use crate::{
    failure::{Context, Result, fail},
    workspace,
};

/// Folders of the package managers, and of the trial.
const NOT_INSTALLED: [&str; 4] = ["var/lib/dpkg", "var/lib/rpm", "var/log", "trial"];

/// Installs, uses and removes all that a release for `target` has in the folder `dist`.
pub(super) fn run(dist: &Path, archive: &Path, target: &str) -> Result<()> {
    check_sums(dist)?;
    let root = Root::new(dist, "archive", target)?;
    fs::create_dir_all(root.path.join("usr"))?;
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(archive).args(["--strip-components=1", "-C"]).arg(root.path.join("usr"));
    workspace::run(&mut tar)?;
    root.first_result("archive")?;

    let root = Root::new(dist, "deb", target)?;
    for folder in ["info", "updates", "triggers"] {
        fs::create_dir_all(root.path.join("var/lib/dpkg").join(folder))?;
    }
    fs::write(root.path.join("var/lib/dpkg/status"), "")?;
    let dpkg = |words: &[&str]| {
        let mut dpkg = as_root("dpkg");
        dpkg.arg(format!("--root={}", root.path.display())).arg("--force-architecture").args(words);
        workspace::output(&mut dpkg)
    };
    dpkg(&["--install", &package(dist, ".deb")?])?;
    root.first_result("Debian's package")?;
    dpkg(&["--purge", "blosc-b2"])?;
    root.is_empty("Debian's package")?;

    let root = Root::new(dist, "rpm", target)?;
    let rpm = |words: &[&str]| {
        let mut rpm = as_root("rpm");
        rpm.arg("--root").arg(&root.path).args(["--dbpath", "/var/lib/rpm"]);
        workspace::output(rpm.args(words))
    };
    let package = package(dist, ".rpm")?;
    let needed = rpm(&["--query", "--requires", "--package", &package])?;
    let needed = String::from_utf8_lossy(&needed).into_owned();
    // A script of the package needs the shell; every system has it, but not this folder.
    let is_given = |line: &&str| *line == "/bin/sh" || line.starts_with("rpmlib(");
    if let Some(other) = needed.lines().find(|line| !is_given(line)) {
        return fail(format!("{package} needs {other}"));
    }
    rpm(&["--install", "--nodeps", "--ignorearch", &package])?;
    root.first_result("Fedora's package")?;
    let script = rpm(&["--query", "--queryformat", "%{POSTUN}", "blosc-b2"])?;
    rpm(&["--erase", "--noscripts", "blosc-b2"])?;
    root.run_outside(&String::from_utf8_lossy(&script))?;
    root.is_empty("Fedora's package")
}

/// Compares the files with `SHA256SUMS`, as users do.
fn check_sums(dist: &Path) -> Result<()> {
    let mut check = Command::new("sha256sum");
    let said = workspace::output(check.args(["--check", "SHA256SUMS"]).current_dir(dist))?;
    print!("{}", String::from_utf8_lossy(&said));
    Ok(())
}

/// The package of this version that was made last.
fn package(dist: &Path, end: &str) -> Result<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dist)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(end) {
            found.push((fs::metadata(&path)?.modified()?, path));
        }
    }
    match found.into_iter().max() {
        Some((_, path)) => Ok(path.to_string_lossy().into_owned()),
        None => fail(format!("{}: no package {end}", dist.display())),
    }
}

/// A command that may change the root of its file system.
fn as_root(program: &str) -> Command {
    let is_root = workspace::output(Command::new("id").arg("-u")).is_ok_and(|id| id == b"0\n");
    if is_root {
        return Command::new(program);
    }
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", program]);
    command
}

/// A folder in place of the root of the file system, removed in the end.
struct Root {
    path: PathBuf,
    /// Whether `/trial/emulator` runs the programs.
    is_emulated: bool,
}

impl Root {
    fn new(dist: &Path, name: &str, target: &str) -> Result<Self> {
        let path = dist.join("trial").join(name);
        workspace::remove(&path)?;
        fs::create_dir_all(path.join("trial")).at(path.display())?;
        let emulator = emulator(target);
        let is_emulated = emulator.is_some();
        if let Some(name) = emulator {
            let found = workspace::output(Command::new("which").arg(name))?;
            let found = String::from_utf8_lossy(&found).trim().to_owned();
            fs::copy(&found, path.join("trial/emulator")).at(found)?;
        }
        Ok(Self { path, is_emulated })
    }

    /// Runs an installed program, and returns its output.
    fn output(&self, words: &str) -> Result<Vec<u8>> {
        let mut command = as_root("chroot");
        command.arg(&self.path);
        if self.is_emulated {
            command.arg("/trial/emulator");
        }
        command.args(words.split(' ')).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        workspace::output(&mut command)
    }

    /// Runs a script of a package with the shell of this machine, on the files below the root.
    fn run_outside(&self, script: &str) -> Result<()> {
        let share = self.path.join("usr/share").display().to_string();
        let script = script.replace("/usr/share", &format!("'{share}'"));
        workspace::run(as_root("sh").args(["-c", &script]))
    }

    /// Compresses, verifies and decompresses with both programs; compresses the sample of the tour.
    fn first_result(&self, about: &str) -> Result<()> {
        let data = Kind::Walk.bytes(4 << 20);
        let trial = self.path.join("trial");
        fs::write(trial.join("data"), &data)?;
        let version = self.output("/usr/bin/b2 --version")?;
        self.output("/usr/bin/b2 compress -o /trial/data.b2frame /trial/data")?;
        self.output("/usr/bin/b2 verify /trial/data.b2frame")?;
        self.output("/usr/bin/b2 decompress -o /trial/back /trial/data.b2frame")?;
        self.output(
            "/usr/bin/b2 compress --output-dir /trial /usr/share/b2/samples/temperature.f32",
        )?;
        self.output("/usr/bin/blpk compress /trial/data /trial/data.blp")?;
        self.output("/usr/bin/blpk decompress /trial/data.blp /trial/again")?;
        for name in ["back", "again"] {
            if fs::read(trial.join(name)).at(name)? != data {
                return fail(format!("{about}: {name} is not what was compressed"));
            }
        }
        let files = self.installed()?.len();
        println!("{about}: {files} files, {}", String::from_utf8_lossy(&version).trim_end());
        Ok(())
    }

    /// The files that are neither a package manager's nor the trial's.
    fn installed(&self) -> Result<Vec<PathBuf>> {
        let mut files = workspace::files(&self.path)?;
        files.retain(|file| NOT_INSTALLED.iter().all(|it| !file.starts_with(self.path.join(it))));
        Ok(files)
    }

    /// Fails if a file or a folder of ours stayed when its package was removed.
    fn is_empty(&self, about: &str) -> Result<()> {
        let file = self.installed()?.into_iter().next();
        match file.map_or_else(|| own_folder(&self.path), |file| Ok(Some(file)))? {
            Some(path) => fail(format!("{about}: {} was not removed", path.display())),
            None => {
                println!("{about}: removed, no file and no folder of ours is left");
                Ok(())
            }
        }
    }
}

/// A folder below `folder` that has the name of the program or of its package.
fn own_folder(folder: &Path) -> Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder).at(folder.display())? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            continue;
        }
        if ["b2", "blosc-b2"].iter().any(|name| entry.file_name() == *name) {
            return Ok(Some(entry.path()));
        }
        if let Some(found) = own_folder(&entry.path())? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

impl Drop for Root {
    fn drop(&mut self) {
        let _left = workspace::remove(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_ours_is_found() {
        let folder = workspace::target().join("own-folder-test");
        let own = folder.join("share/doc/blosc-b2");
        workspace::remove(&folder).unwrap();
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(folder.join("share/b2x")).unwrap();
        assert_eq!(own_folder(&folder).unwrap(), Some(own.clone()));
        fs::remove_dir(&own).unwrap();
        assert_eq!(own_folder(&folder).unwrap(), None);
        workspace::remove(&folder).unwrap();
    }
}
