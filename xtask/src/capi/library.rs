//! The libraries of C-Blosc and of this workspace, each in its own folder under the name that
//! programs look for.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::clients::Clients;
use crate::{
    failure::{Context, Result, fail},
    workspace,
};

/// The name by which programs know the library.
const SONAME: &str = "libblosc.so.1";

/// One library.
pub(super) struct Library {
    pub(super) name: &'static str,
    pub(super) folder: PathBuf,
    pub(super) file: PathBuf,
}

/// The two libraries.
pub(super) struct Libraries {
    pub(super) original: Library,
    pub(super) ours: Library,
}

impl Libraries {
    /// Builds our library, and copies C-Blosc's from Debian's package.
    pub(super) fn make(clients: &Clients) -> Result<Self> {
        let built = build()?;
        let original = clients.libraries().join(SONAME);
        Ok(Self {
            original: Library::copied("original", &original, clients)?,
            ours: Library::copied("ours", &built, clients)?,
        })
    }

    pub(super) fn both(&self) -> [&Library; 2] {
        [&self.original, &self.ours]
    }
}

impl Library {
    fn copied(name: &'static str, from: &Path, clients: &Clients) -> Result<Self> {
        let folder = clients.folder.join(name);
        fs::create_dir_all(&folder).at(folder.display())?;
        let file = folder.join(SONAME);
        // A running program keeps the old file.
        let _absent = fs::remove_file(&file);
        fs::copy(from, &file).at(from.display())?;
        Ok(Self { name, folder, file })
    }

    /// Sets the environment in which a program loads this library.
    pub(super) fn put_into(&self, command: &mut Command, way: Way, clients: &Clients) {
        let path = format!("{}:{}", self.folder.display(), clients.search_path());
        match way {
            Way::Linked => command.env("LD_LIBRARY_PATH", path),
            Way::Preloaded => command.env("LD_PRELOAD", &self.file),
        };
    }
}

/// The way in which a client gets the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The client links the library: `LD_LIBRARY_PATH`.
    Linked,
    /// The client contains a copy whose names are exported: `LD_PRELOAD`.
    Preloaded,
}

/// Builds the optimised library, in which a panic becomes an error code.
pub(crate) fn build() -> Result<PathBuf> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--quiet", "--profile", "capi", "--package", "libblosc"]);
    workspace::run(&mut cargo)?;
    let file = workspace::target().join("capi/libblosc.so");
    if file.is_file() { Ok(file) } else { fail(format!("{}: was not built", file.display())) }
}
