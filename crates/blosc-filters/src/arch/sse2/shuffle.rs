//! Byte and bit shuffle with SSE2.

use core::arch::x86_64::*;

use super::super::tiled::{tiled_bit_kernels, tiled_kernels};
use super::super::vector16::{instructions, vector16_kernels};

vector16_kernels!("sse2", __m128i);

instructions! {
    "sse2":
    interleave_low(a: __m128i, b: __m128i) -> __m128i = _mm_unpacklo_epi8(a, b);
    interleave_high(a: __m128i, b: __m128i) -> __m128i = _mm_unpackhi_epi8(a, b);
    and(a: __m128i, b: __m128i) -> __m128i = _mm_and_si128(a, b);
    xor(a: __m128i, b: __m128i) -> __m128i = _mm_xor_si128(a, b);
    splat(byte: u8) -> __m128i = _mm_set1_epi8(byte.cast_signed());
    shift_right<const BITS>(a: __m128i) -> __m128i = _mm_srli_epi16::<BITS>(a);
    shift_left<const BITS>(a: __m128i) -> __m128i = _mm_slli_epi16::<BITS>(a);
}
