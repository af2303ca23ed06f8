//! Transpositions between registers: 64 items of up to `W` bytes to `W` rows of 64 bytes, and back.
//!
//! A register is loaded with `64 / W` items of `G` bytes (and the bytes after them), and one
//! permutation brings byte `j` of each together in unit `j` of `64 / W` bytes. Then a matrix of `W`
//! x `W` units in `W` registers is transposed: first within the lanes of 16 bytes, in groups of
//! successive registers, then the lanes. The inverse is the same transposition; its last round
//! closes the gaps as well, by permutations of two registers. (The first round could gather as
//! well, but loads that cross two cache lines each time are slower.)

use core::arch::x86_64::*;
use core::hint::black_box;

use zerocopy::transmute;

use super::super::tiled::bounded;
use super::{load, load16, permute, permute_two, store, store16};

/// Bytes from the start of 64 items to the end of the last 64 that are loaded or stored.
pub(super) const fn reach(g: usize, w: usize) -> usize {
    (64 - 64 / w) * g + 64
}

/// The order of bytes that brings byte `j` of the items in a register to unit `j`.
///
/// The order is not known at compile time: LLVM might merge it with the rounds after it.
pub(super) fn gather<const G: usize, const W: usize>() -> __m512i {
    let order: [u8; 64] = const {
        let mut order = [0; 64];
        let mut to = 0;
        while to < 64 {
            let (j, i) = (to / (64 / W), to % (64 / W));
            order[to] = if j < G { (i * G + j).to_le_bytes()[0] } else { 0 };
            to += 1;
        }
        order
    };
    black_box(transmute!(order))
}

/// The inverse of [`gather`] for the bytes that items have, combined with the last round: the
/// sources of the bytes of two registers within two others.
pub(super) fn scatter<const G: usize, const W: usize>() -> [__m512i; 2] {
    let orders: [[u8; 64]; 2] = const {
        let mut orders = [[0; 64]; 2];
        let mut to = 0;
        while to < 128 {
            let (half, i, j) = (to / 64, to % 64 / G, to % 64 % G);
            if i < 64 / W {
                let unit = j * (64 / W) + i;
                let lane = unit / 16;
                let from = match W {
                    2 => 64 * j + 32 * half + i,
                    _ => 64 * (lane / 2) + (lane % 2 * 2 + half) * 16 + unit % 16,
                };
                orders[half][to % 64] = from.to_le_bytes()[0];
            }
            to += 1;
        }
        orders
    };
    black_box(transmute!(orders))
}

/// 64 items of `G` bytes as `G` rows, and `W - G` meaningless rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn load_items<const G: usize, const W: usize>(
    items: &[u8],
    gather: __m512i,
) -> [__m512i; W] {
    let mut rows = [_mm512_setzero_si512(); W];
    for (k, row) in rows.iter_mut().enumerate() {
        *row = permute(gather, load(items, k * (64 / W) * G));
    }
    transpose(rows)
}

/// Undoes [`load_items`]. Stores are in ascending order, since each may write some bytes beyond its
/// items.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn store_items<const G: usize, const W: usize>(
    rows: [__m512i; W],
    items: &mut [u8],
    scatter: [__m512i; 2],
) {
    for (k, row) in transpose_scattered(rows, scatter).into_iter().enumerate() {
        store(items, k * (64 / W) * G, row);
    }
}

/// Bytes 0..16 of 64 items of `typesize` bytes, as rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn load_column(typesize: usize, items: &[u8], gather: __m512i) -> [__m512i; 16] {
    let mut rows = column(typesize, items);
    for row in &mut rows {
        *row = permute(gather, *row);
    }
    transpose(rows)
}

/// Bytes 0..16 of 64 items of `typesize` bytes, four in each register.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn column(typesize: usize, items: &[u8]) -> [__m512i; 16] {
    let mut rows = [_mm512_setzero_si512(); 16];
    // Without closures, which would not be inlined.
    bounded!(64, typesize, items.first_chunk, {
        for (k, row) in rows.iter_mut().enumerate() {
            let [a, b] = [load16(items, 4 * k * typesize), load16(items, (4 * k + 1) * typesize)];
            let [c, d] =
                [load16(items, (4 * k + 2) * typesize), load16(items, (4 * k + 3) * typesize)];
            let [low, high] = [_mm256_set_m128i(b, a), _mm256_set_m128i(d, c)];
            *row = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
        }
    });
    rows
}

/// Undoes [`load_column`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn store_column(
    rows: [__m512i; 16],
    typesize: usize,
    items: &mut [u8],
    scatter: [__m512i; 2],
) {
    let rows = transpose_scattered(rows, scatter);
    bounded!(64, typesize, items.first_chunk_mut, {
        for (k, row) in rows.iter().enumerate() {
            store16(items, 4 * k * typesize, _mm512_castsi512_si128(*row));
            store16(items, (4 * k + 1) * typesize, _mm512_extracti32x4_epi32::<1>(*row));
            store16(items, (4 * k + 2) * typesize, _mm512_extracti32x4_epi32::<2>(*row));
            store16(items, (4 * k + 3) * typesize, _mm512_extracti32x4_epi32::<3>(*row));
        }
    });
}

/// Transposes the matrix of `W` x `W` units of `64 / W` bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn transpose<const W: usize>(rows: [__m512i; W]) -> [__m512i; W] {
    let mut rows = rows;
    if W == 2 {
        let [a, b] = [rows[0], rows[1]];
        [rows[0], rows[1]] =
            [_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0xEE>(a, b)];
        return rows;
    }
    transpose_in_lanes(&mut rows);
    let step = W / 4;
    for e in 0..step {
        let lanes =
            first_of_lanes([rows[e], rows[step + e], rows[2 * step + e], rows[3 * step + e]]);
        [rows[e], rows[step + e], rows[2 * step + e], rows[3 * step + e]] = second_of_lanes(lanes);
    }
    rows
}

/// Undoes [`transpose`] and the order in which items were gathered: the last round does both.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn transpose_scattered<const W: usize>(
    rows: [__m512i; W],
    scatter: [__m512i; 2],
) -> [__m512i; W] {
    let mut rows = rows;
    if W == 2 {
        [rows[0], rows[1]] = permute_two(scatter, [rows[0], rows[1]]);
        return rows;
    }
    transpose_in_lanes(&mut rows);
    let step = W / 4;
    for e in 0..step {
        let lanes = [rows[e], rows[step + e], rows[2 * step + e], rows[3 * step + e]];
        let [even, odd, even_2, odd_2] = first_of_lanes(lanes);
        [rows[e], rows[2 * step + e]] = permute_two(scatter, [even, even_2]);
        [rows[step + e], rows[3 * step + e]] = permute_two(scatter, [odd, odd_2]);
    }
    rows
}

/// Transposes within the lanes of `W / 4` successive rows: then lane `i` of row `W / 4 * k + e` has
/// unit `W / 4 * i + e` of each.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn transpose_in_lanes<const W: usize>(rows: &mut [__m512i; W]) {
    for group in rows.as_chunks_mut::<4>().0 {
        match W {
            8 => *group = pairs_of_qwords(*group),
            16 => *group = matrix_of_dwords(*group),
            _ => (),
        }
    }
}

/// Transposes 2 x 2 qwords of each lane, twice.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn pairs_of_qwords([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    [
        _mm512_unpacklo_epi64(a, b),
        _mm512_unpackhi_epi64(a, b),
        _mm512_unpacklo_epi64(c, d),
        _mm512_unpackhi_epi64(c, d),
    ]
}

/// Transposes 4 x 4 dwords of each lane.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn matrix_of_dwords([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let [e, f] = [_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)];
    let [g, h] = [_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d)];
    [
        _mm512_unpacklo_epi64(e, g),
        _mm512_unpackhi_epi64(e, g),
        _mm512_unpacklo_epi64(f, h),
        _mm512_unpackhi_epi64(f, h),
    ]
}

/// Transposes 4 x 4 lanes, together with [`second_of_lanes`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn first_of_lanes([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    [
        _mm512_shuffle_i64x2::<0x88>(a, b),
        _mm512_shuffle_i64x2::<0xDD>(a, b),
        _mm512_shuffle_i64x2::<0x88>(c, d),
        _mm512_shuffle_i64x2::<0xDD>(c, d),
    ]
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn second_of_lanes([even, odd, even_2, odd_2]: [__m512i; 4]) -> [__m512i; 4] {
    [
        _mm512_shuffle_i64x2::<0x88>(even, even_2),
        _mm512_shuffle_i64x2::<0x88>(odd, odd_2),
        _mm512_shuffle_i64x2::<0xDD>(even, even_2),
        _mm512_shuffle_i64x2::<0xDD>(odd, odd_2),
    ]
}
