//! Bit shuffle of 512 bytes of a plane.
//!
//! `gf2p8affineqb` multiplies matrices of 8 x 8 bits: bit `i` of byte `k` of the result is the parity of byte `7 - i`
//! of one operand and byte `k` of the other. With bit `k` alone set in byte `k` of the latter, that is bit `k` of byte
//! `7 - i`: the transposed matrix, if the order of bytes is reversed before.

use core::arch::x86_64::*;

use zerocopy::transmute;

use super::transpose::transpose;
use super::{load, permute, store};

/// 512 bytes to eight rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn load_bits(groups: &[u8], gather: __m512i) -> [__m512i; 8] {
    let mut rows = [_mm512_setzero_si512(); 8];
    for (k, row) in rows.iter_mut().enumerate() {
        let reversed = permute(transmute!(REVERSE), load(groups, 64 * k));
        *row = permute(gather, transpose_reversed(reversed));
    }
    transpose(rows)
}

/// Undoes [`load_bits`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn store_bits(rows: [__m512i; 8], groups: &mut [u8], scatter: __m512i) {
    let scatter_reversed = permute(transmute!(REVERSE), scatter);
    for (k, row) in transpose(rows).into_iter().enumerate() {
        store(groups, 64 * k, transpose_reversed(permute(scatter_reversed, row)));
    }
}

/// Transposes the bits of each qword whose bytes are in reversed order.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn transpose_reversed(reversed: __m512i) -> __m512i {
    let diagonal = _mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed());
    _mm512_gf2p8affine_epi64_epi8::<0>(diagonal, reversed)
}

/// The order of bytes that reverses each qword.
const REVERSE: [u8; 64] = {
    let mut order = [0; 64];
    let mut to = 0;
    while to < 64 {
        order[to] = (to ^ 7).to_le_bytes()[0];
        to += 1;
    }
    order
};
