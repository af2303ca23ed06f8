//! One file that is replaced as soon as its successor is complete.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::Durability;

/// A file that takes the place of another one when it is complete; until then the other one is as
/// it was. Dropped without [`commit`](Self::commit), it is removed.
///
/// ```
/// use blosc_io::Durability;
/// use blosc_io::tree::Replacement;
///
/// # let path = std::env::temp_dir().join(format!("replacement-{}", std::process::id()));
/// std::fs::write(&path, b"old")?;
/// let new = Replacement::new(&path);
/// std::fs::write(new.path(), b"new")?;
/// new.commit(Durability::ProcessDeath)?;
/// assert_eq!(std::fs::read(&path)?, b"new");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Replacement {
    target: PathBuf,
    temporary: PathBuf,
}

impl Replacement {
    /// For the file at `path`, if there is one. Links are resolved, so that the file is replaced
    /// and not the link. Nothing is created yet.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        // A name that two processes do not share.
        let mut name: OsString = target.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        Self { temporary: target.with_file_name(name), target }
    }

    /// Where to write the new file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Puts the new file in place, with the permissions of the old one. Its content was synced
    /// before; with [`Durability::PowerLoss`], its name is synced here.
    ///
    /// # Errors
    ///
    /// Those of the storage. The old file is then in place, unless only syncing its name failed.
    pub fn commit(self, durability: Durability) -> io::Result<()> {
        if let Ok(old) = fs::metadata(&self.target) {
            fs::set_permissions(&self.temporary, old.permissions())?;
        }
        fs::rename(&self.temporary, &self.target)?;
        match self.target.parent() {
            Some(dir) if durability.needs_sync() => sync_names(dir),
            _ => Ok(()),
        }
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // It may not be there: never written, or in place.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Returns when the names in a directory survive a loss of power; the empty path is the current
/// directory. Only Unix has such a call.
///
/// # Errors
///
/// What the system says.
pub fn sync_names(dir: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    fs::File::open(if dir.as_os_str().is_empty() { Path::new(".") } else { dir })?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abandoned_replacement_leaves_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, b"old").unwrap();
        let new = Replacement::new(&path);
        fs::write(new.path(), b"half").unwrap();
        drop(new);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let dir = tempfile::tempdir().unwrap();
        let [path, link] = ["f", "link"].map(|name| dir.path().join(name));
        fs::write(&path, b"old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("f", &link).unwrap();
        let new = Replacement::new(&link);
        fs::write(new.path(), b"new").unwrap();
        new.commit(Durability::PowerLoss).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_file_that_is_not_there_yet_is_created() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let new = Replacement::new(&path);
        fs::write(new.path(), b"new").unwrap();
        assert!(!path.exists());
        new.commit(Durability::PowerLoss).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
