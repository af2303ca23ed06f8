//! Where a store is written: a file or a directory of a tree, and the steps by which it is made or
//! changed so that a crash leaves the old state or the new one.
//!
//! ```text
//!   a file         create NAME.PID.tmp, sync, rename to NAME, sync the names
//!   new directory  create NAME.PID.tmp with all files, sync, rename to NAME, sync the names
//!   change in it   create NAME.PID.tmp with the new files, sync; rename one after the other to
//!                  its place; remove what goes. A new directory, or one that goes, is renamed as
//!                  a whole
//! ```
//!
//! New files lie beside a directory store and not in it, because python-blosc2 takes every frame
//! in it for a value.

use core::fmt::Debug;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blosc_io::tree::{DirTree, Entry, Replacement, join, parent};
use blosc_io::{Durability, ReadAt, Tree};

/// Names beside a store that are tried.
const MAX_STAGES: usize = 1000;

/// A file or directory of a tree.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) tree: Arc<dyn Tree>,
    pub(crate) name: String,
    /// The directory that the tree is, if it is one.
    pub(crate) dir: Option<PathBuf>,
}

/// A change of a directory.
pub(crate) enum Step {
    /// A new file, which may take the place of one.
    Write(String, Arc<dyn ReadAt>),
    /// A new directory with files, whose paths start at it. There is none of its name.
    WriteDir(String, Vec<(String, Arc<dyn ReadAt>)>),
    /// Another name for a file.
    Rename(String, String),
    /// A file that goes.
    Remove(String),
    /// A directory that goes with all that is in it.
    RemoveDir(String),
    /// A loss of power loses nothing of what comes before, if it leaves anything of what follows.
    Sync,
}

impl Place {
    /// The entry of the file system at `path`, which need not exist. Links to it are resolved.
    pub(crate) fn in_dir(path: &Path, durability: Durability) -> io::Result<Self> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let dir = match path.parent() {
            Some(dir) if !dir.as_os_str().is_empty() => dir,
            _ => Path::new("."),
        };
        let tree = DirTree::new(dir).follow_links(false).durability(durability);
        Ok(Self { tree: Arc::new(tree), name: name.to_owned(), dir: Some(dir.to_owned()) })
    }

    pub(crate) fn is_dir(&self) -> bool {
        self.tree.list(&self.name).is_ok()
    }

    /// Whether there is anything.
    pub(crate) fn exists(&self) -> io::Result<bool> {
        let entries = self.tree.list(parent(&self.name))?;
        let name = self.name.rsplit_once('/').map_or(&*self.name, |(_, name)| name);
        Ok(entries.iter().any(|entry| entry.name == name))
    }

    /// The files below the directory.
    pub(crate) fn files(&self) -> Arc<dyn Tree> {
        Arc::new(Below { tree: Arc::clone(&self.tree), root: self.name.clone() })
    }

    /// A name beside the store that is free, and that two processes do not share. A process that
    /// died may have had the number of this one.
    fn stage(&self) -> io::Result<String> {
        let entries = self.tree.list(parent(&self.name))?;
        let pid = std::process::id();
        let names = (0_u32..).map(|n| match n {
            0 => format!("{}.{pid}.tmp", self.name),
            n => format!("{}.{n}.{pid}.tmp", self.name),
        });
        let is_free = |name: &String| {
            let name = name.rsplit('/').next();
            entries.iter().all(|entry| Some(entry.name.as_str()) != name)
        };
        names.take(MAX_STAGES).find(is_free).ok_or_else(|| io::ErrorKind::AlreadyExists.into())
    }

    /// Puts a file in place, or replaces it.
    pub(crate) fn write_file(&self, source: &dyn ReadAt) -> io::Result<()> {
        let stage = self.stage()?;
        self.cleaned(&stage, || {
            self.tree.copy_new(&stage, source)?;
            self.tree.copy_permissions(&self.name, &stage)?;
            self.tree.sync(&stage)?;
            self.tree.rename(&stage, &self.name)?;
            self.tree.sync_names(parent(&self.name))
        })
    }

    /// Puts a new directory in place.
    pub(crate) fn write_dir(&self, files: &[(String, Arc<dyn ReadAt>)]) -> io::Result<()> {
        let stage = self.stage()?;
        self.cleaned(&stage, || {
            self.tree.create_dir(&stage)?;
            let mut dirs = BTreeSet::new();
            let mut paths = Vec::with_capacity(files.len());
            for (path, source) in files {
                let path = join(&stage, path);
                self.create_parents(&path, &stage, &mut dirs)?;
                self.tree.copy_new(&path, &**source)?;
                paths.push(path);
            }
            self.tree.sync_all(&paths)?;
            dirs.iter().rev().try_for_each(|dir| self.tree.sync_names(dir))?;
            self.tree.sync_names(&stage)?;
            self.tree.rename(&stage, &self.name)?;
            self.tree.sync_names(parent(&self.name))
        })
    }

    /// Changes the directory, step after step. No file is ever half written; all new files are on
    /// the medium before the first of them takes its place.
    pub(crate) fn change_dir(&self, steps: &[Step]) -> io::Result<()> {
        let stage = self.stage()?;
        self.cleaned(&stage, || {
            self.tree.create_dir(&stage)?;
            self.stage_files(&stage, steps)?;
            let (mut touched, mut dirs) = (BTreeSet::new(), BTreeSet::new());
            for (number, step) in steps.iter().enumerate() {
                let staged = join(&stage, &number.to_string());
                self.apply(step, &staged, &mut touched, &mut dirs)?;
            }
            self.sync_touched(&mut touched)?;
            self.tree.remove(&stage)
        })
    }

    /// Writes the new files of all steps to `stage`, where each has the number of its step.
    fn stage_files(&self, stage: &str, steps: &[Step]) -> io::Result<()> {
        let (mut staged, mut dirs) = (Vec::new(), BTreeSet::new());
        for (number, step) in steps.iter().enumerate() {
            let path = join(stage, &number.to_string());
            match step {
                Step::Write(_, source) => {
                    self.tree.copy_new(&path, &**source)?;
                    staged.push(path);
                }
                Step::WriteDir(_, files) => {
                    self.tree.create_dir(&path)?;
                    dirs.insert(path.clone());
                    for (name, source) in files {
                        let file = join(&path, name);
                        self.create_parents(&file, &path, &mut dirs)?;
                        self.tree.copy_new(&file, &**source)?;
                        staged.push(file);
                    }
                }
                Step::Rename(..) | Step::Remove(_) | Step::RemoveDir(_) | Step::Sync => {}
            }
        }
        self.tree.sync_all(&staged)?;
        dirs.iter().rev().try_for_each(|dir| self.tree.sync_names(dir))
    }

    fn apply(
        &self,
        step: &Step,
        staged: &str,
        touched: &mut BTreeSet<String>,
        dirs: &mut BTreeSet<String>,
    ) -> io::Result<()> {
        let place = |path: &String| join(&self.name, path);
        let path = match step {
            Step::Write(path, _) => {
                let path = place(path);
                self.create_parents(&path, &self.name, dirs)?;
                self.tree.copy_permissions(&path, staged)?;
                self.tree.rename(staged, &path)?;
                path
            }
            Step::WriteDir(path, _) => {
                let path = place(path);
                self.tree.rename(staged, &path)?;
                path
            }
            Step::Rename(from, to) => {
                let path = place(to);
                self.create_parents(&path, &self.name, dirs)?;
                self.tree.rename(&place(from), &path)?;
                path
            }
            Step::Remove(path) => {
                let path = place(path);
                self.tree.remove(&path)?;
                path
            }
            Step::RemoveDir(path) => {
                let path = place(path);
                self.tree.rename(&path, staged)?;
                path
            }
            Step::Sync => return self.sync_touched(touched),
        };
        touched.insert(parent(&path).to_owned());
        Ok(())
    }

    /// Syncs the names in directories that were changed.
    fn sync_touched(&self, touched: &mut BTreeSet<String>) -> io::Result<()> {
        touched.iter().try_for_each(|dir| self.tree.sync_names(dir))?;
        touched.clear();
        Ok(())
    }

    /// Creates the directories of a path below `root`, which exists.
    fn create_parents(
        &self,
        path: &str,
        root: &str,
        dirs: &mut BTreeSet<String>,
    ) -> io::Result<()> {
        let ends = path.match_indices('/').map(|(at, _)| at);
        for dir in ends.filter_map(|end| path.get(..end)) {
            if dir.len() <= root.len() || !dirs.insert(dir.to_owned()) {
                continue;
            }
            match self.tree.create_dir(dir) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Err(_) => {}
                Ok(()) => self.tree.sync_names(parent(dir))?,
            }
        }
        Ok(())
    }

    /// Removes what was prepared if it does not get its place.
    fn cleaned(&self, stage: &str, write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let written = write();
        if let Err(error) = &written
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            // The first error says more than one of cleaning up.
            let _ = self.tree.remove(stage);
        }
        written
    }
}

/// Removes what processes that were killed left beside a store.
pub(crate) fn remove_leftovers(path: &Path) {
    // A store without leftovers is not worth an error.
    let _ = Replacement::remove_leftovers(path);
}

/// The files below a directory of a tree, for reading.
#[derive(Debug)]
struct Below {
    tree: Arc<dyn Tree>,
    root: String,
}

impl Tree for Below {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        self.tree.open(&join(&self.root, path))
    }

    fn len_of(&self, path: &str) -> io::Result<u64> {
        self.tree.len_of(&join(&self.root, path))
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        self.tree.list(&join(&self.root, path))
    }
}
