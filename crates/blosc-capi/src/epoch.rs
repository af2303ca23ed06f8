//! State of the process that a child of `fork` does not share.
//!
//! A child has the memory of its parent, but not its threads: a lock that one of them held is never
//! released. So a handler raises the epoch in the child. The child neither unlocks nor drops state
//! of an older epoch.
#![allow(unsafe_code, reason = "state is reached from all threads without a lock; `fork` is C's")]

use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

/// Number of forks between this process and the one that loaded the library.
static EPOCH: AtomicU64 = AtomicU64::new(0);
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// The epoch, which a child of `fork` raises.
#[must_use]
pub fn current() -> u64 {
    watch();
    EPOCH.load(Ordering::Relaxed)
}

/// Registers the handler that raises the epoch in children from now on. If two threads call this at
/// the same time, children raise it by two.
fn watch() {
    if IS_WATCHED.load(Ordering::Acquire) {
        return;
    }
    // SAFETY: the handler only adds to an atomic, which is allowed after `fork`.
    let code = unsafe { libc::pthread_atfork(None, None, Some(raise)) };
    if code == 0 {
        IS_WATCHED.store(true, Ordering::Release);
    }
}

extern "C" fn raise() {
    EPOCH.fetch_add(1, Ordering::Relaxed);
}

/// A value of each process: a child of `fork` starts with a new one.
#[derive(Debug)]
pub struct PerProcess<T> {
    place: AtomicPtr<Dated<T>>,
    owns: PhantomData<Box<Dated<T>>>,
}

#[derive(Debug)]
struct Dated<T> {
    epoch: u64,
    value: T,
}

impl<T> PerProcess<T> {
    /// An empty value.
    #[must_use]
    pub const fn new() -> Self {
        Self { place: AtomicPtr::new(ptr::null_mut()), owns: PhantomData }
    }
}

impl<T: Default + Send + Sync> PerProcess<T> {
    /// The value of this process, which stays at its address until the process ends.
    pub fn get(&'static self) -> &'static T {
        let place = NonNull::new(self.place.load(Ordering::Acquire));
        // SAFETY: a value that was placed is never freed or changed but through its own locks.
        let found = place.map(|place| unsafe { place.as_ref() });
        match found {
            Some(dated) if dated.epoch == EPOCH.load(Ordering::Relaxed) => &dated.value,
            _ => self.renew(),
        }
    }

    #[cold]
    fn renew(&'static self) -> &'static T {
        let epoch = current();
        let new = Box::into_raw(Box::new(Dated { epoch, value: T::default() }));
        let mut old = self.place.load(Ordering::Acquire);
        loop {
            // SAFETY: a value that was placed is never freed.
            let found = NonNull::new(old).map(|old| unsafe { old.as_ref() });
            if let Some(found) = found.filter(|found| found.epoch >= epoch) {
                // Another thread was faster.
                // SAFETY: `new` comes from a box and was shown to nobody.
                drop(unsafe { Box::from_raw(new) });
                return &found.value;
            }
            let swapped =
                self.place.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire);
            match swapped {
                Ok(_) => {
                    // SAFETY: `new` comes from a box and is placed for good.
                    let new = unsafe { &*new };
                    return &new.value;
                }
                Err(other) => old = other,
            }
        }
    }
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, PoisonError};
    use std::thread;

    static NUMBERS: PerProcess<Mutex<Vec<u32>>> = PerProcess::new();

    fn lock() -> std::sync::MutexGuard<'static, Vec<u32>> {
        NUMBERS.get().lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[test]
    fn all_threads_share_one_value_and_a_child_has_another() {
        thread::scope(|scope| {
            for n in 0..8 {
                scope.spawn(move || lock().push(n));
            }
        });
        assert_eq!(lock().len(), 8);
        let held = lock();
        blosc_testdata::in_child(|| {
            // The parent holds the lock; for the child it is never released.
            let mut own = lock();
            assert!(own.is_empty());
            own.push(1);
        });
        assert_eq!(held.len(), 8);
    }
}
