//! Independent items: each is worked on once, in any order.

/// Calls `work` for each item, with up to `nworkers` threads of which each has a state of its own.
/// An idle worker takes the next item. Without the feature `rayon` all is done in the caller's
/// thread.
///
/// # Errors
///
/// That of the first item that failed, in the order of the items, as if there were one thread. No
/// item after it is begun once the failure is known.
///
/// ```
/// use blosc_container::parallel::for_each;
///
/// let mut squares = vec![0_u64; 100];
/// let slots = squares.iter_mut().zip(0_u64..);
/// for_each(4, slots, || (), |(), (slot, n)| {
///     *slot = n * n;
///     Ok::<(), String>(())
/// })?;
/// assert_eq!(squares[9], 81);
/// # Ok::<(), String>(())
/// ```
pub fn for_each<S, T: Send, E: Send>(
    nworkers: usize,
    mut items: impl Iterator<Item = T> + Send,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    #[cfg(feature = "rayon")]
    if nworkers > 1 {
        return pooled::for_each(nworkers, items, state, work);
    }
    let _ = nworkers;
    let mut state = state();
    items.try_for_each(|item| work(&mut state, item))
}

#[cfg(feature = "rayon")]
mod pooled {
    use core::iter::Enumerate;
    use std::sync::{Mutex, PoisonError};

    pub(super) fn for_each<S, T: Send, E: Send>(
        nworkers: usize,
        items: impl Iterator<Item = T> + Send,
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, T) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let queue = Mutex::new(Queue { items: items.enumerate(), failure: None });
        let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
        // Items are taken in order: all before a failed one have been taken by some worker.
        let run = || {
            let mut own = None;
            loop {
                let Some((number, item)) = lock().take() else { return };
                if let Err(error) = work(own.get_or_insert_with(&state), item) {
                    lock().fail(number, error);
                }
            }
        };
        rayon::in_place_scope(|scope| {
            (1..nworkers).for_each(|_| scope.spawn(|_| run()));
            run();
        });
        let failure = lock().failure.take();
        failure.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// The items that are left, and the first failure.
    struct Queue<I, E> {
        items: Enumerate<I>,
        failure: Option<(usize, E)>,
    }

    impl<I: Iterator, E> Queue<I, E> {
        fn take(&mut self) -> Option<(usize, I::Item)> {
            if self.failure.is_some() { None } else { self.items.next() }
        }

        fn fail(&mut self, number: usize, error: E) {
            if self.failure.as_ref().is_none_or(|(first, _)| number < *first) {
                self.failure = Some((number, error));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn each_item_is_done_once_and_the_first_failure_counts() {
        for nworkers in [0, 1, 2, 5] {
            let sum = AtomicU64::new(0);
            let add = |(): &mut (), n| {
                sum.fetch_add(n, Ordering::SeqCst);
                Ok::<(), String>(())
            };
            for_each(nworkers, 0..1000, || (), add).unwrap();
            assert_eq!(sum.into_inner(), 499_500);
            let work = |(): &mut (), n: u64| if n < 7 { Ok(()) } else { Err(n) };
            assert_eq!(for_each(nworkers, 0..1000, || (), work), Err(7));
        }
    }

    #[test]
    fn each_worker_makes_its_state_once() {
        let nstates = AtomicUsize::new(0);
        let state = || nstates.fetch_add(1, Ordering::SeqCst);
        for_each(3, 0..100, state, |_, _| Ok::<(), ()>(())).unwrap();
        assert!((1..=3).contains(&nstates.into_inner()));
    }
}
