//! Stores and trees in which one change fails, so that a test can try each.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::lock::LockKind;
use crate::tree::{Entry, Tree, TreeLock};
use crate::{LockWait, ReadAt, Stamp, Sync, WriteAt};

/// A failure that is planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The calls of the kind that succeed first.
    pub after: usize,
    /// The kind of the error.
    pub kind: io::ErrorKind,
    /// Whether reads are counted and fail, and not changes.
    pub reads: bool,
    /// Whether all calls after the first failure fail too.
    pub lasts: bool,
}

/// The call that fails; the same for all clones.
#[derive(Clone, Debug, Default)]
pub struct Plan(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    fault: Option<Fault>,
    has_failed: bool,
}

impl Plan {
    /// Lets `count` changes succeed and the next one fail, once.
    pub fn fail_at(&self, count: usize, kind: io::ErrorKind) {
        self.set(Fault { after: count, kind, reads: false, lasts: false });
    }

    /// Plans a failure.
    pub fn set(&self, fault: Fault) {
        *self.state() = State { fault: Some(fault), has_failed: false };
    }

    /// Whether a failure is still planned; cancels it.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        let mut state = self.state();
        state.fault.take().is_some() && !state.has_failed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self) -> io::Result<()> {
        self.count(false)
    }

    fn count(&self, is_read: bool) -> io::Result<()> {
        let mut state = self.state();
        let Some(fault) = state.fault.as_mut().filter(|fault| fault.reads == is_read) else {
            return Ok(());
        };
        if let Some(left) = fault.after.checked_sub(1) {
            fault.after = left;
            return Ok(());
        }
        let fault = *fault;
        state.has_failed = true;
        state.fault = fault.lasts.then_some(fault);
        Err(fault.kind.into())
    }
}

/// The unit that a disk writes whole (bytes).
const SECTOR_LEN: u64 = 512;

/// Passes all calls to another store until one of them fails. A failing write does half of its
/// work, in whole sectors.
#[derive(Debug)]
pub struct FailingStore<S> {
    inner: S,
    plan: Plan,
}

impl<S: WriteAt> FailingStore<S> {
    /// Calls of `inner` succeed until the plan says otherwise.
    pub fn new(inner: S, plan: Plan) -> Self {
        Self { inner, plan }
    }
}

impl<S: ReadAt> ReadAt for FailingStore<S> {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.plan.count(true)?;
        self.inner.read_at(at, buf)
    }

    fn stamp(&self) -> Option<Stamp> {
        self.inner.stamp()
    }
}

impl<S: WriteAt> WriteAt for FailingStore<S> {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let checked = self.plan.check();
        let half = at.saturating_add(bytes.len() as u64 / 2);
        let whole_sectors = (half / SECTOR_LEN).saturating_mul(SECTOR_LEN).saturating_sub(at);
        let half = bytes.get(..usize::try_from(whole_sectors).unwrap_or(0)).unwrap_or_default();
        self.inner.write_at(at, if checked.is_ok() { bytes } else { half })?;
        checked
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.plan.check()?;
        self.inner.set_len(len)
    }

    fn sync(&mut self, what: Sync) -> io::Result<()> {
        self.plan.check()?;
        self.inner.sync(what)
    }
}

/// Passes all calls to another tree until one of them fails: a full disk, or a broken one. Clones
/// share the count.
///
/// ```
/// use blosc_io::testing::FailingTree;
/// use blosc_io::tree::{MemTree, Tree};
///
/// let tree = FailingTree::new(MemTree::new());
/// tree.plan().fail_at(1, std::io::ErrorKind::StorageFull);
/// tree.write("f", b"ab")?;
/// assert!(tree.sync("f").is_err());
/// tree.sync("f")?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FailingTree<T> {
    inner: T,
    plan: Plan,
}

impl<T: Tree> FailingTree<T> {
    /// Calls of `inner` succeed until a failure is planned.
    pub fn new(inner: T) -> Self {
        Self { inner, plan: Plan::default() }
    }

    /// The plan of the failing change.
    pub fn plan(&self) -> Plan {
        self.plan.clone()
    }
}

impl<T: Tree> Tree for FailingTree<T> {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        self.plan.count(true)?;
        Ok(Box::new(FailingStore { inner: self.inner.open(path)?, plan: self.plan() }))
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        self.inner.list(path)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.plan.check()?;
        self.inner.write(path, bytes)
    }

    /// A failing creation leaves half a file.
    fn create_new(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let checked = self.plan.check();
        let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
        self.inner.create_new(path, if checked.is_ok() { bytes } else { half })?;
        checked
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        self.plan.check()?;
        self.inner.create_dir(path)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.plan.check()?;
        self.inner.remove(path)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.plan.check()?;
        self.inner.rename(from, to)
    }

    fn sync(&self, path: &str) -> io::Result<()> {
        self.plan.check()?;
        self.inner.sync(path)
    }

    fn sync_names(&self, path: &str) -> io::Result<()> {
        self.plan.check()?;
        self.inner.sync_names(path)
    }

    fn lock(&self, path: &str, kind: LockKind, wait: &LockWait) -> io::Result<Box<dyn TreeLock>> {
        self.inner.lock(path, kind, wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemStore;
    use crate::testing::{check_tree, check_write_at};
    use crate::tree::MemTree;

    #[test]
    fn one_write_fails_and_the_others_do_not() {
        let plan = Plan::default();
        let mut store = FailingStore::new(MemStore::default(), plan.clone());
        check_write_at(&mut store).unwrap();
        store.set_len(0).unwrap();
        plan.fail_at(0, io::ErrorKind::StorageFull);
        let error = store.write_at(0, &[1; 2000]).unwrap_err();
        assert_eq!((error.kind(), store.len().unwrap()), (io::ErrorKind::StorageFull, 512));
        store.write_at(0, b"1234").unwrap();
    }

    #[test]
    fn one_change_fails_and_the_others_do_not() {
        let tree = FailingTree::new(MemTree::new());
        tree.plan().fail_at(1, io::ErrorKind::StorageFull);
        tree.create_new("a", b"1234").unwrap();
        let error = tree.create_new("b", b"1234").unwrap_err();
        assert_eq!((error.kind(), tree.len_of("b").unwrap()), (io::ErrorKind::StorageFull, 2));
        assert!(!tree.plan().is_pending());
        tree.create_new("c", b"").unwrap();
        tree.plan().fail_at(1, io::ErrorKind::StorageFull);
        assert!(tree.plan().is_pending() && !tree.plan().is_pending());
        check_tree(&FailingTree::new(MemTree::new())).unwrap();
    }

    #[test]
    fn a_failure_lasts_and_reading_fails_where_the_plan_says_so() {
        let tree = FailingTree::new(MemTree::new());
        tree.write("f", b"1234").unwrap();
        let fault = Fault { after: 1, kind: io::ErrorKind::Other, reads: false, lasts: true };
        tree.plan().set(fault);
        let writes: Vec<bool> = (0..4).map(|_| tree.write("f", b"12").is_ok()).collect();
        assert_eq!(writes, [true, false, false, false]);
        assert!(!tree.plan().is_pending());
        tree.plan().set(Fault { reads: true, lasts: false, ..fault });
        tree.write("f", b"123").unwrap();
        let file = tree.open("f").unwrap();
        assert!(file.read_exact_at(0, &mut [0; 3]).is_err());
        file.read_exact_at(0, &mut [0; 3]).unwrap();
    }
}
