//! The border to C: no panic crosses it, and pointers become slices only here.
#![allow(unsafe_code, reason = "pointers and lengths come from C")]

use core::ffi::{CStr, c_char, c_void};
use core::panic::AssertUnwindSafe;
use core::slice;
use std::panic::catch_unwind;

/// Runs one call of the library; a panic in it becomes `failure`.
pub fn guard<T>(failure: T, call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(failure)
}

/// The bytes at a pointer and a length from C; `None` for NULL, and for more bytes than a slice can
/// have.
///
/// # Safety
///
/// `ptr` is NULL, or `len` bytes from there on are readable and nobody changes them during `'a`.
#[must_use]
pub unsafe fn bytes<'a>(ptr: *const c_void, len: usize) -> Option<&'a [u8]> {
    if ptr.is_null() || isize::try_from(len).is_err() {
        return None;
    }
    // SAFETY: not NULL, not too long; the rest is for the caller to promise.
    Some(unsafe { slice::from_raw_parts(ptr.cast(), len) })
}

/// The writable bytes at a pointer and a length from C; `None` as for [`bytes`].
///
/// # Safety
///
/// `ptr` is NULL, or `len` bytes from there on are writable and nobody else uses them during `'a`.
#[must_use]
pub unsafe fn bytes_mut<'a>(ptr: *mut c_void, len: usize) -> Option<&'a mut [u8]> {
    if ptr.is_null() || isize::try_from(len).is_err() {
        return None;
    }
    // SAFETY: not NULL, not too long; the rest is for the caller to promise.
    Some(unsafe { slice::from_raw_parts_mut(ptr.cast(), len) })
}

/// A text of C; `None` for NULL.
///
/// # Safety
///
/// `text` is NULL, or points to a text that ends with a zero and that nobody changes during `'a`.
#[must_use]
pub unsafe fn text<'a>(text: *const c_char) -> Option<&'a CStr> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not NULL; the rest is for the caller to promise.
    Some(unsafe { CStr::from_ptr(text) })
}

/// Writes a result through a pointer of C; NULL means that the caller does not need it.
///
/// # Safety
///
/// `out` is NULL, or can be written to.
pub unsafe fn put_out<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: not NULL; the rest is for the caller to promise. C knows no values to be dropped.
        unsafe { out.write(value) };
    }
}

#[cfg(test)]
mod tests {
    use core::ptr;

    use super::*;

    #[test]
    fn a_panic_becomes_a_code() {
        assert_eq!(guard(-1, || 5), 5);
        let bytes: &[u8] = &[];
        assert_eq!(guard(-1, || i32::from(bytes[bytes.len()])), -1);
    }

    #[test]
    fn null_is_nothing() {
        // SAFETY: NULL is allowed.
        assert!(unsafe { bytes(ptr::null(), 8) }.is_none());
        // SAFETY: NULL is allowed.
        assert!(unsafe { bytes_mut(ptr::null_mut(), 8) }.is_none());
        // SAFETY: NULL is allowed.
        assert!(unsafe { text(ptr::null()) }.is_none());
        // SAFETY: NULL is allowed.
        unsafe { put_out(ptr::null_mut(), 8) };
    }
}
