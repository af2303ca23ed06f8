//! Transpositions between registers: `W` items of up to `W` bytes, times `16 / W` per lane, to `W`
//! rows and back.
//!
//! A tile of 32 items is a matrix of 32 x `G` bytes. Each lane takes 16 of the items, so that one
//! row of the result fills one register. In a lane, with `W` the power of two from `G` up:
//!
//! ```text
//!   W = 4, G = 3    4 loads of 4 items each (and 4 bytes of the next)   a0 a1 a2 b0 b1 b2 c0 c1 c2 d0 d1 d2 . . . .
//!   gather          one permutation within the lane                     a0 b0 c0 d0 a1 b1 c1 d1 a2 b2 c2 d2 . . . .
//!   transpose       the 4 x 4 matrix of dwords in 4 registers           a0 b0 c0 d0 e0 f0 g0 h0 i0 j0 k0 l0 m0 ...
//!                                                                       a1 b1 c1 d1 ...
//!                                                                       a2 b2 c2 d2 ...
//! ```
//!
//! The transposition is log2(W) rounds, each of which interleaves register i with register i + W/2:
//! the index of a unit (register, position) is rotated by one bit in each round. Backwards, log2(W)
//! rounds that interleave bytes make registers of whole items of `W` bytes, and a permutation
//! closes the gaps.

use core::arch::x86_64::*;
use core::array;
use core::hint::black_box;

use zerocopy::transmute;

use super::super::tiled::bounded;
use super::{load_lanes, store16, store32};

/// Bytes from the start of 64 items to the end of the last 16 that are loaded or stored.
pub(super) const fn reach(g: usize, w: usize) -> usize {
    (64 - 16 / w) * g + 16
}

/// The order of bytes within a lane that brings byte `j` of its items to unit `j`.
///
/// The order is not known at compile time: LLVM would merge the permutation with the interleaving
/// after it, into twice as many instructions.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn gather<const G: usize, const W: usize>() -> __m256i {
    let order: [u8; 16] = const {
        let mut order = [0; 16];
        let mut to = 0;
        while to < 16 {
            let (j, i) = (to / (16 / W), to % (16 / W));
            order[to] = if j < G { (i * G + j).to_le_bytes()[0] } else { 0 };
            to += 1;
        }
        order
    };
    black_box(transmute!([order; 2]))
}

/// The order of bytes that keeps, of each `W` bytes of a lane, the first `G`.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn scatter<const G: usize, const W: usize>() -> __m256i {
    let order: [u8; 16] = const {
        let mut order = [0; 16];
        let mut to = 0;
        while to < 16 / W * G {
            order[to] = (to / G * W + to % G).to_le_bytes()[0];
            to += 1;
        }
        order
    };
    transmute!([order; 2])
}

/// 32 items of `G` bytes as `G` rows of 32 bytes, and `W - G` meaningless rows.
///
/// Reads 16 bytes at a time, the last of them from byte `(32 - 16 / W) * G` on.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn load_items<const G: usize, const W: usize>(
    items: &[u8],
    gather: __m256i,
) -> [__m256i; W] {
    let mut rows = [_mm256_setzero_si256(); W];
    for (k, row) in rows.iter_mut().enumerate() {
        let at = k * (16 / W) * G;
        *row = load_lanes(items, at, at + 16 * G);
        if W < 16 {
            *row = _mm256_shuffle_epi8(*row, gather);
        }
    }
    transpose(rows)
}

/// Undoes [`load_items`]. Writes 16 bytes at a time in ascending order, even if an item ends
/// earlier.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn store_items<const G: usize, const W: usize>(
    rows: [__m256i; W],
    items: &mut [u8],
    scatter: __m256i,
) {
    let rows = if W == 16 { transpose(rows) } else { interleave_to_items::<G, W>(rows, scatter) };
    if G == W && W <= 8 {
        for (k, [a, b]) in rows.as_chunks().0.iter().enumerate() {
            store32(items, 32 * k, _mm256_permute2x128_si256::<0x20>(*a, *b));
        }
        for (k, [a, b]) in rows.as_chunks().0.iter().enumerate() {
            store32(items, 32 * (k + W / 2), _mm256_permute2x128_si256::<0x31>(*a, *b));
        }
        return;
    }
    for (k, row) in rows.iter().enumerate() {
        store16(items, k * (16 / W) * G, _mm256_castsi256_si128(*row));
    }
    for (k, row) in rows.iter().enumerate() {
        store16(items, (16 + k * (16 / W)) * G, _mm256_extracti128_si256::<1>(*row));
    }
}

/// Bytes 0..16 of 32 items of `typesize` bytes, as rows.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn load_column(typesize: usize, items: &[u8], _gather: __m256i) -> [__m256i; 16] {
    transpose_bytes(bounded!(
        32,
        typesize,
        items.first_chunk,
        array::from_fn(|k| load_lanes(items, k * typesize, (k + 16) * typesize))
    ))
}

/// Undoes [`load_column`].
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn store_column(
    rows: [__m256i; 16],
    typesize: usize,
    items: &mut [u8],
    _scatter: __m256i,
) {
    let rows = transpose_bytes(rows);
    bounded!(32, typesize, items.first_chunk_mut, {
        for (k, row) in rows.iter().enumerate() {
            store16(items, k * typesize, _mm256_castsi256_si128(*row));
        }
        for (k, row) in rows.iter().enumerate() {
            store16(items, (k + 16) * typesize, _mm256_extracti128_si256::<1>(*row));
        }
    });
}

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn interleave_to_items<const G: usize, const W: usize>(
    rows: [__m256i; W],
    scatter: __m256i,
) -> [__m256i; W] {
    let mut rows = rows;
    for _ in 0..W.ilog2() {
        rows = interleave_bytes(rows);
    }
    if G < W {
        for row in &mut rows {
            *row = _mm256_shuffle_epi8(*row, scatter);
        }
    }
    rows
}

/// Transposes, in each lane, the matrix of `W` x `W` units of `16 / W` bytes.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose<const W: usize>(rows: [__m256i; W]) -> [__m256i; W] {
    if W == 16 {
        return transpose_bytes(rows);
    }
    let mut rows = rows;
    for _ in 0..W.ilog2() {
        rows = interleave(rows);
    }
    rows
}

/// As [`transpose`] for W = 16, in halves, since there are only 16 registers in all.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose_bytes<const W: usize>(rows: [__m256i; W]) -> [__m256i; W] {
    let mut halves = [[_mm256_setzero_si256(); 8]; 2];
    for (half, rows) in halves.iter_mut().zip(rows.as_chunks().0) {
        *half = interleave_bytes(interleave_bytes(interleave_bytes(*rows)));
    }
    let mut transposed = [_mm256_setzero_si256(); W];
    for i in 0..W / 2 {
        transposed[2 * i] = _mm256_unpacklo_epi64(halves[0][i], halves[1][i]);
        transposed[2 * i + 1] = _mm256_unpackhi_epi64(halves[0][i], halves[1][i]);
    }
    transposed
}

/// One round: register `i` with register `i + W/2`, in units of `16 / W` bytes.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn interleave<const W: usize>(rows: [__m256i; W]) -> [__m256i; W] {
    let mut mixed = [_mm256_setzero_si256(); W];
    for i in 0..W / 2 {
        let (a, b) = (rows[i], rows[i + W / 2]);
        (mixed[2 * i], mixed[2 * i + 1]) = match W {
            2 => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
            4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
            8 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
            _ => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
        };
    }
    mixed
}

/// One round: register `i` with register `i + W/2`, in bytes.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn interleave_bytes<const W: usize>(rows: [__m256i; W]) -> [__m256i; W] {
    let mut mixed = [_mm256_setzero_si256(); W];
    for i in 0..W / 2 {
        mixed[2 * i] = _mm256_unpacklo_epi8(rows[i], rows[i + W / 2]);
        mixed[2 * i + 1] = _mm256_unpackhi_epi8(rows[i], rows[i + W / 2]);
    }
    mixed
}
