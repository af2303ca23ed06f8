//! Threads of the caller.

use core::any::Any;
use core::num::NonZeroUsize;
use core::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe};
use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// Threads of the caller. See [`Executor::from_pool`](crate::Executor::from_pool).
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

    /// Calls `f` with each number below `ncalls`, in any threads and order, and returns once all
    /// calls have returned. Omitted calls only cost speed.
    ///
    /// `f` does not panic. It may wait for a call that has begun: the progress of one call must not
    /// depend on a thread that is within another.
    fn run(&self, ncalls: usize, f: &(dyn Fn(usize) + Sync));
}

/// A pool of the caller, and its threads that are within a call.
///
/// While a thread of rayon waits for tasks it runs others, which may be calls of ours. The inner
/// call could wait for the outer one, which cannot continue before it. So a call that begins within
/// another does nothing; other threads do its work. A call therefore waits only for a thread whose
/// uppermost `share` began later than its own: there is no circle.
pub(crate) struct Given {
    pool: Box<dyn ThreadPool>,
    within: Mutex<Vec<ThreadId>>,
}

// After a panic, the state of the pool is its own responsibility.
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
            // The caller may be within a call of an outer `share`, which must wait for it.
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
        // Does the work of omitted calls.
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
