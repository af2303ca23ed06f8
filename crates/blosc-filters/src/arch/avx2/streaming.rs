//! Unshuffle with stores that pass the cache by.

use core::arch::x86_64::*;
use core::array;

use zerocopy::transmute;

use super::super::streaming::Streaming;
use super::transpose::{interleave_to_items, scatter};

/// Bytes of a tile, if there is one for such items. (Those of 16 bytes take a way by a buffer, which leaves nothing to gain.)
pub(in super::super) const fn tile(typesize: usize) -> Option<usize> {
    match typesize {
        2 | 4 | 8 => Some(LANES * typesize),
        _ => None,
    }
}

/// Tiles of items, of which byte `first` of each plane belongs to the first.
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
    let planes: [&[[u8; LANES]]; W] = array::from_fn(|j| &planes[j][first..].as_chunks().0[..tiles.len()]);
    let scatter = scatter::<W, W>();
    for (tile, items) in tiles.iter_mut().enumerate() {
        let mut rows = [_mm256_setzero_si256(); W];
        for j in 0..W {
            rows[j] = transmute!(planes[j][tile]);
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

/// Bytes of a register, and items of a tile.
const LANES: usize = 32;
