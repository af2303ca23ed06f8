//! The shuffling filters as functions.
#![allow(unsafe_code, reason = "buffers come from C as pointers")]

use core::ffi::c_void;

use blosc_chunk::FilterId;
use blosc_filters::{FilterCx, Registry};

use crate::errors::{FILTER_PIPELINE, INVALID_PARAM};
use crate::guard::{bytes, bytes_mut};

/// Gathers the bytes of items by their index in the item; returns the number of written bytes.
///
/// # Safety
///
/// `src` and `dest` have `nbytes` bytes, and do not overlap.
pub unsafe fn shuffle(typesize: i32, nbytes: i32, src: *const c_void, dest: *mut c_void) -> i32 {
    // SAFETY: the caller promises it.
    unsafe { run(FilterId::SHUFFLE, Way::Forward, (typesize, nbytes), src, dest) }
}

/// Undoes [`shuffle`].
///
/// # Safety
///
/// As [`shuffle`].
pub unsafe fn unshuffle(typesize: i32, nbytes: i32, src: *const c_void, dest: *mut c_void) -> i32 {
    // SAFETY: the caller promises it.
    unsafe { run(FilterId::SHUFFLE, Way::Backward, (typesize, nbytes), src, dest) }
}

/// Gathers the bits of items by their index in the item; returns the number of written bytes.
///
/// # Safety
///
/// As [`shuffle`].
pub unsafe fn bitshuffle(typesize: i32, nbytes: i32, src: *const c_void, dest: *mut c_void) -> i32 {
    // SAFETY: the caller promises it.
    unsafe { run(FilterId::BITSHUFFLE, Way::Forward, (typesize, nbytes), src, dest) }
}

/// Undoes [`bitshuffle`].
///
/// # Safety
///
/// As [`shuffle`].
pub unsafe fn bitunshuffle(
    typesize: i32,
    nbytes: i32,
    src: *const c_void,
    dest: *mut c_void,
) -> i32 {
    // SAFETY: the caller promises it.
    unsafe { run(FilterId::BITSHUFFLE, Way::Backward, (typesize, nbytes), src, dest) }
}

#[derive(Clone, Copy)]
enum Way {
    Forward,
    Backward,
}

/// # Safety
///
/// As [`shuffle`].
unsafe fn run(
    id: FilterId,
    way: Way,
    (typesize, nbytes): (i32, i32),
    src: *const c_void,
    dest: *mut c_void,
) -> i32 {
    let typesize = usize::try_from(typesize).ok().filter(|typesize| *typesize > 0);
    let (Some(typesize), Ok(len)) = (typesize, usize::try_from(nbytes)) else {
        return INVALID_PARAM;
    };
    if len == 0 {
        return 0;
    }
    // SAFETY: the caller promises it.
    let src = unsafe { bytes(src, len) };
    // SAFETY: the caller promises it.
    let dest = unsafe { bytes_mut(dest, len) };
    let (Some(src), Some(dest)) = (src, dest) else { return INVALID_PARAM };
    let (registry, cx) = (Registry::builtin(), FilterCx::new(typesize));
    let Some(filter) = registry.get(id) else { return FILTER_PIPELINE };
    let done = match way {
        Way::Forward => filter.forward(&cx, 0, src, dest),
        Way::Backward => filter.backward(&cx, 0, src, dest),
    };
    if done.is_ok() { nbytes } else { FILTER_PIPELINE }
}
