//! Byte and bit shuffle with SIMD128.

use core::arch::wasm32::*;

use super::super::tiled::{tiled_bit_kernels, tiled_kernels};
use super::super::vector16::{instructions, vector16_kernels};

vector16_kernels!("simd128", v128);

// Shifts move bits between the bytes of a word, and the kernels mask these away.
instructions! {
    "simd128":
    interleave_low(a: v128, b: v128) -> v128 =
        i8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b);
    interleave_high(a: v128, b: v128) -> v128 =
        i8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b);
    and(a: v128, b: v128) -> v128 = v128_and(a, b);
    xor(a: v128, b: v128) -> v128 = v128_xor(a, b);
    splat(byte: u8) -> v128 = u8x16_splat(byte);
    shift_right<const BITS>(a: v128) -> v128 = u16x8_shr(a, BITS.cast_unsigned());
    shift_left<const BITS>(a: v128) -> v128 = u16x8_shl(a, BITS.cast_unsigned());
}
