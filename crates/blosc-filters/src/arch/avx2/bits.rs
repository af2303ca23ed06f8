//! Bit shuffle of 256 bytes of a plane: register `e` gets byte `e` of each of 32 groups of eight.
//! Then bits and registers are exchanged, in three rounds that exchange blocks of 4, 2 and 1 bits
//! across the diagonal, and register `k` holds row `k`.

use core::arch::x86_64::*;

use super::transpose::{load_items, store_items};

/// 256 bytes to eight rows.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn load_bits(groups: &[u8], gather: __m256i) -> [__m256i; 8] {
    exchange_bits(load_items::<8, 8>(groups, gather))
}

/// Undoes [`load_bits`].
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn store_bits(rows: [__m256i; 8], groups: &mut [u8], scatter: __m256i) {
    store_items::<8, 8>(exchange_bits(rows), groups, scatter);
}

/// Bit `k` of register `e` becomes bit `e` of register `k`.
#[target_feature(enable = "avx2")]
#[inline]
fn exchange_bits(rows: [__m256i; 8]) -> [__m256i; 8] {
    let mut rows = rows;
    for i in [0, 1, 2, 3] {
        (rows[i], rows[i + 4]) = exchange::<4>(rows[i], rows[i + 4], 0x0F);
    }
    for i in [0, 1, 4, 5] {
        (rows[i], rows[i + 2]) = exchange::<2>(rows[i], rows[i + 2], 0x33);
    }
    for i in [0, 2, 4, 6] {
        (rows[i], rows[i + 1]) = exchange::<1>(rows[i], rows[i + 1], 0x55);
    }
    rows
}

/// Exchanges the upper bits of `a` with the lower ones of `b`, in blocks of `SHIFT` bits.
#[target_feature(enable = "avx2")]
#[inline]
fn exchange<const SHIFT: i32>(a: __m256i, b: __m256i, lower: i8) -> (__m256i, __m256i) {
    let differing = _mm256_xor_si256(_mm256_srli_epi16::<SHIFT>(a), b);
    let differing = _mm256_and_si256(differing, _mm256_set1_epi8(lower));
    (_mm256_xor_si256(a, _mm256_slli_epi16::<SHIFT>(differing)), _mm256_xor_si256(b, differing))
}
