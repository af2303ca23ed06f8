//! Bit shuffle with AVX2, in strips of 512 items: shuffled by bytes into a buffer, then each plane of bytes by bits,
//! so that a whole cache line of each row is written at a time.
//!
//! Of a plane, 256 bytes at a time: register `e` gets byte `e` of each of 32 groups of eight. Now bits `e` of the
//! result and registers change places, in three rounds that exchange blocks of 4, 2 and 1 bits across the diagonal, and
//! register `k` holds row `k`.

use core::arch::x86_64::*;

use zerocopy::transmute;

use super::super::{scalar, strips::strips};
use super::load32;
use super::strip::{STRIP, columns, shuffle_strip, unshuffle_strip};
use super::transpose::{gather, load_items, scatter, store_items};

/// Bytes of a strip in one row of bits.
const ROW: usize = STRIP / 8;

/// Transposes the bits of a multiple of eight items.
#[target_feature(enable = "avx2")]
pub(in super::super) fn bitshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let nitems = src.len() / typesize;
    if nitems < STRIP {
        return scalar::bitshuffle(typesize, src, dest);
    }
    let mut planes = [[0; STRIP]; 16];
    for (first, _) in strips(nitems, STRIP) {
        let items = &src[first * typesize..];
        if typesize == 1 {
            bitshuffle_plane(items, &mut dest[first / 8..], nitems / 8);
            continue;
        }
        for column in columns(typesize) {
            shuffle_strip(typesize, column, items, &mut planes);
            for (j, plane) in planes.iter().take(typesize).enumerate() {
                bitshuffle_plane(plane, &mut dest[(column + j) * nitems + first / 8..], nitems / 8);
            }
        }
    }
}

/// Undoes [`bitshuffle`].
#[target_feature(enable = "avx2")]
pub(in super::super) fn bitunshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let nitems = src.len() / typesize;
    if nitems < STRIP {
        return scalar::bitunshuffle(typesize, src, dest);
    }
    let mut planes = [[0; STRIP]; 16];
    for (first, _) in strips(nitems, STRIP) {
        let items = &mut dest[first * typesize..];
        if typesize == 1 {
            bitunshuffle_plane(&src[first / 8..], nitems / 8, items);
            continue;
        }
        for column in columns(typesize) {
            for (j, plane) in planes.iter_mut().take(typesize).enumerate() {
                bitunshuffle_plane(&src[(column + j) * nitems + first / 8..], nitems / 8, plane);
            }
            unshuffle_strip(typesize, column, &planes, items);
        }
    }
}

/// The first 512 bytes of `plane` to eight rows of 64 bytes, `stride` apart.
#[target_feature(enable = "avx2")]
fn bitshuffle_plane(plane: &[u8], rows: &mut [u8], stride: usize) {
    let gather = gather::<8, 8>();
    let mut lines = [[[0; ROW / 2]; 2]; 8];
    for (half, groups) in plane[..STRIP].chunks_exact(STRIP / 2).enumerate() {
        let bits = exchange_bits(load_items::<8, 8>(groups, gather));
        for (line, row) in lines.iter_mut().zip(bits) {
            line[half] = transmute!(row);
        }
    }
    for (k, line) in lines.iter().enumerate() {
        rows[k * stride..][..ROW].copy_from_slice(line.as_flattened());
    }
}

/// Undoes [`bitshuffle_plane`].
#[target_feature(enable = "avx2")]
fn bitunshuffle_plane(rows: &[u8], stride: usize, plane: &mut [u8]) {
    let scatter = scatter::<8, 8>();
    for (half, groups) in plane[..STRIP].chunks_exact_mut(STRIP / 2).enumerate() {
        let mut bits = [_mm256_setzero_si256(); 8];
        for (k, row) in bits.iter_mut().enumerate() {
            *row = load32(rows, k * stride + half * ROW / 2);
        }
        store_items::<8, 8>(exchange_bits(bits), groups, scatter);
    }
}

/// Bit `k` of register `e` becomes bit `e` of register `k`.
#[target_feature(enable = "avx2")]
#[inline]
fn exchange_bits(rows: [__m256i; 8]) -> [__m256i; 8] {
    let mut rows = rows;
    for i in [0, 1, 2, 3] {
        (rows[i], rows[i + 4]) = exchange::<4>(rows[i], rows[i + 4], 0x0F);
    }
    for i in [0, 1, 4, 5] {
        (rows[i], rows[i + 2]) = exchange::<2>(rows[i], rows[i + 2], 0x33);
    }
    for i in [0, 2, 4, 6] {
        (rows[i], rows[i + 1]) = exchange::<1>(rows[i], rows[i + 1], 0x55);
    }
    rows
}

/// Exchanges the upper bits of `a` with the lower ones of `b`, in blocks of `SHIFT` bits.
#[target_feature(enable = "avx2")]
#[inline]
fn exchange<const SHIFT: i32>(a: __m256i, b: __m256i, lower: i8) -> (__m256i, __m256i) {
    let differing = _mm256_xor_si256(_mm256_srli_epi16::<SHIFT>(a), b);
    let differing = _mm256_and_si256(differing, _mm256_set1_epi8(lower));
    (_mm256_xor_si256(a, _mm256_slli_epi16::<SHIFT>(differing)), _mm256_xor_si256(b, differing))
}
