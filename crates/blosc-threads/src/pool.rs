//! A pool with a number of threads, which a fork does not break.

use core::num::NonZeroUsize;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::{process, thread};

use crate::crew::Crew;

/// Threads that start when they are needed.
///
/// A child of `fork` has the memory of its parent, but not the threads: a lock that one of them
/// held is never released. So a child does not touch the crew of its parent, and has its own.
pub(crate) struct OwnPool {
    /// The number of threads; 0 until the processors are counted.
    nthreads: AtomicUsize,
    /// The process that may touch the crew.
    process: u32,
    crew: Arc<Crew>,
    /// The pool of a child. Only children lock it, and none waits for it: a thread may have held
    /// the lock when the child forked.
    heir: Mutex<Option<Arc<Self>>>,
}

impl OwnPool {
    /// A pool with this number of threads, or else with one for each processor.
    pub(crate) fn new(nthreads: Option<NonZeroUsize>) -> Self {
        Self {
            nthreads: AtomicUsize::new(nthreads.map_or(0, NonZeroUsize::get)),
            process: process::id(),
            crew: Arc::default(),
            heir: Mutex::default(),
        }
    }

    /// The number of threads, including the caller's.
    pub(crate) fn nthreads(&self) -> NonZeroUsize {
        let known = NonZeroUsize::new(self.nthreads.load(Ordering::Relaxed));
        known.unwrap_or_else(|| {
            // It reads files of the system, which takes too long for each call.
            let nthreads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
            self.nthreads.store(nthreads.get(), Ordering::Relaxed);
            nthreads
        })
    }

    /// See [`Executor::share`](crate::Executor::share).
    pub(crate) fn share(&self, ncalls: usize, f: &(dyn Fn(usize) + Sync)) {
        if self.process == process::id() {
            return self.crew.share(self.nthreads().get(), ncalls, f);
        }
        match self.heir() {
            Some(heir) => heir.share(ncalls, f),
            None => f(0),
        }
    }

    fn heir(&self) -> Option<Arc<Self>> {
        let mut heir = self.heir.try_lock().ok()?;
        let new = || Arc::new(Self::new(Some(self.nthreads())));
        Some(Arc::clone(heir.get_or_insert_with(new)))
    }
}

impl Drop for OwnPool {
    fn drop(&mut self) {
        if self.process == process::id() {
            self.crew.dismiss();
        }
    }
}
