//! Reads that do not wait: what is missing is fetched meanwhile, and the work is run again.

use core::cell::RefCell;
use core::sync::atomic::{AtomicBool, Ordering};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cache::{Cache, Failure};
use crate::pages::Key;

/// Work that is run again this often may lose pages to others as fast as it gets them.
const MAX_RUNS: usize = 100;
/// Heads, blocks, and what only they told.
const MAX_ANNOUNCEMENTS: usize = 4;

thread_local! {
    /// The session of the work that runs in this thread.
    static CURRENT: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// Pages, each with the cache that will have it.
type Pages = Vec<(Arc<Cache>, Key)>;

/// What some work lacked.
#[derive(Clone, Default)]
pub(crate) struct Session {
    failure: Failure,
    /// Pages on their way.
    lacking: Arc<Mutex<Pages>>,
    /// Whether a read failed for want of a page.
    is_blocked: Arc<AtomicBool>,
}

impl Session {
    pub(crate) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    pub(crate) fn failure(&self) -> Failure {
        Arc::clone(&self.failure)
    }

    pub(crate) fn take_failure(&self) -> Option<io::Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Notes pages that are on their way, which a read needs now.
    pub(crate) fn lacks(&self, cache: &Arc<Cache>, keys: impl Iterator<Item = Key>) {
        self.is_blocked.store(true, Ordering::Relaxed);
        self.announces(cache, keys);
    }

    /// Notes pages that are on their way.
    pub(crate) fn announces(&self, cache: &Arc<Cache>, keys: impl Iterator<Item = Key>) {
        let mut lacking = self.lacking.lock().unwrap_or_else(PoisonError::into_inner);
        lacking.extend(keys.map(|key| (Arc::clone(cache), key)));
    }

    /// Runs some work in this session; whether it lacked pages.
    fn run<T>(&self, work: impl FnOnce() -> T) -> (T, bool) {
        /// Ends the session of the thread, also when the work panics.
        struct Ended;

        impl Drop for Ended {
            fn drop(&mut self) {
                CURRENT.set(None);
            }
        }

        self.is_blocked.store(false, Ordering::Relaxed);
        CURRENT.set(Some(self.clone()));
        let ended = Ended;
        let done = work();
        drop(ended);
        (done, self.is_blocked.load(Ordering::Relaxed))
    }

    /// Returns when no page is on its way; whether there were any.
    async fn wait(&self) -> bool {
        let lacking =
            core::mem::take(&mut *self.lacking.lock().unwrap_or_else(PoisonError::into_inner));
        for (cache, key) in &lacking {
            cache.wait_for(*key).await;
        }
        !lacking.is_empty()
    }
}

/// Runs `work`, which reads objects in this thread, without waiting in it: reads of what is not
/// there yet fail, the missing pages are fetched while the future is pending, and the work is run
/// again from its start. For use within an async runtime, of any kind.
///
/// The work should read a part that fits into the budget of the cache, and spread no reads over
/// threads of its own: those wait.
///
/// # Errors
///
/// Those of `work`, unless it only lacks bytes.
pub async fn read_async<T, E>(mut work: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let session = Session::default();
    for _ in 0..MAX_RUNS {
        let (done, is_blocked) = session.run(&mut work);
        if !is_blocked {
            return done;
        }
        session.wait().await;
    }
    // Others take the room as fast as this work gets it: waiting holds it.
    work()
}

/// Runs `announce`, which announces reads ([`ReadAt::prefetch`](blosc_io::ReadAt::prefetch)) and
/// decodes nothing, until all of it has come. Reading then finds it in the cache, and tells what
/// could not be fetched.
pub async fn prefetch_async(mut announce: impl FnMut()) {
    let session = Session::default();
    for _ in 0..MAX_ANNOUNCEMENTS {
        let ((), _) = session.run(&mut announce);
        if !session.wait().await {
            return;
        }
    }
}
