//! Transpositions between registers: 64 items of up to `W` bytes to `W` rows of 64 bytes, and back.
//!
//! A register is loaded with `64 / W` items of `G` bytes (and what comes after them), and one permutation brings byte
//! `j` of each together in unit `j` of `64 / W` bytes. What remains is to transpose a matrix of `W` x `W` units in `W`
//! registers: log2(W) rounds, each of which interleaves register i with register i + W/2. Backwards the same
//! transposition, and a permutation that closes the gaps.

use core::arch::x86_64::*;
use core::array;
use core::hint::black_box;

use zerocopy::transmute;

use super::super::tiled::bounded;
use super::{load, load16, permute, store, store16};

/// Bytes from the start of 64 items to the end of the last 64 that are loaded or stored.
pub(super) const fn reach(g: usize, w: usize) -> usize {
    (64 - 64 / w) * g + 64
}

/// The order of bytes that brings byte `j` of the items in a register to unit `j`.
///
/// Were it known at compile time, LLVM might merge it with the interleaving into permutations of two registers, which
/// are slower.
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

/// The inverse of [`gather`], for the bytes that items have.
pub(super) fn scatter<const G: usize, const W: usize>() -> __m512i {
    let order: [u8; 64] = const {
        let mut order = [0; 64];
        let mut to = 0;
        while to < 64 / W * G {
            let (i, j) = (to / G, to % G);
            order[to] = (j * (64 / W) + i).to_le_bytes()[0];
            to += 1;
        }
        order
    };
    black_box(transmute!(order))
}

/// 64 items of `G` bytes as `G` rows, and `W - G` of no meaning.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn load_items<const G: usize, const W: usize>(items: &[u8], gather: __m512i) -> [__m512i; W] {
    let mut rows = [_mm512_setzero_si512(); W];
    for (k, row) in rows.iter_mut().enumerate() {
        *row = permute(gather, load(items, k * (64 / W) * G));
    }
    transpose(rows)
}

/// Undoes [`load_items`]. Stores are in ascending order, since each may write some bytes beyond its items.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn store_items<const G: usize, const W: usize>(
    rows: [__m512i; W],
    items: &mut [u8],
    scatter: __m512i,
) {
    for (k, row) in transpose(rows).into_iter().enumerate() {
        store(items, k * (64 / W) * G, permute(scatter, row));
    }
}

/// Bytes 0..16 of 64 items of `typesize` bytes, as rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn load_column(typesize: usize, items: &[u8], gather: __m512i) -> [__m512i; 16] {
    transpose(bounded!(
        64,
        typesize,
        items.first_chunk,
        array::from_fn(|k| {
            let item = |i| load16(items, (4 * k + i) * typesize);
            let low = _mm256_set_m128i(item(1), item(0));
            let high = _mm256_set_m128i(item(3), item(2));
            permute(gather, _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high))
        })
    ))
}

/// Undoes [`load_column`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn store_column(rows: [__m512i; 16], typesize: usize, items: &mut [u8], scatter: __m512i) {
    let rows = transpose(rows);
    bounded!(64, typesize, items.first_chunk_mut, {
        for (k, row) in rows.iter().enumerate() {
            let row = permute(scatter, *row);
            store16(items, 4 * k * typesize, _mm512_castsi512_si128(row));
            store16(items, (4 * k + 1) * typesize, _mm512_extracti32x4_epi32::<1>(row));
            store16(items, (4 * k + 2) * typesize, _mm512_extracti32x4_epi32::<2>(row));
            store16(items, (4 * k + 3) * typesize, _mm512_extracti32x4_epi32::<3>(row));
        }
    });
}

/// Transposes the matrix of `W` x `W` units of `64 / W` bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn transpose<const W: usize>(rows: [__m512i; W]) -> [__m512i; W] {
    let mut rows = rows;
    for _ in 0..W.ilog2() {
        rows = interleave(rows);
    }
    rows
}

/// One round: register `i` with register `i + W/2`, in units of `64 / W` bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn interleave<const W: usize>(rows: [__m512i; W]) -> [__m512i; W] {
    let mut mixed = [_mm512_setzero_si512(); W];
    for i in 0..W / 2 {
        let (a, b) = (rows[i], rows[i + W / 2]);
        (mixed[2 * i], mixed[2 * i + 1]) = match W {
            2 => (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0xEE>(a, b)),
            4 => by_qwords(a, b, [0, 1, 8, 9, 2, 3, 10, 11]),
            8 => by_qwords(a, b, [0, 8, 1, 9, 2, 10, 3, 11]),
            _ => by_dwords(a, b, [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23]),
        };
    }
    mixed
}

/// Interleaves the lower halves of `a` and `b` in an order of qwords, and the upper halves in the same.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn by_qwords(a: __m512i, b: __m512i, lower: [u64; 8]) -> (__m512i, __m512i) {
    let upper = lower.map(|from| from + 4);
    (_mm512_permutex2var_epi64(a, transmute!(lower), b), _mm512_permutex2var_epi64(a, transmute!(upper), b))
}

/// As [`by_qwords`], in an order of dwords.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn by_dwords(a: __m512i, b: __m512i, lower: [u32; 16]) -> (__m512i, __m512i) {
    (permute_dwords(a, lower, b), permute_dwords(a, lower.map(|from| from + 8), b))
}

/// Dword `i` of the result is dword `order[i]` of `a`, or of `b` from 16 on.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn permute_dwords(a: __m512i, order: [u32; 16], b: __m512i) -> __m512i {
    if cfg!(miri) {
        // Miri knows this instruction for bytes only.
        let bytes = order.map(|from| (from * 4 * 0x0101_0101 + 0x0302_0100).to_le_bytes());
        return _mm512_permutex2var_epi8(a, transmute!(bytes), b);
    }
    _mm512_permutex2var_epi32(a, transmute!(order), b)
}
