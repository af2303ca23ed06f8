//! Advisory locks on files and directories, so that one writer at a time changes a container.
//!
//! ```text
//!   writer A   open, lock  .......... change, commit, unlock
//!   writer B        open, try, try, try, ...               lock, read the new state, change, ...
//! ```
//!
//! It is the `flock` of the system on the file or directory itself: locking writes nothing, makes
//! no file beside it, and ends with the process. It stops only programs that lock, too. Files are
//! replaced by renaming, so a lock counts only if the path still names the locked file; otherwise
//! the file that now has the name is locked.
//!
//! If the system or the file system has no `flock` (Windows, WASI, some network file systems), no
//! lock is taken and work goes on: see [`Lock::is_held`]. Windows has locks, but they also keep
//! readers from reading.

use core::fmt;
use core::time::Duration;
use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

/// The time to wait for a lock, unless the caller gives another.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// A lock on a file or directory, released when it is dropped.
///
/// Two locks of one process exclude each other like locks of two processes.
///
/// ```
/// use blosc_io::{Lock, LockWait};
///
/// # let dir = std::env::temp_dir().join(format!("lock-{}", std::process::id()));
/// # std::fs::create_dir(&dir)?;
/// let lock = Lock::exclusive(&dir, &LockWait::default())?;
/// if lock.is_held() {
///     let refused = Lock::exclusive(&dir, &LockWait::never()).unwrap_err();
///     assert_eq!(refused.kind(), std::io::ErrorKind::TimedOut);
/// }
/// drop(lock);
/// Lock::shared(&dir, &LockWait::never())?;
/// # std::fs::remove_dir(&dir)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Lock {
    /// Closing it releases the lock; `None` if there are no locks.
    file: Option<File>,
}

/// Whether other programs may lock as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// Together with other readers.
    Shared,
    /// Alone, as a writer.
    Exclusive,
}

/// The way to wait for a lock that another program holds.
#[derive(Clone)]
#[non_exhaustive]
pub struct LockWait {
    /// The time to wait; `None` to wait forever. Default: 60 seconds.
    pub timeout: Option<Duration>,
    /// Called once with the holder after a second of waiting.
    pub on_wait: Option<Arc<OnWait>>,
}

/// The function that [`LockWait::on_wait`] holds.
pub type OnWait = dyn Fn(&Holder) + Send + Sync;

/// The holder of a lock, as far as the system tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// Number of the process.
    pub pid: Option<u32>,
    /// Name of its program.
    pub program: Option<String>,
}

/// The error inside an [`io::Error`] of kind [`TimedOut`](io::ErrorKind::TimedOut): another program
/// held the lock until the time was over. Find it by [`LockTimeout::find`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockTimeout {
    /// The file or directory.
    pub path: PathBuf,
    /// The holder of the lock.
    pub holder: Holder,
}

/// The identity of a file, whatever its name: two open files with the same id are one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl Lock {
    /// Waits until no other program has a lock on the file or directory at `path`, and takes it
    /// alone.
    ///
    /// # Errors
    ///
    /// [`LockTimeout`]; errors of opening the path, such as `NotFound`.
    pub fn exclusive(path: impl AsRef<Path>, wait: &LockWait) -> io::Result<Self> {
        Self::take(path, LockKind::Exclusive, wait)
    }

    /// Waits until no other program has an exclusive lock on the file or directory at `path`, and
    /// takes a shared one.
    ///
    /// # Errors
    ///
    /// As [`exclusive`](Self::exclusive).
    pub fn shared(path: impl AsRef<Path>, wait: &LockWait) -> io::Result<Self> {
        Self::take(path, LockKind::Shared, wait)
    }

    /// Takes a lock of either kind.
    ///
    /// # Errors
    ///
    /// As [`exclusive`](Self::exclusive).
    pub fn take(path: impl AsRef<Path>, kind: LockKind, wait: &LockWait) -> io::Result<Self> {
        let path = path.as_ref();
        let mut waiting = Waiting::new(path, wait);
        loop {
            let Some(file) = open_lockable(path, kind)? else { return Ok(Self { file: None }) };
            if !waiting.wait_for(&file, kind)? {
                return Ok(Self { file: None });
            }
            let lock = Self { file: Some(file) };
            // Another file may have got the name during the wait.
            if lock.has_name(path)? {
                return Ok(lock);
            }
        }
    }

    /// Whether a lock is taken; false if the system or the file system has none.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.file.is_some()
    }

    /// The identity of the locked file.
    #[must_use]
    pub fn id(&self) -> Option<FileId> {
        FileId::of_metadata(&self.file.as_ref()?.metadata().ok()?)
    }

    /// Whether `path` names the locked file; true if no lock is taken.
    ///
    /// # Errors
    ///
    /// Errors of the system, other than `NotFound`.
    pub fn has_name(&self, path: &Path) -> io::Result<bool> {
        let Some(file) = &self.file else { return Ok(true) };
        match fs::metadata(path) {
            Ok(named) => Ok(FileId::of_metadata(&named) == FileId::of_metadata(&file.metadata()?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Waits for the lock of an open file, which `path` names in errors. Returns whether it is locked:
/// false if the system or the file system has no locks. Closing the file releases it.
///
/// # Errors
///
/// [`LockTimeout`], or errors of the system.
pub fn lock_file(file: &File, path: &Path, kind: LockKind, wait: &LockWait) -> io::Result<bool> {
    Waiting::new(path, wait).wait_for(file, kind)
}

impl FileId {
    /// The id of the file at `path`; `None` if there is no such file, or if the system has no ids.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        Self::of_metadata(&fs::metadata(path).ok()?)
    }

    /// The id of an open file.
    #[must_use]
    pub fn of_file(file: &File) -> Option<Self> {
        Self::of_metadata(&file.metadata().ok()?)
    }

    #[cfg(unix)]
    fn of_metadata(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        Some(Self { device: metadata.dev(), inode: metadata.ino() })
    }

    #[cfg(not(unix))]
    fn of_metadata(_: &Metadata) -> Option<Self> {
        None
    }
}

impl LockWait {
    /// Never waits.
    #[must_use]
    pub fn never() -> Self {
        Self { timeout: Some(Duration::ZERO), on_wait: None }
    }

    /// Sets the time to wait, `None` to wait forever.
    #[must_use]
    pub fn timeout(self, timeout: Option<Duration>) -> Self {
        Self { timeout, ..self }
    }

    /// Sets a function to call once with the holder after a second of waiting.
    #[must_use]
    pub fn on_wait(self, on_wait: impl Fn(&Holder) + Send + Sync + 'static) -> Self {
        Self { on_wait: Some(Arc::new(on_wait)), ..self }
    }
}

impl Default for LockWait {
    fn default() -> Self {
        Self { timeout: Some(DEFAULT_TIMEOUT), on_wait: None }
    }
}

impl fmt::Debug for LockWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockWait").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.program, self.pid) {
            // The name may contain any characters.
            (Some(program), Some(pid)) => write!(f, "{} (process {pid})", program.escape_debug()),
            (None, Some(pid)) => write!(f, "process {pid}"),
            _ => f.write_str("another process"),
        }
    }
}

impl LockTimeout {
    /// The time-out in an error, if it has one.
    #[must_use]
    pub fn find(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl fmt::Display for LockTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "locked by {}", self.holder)
    }
}

impl core::error::Error for LockTimeout {}

/// Whether a program that reads or writes a locked file without a lock can do so.
pub(crate) const HAS_LOCKS: bool = cfg!(unix);

/// The time after which the caller learns the holder.
const NOTICE_AFTER: Duration = Duration::from_secs(1);
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// The waiting of one caller, also from one file to the next.
struct Waiting<'a> {
    path: &'a Path,
    wait: &'a LockWait,
    /// The time of the first pause; without a pause the clock is never read.
    since: Option<Instant>,
    pause: Duration,
    is_noticed: bool,
    notice_after: Duration,
}

impl<'a> Waiting<'a> {
    fn new(path: &'a Path, wait: &'a LockWait) -> Self {
        Self {
            path,
            wait,
            since: None,
            pause: SHORTEST_PAUSE,
            is_noticed: false,
            notice_after: NOTICE_AFTER,
        }
    }

    /// Waits for the lock, and returns whether the file system has locks.
    fn wait_for(&mut self, file: &File, kind: LockKind) -> io::Result<bool> {
        loop {
            let tried = match kind {
                LockKind::Shared => file.try_lock_shared(),
                LockKind::Exclusive => file.try_lock(),
            };
            match tried {
                Ok(()) => return Ok(true),
                Err(TryLockError::WouldBlock) => self.pause(file)?,
                Err(TryLockError::Error(error)) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    _ if is_without_locks(&error) => return Ok(false),
                    _ => return Err(error),
                },
            }
        }
    }

    fn pause(&mut self, file: &File) -> io::Result<()> {
        let waited = self.since.get_or_insert_with(Instant::now).elapsed();
        let left = match self.wait.timeout {
            Some(timeout) => timeout.saturating_sub(waited),
            None => Duration::MAX,
        };
        if left.is_zero() {
            let timeout = LockTimeout { path: self.path.to_path_buf(), holder: find_holder(file) };
            return Err(io::Error::new(io::ErrorKind::TimedOut, timeout));
        }
        if let Some(on_wait) = &self.wait.on_wait
            && !self.is_noticed
            && waited >= self.notice_after
        {
            self.is_noticed = true;
            on_wait(&find_holder(file));
        }
        thread::sleep(self.pause.min(left));
        self.pause = self.pause.saturating_mul(2).min(LONGEST_PAUSE);
        Ok(())
    }
}

/// Opens a file or a directory, which can be locked. Opening a pipe would wait for its other end.
fn open_lockable(path: &Path, kind: LockKind) -> io::Result<Option<File>> {
    if !HAS_LOCKS {
        return Ok(None);
    }
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return File::open(path).map(Some);
    }
    if !metadata.is_file() {
        return Ok(None);
    }
    // Over NFS, only a file that is open for writing can be locked exclusively.
    let writable = match kind {
        LockKind::Exclusive => File::options().read(true).write(true).open(path),
        LockKind::Shared => File::open(path),
    };
    match writable {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(path).map(Some),
        opened => opened.map(Some),
    }
}

/// Whether the file system, or the way in which the file is open, has no locks.
fn is_without_locks(error: &io::Error) -> bool {
    const EBADF: i32 = 9;
    const ENOLCK: i32 = if cfg!(any(target_os = "linux", target_os = "android")) { 37 } else { 77 };
    error.kind() == io::ErrorKind::Unsupported
        || cfg!(unix) && matches!(error.raw_os_error(), Some(EBADF | ENOLCK))
}

/// Finds the holder of a lock on a file in the kernel's list.
#[cfg(target_os = "linux")]
fn find_holder(file: &File) -> Holder {
    let Some(id) = FileId::of_file(file) else { return Holder::default() };
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let pid = find_pid(&locks, id);
    let name = pid.and_then(|pid| fs::read(format!("/proc/{pid}/comm")).ok());
    let program = name.map(|name| String::from_utf8_lossy(&name).trim_end().to_owned());
    Holder { pid, program }
}

#[cfg(not(target_os = "linux"))]
fn find_holder(_: &File) -> Holder {
    Holder::default()
}

/// The process of the first lock on a file: `1: FLOCK  ADVISORY  WRITE 1234 08:02:131 0 EOF`. The
/// device counts only if several files have the inode number: some file systems report another one.
#[cfg(any(test, target_os = "linux"))]
fn find_pid(locks: &str, id: FileId) -> Option<u32> {
    let mut found = None;
    for line in locks.lines() {
        let mut words = line.split_whitespace().skip(1);
        // A waiting lock has an arrow in this position.
        if words.next() != Some("FLOCK") {
            continue;
        }
        let (pid, place) = (words.nth(2)?.parse::<u32>(), words.next()?);
        let (Ok(pid @ 1..), Some((device, inode))) = (pid, place.rsplit_once(':')) else {
            continue;
        };
        if inode.parse() != Ok(id.inode) {
            continue;
        }
        if device == device_text(id.device) {
            return Some(pid);
        }
        found = found.or(Some(pid));
    }
    found
}

/// A device number in the form of the list.
#[cfg(any(test, target_os = "linux"))]
fn device_text(device: u64) -> String {
    let major = device >> 8 & 0xfff | device >> 32 & 0xffff_f000;
    let minor = device & 0xff | device >> 12 & 0xffff_ff00;
    format!("{major:02x}:{minor:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_is_found_in_the_list_of_the_kernel() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 08:02:77 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 12 00:19:77 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 13 08:02:77 0 EOF\n\
                     3: FLOCK  ADVISORY  READ  14 08:02:77 0 EOF\n\
                     4: FLOCK  ADVISORY  READ  -1 08:02:78 0 EOF\n";
        let id = |device, inode| FileId { device, inode };
        assert_eq!(find_pid(locks, id(0x802, 77)), Some(14));
        assert_eq!(find_pid(locks, id(0x999, 77)), Some(12));
        assert_eq!(find_pid(locks, id(0x802, 78)), None);
        assert_eq!(device_text(0x1_0010_3202), "32:100102");
    }

    #[test]
    fn holders_are_named_without_control_characters() {
        let holder = |pid, program: Option<&str>| {
            Holder { pid, program: program.map(str::to_owned) }.to_string()
        };
        assert_eq!(holder(Some(7), Some("b2")), "b2 (process 7)");
        assert_eq!(holder(Some(7), Some("\x1b[2J")), "\\u{1b}[2J (process 7)");
        assert_eq!(holder(Some(7), None), "process 7");
        assert_eq!(holder(None, None), "another process");
    }

    #[cfg(unix)]
    mod unix {
        use core::sync::atomic::{AtomicUsize, Ordering};
        use std::io::{BufRead as _, BufReader, Read as _};
        use std::process::{Child, Command, Stdio};

        use super::*;

        fn scratch() -> (tempfile::TempDir, PathBuf) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("f");
            fs::write(&path, b"x").unwrap();
            (dir, path)
        }

        #[test]
        fn a_lock_excludes_others_until_it_is_dropped() {
            let (dir, path) = scratch();
            // A child that another test starts holds the descriptor until it runs its program.
            let wait = LockWait::default();
            for path in [path.as_path(), dir.path()] {
                let lock = Lock::exclusive(path, &wait).unwrap();
                assert!(lock.is_held() && lock.has_name(path).unwrap());
                assert_eq!(lock.id(), FileId::of_path(path));
                for kind in [LockKind::Shared, LockKind::Exclusive] {
                    let error = Lock::take(path, kind, &LockWait::never()).unwrap_err();
                    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
                    assert_eq!(LockTimeout::find(&error).unwrap().path, path);
                }
                drop(lock);
                let shared = [(); 2].map(|()| Lock::shared(path, &wait).unwrap());
                assert!(Lock::exclusive(path, &LockWait::never()).is_err());
                drop(shared);
                Lock::exclusive(path, &wait).unwrap();
            }
        }

        #[test]
        fn what_is_not_there_cannot_be_locked() {
            let (dir, _) = scratch();
            let error = Lock::exclusive(dir.path().join("none"), &LockWait::default()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            assert!(LockTimeout::find(&error).is_none());
        }

        /// Many threads increment a number in a file, which they replace each time.
        #[test]
        fn a_replaced_file_is_locked_anew() {
            let (dir, path) = scratch();
            fs::write(&path, b"0").unwrap();
            let temporary = dir.path().join("new");
            thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        for _ in 0..10 {
                            let _lock = Lock::exclusive(&path, &LockWait::default()).unwrap();
                            let count = fs::read_to_string(&path).unwrap().parse::<u32>().unwrap();
                            fs::write(&temporary, (count + 1).to_string()).unwrap();
                            fs::rename(&temporary, &path).unwrap();
                        }
                    });
                }
            });
            assert_eq!(fs::read_to_string(&path).unwrap(), "80");
        }

        #[test]
        fn the_new_file_can_be_locked_before_it_takes_the_name() {
            let (dir, path) = scratch();
            let new = dir.path().join("new");
            fs::write(&new, b"y").unwrap();
            let old = Lock::exclusive(&path, &LockWait::never()).unwrap();
            let lock = Lock::exclusive(&new, &LockWait::never()).unwrap();
            fs::rename(&new, &path).unwrap();
            assert!(!old.has_name(&path).unwrap() && lock.has_name(&path).unwrap());
            drop(old);
            assert!(Lock::exclusive(&path, &LockWait::never()).is_err());
        }

        #[test]
        fn the_caller_hears_once_of_the_holder() {
            let (_dir, path) = scratch();
            let calls = Arc::new(AtomicUsize::new(0));
            let counted = calls.clone();
            let wait = LockWait::default().timeout(Some(Duration::from_millis(20))).on_wait(
                move |holder| {
                    assert!(holder.pid.is_none_or(|pid| pid == std::process::id()));
                    counted.fetch_add(1, Ordering::Relaxed);
                },
            );
            let _lock = Lock::shared(&path, &LockWait::never()).unwrap();
            let file = File::open(&path).unwrap();
            let mut waiting = Waiting::new(&path, &wait);
            waiting.notice_after = Duration::ZERO;
            let error = waiting.wait_for(&file, LockKind::Exclusive).unwrap_err();
            assert!(LockTimeout::find(&error).is_some());
            assert_eq!(calls.load(Ordering::Relaxed), 1);
        }

        /// The name of the variable that makes [`in_another_process`] the other process.
        const CHILD: &str = "BLOSC_IO_LOCK_CHILD";

        /// As the child of another test: locks a file until its input ends.
        #[test]
        fn in_another_process() {
            let Some(path) = std::env::var_os(CHILD) else { return };
            let _lock = Lock::exclusive(PathBuf::from(path), &LockWait::default()).unwrap();
            println!("\nlocked");
            io::stdin().read_to_end(&mut vec![]).unwrap();
        }

        fn locking_child(path: &Path) -> Child {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "lock::tests::unix::in_another_process", "--nocapture"])
                .env(CHILD, path)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            assert!(lines.map_while(Result::ok).any(|line| line == "locked"));
            child
        }

        #[test]
        fn a_process_waits_for_another_and_a_killed_one_holds_nothing() {
            let (_dir, path) = scratch();
            let mut child = locking_child(&path);
            let error = Lock::exclusive(&path, &LockWait::never()).unwrap_err();
            let holder = &LockTimeout::find(&error).unwrap().holder;
            if holder.pid.is_some() {
                assert_eq!(holder.pid, Some(child.id()));
                assert!(error.to_string().contains(&format!("(process {})", child.id())));
            }
            thread::scope(|scope| {
                let waiting = scope.spawn(|| Lock::exclusive(&path, &LockWait::default()));
                child.kill().unwrap();
                assert!(waiting.join().unwrap().unwrap().is_held());
            });
            child.wait().unwrap();
            // The other child ends by itself.
            let mut child = locking_child(&path);
            drop(child.stdin.take());
            Lock::exclusive(&path, &LockWait::default()).unwrap();
            child.wait().unwrap();
        }
    }
}
