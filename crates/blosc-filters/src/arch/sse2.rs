//! SSE2, which every 64-bit x86 processor has.
#![forbid(unsafe_code)]

mod shuffle;

use super::scalar;

pub(super) use shuffle::{bitshuffle, bitunshuffle, shuffle, unshuffle, unshuffle_planes};

/// The scalar implementation: SSE2 has no permutation of bytes, so it gains nothing.
#[target_feature(enable = "sse2")]
pub(super) fn running_xor(width: usize, src: &[u8], dest: &mut [u8]) {
    scalar::running_xor(width, src, dest);
}

/// As [`running_xor`].
#[target_feature(enable = "sse2")]
pub(super) fn running_sum(src: &[u8], dest: &mut [u8]) {
    scalar::running_sum(src, dest);
}
