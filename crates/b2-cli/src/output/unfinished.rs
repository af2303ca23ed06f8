//! Files to remove when a signal stops the program.
//!
//! Output grows in temporary files. Their paths are kept in [`Unfinished`] from before they exist
//! until they have been renamed or removed. SIGHUP, SIGINT, SIGQUIT and SIGTERM end up in a thread
//! that removes what is listed and lets the signal end the process, so that a shell sees it and
//! ends its loops; a signal that the process was started to ignore, as `nohup` does, stays ignored.
//! SIGXFSZ becomes an error of the write that is too long. There is one list and one thread for the
//! whole process. The list
//! is locked while a file is created or renamed, so that no moment is left in which a file exists
//! and is not listed, or is listed under a name that it no longer has.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::render::progress;

/// Temporary files and folders that must not outlive the program, and frames that are growing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unfinished(Arc<Mutex<Listed>>);

#[derive(Debug, Default)]
struct Listed {
    paths: BTreeSet<PathBuf>,
    /// Frames that get chunks after their end, and their length without them (bytes).
    growing: BTreeMap<PathBuf, u64>,
}

/// What else is to be done before a signal ends the program.
static AT_EXIT: Mutex<Option<fn()>> = Mutex::new(None);

/// The list that the thread of the signals knows.
static OF_PROCESS: Mutex<Option<Unfinished>> = Mutex::new(None);

impl Unfinished {
    /// The list of this process; the first call starts the thread that waits for signals.
    ///
    /// # Errors
    ///
    /// When the system does not let signals be caught or the thread be started.
    pub(crate) fn of_process() -> io::Result<Self> {
        let mut process = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(unfinished) = &*process {
            return Ok(unfinished.clone());
        }
        let unfinished = Self::default();
        unfinished.watch()?;
        Ok(process.insert(unfinished).clone())
    }

    /// Runs `create` and lists the path that it made.
    pub(crate) fn create<T>(
        &self,
        create: impl FnOnce() -> io::Result<T>,
        path: impl Fn(&T) -> &Path,
    ) -> io::Result<T> {
        let mut listed = self.lock();
        let made = create()?;
        listed.paths.insert(path(&made).to_owned());
        Ok(made)
    }

    /// Runs `settle`, after which `path` is gone or belongs to the user.
    pub(crate) fn settle<T>(&self, path: &Path, settle: impl FnOnce() -> T) -> T {
        let mut listed = self.lock();
        let settled = settle();
        listed.paths.remove(path);
        listed.growing.remove(path);
        settled
    }

    /// Lists a frame that the caller has locked, and that gets chunks after its end. They are cut
    /// off unless the frame is settled by a commit.
    pub(crate) fn grow(&self, path: &Path) {
        if let Ok(metadata) = path.metadata()
            && metadata.is_file()
        {
            self.lock().growing.insert(path.to_owned(), metadata.len());
        }
    }

    /// Runs `write` to its end: a signal waits for it, and nothing is written after a signal.
    pub(crate) fn hold<T>(&self, write: impl FnOnce() -> T) -> T {
        let _listed = self.lock();
        write()
    }

    /// Has `run` called before a signal ends the program.
    #[allow(clippy::unused_self, reason = "the thread of this list calls it")]
    pub(crate) fn at_exit(&self, run: fn()) {
        *AT_EXIT.lock().unwrap_or_else(PoisonError::into_inner) = Some(run);
    }

    /// Starts the thread that waits for signals.
    #[cfg(unix)]
    fn watch(&self) -> io::Result<()> {
        use signal_hook::{
            consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ},
            flag,
            iterator::Signals,
        };
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = ignored_signals(&status);
        let is_heard = |signal: &i32| ignored >> (signal - 1) & 1 == 0;
        let mut signals =
            Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter().filter(is_heard))?;
        // A signal that is caught lets the write fail with EFBIG.
        flag::register(SIGXFSZ, Arc::default())?;
        let unfinished = self.clone();
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            if let Some(signal) = signals.forever().next() {
                unfinished.stop(signal);
            }
        })?;
        Ok(())
    }

    /// Nothing to wait for on systems without signals.
    #[cfg(not(unix))]
    fn watch(&self) -> io::Result<()> {
        Ok(())
    }

    /// Removes the listed files and leaves. The lock is never given back: no file appears after
    /// this.
    #[cfg(unix)]
    fn stop(&self, signal: i32) -> ! {
        let listed = self.lock();
        remove_all(&listed.paths);
        for (path, len) in &listed.growing {
            let _cut = cut_off(path, *len);
        }
        let at_exit = *AT_EXIT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(run) = at_exit {
            run();
        }
        progress::clear();
        let _ended = signal_hook::low_level::emulate_default_handler(signal);
        // Where the signal does not end the process, its number does.
        std::process::exit(128 + signal)
    }

    fn lock(&self) -> MutexGuard<'_, Listed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The signals that are ignored, a bit each from the lowest on, as Linux reports them in
/// `/proc/self/status`; none where nothing is reported.
#[cfg(unix)]
fn ignored_signals(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Cuts a frame that has grown back to `len` bytes, if they are still all of it.
#[cfg(unix)]
fn cut_off(path: &Path, len: u64) -> io::Result<()> {
    let mut file = std::fs::File::options().read(true).write(true).open(path)?;
    let mut head = vec![];
    io::Read::take(&mut file, 256).read_to_end(&mut head)?;
    let is_all =
        b2frame::header::FrameHeader::parse(&head).is_ok_and(|header| header.frame_len() <= len);
    if is_all && file.metadata()?.len() > len { file.set_len(len) } else { Ok(()) }
}

/// Removes every file and folder; one that is gone already is as good.
#[cfg(unix)]
fn remove_all(paths: &BTreeSet<PathBuf>) {
    for path in paths {
        let _gone = match path.is_dir() {
            true => std::fs::remove_dir_all(path),
            false => std::fs::remove_file(path),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_listed_until_it_is_settled() {
        let unfinished = Unfinished::default();
        let path = PathBuf::from("some/file");
        unfinished.create(|| Ok(path.clone()), |made| made.as_path()).unwrap();
        assert!(unfinished.lock().paths.contains(&path));
        unfinished.settle(&path, || ());
        assert!(unfinished.lock().paths.is_empty());
    }

    #[test]
    fn failed_creation_is_not_listed() {
        let unfinished = Unfinished::default();
        let refused = unfinished
            .create(|| Err::<PathBuf, _>(io::ErrorKind::PermissionDenied.into()), PathBuf::as_path);
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert!(unfinished.lock().paths.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn ignored_signals_are_bits_of_a_line() {
        assert_eq!(ignored_signals("Name:\tb2\nSigIgn:\t0000000000001001\nSigCgt:\t1\n"), 0x1001);
        assert_eq!(ignored_signals("no such line"), 0);
    }

    #[cfg(unix)]
    #[test]
    fn listed_files_are_removed_and_missing_ones_forgiven() {
        let dir = tempfile::tempdir().unwrap();
        let paths = BTreeSet::from(["a", "missing", "folder"].map(|name| dir.path().join(name)));
        std::fs::write(dir.path().join("a"), b"half").unwrap();
        std::fs::create_dir(dir.path().join("folder")).unwrap();
        std::fs::write(dir.path().join("folder/b"), b"half").unwrap();
        remove_all(&paths);
        assert!(!dir.path().join("a").exists() && !dir.path().join("folder").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_frame_is_cut_back_unless_it_has_grown_for_good() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.b2frame");
        let frame = b2frame::to_cframe(&[7; 1000], &b2frame::FrameParams::default()).unwrap();
        std::fs::write(&path, [&frame[..], &[1; 500]].concat()).unwrap();
        let len = frame.len() as u64;
        cut_off(&path, len).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), frame);
        // A commit has come first: the header says that there is more.
        cut_off(&path, len - 1).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), frame);
        let unfinished = Unfinished::default();
        unfinished.grow(&path);
        assert_eq!(unfinished.lock().growing.get(&path), Some(&len));
        unfinished.settle(&path, || ());
        assert!(unfinished.lock().growing.is_empty());
    }
}
