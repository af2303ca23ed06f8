//! Byte shuffle with AVX-512.

use core::arch::x86_64::*;

use super::super::tiled::{in_a_set, tiled_kernels};
use super::transpose::{
    gather, load_column, load_items, reach, scatter, store_column, store_items,
};

tiled_kernels!("avx512f,avx512bw,avx512vl,avx512vbmi,gfni", __m512i, 64);

/// Whether to shuffle by way of a buffer. If corresponding bytes of planes are in the same set of
/// the first-level cache, and the planes outnumber its ways, they evict each other's lines half
/// written.
const fn in_strips(typesize: usize, nitems: usize) -> bool {
    nitems >= STRIP && in_a_set(typesize, nitems) > 8
}

const UNSHUFFLE_IN_STRIPS: bool = false;
