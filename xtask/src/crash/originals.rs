//! States of interrupted changes, read by the programs that the formats come from.

use std::{
    fs,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::{
    failure::{Context, Result},
    script::Script,
    venv, workspace,
};

/// A process that reads, and the folder for what it reads.
pub(super) struct Originals {
    script: Script,
    folder: PathBuf,
}

/// Whether the format lets another program read what a killed writer left. A Bloscpack file has its
/// offsets before its data, and a table of bcolz a length for each column.
pub(super) fn can_read(container: &str, operation: &str) -> bool {
    match container {
        "blp" => operation == "metadata",
        "ctable" => false,
        // These read the store that is copied, which does not change.
        "b2z" | "b2d" | "b2e" => !matches!(operation, "pack" | "unpack" | "copy into one frame"),
        _ => true,
    }
}

pub(super) fn digest(data: &[u8]) -> String {
    Sha256::digest(data).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Originals {
    pub(super) fn start(python: Option<PathBuf>) -> Result<Self> {
        let python = venv::python(python)?;
        let folder = workspace::target().join(format!("crash-{}", std::process::id()));
        fs::create_dir_all(&folder).at(folder.display())?;
        Ok(Self { script: Script::start(&python, "crash.py", ("BLOSC_NTHREADS", "1"))?, folder })
    }

    /// The digest of the data, or what the program says.
    pub(super) fn read(
        &mut self,
        container: &str,
        write: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<core::result::Result<String, String>> {
        let suffix = container.trim_start_matches("sparse-").replace("frame", "b2frame");
        let path = self.folder.join(format!("x.{suffix}"));
        write(&path).at(path.display())?;
        let found = self.script.ask(container, path.display());
        match path.is_dir() {
            true => fs::remove_dir_all(&path)?,
            false => fs::remove_file(&path)?,
        }
        Ok(found)
    }
}

impl Drop for Originals {
    fn drop(&mut self) {
        // Below `target`, where it does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
