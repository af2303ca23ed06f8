//! How a destination is written: into the cache, or past it.

use core::ops::Range;

use crate::simd::Level;
use crate::{Simd, arch};

/// Whether what is written shall be in the cache afterwards. The bytes are the same.
///
/// Past the cache is faster for a destination larger than it, since what is written there is pushed out before anyone
/// reads it; it is slower where the data are used at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stores {
    /// Into the cache.
    #[default]
    Plain,
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
    pub fn copy(self, simd: Simd, src: &[u8], dest: &mut [u8]) {
        assert_eq!(src.len(), dest.len(), "copy: lengths of source and destination");
        if self.pass_by(dest) {
            arch::copy_streaming(simd, src, dest);
        } else if by_registers(simd, src, dest) {
            arch::copy(simd, src, dest);
        } else {
            dest.copy_from_slice(src);
        }
    }

    /// As [`copy`](Self::copy), by registers even where the C library takes the processor's instruction, which does not
    /// fetch the lines that it is going to write: an encoder that finds no use for what it has just read stores it so, and
    /// reads the next ones faster.
    pub fn copy_read(self, simd: Simd, src: &[u8], dest: &mut [u8]) {
        if self == Self::Plain && src.len() == dest.len() && ALL.contains(&dest.len()) {
            arch::copy(simd, src, dest);
        } else {
            self.copy(simd, src, dest);
        }
    }

    /// Writes `byte` all over `dest`.
    pub fn fill(self, simd: Simd, byte: u8, dest: &mut [u8]) {
        if self.pass_by(dest) {
            arch::fill_streaming(simd, byte, dest);
        } else {
            dest.fill(byte);
        }
    }

    /// Whether to pass the cache by for these bytes. At their end the processor waits for all stores: some 100 ns.
    pub(crate) fn pass_by(self, dest: &[u8]) -> bool {
        self == Self::Streaming && dest.len() >= LEAST
    }
}

/// Whether registers copy faster than the C library, which takes the processor's instruction for it from 2 KiB to the size of
/// the second-level cache, and knows what to do with more.
///
/// On Zen 3 (AVX2), the instruction is slower by a tenth in the cache. With AVX-512, registers are faster while all is in the
/// nearest cache; beyond, the instruction is, since it does not fetch the lines that it is going to write. Where the
/// destination starts up to 63 bytes behind the source, modulo 4096, Zen 3 and Zen 4 take 20 times as long by it.
fn by_registers(simd: Simd, src: &[u8], dest: &[u8]) -> bool {
    ALL.contains(&dest.len())
        && (simd.level() != Level::Avx512
            || dest.len() < NEAREST
            || (1..64).contains(&(dest.as_ptr().addr().wrapping_sub(src.as_ptr().addr()) % 4096)))
}

const ALL: Range<usize> = 2 << 10..1 << 20;
const NEAREST: usize = 12 << 10;

/// Bytes for which it pays to wait for the end of all stores.
const LEAST: usize = 8 << 10;
