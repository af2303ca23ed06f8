//! Prefetching the destination of a decoder.

/// Distance from a match to the prefetched lines (bytes): long matches write this much while a line
/// arrives.
const PREFETCH_AHEAD_NBYTES: usize = 4 << 10;

/// Bytes of a cache line.
const LINE_NBYTES: usize = 64;

/// Prefetches the lines that are [`PREFETCH_AHEAD_NBYTES`] after a copy of `len` bytes to `to`. A
/// match that reads recently written bytes waits until they are in the cache, and long matches
/// write faster than lines arrive (`docs/performance/lz4.md`).
#[inline(always)]
pub(crate) fn prefetch_after(dest: &[u8], to: usize, len: usize) {
    let mut line = 0;
    while line < len {
        let address = dest.as_ptr().wrapping_add(to + PREFETCH_AHEAD_NBYTES + line);
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: a prefetch is a hint: it takes any address and changes nothing that the program
        // can observe.
        unsafe {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(address.cast());
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        let _ = address;
        line += LINE_NBYTES;
    }
}
