//! Prefetching memory that is written or read soon.

use core::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};

/// Bytes of a cache line.
pub(super) const LINE_NBYTES: usize = 64;

/// Prefetches the line in which `bytes` begins.
#[inline(always)]
pub(super) fn prefetch_line(bytes: &[u8]) {
    if !cfg!(miri) {
        // SAFETY: the address is that of a borrowed slice; a prefetch changes no memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast()) };
    }
}

/// Prefetches the line in which `bytes` begins into the second-level cache, which accepts more
/// outstanding lines.
#[inline(always)]
pub(super) fn prefetch_line_to_second_level(bytes: &[u8]) {
    if !cfg!(miri) {
        // SAFETY: the address is that of a borrowed slice; a prefetch changes no memory.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(bytes.as_ptr().cast()) };
    }
}
