//! The list of files that must not outlive the process.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Temporary files and folders, and other changes to undo when a signal ends the process. Clones
/// share one list.
///
/// The list is locked while a file is created or renamed: at no moment is a file missing from it,
/// or listed under an old name. A thread that receives signals calls [`abandon`](Self::abandon).
/// Without that thread the list has no effect.
#[derive(Clone, Debug, Default)]
pub struct Unfinished(Arc<Mutex<Listed>>);

#[derive(Default)]
struct Listed {
    paths: BTreeSet<PathBuf>,
    changes: BTreeMap<PathBuf, Undo>,
    at_exit: Option<fn()>,
    /// Names of leftovers of killed processes, by folder.
    leftovers: BTreeMap<PathBuf, Arc<[OsString]>>,
}

type Undo = Box<dyn FnOnce() + Send>;

impl Unfinished {
    /// Runs `create` and lists the path that it made.
    ///
    /// # Errors
    ///
    /// The error of `create`; then no path is listed.
    pub fn create<T>(
        &self,
        create: impl FnOnce() -> io::Result<T>,
        path: impl Fn(&T) -> &Path,
    ) -> io::Result<T> {
        let mut listed = self.lock();
        let made = create()?;
        listed.paths.insert(path(&made).to_owned());
        Ok(made)
    }

    /// Calls `settle`, which removes `path` or gives it to the user, and takes the path off the
    /// list.
    pub fn settle<T>(&self, path: &Path, settle: impl FnOnce() -> T) -> T {
        let mut listed = self.lock();
        let settled = settle();
        listed.paths.remove(path);
        listed.changes.remove(path);
        settled
    }

    /// Lists a change of the file at `path`, which `undo` undoes until it is settled.
    pub fn change(&self, path: &Path, undo: impl FnOnce() + Send + 'static) {
        self.lock().changes.insert(path.to_owned(), Box::new(undo));
    }

    /// Calls `write` to its end: [`abandon`](Self::abandon) waits for it, and no later write
    /// begins.
    pub fn hold<T>(&self, write: impl FnOnce() -> T) -> T {
        let _listed = self.lock();
        write()
    }

    /// Makes [`abandon`](Self::abandon) call `run` as its last step.
    pub fn at_exit(&self, run: fn()) {
        self.lock().at_exit = Some(run);
    }

    /// Removes and undoes everything on the list, and then calls `end`, which ends the process.
    /// Until `end` returns, no file is created or renamed.
    pub fn abandon<T>(&self, end: impl FnOnce() -> T) -> T {
        let mut listed = self.lock();
        listed.undo();
        end()
    }

    /// As [`abandon`](Self::abandon), unless a file is just being created or renamed: for a thread
    /// that panics, which may be the one that does it.
    pub fn try_abandon(&self) {
        if let Ok(mut listed) = self.0.try_lock() {
            listed.undo();
        }
    }

    /// The names of leftovers in a folder, by the first call of `look`: a run that makes many files
    /// in a large folder reads it once.
    pub(super) fn leftovers_in(
        &self,
        dir: &Path,
        look: impl FnOnce(&Path) -> io::Result<Vec<OsString>>,
    ) -> io::Result<Arc<[OsString]>> {
        if let Some(known) = self.lock().leftovers.get(dir) {
            return Ok(Arc::clone(known));
        }
        let found: Arc<[OsString]> = look(dir)?.into();
        self.lock().leftovers.insert(dir.to_owned(), Arc::clone(&found));
        Ok(found)
    }

    fn lock(&self) -> MutexGuard<'_, Listed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listed {
    fn undo(&mut self) {
        for path in core::mem::take(&mut self.paths) {
            // An entry that is gone already needs no removing.
            let _ = super::temporary::remove(&path);
        }
        for (_, undo) in core::mem::take(&mut self.changes) {
            undo();
        }
        if let Some(run) = self.at_exit.take() {
            run();
        }
    }
}

impl fmt::Debug for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(&self.paths).entries(self.changes.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_is_looked_at_once_for_each_list() {
        let (unfinished, dir) = (Unfinished::default(), Path::new("d"));
        let found = unfinished.clone().leftovers_in(dir, |_| Ok(vec!["x".into()])).unwrap();
        let again = unfinished.leftovers_in(dir, |_| Err(io::ErrorKind::Other.into())).unwrap();
        assert_eq!((&found[..], &again[..]), (&["x".into()][..], &["x".into()][..]));
        Unfinished::default().leftovers_in(dir, |_| Err(io::ErrorKind::Other.into())).unwrap_err();
    }

    #[test]
    fn listed_paths_go_until_they_are_settled() {
        let dir = tempfile::tempdir().unwrap();
        let [file, folder, missing, settled, grown] =
            ["file", "folder", "missing", "settled", "grown"].map(|name| dir.path().join(name));
        let unfinished = Unfinished::default();
        let list = |path: &PathBuf| unfinished.create(|| Ok(path.clone()), PathBuf::as_path);
        for path in [&file, &folder, &missing, &settled] {
            list(path).unwrap();
        }
        let refused = || Err::<PathBuf, _>(io::ErrorKind::PermissionDenied.into());
        unfinished.create(refused, PathBuf::as_path).unwrap_err();
        for path in [&file, &settled, &grown, &folder.join("inner")] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"half").unwrap();
        }
        let undo = |path: &PathBuf| {
            let path = path.clone();
            move || fs::write(path, b"").unwrap()
        };
        unfinished.change(&grown, undo(&grown));
        unfinished.change(&settled, undo(&settled));
        unfinished.settle(&settled, || ());
        assert_eq!(unfinished.abandon(|| 7), 7);
        assert!(!file.exists() && !folder.exists());
        assert_eq!([&settled, &grown].map(|path| fs::read(path).unwrap()), [&b"half"[..], b""]);
    }
}
