//! A folder in which output grows: for outputs that are directories, and for writers that want a
//! path.
//!
//! The folder stands beside the target, so that the output in it can be renamed; for a
//! stream it stands with the temporary files of the system.

use std::{
    fs::{self, File, Metadata},
    io,
    path::{Path, PathBuf},
};

use tempfile::{Builder, TempDir, TempPath};

use super::{StageOptions, carry_over, check_target, directory_of, prefix, sync_directory};
use crate::{
    error::{Doing, Error, FileKind, Result, irregular},
    inputs::origin,
    output::unfinished::Unfinished,
};

/// Output under way in a folder of its own, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Nest {
    folder: Option<TempDir>,
    /// The target.
    path: PathBuf,
    /// Where it belongs; nowhere if it goes to a stream.
    target: Option<PathBuf>,
    options: StageOptions,
    unfinished: Unfinished,
}

impl Nest {
    /// Starts what will be `target`.
    ///
    /// # Errors
    ///
    /// When something is at `target` that must not be replaced, or nothing can be made beside it.
    pub(crate) fn create(
        target: &Path,
        options: StageOptions,
        unfinished: &Unfinished,
    ) -> Result<Self> {
        let target = match irregular(target) {
            Ok(Some(FileKind::Directory)) if origin::is_object(target) => {
                if !options.force {
                    return Err(Error::Exists { path: target.to_owned() });
                }
                target.to_owned()
            }
            _ => check_target(target, options)?,
        };
        let prefix = prefix(&target)?;
        let folder =
            || Builder::new().prefix(&prefix).rand_bytes(6).tempdir_in(directory_of(&target));
        let folder = unfinished
            .create(folder, TempDir::path)
            .map_err(Error::io_at(Doing::Create, &target))?;
        let path = folder.path().join(target.file_name().unwrap_or_default());
        Ok(Self {
            folder: Some(folder),
            path,
            target: Some(target),
            options,
            unfinished: unfinished.clone(),
        })
    }

    /// Starts what will be copied to a stream.
    ///
    /// # Errors
    ///
    /// When the system cannot create it.
    pub(crate) fn for_stream(unfinished: &Unfinished) -> Result<Self> {
        let folder =
            unfinished.create(tempfile::tempdir, TempDir::path).map_err(Error::io(Doing::Spool))?;
        let path = folder.path().join("output");
        let options = StageOptions::default();
        Ok(Self {
            folder: Some(folder),
            path,
            target: None,
            options,
            unfinished: unfinished.clone(),
        })
    }

    /// Where to write; there is nothing yet.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How messages call the output.
    pub(crate) fn target(&self) -> &Path {
        self.target.as_deref().unwrap_or(Path::new("standard output"))
    }

    /// Waits until everything is on the disk, unless told not to.
    ///
    /// # Errors
    ///
    /// When the disk refuses.
    pub(crate) fn sync(&self) -> Result<()> {
        if !self.options.sync {
            return Ok(());
        }
        let wrong = || Error::io_at(Doing::Sync, self.target());
        let sync = |path: &Path| File::open(path)?.sync_all();
        if self.path.is_dir() {
            let entries = fs::read_dir(&self.path).map_err(wrong())?;
            entries.into_iter().try_for_each(|entry| sync(&entry?.path())).map_err(wrong())?;
        }
        sync(&self.path).map_err(wrong())
    }

    /// Gives a file mode and times of `source`, syncs the output and renames it to its target.
    ///
    /// # Errors
    ///
    /// When the system refuses, or something else has come to the target meanwhile.
    pub(crate) fn commit(mut self, source: Option<&Metadata>) -> Result<()> {
        let Some(target) = self.target.take() else { return Ok(()) };
        let is_folder = self.path.is_dir();
        if let (Some(source), false) = (source, is_folder) {
            let file = File::options().write(true).open(&self.path);
            let carried = file.and_then(|file| carry_over(source, &file));
            carried.map_err(Error::io_at(Doing::Write, &target))?;
        }
        self.sync()?;
        if is_folder {
            self.put_folder(&target)?
        } else {
            self.put_file(&target)?
        }
        if self.options.sync {
            sync_directory(&target).map_err(Error::io_at(Doing::Sync, &target))?;
        }
        Ok(())
    }

    fn put_file(&self, target: &Path) -> Result<()> {
        if target.is_dir() {
            self.put_aside(target)?;
        }
        let temporary =
            TempPath::try_from_path(&self.path).map_err(Error::io_at(Doing::Rename, target))?;
        super::persist(temporary, target, self.options.force)
    }

    fn put_folder(&self, target: &Path) -> Result<()> {
        // A folder can replace only an empty one, so the old content goes first.
        let old = match irregular(target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Ok(_) if self.options.force => Some(self.put_aside(target)?),
            _ => return Err(Error::Exists { path: target.to_owned() }),
        };
        fs::rename(&self.path, target).map_err(|error| {
            let _restored = old.map(|old| fs::rename(old, target));
            Error::io_at(Doing::Rename, target)(error)
        })
    }

    /// Moves an old target into the folder, with which it is removed.
    fn put_aside(&self, target: &Path) -> Result<PathBuf> {
        let old = self.path.with_file_name("old");
        fs::rename(target, &old).map_err(Error::io_at(Doing::Rename, target))?;
        Ok(old)
    }
}

impl Drop for Nest {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            let path = folder.path().to_owned();
            let _removed = self.unfinished.settle(&path, || folder.close());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORCE: StageOptions = StageOptions { force: true, sync: true };
    const CAREFUL: StageOptions = StageOptions { force: false, sync: true };

    fn nest(target: &Path, options: StageOptions) -> Result<Nest> {
        Nest::create(target, options, &Unfinished::default())
    }

    fn sparse(path: &Path, content: &str) {
        fs::create_dir(path).unwrap();
        fs::write(path.join(origin::INDEX_FILE), content).unwrap();
    }

    #[test]
    fn a_folder_appears_on_commit_and_replaces_one_of_its_kind() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x");
        for content in ["first", "second"] {
            let nest = nest(&target, FORCE).unwrap();
            sparse(nest.path(), content);
            nest.commit(None).unwrap();
            assert_eq!(fs::read_to_string(target.join(origin::INDEX_FILE)).unwrap(), content);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        }
        assert!(matches!(nest(&target, CAREFUL), Err(Error::Exists { .. })));
        let file = nest(&target, FORCE).unwrap();
        fs::write(file.path(), "file").unwrap();
        file.commit(None).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "file");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn other_folders_are_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x");
        fs::create_dir(&target).unwrap();
        assert!(matches!(nest(&target, FORCE), Err(Error::NotRegular { .. })));
    }

    #[test]
    fn folder_created_meanwhile_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x");
        let (file, folder) = (nest(&target, CAREFUL).unwrap(), nest(&target, CAREFUL).unwrap());
        fs::write(file.path(), "ours").unwrap();
        sparse(folder.path(), "ours");
        fs::write(&target, "theirs").unwrap();
        assert!(matches!(file.commit(None), Err(Error::Exists { .. })));
        assert!(matches!(folder.commit(None), Err(Error::Exists { .. })));
        assert_eq!(fs::read_to_string(&target).unwrap(), "theirs");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
