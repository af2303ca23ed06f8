//! How a destination is written: with ordinary stores, or with non-temporal ones that bypass the
//! cache.
//!
//! `docs/performance/filters.md`, "Copies and fills", explains the sizes below.

use core::ops::Range;

use crate::simd::{Level, may_copy_slowly};
use crate::{Simd, arch};

/// Whether the written bytes should be in the cache afterwards. The bytes are the same.
///
/// Non-temporal stores are faster for a destination larger than the cache, since ordinary stores
/// first read each line and then evict others. They are slower if the data are used at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StoreHint {
    /// Ordinary stores.
    #[default]
    Cached,
    /// Ordinary stores, to memory that is not in the private caches of the core.
    OuterCache,
    /// Non-temporal stores, if the machine has them and they are known to be faster.
    NonTemporal,
}

impl StoreHint {
    /// Copies `src` to `dest`.
    ///
    /// ```
    /// use blosc_filters::{Simd, internal::StoreHint};
    ///
    /// let mut dest = vec![0; 100_000];
    /// StoreHint::NonTemporal.copy(Simd::detect(), &[7; 100_000], &mut dest);
    /// assert_eq!(dest, [7; 100_000]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `src` and `dest` differ in length.
    #[inline]
    pub fn copy(self, simd: Simd, src: &[u8], dest: &mut [u8]) {
        assert_eq!(src.len(), dest.len(), "copy: lengths of source and destination");
        if dest.len() > INLINE_COPY_NBYTES {
            self.copy_long(simd, src, dest);
        } else {
            copy_short(src, dest);
        }
    }

    fn copy_long(self, simd: Simd, src: &[u8], dest: &mut [u8]) {
        if self.bypasses_cache(dest) {
            arch::copy_streaming(simd, src, dest);
        } else if simd.level() == Level::Avx512 && dest.len() >= COPY_INSTRUCTION_NBYTES.end {
            let pieces = src.chunks(COPY_PIECE_NBYTES).zip(dest.chunks_mut(COPY_PIECE_NBYTES));
            pieces.for_each(|(from, to)| self.copy_piece(simd, from, to));
        } else {
            self.copy_piece(simd, src, dest);
        }
    }

    fn copy_piece(self, simd: Simd, src: &[u8], dest: &mut [u8]) {
        if self.by_registers(simd, src, dest) {
            arch::copy(simd, src, dest);
        } else {
            dest.copy_from_slice(src);
        }
    }

    /// As [`copy`](Self::copy), but always by registers. The C library may use the processor's copy
    /// instruction, which does not read the lines that it overwrites. For encoders that store their
    /// input unchanged: the registers leave it in the cache for the next reads.
    pub fn copy_read(self, simd: Simd, src: &[u8], dest: &mut [u8]) {
        if self == Self::Cached
            && src.len() == dest.len()
            && COPY_INSTRUCTION_NBYTES.contains(&dest.len())
        {
            arch::copy(simd, src, dest);
        } else {
            self.copy(simd, src, dest);
        }
    }

    /// Writes `byte` all over `dest`.
    #[inline]
    pub fn fill(self, simd: Simd, byte: u8, dest: &mut [u8]) {
        if dest.len() > INLINE_COPY_NBYTES {
            self.fill_long(simd, byte, dest);
        } else {
            fill_short(byte, dest);
        }
    }

    fn fill_long(self, simd: Simd, byte: u8, dest: &mut [u8]) {
        if self.bypasses_cache(dest) {
            arch::fill_streaming(simd, byte, dest);
        } else if self == Self::Cached && COPY_INSTRUCTION_NBYTES.contains(&dest.len()) {
            arch::fill(simd, byte, dest);
        } else {
            dest.fill(byte);
        }
    }

    /// Whether non-temporal stores are worthwhile for this length. After the last one the processor
    /// waits for all of them, some 100 ns.
    pub(crate) fn bypasses_cache(self, dest: &[u8]) -> bool {
        self == Self::NonTemporal && dest.len() >= MIN_NON_TEMPORAL_NBYTES
    }

    /// Whether registers copy faster than the C library, which uses the copy instruction (`rep
    /// movsb`) from 2 KiB to the size of the second-level cache.
    ///
    /// On Zen 3 (AVX2), the instruction is slower by a tenth in the cache. With AVX-512, registers
    /// are faster while all data are in the first-level cache; for more data the instruction is
    /// faster, since it does not read the lines that it overwrites. If the destination starts up to
    /// 63 bytes after the source, modulo 4096, the instruction takes 20 times as long on Zen 3 and
    /// Zen 4. On Zen 5 it does not, and registers are slower by half there.
    /// does not, and registers are slower by half there.
    fn by_registers(self, simd: Simd, src: &[u8], dest: &[u8]) -> bool {
        COPY_INSTRUCTION_NBYTES.contains(&dest.len())
            && (simd.level() != Level::Avx512
                || (dest.len() < L1_COPY_NBYTES && self == Self::Cached)
                || ((1..64)
                    .contains(&(dest.as_ptr().addr().wrapping_sub(src.as_ptr().addr()) % 4096))
                    && may_copy_slowly()))
    }
}

/// Up to this size, mostly single items, a call of the C library takes longer than the copy
/// (bytes).
const INLINE_COPY_NBYTES: usize = 16;

/// Copies up to 16 bytes, as two pieces that may overlap.
#[inline]
fn copy_short(src: &[u8], dest: &mut [u8]) {
    if !(copy_ends::<8>(src, dest) || copy_ends::<4>(src, dest)) {
        src.iter().zip(dest).for_each(|(from, to)| *to = *from);
    }
}

/// Copies the first and the last `N` bytes; false if there are fewer than `N`.
#[inline]
fn copy_ends<const N: usize>(src: &[u8], dest: &mut [u8]) -> bool {
    let (Some(first), Some(last)) = (src.first_chunk::<N>(), src.last_chunk::<N>()) else {
        return false;
    };
    dest.first_chunk_mut().into_iter().for_each(|to| *to = *first);
    dest.last_chunk_mut().into_iter().for_each(|to| *to = *last);
    true
}

/// Writes up to 16 bytes, as two pieces that may overlap.
#[inline]
fn fill_short(byte: u8, dest: &mut [u8]) {
    if !(fill_ends::<8>(byte, dest) || fill_ends::<4>(byte, dest)) {
        dest.iter_mut().for_each(|to| *to = byte);
    }
}

/// Writes the first and the last `N` bytes; false if there are fewer than `N`.
#[inline]
fn fill_ends<const N: usize>(byte: u8, dest: &mut [u8]) -> bool {
    let Some(first) = dest.first_chunk_mut::<N>() else { return false };
    *first = [byte; N];
    dest.last_chunk_mut().into_iter().for_each(|to| *to = [byte; N]);
    true
}

/// Sizes at which the C library uses the copy instruction (bytes).
const COPY_INSTRUCTION_NBYTES: Range<usize> = 2 << 10..1 << 20;
/// Source and destination of this size fit in the first-level cache (bytes).
const L1_COPY_NBYTES: usize = 12 << 10;
/// With AVX-512, longer copies are made in pieces of this size (bytes), for which the C library
/// still uses the copy instruction: twice as fast.
const COPY_PIECE_NBYTES: usize = 512 << 10;

/// The shortest destination for non-temporal stores (bytes).
const MIN_NON_TEMPORAL_NBYTES: usize = 8 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    #[test]
    fn copies_and_fills_longer_than_a_piece_are_complete() {
        let src: Vec<u8> =
            (0..3 * COPY_PIECE_NBYTES + 5).map(|n| (n % 251).to_le_bytes()[0]).collect();
        for len in [COPY_INSTRUCTION_NBYTES.end - 1, COPY_INSTRUCTION_NBYTES.end, src.len()]
            .into_iter()
            .filter(|_| !cfg!(miri))
        {
            let mut dest = vec![0; len];
            StoreHint::Cached.copy(Simd::detect(), &src[..len], &mut dest);
            assert!(dest == src[..len], "{len} bytes");
            StoreHint::Cached.fill(Simd::detect(), 9, &mut dest);
            assert!(dest.iter().all(|&byte| byte == 9), "{len} bytes");
        }
    }

    #[test]
    fn copies_and_fills_of_up_to_40_bytes_are_complete() {
        let src: [u8; 40] = core::array::from_fn(|n| u8::try_from(n + 1).unwrap());
        let expected = |bytes: &[u8]| {
            let mut all = [0; 40];
            all[..bytes.len()].copy_from_slice(bytes);
            all
        };
        for len in 0..src.len() {
            let mut dest = [0_u8; 40];
            StoreHint::Cached.copy(Simd::detect(), &src[..len], &mut dest[..len]);
            assert_eq!(dest, expected(&src[..len]));
            StoreHint::Cached.fill(Simd::detect(), 9, &mut dest[..len]);
            assert_eq!(dest, expected(&[9; 40][..len]));
        }
    }
}
