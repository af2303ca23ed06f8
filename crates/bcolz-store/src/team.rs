//! Several chunks at once: each worker has scratch memory of its own, and nothing is shared but the
//! reader.

use std::sync::{Mutex, PoisonError};

use blosc_chunk::{DParams, Scratch, Threads};

/// What a worker needs to decode chunks.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) scratch: Scratch,
    /// The chunk as it lies in its file.
    pub(crate) packed: Vec<u8>,
    /// For a block that is to be kept.
    pub(crate) spare: Vec<u8>,
}

impl Worker {
    pub(crate) fn new(dparams: &DParams) -> Self {
        Self { scratch: Scratch::new(dparams), packed: Vec::new(), spare: Vec::new() }
    }
}

/// What waits for the next call: its memory is not asked for again.
#[derive(Debug)]
pub(crate) struct Pool<W> {
    idle: Mutex<Vec<W>>,
}

impl<W> Default for Pool<W> {
    fn default() -> Self {
        Self { idle: Mutex::default() }
    }
}

/// What goes back to its pool when it is dropped.
pub(crate) struct Pooled<'a, W> {
    pool: &'a Pool<W>,
    /// None until it is needed, if none waits.
    worker: Option<W>,
}

impl<W> Pool<W> {
    /// One that waits, or one that is still to be made.
    pub(crate) fn hire(&self) -> Pooled<'_, W> {
        let worker = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Pooled { pool: self, worker }
    }
}

impl<W> Pooled<'_, W> {
    /// Works with it; `make` makes it if none waited.
    pub(crate) fn with<T>(
        &mut self,
        make: impl FnOnce() -> W,
        work: impl FnOnce(&mut W) -> T,
    ) -> T {
        work(self.worker.get_or_insert_with(make))
    }
}

impl<W> Drop for Pooled<'_, W> {
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

/// Does `work` on every item, with a worker of `make` for each thread; whoever is done takes the
/// next item.
pub(crate) fn each<T: Send, W>(
    threads: Threads,
    items: &mut [T],
    make: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &mut T) + Sync,
) {
    #[cfg(feature = "rayon")]
    if items.len() > 1 && workers(threads) > 1 {
        let nworkers = workers(threads).min(items.len());
        let items = Mutex::new(items.iter_mut());
        let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
        let share = || {
            let mut worker = make();
            while let Some(item) = next() {
                work(&mut worker, item);
            }
        };
        return rayon::scope(|scope| (0..nworkers).for_each(|_| scope.spawn(|_| share())));
    }
    let _ = threads;
    let mut worker = make();
    items.iter_mut().for_each(|item| work(&mut worker, item));
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::num::NonZeroUsize;

    #[test]
    fn workers_go_back_to_their_pool() {
        let pool: Pool<Vec<u8>> = Pool::default();
        let idle = || pool.idle.lock().unwrap().len();
        let (mut first, mut second) = (pool.hire(), pool.hire());
        first.with(Vec::new, |worker| worker.push(1));
        second.with(Vec::new, |worker| worker.push(2));
        assert_eq!(idle(), 0);
        drop((first, second));
        assert_eq!(idle(), 2);
        pool.hire().with(Vec::new, |worker| worker.push(3));
        assert_eq!(pool.hire().with(Vec::new, |worker| worker.clone()), [2, 3]);
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
