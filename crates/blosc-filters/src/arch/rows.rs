//! Rows between a block and an array, which is not in the cache.
//!
//! Long rows are written with non-temporal stores. Before a short row is copied, one some lines
//! ahead is prefetched: the hardware prefetcher does not cross pages. See
//! `docs/performance/filters.md`, "Rows of arrays".

use super::avx2::{self, streaming as planes};
use super::avx512;
use super::prefetch::{LINE_NBYTES, prefetch_line};
use super::streaming::{Streaming, copy_lines, streaming};
use crate::internal::StoreHint;
use crate::rows::EvenRows;

/// Copies from the block to the array.
#[target_feature(enable = "avx2")]
pub(super) fn put_rows(rows: EvenRows, block: &[u8], array: &mut [u8]) {
    if rows.len >= MIN_LONG_ROW_NBYTES {
        return streaming(|stores| put_long(stores, rows, block, array));
    }
    let ahead = ahead(rows);
    for n in 0..rows.count {
        prefetch(array.get(rows.row(n + ahead, rows.in_array)));
        let from = block.get(rows.row(n, rows.in_block));
        if let Some((from, to)) = from.zip(array.get_mut(rows.row(n, rows.in_array))) {
            to.copy_from_slice(from);
        }
    }
}

#[target_feature(enable = "avx2")]
fn put_long(stores: &mut Streaming, rows: EvenRows, block: &[u8], array: &mut [u8]) {
    for n in 0..rows.count {
        let from = block.get(rows.row(n, rows.in_block));
        if let Some((from, to)) = from.zip(array.get_mut(rows.row(n, rows.in_array))) {
            copy_lines(stores, from, to);
        }
    }
}

/// Copies from the array to the block.
#[target_feature(enable = "avx2")]
pub(super) fn take_rows(rows: EvenRows, array: &[u8], block: &mut [u8]) {
    take_each(rows, array, block, |from, _, to| avx2::copy(from, to));
}

/// The same with registers of a whole line. Long rows are prefetched as well.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn take_rows_by_lines(rows: EvenRows, array: &[u8], block: &mut [u8]) {
    take_each(rows, array, block, |from, next, to| avx512::copy_uncached(from, next, to));
}

/// `copy` copies long rows; it also gets the row after the current one.
#[inline(always)]
fn take_each(
    rows: EvenRows,
    array: &[u8],
    block: &mut [u8],
    copy: impl Fn(&[u8], &[u8], &mut [u8]),
) {
    let ahead = ahead(rows);
    let row = |n: usize| array.get(rows.row(n, rows.in_array));
    for n in 0..rows.count {
        match row(n).zip(block.get_mut(rows.row(n, rows.in_block))) {
            Some((from, to)) if rows.len >= MIN_LONG_ROW_NBYTES => {
                let next = if n + 1 < rows.count { row(n + 1) } else { None };
                copy(from, next.unwrap_or_default(), to);
            }
            Some((from, to)) => {
                prefetch(row(n + ahead));
                to.copy_from_slice(from);
            }
            None => {}
        }
    }
}

/// Restores the planes of items of 2, 4 or 8 bytes into the array, at least 32 items per row.
#[target_feature(enable = "avx2")]
pub(super) fn put_planes(
    rows: EvenRows,
    stores: StoreHint,
    planes: &[&[u8]],
    from: usize,
    array: &mut [u8],
) {
    match planes {
        [a, b] => put_planes_of(rows, stores, &[*a, *b], from, array),
        [a, b, c, d] => put_planes_of(rows, stores, &[*a, *b, *c, *d], from, array),
        _ => {
            if let Some(planes) = planes.first_chunk::<8>() {
                put_planes_of(rows, stores, planes, from, array);
            }
        }
    }
}

#[target_feature(enable = "avx2")]
fn put_planes_of<const W: usize>(
    rows: EvenRows,
    stores: StoreHint,
    planes: &[&[u8]; W],
    from: usize,
    array: &mut [u8],
) {
    // Cut to one length, so that the compiler drops bounds checks.
    let nitems = planes.iter().map(|plane| plane.len()).min().unwrap_or(0);
    let mut cut: [&[u8]; W] = [&[]; W];
    for (cut, plane) in cut.iter_mut().zip(planes) {
        *cut = &plane[..nitems];
    }
    let (first, count) = (from / W, rows.count_within(nitems * W, from, array.len()));
    let items = |n: usize| first + n * (rows.in_block / W);
    let is_far = stores == StoreHint::NonTemporal;
    if is_far && rows.len >= MIN_LONG_ROW_NBYTES {
        return streaming(|stores| {
            for n in 0..count {
                let row = &mut array[n * rows.in_array..][..rows.len];
                planes::put_row(stores, &cut, items(n), row);
            }
        });
    }
    let ahead = ahead(rows);
    for n in 0..count {
        if is_far {
            prefetch(array.get(rows.row(n + ahead, rows.in_array)));
        }
        planes::unshuffle_row(&cut, items(n), &mut array[n * rows.in_array..][..rows.len]);
    }
}

/// Number of rows to prefetch ahead, which keeps the memory busy.
fn ahead(rows: EvenRows) -> usize {
    (PREFETCH_DISTANCE_NBYTES / rows.len.max(1)).clamp(1, 16)
}

/// Prefetches all lines of `bytes`.
fn prefetch(bytes: Option<&[u8]>) {
    bytes.into_iter().flat_map(|bytes| bytes.chunks(LINE_NBYTES)).for_each(prefetch_line);
}

/// Rows of at least this length are written with non-temporal stores, and prefetched line by line
/// (bytes).
const MIN_LONG_ROW_NBYTES: usize = 1 << 10;
/// Distance from the copied row to the prefetched one (bytes).
const PREFETCH_DISTANCE_NBYTES: usize = 2 << 10;
