//! HDF5's filter 32026, which uses libblosc2: in h5py by the plugin of hdf5plugin, and in PyTables.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    files::exchange,
    library::Library,
    suites::{compare_outcomes, outcomes_of},
};
use crate::{
    failure::{Context, Result, fail},
    venv, workspace,
};

/// PyTables of PyPI, as it comes and with our library in the place of its own.
pub(super) struct Tables {
    python: PathBuf,
    original: Library,
    ours: Library,
}

impl Tables {
    /// Copies the package, which finds its libraries beside it, and puts ours among them.
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

    /// The folder with the package as it comes.
    pub(super) fn packages(&self) -> &Path {
        &self.original.folder
    }

    /// Files go from one library to the other.
    pub(super) fn check(&self) -> Result<()> {
        let folder = workspace::target().join("capi-clients");
        let both = [&self.original, &self.ours];
        for library in both {
            check_binding("PyTables", self.python(library).args(["-c", TABLES]), library)?;
        }
        exchange("tables2", &folder, both, |library| self.python(library))?;
        // Without the path of PyTables around HDF5's filters.
        exchange("tables2", &folder, both, |library| {
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

/// A program of Python whose calls go to the library.
const H5PY: &str = "
import h5py, hdf5plugin, tempfile
file = h5py.File(tempfile.mktemp(), 'w')
file.create_dataset('x', data=range(9999), **hdf5plugin.Blosc2())
";

const TABLES: &str = "
import tables, tempfile
file = tables.open_file(tempfile.mktemp(), 'w')
filters = tables.Filters(5, 'blosc2')
file.create_carray(file.root, 'x', obj=list(range(9999)), filters=filters)
file.close()
";

/// Files of h5py go from one library to the other.
pub(super) fn check(theirs: &Path, ours: &Path) -> Result<()> {
    let folder = workspace::target().join("capi-clients");
    let wheels = workspace::root().join("xtask/capi/wheels.txt");
    let h5py = venv::made("capi-clients/wheels", &wheels)?;
    let library = |name, file: &Path| Library {
        name,
        folder: file.parent().unwrap_or(file).to_path_buf(),
        file: file.to_path_buf(),
    };
    let (theirs, ours) = (library("original", theirs), library("ours", ours));
    let preloaded = |library: &Library| {
        let mut python = Command::new(&h5py);
        python.env("LD_PRELOAD", &library.file);
        python
    };
    for library in [&theirs, &ours] {
        check_binding("h5py", preloaded(library).args(["-c", H5PY]), library)?;
    }
    exchange("filter2", &folder, [&theirs, &ours], preloaded)?;
    compare_outcomes("hdf5plugin of PyPI, Blosc2", [&theirs, &ours], |library| {
        outcomes_of(preloaded(library), &["hdf5plugin2"])
    })
}

/// The calls of the client go to this library, and to no other.
fn check_binding(client: &str, command: &mut Command, library: &Library) -> Result<()> {
    let output = command.env("LD_DEBUG", "bindings").output().at(client)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let calls: Vec<_> = said
        .lines()
        .filter(|line| line.contains("normal symbol `blosc2_schunk_to_buffer"))
        .collect();
    // PyTables has two files of the library, both in this folder.
    let wanted = format!(" to {}/", library.folder.display());
    let are_bound = calls.iter().all(|line| line.contains(&wanted));
    if output.status.success() && !calls.is_empty() && are_bound {
        return Ok(());
    }
    let end: Vec<_> = said.lines().rev().take(3).collect();
    fail(format!("{client}: not bound to {}: {calls:?} {end:?}", library.file.display()))
}
