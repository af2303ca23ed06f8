//! Chunks that go through several hands at once: whoever takes one also works on it and hands it
//! on.
//!
//! ```text
//!   take      0     1     2     3          in order, one worker at a time
//!   work       [ 0 ]  [ 2 ]                all at once, on data that are in the worker's own cache
//!                 [ 1 ]  [ 3 ]
//!   hand on        0     1     2     3     in order, one worker at a time
//! ```
//!
//! No data go from thread to thread, and nobody only reads or only writes while others wait for it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Lets each worker, of which there is one for each state, take chunk after chunk until `take` says
/// that there are no more. The first of them is the caller's thread.
///
/// The error is the first in the order of the chunks. What comes before it was handed on, what
/// comes after it was not.
pub(crate) fn relay<S: Send, E: Send>(
    states: Vec<S>,
    take: impl FnMut(&mut S) -> Result<bool, E> + Send,
    work: impl Fn(&mut S) -> Result<(), E> + Sync,
    hand_on: impl FnMut(&mut S) -> Result<(), E> + Send,
) -> Result<(), E> {
    let source = Mutex::new(Source { taken: 0, is_over: false, take });
    let turns =
        Turns { turn: Mutex::new(Turn { next: 0, end: None, hand_on }), changed: Condvar::new() };
    let run = |mut state: S| {
        let _guard = EndOnPanic(&turns);
        // By a call of its own: in `while let` the source would stay locked until the end of the
        // loop's body.
        let take = |state: &mut S| lock(&source).next(state);
        while let Some((number, taken)) = take(&mut state) {
            let done = taken.and_then(|()| work(&mut state));
            if !turns.hand_on(number, done, &mut state) {
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

/// Where chunks come from.
struct Source<T> {
    taken: u64,
    is_over: bool,
    take: T,
}

impl<T> Source<T> {
    /// The number of the chunk that is in `state` now, or of the error that comes instead of it.
    fn next<S, E>(&mut self, state: &mut S) -> Option<(u64, Result<(), E>)>
    where
        T: FnMut(&mut S) -> Result<bool, E>,
    {
        // It stays so after an error, and if this panics.
        if core::mem::replace(&mut self.is_over, true) {
            return None;
        }
        let taken = (self.take)(state);
        if matches!(taken, Ok(false)) {
            return None;
        }
        self.is_over = taken.is_err();
        self.taken += 1;
        Some((self.taken - 1, taken.map(drop)))
    }
}

/// Whose turn it is to hand on.
struct Turns<H, E> {
    turn: Mutex<Turn<H, E>>,
    changed: Condvar,
}

struct Turn<H, E> {
    next: u64,
    /// Whether nothing more is handed on, and why.
    end: Option<Option<E>>,
    hand_on: H,
}

impl<H, E> Turns<H, E> {
    /// Waits for the turn of a chunk, and hands it on. False if there is nothing more to do.
    fn hand_on<S>(&self, number: u64, done: Result<(), E>, state: &mut S) -> bool
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
        match done.and_then(|()| (turn.hand_on)(state)) {
            Ok(()) => turn.next += 1,
            Err(error) => turn.end = Some(Some(error)),
        }
        self.changed.notify_all();
        turn.end.is_none()
    }
}

/// A worker that panics never hands on its chunk: the others must not wait for it.
struct EndOnPanic<'a, H, E>(&'a Turns<H, E>);

impl<H, E> Drop for EndOnPanic<'_, H, E> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(&self.0.turn).end.get_or_insert(None);
            self.0.changed.notify_all();
        }
    }
}

/// What is behind these locks is never half changed by a panic that would matter afterwards.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::panic::AssertUnwindSafe;
    use core::time::Duration;
    use std::panic::catch_unwind;

    /// What is handed on of the numbers below `count`, if working on `bad` fails.
    fn squares(workers: usize, count: u64, bad: u64) -> (Vec<u64>, Result<(), u64>) {
        let (mut next, mut found) = (0, vec![]);
        let result = relay(
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
    fn chunks_come_out_in_order_whoever_works_on_them() {
        for workers in [1, 2, 3, 8] {
            assert_eq!(squares(workers, 200, 1000), ((0..200).map(|n| n * n).collect(), Ok(())));
            assert_eq!(squares(workers, 0, 1000), (vec![], Ok(())));
        }
    }

    /// None of the first two is done before the other one has begun.
    #[test]
    fn workers_work_at_the_same_time() {
        let (begun, changed) = (Mutex::new(0), Condvar::new());
        let mut left = 10;
        let result = relay(
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
                if waited.1.timed_out() { Err("nobody else works") } else { Ok(()) }
            },
            |()| Ok(()),
        );
        assert_eq!(result, Ok(()));
    }

    #[test]
    fn the_first_error_counts_and_nothing_comes_after_it() {
        for workers in [1, 2, 8] {
            assert_eq!(squares(workers, 200, 7), ((0..7).map(|n| n * n).collect(), Err(7)));
            let mut left = 5_u32;
            let take = |_: &mut ()| {
                left -= 1;
                if left == 0 { Err("source") } else { Ok(true) }
            };
            let mut handed = 0;
            let hand_on = |_: &mut ()| {
                handed += 1;
                if handed == 9 { Err("destination") } else { Ok(()) }
            };
            assert_eq!(relay(vec![(); workers], take, |_| Ok(()), hand_on), Err("source"));
            assert_eq!(handed, 4);
            let full = relay(vec![(); workers], |_| Ok(true), |_| Ok(()), |_| Err("destination"));
            assert_eq!(full, Err("destination"));
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_wherever_it_is() {
        for place in 0..3 {
            for workers in [1, 4] {
                let mut taken = 0;
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    relay(
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
                            assert!(place != 2 || *state < 9, "hand on");
                            Ok(())
                        },
                    )
                }));
                assert!(caught.is_err());
            }
        }
    }
}
