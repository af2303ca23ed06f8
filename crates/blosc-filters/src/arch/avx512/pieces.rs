//! Unshuffle and bitunshuffle from pieces of planes, for processors that permute registers of 64
//! bytes on one port only.
//!
//! An insertion from memory needs no permutation. So four pieces of 16 bytes (or two of 32) are
//! inserted into one register, and one permutation puts the bytes of an item side by side. The
//! tiles of `transpose.rs` permute twice as often, and load a quarter as often:
//!
//! ```text
//!   planes a to d     a0 .. a15 | b0 .. b15 | c0 .. c15 | d0 .. d15
//!   permuted          a0 b0 c0 d0 | a1 b1 c1 d1 | a8 b8 c8 d8 | a9 b9 c9 d9 | a2 b2 c2 d2 | ...
//!   with e to h       a0 b0 c0 d0 e0 f0 g0 h0 | a1 ..                       | a2 ..
//! ```

use core::arch::x86_64::*;
use core::hint::black_box;
use core::ops::RangeInclusive;

use zerocopy::transmute;

use super::super::avx2::FIRST_LEVEL_NBYTES;
use super::super::scalar;
use super::super::tiled::item_head;
use super::bits::transpose_bits;
use super::{permute, store};
use crate::processor::Tuning;

/// Bytes of a piece: a lane of a register.
const PIECE: usize = 16;
/// Items of a step.
const STEP: usize = 2 * PIECE;

/// Lengths of blocks that fit the first-level cache with their planes, and are long enough for the
/// setup to pay.
const NBYTES: RangeInclusive<usize> = 8 << 10..=FIRST_LEVEL_NBYTES / 2;

/// Whether to undo a shuffle, or a bit shuffle of items of 8 bytes, of `nbytes` in this way. Items
/// of 2 and 8 bytes gain. Items of 4 bytes gain nothing, and 16 planes have more addresses than
/// there are registers.
pub(super) fn suit(typesize: usize, nbytes: usize) -> bool {
    matches!(typesize, 2 | 8) && NBYTES.contains(&nbytes) && Tuning::get().permutes_on_one_port
}

/// Undoes a shuffle of items of 2 or 8 bytes. Each plane has a byte for every item of `dest`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(in super::super) fn unshuffle_planes(planes: &[&[u8]], dest: &mut [u8]) {
    let (typesize, nitems) = (planes.len(), dest.len() / planes.len().max(1));
    // The bytes before the first cache line, and some items after them.
    let head = item_head(dest, typesize);
    if head > 0 {
        unshuffle_steps(planes, 0, head.div_ceil(STEP), dest);
    }
    let nsteps = (nitems - head) / STEP;
    let done = head + unshuffle_steps(planes, head, nsteps, &mut dest[head * typesize..]);
    scalar::unshuffle_from(planes, done, &mut dest[done * typesize..]);
}

/// As [`unshuffle_planes`], for planes that follow each other.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(in super::super) fn unshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let mut planes = [&[][..]; 8];
    let all = src.chunks_exact((src.len() / typesize).max(1)).take(typesize);
    for (plane, bytes) in planes.iter_mut().zip(all) {
        *plane = bytes;
    }
    unshuffle_planes(&planes[..typesize], dest);
}

/// Restores the items of `nsteps` from item `first` on; returns their number.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn unshuffle_steps(planes: &[&[u8]], first: usize, nsteps: usize, dest: &mut [u8]) -> usize {
    let range = first..first + nsteps * STEP;
    match (planes.first_chunk::<2>(), planes.first_chunk::<8>()) {
        (_, Some(planes)) => unshuffle_8(planes.map(|plane| &plane[range.clone()]), dest),
        (Some([a, b]), _) => unshuffle_2(&a[range.clone()], &b[range.clone()], dest),
        _ => return 0,
    }
    range.len()
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn unshuffle_2(a: &[u8], b: &[u8], dest: &mut [u8]) {
    let (high, order) = (black_box(0xF0), interleaved_halves());
    let pieces = a.as_chunks::<STEP>().0.iter().zip(b.as_chunks::<STEP>().0);
    for ((a, b), items) in pieces.zip(dest.as_chunks_mut::<64>().0) {
        let halves = _mm512_castsi256_si512(transmute!(*a));
        let halves = _mm512_mask_broadcast_i64x4(halves, high, transmute!(*b));
        *items = transmute!(permute(order, halves));
    }
}

/// The order of bytes that interleaves both halves of a register.
fn interleaved_halves() -> __m512i {
    let mut order = [0_u8; 64];
    for (to, from) in (0..).zip(&mut order) {
        *from = to % 2 * 32 + to / 2;
    }
    black_box(transmute!(order))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn unshuffle_8(planes: [&[u8]; 8], dest: &mut [u8]) {
    let pieces = Pieces::new();
    let npieces = planes[0].len() / PIECE;
    let mut from: [&[[u8; PIECE]]; 8] = [&[]; 8];
    for (from, plane) in from.iter_mut().zip(planes) {
        *from = &plane.as_chunks().0[..npieces];
    }
    for (k, items) in (0..npieces).zip(dest.as_chunks_mut::<128>().0) {
        let [a, b, c, d, e, f, g, h] = from;
        let [low, high] = pieces.transpose([a[k], b[k], c[k], d[k]], [e[k], f[k], g[k], h[k]]);
        store(items, 0, low);
        store(items, 64, high);
    }
}

/// The tables for combining pieces.
///
/// They are not known at compile time: LLVM would combine halves by a permutation.
#[derive(Clone, Copy)]
pub(in super::super) struct Pieces {
    /// The dwords of the second, third and fourth lane of a register.
    lanes: [__mmask16; 3],
    /// Brings byte `i` of the four lanes together, in the order in which two registers are then
    /// interleaved: 0, 1, 8, 9 in the first lane, 2, 3, 10, 11 in the second, and so on.
    order: __m512i,
}

impl Pieces {
    /// The tables, if blocks of `nbytes` are restored by pieces; see [`suit`].
    pub(super) fn if_suited(typesize: usize, nbytes: usize) -> Option<Self> {
        suit(typesize, nbytes).then(Self::new)
    }

    pub(in super::super) fn new() -> Self {
        let order: [u8; 64] = const {
            let mut order = [0; 64];
            let mut to = 0;
            while to < 64 {
                let (dword, piece) = (to / 4, to % 4);
                let byte = dword % 4 / 2 * 8 + dword / 4 * 2 + dword % 2;
                order[to] = (16 * piece + byte).to_le_bytes()[0];
                to += 1;
            }
            order
        };
        Self { lanes: black_box([0x00F0, 0x0F00, 0xF000]), order: black_box(transmute!(order)) }
    }

    /// Byte `i` of eight pieces in qword `i` of two registers.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
    #[inline]
    fn transpose(self, low: [[u8; PIECE]; 4], high: [[u8; PIECE]; 4]) -> [__m512i; 2] {
        self.interleave(self.four(low), self.four(high))
    }

    /// Two registers of four pieces, whose bytes are brought together.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
    #[inline]
    fn interleave(self, low: __m512i, high: __m512i) -> [__m512i; 2] {
        let (low, high) = (permute(self.order, low), permute(self.order, high));
        [_mm512_unpacklo_epi32(low, high), _mm512_unpackhi_epi32(low, high)]
    }

    /// Eight rows of 64 bytes, `stride` apart, to eight lines, 512 bytes apart. Of each eight bytes
    /// the last row comes first, in the order for [`transpose_bits`].
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
    #[inline]
    pub(super) fn rows_to_lines(self, rows: &[u8], stride: usize, lines: &mut [u8]) {
        let rows = &rows[..7 * stride + 64];
        for p in 0..4 {
            let at = |k: usize| k * stride + p * PIECE;
            let [a, b] = self.transpose(
                [piece(rows, at(7)), piece(rows, at(6)), piece(rows, at(5)), piece(rows, at(4))],
                [piece(rows, at(3)), piece(rows, at(2)), piece(rows, at(1)), piece(rows, at(0))],
            );
            store(lines, 1024 * p, a);
            store(lines, 1024 * p + 512, b);
        }
    }

    /// Writes 64 items of 8 bytes from the lines of their bytes, `to_line` bytes after the first
    /// item.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
    #[inline]
    pub(super) fn lines_to_items(self, to_line: usize, items: &mut [u8]) {
        let lines = &items[to_line..][..512];
        let mut registers = [[_mm512_setzero_si512(); 2]; 4];
        for (p, both) in registers.iter_mut().enumerate() {
            let at = |j: usize| piece(lines, j * 64 + p * PIECE);
            let low = self.four([at(0), at(1), at(2), at(3)]);
            let high = self.four([at(4), at(5), at(6), at(7)]);
            *both = self.interleave(transpose_bits(low), transpose_bits(high));
        }
        for (p, [a, b]) in registers.into_iter().enumerate() {
            store(items, 128 * p, a);
            store(items, 128 * p + 64, b);
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
    #[inline]
    fn four(self, [a, b, c, d]: [[u8; PIECE]; 4]) -> __m512i {
        let row = _mm512_castsi128_si512(transmute!(a));
        let row = _mm512_mask_broadcast_i32x4(row, self.lanes[0], transmute!(b));
        let row = _mm512_mask_broadcast_i32x4(row, self.lanes[1], transmute!(c));
        _mm512_mask_broadcast_i32x4(row, self.lanes[2], transmute!(d))
    }
}

#[inline]
fn piece(bytes: &[u8], at: usize) -> [u8; PIECE] {
    let mut piece = [0; PIECE];
    piece.copy_from_slice(&bytes[at..at + PIECE]);
    piece
}
