//! Unshuffle with non-temporal stores.

use core::arch::x86_64::*;

use zerocopy::transmute;

use super::super::streaming::{Parts, Streaming};
use super::transpose::{interleave_to_items, scatter, store_items};

/// Bytes of a tile for items of this size; `None` without a kernel. (Items of 16 bytes use a
/// buffer, which leaves nothing to gain.)
pub(in super::super) const fn tile(typesize: usize) -> Option<usize> {
    match typesize {
        2 | 4 | 8 => Some(LANES * typesize),
        _ => None,
    }
}

/// Restores tiles of items; byte `first` of each plane belongs to the first item.
#[target_feature(enable = "avx2")]
pub(in super::super) fn unshuffle(
    stores: &mut Streaming,
    planes: &[&[u8]],
    first: usize,
    tiles: &mut [__m256i],
) {
    match planes.len() {
        2 => unshuffle_tiles::<2>(stores, planes, first, tiles),
        4 => unshuffle_tiles::<4>(stores, planes, first, tiles),
        _ => unshuffle_tiles::<8>(stores, planes, first, tiles),
    }
}

#[target_feature(enable = "avx2")]
fn unshuffle_tiles<const W: usize>(
    stores: &mut Streaming,
    planes: &[&[u8]],
    first: usize,
    tiles: &mut [__m256i],
) {
    let (tiles, _) = tiles.as_chunks_mut::<W>();
    let mut from: [&[[u8; LANES]]; W] = [&[]; W];
    for (from, plane) in from.iter_mut().zip(planes) {
        *from = &plane[first..].as_chunks().0[..tiles.len()];
    }
    let scatter = scatter::<W, W>();
    for (tile, items) in tiles.iter_mut().enumerate() {
        let mut rows = [_mm256_setzero_si256(); W];
        for j in 0..W {
            rows[j] = transmute!(from[j][tile]);
        }
        let rows = interleave_to_items::<W, W>(rows, scatter);
        let (low, high) = items.split_at_mut(W / 2);
        for (to, [a, b]) in low.iter_mut().zip(rows.as_chunks().0) {
            stores.store(to, _mm256_permute2x128_si256::<0x20>(*a, *b));
        }
        for (to, [a, b]) in high.iter_mut().zip(rows.as_chunks().0) {
            stores.store(to, _mm256_permute2x128_si256::<0x31>(*a, *b));
        }
    }
}

/// Restores a row from item `first` on, at least as many items as a tile has. All planes have them.
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn put_row<const W: usize>(
    stores: &mut Streaming,
    planes: &[&[u8]; W],
    first: usize,
    row: &mut [u8],
) {
    let end = first + row.len() / W;
    let Some(parts) = Parts::new(row, W, LANES * W) else {
        return unshuffle_row(planes, first, row);
    };
    let [head, tail] = [parts.head.len(), parts.tail.len()];
    let mut tile = [0; LANES * MAX_STORES];
    if head > 0 {
        unshuffle_tile(planes, first, &mut tile[..LANES * W]);
        parts.head.copy_from_slice(&tile[..head]);
    }
    unshuffle_tiles::<W>(stores, planes, first + head / W, parts.tiles);
    if tail > 0 {
        unshuffle_tile(planes, end - LANES, &mut tile[..LANES * W]);
        parts.tail.copy_from_slice(&tile[LANES * W - tail..LANES * W]);
    }
}

/// The same with ordinary stores.
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn unshuffle_row<const W: usize>(
    planes: &[&[u8]; W],
    first: usize,
    row: &mut [u8],
) {
    let end = first + row.len() / W;
    let mut tiles = row.chunks_exact_mut(LANES * W);
    for (n, tile) in tiles.by_ref().enumerate() {
        unshuffle_tile(planes, first + n * LANES, tile);
    }
    // Some of these items are written twice.
    if !tiles.into_remainder().is_empty() {
        let start = row.len() - LANES * W;
        unshuffle_tile(planes, end - LANES, &mut row[start..]);
    }
}

/// Restores a tile of items; byte `first` of each plane belongs to the first item.
#[target_feature(enable = "avx2")]
#[inline]
fn unshuffle_tile<const W: usize>(planes: &[&[u8]; W], first: usize, tile: &mut [u8]) {
    let mut rows = [_mm256_setzero_si256(); W];
    for j in 0..W {
        let mut bytes = [0; LANES];
        bytes.copy_from_slice(&planes[j][first..first + LANES]);
        rows[j] = transmute!(bytes);
    }
    store_items::<W, W>(rows, tile, scatter::<W, W>());
}

/// Bytes of the longest items.
const MAX_STORES: usize = 8;
/// Bytes of a register, and items of a tile.
const LANES: usize = 32;
