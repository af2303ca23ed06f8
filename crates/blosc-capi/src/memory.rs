//! Memory that is passed to C, which frees it with `free`.
#![allow(unsafe_code, reason = "C's allocator, and what C hands back to it")]

use core::ffi::{CStr, c_char};
use core::ptr::{self, NonNull};
use core::slice;
use std::io;

use blosc_io::{ReadAt, Sync, WriteAt};
use zerocopy::FromZeros;

/// Bytes of C's allocator.
#[derive(Debug)]
pub(crate) struct CBytes {
    /// `None` for no bytes.
    place: Option<NonNull<u8>>,
    len: usize,
    capacity: usize,
}

// SAFETY: the memory belongs to this value alone.
unsafe impl Send for CBytes {}
// SAFETY: the same.
unsafe impl core::marker::Sync for CBytes {}

impl CBytes {
    /// No bytes.
    pub(crate) const fn new() -> Self {
        Self { place: None, len: 0, capacity: 0 }
    }

    /// An empty value with space for `capacity` bytes; `None` if memory is exhausted.
    pub(crate) fn with_capacity(capacity: usize) -> Option<Self> {
        let mut bytes = Self::new();
        bytes.set_capacity(capacity.max(1)).then_some(bytes)
    }

    /// A copy; `None` if memory is exhausted.
    pub(crate) fn copy(bytes: &[u8]) -> Option<Self> {
        let mut copy = Self::with_capacity(bytes.len())?;
        copy.extend(bytes).then_some(copy)
    }

    /// Takes over memory that C made.
    ///
    /// # Safety
    ///
    /// NULL, or `len` bytes of C's allocator that nobody else is going to free.
    pub(crate) unsafe fn from_raw(place: *mut u8, len: usize) -> Self {
        Self { place: NonNull::new(place), len, capacity: len }
    }

    /// The address of the bytes, for C to read.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.place.map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self.place {
            // SAFETY: `len` bytes were written.
            Some(place) => unsafe { slice::from_raw_parts(place.as_ptr(), self.len) },
            None => &[],
        }
    }

    /// Sets the length to `len`, after the bytes were written through the pointer, and frees the
    /// rest of the space.
    ///
    /// # Safety
    ///
    /// The first `len` bytes of the room were written.
    pub(crate) unsafe fn set_len(&mut self, len: usize) {
        self.len = len.min(self.capacity);
        if self.len < self.capacity {
            // If shrinking fails, the larger space stays.
            let _is_smaller = self.set_capacity(self.len.max(1));
        }
    }

    /// The bytes, which C has to free.
    pub(crate) fn into_raw(mut self) -> *mut u8 {
        let place = self.as_ptr();
        self.place = None;
        place
    }

    /// Appends a copy; false if memory is exhausted.
    pub(crate) fn extend(&mut self, more: &[u8]) -> bool {
        let Some(end) = self.len.checked_add(more.len()) else { return false };
        let larger = end.max(self.capacity.saturating_mul(2));
        if end > self.capacity && !self.set_capacity(larger) {
            return false;
        }
        let place = self.as_ptr().wrapping_add(self.len);
        // SAFETY: the room has `end` bytes, and `more` is memory of somebody else.
        unsafe { place.copy_from_nonoverlapping(more.as_ptr(), more.len()) };
        self.len = end;
        true
    }

    /// Appends zeros up to this length.
    fn fill_up(&mut self, len: usize) -> io::Result<()> {
        let missing = len.saturating_sub(self.len);
        if missing == 0 {
            return Ok(());
        }
        if isize::try_from(len).is_err() || (len > self.capacity && !self.set_capacity(len)) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let place = self.as_ptr().wrapping_add(self.len);
        // SAFETY: the room has `len` bytes.
        unsafe { place.write_bytes(0, missing) };
        self.len = len;
        Ok(())
    }

    /// Changes the capacity; returns whether that succeeded.
    fn set_capacity(&mut self, capacity: usize) -> bool {
        // SAFETY: the place is NULL or comes from here.
        let place = unsafe { libc::realloc(self.as_ptr().cast(), capacity) };
        let Some(place) = NonNull::new(place.cast()) else { return false };
        (self.place, self.capacity) = (Some(place), capacity);
        true
    }
}

impl Drop for CBytes {
    fn drop(&mut self) {
        // SAFETY: NULL, or memory of this allocator that nobody else has.
        unsafe { libc::free(self.as_ptr().cast()) };
    }
}

impl ReadAt for CBytes {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len as u64)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(at).ok().and_then(|at| self.as_slice().get(at..));
        let rest = rest.unwrap_or_default();
        let len = rest.len().min(buf.len());
        for (to, from) in buf.iter_mut().zip(rest) {
            *to = *from;
        }
        Ok(len)
    }
}

impl WriteAt for CBytes {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let at = usize::try_from(at).map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.fill_up(at)?;
        let inside = bytes.len().min(self.len.saturating_sub(at));
        let (inside, after) = bytes.split_at_checked(inside).unwrap_or((bytes, &[]));
        let place = self.as_ptr().wrapping_add(at);
        // SAFETY: these bytes are there already.
        unsafe { place.copy_from_nonoverlapping(inside.as_ptr(), inside.len()) };
        if self.extend(after) { Ok(()) } else { Err(io::ErrorKind::OutOfMemory.into()) }
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.len = self.len.min(len);
        self.fill_up(len)
    }

    fn sync(&mut self, _: Sync) -> io::Result<()> {
        Ok(())
    }
}

/// A value in memory of C's allocator; NULL if memory is exhausted.
pub(crate) fn boxed<T: Copy>(value: T) -> *mut T {
    // SAFETY: any size will do.
    let place: *mut T = unsafe { libc::malloc(size_of::<T>().max(1)) }.cast();
    if !place.is_null() {
        // SAFETY: as many bytes as the value has, aligned for every type of C.
        unsafe { place.write(value) };
    }
    place
}

/// Frees what [`boxed`], [`text`] or [`CBytes::into_raw`] made, or C itself.
///
/// # Safety
///
/// NULL, or memory of C's allocator that nobody uses any more.
pub(crate) unsafe fn free<T>(place: *mut T) {
    // SAFETY: the caller promises it.
    unsafe { libc::free(place.cast()) };
}

/// A copy of a text; NULL if memory is exhausted.
pub(crate) fn text(text: &CStr) -> *mut c_char {
    CBytes::copy(text.to_bytes_with_nul()).map_or(ptr::null_mut(), CBytes::into_raw).cast()
}

/// This number of zeros, from pages that the system has cleared; `None` without memory.
pub(crate) fn zeros(len: usize) -> Option<Vec<u8>> {
    u8::new_vec_zeroed(len).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_store_like_others() {
        blosc_io::testing::check_write_at(&mut CBytes::new()).unwrap();
        let content: Vec<u8> = (0..200).collect();
        blosc_io::testing::check_read_at(&CBytes::copy(&content).unwrap(), &content).unwrap();
    }

    #[test]
    fn room_is_given_back() {
        let mut bytes = CBytes::with_capacity(1000).unwrap();
        // SAFETY: the room has as many bytes.
        unsafe { bytes.as_ptr().write_bytes(7, 3) };
        // SAFETY: three bytes were written.
        unsafe { bytes.set_len(3) };
        assert_eq!((bytes.as_slice(), bytes.capacity), (&[7, 7, 7][..], 3));
        let raw = bytes.into_raw();
        // SAFETY: it comes from C's allocator.
        unsafe { free(raw) };
        // SAFETY: it comes from C's allocator.
        unsafe { free(text(c"text")) };
    }
}
