//! States of interrupted changes, read by the formats' original programs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use blosc_trials::crash::Other;

use crate::{
    failure::{Context, Result},
    script::Script,
    venv, workspace,
};

/// A process that reads, and the folder for its output.
pub(super) struct Originals {
    script: Script,
    folder: PathBuf,
}

impl Originals {
    pub(super) fn start(python: Option<PathBuf>) -> Result<Self> {
        let python = venv::python(python)?;
        let folder = workspace::target().join(format!("crash-{}", std::process::id()));
        fs::create_dir_all(&folder).at(folder.display())?;
        Ok(Self { script: Script::start(&python, "crash.py", ("BLOSC_NTHREADS", "1"))?, folder })
    }
}

impl Other for Originals {
    /// Whether the format's program can read the states of an operation. A Bloscpack file has its
    /// offsets before its data, and a table of bcolz a length for each column.
    fn can_read(&self, container: &str, operation: &str) -> bool {
        match container {
            "blp" => operation == "metadata",
            "ctable" => false,
            // These operations only read the store, which does not change.
            "b2z" | "b2d" | "b2e" => {
                !matches!(operation, "pack" | "unpack" | "copy into one frame")
            }
            _ => true,
        }
    }

    fn read(
        &mut self,
        container: &str,
        write: &dyn Fn(&Path) -> Result<()>,
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
        // The folder lies below `target`, where it does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
