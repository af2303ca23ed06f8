//! Byte and bit shuffle with NEON.

use core::arch::aarch64::*;

use super::super::tiled::{tiled_bit_kernels, tiled_kernels};
use super::super::vector16::vector16_kernels;

vector16_kernels!("neon", uint8x16_t);

#[target_feature(enable = "neon")]
#[inline]
fn interleave_low(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vzip1q_u8(a, b)
}

#[target_feature(enable = "neon")]
#[inline]
fn interleave_high(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vzip2q_u8(a, b)
}

#[target_feature(enable = "neon")]
#[inline]
fn and(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vandq_u8(a, b)
}

#[target_feature(enable = "neon")]
#[inline]
fn xor(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    veorq_u8(a, b)
}

#[target_feature(enable = "neon")]
#[inline]
fn splat(byte: u8) -> uint8x16_t {
    vdupq_n_u8(byte)
}

#[target_feature(enable = "neon")]
#[inline]
fn shift_right<const BITS: i32>(a: uint8x16_t) -> uint8x16_t {
    vshrq_n_u8::<BITS>(a)
}

#[target_feature(enable = "neon")]
#[inline]
fn shift_left<const BITS: i32>(a: uint8x16_t) -> uint8x16_t {
    vshlq_n_u8::<BITS>(a)
}
