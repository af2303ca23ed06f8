//! Byte shuffle with AVX-512.

use core::arch::x86_64::*;
use core::hint::black_box;

use super::super::tiled::{in_a_set, tiled_kernels};
use super::transpose::{
    gather, load_column, load_items, reach, scatter, store_column, store_items,
};

tiled_kernels!("avx512f,avx512bw,avx512vl,avx512vbmi,gfni", __m512i, 64);

/// Where corresponding bytes of more planes than a set of the first-level cache has ways are in the
/// same set, they evict each other's lines half written.
const fn in_strips(typesize: usize, nitems: usize) -> bool {
    nitems >= STRIP && in_a_set(typesize, nitems) > 8
}

const UNSHUFFLE_IN_STRIPS: bool = false;

/// Items of two bytes, half a line of each plane at a time.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn shuffle_pairs(src: &[u8], dest: &mut [u8]) {
    let (lines, rest) = src.as_chunks::<64>();
    let (low, high) = dest.split_at_mut(src.len() / 2);
    let gather: __m256i = transmute!(black_box(EVEN_THEN_ODD));
    let ((low, low_rest), (high, high_rest)) =
        (low.as_chunks_mut::<32>(), high.as_chunks_mut::<32>());
    for ((line, low), high) in lines.iter().zip(low).zip(high) {
        let [a, b]: [__m256i; 2] = transmute!(*line);
        let [a, b] = [permute_half(gather, a), permute_half(gather, b)];
        *low = transmute!(_mm256_permute2x128_si256::<0x20>(a, b));
        *high = transmute!(_mm256_permute2x128_si256::<0x31>(a, b));
    }
    for ((item, low), high) in rest.as_chunks().0.iter().zip(low_rest).zip(high_rest) {
        [*low, *high] = *item;
    }
}

const EVEN_THEN_ODD: [u8; 32] = {
    let mut order = [0; 32];
    let mut to = 0;
    while to < 32 {
        order[to as usize] = to % 16 * 2 + to / 16;
        to += 1;
    }
    order
};

/// Byte `i` of the result is byte `order[i]` of `bytes`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn permute_half(order: __m256i, bytes: __m256i) -> __m256i {
    // Miri does not know the instruction for one source, only that for two.
    if cfg!(miri) {
        _mm256_permutex2var_epi8(bytes, order, bytes)
    } else {
        _mm256_permutexvar_epi8(order, bytes)
    }
}
