//! Byte shuffle with AVX2, in tiles of 64 items, so that a whole cache line of each plane is written (or read) at a
//! time; or in strips of 512. Typesizes above 16 are taken in columns of 16 bytes, of which the last may overlap the
//! one before.

use core::arch::x86_64::*;
use core::mem;

use zerocopy::transmute;

use super::super::{scalar, strips::strips};
use super::strip::{STRIP, columns, for_typesize, shuffle_strip, unshuffle_strip};
use super::transpose::{gather, load_items, scatter, store_items};

/// Items of a tile.
const TILE: usize = 64;

#[target_feature(enable = "avx2")]
pub(in super::super) fn shuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let nitems = src.len() / typesize;
    if nitems < TILE || nitems < STRIP && typesize > 16 {
        return scalar::shuffle(typesize, src, dest);
    }
    if !in_strips(typesize, nitems) {
        return for_typesize!(typesize, shuffle_items(nitems, src, dest));
    }
    let mut planes = [[0; STRIP]; 16];
    for (first, _) in strips(nitems, STRIP) {
        for column in columns(typesize) {
            shuffle_strip(typesize, column, &src[first * typesize..], &mut planes);
            for (j, plane) in planes.iter().take(typesize).enumerate() {
                dest[(column + j) * nitems + first..][..STRIP].copy_from_slice(plane);
            }
        }
    }
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn unshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let nitems = src.len() / typesize;
    if nitems < TILE || nitems < STRIP && typesize > 16 {
        return scalar::unshuffle(typesize, src, dest);
    }
    if typesize <= 16 {
        return for_typesize!(typesize, unshuffle_items(nitems, src, dest));
    }
    let mut planes = [[0; STRIP]; 16];
    for (first, _) in strips(nitems, STRIP) {
        for column in columns(typesize) {
            for (j, plane) in planes.iter_mut().take(typesize).enumerate() {
                plane.copy_from_slice(&src[(column + j) * nitems + first..][..STRIP]);
            }
            unshuffle_strip(typesize, column, &planes, &mut dest[first * typesize..]);
        }
    }
}

/// Whether to go through a buffer for 512 items: for items of several columns, so that they stay in the first-level
/// cache, and where corresponding bytes of all planes are in the same few sets of it, which then evict each other's
/// lines half written. That is the common case: blocks have a power of two of bytes. (To read them so costs less.)
fn in_strips(typesize: usize, nitems: usize) -> bool {
    typesize > 16 || typesize >= 8 && nitems.is_multiple_of(2048)
}

/// All tiles that may be read in place; then the items that remain, and before the end some once more, from a copy.
#[target_feature(enable = "avx2")]
fn shuffle_items<const G: usize, const W: usize>(nitems: usize, src: &[u8], dest: &mut [u8]) {
    let ntiles = whole_tiles::<G, W>(src.len());
    shuffle_tiles::<G, W>(ntiles, src, dest, 0, nitems);
    for first in (ntiles * TILE..nitems).step_by(TILE) {
        let first = first.min(nitems - TILE);
        let mut last = [0; TILE * 16];
        last[..TILE * G].copy_from_slice(&src[first * G..][..TILE * G]);
        shuffle_tiles::<G, W>(1, &last, dest, first, nitems);
    }
}

/// As [`shuffle_items`].
#[target_feature(enable = "avx2")]
fn unshuffle_items<const G: usize, const W: usize>(nitems: usize, src: &[u8], dest: &mut [u8]) {
    let ntiles = whole_tiles::<G, W>(dest.len());
    unshuffle_tiles::<G, W>(ntiles, src, 0, nitems, dest);
    for first in (ntiles * TILE..nitems).step_by(TILE) {
        let first = first.min(nitems - TILE);
        let mut last = [0; TILE * 16];
        unshuffle_tiles::<G, W>(1, src, first, nitems, &mut last);
        dest[first * G..][..TILE * G].copy_from_slice(&last[..TILE * G]);
    }
}

/// `ntiles` tiles of `src` to the planes of `stride` bytes in `dest`, from item `first` on.
#[target_feature(enable = "avx2")]
#[inline]
fn shuffle_tiles<const G: usize, const W: usize>(
    ntiles: usize,
    src: &[u8],
    dest: &mut [u8],
    first: usize,
    stride: usize,
) {
    let gather = gather::<G, W>();
    let mut rest = dest;
    let planes: [&mut [[u8; TILE]]; G] = core::array::from_fn(|_| {
        let (plane, others) = mem::take(&mut rest).split_at_mut(stride);
        rest = others;
        &mut plane[first..].as_chunks_mut().0[..ntiles]
    });
    for tile in 0..ntiles {
        let items = &src[tile * TILE * G..][..reach::<G, W>()];
        for half in 0..2 {
            let rows = load_items::<G, W>(&items[32 * half * G..], gather);
            for j in 0..G {
                planes[j][tile].as_chunks_mut::<32>().0[half] = transmute!(rows[j]);
            }
        }
    }
}

/// Undoes [`shuffle_tiles`].
#[target_feature(enable = "avx2")]
#[inline]
fn unshuffle_tiles<const G: usize, const W: usize>(
    ntiles: usize,
    src: &[u8],
    first: usize,
    stride: usize,
    dest: &mut [u8],
) {
    let scatter = scatter::<G, W>();
    let planes: [&[[u8; TILE]]; G] =
        core::array::from_fn(|j| &src[j * stride + first..].as_chunks().0[..ntiles]);
    for tile in 0..ntiles {
        let items = &mut dest[tile * TILE * G..][..reach::<G, W>()];
        for half in 0..2 {
            let mut rows = [_mm256_setzero_si256(); W];
            for j in 0..G {
                rows[j] = transmute!(planes[j][tile].as_chunks::<32>().0[half]);
            }
            store_items::<G, W>(rows, &mut items[32 * half * G..], scatter);
        }
    }
}

/// Bytes from the start of a tile to the end of its last 16-byte load or store.
const fn reach<const G: usize, const W: usize>() -> usize {
    (TILE - 16 / W) * G + 16
}

/// Tiles whose reach is within `nbytes`.
const fn whole_tiles<const G: usize, const W: usize>(nbytes: usize) -> usize {
    match nbytes.checked_sub(reach::<G, W>()) {
        Some(rest) => rest / (TILE * G) + 1,
        None => 0,
    }
}
