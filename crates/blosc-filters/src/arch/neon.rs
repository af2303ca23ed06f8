//! NEON, which every 64-bit Arm processor has.
#![forbid(unsafe_code)]

mod shuffle;

use super::scalar;

pub(super) use shuffle::{bitshuffle, bitunshuffle, shuffle, unshuffle, unshuffle_planes};

/// The scalar implementation; NEON has none yet.
#[target_feature(enable = "neon")]
pub(super) fn running_xor(width: usize, src: &[u8], dest: &mut [u8]) {
    scalar::running_xor(width, src, dest);
}

/// As [`running_xor`].
#[target_feature(enable = "neon")]
pub(super) fn running_sum(src: &[u8], dest: &mut [u8]) {
    scalar::running_sum(src, dest);
}
