//! Reads that do not wait: missing pages are fetched in the meantime, and the work runs again.

use core::cell::RefCell;
use core::sync::atomic::{AtomicBool, Ordering};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cache::{Cache, Failure};
use crate::pages::Key;

/// Most runs of some work: after these, other work may evict its pages as fast as they arrive.
const MAX_RUNS: usize = 100;
/// Most rounds of announcements: chunk heads, then blocks, then parts that only these reveal.
const MAX_ANNOUNCEMENTS: usize = 4;

thread_local! {
    /// The session of the work that runs in this thread.
    static CURRENT: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// Pages, each with the cache that receives it.
type Pages = Vec<(Arc<Cache>, Key)>;

/// The pages that some work lacked.
#[derive(Clone, Default)]
pub(crate) struct Session {
    failure: Failure,
    /// Pages under way.
    lacking: Arc<Mutex<Pages>>,
    /// Whether a read failed because a page was missing.
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

    /// Notes pages under way that a read needs now.
    pub(crate) fn lacks(&self, cache: &Arc<Cache>, keys: impl Iterator<Item = Key>) {
        self.is_blocked.store(true, Ordering::Relaxed);
        self.announces(cache, keys);
    }

    /// Notes pages under way.
    pub(crate) fn announces(&self, cache: &Arc<Cache>, keys: impl Iterator<Item = Key>) {
        let mut lacking = self.lacking.lock().unwrap_or_else(PoisonError::into_inner);
        lacking.extend(keys.map(|key| (Arc::clone(cache), key)));
    }

    /// Runs some work in this session; returns also whether it lacked pages.
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

    /// Returns once no page is under way, with whether there were any.
    async fn wait(&self) -> bool {
        let lacking =
            core::mem::take(&mut *self.lacking.lock().unwrap_or_else(PoisonError::into_inner));
        for (cache, key) in &lacking {
            cache.wait_for(*key).await;
        }
        !lacking.is_empty()
    }
}

/// Runs `work`, which reads objects in this thread, without blocking it. Reads of missing pages
/// fail, the pages are fetched while the future is pending, and the work runs again from its start.
/// For use within any async runtime.
///
/// The work should read a part that fits into the budget of the cache. It should not spread reads
/// over its own threads, because their reads block.
///
/// # Errors
///
/// The errors of `work`, except for missing pages.
pub async fn read_async<T, E>(mut work: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let session = Session::default();
    for _ in 0..MAX_RUNS {
        let (done, is_blocked) = session.run(&mut work);
        if !is_blocked {
            return done;
        }
        session.wait().await;
    }
    // Other work evicts the pages as fast as they arrive: a blocking run holds them.
    work()
}

/// Runs `announce`, which announces reads ([`ReadAt::prefetch`](blosc_io::ReadAt::prefetch)) and
/// decodes nothing, until all announced pages have arrived. Later reads find them in the cache, and
/// report pages that could not be fetched.
pub async fn prefetch_async(mut announce: impl FnMut()) {
    let session = Session::default();
    for _ in 0..MAX_ANNOUNCEMENTS {
        let ((), _) = session.run(&mut announce);
        if !session.wait().await {
            return;
        }
    }
}
