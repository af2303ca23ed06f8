//! A value that one item of [`for_each`](crate::jobs::for_each) makes and later items need.

use std::sync::OnceLock;

use crate::error::Result;

/// A value that one item makes and others wait for, in any threads.
///
/// The item that makes it must precede the waiting ones in the same call of
/// [`for_each`](crate::jobs::for_each) or [`for_each_after`](crate::jobs::for_each_after), and must
/// not wait for them. Then a wait ends: items are taken in order, so the maker is running when
/// another item waits. A codec of the caller may wait for tasks of another pool, or of the caller's
/// pool, or fail.
#[derive(Debug)]
pub(crate) struct Promise<T>(OnceLock<Option<T>>);

impl<T> Default for Promise<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T: Copy> Promise<T> {
    /// Makes the value. If making it fails or panics, the waiting items get `None`.
    pub(crate) fn fulfil(&self, make: impl FnOnce() -> Result<T>) -> Result<()> {
        struct BreakOnDrop<'p, T>(&'p Promise<T>);
        impl<T> Drop for BreakOnDrop<'_, T> {
            fn drop(&mut self) {
                self.0.0.get_or_init(|| None);
            }
        }
        let broken = BreakOnDrop(self);
        let made = make()?;
        broken.0.0.get_or_init(|| Some(made));
        Ok(())
    }

    /// Waits for the value; `None` if it could not be made.
    pub(crate) fn wait(&self) -> Option<T> {
        loop {
            match self.0.get() {
                Some(made) => return *made,
                // Sleeping and waking up take longer than the rest of one item.
                None => std::thread::yield_now(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use blosc_threads::{Executor, ThreadPool};

    use super::*;
    use crate::error::{Error, Param};
    use crate::jobs::for_each_after;

    #[test]
    fn a_failed_maker_ends_the_wait_with_none() {
        let (made, failed) = (Promise::default(), Promise::<usize>::default());
        let error = || Error::Param(Param::EmptyBlock { nblock: 1 });
        assert_eq!(made.fulfil(|| Ok(1)), Ok(()));
        assert_eq!(failed.fulfil(|| Err(error())), Err(error()));
        assert_eq!((made.wait(), failed.wait()), (Some(1), None));
    }

    /// The maker of each value waits for tasks of the pool, whose threads then run other tasks.
    /// These may be jobs that wait for a value: one that the same thread makes further down its
    /// stack, or one whose maker waits for that thread.
    #[test]
    fn a_maker_that_waits_for_tasks_of_the_pool_does_not_deadlock() {
        for nthreads in 1..4 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(nthreads).build().unwrap();
            let pool = Arc::new(pool);
            let executor = Executor::from_pool(Rayon(Arc::clone(&pool)));
            let ours = Executor::threads(4);
            // Within the pool, and from outside.
            pool.install(|| (0..1000).for_each(|_| wait_for_makers(&executor)));
            (0..100).for_each(|_| wait_for_makers(&executor));
            (0..100).for_each(|_| wait_for_makers(&ours));
        }
    }

    fn wait_for_makers(executor: &Executor) {
        let promises: Vec<Promise<u64>> = (0..8).map(|_| Promise::default()).collect();
        let wait = |(): &mut (), item: usize| {
            let Some(promise) = promises.get(item) else {
                let sum: Option<u64> = promises.iter().map(Promise::wait).sum();
                assert_eq!(sum, Some(8 * 89));
                return Ok(());
            };
            promise.fulfil(|| Ok(fibonacci(11)))
        };
        let done: Result<()> = for_each_after((executor, 4), &mut Vec::new(), 0..8, 8..16, wait);
        assert_eq!(done, Ok(()));
    }

    struct Rayon(Arc<rayon::ThreadPool>);

    impl ThreadPool for Rayon {
        fn nthreads(&self) -> usize {
            self.0.current_num_threads()
        }

        fn run(&self, ncalls: usize, f: &(dyn Fn(usize) + Sync)) {
            self.0.in_place_scope(|scope| {
                (1..ncalls).for_each(|n| scope.spawn(move |_| f(n)));
                f(0);
            });
        }
    }

    fn fibonacci(n: u64) -> u64 {
        if n < 2 {
            return n;
        }
        let (a, b) = rayon::join(|| fibonacci(n - 1), || fibonacci(n - 2));
        a + b
    }
}
