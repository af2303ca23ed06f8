//! Byte shuffle of a strip of 512 items between their place and a buffer of planes: what bit shuffle starts from, and
//! a way around the cache's limits for byte shuffle itself.

use core::arch::x86_64::*;

use zerocopy::transmute;

use super::transpose::{gather, load_items, scatter, store_items};

/// Items of a strip.
pub(super) const STRIP: usize = 512;

/// One plane per byte of an item, or of 16 bytes of it.
pub(super) type Planes = [[u8; STRIP]; 16];

/// Where to start for all bytes of an item to be in 16 from a start, or in `typesize` if that is less.
pub(super) fn columns(typesize: usize) -> impl Iterator<Item = usize> {
    (0..typesize).step_by(16).map(move |column| column.min(typesize.saturating_sub(16)))
}

/// Calls a function generic over the bytes of an item, 16 at most, and the power of two from there up.
macro_rules! for_typesize {
    ($typesize:expr, $function:ident $arguments:tt) => {
        match $typesize {
            2 => $function::<2, 2> $arguments,
            3 => $function::<3, 4> $arguments,
            4 => $function::<4, 4> $arguments,
            5 => $function::<5, 8> $arguments,
            6 => $function::<6, 8> $arguments,
            7 => $function::<7, 8> $arguments,
            8 => $function::<8, 8> $arguments,
            9 => $function::<9, 16> $arguments,
            10 => $function::<10, 16> $arguments,
            11 => $function::<11, 16> $arguments,
            12 => $function::<12, 16> $arguments,
            13 => $function::<13, 16> $arguments,
            14 => $function::<14, 16> $arguments,
            15 => $function::<15, 16> $arguments,
            _ => $function::<16, 16> $arguments,
        }
    };
}
pub(super) use for_typesize;

/// Bytes `column..column + 16` (all, if fewer) of 512 items to planes. `items` may go on.
#[target_feature(enable = "avx2")]
pub(super) fn shuffle_strip(typesize: usize, column: usize, items: &[u8], planes: &mut Planes) {
    if typesize <= 16 {
        return for_typesize!(typesize, shuffle_planes(items, planes));
    }
    let gather = gather::<16, 16>();
    for (tile, items) in items.chunks(32 * typesize).take(STRIP / 32).enumerate() {
        let mut packed = [[0; 16]; 32];
        for (to, item) in packed.iter_mut().zip(items.chunks_exact(typesize)) {
            to.copy_from_slice(&item[column..column + 16]);
        }
        let rows = load_items::<16, 16>(packed.as_flattened(), gather);
        for (plane, row) in planes.iter_mut().zip(rows) {
            plane.as_chunks_mut::<32>().0[tile] = transmute!(row);
        }
    }
}

/// Undoes [`shuffle_strip`]. `items` may go on, and up to 14 bytes after the 512 items may change.
#[target_feature(enable = "avx2")]
pub(super) fn unshuffle_strip(typesize: usize, column: usize, planes: &Planes, items: &mut [u8]) {
    if typesize <= 16 {
        return for_typesize!(typesize, unshuffle_planes(planes, items));
    }
    let scatter = scatter::<16, 16>();
    for (tile, items) in items.chunks_mut(32 * typesize).take(STRIP / 32).enumerate() {
        let mut rows = [_mm256_setzero_si256(); 16];
        for (row, plane) in rows.iter_mut().zip(planes) {
            *row = transmute!(plane.as_chunks::<32>().0[tile]);
        }
        let mut packed = [[0; 16]; 32];
        store_items::<16, 16>(rows, packed.as_flattened_mut(), scatter);
        for (from, item) in packed.iter().zip(items.chunks_exact_mut(typesize)) {
            item[column..column + 16].copy_from_slice(from);
        }
    }
}

#[target_feature(enable = "avx2")]
fn shuffle_planes<const G: usize, const W: usize>(items: &[u8], planes: &mut Planes) {
    let Some(items) = items.get(..reach(G, W)) else {
        let mut padded = [0; STRIP * 16];
        padded[..STRIP * G].copy_from_slice(&items[..STRIP * G]);
        return shuffle_planes::<G, W>(&padded, planes);
    };
    let gather = gather::<G, W>();
    for tile in 0..STRIP / 32 {
        let rows = load_items::<G, W>(&items[tile * 32 * G..], gather);
        for j in 0..G {
            planes[j].as_chunks_mut::<32>().0[tile] = transmute!(rows[j]);
        }
    }
}

#[target_feature(enable = "avx2")]
fn unshuffle_planes<const G: usize, const W: usize>(planes: &Planes, items: &mut [u8]) {
    if items.len() < reach(G, W) {
        let mut padded = [0; STRIP * 16];
        unshuffle_planes::<G, W>(planes, &mut padded);
        return items[..STRIP * G].copy_from_slice(&padded[..STRIP * G]);
    }
    let items = &mut items[..reach(G, W)];
    let scatter = scatter::<G, W>();
    for tile in 0..STRIP / 32 {
        let mut rows = [_mm256_setzero_si256(); W];
        for j in 0..G {
            rows[j] = transmute!(planes[j].as_chunks::<32>().0[tile]);
        }
        store_items::<G, W>(rows, &mut items[tile * 32 * G..], scatter);
    }
}

/// Bytes from the start of a strip to the end of its last 16-byte load or store.
const fn reach(g: usize, w: usize) -> usize {
    (STRIP - 16 / w) * g + 16
}
