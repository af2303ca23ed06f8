//! Byte and bit shuffle with AVX-512.

use core::arch::x86_64::__m512i;

use super::super::tiled::tiled_kernels;
use super::bits::{load_bits, store_bits};
use super::transpose::{gather, load_column, load_items, reach, scatter, store_column, store_items};

tiled_kernels!("avx512f,avx512bw,avx512vl,avx512vbmi,gfni", __m512i, 64);

/// Each row is written as a whole, so that no line is evicted half written.
const fn in_strips(_typesize: usize, _nitems: usize) -> bool {
    false
}
