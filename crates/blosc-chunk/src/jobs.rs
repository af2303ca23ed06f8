//! Processes items in parallel, with results that do not depend on the number of threads.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "counts items and workers"
)]

use std::sync::{Mutex, PoisonError};

use blosc_filters::{Simd, internal::StoreHint};
use blosc_threads::{Executor, HAS_THREADS};

use crate::error::Result;

/// Threads, and the most of them that work at a time: 0 means 1.
pub type Jobs<'a> = (&'a Executor, usize);

/// Calls `f` for each item, in up to `jobs` threads of `executor`, including the caller's. Each job
/// has a worker of its own: its scratch memory.
///
/// Items are taken in order and may end in any order. If some fail, the error is that of the first
/// of them, as with one job; items after a failed one may be skipped.
///
/// An item may wait for an earlier one with a `Promise`, if the earlier one is made without waiting
/// for tasks of the executor.
///
/// # Errors
///
/// The first error of `f`.
#[inline]
pub fn for_each<W: Default + Send, T: Send, E: Send>(
    (executor, jobs): Jobs<'_>,
    workers: &mut Vec<W>,
    mut items: impl Iterator<Item = T> + Send,
    f: impl Fn(&mut W, T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    if workers.len() < jobs.max(1) {
        workers.resize_with(jobs.max(1), W::default);
    }
    if HAS_THREADS && jobs > 1 {
        return in_parallel(executor, &mut workers[..jobs], items, f);
    }
    items.try_for_each(|item| f(&mut workers[0], item))
}

/// Calls `f` for each of the items `first`, and then of `then`, which may wait for the former with
/// a `Promise`. A codec may make an item of `first` with tasks of the caller's pool. Threads of the
/// pool run any task while they wait, also items of `then`: so these begin later there.
///
/// # Errors
///
/// As [`for_each`].
pub(crate) fn for_each_after<W: Default + Send, T: Send, E: Send>(
    (executor, jobs): Jobs<'_>,
    workers: &mut Vec<W>,
    first: impl Iterator<Item = T> + Send,
    then: impl Iterator<Item = T> + Send,
    f: impl Fn(&mut W, T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    if executor.is_given() {
        for_each((executor, jobs), workers, first, &f)?;
        return for_each((executor, jobs), workers, then, &f);
    }
    for_each((executor, jobs), workers, first.chain(then), f)
}

/// Copies each source to its destination, which is as long.
pub(crate) fn copy<'a>(
    jobs: Jobs<'_>,
    simd: Simd,
    copies: impl Iterator<Item = (&'a [u8], &'a mut [u8])> + Send,
) -> Result<()> {
    for_each(jobs, &mut Vec::new(), copies, |(), (src, dest)| {
        StoreHint::Cached.copy_read(simd, src, dest);
        Ok(())
    })
}

/// Makes at least as many workers as there are jobs, and gives each its number.
pub(crate) fn number<W: Default>(workers: &mut Vec<W>, jobs: usize, set: impl Fn(&mut W, usize)) {
    workers.resize_with(workers.len().max(jobs), W::default);
    workers.iter_mut().enumerate().for_each(|(number, worker)| set(worker, number));
}

/// The worker of the caller's thread.
pub(crate) fn first_worker<W: Default>(workers: &mut Vec<W>) -> &mut W {
    if workers.is_empty() {
        workers.push(W::default());
    }
    &mut workers[0]
}

/// The number of jobs, at most `max_jobs`, that each get at least `min_job_nbytes` of the `nbytes`:
/// with less, waking a thread takes longer than it saves.
pub(crate) fn jobs_for_nbytes(max_jobs: usize, nbytes: usize, min_job_nbytes: usize) -> usize {
    if max_jobs <= 1 { 1 } else { max_jobs.min(nbytes / min_job_nbytes).max(1) }
}

/// The remaining items, and the first failure. All items before a failed one were taken.
struct Queue<I, E> {
    items: I,
    ntaken: usize,
    failure: Option<(usize, E)>,
}

impl<I: Iterator, E> Queue<I, E> {
    fn take(&mut self) -> Option<(usize, I::Item)> {
        if self.failure.is_some() {
            return None;
        }
        let item = self.items.next()?;
        self.ntaken += 1;
        Some((self.ntaken, item))
    }

    fn fail(&mut self, nitem: usize, error: E) {
        if self.failure.as_ref().is_none_or(|(first, _)| nitem < *first) {
            self.failure = Some((nitem, error));
        }
    }
}

fn in_parallel<W: Send, T: Send, E: Send>(
    executor: &Executor,
    workers: &mut [W],
    items: impl Iterator<Item = T> + Send,
    f: impl Fn(&mut W, T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let queue = Mutex::new(Queue { items, ntaken: 0, failure: None });
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let workers: Vec<_> = workers.iter_mut().map(Mutex::new).collect();
    executor.share(workers.len(), &|n| {
        let Some(Ok(mut worker)) = workers.get(n).map(Mutex::try_lock) else { return };
        loop {
            let Some((nitem, item)) = lock().take() else { return };
            if let Err(error) = f(&mut worker, item) {
                lock().fail(nitem, error);
            }
        }
    });
    let failure = lock().failure.take();
    failure.map_or(Ok(()), |(_, error)| Err(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_reported_by_any_number_of_jobs() {
        let fail_from_7 = |_: &mut (), item: usize| if item < 7 { Ok(()) } else { Err(item) };
        let executor = Executor::threads(5);
        for jobs in 0..6 {
            let jobs = (&executor, jobs);
            assert_eq!(for_each(jobs, &mut Vec::new(), 0..100, fail_from_7), Err(7));
        }
    }

    #[test]
    fn each_item_is_taken_once_and_each_job_has_a_worker() {
        for jobs in [1, 2, 5] {
            let mut workers: Vec<Vec<usize>> = Vec::new();
            let executor = Executor::threads(jobs);
            let push = |worker: &mut Vec<usize>, item| {
                worker.push(item);
                Ok(())
            };
            let taken: Result<(), ()> = for_each((&executor, jobs), &mut workers, 0..1000, push);
            assert_eq!((taken, workers.len()), (Ok(()), jobs));
            let mut items = workers.concat();
            items.sort_unstable();
            assert!(items.into_iter().eq(0..1000));
        }
    }

    #[test]
    fn a_job_needs_enough_bytes() {
        assert_eq!(jobs_for_nbytes(4, 1000, 100), 4);
        assert_eq!(jobs_for_nbytes(4, 350, 100), 3);
        assert_eq!(jobs_for_nbytes(4, 50, 100), 1);
        assert_eq!(jobs_for_nbytes(1, 1000, 100), 1);
    }
}
