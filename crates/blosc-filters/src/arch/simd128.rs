//! SIMD128 of WebAssembly, which all browsers have since 2023.
#![forbid(unsafe_code)]

mod shuffle;

pub(super) use super::scalar::{running_sum, running_xor};
pub(super) use shuffle::{bitshuffle, bitunshuffle, shuffle, unshuffle, unshuffle_planes};
