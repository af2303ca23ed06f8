//! Removes leftovers of killed processes.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::name::{Maker, is_any_leftover, is_temporary, maker_of};
use super::temporary::remove;
use super::{Unfinished, directory_of};
use crate::lock::LockKind;
use crate::tree::{Entry, join};
use crate::{Lock, LockWait, Tree};

/// The most entries of a directory that a sweep reads.
const MAX_ENTRIES: usize = 4096;

/// Removes leftovers of killed processes beside the file or folder at `path`, which may be missing.
/// Files that a living process may write stay: see [the rule](super). Of a very large directory the
/// sweep reads only a part. Returns the number of removed leftovers.
///
/// # Errors
///
/// Errors of the system on reading the directory.
pub fn sweep(path: &Path) -> io::Result<usize> {
    sweep_beside(&resolve(path), &Unfinished::default())
}

/// The target of a link, if it exists; any other path unchanged.
pub(super) fn resolve(path: &Path) -> PathBuf {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    let resolved = if is_link { path.canonicalize().ok() } else { None };
    resolved.unwrap_or_else(|| path.to_path_buf())
}

/// As [`sweep`], for a path that is not a link. Each list of unfinished files makes it read the
/// folder only once.
pub(super) fn sweep_beside(target: &Path, unfinished: &Unfinished) -> io::Result<usize> {
    let Some(name) = target.file_name() else { return Ok(0) };
    let dir = directory_of(target);
    let (mut removed, mut folder) = (0_usize, None);
    for left in &*unfinished.leftovers_in(dir, leftovers_in)? {
        let Some(maker) = maker_of(left, name) else { continue };
        let path = dir.join(left);
        if folder.is_none() {
            folder = lock(dir);
        }
        if folder.is_some() && is_dead(&path, maker, target) {
            let lock = lock(&path);
            removed = removed.saturating_add((lock.is_some() && remove(&path).is_ok()).into());
        }
    }
    Ok(removed)
}

/// The names in a folder that an unfinished file may have.
fn leftovers_in(dir: &Path) -> io::Result<Vec<OsString>> {
    let entries = fs::read_dir(dir)?.take(MAX_ENTRIES).flatten();
    Ok(entries.map(|entry| entry.file_name()).filter(|name| is_any_leftover(name)).collect())
}

/// Removes leftovers of killed processes inside a container, of all its files or of `target`, and
/// returns their names. The caller has the lock of the container.
///
/// # Errors
///
/// Errors of the storage.
pub fn sweep_in(tree: &dyn Tree, dir: &str, target: Option<&str>) -> io::Result<Vec<String>> {
    let entries = match tree.list(dir) {
        Err(error) if is_missing(&error) => return Ok(vec![]),
        entries => entries?,
    };
    let is_one = |name: &str| {
        let is_of = |target| maker_of(OsStr::new(name), OsStr::new(target)).is_some();
        is_temporary(name) && target.is_none_or(is_of)
    };
    let mut removed = vec![];
    for Entry { name, .. } in entries.into_iter().filter(|entry| is_one(&entry.name)) {
        let path = join(dir, &name);
        let lock = tree.lock(&path, LockKind::Exclusive, &LockWait::never());
        if lock.is_ok_and(|lock| lock.is_held()) {
            tree.remove(&path)?;
            removed.push(name);
        }
    }
    Ok(removed)
}

/// The lock of a file or folder, if no other program has it.
fn lock(path: &Path) -> Option<Lock> {
    Lock::exclusive(path, &LockWait::never()).ok().filter(Lock::is_held)
}

/// Whether a file or folder beside its target is no longer being written, as far as its name tells.
fn is_dead(path: &Path, maker: Maker, target: &Path) -> bool {
    let Ok(kind) = fs::symlink_metadata(path).map(|found| found.file_type()) else { return false };
    match maker {
        // Opening a pipe would wait.
        _ if !kind.is_file() && !kind.is_dir() => false,
        Maker::Any => true,
        Maker::Process(pid) => !is_alive(pid) && (kind.is_dir() || begins_like(path, target)),
        // It lies beside the target, and not in a container.
        Maker::Container => false,
    }
}

/// Whether there is a process of this number.
fn is_alive(pid: u32) -> bool {
    pid == std::process::id()
        || cfg!(target_os = "linux") && Path::new(&format!("/proc/{pid}")).exists()
}

/// Whether a file begins like `target`, as far as it goes. Files of other programs do not. Zeros
/// stand for a header that was to be written last.
fn begins_like(path: &Path, target: &Path) -> bool {
    let head = |path: &Path| -> io::Result<Vec<u8>> {
        let mut head = vec![];
        File::open(path)?.take(4).read_to_end(&mut head)?;
        Ok(head)
    };
    let is_like = |(part, all): (&u8, &u8)| *part == 0 || part == all;
    target.is_file()
        && matches!((head(path), head(target)), (Ok(part), Ok(all))
            if part.len() <= all.len() && part.iter().zip(&all).all(is_like))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replace::{TreeStage, temporary_path};
    use crate::tree::{DirTree, MemTree};

    const DEAD: u32 = u32::MAX;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Names, contents (`None`: a folder), and whether they are leftovers of `x`.
    fn cases() -> Vec<(String, Option<&'static [u8]>, bool)> {
        let own = std::process::id();
        vec![
            (".x.b2tmp-aaaaaa".into(), Some(b"half"), true),
            (".x.b2tmp-bbbbbb".into(), None, true),
            (".y.b2tmp-aaaaaa".into(), Some(b"half"), false),
            (format!("x.{DEAD}.tmp"), Some(b"old"), true),
            (format!("x.{}.tmp", DEAD - 1), None, true),
            (format!("x.3.{DEAD}.tmp"), Some(b""), true),
            (format!("x.{}.tmp", DEAD - 2), Some(b"\0\0\0\0header last"), true),
            (format!("x.4.{DEAD}.tmp"), Some(b"of others"), false),
            (format!("x.{own}.tmp"), Some(b"old"), false),
            (format!("xx.{DEAD}.tmp"), Some(b"old"), false),
            ("x.y.tmp".into(), Some(b"old"), false),
            ("x.__temp__".into(), Some(b"old"), false),
        ]
    }

    #[test]
    fn only_what_nobody_writes_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("x"), b"old content").unwrap();
        let mut stay = vec!["x".to_owned()];
        let is_locking = lock(&path("x")).is_some();
        for (name, content, goes) in cases() {
            match content {
                Some(content) => fs::write(path(&name), content).unwrap(),
                None => fs::create_dir_all(path(&name).join("inner")).unwrap(),
            }
            if !goes || !is_locking {
                stay.push(name);
            }
        }
        stay.sort();
        // Another writer holds the folder as its container.
        let held = lock(dir.path());
        assert_eq!(sweep(&path("x")).unwrap(), 0);
        drop(held);
        // Another writer holds each of them.
        let held: Vec<_> = names(dir.path()).iter().map(|name| lock(&path(name))).collect();
        assert_eq!(sweep(&path("x")).unwrap(), 0);
        drop(held);
        assert_eq!(sweep(&path("x")).unwrap(), cases().len() + 1 - stay.len());
        assert_eq!(names(dir.path()), stay);
    }

    #[test]
    fn leftovers_inside_containers_go() {
        let names = ["d/.x.b2tmp-aaaaaa", "d/chunks.b2frame.tmp", "d/x.__temp__", "d/x.17.tmp"];
        let dir = tempfile::tempdir().unwrap();
        let trees: [Box<dyn Tree>; 2] =
            [Box::new(MemTree::new()), Box::new(DirTree::new(dir.path()))];
        for tree in trees {
            assert!(sweep_in(&*tree, "none", None).unwrap().is_empty());
            tree.create_dir("d").unwrap();
            names.iter().for_each(|name| tree.create_new(name, b"half").unwrap());
            let lock = tree.lock(names[0], LockKind::Exclusive, &LockWait::never()).unwrap();
            if !lock.is_held() {
                return;
            }
            drop(lock);
            assert_eq!(sweep_in(&*tree, "d", Some("chunks.b2frame")).unwrap(), [&names[1][2..]]);
            assert_eq!(sweep_in(&*tree, "d", Some("x")).unwrap().len(), 2);
            assert_eq!(tree.list("d").unwrap().len(), 1);
            tree.create_dir(&temporary_path("d/y")).unwrap();
            assert_eq!(sweep_in(&*tree, "d", None).unwrap().len(), 1);
        }
    }

    #[test]
    fn a_stage_stays_as_long_as_it_is_used() {
        let dir = tempfile::tempdir().unwrap();
        let tree = DirTree::new(dir.path());
        let stage = TreeStage::beside(&tree, "x").unwrap();
        tree.create_new(&stage.part(0), b"new").unwrap();
        assert_eq!(sweep(&dir.path().join("x")).unwrap(), 0);
        assert_eq!(sweep_in(&tree, "", None).unwrap(), [""; 0]);
        tree.rename(&stage.part(0), "x").unwrap();
        drop(stage);
        assert_eq!(names(dir.path()), ["x"]);
    }
}
