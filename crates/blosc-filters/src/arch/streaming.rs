//! Non-temporal stores, which bypass the cache.
//!
//! An ordinary store first reads the line that it changes, and the line evicts another one. Both
//! are wasted on a destination larger than the cache. Non-temporal stores need registers at
//! multiples of 32 bytes, whole lines in ascending order, and little work between them. See
//! `docs/performance/filters.md`, "Non-temporal stores".

use core::arch::x86_64::*;

use zerocopy::{FromBytes, IntoBytes, transmute};

/// Runs `work`, which may use non-temporal stores. Like ordinary stores, they are ordered before
/// everything after the call.
pub(super) fn streaming(work: impl FnOnce(&mut Streaming)) {
    work(&mut Streaming(()));
}

/// The permission to use non-temporal stores, lent by [`streaming`]; its drop is the fence.
pub(super) struct Streaming(());

impl Streaming {
    /// Writes a register.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn store(&mut self, to: &mut __m256i, register: __m256i) {
        if cfg!(miri) {
            // Miri does not know the instruction.
            *to = register;
        } else {
            // SAFETY: `to` may be written and is aligned, as it is a reference. No other
            // code reads it before the fence: `to` stays mutably borrowed until the drop.
            unsafe { _mm256_stream_si256(to, register) };
        }
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        if !cfg!(miri) {
            // SAFETY: it has no conditions, and all processors of 64 bits have it.
            unsafe { _mm_sfence() };
        }
    }
}

/// Copies `src` to `dest`, which is as long.
#[target_feature(enable = "avx2")]
pub(super) fn copy(src: &[u8], dest: &mut [u8]) {
    streaming(|stores| copy_lines(stores, src, dest));
}

/// As [`copy`], from memory outside of the cache: copies four pages in turns, so that the processor
/// prefetches in all of them.
#[target_feature(enable = "avx2")]
pub(super) fn copy_pages(src: &[u8], dest: &mut [u8]) {
    let Some(Parts { head, tiles, tail }) = Parts::new(dest, 1, PAGES * PAGE) else {
        return dest.copy_from_slice(src);
    };
    let (from_head, from) = src.split_at(head.len());
    let (from, from_tail) = from.split_at(from.len() - tail.len());
    let pages = tiles.as_chunks_mut::<{ PAGES * PAGE / 32 }>().0;
    streaming(|stores| {
        for (to, from) in pages.iter_mut().zip(from.as_chunks::<{ PAGES * PAGE }>().0) {
            let (to, from) = (to.as_chunks_mut::<{ STEP / 32 }>().0, from.as_chunks::<STEP>().0);
            for step in 0..PAGE / STEP {
                for page in 0..PAGES {
                    let at = page * (PAGE / STEP) + step;
                    let registers: [__m256i; STEP / 32] = transmute!(from[at]);
                    for (to, register) in to[at].iter_mut().zip(registers) {
                        stores.store(to, register);
                    }
                }
            }
        }
        copy_lines(stores, from_tail, tail);
    });
    head.copy_from_slice(from_head);
}

/// As [`copy`], without the fence.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn copy_lines(stores: &mut Streaming, src: &[u8], dest: &mut [u8]) {
    let Some(Parts { head, tiles, tail }) = Parts::new(dest, 1, LINE) else {
        return dest.copy_from_slice(src);
    };
    let (from_head, from) = src.split_at(head.len());
    let (from, from_tail) = from.split_at(from.len() - tail.len());
    for (to, from) in tiles.iter_mut().zip(from.as_chunks::<32>().0) {
        stores.store(to, transmute!(*from));
    }
    head.copy_from_slice(from_head);
    tail.copy_from_slice(from_tail);
}

/// Writes `byte` all over `dest`.
#[target_feature(enable = "avx2")]
pub(super) fn fill(byte: u8, dest: &mut [u8]) {
    let Some(Parts { head, tiles, tail }) = Parts::new(dest, 1, 32) else { return dest.fill(byte) };
    let register: __m256i = transmute!([byte; 32]);
    streaming(|stores| tiles.iter_mut().for_each(|to| stores.store(to, register)));
    head.fill(byte);
    tail.fill(byte);
}

/// A destination, cut so that registers can be stored to its middle.
pub(super) struct Parts<'a> {
    /// Whole units, together less than a line.
    pub(super) head: &'a mut [u8],
    /// As many tiles as fit.
    pub(super) tiles: &'a mut [__m256i],
    /// Less than a tile.
    pub(super) tail: &'a mut [u8],
}

impl<'a> Parts<'a> {
    /// Cuts for units of `unit` bytes and tiles of `tile` bytes, a multiple of 32. `None` if no
    /// tile starts at a unit.
    pub(super) fn new(dest: &'a mut [u8], unit: usize, tile: usize) -> Option<Self> {
        let head = dest.as_ptr().align_offset(LINE);
        if head > dest.len() || !head.is_multiple_of(unit) {
            return None;
        }
        let (head, rest) = dest.split_at_mut(head);
        let (tiles, tail) = rest.split_at_mut(rest.len() - rest.len() % tile);
        Some(Self { head, tiles: <[__m256i]>::mut_from_bytes(tiles).ok()?, tail })
    }

    /// The starts of the tiles and of the tail (bytes from the start of the destination).
    pub(super) fn starts(&self) -> [usize; 2] {
        [self.head.len(), self.head.len() + self.tiles.as_bytes().len()]
    }
}

/// Size of a cache line (bytes). Half a line would be written through the cache.
const LINE: usize = 64;
/// Number of pages that are copied in turns.
const PAGES: usize = 4;
/// Size of a page of memory (bytes).
const PAGE: usize = 4096;
/// Bytes of a page that are copied at a time: two lines, which the processor fetches together.
const STEP: usize = 2 * LINE;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn parts_cover_the_destination() {
        let mut bytes = vec![0; 1100];
        let aligned = bytes.as_ptr().align_offset(LINE);
        for (start, unit, expected) in [
            (0, 4, Some([0, 896])),
            (8, 4, Some([56, 824])),
            (63, 4, None),
            (63, 1, Some([1, 897])),
        ] {
            let dest = &mut bytes[aligned + start..][..950];
            let parts = Parts::new(dest, unit, 128);
            assert_eq!(parts.as_ref().map(Parts::starts), expected);
            let tail = parts.map_or(950, |parts| parts.tail.len() + parts.starts()[1]);
            assert_eq!(tail, 950);
        }
        assert!(Parts::new(&mut bytes[aligned + 1..aligned + 3], 1, 32).is_none());
    }
}
