//! Byte and bit shuffle with NEON.

use core::arch::aarch64::*;

use super::super::tiled::{tiled_bit_kernels, tiled_kernels};
use super::super::vector16::{instructions, vector16_kernels};

vector16_kernels!("neon", uint8x16_t);

instructions! {
    "neon":
    interleave_low(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = vzip1q_u8(a, b);
    interleave_high(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = vzip2q_u8(a, b);
    and(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = vandq_u8(a, b);
    xor(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = veorq_u8(a, b);
    splat(byte: u8) -> uint8x16_t = vdupq_n_u8(byte);
    shift_right<const BITS>(a: uint8x16_t) -> uint8x16_t = vshrq_n_u8::<BITS>(a);
    shift_left<const BITS>(a: uint8x16_t) -> uint8x16_t = vshlq_n_u8::<BITS>(a);
}
