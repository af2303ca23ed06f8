//! All kinds of executors share calls among threads.

use core::num::NonZeroUsize;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::HashSet;
use std::panic::catch_unwind;
use std::sync::{Barrier, Mutex};
use std::thread;

use blosc_threads::{Executor, ThreadPool, Threads};

use crate::support::{Callback, Idle, Rayon, SUM, all, sum};

#[test]
fn the_number_of_threads_is_known_without_starting_one() {
    let count = |executor: Executor| executor.count();
    assert_eq!([0, 1, 2, 9].map(|n| count(Executor::threads(n))), [1, 1, 2, 9]);
    let processors = thread::available_parallelism().unwrap().get();
    assert_eq!(count(Executor::auto()), processors);
    assert_eq!(count(Executor::from_pool(Rayon::new(3))), 3);
    assert_eq!(count(Executor::from_pool(Idle)), 1);
    let n = NonZeroUsize::new(7).unwrap();
    let from = [Threads::One, Threads::Auto, Threads::N(n)].map(Executor::from);
    assert_eq!(from.each_ref().map(Executor::count), [1, processors, 7]);
    assert_eq!(from.each_ref().map(Executor::is_alone), [true, false, false]);
    let five = Executor::threads(5);
    assert_eq!([0, 1, 3, 9].map(|n| five.at_most(n).count()), [1, 1, 3, 5]);
    assert_eq!(five.at_most(2).at_most(4).count(), 2);
    assert_eq!([0, 1, 3, 9].map(|n| five.count_for(n)), [1, 1, 3, 5]);
    assert!(five.at_most(1).is_alone() && Executor::default().at_most(4).is_alone());
    assert_eq!(
        (five.at_most(2), format!("{five:?}")),
        (Executor::threads(2), "Executor { threads: 5 }".into())
    );
}

#[test]
fn all_work_is_done_by_any_number_of_calls() {
    for executor in all() {
        for ncalls in [0, 1, 2, 3, 40] {
            (0..20).for_each(|_| assert_eq!(sum(&executor, ncalls), SUM, "{executor:?} {ncalls}"));
        }
    }
}

#[test]
fn at_a_time_there_is_one_call_with_a_number() {
    for executor in all() {
        let within: Vec<Mutex<()>> = (0..4).map(|_| Mutex::default()).collect();
        let zero = AtomicUsize::new(0);
        executor.share(4, &|n| {
            let _guard = within[n].try_lock().unwrap();
            zero.fetch_add(usize::from(n == 0), Ordering::SeqCst);
            thread::yield_now();
        });
        assert!(zero.into_inner() > 0);
    }
}

#[test]
fn threads_work_at_the_same_time_and_are_kept() {
    let ours = (Executor::threads(3), 3);
    let (callback, rayon) = (Executor::from_pool(Callback), Executor::from_pool(Rayon::new(2)));
    for (executor, nthreads) in [ours, (rayon, 3), (callback, 31)] {
        let threads = Mutex::new(HashSet::new());
        for _ in 0..10 {
            let (barrier, nonce) = (Barrier::new(3), [const { AtomicUsize::new(0) }; 3]);
            executor.share(3, &|n| {
                if nonce[n].fetch_add(1, Ordering::SeqCst) == 0 {
                    barrier.wait();
                    threads.lock().unwrap().insert(thread::current().id());
                }
            });
        }
        assert!((3..=nthreads).contains(&threads.into_inner().unwrap().len()));
    }
}

#[test]
fn the_first_call_of_ours_is_in_the_callers_thread() {
    let caller = thread::current().id();
    for executor in [Executor::default(), Executor::threads(3)] {
        executor.share(3, &|n| assert_eq!(n == 0, thread::current().id() == caller));
    }
}

#[test]
fn several_threads_use_one_executor_and_its_clones() {
    for executor in all() {
        thread::scope(|scope| {
            for _ in 0..4 {
                let executor = executor.clone();
                scope.spawn(move || (0..50).for_each(|_| assert_eq!(sum(&executor, 3), SUM)));
            }
        });
    }
}

#[test]
fn calls_share_their_own_work_in_the_same_threads() {
    for executor in all() {
        let (next, total) = (AtomicUsize::new(0), AtomicUsize::new(0));
        executor.share(3, &|_| {
            while next.fetch_add(1, Ordering::SeqCst) < 20 {
                total.fetch_add(sum(&executor, 3), Ordering::SeqCst);
            }
        });
        assert_eq!(total.into_inner(), 20 * SUM);
    }
}

#[test]
fn a_panic_reaches_the_caller_when_the_others_have_ended() {
    for executor in all() {
        for bad in 0..3 {
            let (running, reached) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let panics = || {
                executor.share(3, &|n| {
                    running.fetch_add(1, Ordering::SeqCst);
                    thread::yield_now();
                    running.fetch_sub(1, Ordering::SeqCst);
                    if n == bad {
                        reached.store(1, Ordering::SeqCst);
                        panic!("on purpose");
                    }
                });
            };
            let done = catch_unwind(AssertUnwindSafe(panics));
            assert_eq!(done.is_err(), reached.into_inner() == 1);
            assert_eq!(running.into_inner(), 0);
            assert_eq!(sum(&executor, 3), SUM, "afterwards");
        }
    }
}

#[test]
fn an_executor_may_be_dropped_at_any_time() {
    for (n, executor) in all().into_iter().cycle().take(100).enumerate() {
        assert_eq!(sum(&executor, n % 4), SUM);
    }
    // A thread of the pool drops the last clone.
    let last = Mutex::new(Some(Executor::threads(3)));
    let executor = last.lock().unwrap().clone().unwrap();
    let barrier = Barrier::new(2);
    executor.at_most(2).share(2, &|n| {
        barrier.wait();
        if n == 1 {
            last.lock().unwrap().take();
        }
    });
    assert_eq!(sum(&executor, 3), SUM);
}

/// A pool that gives its calls to threads within other calls, as rayon does while threads wait.
struct Nesting;

impl ThreadPool for Nesting {
    fn nthreads(&self) -> usize {
        4
    }

    fn run(&self, ncalls: usize, f: &(dyn Fn(usize) + Sync)) {
        (0..ncalls).for_each(f);
    }
}

#[test]
fn no_call_begins_within_another() {
    let executor = Executor::from_pool(Nesting);
    let numbers = Mutex::new(Vec::new());
    let outer = AtomicUsize::new(0);
    executor.share(2, &|_| {
        if outer.fetch_add(1, Ordering::SeqCst) == 0 {
            executor.share(3, &|n| numbers.lock().unwrap().push(n));
        }
    });
    // Its own call, and the one for the rest.
    assert_eq!(numbers.into_inner().unwrap(), [0, 0]);
}
