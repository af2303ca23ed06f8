//! CRC-32 (IEEE 802.3): the checksum of members of archives, and of Bloscpack.
//!
//! `crc32fast` brings 16 KiB of tables that no compressor makes smaller. A module of WebAssembly,
//! which is downloaded and has no instruction for the sum, makes its tables at the first call.

#[cfg(not(target_family = "wasm"))]
use crc32fast::Hasher;

#[cfg(target_family = "wasm")]
use tables::Hasher;

/// The checksum of bytes that come in parts.
///
/// ```
/// use blosc_container::crc32::{Crc32, crc32};
///
/// let mut sum = Crc32::default();
/// sum.update(b"12345");
/// sum.update(b"6789");
/// assert_eq!((sum.finish(), crc32(b"123456789")), (0xcbf4_3926, 0xcbf4_3926));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Crc32(Hasher);

impl Crc32 {
    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum of all bytes.
    #[must_use]
    pub fn finish(self) -> u32 {
        self.0.finalize()
    }
}

/// The checksum of bytes.
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = Crc32::default();
    sum.update(bytes);
    sum.finish()
}

#[cfg(any(test, target_family = "wasm"))]
mod tables {
    #![allow(clippy::indexing_slicing, reason = "a table has an entry for each byte")]

    use std::sync::LazyLock;

    /// The lowest bit is that of the highest power.
    const POLYNOMIAL: u32 = 0xedb8_8320;

    /// Table `n` has the sum of each byte that `n` zeros follow.
    static TABLES: LazyLock<[[u32; 256]; 16]> = LazyLock::new(|| {
        let next = |sum: u32| (sum >> 1) ^ (POLYNOMIAL & (sum & 1).wrapping_neg());
        let mut tables = [[0; 256]; 16];
        for (byte, entry) in (0..).zip(&mut tables[0]) {
            *entry = (0..8).fold(byte, |sum, _| next(sum));
        }
        for n in 1..16 {
            tables[n] = tables[n - 1].map(|sum| (0..8).fold(sum, |sum, _| next(sum)));
        }
        tables
    });

    /// The interface of `crc32fast`.
    #[derive(Clone, Debug)]
    pub(super) struct Hasher(u32);

    impl Default for Hasher {
        fn default() -> Self {
            Self(u32::MAX)
        }
    }

    impl Hasher {
        pub(super) fn update(&mut self, bytes: &[u8]) {
            let tables = &*TABLES;
            let (blocks, rest) = bytes.as_chunks::<16>();
            for block in blocks {
                let at = |n: usize| usize::from(block[n]);
                let [a, b, c, d] = self.0.to_le_bytes().map(usize::from);
                // Unrolled by hand: the module of the page is compiled for size.
                self.0 = tables[15][at(0) ^ a]
                    ^ tables[14][at(1) ^ b]
                    ^ tables[13][at(2) ^ c]
                    ^ tables[12][at(3) ^ d]
                    ^ tables[11][at(4)]
                    ^ tables[10][at(5)]
                    ^ tables[9][at(6)]
                    ^ tables[8][at(7)]
                    ^ tables[7][at(8)]
                    ^ tables[6][at(9)]
                    ^ tables[5][at(10)]
                    ^ tables[4][at(11)]
                    ^ tables[3][at(12)]
                    ^ tables[2][at(13)]
                    ^ tables[1][at(14)]
                    ^ tables[0][at(15)];
            }
            for byte in rest {
                let [low, ..] = self.0.to_le_bytes();
                self.0 = tables[0][usize::from(low ^ byte)] ^ (self.0 >> 8);
            }
        }

        pub(super) fn finalize(self) -> u32 {
            !self.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_by_tables_are_those_of_crc32fast_in_any_parts() {
        let bytes: Vec<u8> = (0..1000_u32).map(|n| (n * n).to_le_bytes()[1]).collect();
        for len in (0..40).chain([999, 1000]) {
            for split in [0, 1, 7, 16, 33].map(|split| len.min(split)) {
                let mut sum = tables::Hasher::default();
                sum.update(&bytes[..split]);
                sum.update(&bytes[split..len]);
                assert_eq!(sum.finalize(), crc32(&bytes[..len]), "{split}, {len}");
            }
        }
    }
}
