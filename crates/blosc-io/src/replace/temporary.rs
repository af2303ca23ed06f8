//! A file or folder under a temporary name.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::Unfinished;
use super::name::temporary_name;
use crate::lock::FileId;

/// How many names are tried.
const TRIES: usize = 100;

/// A file or folder that is not finished, which only its owner may read. It is locked, so that no
/// sweep takes it for a leftover, and removed when it is dropped.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    /// Nothing once it has another name.
    made: Option<Made>,
    unfinished: Unfinished,
}

/// A handle has the lock. Where folders cannot be opened, there are no locks of them.
#[derive(Debug)]
enum Made {
    File(File),
    Folder { lock: Option<File> },
}

impl Temporary {
    /// A file in the directory `dir`, named after `target`.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn file(dir: &Path, target: &OsStr, unfinished: &Unfinished) -> io::Result<Self> {
        Self::make(dir, target, unfinished, |path| {
            let mut options = File::options();
            options.read(true).write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(path).map(Made::File)
        })
    }

    /// A folder in the directory `dir`, named after `target`.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn folder(dir: &Path, target: &OsStr, unfinished: &Unfinished) -> io::Result<Self> {
        Self::make(dir, target, unfinished, |path| {
            #[allow(unused_mut, reason = "other systems have no modes")]
            let mut builder = fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(path)?;
            Ok(Made::Folder { lock: File::open(path).ok() })
        })
    }

    fn make(
        dir: &Path,
        target: &OsStr,
        unfinished: &Unfinished,
        create: impl Fn(&Path) -> io::Result<Made>,
    ) -> io::Result<Self> {
        for _ in 0..TRIES {
            let path = dir.join(temporary_name(target));
            let create = || {
                let made = Some(create(&path)?);
                Ok(Self { path, made, unfinished: unfinished.clone() })
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
        match &self.made {
            Some(Made::File(file) | Made::Folder { lock: Some(file) }) => hold(file, &self.path),
            _ => true,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file; `None` for a folder.
    #[must_use]
    pub const fn as_file(&self) -> Option<&File> {
        match &self.made {
            Some(Made::File(file)) => Some(file),
            _ => None,
        }
    }

    /// Runs `rename`, after which the file has another name and stays.
    pub(super) fn place(&mut self, rename: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.unfinished.settle(&self.path, rename)?;
        self.made = None;
        Ok(())
    }
}

/// Locks what was just made at `path` for as long as it is open. `false` if another process took it
/// for a leftover in the meantime.
fn hold(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => false,
        Err(fs::TryLockError::Error(_)) => true,
        Ok(()) => FileId::of_file(file) == FileId::of_path(path),
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.made.is_some() {
            // A file that stays is swept by the next process.
            let _ = self.unfinished.settle(&self.path, || remove(&self.path));
        }
    }
}

/// Removes a file, or a folder with all that is in it.
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
