//! Several chunks at once: each worker has scratch memory of its own, and nothing is shared but the reader.

use std::sync::{Mutex, PoisonError};

use blosc_chunk::{DParams, Scratch, Threads};

/// What a worker needs to decode chunks.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) scratch: Scratch,
    /// The chunk as it lies in its file.
    pub(crate) packed: Vec<u8>,
}

impl Worker {
    pub(crate) fn new(dparams: &DParams) -> Self {
        Self { scratch: Scratch::new(dparams), packed: Vec::new() }
    }
}

/// Workers that wait for the next call: their memory is not asked for again.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    idle: Mutex<Vec<Worker>>,
}

/// A worker that goes back to its pool.
pub(crate) struct Pooled<'a> {
    pool: &'a Pool,
    /// There until it goes back.
    worker: Option<Worker>,
}

impl Pool {
    /// A worker that waits, or a new one.
    pub(crate) fn hire(&self, dparams: &DParams) -> Pooled<'_> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Pooled { pool: self, worker: Some(idle.unwrap_or_else(|| Worker::new(dparams))) }
    }
}

impl Pooled<'_> {
    /// The worker, which is there until this is dropped.
    pub(crate) fn with<T>(&mut self, dparams: &DParams, work: impl FnOnce(&mut Worker) -> T) -> T {
        work(self.worker.get_or_insert_with(|| Worker::new(dparams)))
    }
}

impl Drop for Pooled<'_> {
    fn drop(&mut self) {
        let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE {
            idle.extend(self.worker.take());
        }
    }
}

/// The most workers that wait.
const IDLE: usize = 16;

/// How many workers there are.
pub(crate) fn workers(threads: Threads) -> usize {
    match threads {
        _ if cfg!(not(feature = "rayon")) => 1,
        #[cfg(feature = "rayon")]
        Threads::Auto => rayon::current_num_threads(),
        Threads::N(n) => n.get(),
        _ => 1,
    }
}

/// Does `work` on every item, with a worker of `make` for each share of them.
pub(crate) fn each<T: Send, W>(
    threads: Threads,
    items: &mut [T],
    make: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &mut T) + Sync,
) {
    #[cfg(feature = "rayon")]
    if items.len() > 1 && workers(threads) > 1 {
        use rayon::prelude::*;
        // With a given number of workers each gets one share, with all of them each takes what is next.
        let share = match threads {
            Threads::N(n) => items.len().div_ceil(n.get()),
            _ => items.len().div_ceil(SHARES * workers(threads)),
        };
        return items.par_chunks_mut(share).for_each(|items| {
            let mut worker = make();
            items.iter_mut().for_each(|item| work(&mut worker, item));
        });
    }
    let _ = threads;
    let mut worker = make();
    items.iter_mut().for_each(|item| work(&mut worker, item));
}

/// Shares for each worker, since some take longer than others.
#[cfg(feature = "rayon")]
const SHARES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use core::num::NonZeroUsize;

    #[test]
    fn workers_go_back_to_their_pool() {
        let (pool, dparams) = (Pool::default(), DParams::default());
        let idle = || pool.idle.lock().unwrap().len();
        let (first, second) = (pool.hire(&dparams), pool.hire(&dparams));
        assert_eq!(idle(), 0);
        drop((first, second));
        assert_eq!(idle(), 2);
        pool.hire(&dparams).with(&dparams, |worker| worker.packed.push(1));
        assert_eq!(pool.hire(&dparams).with(&dparams, |worker| worker.packed.len()), 1);
        assert_eq!(idle(), 2);
    }

    #[test]
    fn every_item_is_worked_on_once() {
        for threads in [Threads::One, Threads::Auto, Threads::N(NonZeroUsize::new(3).unwrap())] {
            let mut items: Vec<u32> = (0..10).collect();
            each(threads, &mut items, || (), |(), item| *item += 100);
            assert_eq!(items, (100..110).collect::<Vec<u32>>());
        }
    }
}
