//! One file that is replaced as soon as its successor is complete.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Durability, Lock, LockWait};

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

    /// Removes what processes that were killed left under such names, for the file or directory at
    /// `path`, whose lock is held. What is locked, or whose process lives, stays. Of a very large
    /// directory only a part is looked at. Says how many there were.
    ///
    /// # Errors
    ///
    /// What the system says to reading the directory.
    pub fn remove_leftovers(path: &Path) -> io::Result<usize> {
        let target = path.canonicalize()?;
        let (Some(dir), Some(name)) = (target.parent(), target.file_name()) else { return Ok(0) };
        let mut removed: usize = 0;
        for entry in fs::read_dir(dir)?.take(MAX_ENTRIES).flatten() {
            let Some(pid) = find_pid(&entry.file_name(), name) else { continue };
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            let remove = match kind {
                kind if kind.is_file() => fs::remove_file,
                kind if kind.is_dir() => fs::remove_dir_all::<&Path>,
                _ => continue,
            };
            if is_alive(pid) {
                continue;
            }
            if let Ok(_lock) = Lock::exclusive(&path, &LockWait::never())
                && remove(&path).is_ok()
            {
                removed = removed.saturating_add(1);
            }
        }
        Ok(removed)
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

/// Most entries of a directory that are looked at for leftovers.
const MAX_ENTRIES: usize = 4096;

/// The process in the name of a file that was to replace the one called `target`.
fn find_pid(name: &OsStr, target: &OsStr) -> Option<u32> {
    let name = name.to_str()?.strip_prefix(target.to_str()?)?;
    name.strip_prefix('.')?.strip_suffix(".tmp")?.parse().ok()
}

/// Whether there is a process of this number; where the system does not tell, only its lock counts.
fn is_alive(pid: u32) -> bool {
    pid == std::process::id()
        || cfg!(target_os = "linux") && Path::new(&format!("/proc/{pid}")).exists()
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

    #[test]
    fn what_killed_processes_left_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let dead = u32::MAX;
        let own = std::process::id();
        let others = [format!("f.{own}.tmp"), format!("ff.{dead}.tmp"), "f.x.tmp".into()];
        for name in others.iter().chain([&format!("f.{dead}.tmp"), &"f".to_owned()]) {
            fs::write(dir.path().join(name), b"x").unwrap();
        }
        fs::create_dir(dir.path().join(format!("f.{}.tmp", dead - 2))).unwrap();
        let locked = dir.path().join(format!("f.{}.tmp", dead - 1));
        fs::write(&locked, b"x").unwrap();
        let lock = Lock::exclusive(&locked, &LockWait::never()).unwrap();
        let expected = if lock.is_held() { 2 } else { 3 };
        assert_eq!(Replacement::remove_leftovers(&path).unwrap(), expected);
        assert!(others.iter().all(|name| dir.path().join(name).exists()) && path.exists());
        assert!(!dir.path().join(format!("f.{dead}.tmp")).exists());
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
