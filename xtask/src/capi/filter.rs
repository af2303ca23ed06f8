//! HDF5's filter 32026, which uses libblosc2: in h5py through hdf5plugin, and in PyTables.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    files::{exchange, more},
    library::Library,
    suites::{compare_outcomes, outcomes_of},
};
use crate::{
    failure::{Context, Result, fail},
    venv, workspace,
};

/// PyTables from PyPI: unchanged, and with our library in place of its own.
pub(super) struct Tables {
    python: PathBuf,
    original: Library,
    ours: Library,
}

impl Tables {
    /// Copies the package, which loads the libraries beside it, and replaces its library.
    pub(super) fn make(library: &Path) -> Result<Self> {
        let requirements = workspace::root().join("xtask/capi/tables.txt");
        let python = venv::made("capi-clients/tables", &requirements)?;
        let folder = workspace::target().join("capi-clients/tables");
        let is_copy = |file: &PathBuf| file.to_string_lossy().contains("tables.libs/libblosc2-");
        let Some(copy) = workspace::files(&folder.join("lib"))?.into_iter().find(is_copy) else {
            return fail("PyTables brings no libblosc2");
        };
        let Some(packages) = copy.ancestors().nth(2) else { return fail("no packages") };
        let changed = workspace::target().join("capi-clients/tables-ours");
        let _absent = fs::remove_dir_all(&changed);
        fs::create_dir_all(&changed).at(changed.display())?;
        for name in ["tables", "tables.libs"] {
            let mut copying = Command::new("cp");
            workspace::run(copying.arg("-r").arg(packages.join(name)).arg(&changed))?;
        }
        let mut ours = PathBuf::new();
        for file in workspace::files(&changed)? {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with("libblosc2") {
                fs::copy(library, &file).at(file.display())?;
                if is_copy(&file) {
                    ours = file;
                }
            }
        }
        let library = |name, folder: &Path, file: PathBuf| Library {
            name,
            folder: folder.to_path_buf(),
            file,
        };
        Ok(Self {
            python,
            original: library("original", packages, copy.clone()),
            ours: library("ours", &changed, ours),
        })
    }

    /// The folder with the unchanged package.
    pub(super) fn packages(&self) -> &Path {
        &self.original.folder
    }

    /// Exchanges files between the libraries.
    pub(super) fn check(&self) -> Result<()> {
        let folder = workspace::target().join("capi-clients");
        let both = [&self.original, &self.ours];
        exchange("tables2", FUNCTION, &folder, both, |library| self.python(library))?;
        // PyTables' own path around HDF5's filters is switched off.
        exchange("tables2", FUNCTION, &folder, both, |library| {
            let mut python = self.python(library);
            python.env("BLOSC2_FILTER", "1");
            python
        })?;
        compare_outcomes("PyTables of PyPI, parts with Blosc2", both, |library| {
            let mut python = self.python(library);
            python.current_dir(&folder);
            outcomes_of(python, &["tables-part"])
        })
    }

    fn python(&self, library: &Library) -> Command {
        let mut python = Command::new(&self.python);
        python.env("PYTHONPATH", &library.folder);
        python
    }
}

/// The function that the filter calls for each chunk.
const FUNCTION: &str = "blosc2_schunk_to_buffer";

/// Exchanges files of h5py between the libraries; unless `is_short`, also those of imagecodecs,
/// which knows only chunks.
pub(super) fn check(theirs: &Path, ours: &Path, is_short: bool) -> Result<()> {
    let folder = workspace::target().join("capi-clients");
    let wheels = workspace::root().join("xtask/capi/wheels.txt");
    let h5py = venv::made("capi-clients/wheels", &wheels)?;
    let library = |name, file: &Path| Library {
        name,
        folder: file.parent().unwrap_or(file).to_path_buf(),
        file: file.to_path_buf(),
    };
    let (theirs, ours) = (library("original", theirs), library("ours", ours));
    let both = [&theirs, &ours];
    let preloaded = |python: &Path, library: &Library| {
        let mut python = Command::new(python);
        python.env("LD_PRELOAD", &library.file);
        python
    };
    exchange("filter2", FUNCTION, &folder, both, |library| preloaded(&h5py, library))?;
    if !is_short {
        let more = more()?;
        let function = "blosc2_compress";
        exchange("imagecodecs2", function, &folder, both, |library| preloaded(&more, library))?;
    }
    compare_outcomes("hdf5plugin of PyPI, Blosc2", both, |library| {
        outcomes_of(preloaded(&h5py, library), &["hdf5plugin2"])
    })
}
