//! A file or folder that its successor replaces once it is complete.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::sweep::{resolve, sweep_beside};
use super::{Carry, Temporary, Unfinished, exchange, rename_new};
use crate::Durability;

/// Options for replacing a file or folder.
#[derive(Clone, Debug)]
pub struct ReplaceOptions {
    /// Whether an existing file is replaced. Default: yes.
    pub replaces: bool,
    /// The folders that may be replaced. Default: none.
    pub replaces_folder: fn(&Path) -> bool,
    /// Durability of the new file. Default: a loss of power.
    pub durability: Durability,
    /// The list that has it until it is complete. Default: a list that no signal handler reads.
    pub unfinished: Unfinished,
}

impl Default for ReplaceOptions {
    fn default() -> Self {
        Self {
            replaces: true,
            replaces_folder: |_| false,
            durability: Durability::default(),
            unfinished: Unfinished::default(),
        }
    }
}

/// A file or folder that replaces another one when it is complete; until then the other one stays
/// unchanged. Dropping it without [`commit`](Self::commit) removes it.
///
/// ```
/// use std::io::Write as _;
///
/// use blosc_io::replace::{Carry, ReplaceOptions, Replacement};
///
/// # let path = std::env::temp_dir().join(format!("replacement-{}", std::process::id()));
/// std::fs::write(&path, b"old")?;
/// let new = Replacement::file(&path, ReplaceOptions::default())?;
/// new.handle()?.write_all(b"new")?;
/// new.commit(Carry::Target)?;
/// assert_eq!(std::fs::read(&path)?, b"new");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Replacement {
    target: PathBuf,
    /// The path of the unfinished file.
    path: PathBuf,
    temporary: Temporary,
    options: ReplaceOptions,
}

impl Replacement {
    /// Makes a file beside `target`, to be written by its [`handle`](Self::handle). If a file may
    /// be replaced, links are followed first, so that the file is replaced and not the link.
    ///
    /// # Errors
    ///
    /// Errors of the storage; `InvalidInput` for a path without a name.
    pub fn file(target: &Path, options: ReplaceOptions) -> io::Result<Self> {
        Self::beside(target, options, Temporary::file)
    }

    /// Makes a folder beside `target`, in which the successor, a file or folder, is written at its
    /// [`path`](Self::path).
    ///
    /// # Errors
    ///
    /// As [`file`](Self::file).
    pub fn folder(target: &Path, options: ReplaceOptions) -> io::Result<Self> {
        Self::beside(target, options, Temporary::folder)
    }

    fn beside(
        target: &Path,
        options: ReplaceOptions,
        make: impl FnOnce(&Path, &OsStr, &Unfinished) -> io::Result<Temporary>,
    ) -> io::Result<Self> {
        // If no file may be replaced, the rename refuses a link.
        let target = if options.replaces { resolve(target) } else { target.to_owned() };
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        // Leftovers that cannot be removed are harmless.
        let _ = sweep_beside(&target, &options.unfinished);
        let temporary = make(directory_of(&target), name, &options.unfinished)?;
        let path = match temporary.as_file() {
            Some(_) => temporary.path().to_owned(),
            None => temporary.path().join(name),
        };
        Ok(Self { target, path, temporary, options })
    }

    /// Gives the successor another name in its folder, which readers of a container around it do
    /// not take for a part of the container.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { path: self.temporary.path().join(name), ..self }
    }

    /// The path to write to.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the finished file.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Another handle of the file, which shares its position and lock.
    ///
    /// # Errors
    ///
    /// An error of the system if it is out of handles; `NotFound` in a folder.
    pub fn handle(&self) -> io::Result<File> {
        self.temporary.as_file().ok_or(io::ErrorKind::NotFound)?.try_clone()
    }

    /// Whether it must survive a loss of power.
    #[must_use]
    pub fn needs_sync(&self) -> bool {
        self.options.durability.needs_sync()
    }

    /// The file; `None` if the successor is written in a folder.
    #[must_use]
    pub const fn as_file(&self) -> Option<&File> {
        self.temporary.as_file()
    }

    /// Sets its properties, syncs it, puts it in place and syncs its name.
    ///
    /// # Errors
    ///
    /// Errors of [`carry`](Self::carry), [`sync`](Self::sync), [`put_in_place`](Self::put_in_place)
    /// and [`sync_name`](Self::sync_name), which it calls. The old file is then in place, unless
    /// only syncing the name failed.
    pub fn commit(mut self, carry: Carry<'_>) -> io::Result<()> {
        self.carry(carry)?;
        self.sync()?;
        self.put_in_place()?;
        self.sync_name()
    }

    /// Sets its properties.
    ///
    /// # Errors
    ///
    /// Errors of the storage.
    pub fn carry(&self, carry: Carry<'_>) -> io::Result<()> {
        match self.temporary.as_file() {
            Some(file) => carry.to_file(file, &self.target, true),
            None if self.path.is_dir() => carry.to_folder(&self.path),
            None => {
                let file = File::options().write(true).open(&self.path)?;
                carry.to_file(&file, &self.target, false)
            }
        }
    }

    /// Waits until its content survives a loss of power, if that is requested.
    ///
    /// # Errors
    ///
    /// Errors of the storage.
    pub fn sync(&self) -> io::Result<()> {
        match self.temporary.as_file() {
            _ if !self.needs_sync() => Ok(()),
            Some(file) => file.sync_all(),
            None => sync_with_entries(&self.path),
        }
    }

    /// Puts it in place. A rename cannot replace a folder, nor a file by a folder. Then the two are
    /// exchanged, and the old one is removed with the temporary folder.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` and `IsADirectory` if a file or folder exists that must not be replaced;
    /// errors of the storage.
    pub fn put_in_place(&mut self) -> io::Result<()> {
        let (path, target) = (&self.path, &self.target);
        if !self.options.replaces && self.temporary.as_file().is_some() {
            return self.temporary.place(path, |path| rename_new(path, target));
        }
        let is_dir = self.temporary.as_file().is_none() && path.is_dir();
        let old = match fs::symlink_metadata(target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => Some(found?.is_dir()),
        };
        match old {
            Some(_) if !self.options.replaces => Err(io::ErrorKind::AlreadyExists.into()),
            Some(true) if !(self.options.replaces_folder)(target) => {
                Err(io::ErrorKind::IsADirectory.into())
            }
            Some(was_dir) if is_dir || was_dir => exchange(path, target),
            None if is_dir => fs::rename(path, target),
            _ if self.options.replaces => {
                self.temporary.place(path, |path| fs::rename(path, target))
            }
            _ => self.temporary.place(path, |path| rename_new(path, target)),
        }
    }

    /// Waits until its name survives a loss of power, if that is requested.
    ///
    /// # Errors
    ///
    /// Errors of the storage.
    pub fn sync_name(&self) -> io::Result<()> {
        match self.needs_sync() {
            true => sync_names(directory_of(&self.target)),
            false => Ok(()),
        }
    }
}

/// Syncs a file, or a folder and everything in it.
fn sync_with_entries(path: &Path) -> io::Result<()> {
    if !path.is_dir() {
        return sync_file(path);
    }
    fs::read_dir(path)?.try_for_each(|entry| sync_with_entries(&entry?.path()))?;
    sync_names(path)
}

/// Syncs a file. Windows syncs only what is open for writing; elsewhere a file may be read-only.
pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    File::options().read(true).write(cfg!(windows)).open(path)?.sync_all()
}

/// Syncs the names in a directory, so that they survive a loss of power; the empty path is the
/// current directory. Only Unix has a call for it.
///
/// # Errors
///
/// Errors of the system.
pub fn sync_names(dir: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    File::open(if dir.as_os_str().is_empty() { Path::new(".") } else { dir })?.sync_all()
}

/// The directory that holds `path`.
#[must_use]
pub fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn careful() -> ReplaceOptions {
        ReplaceOptions { replaces: false, ..ReplaceOptions::default() }
    }

    type Make = fn(&Path, ReplaceOptions) -> io::Result<Replacement>;

    const WAYS: [Make; 2] = [Replacement::file, Replacement::folder];

    #[test]
    fn a_file_appears_on_commit_and_only_then() {
        for make in WAYS {
            let dir = tempfile::tempdir().unwrap();
            let target = dir.path().join("\u{e4}".repeat(127));
            let new = make(&target, careful()).unwrap();
            fs::write(new.path(), b"content").unwrap();
            assert!(
                !target.exists()
                    && super::super::is_leftover(&dir.path().join(&names(dir.path())[0]))
            );
            new.commit(Carry::Target).unwrap();
            assert_eq!(fs::read(&target).unwrap(), b"content");
            drop(make(&target, ReplaceOptions::default()).unwrap());
            assert_eq!(fs::read(&target).unwrap(), b"content");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn what_came_meanwhile_is_not_replaced() {
        for make in WAYS {
            let dir = tempfile::tempdir().unwrap();
            let target = dir.path().join("f");
            let [new, folder] = [ReplaceOptions::default(), careful()].map(|options| {
                let new = make(&target, options).unwrap();
                fs::write(new.path(), b"ours").unwrap();
                new
            });
            fs::create_dir(&target).unwrap();
            let error = new.commit(Carry::Target).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
            fs::remove_dir(&target).unwrap();
            fs::write(&target, b"theirs").unwrap();
            let error = folder.commit(Carry::Target).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read(&target).unwrap(), b"theirs");
            assert_eq!(names(dir.path()), ["f"]);
        }
    }

    #[test]
    fn a_folder_and_a_file_replace_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x");
        let options = || ReplaceOptions { replaces_folder: |_| true, ..ReplaceOptions::default() };
        for content in ["first", "second"] {
            let new = Replacement::folder(&target, options()).unwrap();
            fs::create_dir(new.path()).unwrap();
            fs::write(new.path().join("f"), content).unwrap();
            new.commit(Carry::Target).unwrap();
            assert_eq!(fs::read_to_string(target.join("f")).unwrap(), content);
            assert_eq!(names(dir.path()), ["x"]);
        }
        let new = Replacement::folder(&target, options()).unwrap();
        fs::write(new.path(), "file").unwrap();
        new.commit(Carry::Target).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "file");
        assert_eq!(names(dir.path()), ["x"]);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_times_and_links_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        for make in WAYS {
            let dir = tempfile::tempdir().unwrap();
            let [path, link, source] = ["f", "link", "source"].map(|name| dir.path().join(name));
            let write = |carry: Carry<'_>| {
                let new = make(&link, ReplaceOptions::default()).unwrap();
                fs::write(new.path(), b"new").unwrap();
                new.commit(carry).unwrap();
                assert!(link.is_symlink());
                let made = fs::metadata(&path).unwrap();
                (made.permissions().mode() & 0o7777, made.modified().unwrap())
            };
            for (path, mode) in [(&path, 0o604), (&source, 0o4640)] {
                fs::write(path, b"old").unwrap();
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
            symlink("f", &link).unwrap();
            let old = std::time::UNIX_EPOCH + core::time::Duration::from_secs(1_000_000_000);
            File::open(&source).unwrap().set_modified(old).unwrap();
            let source = fs::metadata(&source).unwrap();
            let (mode, time) = write(Carry::Target);
            assert!(mode == 0o604 && time > old);
            let (mode, time) = write(Carry::Mode(&source));
            assert!(mode == 0o640 && time > old);
            assert_eq!(write(Carry::All(&source)), (0o640, old));
        }
    }
}
