//! Files that a client writes with one library and reads with the other, both ways.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use super::{
    clients::Clients,
    library::{Libraries, Library, Way},
};
use crate::{
    failure::{Context, Result, fail},
    venv, workspace,
};

/// A client, by the name that `capi_files.py` has for it.
pub(super) struct Kind {
    pub(super) name: &'static str,
    way: Way,
}

pub(super) const KINDS: [Kind; 5] = [
    Kind { name: "h5py", way: Way::Preloaded },
    Kind { name: "zarr2", way: Way::Preloaded },
    Kind { name: "zarr3", way: Way::Preloaded },
    Kind { name: "gdal", way: Way::Preloaded },
    Kind { name: "tables", way: Way::Linked },
];

impl Kind {
    pub(super) fn check(&self, clients: &Clients, libraries: &Libraries) -> Result<()> {
        exchange(self.name, &clients.folder, libraries.both(), |library| {
            let mut command = match self.way {
                Way::Preloaded => Command::new(&clients.python),
                Way::Linked => clients.debian_python(),
            };
            library.put_into(&mut command, self.way, clients);
            command
        })
    }
}

/// Has each library read what the other wrote. `python` makes the command for an interpreter that
/// finds the library.
pub(super) fn exchange(
    name: &str,
    folder: &Path,
    [theirs, ours]: [&Library; 2],
    python: impl Fn(&Library) -> Command,
) -> Result<()> {
    let folder = folder.join("files").join(name);
    let run = |action: &str, library: &Library| -> Result<BTreeMap<String, String>> {
        let mut command = python(library);
        command.arg("-B").arg(venv::scripts().join("capi_files.py"));
        let said = workspace::output(command.args([action, name]).arg(&folder))?;
        let said = String::from_utf8_lossy(&said);
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
