//! Results in the order of the jobs; each worker also reads and writes.
//!
//! ```text
//!   take     0     1     2     3          in order, one worker at a time
//!   work      [ 0 ]  [ 2 ]                at the same time, on data in the worker's own cache
//!                [ 1 ]  [ 3 ]
//!   emit        0     1     2     3       in order, one worker at a time
//! ```
//!
//! Data stay in one thread, and no thread only reads or writes while the others wait for it. The
//! states bound the memory: each worker has one, and does one job at a time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use blosc_chunk::HAS_THREADS;

/// Runs one worker for each state until `take` returns false. A worker takes a job into its state,
/// works on it, and emits the result. The first worker is the caller's thread.
///
/// # Errors
///
/// The first error in the order of the jobs. Results before it were emitted, later ones were not.
pub fn in_order_by_workers<S: Send, E: Send>(
    states: Vec<S>,
    mut take: impl FnMut(&mut S) -> Result<bool, E> + Send,
    work: impl Fn(&mut S) -> Result<(), E> + Sync,
    mut emit: impl FnMut(&mut S) -> Result<(), E> + Send,
) -> Result<(), E> {
    if !HAS_THREADS || states.len() <= 1 {
        for mut state in states.into_iter().take(1) {
            while take(&mut state)? {
                work(&mut state)?;
                emit(&mut state)?;
            }
        }
        return Ok(());
    }
    let source = Mutex::new(Source { taken: 0, is_over: false, take });
    let turns =
        Turns { turn: Mutex::new(Turn { next: 0, end: None, emit }), changed: Condvar::new() };
    let run = |mut state: S| {
        let _guard = EndOnPanic(&turns);
        // A separate closure: in `while let`, the source would stay locked until the end of the
        // loop's body.
        let take = |state: &mut S| lock(&source).next(state);
        while let Some((number, taken)) = take(&mut state) {
            let done = taken.and_then(|()| work(&mut state));
            if !turns.emit(number, done, &mut state) {
                return;
            }
        }
    };
    thread::scope(|scope| {
        let mut states = states.into_iter();
        let first = states.next();
        for state in states {
            scope.spawn(|| run(state));
        }
        first.into_iter().for_each(run);
    });
    let turn = turns.turn.into_inner().unwrap_or_else(PoisonError::into_inner);
    turn.end.flatten().map_or(Ok(()), Err)
}

/// The source of jobs.
struct Source<T> {
    taken: u64,
    is_over: bool,
    take: T,
}

impl<T> Source<T> {
    /// Takes the next job into `state`; returns its number, and the error if taking failed.
    fn next<S, E>(&mut self, state: &mut S) -> Option<(u64, Result<(), E>)>
    where
        T: FnMut(&mut S) -> Result<bool, E>,
    {
        // The flag stays true after an error, and if `take` panics.
        if core::mem::replace(&mut self.is_over, true) {
            return None;
        }
        let taken = (self.take)(state);
        if matches!(taken, Ok(false)) {
            return None;
        }
        self.is_over = taken.is_err();
        let number = self.taken;
        self.taken = number.saturating_add(1);
        Some((number, taken.map(drop)))
    }
}

/// The turns of the workers to emit.
struct Turns<H, E> {
    turn: Mutex<Turn<H, E>>,
    changed: Condvar,
}

struct Turn<H, E> {
    next: u64,
    /// Set once emitting has ended, with the error that ended it; a panic has none.
    end: Option<Option<E>>,
    emit: H,
}

impl<H, E> Turns<H, E> {
    /// Waits for the turn of a job, and emits its result. False if the worker must end.
    fn emit<S>(&self, number: u64, done: Result<(), E>, state: &mut S) -> bool
    where
        H: FnMut(&mut S) -> Result<(), E>,
    {
        let mut turn = lock(&self.turn);
        while turn.next != number && turn.end.is_none() {
            turn = self.changed.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
        if turn.end.is_some() {
            return false;
        }
        match done.and_then(|()| (turn.emit)(state)) {
            Ok(()) => turn.next = turn.next.saturating_add(1),
            Err(error) => turn.end = Some(Some(error)),
        }
        self.changed.notify_all();
        turn.end.is_none()
    }
}

/// Ends the run if a worker panics: its job is never emitted, and the others must not wait for it.
struct EndOnPanic<'a, H, E>(&'a Turns<H, E>);

impl<H, E> Drop for EndOnPanic<'_, H, E> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(&self.0.turn).end.get_or_insert(None);
            self.0.changed.notify_all();
        }
    }
}

/// A panic while one of these locks is held leaves no state that a later step relies on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::panic::AssertUnwindSafe;
    use core::time::Duration;
    use std::panic::catch_unwind;

    /// The results emitted for the numbers below `count`, if work on `bad` and later ones fails.
    fn squares(workers: usize, count: u64, bad: u64) -> (Vec<u64>, Result<(), u64>) {
        let (mut next, mut found) = (0, vec![]);
        let result = in_order_by_workers(
            vec![0; workers],
            |state| {
                *state = next;
                next += 1;
                Ok(*state < count)
            },
            |state| {
                if state.is_multiple_of(3) {
                    thread::yield_now();
                }
                let number = *state;
                *state *= number;
                if number >= bad { Err(number) } else { Ok(()) }
            },
            |state| {
                found.push(*state);
                Ok(())
            },
        );
        (found, result)
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        for workers in [1, 2, 3, 8] {
            assert_eq!(squares(workers, 200, 1000), ((0..200).map(|n| n * n).collect(), Ok(())));
            assert_eq!(squares(workers, 0, 1000), (vec![], Ok(())));
        }
    }

    /// Neither of the first two jobs ends before the other one has begun.
    #[test]
    fn workers_work_at_the_same_time() {
        let (begun, changed) = (Mutex::new(0), Condvar::new());
        let mut left = 10;
        let result = in_order_by_workers(
            vec![(); 2],
            |()| {
                left -= 1;
                Ok(left >= 0)
            },
            |()| {
                let mut number = lock(&begun);
                *number += 1;
                changed.notify_all();
                let both = |number: &mut i32| *number < 2;
                let waited =
                    changed.wait_timeout_while(number, Duration::from_secs(60), both).unwrap();
                if waited.1.timed_out() { Err("no other worker") } else { Ok(()) }
            },
            |()| Ok(()),
        );
        assert_eq!(result, Ok(()));
    }

    #[test]
    fn nothing_is_emitted_after_the_first_error() {
        for workers in [1, 2, 8] {
            assert_eq!(squares(workers, 200, 7), ((0..7).map(|n| n * n).collect(), Err(7)));
            let mut left = 5_u32;
            let take = |_: &mut ()| {
                left -= 1;
                if left == 0 { Err("source") } else { Ok(true) }
            };
            let mut emitted = 0;
            let emit = |_: &mut ()| {
                emitted += 1;
                if emitted == 9 { Err("destination") } else { Ok(()) }
            };
            assert_eq!(
                in_order_by_workers(vec![(); workers], take, |_| Ok(()), emit),
                Err("source")
            );
            assert_eq!(emitted, 4);
            let full = in_order_by_workers(
                vec![(); workers],
                |_| Ok(true),
                |_| Ok(()),
                |_| Err("destination"),
            );
            assert_eq!(full, Err("destination"));
        }
    }

    #[test]
    fn a_panic_of_any_step_reaches_the_caller() {
        for place in 0..3 {
            for workers in [1, 4] {
                let mut taken = 0;
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    in_order_by_workers(
                        vec![0; workers],
                        |state| {
                            taken += 1;
                            *state = taken;
                            assert!(place != 0 || taken < 9, "take");
                            Ok::<_, ()>(taken < 100)
                        },
                        |state| {
                            assert!(place != 1 || *state < 9, "work");
                            Ok(())
                        },
                        |state| {
                            assert!(place != 2 || *state < 9, "emit");
                            Ok(())
                        },
                    )
                }));
                assert!(caught.is_err());
            }
        }
    }
}
