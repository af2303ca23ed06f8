//! SSE2, which every 64-bit x86 processor has.
#![forbid(unsafe_code)]

mod shuffle;

use super::scalar;

pub(super) use shuffle::{bitshuffle, bitunshuffle, shuffle, unshuffle, unshuffle_planes};

/// The scalar one: without a permutation of bytes there is nothing to win.
#[target_feature(enable = "sse2")]
pub(super) fn running_xor(width: usize, src: &[u8], dest: &mut [u8]) {
    scalar::running_xor(width, src, dest);
}

/// As [`running_xor`].
#[target_feature(enable = "sse2")]
pub(super) fn running_sum(src: &[u8], dest: &mut [u8]) {
    scalar::running_sum(src, dest);
}
