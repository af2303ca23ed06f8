//! A store that dies in the middle of a change, at every place where it can.

use core::sync::atomic::{AtomicI64, Ordering};
use std::io;
use std::sync::Arc;

use bcolz_store::Result;
use bcolz_store::store::{Entry, MemoryStore, Store};
use blosc_io::ReadAt;

/// Every state that a change can leave behind when the store dies in it.
pub(crate) fn states(
    before: &MemoryStore,
    change: impl Fn(Arc<dyn Store>) -> Result<()>,
) -> Vec<Arc<MemoryStore>> {
    let mut states = Vec::new();
    for left in 0.. {
        let inner = Arc::new(before.clone());
        let result = change(Arc::new(Dying { inner: inner.clone(), left: AtomicI64::new(left) }));
        states.push(inner);
        if result.is_ok() {
            return states;
        }
    }
    states
}

/// A store that fails for good after some changes, like a machine that loses its power.
#[derive(Debug)]
struct Dying {
    inner: Arc<MemoryStore>,
    left: AtomicI64,
}

impl Dying {
    fn live(&self) -> io::Result<()> {
        if self.left.fetch_sub(1, Ordering::Relaxed) > 0 {
            Ok(())
        } else {
            Err(io::ErrorKind::StorageFull.into())
        }
    }
}

impl Store for Dying {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        self.inner.open(path)
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        self.inner.list(path)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.live()?;
        self.inner.write(path, bytes)
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        self.live()?;
        self.inner.create_dir(path)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.live()?;
        self.inner.remove(path)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.live()?;
        self.inner.rename(from, to)
    }
}
