//! Bit shuffle of 512 bytes of a plane.
//!
//! `gf2p8affineqb` multiplies matrices of 8 x 8 bits: bit `i` of byte `k` of the result is the parity of byte `7 - i`
//! of one operand and byte `k` of the other. With bit `k` alone set in byte `k` of the latter, that is bit `k` of byte
//! `7 - i`: the transposed matrix, with the bits of each byte in reversed order. As the other operand, the same matrix
//! reverses them once more.

use core::arch::x86_64::*;

use super::transpose::{transpose, transpose_scattered};
use super::{load, permute, store};

/// 512 bytes to eight rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn load_bits(groups: &[u8], gather: __m512i) -> [__m512i; 8] {
    let mut rows = [_mm512_setzero_si512(); 8];
    for (k, row) in rows.iter_mut().enumerate() {
        *row = permute(gather, transpose_bits(load(groups, 64 * k)));
    }
    transpose(rows)
}

/// Undoes [`load_bits`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn store_bits(rows: [__m512i; 8], groups: &mut [u8], scatter: [__m512i; 2]) {
    for (k, row) in transpose_scattered(rows, scatter).into_iter().enumerate() {
        store(groups, 64 * k, transpose_bits(row));
    }
}

/// Transposes the bits of each qword.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn transpose_bits(bytes: __m512i) -> __m512i {
    let diagonal = _mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed());
    let reversed = _mm512_gf2p8affine_epi64_epi8::<0>(diagonal, bytes);
    _mm512_gf2p8affine_epi64_epi8::<0>(reversed, diagonal)
}
