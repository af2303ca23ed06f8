//! Executors of all kinds, and work for them.

use core::sync::atomic::{AtomicUsize, Ordering};

use blosc_threads::{Executor, ThreadPool};

pub(crate) struct Rayon(pub(crate) rayon::ThreadPool);

impl Rayon {
    pub(crate) fn new(nthreads: usize) -> Self {
        Self(rayon::ThreadPoolBuilder::new().num_threads(nthreads).build().unwrap())
    }
}

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

/// As with `blosc2_set_threads_callback`: the caller's thread only waits.
pub(crate) struct Callback;

impl ThreadPool for Callback {
    fn nthreads(&self) -> usize {
        3
    }

    fn run(&self, ncalls: usize, f: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| (0..ncalls).for_each(|n| drop(scope.spawn(move || f(n)))));
    }
}

/// Makes no call.
pub(crate) struct Idle;

impl ThreadPool for Idle {
    fn nthreads(&self) -> usize {
        0
    }

    fn run(&self, _: usize, _: &(dyn Fn(usize) + Sync)) {}
}

pub(crate) fn all() -> Vec<Executor> {
    let mut all: Vec<Executor> = [0, 1, 2, 5].map(Executor::threads).into();
    all.extend([Executor::default(), Executor::auto(), Executor::from_pool(Rayon::new(2))]);
    all.extend([Executor::from_pool(Callback), Executor::from_pool(Idle)]);
    all
}

/// The sum of the numbers below 1000, which the calls take one by one.
pub(crate) fn sum(executor: &Executor, ncalls: usize) -> usize {
    let (next, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
    executor.share(ncalls, &|_| {
        loop {
            let n = next.fetch_add(1, Ordering::SeqCst);
            if n >= 1000 {
                return;
            }
            sum.fetch_add(n, Ordering::SeqCst);
        }
    });
    sum.into_inner()
}

pub(crate) const SUM: usize = 499_500;
