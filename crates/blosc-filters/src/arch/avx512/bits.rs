//! Bits of 64 items.
//!
//! `gf2p8affineqb` multiplies matrices of 8 x 8 bits: bit `i` of byte `k` of the result is the
//! parity of byte `7 - i` of one operand and byte `k` of the other. With bit `k` alone set in byte
//! `k` of the latter, that is bit `k` of byte `7 - i`: of eight bytes in reversed order, the
//! transposed matrix.
//!
//! So a register is loaded with items, and a permutation brings byte `j` of eight of them together
//! in a qword, the last item first. Bits `k` are bytes `k` then, and the remaining steps are those
//! for bytes. The last round of the transposition brings qwords of the same `j` together in one
//! register, and bytes of the same `k` in one qword.

use core::arch::x86_64::*;
use core::hint::black_box;

use zerocopy::transmute;

use super::transpose::{column, transpose_scattered};
use super::{load, permute, permute_two};

/// The sources of the bytes of registers: from items to the qwords whose bits are transposed, and
/// in the last round.
#[derive(Clone, Copy)]
pub(super) struct Orders {
    first: [__m512i; 2],
    last: [__m512i; 2],
}

impl Orders {
    /// The orders for [`load_tile`] and [`load_tile_of_column`].
    pub(super) fn there<const G: usize, const W: usize>() -> Self {
        let first: [[u8; 64]; 2] = const {
            let mut orders = [[0; 64]; 2];
            let mut to = 0;
            while to < 128 {
                orders[to / 64][to % 64] = item_byte(G, W, to / 64, to % 64);
                to += 1;
            }
            orders
        };
        let last: [[u8; 64]; 2] = const {
            let mut orders = [[0; 64]; 2];
            let mut to = 0;
            while to < 128 {
                orders[to / 64][to % 64] = last_round(W, to / 64, to % 8 * 8 + to % 64 / 8);
                to += 1;
            }
            orders
        };
        Self { first: black_box(transmute!(first)), last: black_box(transmute!(last)) }
    }

    /// The orders for both halves in [`load_half_tile`].
    pub(super) fn there_by_halves<const G: usize, const C: usize>() -> [Self; 2] {
        let first: [[u8; 64]; 2] = const {
            let mut orders = [[0; 64]; 2];
            let mut to = 0;
            while to < 128 {
                let (half, j, i) = (to / 64, to % 64 / (64 / C), (to % (64 / C)) ^ 7);
                orders[half][to % 64] = (G * i + half * C + j).to_le_bytes()[0];
                to += 1;
            }
            orders
        };
        let Self { last, .. } = Self::there::<C, C>();
        let [low, high]: [__m512i; 2] = black_box(transmute!(first));
        [Self { first: [low; 2], last }, Self { first: [high; 2], last }]
    }
}

/// The byte of an item that belongs to byte `to` of qwords in `half` of two registers, or of one.
const fn item_byte(g: usize, w: usize, half: usize, to: usize) -> u8 {
    // Byte `j` of item `i`.
    let (j, i) = match w {
        16 => (half * 8 + to / 8, (to % 8) ^ 7),
        _ => (to / (64 / w), (to % (64 / w)) ^ 7),
    };
    // For 9 to 16 bytes, there are four items in each of two registers.
    let from = match w {
        16 => 64 * (i / 4) + i % 4 * g + j,
        _ => i * g + j,
    };
    if j < g { from.to_le_bytes()[0] } else { 0 }
}

/// Byte `at` of the result `half` of two registers, in the last round of a transposition.
const fn last_round(w: usize, half: usize, at: usize) -> u8 {
    let from = match w {
        1 => at,
        2 => 64 * (at / 32) + 32 * half + at % 32,
        _ => 64 * (at / 32) + (at / 16 % 2 * 2 + half) * 16 + at % 16,
    };
    from.to_le_bytes()[0]
}

/// 64 items of `G` bytes as `G` lines, and `W - G` meaningless lines: bit `k` of byte `j` of all
/// items is in qword `k` of line `j`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn load_tile<const G: usize, const W: usize>(
    items: &[u8],
    orders: Orders,
) -> [__m512i; W] {
    let mut rows = [_mm512_setzero_si512(); W];
    for (k, row) in rows.iter_mut().enumerate() {
        *row = load(items, k * (64 / W) * G);
    }
    lines(rows, orders)
}

/// Half of the bytes of 64 items of `2 * C`, as [`load_tile`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn load_half_tile<const C: usize>(items: &[u8], orders: Orders) -> [__m512i; C] {
    let mut rows = [_mm512_setzero_si512(); C];
    for (k, row) in rows.iter_mut().enumerate() {
        let [a, b] = [load(items, 128 * k), load(items, 128 * k + 64)];
        *row = transpose_bits(_mm512_permutex2var_epi8(a, orders.first[0], b));
    }
    gather_lines(rows, orders)
}

/// Bytes 0..16 of 64 items of `typesize` bytes, as [`load_tile`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn load_tile_of_column(typesize: usize, items: &[u8], orders: Orders) -> [__m512i; 16] {
    lines(column(typesize, items), orders)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn lines<const W: usize>(rows: [__m512i; W], orders: Orders) -> [__m512i; W] {
    let mut rows = rows;
    if W == 16 {
        let (mut low, mut high) = ([_mm512_setzero_si512(); 8], [_mm512_setzero_si512(); 8]);
        for p in 0..8 {
            let [a, b] = permute_two(orders.first, [rows[2 * p], rows[2 * p + 1]]);
            low[p] = transpose_bits(a);
            high[p] = transpose_bits(b);
        }
        rows[..8].copy_from_slice(&transpose_scattered(low, orders.last));
        rows[8..].copy_from_slice(&transpose_scattered(high, orders.last));
        return rows;
    }
    for row in &mut rows {
        *row = transpose_bits(permute(orders.first[0], *row));
    }
    gather_lines(rows, orders)
}

/// The last round: qwords of the same byte come together in one register, bytes of the same bit in
/// one qword.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn gather_lines<const W: usize>(rows: [__m512i; W], orders: Orders) -> [__m512i; W] {
    if W == 1 {
        let mut rows = rows;
        rows[0] = permute(orders.last[0], rows[0]);
        return rows;
    }
    transpose_scattered(rows, orders.last)
}

/// Transposes the bits of each qword, whose bytes are in reversed order.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub(super) fn transpose_bits(bytes: __m512i) -> __m512i {
    let diagonal = _mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed());
    _mm512_gf2p8affine_epi64_epi8::<0>(diagonal, bytes)
}

/// The last round that undoes the transposition of eight lines to rows. The bytes of each qword are
/// in the order for [`transpose_bits`].
pub(super) fn back() -> [__m512i; 2] {
    let orders: [[u8; 64]; 2] = const {
        let mut orders = [[0; 64]; 2];
        let mut to = 0;
        while to < 128 {
            orders[to / 64][to % 64] = last_round(8, to / 64, (7 - to % 8) * 8 + to % 64 / 8);
            to += 1;
        }
        orders
    };
    black_box(transmute!(orders))
}
