//! Bit shuffle with AVX-512, in strips of 512 items, which have 64 bytes in each row:
//!
//! ```text
//!   64 items --load_tile--> line of byte 0 --+            +--> row 0
//!                           line of byte 1   |            |    row 1
//!                           ...              +-transpose--+    ...
//!   64 items --load_tile--> line of byte 0 --+            +--> row 7
//! ```
//!
//! Lines wait for the others of their byte in registers, if there are enough. Otherwise they wait
//! at the positions of the rows (or, in the inverse, of the items). They wait in a buffer if
//! several strips are processed at a time or rows are not on cache lines.

use core::arch::x86_64::*;

use zerocopy::transmute;

use super::super::prefetch::{LINE_NBYTES, prefetch_line};
use super::super::scalar;
use super::super::tiled::{
    STRIP, TILE, columns, for_planes, for_typesize, groups, in_a_set, planes_at_once, row_head,
    strips, strips_on_lines,
};
use super::bits::{Orders, back, load_half_tile, load_tile, load_tile_of_column, transpose_bits};
use super::pieces::Pieces;
use super::transpose::{reach, scatter, store_column, store_items, transpose, transpose_scattered};
use super::{load, store};

/// The lines of a byte of the items of a strip.
type Plane = [__m512i; 8];

const ZERO: Plane = transmute!([[0_u8; 64]; 8]);
/// Most planes that may be in the first-level cache.
const PLANES: usize = 128;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(in super::super) fn bitshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let nitems = src.len() / typesize;
    if nitems < STRIP {
        return scalar::bitshuffle(typesize, src, dest);
    }
    let on_lines = nitems.is_multiple_of(STRIP);
    let is_alone = in_a_set(8 * typesize, nitems / 8) <= 8;
    match (typesize, planes_at_once(typesize, nitems, PLANES)) {
        (1, _) => bitshuffle_in_registers::<1>(src, dest),
        (2, 2) => bitshuffle_in_registers::<2>(src, dest),
        (2, _) => bitshuffle_byte_by_byte(src, dest),
        (4, _) if on_lines && is_alone => bitshuffle_in_place::<4>(src, dest),
        (8, _) if on_lines && is_alone => bitshuffle_in_place::<8>(src, dest),
        (16, _) if on_lines && is_alone => bitshuffle_in_place::<16>(src, dest),
        (4, 32) => bitshuffle_halves::<4, 2, 16>(src, dest),
        (8, 64) => bitshuffle_halves::<8, 4, 32>(src, dest),
        (_, planes) => for_planes!(planes, bitshuffle_strips(typesize, src, dest)),
    }
}

/// Shuffles items of one or two bytes; the registers hold all lines of a strip.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn bitshuffle_in_registers<const G: usize>(src: &[u8], dest: &mut [u8]) {
    let (nitems, orders) = (src.len() / G, Orders::there::<G, G>());
    for first in strips_on_lines(8 * row_head(dest, nitems / 8, TILE), nitems, STRIP) {
        let mut planes = [ZERO; G];
        let items = &src[first * G..][..STRIP * G];
        for tile in 0..8 {
            let lines = load_tile::<G, G>(&items[tile * TILE * G..][..TILE * G], orders);
            for j in 0..G {
                planes[j][tile] = lines[j];
            }
        }
        for j in 0..G {
            store_rows(planes[j], &mut dest[j * nitems + first / 8..], nitems / 8);
        }
    }
}

/// Shuffles without a buffer, for rows on cache lines: lines wait at the positions of the rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn bitshuffle_in_place<const G: usize>(src: &[u8], dest: &mut [u8]) {
    let nitems = src.len() / G;
    let (stride, orders) = (nitems / STRIP, Orders::there::<G, G>());
    let head = row_head(dest, nitems / 8, TILE);
    let (src, nstrips) = match head {
        0 => (src, stride),
        _ => {
            // The items at both ends that are not on lines; some items are processed twice.
            for first in [0, nitems - STRIP] {
                bitshuffle_strip::<G>(first, src, dest);
            }
            (&src[8 * head * G..], stride - 1)
        }
    };
    // With lines instead of bytes, half of the bounds need no check.
    let lines = dest[head..].as_chunks_mut::<64>().0;
    for strip in 0..nstrips {
        for tile in 0..8 {
            let items = &src[(strip * STRIP + tile * TILE) * G..][..TILE * G];
            let tile_lines = load_tile::<G, G>(items, orders);
            for j in 0..G {
                lines[(8 * j + tile) * stride + strip] = transmute!(tile_lines[j]);
            }
        }
        for j in 0..G {
            let mut plane = ZERO;
            for (k, line) in plane.iter_mut().enumerate() {
                *line = transmute!(lines[(8 * j + k) * stride + strip]);
            }
            for (k, row) in transpose(plane).into_iter().enumerate() {
                lines[(8 * j + k) * stride + strip] = transmute!(row);
            }
        }
    }
}

/// One strip of items of 2^n bytes, from item `first` on.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn bitshuffle_strip<const G: usize>(first: usize, src: &[u8], dest: &mut [u8]) {
    let nitems = src.len() / G;
    let mut planes = [ZERO; G];
    items_to_planes::<G, G>(&src[first * G..], &mut planes);
    for (j, plane) in planes.into_iter().enumerate() {
        store_rows(plane, &mut dest[j * nitems + first / 8..], nitems / 8);
    }
}

/// Uses a buffer for [`planes_at_once`] planes of strips.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn bitshuffle_strips<const P: usize>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let nitems = src.len() / typesize;
    let mut buffer = [ZERO; P];
    let width = typesize.min(16);
    for firsts in groups(8 * row_head(dest, nitems / 8, TILE), nitems, P / width) {
        for column in columns(typesize) {
            for (first, planes) in firsts.clone().zip(buffer.chunks_exact_mut(width)) {
                let items = &src[first * typesize..];
                match (typesize, planes.first_chunk_mut()) {
                    (17.., Some(planes)) => column_to_planes(typesize, &items[column..], planes),
                    _ => for_typesize!(typesize, items_to_planes(items, planes)),
                }
            }
            for j in 0..width {
                for (first, planes) in firsts.clone().zip(buffer.chunks_exact(width)) {
                    store_rows(
                        planes[j],
                        &mut dest[(column + j) * nitems + first / 8..],
                        nitems / 8,
                    );
                }
            }
        }
    }
}

/// Shuffles several strips at a time, first `C` and then the other `C` of `G` bytes: a buffer for
/// all bytes would take too much of the first-level cache.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn bitshuffle_halves<const G: usize, const C: usize, const P: usize>(src: &[u8], dest: &mut [u8]) {
    let nitems = src.len() / G;
    let mut buffer = [ZERO; P];
    let orders = Orders::there_by_halves::<G, C>();
    for firsts in groups(8 * row_head(dest, nitems / 8, TILE), nitems, P / C) {
        for half in 0..2 {
            for (first, planes) in firsts.clone().zip(buffer.as_chunks_mut::<C>().0) {
                let items = &src[first * G..][..STRIP * G];
                for tile in 0..8 {
                    let items = &items[tile * TILE * G..][..TILE * G];
                    let lines = load_half_tile::<C>(items, orders[half]);
                    for j in 0..C {
                        planes[j][tile] = lines[j];
                    }
                }
            }
            for j in 0..C {
                for (first, planes) in firsts.clone().zip(buffer.as_chunks::<C>().0) {
                    store_rows(
                        planes[j],
                        &mut dest[(C * half + j) * nitems + first / 8..],
                        nitems / 8,
                    );
                }
            }
        }
    }
}

/// Shuffles items of two bytes whose 16 rows share a set of the cache. For several strips at a
/// time, it writes first the eight rows of one byte and then those of the other. Items are loaded
/// twice, which takes less than lines that wait in a buffer.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn bitshuffle_byte_by_byte(src: &[u8], dest: &mut [u8]) {
    let nitems = src.len() / 2;
    let orders = Orders::there_by_halves::<2, 1>();
    for firsts in groups(8 * row_head(dest, nitems / 8, TILE), nitems, 8) {
        for byte in 0..2 {
            for first in firsts.clone() {
                let items = &src[first * 2..][..STRIP * 2];
                let mut plane = ZERO;
                for (tile, line) in plane.iter_mut().enumerate() {
                    let items = &items[tile * TILE * 2..][..TILE * 2];
                    [*line] = load_half_tile::<1>(items, orders[byte]);
                }
                store_rows(plane, &mut dest[byte * nitems + first / 8..], nitems / 8);
            }
        }
    }
}

/// 512 items. `items` may be longer.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn items_to_planes<const G: usize, const W: usize>(items: &[u8], planes: &mut [Plane]) {
    let Some(planes) = planes.first_chunk_mut::<G>() else { return };
    let orders = Orders::there::<G, W>();
    for tile in 0..8 {
        let lines = load_tile_to_end::<G, W>(&items[tile * TILE * G..], orders);
        for j in 0..G {
            planes[j][tile] = lines[j];
        }
    }
}

/// As [`load_tile`], near the end of the items, where it would load bytes beyond them.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn load_tile_to_end<const G: usize, const W: usize>(items: &[u8], orders: Orders) -> [__m512i; W] {
    match items.get(..reach(G, W)) {
        Some(items) => load_tile::<G, W>(items, orders),
        None => {
            let mut last = [0; TILE * 16];
            last[..TILE * G].copy_from_slice(&items[..TILE * G]);
            load_tile::<G, W>(&last, orders)
        }
    }
}

/// Bytes 0..16 of 512 items.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn column_to_planes(typesize: usize, items: &[u8], planes: &mut [Plane; 16]) {
    let orders = Orders::there::<16, 16>();
    for tile in 0..8 {
        let lines = load_tile_of_column(typesize, &items[tile * TILE * typesize..], orders);
        for j in 0..16 {
            planes[j][tile] = lines[j];
        }
    }
}

/// The bits of a byte to eight rows of 64 bytes, `stride` apart.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn store_rows(plane: Plane, rows: &mut [u8], stride: usize) {
    for (k, row) in transpose(plane).into_iter().enumerate() {
        store(rows, k * stride, row);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(in super::super) fn bitunshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    bitunshuffle_by::<false>(Pieces::if_suited(typesize, dest.len()), typesize, src, dest);
}

/// As [`bitunshuffle`], to memory that is mostly outside of the cache. Lines that are not written
/// in sequence are prefetched.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(in super::super) fn bitunshuffle_uncached(typesize: usize, src: &[u8], dest: &mut [u8]) {
    bitunshuffle_by::<true>(Pieces::if_suited(typesize, dest.len()), typesize, src, dest);
}

/// Items of 8 bytes by pieces, if there are any.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(in super::super) fn bitunshuffle_by<const UNCACHED: bool>(
    pieces: Option<Pieces>,
    typesize: usize,
    src: &[u8],
    dest: &mut [u8],
) {
    let nitems = src.len() / typesize;
    if nitems < STRIP {
        return scalar::bitunshuffle(typesize, src, dest);
    }
    let planes = planes_at_once(typesize, nitems, PLANES);
    // Several strips at a time never overlap: rows share sets only if all strips are whole.
    let at_once = if nitems.is_multiple_of(STRIP) { planes / typesize.min(16) } else { 1 };
    match typesize {
        1 => bitunshuffle_in_registers::<1>(src, dest),
        2 if at_once == 1 => bitunshuffle_in_registers::<2>(src, dest),
        2 => bitunshuffle_in_place::<2, UNCACHED>(pieces, at_once, src, dest),
        4 => bitunshuffle_in_place::<4, UNCACHED>(pieces, at_once, src, dest),
        8 => bitunshuffle_in_place::<8, UNCACHED>(pieces, at_once, src, dest),
        16 => bitunshuffle_in_place::<16, UNCACHED>(pieces, at_once, src, dest),
        _ => for_planes!(planes, bitunshuffle_strips(typesize, src, dest)),
    }
}

/// Undoes [`bitshuffle_in_registers`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn bitunshuffle_in_registers<const G: usize>(src: &[u8], dest: &mut [u8]) {
    let (nitems, back, scatter) = (src.len() / G, back(), scatter::<G, G>());
    for first in strips(nitems, STRIP) {
        let mut planes = [ZERO; G];
        for (j, plane) in planes.iter_mut().enumerate() {
            *plane =
                transpose_scattered(load_rows(&src[j * nitems + first / 8..], nitems / 8), back);
        }
        let items = &mut dest[first * G..][..STRIP * G];
        for tile in 0..8 {
            let mut rows = [ZERO[0]; G];
            for j in 0..G {
                rows[j] = transpose_bits(planes[j][tile]);
            }
            store_items::<G, G>(rows, &mut items[tile * TILE * G..][..TILE * G], scatter);
        }
    }
}

/// Undoes [`bitshuffle_in_place`], for items that are stored without a gap. The lines of a tile
/// wait at the positions of its items, or a few bytes after them, on cache lines.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn bitunshuffle_in_place<const G: usize, const UNCACHED: bool>(
    pieces: Option<Pieces>,
    at_once: usize,
    src: &[u8],
    dest: &mut [u8],
) {
    let nitems = src.len() / G;
    let (back, scatter) = (back(), scatter::<G, G>());
    let pieces = pieces.filter(|_| G == 8);
    let to_line = dest.as_ptr().align_offset(64);
    for firsts in groups(0, nitems, at_once) {
        let is_last = firsts.clone().any(|first| (first + STRIP) * G + to_line > dest.len());
        let to_line = if is_last { 0 } else { to_line };
        for j in 0..G {
            for first in firsts.clone() {
                if UNCACHED {
                    // Of each strip of the next group, one of `G` parts for each `j`.
                    let part = (first + at_once * STRIP) * G + to_line + j * STRIP;
                    if let Some(part) = dest.get(part..part + STRIP) {
                        for line in 0..STRIP / LINE_NBYTES {
                            prefetch_line(&part[line * LINE_NBYTES..]);
                        }
                    }
                }
                let rows = &src[j * nitems + first / 8..];
                let lines = &mut dest[first * G + to_line..][..STRIP * G];
                if let Some(pieces) = pieces {
                    pieces.rows_to_lines(rows, nitems / 8, &mut lines[64 * j..]);
                    continue;
                }
                let rows = load_rows(rows, nitems / 8);
                for (tile, line) in transpose_scattered(rows, back).into_iter().enumerate() {
                    store(lines, (tile * G + j) * 64, line);
                }
            }
        }
        for first in firsts {
            for tile in 0..8 {
                let items = &mut dest[(first + tile * TILE) * G..];
                if let Some(pieces) = pieces {
                    pieces.lines_to_items(to_line, items);
                    continue;
                }
                let lines = &items[to_line..][..TILE * G];
                let mut rows = [ZERO[0]; G];
                for (j, row) in rows.iter_mut().enumerate() {
                    *row = transpose_bits(load(lines, 64 * j));
                }
                store_items::<G, G>(rows, &mut items[..TILE * G], scatter);
            }
        }
    }
}

/// Undoes [`bitshuffle_strips`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn bitunshuffle_strips<const P: usize>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let nitems = src.len() / typesize;
    let (mut buffer, back) = ([ZERO; P], back());
    let width = typesize.min(16);
    for firsts in groups(0, nitems, P / width) {
        for column in columns(typesize) {
            for j in 0..width {
                for (first, planes) in firsts.clone().zip(buffer.chunks_exact_mut(width)) {
                    let rows = load_rows(&src[(column + j) * nitems + first / 8..], nitems / 8);
                    planes[j] = transpose_scattered(rows, back);
                }
            }
            for (first, planes) in firsts.clone().zip(buffer.chunks_exact(width)) {
                let items = &mut dest[first * typesize..];
                match (typesize, planes.first_chunk()) {
                    (17.., Some(planes)) => {
                        planes_to_column(typesize, planes, &mut items[column..])
                    }
                    _ => for_typesize!(typesize, planes_to_items(planes, items)),
                }
            }
        }
    }
}

/// Undoes [`items_to_planes`]. `items` may be longer, and some bytes after these items may change.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn planes_to_items<const G: usize, const W: usize>(planes: &[Plane], items: &mut [u8]) {
    let Some(planes) = planes.first_chunk::<G>() else { return };
    let scatter = scatter::<G, W>();
    for tile in 0..8 {
        let items = &mut items[tile * TILE * G..];
        let mut rows = [ZERO[0]; W];
        for j in 0..G {
            rows[j] = transpose_bits(planes[j][tile]);
        }
        match items.get_mut(..reach(G, W)) {
            Some(items) => store_items::<G, W>(rows, items, scatter),
            None => {
                let mut last = [0; TILE * 16];
                store_items::<G, W>(rows, &mut last, scatter);
                items[..TILE * G].copy_from_slice(&last[..TILE * G]);
            }
        }
    }
}

/// Undoes [`column_to_planes`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn planes_to_column(typesize: usize, planes: &[Plane; 16], items: &mut [u8]) {
    let scatter = scatter::<16, 16>();
    for tile in 0..8 {
        let mut rows = [ZERO[0]; 16];
        for j in 0..16 {
            rows[j] = transpose_bits(planes[j][tile]);
        }
        store_column(rows, typesize, &mut items[tile * TILE * typesize..], scatter);
    }
}

/// 64 bytes of eight rows, `stride` apart.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn load_rows(rows: &[u8], stride: usize) -> Plane {
    let mut plane = ZERO;
    for (k, row) in plane.iter_mut().enumerate() {
        *row = load(rows, k * stride);
    }
    plane
}
