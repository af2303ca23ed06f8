//! Targets of C's pointers: a place with the fields that C sees, and our private part beside them.
//!
//! A place stays when its content is freed, and is reused late. So a pointer to recently freed
//! content finds an empty place, and a second `free` does nothing.
#![allow(unsafe_code, reason = "C has pointers to these, and hands them back")]

use core::alloc::Layout;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::alloc::{alloc_zeroed, handle_alloc_error};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::epoch::PerProcess;

/// Fields that C sees, at its start, and a pointer to our private part.
#[repr(C)]
#[derive(Debug)]
pub struct Place<S, T> {
    shared: S,
    private: AtomicPtr<T>,
}

/// The freed places of one kind.
#[derive(Debug)]
pub(crate) struct Freed<S: 'static, T: 'static> {
    places: PerProcess<Mutex<VecDeque<Empty<S, T>>>>,
    /// Most places that are kept.
    max: usize,
}

#[derive(Debug)]
struct Empty<S, T>(*mut Place<S, T>);

// SAFETY: an empty place belongs to nobody but the list that it is in.
unsafe impl<S, T> Send for Empty<S, T> {}

impl<S: 'static, T: 'static> Freed<S, T> {
    /// An empty list, which keeps `max` places.
    pub(crate) const fn new(max: usize) -> Self {
        Self { places: PerProcess::new(), max }
    }

    /// A place for `private`; the fields that C sees are zeros.
    ///
    /// # Safety
    ///
    /// All zeros are a value of `S`.
    pub(crate) unsafe fn place(&'static self, private: T) -> *mut Place<S, T> {
        let layout = Layout::new::<Place<S, T>>();
        let old = {
            let mut places = self.places.get().lock().unwrap_or_else(PoisonError::into_inner);
            if places.len() < self.max { None } else { places.pop_front() }
        };
        let place: *mut Place<S, T> = match old {
            Some(Empty(place)) => {
                // SAFETY: the place is ours alone and begins with the fields that C sees, of which
                // the caller promises that zeros are a value.
                unsafe { place.cast::<S>().write_bytes(0, 1) };
                place
            }
            // SAFETY: a place has the pointer, so it is not empty.
            None => unsafe { alloc_zeroed(layout) }.cast(),
        };
        if place.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: memory of this layout, all zeros, which is a value of the atomic as well.
        let atomic = unsafe { &(*place).private };
        atomic.store(Box::into_raw(Box::new(private)), Ordering::Release);
        place
    }

    /// Takes our private part out of a place; `None` for NULL and for an empty place. C may not use
    /// the place any more.
    ///
    /// # Safety
    ///
    /// As [`find`]; nobody uses the thing at the same time.
    pub(crate) unsafe fn take(&'static self, place: *mut Place<S, T>) -> Option<Box<T>> {
        // SAFETY: the caller promises it.
        let atomic = unsafe { private(place) }?;
        let found = atomic.swap(ptr::null_mut(), Ordering::AcqRel);
        if found.is_null() {
            return None;
        }
        let mut places = self.places.get().lock().unwrap_or_else(PoisonError::into_inner);
        places.push_back(Empty(place));
        drop(places);
        // SAFETY: `place` made it of a box, and nobody else can have taken it out.
        Some(unsafe { Box::from_raw(found) })
    }
}

/// Our private part of a place; `None` for NULL and for a recently freed place.
///
/// # Safety
///
/// The pointer is NULL, or comes from [`Freed::place`]; nobody frees the thing during `'a`.
pub(crate) unsafe fn find<'a, S: 'a, T>(place: *const Place<S, T>) -> Option<&'a T> {
    // SAFETY: the caller promises it.
    let atomic = unsafe { private(place) }?;
    // SAFETY: a place is empty or has a thing that `take` alone takes out.
    unsafe { atomic.load(Ordering::Acquire).as_ref() }
}

/// # Safety
///
/// As [`find`].
unsafe fn private<'a, S: 'a, T>(place: *const Place<S, T>) -> Option<&'a AtomicPtr<T>> {
    if place.is_null() {
        return None;
    }
    // SAFETY: places are never given back to the allocator. C may write to its fields, so that
    // there is no reference to the whole.
    Some(unsafe { &(*place).private })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_place_is_empty_until_it_is_used_again() {
        static FREED: Freed<u64, String> = Freed::new(2);
        // SAFETY: zeros are a number.
        let make = |text: &str| unsafe { FREED.place(text.to_owned()) };
        // SAFETY: the place is one of these.
        let look = |place| unsafe { find(place) }.cloned();
        // SAFETY: the place is one of these, and used by nobody else.
        let take = |place| unsafe { FREED.take(place) }.map(|text| *text);
        let first = make("first");
        assert_eq!(look(first).as_deref(), Some("first"));
        assert_eq!(take(first).as_deref(), Some("first"));
        assert_eq!((look(first), take(first), take(ptr::null_mut())), (None, None, None));
        let others = [make("second"), make("third")];
        assert!(!others.contains(&first));
        assert!(others.map(take).iter().all(Option::is_some));
        assert_eq!(make("fourth"), first);
        assert_eq!(take(first).as_deref(), Some("fourth"));
    }
}
