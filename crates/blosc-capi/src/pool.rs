//! Thread pools, kept by their number of threads between calls.

use std::sync::{Mutex, MutexGuard, PoisonError};

use blosc_threads::Executor;

use crate::epoch::PerProcess;

static POOLS: PerProcess<Pools> = PerProcess::new();

#[derive(Default)]
struct Pools {
    /// Pools, each with its number of threads.
    kept: Mutex<Vec<(usize, Executor)>>,
}

/// Up to `nthreads` threads, including the caller's: with 1 it is the only one.
///
/// All callers with the same number share a pool. Its threads start when needed, and end after some
/// time without work, or with the last context ([`end_unused`]).
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

/// Ends the threads of pools that no call and no context holds any more.
pub fn end_unused() {
    let mut kept = lock();
    let unused: Vec<_> = kept.extract_if(.., |(_, executor)| !executor.is_shared()).collect();
    drop(kept);
    drop(unused);
}

/// Frees all pools. The threads of a pool end when no call and no context holds it any more.
pub fn end() {
    let kept = core::mem::take(&mut *lock());
    drop(kept);
}

/// No code panics while it holds the lock.
fn lock() -> MutexGuard<'static, Vec<(usize, Executor)>> {
    POOLS.get().kept.lock().unwrap_or_else(PoisonError::into_inner)
}
