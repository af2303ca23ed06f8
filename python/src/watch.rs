//! Long work: its progress is told, and Ctrl-C ends it.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use blosc_data::Source;
use blosc_io::tree::{DirTree, Entry, Tree};
use blosc_io::{FileStore, ReadAt};
use pyo3::prelude::*;

/// How often signals are looked for and progress is told.
const STEP: Duration = Duration::from_millis(100);

/// The state that the two threads of long work share.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Bytes of data that are done.
    pub(crate) done: AtomicU64,
    is_stopped: AtomicBool,
}

impl Watch {
    fn check(&self) -> io::Result<()> {
        match self.is_stopped.load(Ordering::Relaxed) {
            true => Err(io::Error::other("stopped by the caller")),
            false => Ok(()),
        }
    }
}

/// Does `work` in another thread, while the caller's looks for signals and calls
/// `progress(done, total)`. What these raise ends the work: its sources fail from then on.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    total: Option<u64>,
    work: impl FnOnce(&Arc<Watch>) -> T + Send,
) -> PyResult<T> {
    let watch = Arc::new(Watch::default());
    let tell = || -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            let Some(progress) = &progress else { return Ok(()) };
            let done = watch.done.load(Ordering::Relaxed);
            progress.call1(py, (done, total)).map(drop)
        })
    };
    py.detach(|| {
        thread::scope(|scope| -> PyResult<T> {
            let (ended, waiting) = mpsc::channel();
            let watch = &watch;
            let worker = scope.spawn(move || {
                let result = work(watch);
                // The receiver lives as long as this thread.
                let _ = ended.send(());
                result
            });
            let mut told = Ok(());
            while let Err(mpsc::RecvTimeoutError::Timeout) = waiting.recv_timeout(STEP) {
                if told.is_ok() {
                    told = tell();
                    watch.is_stopped.store(told.is_err(), Ordering::Relaxed);
                }
            }
            let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            told.and_then(|()| tell())?;
            Ok(result)
        })
    })
}

/// The file or the folder at a path, which fails once the work is stopped.
pub(crate) fn source(path: &Path, watch: &Arc<Watch>) -> blosc_data::Result<Source> {
    if path.is_dir() {
        let tree = WatchedTree { inner: DirTree::new(path), watch: Arc::clone(watch) };
        return Ok(Source::Folder(Arc::new(tree)));
    }
    let open = |source| blosc_data::Error::Io { doing: blosc_data::error::Doing::Open, source };
    let inner = FileStore::open(path).map_err(open)?;
    Ok(Source::File(Arc::new(Watched { inner, watch: Arc::clone(watch) })))
}

struct Watched<S> {
    inner: S,
    watch: Arc<Watch>,
}

impl<S: ReadAt> ReadAt for Watched<S> {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.watch.check()?;
        self.inner.read_at(at, buf)
    }
}

#[derive(Debug)]
struct WatchedTree {
    inner: DirTree,
    watch: Arc<Watch>,
}

impl Tree for WatchedTree {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        self.watch.check()?;
        let (inner, watch) = (self.inner.open(path)?, Arc::clone(&self.watch));
        Ok(Box::new(Watched { inner, watch }))
    }

    fn len_of(&self, path: &str) -> io::Result<u64> {
        self.inner.len_of(path)
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        self.inner.list(path)
    }
}
