//! Unshuffle of items of two and four bytes straight from plane to item, without tiles.
//!
//! In the first-level cache one register of 32 bytes is stored in a cycle, and the preparations of
//! a tile are a fifth of its time. Here a step is as short as it can be:
//!
//! ```text
//!   planes            a: a0 .. a15 | a16 .. a31     b: the same
//!   bytes, low half   a0 b0 .. a7 b7 | a16 b16 .. a23 b23
//!   bytes, high half  a8 b8 ..       | a24 b24 ..
//!   low lanes of both, then high lanes of both: 32 items in order
//! ```

use core::arch::x86_64::*;

use zerocopy::transmute;

use super::super::scalar;

/// Bytes of a register.
const WIDTH: usize = 32;

/// Whether this module has a kernel for items of this size.
pub(in super::super) const fn has(typesize: usize) -> bool {
    matches!(typesize, 2 | 4)
}

/// Undoes a shuffle if [`has`] is true. Each plane has a byte for every item of `dest`.
#[target_feature(enable = "avx2")]
pub(in super::super) fn unshuffle_planes(planes: &[&[u8]], dest: &mut [u8]) {
    let typesize = planes.len();
    match *planes {
        [a, b] => unshuffle_2(a, b, dest),
        [a, b, c, d] => unshuffle_4([a, b, c, d], dest),
        _ => return scalar::unshuffle_planes(planes, dest),
    }
    let done = dest.len() / typesize / WIDTH * WIDTH;
    scalar::unshuffle_from(planes, done, &mut dest[done * typesize..]);
}

/// Restores as many items as fill whole registers.
#[target_feature(enable = "avx2")]
fn unshuffle_2(a: &[u8], b: &[u8], dest: &mut [u8]) {
    let planes = a.as_chunks::<WIDTH>().0.iter().zip(b.as_chunks::<WIDTH>().0);
    for ((a, b), items) in planes.zip(dest.as_chunks_mut::<{ 2 * WIDTH }>().0) {
        let [low, high] = interleave_bytes(transmute!(*a), transmute!(*b));
        *items = transmute!(lanes_in_order(low, high));
    }
}

/// Restores as many items as fill whole registers.
#[target_feature(enable = "avx2")]
fn unshuffle_4([a, b, c, d]: [&[u8]; 4], dest: &mut [u8]) {
    let planes = a.as_chunks::<WIDTH>().0.iter().zip(b.as_chunks::<WIDTH>().0);
    let planes = planes.zip(c.as_chunks::<WIDTH>().0).zip(d.as_chunks::<WIDTH>().0);
    for ((((a, b), c), d), items) in planes.zip(dest.as_chunks_mut::<{ 4 * WIDTH }>().0) {
        let [ab_low, ab_high] = interleave_bytes(transmute!(*a), transmute!(*b));
        let [cd_low, cd_high] = interleave_bytes(transmute!(*c), transmute!(*d));
        // Items 0 to 3, 4 to 7, 8 to 11 and 12 to 15 in the low lanes, 16 more in the high ones.
        let first = _mm256_unpacklo_epi16(ab_low, cd_low);
        let second = _mm256_unpackhi_epi16(ab_low, cd_low);
        let third = _mm256_unpacklo_epi16(ab_high, cd_high);
        let fourth = _mm256_unpackhi_epi16(ab_high, cd_high);
        let [items_0, items_16] = lanes_in_order(first, second);
        let [items_8, items_24] = lanes_in_order(third, fourth);
        *items = transmute!([items_0, items_8, items_16, items_24]);
    }
}

/// Interleaves the bytes of both within each lane: those of its low half, then those of its high
/// half.
#[target_feature(enable = "avx2")]
#[inline]
fn interleave_bytes(a: __m256i, b: __m256i) -> [__m256i; 2] {
    [_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)]
}

/// The low lanes of both, the high lanes of both.
#[target_feature(enable = "avx2")]
#[inline]
fn lanes_in_order(a: __m256i, b: __m256i) -> [__m256i; 2] {
    [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b)]
}
