//! A file or folder under a temporary name.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::Unfinished;
use super::name::temporary_name;
use crate::lock::{FileId, HAS_LOCKS};

/// The number of names to try.
const TRIES: usize = 100;

/// An unfinished file or folder, which only its owner may read. It is locked, so that no sweep
/// takes it for a leftover, and removed when it is dropped.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    is_dir: bool,
    /// A handle that has the lock; `None` if folders cannot be opened, and so not be locked.
    handle: Option<File>,
    is_placed: bool,
    unfinished: Unfinished,
}

impl Temporary {
    /// A file in the directory `dir`, named after `target`.
    ///
    /// # Errors
    ///
    /// Errors of the storage.
    pub fn file(dir: &Path, target: &OsStr, unfinished: &Unfinished) -> io::Result<Self> {
        Self::make(dir, target, unfinished, false, |path| {
            let mut options = File::options();
            options.read(true).write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(path).map(Some)
        })
    }

    /// A folder in the directory `dir`, named after `target`.
    ///
    /// # Errors
    ///
    /// Errors of the storage.
    pub fn folder(dir: &Path, target: &OsStr, unfinished: &Unfinished) -> io::Result<Self> {
        Self::make(dir, target, unfinished, true, |path| {
            #[allow(unused_mut, reason = "other systems have no modes")]
            let mut builder = fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(path)?;
            Ok(File::open(path).ok())
        })
    }

    fn make(
        dir: &Path,
        target: &OsStr,
        unfinished: &Unfinished,
        is_dir: bool,
        create: impl Fn(&Path) -> io::Result<Option<File>>,
    ) -> io::Result<Self> {
        // The process may change its directory before the file is removed.
        let dir = std::path::absolute(dir)?;
        for _ in 0..TRIES {
            let path = dir.join(temporary_name(target));
            let create = || {
                let (handle, unfinished) = (create(&path)?, unfinished.clone());
                Ok(Self { path, is_dir, handle, is_placed: false, unfinished })
            };
            match unfinished.create(create, Self::path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Ok(made) if !made.is_held() => {}
                done => return done,
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn is_held(&self) -> bool {
        self.handle.as_ref().is_none_or(|handle| hold(handle, &self.path))
    }

    /// The present path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file; `None` for a folder.
    #[must_use]
    pub const fn as_file(&self) -> Option<&File> {
        if self.is_dir { None } else { self.handle.as_ref() }
    }

    /// Calls `rename` on the output at `path`: the file itself, which then has another name and
    /// stays, or an entry of the folder.
    pub(super) fn place(
        &mut self,
        path: &Path,
        rename: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.is_dir {
            return rename(path);
        }
        self.unfinished.settle(path, || rename(path))?;
        self.is_placed = true;
        Ok(())
    }
}

/// Locks the new file at `path` for as long as it is open. `false` if another process has removed
/// it as a leftover meanwhile.
fn hold(file: &File, path: &Path) -> bool {
    if !HAS_LOCKS {
        return true;
    }
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => false,
        Err(fs::TryLockError::Error(_)) => true,
        Ok(()) => FileId::of_file(file) == FileId::of_path(path),
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_placed {
            // The next process sweeps a file that cannot be removed.
            let _ = self.unfinished.settle(&self.path, || remove(&self.path));
        }
    }
}

/// Removes a file, or a folder with all of its entries.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_swept_meanwhile_is_not_held() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let file = File::create(&path).unwrap();
        assert!(hold(&file, &path));
        fs::remove_file(&path).unwrap();
        assert!(!cfg!(unix) || !hold(&file, &path));
    }
}
