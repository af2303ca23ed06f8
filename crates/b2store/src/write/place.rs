//! The place of a store: a file or a directory of a tree, and the steps that create or change it so
//! that a crash leaves the old state or the new one.
//!
//! ```text
//!   a file         create it in a stage, sync, rename to NAME, sync the names
//!   new directory  the same with all its files
//!   change in it   create the new files in a stage, sync; rename one after the other to its path;
//!                  remove old files. New and removed directories are renamed as a whole
//! ```
//!
//! A stage is a [`TreeStage`], a folder beside the store: see [`replace`](blosc_io::replace). New
//! files lie beside a directory store and not in it, because python-blosc2 takes every frame in it
//! for a value.

use core::fmt::Debug;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blosc_io::replace::{TreeStage, directory_of};
use blosc_io::tree::{DirTree, Entry, join, parent};
use blosc_io::{Durability, ReadAt, Tree};

use crate::error::{Error, Result};
use crate::files::is_nothing;

/// A file or directory of a tree.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) tree: Arc<dyn Tree>,
    pub(crate) name: String,
    /// The directory of the tree, if it is one.
    pub(crate) dir: Option<PathBuf>,
}

/// A change of a directory.
pub(crate) enum Step {
    /// Writes a new file, which may replace an old one.
    Write(String, Arc<dyn ReadAt>),
    /// Writes a new directory with files, whose paths start at it. The name must be free.
    WriteDir(String, Vec<(String, Arc<dyn ReadAt>)>),
    /// Renames a file.
    Rename(String, String),
    /// Removes a file.
    Remove(String),
    /// Removes a directory with its content.
    RemoveDir(String),
    /// A barrier: no later step survives a loss of power without all earlier ones.
    Sync,
}

impl Place {
    /// The entry of the file system at `path`, which need not exist. Links to it are resolved.
    pub(crate) fn in_dir(path: &Path, durability: Durability) -> io::Result<Self> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let dir = directory_of(&path);
        let tree = DirTree::new(dir).follow_links(false).durability(durability);
        let (tree, name) = tree.with_entry(name);
        Ok(Self { tree: Arc::new(tree), name, dir: Some(dir.to_owned()) })
    }

    /// Whether the place is a directory.
    pub(crate) fn is_dir(&self) -> Result<bool> {
        match self.tree.list(&self.name) {
            Ok(_) => Ok(true),
            Err(error) if is_nothing(&error) => Ok(false),
            Err(source) => Err(Error::io(&self.name, source)),
        }
    }

    /// Whether the place exists.
    pub(crate) fn exists(&self) -> io::Result<bool> {
        let entries = self.tree.list(parent(&self.name))?;
        let name = self.name.rsplit_once('/').map_or(&*self.name, |(_, name)| name);
        Ok(entries.iter().any(|entry| entry.name == name))
    }

    /// The files below the directory.
    pub(crate) fn files(&self) -> Arc<dyn Tree> {
        Arc::new(Below { tree: Arc::clone(&self.tree), root: self.name.clone() })
    }

    /// The first of these pairs of names that is one file here: some file systems take names that
    /// differ in case for one.
    pub(crate) fn find_same<'a>(
        &self,
        pairs: impl Iterator<Item = &'a (String, String)>,
    ) -> io::Result<Option<&'a (String, String)>> {
        let stage = TreeStage::beside(&*self.tree, &self.name)?;
        for (number, pair) in pairs.enumerate() {
            let (one, other) = pair;
            let dir = stage.part(number);
            self.tree.create_dir(&dir)?;
            self.tree.create_new(&join(&dir, one), &[])?;
            match self.tree.create_new(&join(&dir, other), &[]) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Ok(Some(pair));
                }
                made => made?,
            }
        }
        Ok(None)
    }

    /// Writes a file to the place, or replaces the one there.
    pub(crate) fn write_file(&self, source: &dyn ReadAt) -> io::Result<()> {
        let stage = TreeStage::beside(&*self.tree, &self.name)?;
        let file = stage.part(0);
        self.tree.copy_new(&file, source)?;
        self.tree.copy_permissions(&self.name, &file)?;
        self.tree.sync(&file)?;
        self.tree.rename(&file, &self.name)?;
        self.tree.sync_names(parent(&self.name))
    }

    /// Writes a new directory to the place.
    pub(crate) fn write_dir(&self, files: &[(String, Arc<dyn ReadAt>)]) -> io::Result<()> {
        let stage = TreeStage::beside(&*self.tree, &self.name)?;
        let dir = stage.part(0);
        let (mut staged, mut dirs) = (Vec::with_capacity(files.len()), BTreeSet::new());
        self.stage_dir(&dir, files, &mut staged, &mut dirs)?;
        self.sync_staged(&staged, &dirs)?;
        self.tree.rename(&dir, &self.name)?;
        self.tree.sync_names(parent(&self.name))
    }

    /// Changes the directory, step by step. No file is ever half written; all new files are on the
    /// medium before the first of them gets its path.
    pub(crate) fn change_dir(&self, steps: &[Step]) -> io::Result<()> {
        let stage = TreeStage::beside(&*self.tree, &self.name)?;
        self.stage_files(&stage, steps)?;
        let (mut touched, mut dirs) = (BTreeSet::new(), BTreeSet::new());
        // The stage must be on the medium before files are removed: otherwise its files could be
        // lost, and the old files would refer to removed ones.
        if steps.iter().any(|step| matches!(step, Step::Remove(_))) {
            touched.insert(parent(&self.name).to_owned());
        }
        for (number, step) in steps.iter().enumerate() {
            self.apply(step, &stage.part(number), &mut touched, &mut dirs)?;
        }
        self.sync_touched(&mut touched)
    }

    /// Writes the new files of all steps; each is the part with the number of its step.
    fn stage_files(&self, stage: &TreeStage<'_>, steps: &[Step]) -> io::Result<()> {
        let (mut staged, mut dirs) = (Vec::new(), BTreeSet::new());
        for (number, step) in steps.iter().enumerate() {
            let path = stage.part(number);
            match step {
                Step::Write(_, source) => {
                    self.tree.copy_new(&path, &**source)?;
                    staged.push(path);
                }
                Step::WriteDir(_, files) => {
                    self.stage_dir(&path, files, &mut staged, &mut dirs)?;
                }
                Step::Rename(..) | Step::Remove(_) | Step::RemoveDir(_) | Step::Sync => {}
            }
        }
        self.sync_staged(&staged, &dirs)
    }

    /// Writes a new directory, and adds its files and directories to the lists.
    fn stage_dir(
        &self,
        path: &str,
        files: &[(String, Arc<dyn ReadAt>)],
        staged: &mut Vec<String>,
        dirs: &mut BTreeSet<String>,
    ) -> io::Result<()> {
        self.tree.create_dir(path)?;
        dirs.insert(path.to_owned());
        for (name, source) in files {
            let file = join(path, name);
            self.create_parents(&file, path, dirs)?;
            self.tree.copy_new(&file, &**source)?;
            staged.push(file);
        }
        Ok(())
    }

    fn sync_staged(&self, staged: &[String], dirs: &BTreeSet<String>) -> io::Result<()> {
        self.tree.sync_all(staged)?;
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
