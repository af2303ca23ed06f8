//! Threads, kept by their number between calls.

use std::sync::{Mutex, MutexGuard, PoisonError};

use blosc_threads::Executor;

use crate::epoch::PerProcess;

static POOLS: PerProcess<Pools> = PerProcess::new();

#[derive(Default)]
struct Pools {
    /// With the number of threads that each was made for.
    kept: Mutex<Vec<(usize, Executor)>>,
}

/// Up to `nthreads` threads, the caller's among them: with 1 it is the caller's alone.
///
/// All callers that want as many share a pool. Its threads start at need and end when they have had
/// nothing to do for some time.
#[must_use]
pub fn executor(nthreads: usize) -> Executor {
    if nthreads <= 1 {
        return Executor::default();
    }
    let mut kept = lock();
    if let Some((_, executor)) = kept.iter().find(|(n, _)| *n == nthreads) {
        return executor.clone();
    }
    let executor = Executor::threads(nthreads);
    kept.push((nthreads, executor.clone()));
    executor
}

/// Gives all pools back. The threads of a pool end when no call and no context has it any more.
pub fn end() {
    let kept = core::mem::take(&mut *lock());
    drop(kept);
}

/// Nothing panics while the lock is held.
fn lock() -> MutexGuard<'static, Vec<(usize, Executor)>> {
    POOLS.get().kept.lock().unwrap_or_else(PoisonError::into_inner)
}
