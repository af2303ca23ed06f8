//! AVX2: registers of 32 bytes, in which most permutations stay within lanes of 16.
#![forbid(unsafe_code)]

mod bits;
pub(super) mod direct;
mod scan;
mod shuffle;
pub(super) mod streaming;
mod transpose;
mod wide;

use core::arch::x86_64::*;

use zerocopy::transmute;

use super::streaming::Parts;
use crate::shuffle::whole_items;

pub(super) use scan::{running_sum, running_xor};
pub(super) use shuffle::{bitshuffle, bitunshuffle, shuffle};

/// Blocks of this length fit a first-level cache with their planes, or nearly (bytes).
pub(super) const FIRST_LEVEL_NBYTES: usize = 48 << 10;

/// Undoes [`shuffle`].
#[target_feature(enable = "avx2")]
pub(super) fn unshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let nitems = dest.len() / typesize;
    match typesize {
        2 if dest.len() < FIRST_LEVEL_NBYTES => {
            let (a, b) = src.split_at(nitems);
            return direct::unshuffle_planes(&[a, b], dest);
        }
        4 if dest.len() < FIRST_LEVEL_NBYTES => {
            let planes: [&[u8]; 4] = core::array::from_fn(|j| &src[j * nitems..][..nitems]);
            return direct::unshuffle_planes(&planes, dest);
        }
        _ => {}
    }
    if wide::has(typesize, whole_items(src.len(), typesize)) {
        wide::unshuffle(typesize, src, dest);
    } else {
        shuffle::unshuffle(typesize, src, dest);
    }
}

/// As [`unshuffle`], from separate planes.
#[target_feature(enable = "avx2")]
pub(super) fn unshuffle_planes(planes: &[&[u8]], dest: &mut [u8]) {
    if direct::has(planes.len()) && dest.len() < FIRST_LEVEL_NBYTES {
        direct::unshuffle_planes(planes, dest);
    } else {
        shuffle::unshuffle_planes(planes, dest);
    }
}

/// Copies `src` to `dest`, which is as long.
#[target_feature(enable = "avx2")]
pub(super) fn copy(src: &[u8], dest: &mut [u8]) {
    let Some(Parts { head, tiles, tail }) = Parts::new(dest, 1, 128) else {
        return dest.copy_from_slice(src);
    };
    let (from_head, from) = src.split_at(head.len());
    let (from, from_tail) = from.as_chunks::<128>();
    head.copy_from_slice(from_head);
    for (to, from) in tiles.as_chunks_mut::<4>().0.iter_mut().zip(from) {
        // Named registers: the compiler would turn an array into a call of the library's copy.
        let [a, b, c, d]: [__m256i; 4] = transmute!(*from);
        [to[0], to[1], to[2], to[3]] = [a, b, c, d];
    }
    tail.copy_from_slice(from_tail);
}

/// Writes `byte` all over `dest`. Measurements showed that registers of 32 bytes are faster than
/// the library only with AVX-512.
#[target_feature(enable = "avx2")]
pub(super) fn fill(byte: u8, dest: &mut [u8]) {
    dest.fill(byte);
}

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn load16(bytes: &[u8], at: usize) -> __m128i {
    let mut array = [0; 16];
    array.copy_from_slice(&bytes[at..at + 16]);
    transmute!(array)
}

/// The 16 bytes at `low` in the low lane, those at `high` in the high lane. (An insertion from
/// memory leaves the execution unit for permutations free, which limits the kernels.)
#[target_feature(enable = "avx2")]
#[inline]
fn load_lanes(bytes: &[u8], low: usize, high: usize) -> __m256i {
    _mm256_set_m128i(load16(bytes, high), load16(bytes, low))
}

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn store16(bytes: &mut [u8], at: usize, register: __m128i) {
    let array: [u8; 16] = transmute!(register);
    bytes[at..at + 16].copy_from_slice(&array);
}

#[target_feature(enable = "avx2")]
#[inline]
fn store32(bytes: &mut [u8], at: usize, register: __m256i) {
    let array: [u8; 32] = transmute!(register);
    bytes[at..at + 32].copy_from_slice(&array);
}
