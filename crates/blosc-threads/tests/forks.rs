//! A child of a process with threads.

use core::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use blosc_testdata::in_child;
use blosc_threads::Executor;

use crate::support::{SUM, sum};

#[test]
fn a_child_goes_on_with_the_executors_of_its_parent() {
    for executor in [Executor::default(), Executor::threads(4), Executor::auto()] {
        for nbefore in [0, 1, 20] {
            (0..nbefore).for_each(|_| assert_eq!(sum(&executor, 4), SUM));
            in_child(|| {
                (0..20).for_each(|_| assert_eq!(sum(&executor, 4), SUM));
                thread::scope(|scope| {
                    let other = || (0..20).for_each(|_| assert_eq!(sum(&executor, 4), SUM));
                    (0..3).for_each(|_| drop(scope.spawn(other)));
                });
                let child = executor.clone();
                in_child(|| assert_eq!(sum(&child, 4), SUM));
                drop((child, executor.clone()));
            });
            assert_eq!(sum(&executor, 4), SUM);
        }
    }
}

/// A fork at some of these moments happens while a lock of the pool is held.
#[test]
fn a_fork_may_come_at_any_moment() {
    let executor = Executor::threads(3);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    assert_eq!(sum(&executor, 3), SUM);
                }
            });
        }
        for n in 0..40 {
            (0..n).for_each(|_| thread::yield_now());
            let executor = executor.clone();
            in_child(move || {
                assert_eq!(sum(&executor, 3), SUM);
                drop(executor);
            });
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

/// The child has its own threads: two calls wait for each other.
#[test]
fn a_child_has_several_threads() {
    let executor = Executor::threads(2);
    assert_eq!(sum(&executor, 2), SUM);
    in_child(|| {
        let barrier = std::sync::Barrier::new(2);
        executor.share(2, &|_| {
            barrier.wait();
        });
    });
}
