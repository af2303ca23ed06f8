//! Large memory to read into, or to grow. Its one `unsafe` call to the system has no effect that a
//! program can see.

use std::collections::TryReserveError;

/// `len` zeros, as `vec![0; len]`, for bytes that are read or decoded right afterwards.
///
/// The system gives out fresh memory page by page, when a byte of the page is written for the first
/// time. With pages of 4 KiB that costs as much as decoding the data. So on Linux, from 4 MiB on,
/// this requests huge pages (`MADV_HUGEPAGE`), as NumPy does for its arrays; the system may refuse.
/// It touches no byte: the threads that decode do, each in its part.
///
/// As for `vec!`, the caller must check a number that comes from a file.
///
/// ```
/// let mut data: Vec<f64> = blosc_io::zeroed(1 << 20);
/// assert_eq!(data.len(), 1 << 20);
/// assert!(data.iter().all(|number| *number == 0.0));
/// data[..2].copy_from_slice(&[0.5, 1.5]);
/// ```
#[must_use]
pub fn zeroed<T: Copy + Default>(len: usize) -> Vec<T> {
    #[allow(unused_mut, reason = "for the system that is asked")]
    let mut items = vec![T::default(); len];
    #[cfg(all(target_os = "linux", not(miri)))]
    ask_for_huge_pages(&mut items);
    items
}

/// Makes room for `more` bytes after the others, and requests huge pages for new memory as
/// [`zeroed`] does.
///
/// On Linux, a vector that grows to 1 MiB gets room for 9 MiB at once: pages touched before huge
/// ones are requested stay small, and untouched pages take no memory. 9 MiB and not 8, so that
/// twice as much holds 16 MiB that do not shrink and the overhead of a frame.
pub(crate) fn try_reserve(bytes: &mut Vec<u8>, more: usize) -> Result<(), TryReserveError> {
    let before = bytes.capacity();
    #[cfg(all(target_os = "linux", not(miri)))]
    if bytes.len().checked_add(more).is_some_and(|len| len > before && GROWING.contains(&len)) {
        // If that much cannot be had, less is enough.
        let _ = bytes.try_reserve_exact(2 * LARGE + LARGE / 4 - bytes.len());
    }
    bytes.try_reserve(more)?;
    if bytes.capacity() > before {
        #[cfg(all(target_os = "linux", not(miri)))]
        ask_for_huge_pages(bytes);
    }
    Ok(())
}

/// The limit that NumPy uses as well.
#[cfg(all(target_os = "linux", not(miri)))]
const LARGE: usize = 4 << 20;

/// Lengths that are likely to become [`LARGE`].
#[cfg(all(target_os = "linux", not(miri)))]
const GROWING: core::ops::Range<usize> = 1 << 20..LARGE;

#[cfg(all(target_os = "linux", not(miri)))]
fn ask_for_huge_pages<T>(items: &mut Vec<T>) {
    use rustix::mm::{Advice, madvise};

    let nbytes = items.capacity().saturating_mul(size_of::<T>());
    if nbytes < LARGE {
        return;
    }
    // The advice covers whole pages: also the first and the last one, whatever else they hold.
    let start = items.as_mut_ptr();
    let into_page = start.addr() % rustix::param::page_size();
    let (page, len) = (start.wrapping_byte_sub(into_page), into_page + nbytes);
    // SAFETY: this advice changes no contents, only the size of pages that are still to come, so
    // that it may be given for any memory. All of these pages are there, since each of them has
    // bytes of the allocation.
    let asked = unsafe { madvise(page.cast(), len, Advice::LinuxHugepage) };
    // A system built without huge pages refuses; then the pages stay small.
    let _ = asked;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_keeps_its_bytes() {
        let mut bytes = vec![1; (1 << 20) - 1];
        for more in [1, 2, 4 << 20, 12 << 20] {
            let len = bytes.len();
            try_reserve(&mut bytes, more).unwrap();
            assert!(bytes.capacity() >= len + more);
            bytes.resize(len + more, 1);
            assert!(bytes.iter().all(|byte| *byte == 1));
        }
        assert!(try_reserve(&mut bytes, usize::MAX).is_err());
    }

    #[test]
    fn any_length_is_zeros_of_that_length() {
        for nbytes in [0, 1, 4095, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, (9 << 20) + 4097] {
            let mut bytes = zeroed(nbytes);
            assert_eq!(bytes, vec![0; nbytes]);
            bytes.fill(7);
            assert!(bytes.iter().all(|byte| *byte == 7));
        }
        for len in [0, 1, (1 << 20) + 3] {
            let mut numbers: Vec<f32> = zeroed(len);
            assert_eq!(numbers, vec![0.0; len]);
            numbers.fill(0.5);
            assert!(numbers.iter().all(|number| *number == 0.5));
        }
    }

    #[test]
    fn room_for_more_keeps_what_is_there() {
        let mut bytes = vec![1, 2, 3];
        for more in [1, 4095, (4 << 20) - 3, 4 << 20, 9 << 20] {
            try_reserve(&mut bytes, more).unwrap();
            assert!(bytes.capacity() >= bytes.len() + more);
            bytes.resize(bytes.len() + more, 7);
        }
        assert_eq!(bytes[..3], [1, 2, 3]);
        assert!(bytes[3..].iter().all(|byte| *byte == 7));
        assert!(try_reserve(&mut bytes, usize::MAX).is_err());
    }

    #[test]
    fn it_grows_and_shrinks_as_any_other() {
        let mut bytes: Vec<u8> = zeroed(6 << 20);
        bytes.extend([1, 2, 3]);
        bytes.truncate(10);
        bytes.shrink_to_fit();
        assert_eq!(bytes, [0; 10]);
    }
}
