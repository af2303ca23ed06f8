//! Copies and runs of a byte by registers of a whole line.

use core::arch::x86_64::*;

use zerocopy::transmute;

use super::super::prefetch::prefetch_line_to_second_level;
use super::super::streaming;
use crate::processor::Tuning;

/// Copies `src` to `dest`, which is as long.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(in super::super) fn copy(src: &[u8], dest: &mut [u8]) {
    copy_with(src, dest, |_| {});
}

/// The same from memory outside of the cache. Bytes that are read soon are prefetched; `next`
/// follows the end of `src`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(in super::super) fn copy_uncached(src: &[u8], next: &[u8], dest: &mut [u8]) {
    copy_with(src, dest, |at| {
        let ahead = at + PREFETCH_DISTANCE_NBYTES;
        let (bytes, ahead) = match ahead.checked_sub(src.len()) {
            None => (src, ahead),
            Some(after) => (next, after),
        };
        for line in 0..4 {
            if let Some(bytes) = bytes.get(ahead + line * LINE..) {
                prefetch_line_to_second_level(bytes);
            }
        }
    });
}

/// Copies with non-temporal stores from memory outside of the cache.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(in super::super) fn copy_streaming(src: &[u8], dest: &mut [u8]) {
    if Tuning::get().prefetches_by_page {
        streaming::copy_pages(src, dest);
    } else {
        streaming::copy(src, dest);
    }
}

/// Calls `before` with the position of each four lines, then copies them.
///
/// The first line and the last four may be unaligned. All lines between are lines of the
/// destination, and no part is left to a separate loop.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn copy_with(src: &[u8], dest: &mut [u8], before: impl Fn(usize)) {
    if dest.len() < LINES || dest.len() != src.len() {
        return dest.copy_from_slice(src);
    }
    let head = dest.as_ptr().align_offset(LINE).min(LINE);
    if let Some((to, from)) = dest.first_chunk_mut::<LINE>().zip(src.first_chunk()) {
        *to = *from;
    }
    let to = dest[head..].as_chunks_mut::<LINES>().0;
    for (n, (to, from)) in to.iter_mut().zip(src[head..].as_chunks().0).enumerate() {
        before(head + n * LINES);
        copy_lines(from, to);
    }
    if let Some((to, from)) = dest.last_chunk_mut().zip(src.last_chunk()) {
        copy_lines(from, to);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn copy_lines(from: &[u8; LINES], to: &mut [u8; LINES]) {
    // Named registers: the compiler would turn an array into a call of the library's copy.
    let [a, b, c, d]: [__m512i; 4] = transmute!(*from);
    *to = transmute!([a, b, c, d]);
}

/// Writes `byte` all over `dest`; its ends may be unaligned, as in [`copy`]. In the cache that is
/// up to twice as fast as the processor's instruction, which the C library uses from 2 KiB on.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(in super::super) fn fill(byte: u8, dest: &mut [u8]) {
    if dest.len() < LINES {
        return dest.fill(byte);
    }
    let line: __m512i = transmute!([byte; LINE]);
    let head = dest.as_ptr().align_offset(LINE).min(LINE);
    dest.first_chunk_mut::<LINE>().into_iter().for_each(|to| *to = transmute!(line));
    for to in dest[head..].as_chunks_mut::<LINES>().0 {
        fill_lines(line, to);
    }
    dest.last_chunk_mut().into_iter().for_each(|to| fill_lines(line, to));
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn fill_lines(line: __m512i, to: &mut [u8; LINES]) {
    *to = transmute!([line; 4]);
}

/// A register.
const LINE: usize = 64;
/// Bytes that are copied at a time.
const LINES: usize = 4 * LINE;
/// Distance from the copied bytes to the prefetched ones: a page (2 to 8 KiB are as good).
const PREFETCH_DISTANCE_NBYTES: usize = 4 << 10;
