//! The programs that use the library.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    failure::{Context, Result},
    venv, workspace,
};

/// The packages of Debian: C-Blosc, and the programs that link it.
const PACKAGES: [&str; 6] = [
    "libblosc1",
    "libblosc-dev",
    "python3-blosc",
    "python3-numcodecs",
    "python3-tables",
    "python3-tables-lib",
];

/// Packages that these depend on; those that the machine lacks are unpacked.
const NEEDED: [&str; 22] = [
    "libaec0",
    "libblas3",
    "libgfortran5",
    "libhdf5-103-1",
    "libhdf5-hl-100",
    "liblapack3",
    "liblzo2-2",
    "libsnappy1v5",
    "libsz2",
    "python-tables-data",
    "python3-attr",
    "python3-entrypoints",
    "python3-iniconfig",
    "python3-more-itertools",
    "python3-numexpr",
    "python3-numpy",
    "python3-packaging",
    "python3-pkg-resources",
    "python3-pluggy",
    "python3-py",
    "python3-pytest",
    "python3-typing-extensions",
];

/// The clients, and the ways to start them.
pub(super) struct Clients {
    /// The folder with everything made for them.
    pub(super) folder: PathBuf,
    /// The interpreter of the wheels.
    pub(super) python: PathBuf,
    /// The root of Debian's packages: `/`, or the folder where they were unpacked.
    debian: PathBuf,
}

impl Clients {
    pub(super) fn make() -> Result<Self> {
        let folder = workspace::target().join("capi-clients");
        fs::create_dir_all(&folder).at(folder.display())?;
        let wheels = workspace::root().join("xtask/capi/wheels.txt");
        let python = venv::made("capi-clients/wheels", &wheels)?;
        let debian = debian(&folder)?;
        Ok(Self { folder, python, debian })
    }

    /// The path of a file in Debian's packages.
    pub(super) fn debian(&self, path: &str) -> PathBuf {
        self.debian.join(path)
    }

    /// The folder with Debian's libraries.
    pub(super) fn libraries(&self) -> PathBuf {
        self.debian("usr/lib/x86_64-linux-gnu")
    }

    /// The loader's path after the folder of a library. Two packages get their own entries: only an
    /// installation makes links to them.
    pub(super) fn search_path(&self) -> String {
        let libraries = self.libraries().display().to_string();
        format!("{libraries}:{libraries}/blas:{libraries}/lapack")
    }

    /// Debian's interpreter, with a path to these packages.
    pub(super) fn debian_python(&self) -> Command {
        let mut python = Command::new("/usr/bin/python3");
        if self.debian != Path::new("/") {
            python.env("PYTHONPATH", self.debian("usr/lib/python3/dist-packages"));
        }
        python
    }
}

/// Debian's packages: the installed ones, else unpacked ones.
fn debian(folder: &Path) -> Result<PathBuf> {
    let files =
        ["include/blosc.h", "lib/python3/dist-packages/tables", "lib/python3/dist-packages/blosc"];
    if files.iter().all(|file| Path::new("/usr").join(file).exists()) {
        return Ok(PathBuf::from("/"));
    }
    let root = folder.join("debian");
    let done = root.join("done");
    if !done.exists() {
        eprintln!("unpacking packages of Debian in {}", root.display());
        fs::create_dir_all(&root).at(root.display())?;
        let mut download = Command::new("apt-get");
        download.arg("download").args(PACKAGES).args(NEEDED).current_dir(&root);
        workspace::run(&mut download)?;
        for file in workspace::files(&root)?.iter().filter(|file| has_suffix(file, "deb")) {
            workspace::run(Command::new("dpkg").arg("-x").arg(file).arg(&root))?;
        }
        fs::write(&done, "").at(done.display())?;
    }
    Ok(root)
}

fn has_suffix(file: &Path, suffix: &str) -> bool {
    file.extension().is_some_and(|found| found == suffix)
}
