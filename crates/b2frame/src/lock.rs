//! How several processes take turns with a frame.
//!
//! A writer locks the file or the directory of the frame itself, from its first change to the
//! commit ([`blosc_io::lock`]), and then looks at the frame again. Where the lock of C-Blosc2 is in
//! use, it takes that as well:
//!
//! ```text
//! data.b2frame          a contiguous frame           data.b2frame/           a sparse one
//! data.b2frame.b2lock   its lock                     data.b2frame/.b2lock    its lock
//!
//!  0             8                        16
//!  | never used  | generation, u64 LE      |    goes up by one with every exclusive lock
//! ```
//!
//! It is C-Blosc2's protocol (3.2 and later), so that its processes and ours can share frames. The
//! lock is advisory: it does not hold back a process that does not take it. It does not work on
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
    /// Closing it releases the lock.
    _file: FileStore,
    generation: u64,
}

/// Whether to use the lock beside a frame, that of C-Blosc2. Writers lock the frame itself anyway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Locking {
    /// If its file is there, or the environment asks for it: see [`from_env`](Self::from_env).
    #[default]
    Auto,
    /// Do not look at it.
    Off,
    /// Ask for it.
    Sidecar,
}

impl Locking {
    /// What the environment variable `BLOSC_LOCKING` says, to which C-Blosc2 listens too.
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
            // Of a folder that cannot be searched, opening the frame tells.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok::<_, Error>(false),
            found => Ok(found.map_err(|source| Error::not_locked(path, source))?.is_some()),
        };
        match self {
            Self::Off => Ok(false),
            Self::Sidecar => Ok(true),
            Self::Auto => Ok(Self::from_env() == Self::Sidecar || beside()?),
        }
    }

    /// The shared lock beside the frame at `path`, where it is in use: while it is held, C-Blosc2
    /// does not change the frame.
    ///
    /// # Errors
    /// As [`FrameLock::shared`]; with [`Auto`](Self::Auto) only [`Error::Locked`], and
    /// [`Error::Lock`] where the system does not tell whether it is in use.
    pub fn shared(self, path: &Path, wait: &LockWait) -> Result<Option<FrameLock>> {
        self.shared_if(path, None, wait)
    }

    /// The same for a caller that knows whether the frame is a folder, which saves a look at it.
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
            // The caller has not requested this one, and a reader need not be able to write.
            Err(Error::Lock { .. }) if self == Self::Auto => Ok(None),
            lock => lock.map(Some),
        }
    }

    /// The exclusive lock beside the frame at `path`, where it is in use.
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
    /// Waits until no program changes the frame at `path`, and keeps others from changing it: those
    /// that use the lock beside it.
    ///
    /// # Errors
    /// [`Error::Locked`]; [`Error::Lock`] if the file of the lock cannot be made, read or locked.
    pub fn shared(path: impl AsRef<Path>) -> Result<Self> {
        Self::locked(path.as_ref(), LockKind::Shared, &LockWait::default())
    }

    /// Waits until no other program uses the frame at `path`, and keeps others from doing so. The
    /// generation goes up by one.
    ///
    /// # Errors
    /// As [`shared`](Self::shared), and if the file cannot be written.
    pub fn exclusive(path: impl AsRef<Path>) -> Result<Self> {
        Self::locked(path.as_ref(), LockKind::Exclusive, &LockWait::default())
    }

    /// How often the frame was locked for changes, the present one included.
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

/// What keeps others from changing a frame that is being changed.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// The lock beside the frame. Released first.
    sidecar: Option<FrameLock>,
    /// That of a file.
    file: Option<Lock>,
    /// That of a sparse frame.
    _tree: Option<Box<dyn TreeLock>>,
}

impl Held {
    /// Locks the file at `path`, and beside it where that is in use.
    pub(crate) fn of_file(path: &Path, locking: Locking, wait: &LockWait) -> Result<Self> {
        let file = Lock::exclusive(path, wait).map_err(|error| Error::not_locked(path, error))?;
        let sidecar = locking.exclusive(path, wait)?;
        Ok(Self { sidecar, file: Some(file), _tree: None })
    }

    /// Locks a tree of files, which is the directory at `path` if that is known.
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

    /// The generation of the lock beside the frame, where that is in use.
    pub(crate) fn generation(&self) -> Option<u64> {
        self.sidecar.as_ref().map(FrameLock::generation)
    }

    /// Which file is locked.
    pub(crate) fn id(&self) -> Option<FileId> {
        self.file.as_ref().and_then(Lock::id)
    }

    /// Whether `path` still names the file that is locked.
    pub(crate) fn has_name(&self, path: &Path) -> bool {
        self.file.as_ref().is_none_or(|lock| lock.has_name(path).unwrap_or(true))
    }

    /// Puts the lock of a file that takes the place of the other one in place of its lock.
    pub(crate) fn replace(&mut self, lock: Lock) {
        self.file = Some(lock);
    }
}

/// Position of the generation in the file.
const GENERATION_AT: u64 = 8;

/// The file of the lock of a frame, which is looked at unless it is known whether it is a folder.
pub(crate) fn sidecar(path: &Path, is_folder: Option<bool>) -> io::Result<PathBuf> {
    let look = || look_at(path).map(|found| found.is_some_and(|found| found.is_dir()));
    if is_folder.map_or_else(look, Ok)? {
        return Ok(path.join(".b2lock"));
    }
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(".b2lock");
    Ok(path.with_file_name(name))
}

/// Readers in folders that they cannot write to can still share a lock that is there.
fn open_sidecar(path: &Path) -> io::Result<File> {
    match OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(path),
        other => other,
    }
}

/// A file that is too short has generation 0.
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
