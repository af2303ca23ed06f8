//! Byte and bit shuffle with AVX2.

use core::arch::x86_64::__m256i;

use super::super::tiled::{tiled_bit_kernels, tiled_kernels};
use super::bits::{load_bits, store_bits};
use super::transpose::{
    gather, load_column, load_items, reach, scatter, store_column, store_items,
};

tiled_kernels!("avx2", __m256i, 32);
tiled_bit_kernels!("avx2");

/// Whether to shuffle by way of a buffer. If corresponding bytes of all planes are in the same few
/// sets of the first-level cache, they evict each other's lines half written. That is the common
/// case, because the length of blocks is a power of two. (Reading such planes costs less.)
pub(super) const fn in_strips(typesize: usize, nitems: usize) -> bool {
    match typesize {
        ..8 => false,
        // Eight lines fit the eight ways of a set; with planes 2 KiB apart, four are in each.
        8 => nitems.is_multiple_of(4096),
        _ => nitems.is_multiple_of(2048),
    }
}

const UNSHUFFLE_IN_STRIPS: bool = true;
const PLANES: usize = 32;
