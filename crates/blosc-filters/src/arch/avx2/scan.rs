//! Running XOR and running sum with AVX2.
//!
//! Within a lane, each word is combined with the one before, then with the two before those, and so
//! on. Then the upper lane is combined with the last word of the lower one, and all words with the
//! total of the registers before. Only this last step, one instruction, waits for the register
//! before.

use core::arch::x86_64::*;

use zerocopy::transmute;

/// Each word of `width` bytes (1, 2, 4 or 8) becomes the XOR of all words up to it. `src` holds
/// whole words.
#[target_feature(enable = "avx2")]
pub(in super::super) fn running_xor(width: usize, src: &[u8], dest: &mut [u8]) {
    match width {
        1 => scan::<1, false>(src, dest),
        2 => scan::<2, false>(src, dest),
        4 => scan::<4, false>(src, dest),
        _ => scan::<8, false>(src, dest),
    };
}

/// Each byte becomes the sum of all bytes up to it (mod 256).
#[target_feature(enable = "avx2")]
pub(in super::super) fn running_sum(src: &[u8], dest: &mut [u8]) {
    scan::<1, true>(src, dest);
}

#[target_feature(enable = "avx2")]
fn scan<const W: usize, const SUM: bool>(src: &[u8], dest: &mut [u8]) {
    let last_word: __m256i = transmute!([const { last_word(W) }; 2]);
    let mut before = _mm256_setzero_si256();
    let (registers, rest) = src.as_chunks::<32>();
    let (to, to_rest) = dest.as_chunks_mut::<32>();
    for (to, bytes) in to.iter_mut().zip(registers) {
        let all = in_register::<W, SUM>(transmute!(*bytes), last_word);
        *to = transmute!(add::<SUM>(all, before));
        let total = _mm256_shuffle_epi8(_mm256_permute2x128_si256::<0x11>(all, all), last_word);
        before = add::<SUM>(before, total);
    }
    let mut last = [0; 32];
    last[..rest.len()].copy_from_slice(rest);
    let all = in_register::<W, SUM>(transmute!(last), last_word);
    last = transmute!(add::<SUM>(all, before));
    to_rest.copy_from_slice(&last[..rest.len()]);
}

/// The running totals of the words of one register.
#[target_feature(enable = "avx2")]
#[inline]
fn in_register<const W: usize, const SUM: bool>(words: __m256i, last_word: __m256i) -> __m256i {
    let mut all = words;
    if W <= 1 {
        all = add::<SUM>(all, _mm256_bslli_epi128::<1>(all));
    }
    if W <= 2 {
        all = add::<SUM>(all, _mm256_bslli_epi128::<2>(all));
    }
    if W <= 4 {
        all = add::<SUM>(all, _mm256_bslli_epi128::<4>(all));
    }
    all = add::<SUM>(all, _mm256_bslli_epi128::<8>(all));
    // The lower lane, moved up; zeros below.
    let lower = _mm256_permute2x128_si256::<0x08>(all, all);
    add::<SUM>(all, _mm256_shuffle_epi8(lower, last_word))
}

/// Adds bytes for a sum; otherwise XORs.
#[target_feature(enable = "avx2")]
#[inline]
fn add<const SUM: bool>(a: __m256i, b: __m256i) -> __m256i {
    if SUM { _mm256_add_epi8(a, b) } else { _mm256_xor_si256(a, b) }
}

/// The order of bytes that repeats the last word of a lane.
const fn last_word(width: usize) -> [u8; 16] {
    let mut order = [0; 16];
    let mut to = 0;
    while to < 16 {
        order[to] = (16 - width + to % width).to_le_bytes()[0];
        to += 1;
    }
    order
}
