//! Exchange of files: a client writes with one library and reads with the other, both ways.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{
    clients::Clients,
    library::{Libraries, Library, Way},
};
use crate::{
    failure::{Context, Result, fail},
    venv, workspace,
};

/// A client, under its name in `capi_files.py`.
pub(super) struct Kind {
    pub(super) name: &'static str,
    way: Way,
    /// Whether it runs at night only.
    pub(super) is_long: bool,
    /// The package of Debian that it needs.
    package: Option<&'static str>,
}

impl Kind {
    const fn wheel(name: &'static str) -> Self {
        Self { name, way: Way::Preloaded, is_long: false, package: None }
    }

    const fn installed(name: &'static str, package: &'static str) -> Self {
        Self { name, way: Way::Linked, is_long: true, package: Some(package) }
    }
}

/// The path of HDF5's plugins in Debian.
const PLUGINS: &str = "/usr/lib/x86_64-linux-gnu/hdf5/serial/plugins";

pub(super) const KINDS: [Kind; 10] = [
    Kind::wheel("h5py"),
    Kind::wheel("zarr2"),
    Kind::wheel("zarr3"),
    Kind::wheel("gdal"),
    Kind { way: Way::Linked, ..Kind::wheel("tables") },
    Kind { is_long: true, ..Kind::wheel("imagecodecs") },
    Kind::installed("gdal_translate", "gdal-bin"),
    Kind::installed("openvdb", "python3-openvdb"),
    Kind::installed("adios", "python3-adios"),
    Kind::installed("hdf5_filter", "python3-h5py"),
];

impl Kind {
    pub(super) fn check(&self, clients: &Clients, libraries: &Libraries) -> Result<()> {
        // HDF5's client also needs the filter's package.
        let packages = self.package.map(|package| [package, "hdf5-filter-plugin-blosc-serial"]);
        let is_missing = |package: &str| !Path::new("/usr/share/doc").join(package).exists();
        if let Some(package) =
            packages.iter().flatten().copied().find(|package| is_missing(package))
        {
            eprintln!("capi: SKIPPED {}, which needs Debian's package {package}", self.name);
            return Ok(());
        }
        let python = match (self.way, self.is_long) {
            (Way::Linked, _) => None,
            (Way::Preloaded, false) => Some(clients.python.clone()),
            (Way::Preloaded, true) => Some(more()?),
        };
        exchange(self.name, "blosc_compress", &clients.folder, libraries.both(), |library| {
            let mut command = python.as_ref().map_or_else(|| clients.debian_python(), Command::new);
            library.put_into(&mut command, self.way, clients);
            if self.package.is_some() {
                command.env("HDF5_PLUGIN_PATH", PLUGINS);
            }
            command
        })
    }
}

/// The interpreter with large clients.
pub(super) fn more() -> Result<PathBuf> {
    venv::made("capi-clients/more", &workspace::root().join("xtask/capi/more.txt"))
}

/// Lets each library read the files of the other. `python` makes the command for an interpreter
/// with a library. Calls of `function`, or of its form with a context, must go to that library.
pub(super) fn exchange(
    name: &str,
    function: &str,
    folder: &Path,
    [theirs, ours]: [&Library; 2],
    python: impl Fn(&Library) -> Command,
) -> Result<()> {
    let folder = folder.join("files").join(name);
    let run = |action: &str, library: &Library| -> Result<BTreeMap<String, String>> {
        let mut command = python(library);
        command.arg("-B").arg(venv::scripts().join("capi_files.py"));
        command.args([action, name]).arg(&folder).stderr(Stdio::piped());
        if action == "write" {
            command.env("LD_DEBUG", "bindings");
        }
        let output = command.output().at(name)?;
        let log = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            let is_said = |line: &&str| !line.trim_start().starts_with(|c: char| c.is_numeric());
            let said: Vec<_> = log.lines().filter(is_said).collect();
            return fail(format!("{name}: {}", said.join("\n")));
        }
        if action == "write" {
            check_binding(name, &log, function, library)?;
        }
        let said = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(said.lines().next_back().unwrap_or_default()).at(name)
    };
    let mut nfiles = 0;
    for (writer, reader) in [(theirs, ours), (ours, theirs)] {
        let _absent = fs::remove_dir_all(&folder);
        let written = run("write", writer)?;
        if run("read", reader)? != written {
            return fail(format!(
                "{name}: {} reads something else than {} wrote",
                reader.name, writer.name
            ));
        }
        nfiles += written.len();
    }
    println!("{name}: {nfiles} files written by the one library and read by the other");
    Ok(())
}

/// Checks in the loader's log that calls go to files of this folder, and to no other.
pub(super) fn check_binding(
    client: &str,
    log: &str,
    function: &str,
    library: &Library,
) -> Result<()> {
    let called = ["", "_ctx"].map(|end| format!("normal symbol `{function}{end}'"));
    let is_call = |line: &&str| called.iter().any(|called| line.contains(called));
    let wanted = format!(" to {}/", library.folder.display());
    let calls: Vec<_> = log.lines().filter(is_call).collect();
    if !calls.is_empty() && calls.iter().all(|line| line.contains(&wanted)) {
        return Ok(());
    }
    fail(format!("{client}: not bound to {}: {calls:?}", library.file.display()))
}
