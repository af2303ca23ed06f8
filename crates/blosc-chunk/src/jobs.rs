//! Blocks in parallel, with results that do not depend on the number of threads.

use std::sync::OnceLock;

use blosc_filters::{Simd, Stores};

use crate::Result;

/// Calls `f` for each item, with one worker per job. Items are taken in order; if some fail, the
/// error is that of the first of them, as if there were one job.
#[inline]
pub(crate) fn for_each<W: Default + Send, T: Send>(
    jobs: usize,
    workers: &mut Vec<W>,
    mut items: impl Iterator<Item = T> + Send,
    f: impl Fn(&mut W, T) -> Result<()> + Sync,
) -> Result<()> {
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
        Stores::Plain.copy_read(simd, src, dest);
        Ok(())
    })
}

/// What one item of [`for_each`] makes and later ones need, in whatever thread.
#[derive(Debug)]
pub(crate) struct Later<T>(OnceLock<Option<T>>);

impl<T> Default for Later<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T: Copy> Later<T> {
    /// Makes it. Whoever waits goes on also if that fails.
    pub(crate) fn set(&self, make: impl FnOnce() -> Result<T>) -> Result<()> {
        struct Nothing<'l, T>(&'l Later<T>);
        impl<T> Drop for Nothing<'_, T> {
            fn drop(&mut self) {
                self.0.0.get_or_init(|| None);
            }
        }
        let nothing = Nothing(self);
        let made = make()?;
        nothing.0.0.get_or_init(|| Some(made));
        Ok(())
    }

    /// Waits for it; `None` if it could not be made. The item that makes it must be an earlier one.
    pub(crate) fn wait(&self) -> Option<T> {
        loop {
            match self.0.get() {
                Some(made) => return *made,
                // To sleep and be woken takes longer than what is left of one item.
                None => std::thread::yield_now(),
            }
        }
    }
}

/// The worker for what is done in the caller's thread.
pub(crate) fn first<W: Default>(workers: &mut Vec<W>) -> &mut W {
    if workers.is_empty() {
        workers.push(W::default());
    }
    &mut workers[0]
}

#[cfg(feature = "rayon")]
mod parallel {
    use std::sync::{Mutex, PoisonError};

    use crate::{Error, Result};

    /// The items that are left, and the first failure. All items before a failed one have been
    /// taken by someone.
    struct Queue<I> {
        items: I,
        taken: usize,
        failure: Option<(usize, Error)>,
    }

    impl<I: Iterator> Queue<I> {
        fn take(&mut self) -> Option<(usize, I::Item)> {
            if self.failure.is_some() {
                return None;
            }
            let item = self.items.next()?;
            self.taken += 1;
            Some((self.taken, item))
        }

        fn fail(&mut self, nitem: usize, error: Error) {
            if self.failure.as_ref().is_none_or(|(first, _)| nitem < *first) {
                self.failure = Some((nitem, error));
            }
        }
    }

    pub(super) fn for_each<W: Send, T: Send>(
        workers: &mut [W],
        items: impl Iterator<Item = T> + Send,
        f: impl Fn(&mut W, T) -> Result<()> + Sync,
    ) -> Result<()> {
        let queue = Mutex::new(Queue { items, taken: 0, failure: None });
        let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
        let work = |worker: &mut W| {
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
                scope.spawn(|_| work(worker));
            }
            work(first);
        });
        let failure = lock().failure.take();
        failure.map_or(Ok(()), |(_, error)| Err(error))
    }
}

#[cfg(not(feature = "rayon"))]
mod parallel {
    use crate::Result;

    pub(super) fn for_each<W, T>(
        workers: &mut [W],
        mut items: impl Iterator<Item = T>,
        f: impl Fn(&mut W, T) -> Result<()>,
    ) -> Result<()> {
        items.try_for_each(|item| f(&mut workers[0], item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Param};

    #[test]
    fn the_first_failure_counts_whatever_the_number_of_jobs() {
        let fail_from_7 = |_: &mut (), item: usize| {
            if item < 7 { Ok(()) } else { Err(Error::Param(Param::EmptyBlock { nblock: item })) }
        };
        for jobs in 1..5 {
            let error = for_each(jobs, &mut Vec::new(), 0..100, fail_from_7).unwrap_err();
            assert_eq!(error, Error::Param(Param::EmptyBlock { nblock: 7 }));
        }
    }

    #[test]
    fn who_waits_for_what_cannot_be_made_goes_on() {
        let (made, failed) = (Later::default(), Later::<usize>::default());
        let error = || Error::Param(Param::EmptyBlock { nblock: 1 });
        assert_eq!(made.set(|| Ok(1)), Ok(()));
        assert_eq!(failed.set(|| Err(error())), Err(error()));
        assert_eq!((made.wait(), failed.wait()), (Some(1), None));
    }
}
