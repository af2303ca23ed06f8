//! Independent items: each is processed once, in any order.

use blosc_chunk::internal::Jobs;

/// Calls `work` for each item, in up to the given number of threads of the executor, each with its
/// own state. An idle worker takes the next item.
///
/// # Errors
///
/// The error of the first item that failed, in the order of the items, as with one thread. Once the
/// failure is known, no item after it is begun.
///
/// ```
/// use blosc_chunk::Executor;
/// use blosc_container::parallel::for_each;
///
/// let mut squares = vec![0_u64; 100];
/// let slots = squares.iter_mut().zip(0_u64..);
/// let executor = Executor::threads(4);
/// for_each((&executor, 4), slots, || (), |(), (slot, n)| {
///     *slot = n * n;
///     Ok::<(), String>(())
/// })?;
/// assert_eq!(squares[9], 81);
/// # Ok::<(), String>(())
/// ```
pub fn for_each<S: Send, T: Send, E: Send>(
    jobs: Jobs<'_>,
    items: impl Iterator<Item = T> + Send,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    // Each thread makes its own state.
    blosc_chunk::internal::for_each(jobs, &mut Vec::new(), items, |own: &mut Option<S>, item| {
        work(own.get_or_insert_with(&state), item)
    })
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    use blosc_chunk::Executor;

    use super::*;

    #[test]
    fn each_item_is_done_once_and_the_first_failure_counts() {
        let executor = Executor::threads(5);
        for jobs in [0, 1, 2, 5].map(|nworkers| (&executor, nworkers)) {
            let sum = AtomicU64::new(0);
            let add = |(): &mut (), n| {
                sum.fetch_add(n, Ordering::SeqCst);
                Ok::<(), String>(())
            };
            for_each(jobs, 0..1000, || (), add).unwrap();
            assert_eq!(sum.into_inner(), 499_500);
            let work = |(): &mut (), n: u64| if n < 7 { Ok(()) } else { Err(n) };
            assert_eq!(for_each(jobs, 0..1000, || (), work), Err(7));
        }
    }

    #[test]
    fn each_worker_makes_its_state_once() {
        let nstates = AtomicUsize::new(0);
        let state = || nstates.fetch_add(1, Ordering::SeqCst);
        let executor = Executor::threads(3);
        for_each((&executor, 3), 0..100, state, |_, _| Ok::<(), ()>(())).unwrap();
        assert!((1..=3).contains(&nstates.into_inner()));
    }
}
