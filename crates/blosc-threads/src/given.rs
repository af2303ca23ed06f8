//! Threads of the caller.

use core::any::Any;
use core::num::NonZeroUsize;
use core::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe};
use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// Threads that the caller has. See [`Executor::from_pool`](crate::Executor::from_pool).
///
/// A pool of rayon:
///
/// ```
/// use blosc_threads::{Executor, ThreadPool};
///
/// struct Rayon(rayon::ThreadPool);
///
/// impl ThreadPool for Rayon {
///     fn nthreads(&self) -> usize {
///         self.0.current_num_threads()
///     }
///
///     fn run(&self, ncalls: usize, f: &(dyn Fn(usize) + Sync)) {
///         self.0.in_place_scope(|scope| {
///             (1..ncalls).for_each(|n| scope.spawn(move |_| f(n)));
///             f(0);
///         });
///     }
/// }
///
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build()?;
/// let executor = Executor::from_pool(Rayon(pool));
/// assert_eq!(executor.count(), 3);
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
pub trait ThreadPool: Send + Sync {
    /// The number of threads that can work at a time.
    fn nthreads(&self) -> usize;

    /// Calls `f` with each number below `ncalls`, in whatever threads and order, and returns when
    /// all calls have returned. Calls that are left out cost speed, no results.
    ///
    /// `f` does not panic. It may wait for a call that has begun: a thread that is within one call
    /// must not be needed for another to go on.
    fn run(&self, ncalls: usize, f: &(dyn Fn(usize) + Sync));
}

/// A pool of the caller, and the threads that are within a call.
///
/// A thread of rayon that waits for tasks runs others meanwhile, which may be calls of ours. Such a
/// call could wait for the one under it, which cannot go on before it. So a call that begins within
/// another does nothing; other threads do its work. A call therefore waits only for a thread whose
/// uppermost `share` began later than its own: there is no circle.
pub(crate) struct Given {
    pool: Box<dyn ThreadPool>,
    within: Mutex<Vec<ThreadId>>,
}

// After a panic, what a pool does is its own affair, as with one that is reached otherwise.
impl UnwindSafe for Given {}
impl RefUnwindSafe for Given {}

impl Given {
    pub(crate) fn new(pool: Box<dyn ThreadPool>) -> Self {
        Self { pool, within: Mutex::default() }
    }

    pub(crate) fn nthreads(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.pool.nthreads()).unwrap_or(NonZeroUsize::MIN)
    }

    /// See [`Executor::share`](crate::Executor::share).
    pub(crate) fn share(&self, ncalls: usize, f: &(dyn Fn(usize) + Sync)) {
        let caller = thread::current().id();
        let panic: Mutex<Option<Box<dyn Any + Send>>> = Mutex::default();
        let call = |n: usize| {
            let thread = thread::current().id();
            // The caller may be within a call of an outer `share`, which has to wait for it.
            let is_own = thread == caller && n == 0;
            if !is_own && self.within().contains(&thread) {
                return;
            }
            self.within().push(thread);
            let done = catch_unwind(AssertUnwindSafe(|| f(n)));
            self.leave(thread);
            if let Err(payload) = done {
                panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(payload);
            }
        };
        self.pool.run(ncalls, &call);
        // The work of calls that were left out.
        call(0);
        if let Some(payload) = panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(payload);
        }
    }

    fn leave(&self, thread: ThreadId) {
        let mut within = self.within();
        if let Some(at) = within.iter().rposition(|id| *id == thread) {
            within.swap_remove(at);
        }
    }

    fn within(&self) -> MutexGuard<'_, Vec<ThreadId>> {
        self.within.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
