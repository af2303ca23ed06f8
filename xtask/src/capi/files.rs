//! Files that a client writes with one library and reads with the other, both ways.

use std::{collections::BTreeMap, fs, process::Command};

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
        let [theirs, ours] = libraries.both();
        let mut nfiles = 0;
        for (writer, reader) in [(theirs, ours), (ours, theirs)] {
            let folder = clients.folder.join("files").join(self.name);
            let _absent = fs::remove_dir_all(&folder);
            let written = self.run("write", writer, clients)?;
            if self.run("read", reader, clients)? != written {
                return fail(format!(
                    "{}: {} reads something else than {} wrote",
                    self.name, reader.name, writer.name
                ));
            }
            nfiles += written.len();
        }
        println!("{}: {nfiles} files written by the one library and read by the other", self.name);
        Ok(())
    }

    /// The content of each file.
    fn run(
        &self,
        action: &str,
        library: &Library,
        clients: &Clients,
    ) -> Result<BTreeMap<String, String>> {
        let mut command = match self.way {
            Way::Preloaded => Command::new(&clients.python),
            Way::Linked => clients.debian_python(),
        };
        command.arg("-B").arg(venv::scripts().join("capi_files.py")).args([action, self.name]);
        command.arg(clients.folder.join("files").join(self.name));
        library.put_into(&mut command, self.way, clients);
        let said = workspace::output(&mut command)?;
        let said = String::from_utf8_lossy(&said);
        serde_json::from_str(said.lines().next_back().unwrap_or_default()).at(self.name)
    }
}
