//! How a destination is written: into the cache, or past it.

use core::ops::Range;

use crate::simd::{Level, may_copy_slowly};
use crate::{Simd, arch};

/// Whether what is written shall be in the cache afterwards. The bytes are the same.
///
/// Past the cache is faster for a destination larger than it, since what is written there is pushed
/// out before anyone reads it; it is slower where the data are used at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stores {
    /// Into the cache.
    #[default]
    Plain,
    /// As `Plain`, for memory that is not in the caches which the core has to itself.
    Outer,
    /// Past the cache, where the machine has such stores and they are known to be faster.
    Streaming,
}

impl Stores {
    /// Copies `src` to `dest`.
    ///
    /// ```
    /// use blosc_filters::{Simd, Stores};
    ///
    /// let mut dest = vec![0; 100_000];
    /// Stores::Streaming.copy(Simd::detect(), &[7; 100_000], &mut dest);
    /// assert_eq!(dest, [7; 100_000]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `src` and `dest` differ in length.
    #[inline]
    pub fn copy(self, simd: Simd, src: &[u8], dest: &mut [u8]) {
        assert_eq!(src.len(), dest.len(), "copy: lengths of source and destination");
        if dest.len() > SHORT {
            self.copy_long(simd, src, dest);
        } else {
            copy_short(src, dest);
        }
    }

    fn copy_long(self, simd: Simd, src: &[u8], dest: &mut [u8]) {
        if self.pass_by(dest) {
            arch::copy_streaming(simd, src, dest);
        } else if simd.level() == Level::Avx512 && dest.len() >= ALL.end {
            let pieces = src.chunks(PIECE).zip(dest.chunks_mut(PIECE));
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

    /// As [`copy`](Self::copy), by registers even where the C library takes the processor's
    /// instruction, which does not fetch the lines that it is going to write: an encoder that
    /// finds no use for what it has just read stores it so, and reads the next ones faster.
    pub fn copy_read(self, simd: Simd, src: &[u8], dest: &mut [u8]) {
        if self == Self::Plain && src.len() == dest.len() && ALL.contains(&dest.len()) {
            arch::copy(simd, src, dest);
        } else {
            self.copy(simd, src, dest);
        }
    }

    /// Writes `byte` all over `dest`.
    #[inline]
    pub fn fill(self, simd: Simd, byte: u8, dest: &mut [u8]) {
        if dest.len() > SHORT {
            self.fill_long(simd, byte, dest);
        } else {
            fill_short(byte, dest);
        }
    }

    fn fill_long(self, simd: Simd, byte: u8, dest: &mut [u8]) {
        if self.pass_by(dest) {
            arch::fill_streaming(simd, byte, dest);
        } else if self == Self::Plain && ALL.contains(&dest.len()) {
            arch::fill(simd, byte, dest);
        } else {
            dest.fill(byte);
        }
    }

    /// Whether to pass the cache by for these bytes. At their end the processor waits for all
    /// stores: some 100 ns.
    pub(crate) fn pass_by(self, dest: &[u8]) -> bool {
        self == Self::Streaming && dest.len() >= LEAST
    }

    /// Whether registers copy faster than the C library, which takes the processor's instruction
    /// for it from 2 KiB to the size of the second-level cache, and knows what to do with more.
    ///
    /// On Zen 3 (AVX2), the instruction is slower by a tenth in the cache. With AVX-512, registers
    /// are faster while all is in the nearest cache; beyond, the instruction is, since it does
    /// not fetch the lines that it is going to write. Where the destination starts up to 63
    /// bytes behind the source, modulo 4096, Zen 3 and Zen 4 take 20 times as long by it; Zen 5
    /// does not, and registers are slower by half there.
    fn by_registers(self, simd: Simd, src: &[u8], dest: &[u8]) -> bool {
        ALL.contains(&dest.len())
            && (simd.level() != Level::Avx512
                || (dest.len() < NEAREST && self == Self::Plain)
                || ((1..64)
                    .contains(&(dest.as_ptr().addr().wrapping_sub(src.as_ptr().addr()) % 4096))
                    && may_copy_slowly()))
    }
}

/// Bytes of an item, as a rule: a call of the C library takes longer than to write so few.
const SHORT: usize = 16;

/// Copies up to 16 bytes, as two pieces that may overlap.
#[inline]
fn copy_short(src: &[u8], dest: &mut [u8]) {
    if !(copy_ends::<8>(src, dest) || copy_ends::<4>(src, dest)) {
        src.iter().zip(dest).for_each(|(from, to)| *to = *from);
    }
}

/// Copies the first and the last `N` bytes, if there are so many.
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

/// Writes the first and the last `N` bytes, if there are so many.
#[inline]
fn fill_ends<const N: usize>(byte: u8, dest: &mut [u8]) -> bool {
    let Some(first) = dest.first_chunk_mut::<N>() else { return false };
    *first = [byte; N];
    dest.last_chunk_mut().into_iter().for_each(|to| *to = [byte; N]);
    true
}

const ALL: Range<usize> = 2 << 10..1 << 20;
const NEAREST: usize = 12 << 10;
/// With AVX-512, more is copied by such pieces, or else the C library leaves the instruction, which
/// is twice as fast.
const PIECE: usize = 512 << 10;

/// Bytes for which it pays to wait for the end of all stores.
const LEAST: usize = 8 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    #[test]
    fn more_than_a_piece_is_copied_whole() {
        let src: Vec<u8> = (0..3 * PIECE + 5).map(|n| (n % 251).to_le_bytes()[0]).collect();
        for len in [ALL.end - 1, ALL.end, src.len()].into_iter().filter(|_| !cfg!(miri)) {
            let mut dest = vec![0; len];
            Stores::Plain.copy(Simd::detect(), &src[..len], &mut dest);
            assert!(dest == src[..len], "{len} bytes");
            Stores::Plain.fill(Simd::detect(), 9, &mut dest);
            assert!(dest.iter().all(|&byte| byte == 9), "{len} bytes");
        }
    }

    #[test]
    fn short_and_long_ones_are_copied_and_filled() {
        let src: [u8; 40] = core::array::from_fn(|n| u8::try_from(n + 1).unwrap());
        let expected = |bytes: &[u8]| {
            let mut all = [0; 40];
            all[..bytes.len()].copy_from_slice(bytes);
            all
        };
        for len in 0..src.len() {
            let mut dest = [0_u8; 40];
            Stores::Plain.copy(Simd::detect(), &src[..len], &mut dest[..len]);
            assert_eq!(dest, expected(&src[..len]));
            Stores::Plain.fill(Simd::detect(), 9, &mut dest[..len]);
            assert_eq!(dest, expected(&[9; 40][..len]));
        }
    }
}
