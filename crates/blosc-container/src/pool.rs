//! Scratch buffers that wait for the next caller.
//!
//! New buffers would cost more than a small read: a context of Zstandard alone takes some hundred
//! KiB. A caller checks out an item that an earlier one returned. The pool has one item for each
//! concurrent caller.

use core::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// The most items that are kept.
const MAX_IDLE_ITEMS: usize = 64;

/// A scratch item that a [`Pool`] keeps.
pub trait Reusable: Default {
    /// Items that hold more than this (bytes) are not kept.
    const MAX_KEPT_NBYTES: usize = 8 << 20;

    /// Bytes of memory that an idle item holds.
    fn held_nbytes(&self) -> usize;
}

/// Idle items, each for one thread at a time.
#[derive(Debug)]
pub struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Reusable> Pool<T> {
    /// An idle item, or a new one from `make`. It returns to the pool when it is dropped.
    pub fn check_out(&self, make: impl FnOnce() -> T) -> Pooled<'_, T> {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Pooled { pool: self, item: idle.unwrap_or_else(make) }
    }

    /// Drops idle items until the rest holds at most `nbytes` bytes in all.
    pub fn shrink(&self, nbytes: usize) {
        let mut room = nbytes;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|item| {
            let left = room.checked_sub(item.held_nbytes());
            room = left.unwrap_or(room);
            left.is_some()
        });
    }

    /// Number of idle items.
    pub fn nidle(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// An item that is checked out.
#[derive(Debug)]
pub struct Pooled<'a, T: Reusable> {
    pool: &'a Pool<T>,
    item: T,
}

impl<T: Reusable> Deref for Pooled<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.item
    }
}

impl<T: Reusable> DerefMut for Pooled<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.item
    }
}

impl<T: Reusable> Drop for Pooled<'_, T> {
    fn drop(&mut self) {
        let item = core::mem::take(&mut self.item);
        let mut idle = self.pool.0.lock().unwrap_or_else(PoisonError::into_inner);
        if item.held_nbytes() <= T::MAX_KEPT_NBYTES && idle.len() < MAX_IDLE_ITEMS {
            idle.push(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Reusable for Vec<u8> {
        fn held_nbytes(&self) -> usize {
            self.capacity()
        }
    }

    #[test]
    fn items_return_to_the_pool_and_are_used_again() {
        let pool: Pool<Vec<u8>> = Pool::default();
        let (mut first, mut second) = (pool.check_out(Vec::new), pool.check_out(Vec::new));
        first.push(1);
        second.push(2);
        assert_eq!(pool.nidle(), 0);
        drop((first, second));
        assert_eq!(pool.nidle(), 2);
        assert_eq!(*pool.check_out(Vec::new), [2]);
        assert_eq!(pool.nidle(), 2);
    }

    #[test]
    fn large_items_are_not_kept() {
        let pool: Pool<Vec<u8>> = Pool::default();
        drop(pool.check_out(|| Vec::with_capacity(Vec::<u8>::MAX_KEPT_NBYTES + 1)));
        assert_eq!(pool.nidle(), 0);
    }

    #[test]
    fn a_pool_shrinks_to_what_is_allowed() {
        let pool: Pool<Vec<u8>> = Pool::default();
        drop([3, 5, 2].map(|len| pool.check_out(|| Vec::with_capacity(len))));
        pool.shrink(5);
        assert_eq!(pool.nidle(), 2);
        pool.shrink(1);
        assert_eq!(pool.nidle(), 0);
    }

    #[test]
    fn the_number_of_idle_items_is_bounded() {
        let pool: Pool<Vec<u8>> = Pool::default();
        let all: Vec<_> = (0..=MAX_IDLE_ITEMS).map(|_| pool.check_out(Vec::new)).collect();
        drop(all);
        assert_eq!(pool.nidle(), MAX_IDLE_ITEMS);
    }
}
