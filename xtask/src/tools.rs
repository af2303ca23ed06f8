//! Programs of cargo that tasks need, installed under `target/tools` if the machine lacks them.

use std::{path::PathBuf, process::Command};

use crate::{failure::Result, workspace};

/// A package of one program, with the version to install.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
}

impl Tool {
    /// The installed program.
    pub(crate) fn find(&self) -> Option<PathBuf> {
        let ours = folder().join("bin").join(self.name);
        let all = [PathBuf::from(self.name), ours];
        all.into_iter().find(|program| {
            let output = Command::new(program).arg("--version").output();
            output.is_ok_and(|output| output.status.success())
        })
    }

    /// The installed program, or one that this function installs.
    pub(crate) fn find_or_install(&self) -> Result<PathBuf> {
        if let Some(found) = self.find() {
            return Ok(found);
        }
        let Self { name, version } = self;
        eprintln!("installing {name} {version} in {}", folder().display());
        let mut cargo = workspace::cargo();
        // The tools start other programs or copy files, so they need not be fast.
        cargo.args(["install", "--debug", "--quiet", "--locked", name, "--version", version]);
        workspace::run(cargo.arg("--root").arg(folder()))?;
        Ok(folder().join("bin").join(name))
    }
}

fn folder() -> PathBuf {
    workspace::target().join("tools")
}
