//! The source of threads, and the number of them that may be used.

use core::fmt;
use core::num::NonZeroUsize;
use std::sync::Arc;

use crate::given::{Given, ThreadPool};
use crate::pool::OwnPool;
use crate::threads::Threads;

/// The threads that may work besides the caller's. A clone shares them, and costs nothing.
///
/// Two executors are equal if they have the same number of threads; the results of functions with
/// an executor do not depend on it.
#[derive(Clone, Default)]
pub struct Executor {
    source: Source,
    /// At most this number of threads, if it is set.
    limit: Option<NonZeroUsize>,
}

#[derive(Clone, Default)]
enum Source {
    #[default]
    Caller,
    Ours(Arc<OwnPool>),
    Given(Arc<Given>),
}

/// Whether the target has threads. Without them a process has no id, and the code for threads is
/// left out.
pub const HAS_THREADS: bool = !cfg!(all(target_family = "wasm", not(target_feature = "atomics")));

impl Executor {
    /// Up to `nthreads` threads, including the caller's. 0 and 1 mean the caller's thread only.
    #[must_use]
    pub fn threads(nthreads: usize) -> Self {
        let nthreads = NonZeroUsize::new(nthreads).filter(|n| n.get() > 1 && HAS_THREADS);
        nthreads.map_or_else(Self::default, |n| Self::ours(Some(n)))
    }

    /// One thread for each processor that the process may use.
    #[must_use]
    pub fn auto() -> Self {
        if HAS_THREADS { Self::ours(None) } else { Self::default() }
    }

    /// The threads of a pool of the caller. There should be one executor for a pool.
    #[must_use]
    pub fn from_pool(pool: impl ThreadPool + 'static) -> Self {
        Self { source: Source::Given(Arc::new(Given::new(Box::new(pool)))), limit: None }
    }

    fn ours(nthreads: Option<NonZeroUsize>) -> Self {
        Self { source: Source::Ours(Arc::new(OwnPool::new(nthreads))), limit: None }
    }

    /// The same threads, but at most `nthreads` at a time.
    #[must_use]
    pub fn at_most(&self, nthreads: usize) -> Self {
        match NonZeroUsize::new(nthreads) {
            // Counting processors is not necessary for this.
            Some(n) if n.get() > 1 && !self.is_alone() => {
                let limit = self.limit.map_or(n, |limit| limit.min(n));
                Self { source: self.source.clone(), limit: Some(limit) }
            }
            _ => Self::default(),
        }
    }

    /// Whether only the caller's thread is used, which is known without querying the machine.
    #[must_use]
    #[inline]
    pub fn is_alone(&self) -> bool {
        !HAS_THREADS || matches!(self.source, Source::Caller)
    }

    /// Whether another executor has the same threads, which dropping this one would not end.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        match &self.source {
            Source::Caller => false,
            Source::Ours(pool) => Arc::strong_count(pool) > 1,
            Source::Given(given) => Arc::strong_count(given) > 1,
        }
    }

    /// Whether the threads belong to a pool of the caller. They may run other tasks while a call
    /// waits for some: a call that waits for another could then wait for itself.
    #[must_use]
    pub fn is_given(&self) -> bool {
        matches!(self.source, Source::Given(_))
    }

    /// The number of threads, including the caller's; at least 1.
    #[must_use]
    #[inline]
    pub fn count(&self) -> usize {
        if !HAS_THREADS {
            return 1;
        }
        let count = match &self.source {
            Source::Caller => NonZeroUsize::MIN,
            Source::Ours(pool) => pool.nthreads(),
            Source::Given(given) => given.nthreads(),
        };
        self.limit.map_or(count, |limit| limit.min(count)).get()
    }

    /// The number of threads for work with `nparts` parts; at least 1.
    #[must_use]
    #[inline]
    pub fn count_for(&self, nparts: usize) -> usize {
        if self.is_alone() || nparts <= 1 { 1 } else { self.count().min(nparts) }
    }

    /// Calls `f(0)` in the caller's thread, and in the meantime `f` in up to `ncalls - 1` other
    /// threads, with other numbers below `ncalls`. Returns once all these calls have returned.
    ///
    /// Calls with the same number never run at the same time. If threads are busy, calls other than
    /// `f(0)` may never begin: so each call does as much of the work as it finds, and `f(0)` may be
    /// called a second time for the rest. A call may wait for others that have begun.
    ///
    /// # Panics
    ///
    /// If a call panics; the panic continues after the others have returned.
    pub fn share(&self, ncalls: usize, f: &(dyn Fn(usize) + Sync)) {
        match &self.source {
            Source::Ours(pool) if HAS_THREADS && ncalls > 1 => pool.share(ncalls, f),
            Source::Given(given) if HAS_THREADS && ncalls > 1 => given.share(ncalls, f),
            _ => f(0),
        }
    }
}

impl From<Threads> for Executor {
    fn from(threads: Threads) -> Self {
        match threads {
            Threads::One => Self::default(),
            Threads::Auto => Self::auto(),
            Threads::N(n) => Self::threads(n.get()),
        }
    }
}

impl PartialEq for Executor {
    fn eq(&self, other: &Self) -> bool {
        self.count() == other.count()
    }
}

impl Eq for Executor {}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor").field("threads", &self.count()).finish()
    }
}
