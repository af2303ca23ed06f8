//! AVX-512 with VBMI, which permutes all 64 bytes of a register in one instruction, and GFNI, which
//! transposes 8 x 8 bits in one.
#![forbid(unsafe_code)]

mod bits;
pub(super) mod bitshuffle;
mod copy;
pub(super) mod pieces;
pub(super) mod shuffle;
mod transpose;

use core::arch::x86_64::*;
use core::ops::Range;

use zerocopy::transmute;

use super::avx2::{self, load16, store16};
use crate::processor::Tuning;

// The latency of their steps limits these kernels, not the width of registers.
pub(super) use avx2::{running_sum, running_xor};
pub(super) use bitshuffle::{bitshuffle, bitunshuffle};
pub(super) use copy::{copy, copy_streaming, copy_uncached, fill};

// Items larger than a lane are loaded and stored lane by lane, for which half the width suffices.

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn shuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    match typesize {
        ..=16 => shuffle::shuffle(typesize, src, dest),
        _ => avx2::shuffle(typesize, src, dest),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn unshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    match typesize {
        _ if pieces::suit(typesize, dest.len()) => pieces::unshuffle(typesize, src, dest),
        2 | 4 | 8 if by_halves(&[src], src.len() / typesize, dest) => {
            avx2::unshuffle(typesize, src, dest)
        }
        ..=16 => shuffle::unshuffle(typesize, src, dest),
        _ => avx2::unshuffle(typesize, src, dest),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn unshuffle_planes(planes: &[&[u8]], dest: &mut [u8]) {
    match planes.len() {
        typesize if pieces::suit(typesize, dest.len()) => pieces::unshuffle_planes(planes, dest),
        typesize @ (2 | 4 | 8) if by_halves(planes, dest.len() / typesize, dest) => {
            avx2::unshuffle_planes(planes, dest);
        }
        _ => shuffle::unshuffle_planes(planes, dest),
    }
}

/// Lengths of blocks in the second-level cache that just exceed the first-level one. Half a line at
/// a time is as fast there, or faster.
const SECOND_LEVEL_NBYTES: Range<usize> = avx2::FIRST_LEVEL_NBYTES..192 << 10;

/// Whether to undo a shuffle by registers of half a line. That is always so if the processor stores
/// a whole line as two halves. Otherwise it is so for blocks that just exceed the first-level
/// cache, whose lines come from the second-level one; and for longer blocks if all planes, `stride`
/// bytes each, and the items are on lines that share a set of the cache. (Measured on Zen 4, Zen 5,
/// Emerald Rapids and Granite Rapids.)
fn by_halves(planes: &[&[u8]], stride: usize, dest: &[u8]) -> bool {
    let on_line = |bytes: &[u8]| bytes.as_ptr().addr().is_multiple_of(64);
    let typesize = dest.len() / stride.max(1);
    let is_long = dest.len() >= SECOND_LEVEL_NBYTES.end;
    let share_sets = || {
        stride.is_multiple_of(4096) && on_line(dest) && planes.iter().all(|plane| on_line(plane))
    };
    SECOND_LEVEL_NBYTES.contains(&dest.len())
        || avx2::direct::has(typesize) && Tuning::get().stores_by_halves
        || is_long && share_sets()
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn load(bytes: &[u8], at: usize) -> __m512i {
    let mut array = [0; 64];
    array.copy_from_slice(&bytes[at..at + 64]);
    transmute!(array)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn store(bytes: &mut [u8], at: usize, register: __m512i) {
    let array: [u8; 64] = transmute!(register);
    bytes[at..at + 64].copy_from_slice(&array);
}

/// Byte `i` of the result is byte `order[i]` of `bytes`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn permute(order: __m512i, bytes: __m512i) -> __m512i {
    // Miri lacks the instruction for one source, but has the one for two.
    if cfg!(miri) {
        _mm512_permutex2var_epi8(bytes, order, bytes)
    } else {
        _mm512_permutexvar_epi8(order, bytes)
    }
}

/// Byte `i` of each result is byte `order[i]` of `a` and `b`, one after the other.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn permute_two(orders: [__m512i; 2], [a, b]: [__m512i; 2]) -> [__m512i; 2] {
    [_mm512_permutex2var_epi8(a, orders[0], b), _mm512_permutex2var_epi8(a, orders[1], b)]
}
