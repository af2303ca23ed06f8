//! Locks, by which several processes take turns with a frame.
//!
//! A writer locks the file or the directory of the frame itself, from its first change to the
//! commit ([`blosc_io::lock`]), and then looks at the frame again. Where C-Blosc2's lock is in use,
//! the writer takes that one as well:
//!
//! ```text
//! data.b2frame          a contiguous frame           data.b2frame/           a sparse one
//! data.b2frame.b2lock   its lock                     data.b2frame/.b2lock    its lock
//!
//!  0             8                        16
//!  | never used  | generation, u64 LE      |    goes up by one with every exclusive lock
//! ```
//!
//! This is C-Blosc2's protocol (3.2 and later), so that its processes and ours can share frames.
//! The lock is advisory: it does not stop a process that does not take it. It does not work on
//! network file systems.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use blosc_io::lock::FileId;
use blosc_io::lock::LockKind;
use blosc_io::lock::lock_file;
use blosc_io::tree::TreeLock;
use blosc_io::{FileStore, Lock, LockWait, ReadAt as _, Tree, WriteAt as _, look_at};

use crate::error::{Error, Result};

/// A lock on a frame, held until it is dropped.
///
/// ```
/// use b2frame::lock::FrameLock;
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("data.b2frame");
/// let before = FrameLock::shared(&path)?.generation();
/// drop(FrameLock::exclusive(&path)?);
/// assert_eq!(FrameLock::shared(&path)?.generation(), before + 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FrameLock {
    /// Closing the file releases the lock.
    _file: FileStore,
    generation: u64,
}

/// Whether to use C-Blosc2's lock beside a frame. Writers lock the frame itself in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Locking {
    /// If the file of the lock exists, or the environment requests it: see
    /// [`from_env`](Self::from_env).
    #[default]
    Auto,
    /// Ignore the lock.
    Off,
    /// Use the lock.
    Sidecar,
}

impl Locking {
    /// The choice in the environment variable `BLOSC_LOCKING`, which C-Blosc2 obeys too.
    #[must_use]
    pub fn from_env() -> Self {
        match std::env::var_os("BLOSC_LOCKING") {
            Some(value) if !value.is_empty() && value != "0" => Self::Sidecar,
            _ => Self::Off,
        }
    }

    /// Whether to take the lock beside the frame at `path`.
    fn is_used(self, path: &Path, is_folder: Option<bool>) -> Result<bool> {
        let beside = || match sidecar(path, is_folder).and_then(look_at) {
            // Opening the frame will report a folder that cannot be searched.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok::<_, Error>(false),
            found => Ok(found.map_err(|source| Error::not_locked(path, source))?.is_some()),
        };
        match self {
            Self::Off => Ok(false),
            Self::Sidecar => Ok(true),
            Self::Auto => Ok(Self::from_env() == Self::Sidecar || beside()?),
        }
    }

    /// The shared lock beside the frame at `path`, if that lock is in use: while it is held,
    /// C-Blosc2 does not change the frame.
    ///
    /// # Errors
    /// As [`FrameLock::shared`]; with [`Auto`](Self::Auto) only [`Error::Locked`], and
    /// [`Error::Lock`] if the system does not tell whether the lock is in use.
    pub fn shared(self, path: &Path, wait: &LockWait) -> Result<Option<FrameLock>> {
        self.shared_if(path, None, wait)
    }

    /// As [`shared`](Self::shared), for a caller that knows whether the frame is a folder; this
    /// saves a system call.
    ///
    /// # Errors
    /// As [`shared`](Self::shared).
    pub fn shared_of(
        self,
        path: &Path,
        is_folder: bool,
        wait: &LockWait,
    ) -> Result<Option<FrameLock>> {
        self.shared_if(path, Some(is_folder), wait)
    }

    fn shared_if(
        self,
        path: &Path,
        is_folder: Option<bool>,
        wait: &LockWait,
    ) -> Result<Option<FrameLock>> {
        if !self.is_used(path, is_folder)? {
            return Ok(None);
        }
        match FrameLock::locked(path, LockKind::Shared, wait) {
            // The caller has not requested this lock, and a reader may lack the permission to
            // write.
            Err(Error::Lock { .. }) if self == Self::Auto => Ok(None),
            lock => lock.map(Some),
        }
    }

    /// The exclusive lock beside the frame at `path`, if that lock is in use.
    ///
    /// # Errors
    /// As [`FrameLock::exclusive`].
    pub fn exclusive(self, path: &Path, wait: &LockWait) -> Result<Option<FrameLock>> {
        if !self.is_used(path, None)? {
            return Ok(None);
        }
        FrameLock::locked(path, LockKind::Exclusive, wait).map(Some)
    }
}

impl FrameLock {
    /// Waits until no program changes the frame at `path`, and keeps programs that use the lock
    /// beside it from changing it.
    ///
    /// # Errors
    /// [`Error::Locked`]; [`Error::Lock`] if the file of the lock cannot be created, read or
    /// locked.
    pub fn shared(path: impl AsRef<Path>) -> Result<Self> {
        Self::locked(path.as_ref(), LockKind::Shared, &LockWait::default())
    }

    /// Waits until no other program uses the frame at `path`, and keeps others from using it. The
    /// generation goes up by one.
    ///
    /// # Errors
    /// As [`shared`](Self::shared), and if the file cannot be written.
    pub fn exclusive(path: impl AsRef<Path>) -> Result<Self> {
        Self::locked(path.as_ref(), LockKind::Exclusive, &LockWait::default())
    }

    /// Number of exclusive locks of the frame so far, the present one included.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    fn locked(path: &Path, kind: LockKind, wait: &LockWait) -> Result<Self> {
        let sidecar = sidecar(path, None).map_err(|source| Error::not_locked(path, source))?;
        let locked = || {
            let file = open_sidecar(&sidecar)?;
            lock_file(&file, &sidecar, kind, wait)?;
            let mut file = FileStore::from_file(file);
            let mut generation = read_generation(&file)?;
            if kind == LockKind::Exclusive {
                generation = generation.wrapping_add(1);
                file.write_at(GENERATION_AT, &generation.to_le_bytes())?;
            }
            Ok(Self { _file: file, generation })
        };
        locked().map_err(|source| Error::not_locked(&sidecar, source))
    }
}

/// The locks that keep others from changing a frame.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// The lock beside the frame. It is released first.
    sidecar: Option<FrameLock>,
    /// The lock of a file.
    file: Option<Lock>,
    /// The lock of a sparse frame.
    _tree: Option<Box<dyn TreeLock>>,
}

impl Held {
    /// Locks the file at `path`, and takes the lock beside it if that is in use.
    pub(crate) fn of_file(path: &Path, locking: Locking, wait: &LockWait) -> Result<Self> {
        let file = Lock::exclusive(path, wait).map_err(|error| Error::not_locked(path, error))?;
        let sidecar = locking.exclusive(path, wait)?;
        Ok(Self { sidecar, file: Some(file), _tree: None })
    }

    /// Locks a tree of files; `path` is its directory, if known.
    pub(crate) fn of_tree(
        tree: &dyn Tree,
        path: Option<&Path>,
        locking: Locking,
        wait: &LockWait,
    ) -> Result<Self> {
        let lock = tree.lock("", LockKind::Exclusive, wait);
        let lock = lock.map_err(|error| Error::not_locked(path.unwrap_or(Path::new("")), error))?;
        let sidecar = path.map(|path| locking.exclusive(path, wait)).transpose()?.flatten();
        Ok(Self { sidecar, file: None, _tree: Some(lock) })
    }

    /// The generation of the lock beside the frame, if that is in use.
    pub(crate) fn generation(&self) -> Option<u64> {
        self.sidecar.as_ref().map(FrameLock::generation)
    }

    /// The identity of the locked file.
    pub(crate) fn id(&self) -> Option<FileId> {
        self.file.as_ref().and_then(Lock::id)
    }

    /// Whether `path` still names the locked file.
    pub(crate) fn has_name(&self, path: &Path) -> bool {
        self.file.as_ref().is_none_or(|lock| lock.has_name(path).unwrap_or(true))
    }

    /// Replaces the lock of a file by the lock of the file that replaces it.
    pub(crate) fn replace(&mut self, lock: Lock) {
        self.file = Some(lock);
    }
}

/// Position of the generation in the file.
const GENERATION_AT: u64 = 8;

/// The path of the lock of a frame. Looks whether the frame is a folder, unless `is_folder` says
/// so.
pub(crate) fn sidecar(path: &Path, is_folder: Option<bool>) -> io::Result<PathBuf> {
    let look = || look_at(path).map(|found| found.is_some_and(|found| found.is_dir()));
    if is_folder.map_or_else(look, Ok)? {
        return Ok(path.join(".b2lock"));
    }
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(".b2lock");
    Ok(path.with_file_name(name))
}

/// Opens the file read-only if need be: readers in folders without write permission can still share
/// an existing lock.
fn open_sidecar(path: &Path) -> io::Result<File> {
    match OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(path),
        other => other,
    }
}

/// Reads the generation; a file that is too short has generation 0.
fn read_generation(file: &FileStore) -> io::Result<u64> {
    let mut bytes = [0; 8];
    match file.read_exact_at(GENERATION_AT, &mut bytes) {
        Ok(()) => Ok(u64::from_le_bytes(bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_lies_beside_a_file_and_inside_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(sidecar(dir.path(), None).unwrap(), dir.path().join(".b2lock"));
        assert_eq!(
            sidecar(&dir.path().join("a.b2nd"), None).unwrap(),
            dir.path().join("a.b2nd.b2lock")
        );
    }

    #[test]
    fn the_file_has_the_layout_of_the_document() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert_eq!(FrameLock::shared(&path).unwrap().generation(), 0);
        for _ in 0..3 {
            drop(FrameLock::exclusive(&path).unwrap());
        }
        let bytes = std::fs::read(sidecar(&path, None).unwrap()).unwrap();
        assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn readers_share_and_a_writer_waits() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let readers = [FrameLock::shared(&path).unwrap(), FrameLock::shared(&path).unwrap()];
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| FrameLock::exclusive(&path).unwrap().generation());
            let other = File::open(sidecar(&path, None).unwrap()).unwrap();
            assert!(matches!(other.try_lock(), Err(std::fs::TryLockError::WouldBlock)));
            assert!(!writer.is_finished());
            drop(readers);
            assert_eq!(writer.join().unwrap(), 1);
        });
    }

    #[test]
    fn a_lock_that_cannot_be_made_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("absent").join("f");
        let error = FrameLock::shared(&path).unwrap_err();
        assert!(error.to_string().contains("f.b2lock: "), "{error}");
        assert_eq!(error.blame(), crate::error::Blame::Io);
    }
}
