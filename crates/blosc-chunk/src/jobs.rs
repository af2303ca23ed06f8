//! Items in parallel, with results that do not depend on the number of threads.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "counts items and workers"
)]

use blosc_filters::{Simd, internal::StoreHint};

use crate::error::Result;

/// Calls `f` for each item, in up to `jobs` threads of the current rayon pool, the caller's among
/// them. Each job has a worker of its own: its scratch memory.
///
/// Items are taken in order and may end in any. If some fail, the error is that of the first of
/// them, as if there were one job; items after a failed one may be left out.
///
/// An item may wait for an earlier one, by a `Promise`.
///
/// # Errors
///
/// The first error of `f`.
#[inline]
pub fn for_each<W: Default + Send, T: Send, E: Send>(
    jobs: usize,
    workers: &mut Vec<W>,
    mut items: impl Iterator<Item = T> + Send,
    f: impl Fn(&mut W, T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    if workers.len() < jobs.max(1) {
        workers.resize_with(jobs.max(1), W::default);
    }
    if jobs > 1 {
        return parallel::for_each(&mut workers[..jobs], items, f);
    }
    items.try_for_each(|item| f(&mut workers[0], item))
}

/// Copies each source to its destination, which is as long.
pub(crate) fn copy<'a>(
    jobs: usize,
    simd: Simd,
    copies: impl Iterator<Item = (&'a [u8], &'a mut [u8])> + Send,
) -> Result<()> {
    for_each(jobs, &mut Vec::new(), copies, |(), (src, dest)| {
        StoreHint::Cached.copy_read(simd, src, dest);
        Ok(())
    })
}

/// The worker of the caller's thread.
pub(crate) fn first_worker<W: Default>(workers: &mut Vec<W>) -> &mut W {
    if workers.is_empty() {
        workers.push(W::default());
    }
    &mut workers[0]
}

/// Of up to `max_jobs` jobs, as many as have at least `min_job_nbytes` of the `nbytes` each: with
/// less, to wake a thread takes longer than it saves.
pub(crate) fn jobs_for_nbytes(max_jobs: usize, nbytes: usize, min_job_nbytes: usize) -> usize {
    if max_jobs <= 1 { 1 } else { max_jobs.min(nbytes / min_job_nbytes).max(1) }
}

#[cfg(feature = "rayon")]
mod parallel {
    use core::cell::Cell;
    use std::sync::{Mutex, PoisonError};

    /// The items that are left, and the first failure. All items before a failed one were taken.
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

    pub(super) fn for_each<W: Send, T: Send, E: Send>(
        workers: &mut [W],
        items: impl Iterator<Item = T> + Send,
        f: impl Fn(&mut W, T) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let queue = Mutex::new(Queue { items, ntaken: 0, failure: None });
        let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
        let work = |worker: &mut W| {
            let _mark = MarkBusy::new();
            loop {
                let Some((nitem, item)) = lock().take() else { return };
                if let Err(error) = f(worker, item) {
                    lock().fail(nitem, error);
                }
            }
        };
        let Some((first, others)) = workers.split_first_mut() else { return Ok(()) };
        // The caller does not wait for a thread to wake up.
        rayon::in_place_scope(|scope| {
            for worker in others {
                scope.spawn(|_| {
                    if !MarkBusy::is_set() {
                        work(worker);
                    }
                });
            }
            work(first);
        });
        let failure = lock().failure.take();
        failure.map_or(Ok(()), |(_, error)| Err(error))
    }

    thread_local! {
        static IS_BUSY: Cell<bool> = const { Cell::new(false) };
    }

    /// Marks a thread that works on items, as long as it lives.
    ///
    /// If an item waits for tasks of rayon, its thread runs other tasks meanwhile. One that is a
    /// job of [`for_each`] must not take items there: it could wait for the item under it, which
    /// cannot go on before it. A job that starts on a marked thread therefore does nothing; the
    /// other jobs take its items. So a job waits only for a thread whose uppermost call of
    /// `for_each` began later than its own: there is no circle.
    struct MarkBusy {
        was_set: bool,
    }

    impl MarkBusy {
        fn new() -> Self {
            Self { was_set: IS_BUSY.replace(true) }
        }

        fn is_set() -> bool {
            IS_BUSY.get()
        }
    }

    impl Drop for MarkBusy {
        fn drop(&mut self) {
            IS_BUSY.set(self.was_set);
        }
    }
}

#[cfg(not(feature = "rayon"))]
mod parallel {
    pub(super) fn for_each<W, T, E>(
        workers: &mut [W],
        mut items: impl Iterator<Item = T>,
        f: impl Fn(&mut W, T) -> Result<(), E>,
    ) -> Result<(), E> {
        items.try_for_each(|item| f(&mut workers[0], item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_reported_by_any_number_of_jobs() {
        let fail_from_7 = |_: &mut (), item: usize| if item < 7 { Ok(()) } else { Err(item) };
        for jobs in 1..5 {
            assert_eq!(for_each(jobs, &mut Vec::new(), 0..100, fail_from_7), Err(7));
        }
    }

    #[test]
    fn each_item_is_taken_once_and_each_job_has_a_worker() {
        for jobs in [1, 2, 5] {
            let mut workers: Vec<Vec<usize>> = Vec::new();
            let taken: Result<(), ()> = for_each(jobs, &mut workers, 0..1000, |worker, item| {
                worker.push(item);
                Ok(())
            });
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
