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

use blosc_io::tree::exchange;
use tempfile::{Builder, TempDir, TempPath};

use super::{
    Carry, StageOptions, builder, carry_mode, carry_over, check_target, directory_of, not_beside,
    prefix, sync_directory,
};
use crate::{
    error::{Doing, Error, FileKind, Result, irregular},
    inputs::origin,
    output::{Unfinished, leftover},
};

/// Output under way in a folder of its own, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Nest {
    folder: Option<TempDir>,
    /// Tells other runs that the folder is in use.
    _lock: Option<File>,
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
        let directory = directory_of(&target);
        leftover::sweep(directory, &prefix);
        let create = || private(&mut builder(&prefix)).tempdir_in(directory);
        let (folder, lock) = loop {
            let made = unfinished.create(create, TempDir::path);
            let made = made.map_err(not_beside(&target))?;
            // Where folders cannot be opened, there are no locks of them.
            let Ok(lock) = File::open(made.path()) else { break (made, None) };
            if leftover::hold(&lock, made.path()) {
                break (made, Some(lock));
            }
            let path = made.path().to_owned();
            let _gone = unfinished.settle(&path, || made.close());
        };
        let path = folder.path().join(target.file_name().unwrap_or_default());
        Ok(Self {
            folder: Some(folder),
            _lock: lock,
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
        let create = || private(&mut Builder::new()).tempdir();
        let folder = unfinished.create(create, TempDir::path).map_err(Error::io(Doing::Spool))?;
        let path = folder.path().join("output");
        let options = StageOptions::default();
        Ok(Self {
            folder: Some(folder),
            _lock: None,
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
    pub(crate) fn commit(self, source: Option<&Metadata>) -> Result<()> {
        self.finish(source, carry_over)
    }

    /// As [`commit`](Self::commit), with the owner and the mode of `source` and not its times.
    ///
    /// # Errors
    ///
    /// As `commit`.
    pub(crate) fn commit_with_mode(self, source: Option<&Metadata>) -> Result<()> {
        self.finish(source, carry_mode)
    }

    fn finish(mut self, source: Option<&Metadata>, carry: Carry) -> Result<()> {
        let Some(target) = self.target.take() else { return Ok(()) };
        let is_folder = self.path.is_dir();
        if let Some(source) = source {
            let carried = match is_folder {
                true => carry_to_folder(source, &self.path),
                false => File::options()
                    .write(true)
                    .open(&self.path)
                    .and_then(|file| carry(source, &file)),
            };
            carried.map_err(Error::io_at(Doing::Write, &target))?;
        }
        self.sync()?;
        self.put_in_place(&target, is_folder)?;
        if self.options.sync {
            sync_directory(&target).map_err(Error::io_at(Doing::SyncDirectory, &target))?;
        }
        Ok(())
    }

    /// Renames the output. Neither a folder nor what replaces one can be renamed over what is
    /// there: both change places, and the old one is removed with the folder in which the new one
    /// grew.
    fn put_in_place(&self, target: &Path, is_folder: bool) -> Result<()> {
        let old = match irregular(target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => Some(found.map_err(Error::io_at(Doing::Rename, target))?),
        };
        match old {
            Some(_) if !self.options.force => Err(Error::Exists { path: target.to_owned() }),
            Some(Some(kind @ FileKind::Directory)) if !origin::is_object(target) => {
                Err(Error::NotRegular { path: target.to_owned(), kind })
            }
            Some(kind) if is_folder || kind == Some(FileKind::Directory) => {
                exchange(&self.path, target).map_err(Error::io_at(Doing::Rename, target))
            }
            None if is_folder => {
                fs::rename(&self.path, target).map_err(Error::io_at(Doing::Rename, target))
            }
            _ => {
                let temporary = TempPath::try_from_path(&self.path)
                    .map_err(Error::io_at(Doing::Rename, target))?;
                super::persist(temporary, target, self.options.force)
            }
        }
    }
}

/// Gives a folder, and everything in it, owner and mode of the input.
fn carry_to_folder(source: &Metadata, folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => carry_to_folder(source, &path)?,
            false => carry_mode(source, &File::open(&path)?)?,
        }
    }
    carry_mode(source, &File::open(folder)?)
}

/// For folders that nobody else can look into.
fn private<'a, 'b, 'c>(builder: &'a mut Builder<'b, 'c>) -> &'a mut Builder<'b, 'c> {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder
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
