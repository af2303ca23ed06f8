//! Bit shuffle, id 2: bit `k` of byte `j` of all items, one row after another ("Bitshuffle" in the
//! format document).
//!
//! As a matrix with one row per item and one column per bit, the block is transposed. Items are
//! transposed in groups of eight, since eight bits make a byte.

use crate::filter::Builtin;
use crate::internal::StoreHint;
use crate::{FilterId, Simd, arch};

/// The treatment of blocks whose number of items is no multiple of eight. The version byte of the
/// chunk selects it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BitshuffleRule {
    /// Chunk version 2: such a block is copied.
    Blosc1,
    /// Chunk versions 3 and later: the items up to the last multiple of eight are transposed, the
    /// rest is copied.
    #[default]
    Blosc2,
}

/// Transposes the bits of items of `typesize` bytes. All other bytes are copied: the bytes after
/// the last whole item, and the items that [`BitshuffleRule`] leaves out. A typesize of 0 counts as
/// 1.
///
/// ```
/// use blosc_filters::{BitshuffleRule, bitshuffle};
/// let mut dest = [0; 9];
/// bitshuffle(1, BitshuffleRule::Blosc2, &[0, 1, 2, 3, 4, 5, 6, 7, 8], &mut dest);
/// assert_eq!(dest, [0b1010_1010, 0b1100_1100, 0b1111_0000, 0, 0, 0, 0, 0, 8]);
/// ```
///
/// # Panics
///
/// If `src` and `dest` differ in length.
pub fn bitshuffle(typesize: usize, rule: BitshuffleRule, src: &[u8], dest: &mut [u8]) {
    bitshuffle_with(Simd::detect(), typesize, rule, src, dest);
}

/// Undoes [`bitshuffle`].
///
/// # Panics
///
/// If `src` and `dest` differ in length.
pub fn bitunshuffle(typesize: usize, rule: BitshuffleRule, src: &[u8], dest: &mut [u8]) {
    bitunshuffle_with(Simd::detect(), StoreHint::Cached, typesize, rule, src, dest);
}

fn bitshuffle_with(simd: Simd, typesize: usize, rule: BitshuffleRule, src: &[u8], dest: &mut [u8]) {
    let (items, to) = split_rest(typesize, rule, src, dest);
    arch::bitshuffle(simd, typesize.max(1), items, to);
}

fn bitunshuffle_with(
    simd: Simd,
    stores: StoreHint,
    typesize: usize,
    rule: BitshuffleRule,
    src: &[u8],
    dest: &mut [u8],
) {
    let (rows, to) = split_rest(typesize, rule, src, dest);
    match stores {
        StoreHint::Cached => arch::bitunshuffle(simd, typesize.max(1), rows, to),
        StoreHint::OuterCache | StoreHint::NonTemporal => {
            arch::bitunshuffle_uncached(simd, typesize.max(1), rows, to);
        }
    }
}

/// Copies the bytes that are not transposed, and returns the others.
fn split_rest<'a>(
    typesize: usize,
    rule: BitshuffleRule,
    src: &'a [u8],
    dest: &'a mut [u8],
) -> (&'a [u8], &'a mut [u8]) {
    assert_eq!(src.len(), dest.len(), "bitshuffle: lengths of source and destination");
    let (items, rest) = src.split_at(transposed(typesize.max(1), rule, src.len()));
    let (to, to_rest) = dest.split_at_mut(items.len());
    to_rest.copy_from_slice(rest);
    (items, to)
}

/// The number of bytes that are transposed in a block of `len` bytes.
fn transposed(typesize: usize, rule: BitshuffleRule, len: usize) -> usize {
    let nitems = len / typesize;
    match rule {
        BitshuffleRule::Blosc1 if !nitems.is_multiple_of(8) => 0,
        BitshuffleRule::Blosc1 | BitshuffleRule::Blosc2 => (nitems - nitems % 8) * typesize,
    }
}

/// Bitshuffle as a filter of the format.
pub(crate) const FILTER: Builtin = Builtin::lossless(
    FilterId::BITSHUFFLE,
    |cx, _meta, src, dest| {
        bitshuffle_with(cx.simd, cx.typesize, cx.bitshuffle, src, dest);
        Ok(())
    },
    |cx, _meta, src, dest| {
        bitunshuffle_with(cx.simd, cx.stores, cx.typesize, cx.bitshuffle, src, dest);
        Ok(())
    },
);

#[cfg(test)]
mod tests {
    use super::BitshuffleRule::{Blosc1, Blosc2};
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    fn shuffled(typesize: usize, rule: BitshuffleRule, src: &[u8]) -> Vec<u8> {
        let mut dest = vec![0xEE; src.len()];
        bitshuffle(typesize, rule, src, &mut dest);
        dest
    }

    fn noise(len: usize) -> Vec<u8> {
        (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
    }

    #[test]
    fn rows_hold_one_bit_of_all_items() {
        let src = [1, 0, 2, 0, 3, 0, 0, 1, 1, 1, 0, 0x80, 0xff, 0xff, 0, 0, 0x11, 0x22, 0x33];
        let rows = [
            0x55, 0x46, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x58, 0x40, 0x40, 0x40, 0x40, 0x40,
            0x40, 0x60,
        ];
        let expected = [&rows[..], &[0x11, 0x22, 0x33]].concat();
        assert_eq!(shuffled(2, Blosc2, &src), expected);
    }

    #[test]
    fn every_bit_stands_where_the_definition_says() {
        for (typesize, len) in [(1, 70), (3, 100), (4, 131), (7, 600)] {
            let (src, nitems) = (noise(len), len / typesize / 8 * 8);
            let dest = shuffled(typesize, Blosc2, &src);
            for (i, j, k) in (0..nitems)
                .flat_map(|i| (0..typesize).flat_map(move |j| (0..8).map(move |k| (i, j, k))))
            {
                let row = &dest[(8 * j + k) * nitems / 8..];
                assert_eq!(
                    row[i / 8] >> (i % 8) & 1,
                    src[i * typesize + j] >> k & 1,
                    "item {i}, byte {j}, bit {k}"
                );
            }
        }
    }

    #[test]
    fn version_2_copies_blocks_of_other_than_a_multiple_of_eight_items() {
        let src = noise(50);
        assert_eq!(shuffled(4, Blosc1, &src), src); // 12 items
        assert_eq!(shuffled(6, Blosc1, &src), shuffled(6, Blosc2, &src)); // 8 items and 2 bytes
        assert_ne!(shuffled(6, Blosc1, &src), src);
        assert_eq!(shuffled(6, Blosc1, &src)[48..], src[48..]);
    }

    #[test]
    fn bitunshuffle_undoes_bitshuffle() {
        for (rule, typesize) in
            [Blosc1, Blosc2].into_iter().flat_map(|r| (1..=40).chain([255]).map(move |t| (r, t)))
        {
            for len in (0..=100).chain([255 * 8, 255 * 16 + 3]) {
                let src = noise(len);
                let mut restored = vec![0xEE; len];
                bitunshuffle(typesize, rule, &shuffled(typesize, rule, &src), &mut restored);
                assert_eq!(restored, src, "typesize {typesize}, {len} bytes, {rule:?}");
            }
        }
    }
}
