//! Shuffle and bit shuffle in tiles, for all instruction sets that can transpose one.
//!
//! ```text
//!   byte shuffle, 64 items of typesize G     bit shuffle, 512 items: the bytes as on the left, to a buffer; then
//!
//!     items --load_items--> G rows  plane 0    plane j --load_bits--> 8 rows  row 8 * j
//!                                   plane 1                                    row 8 * j + 1
//!                                  ...                                        ...
//! ```
//!
//! A row is 64 bytes, so that a whole cache line of each plane is written (or read) at a time.
//! Items of more than 16 bytes are processed in columns of 16 bytes; the last column may overlap
//! the one before.

/// Items of a tile, and bytes of a row.
pub(super) const TILE: usize = 64;

/// Items of a strip; a row of their bits has 64 bytes.
pub(super) const STRIP: usize = 8 * TILE;

/// Starts of strips that cover `nitems`, which are 512 or more. If they are no multiple of 512, the
/// last strip overlaps the one before: its items are processed twice, which costs less than a
/// slower second loop for the rest.
pub(super) fn strips(nitems: usize, size: usize) -> impl Iterator<Item = usize> {
    (0..nitems).step_by(size).map(move |first| first.min(nitems - size))
}

/// [`strips`] whose rows begin on cache lines, `head` items after the first. A strip at the start
/// covers the items before; the next strip overlaps it.
pub(super) fn strips_on_lines(
    head: usize,
    nitems: usize,
    size: usize,
) -> impl Iterator<Item = usize> {
    (head > 0)
        .then_some(0)
        .into_iter()
        .chain((head..nitems).step_by(size).map(move |first| first.min(nitems - size)))
}

/// [`strips_on_lines`] of 512 items, in groups of up to `at_once`.
pub(super) fn groups(
    head: usize,
    nitems: usize,
    at_once: usize,
) -> impl Iterator<Item = impl Iterator<Item = usize> + Clone> {
    // The first strip is the one that ends where the second begins, moved to the start.
    let skipped = head.next_multiple_of(STRIP) - head;
    let n = (nitems + skipped).div_ceil(STRIP);
    (0..n).step_by(at_once).map(move |start| {
        (start..n.min(start + at_once))
            .map(move |strip| (strip * STRIP).saturating_sub(skipped).min(nitems - STRIP))
    })
}

/// Bytes before the first cache line in each row of `dest`; 0 if rows of `stride` bytes are not
/// whole lines apart, or if processing `nbytes` more of each row would take long.
///
/// Stores that cross lines take as long as two: from the second-level cache on, rows are written at
/// half the speed.
pub(super) fn row_head(dest: &[u8], stride: usize, nbytes: usize) -> usize {
    let pays = dest.len() >= BEYOND_L1_NBYTES && stride >= 16 * nbytes;
    let head = dest.as_ptr().addr().wrapping_neg() % TILE;
    if pays && stride.is_multiple_of(TILE) { head } else { 0 }
}

/// Items of `dest` before the first one that begins on a cache line; 0 if items of `typesize` bytes
/// do not fit lines evenly, or if one more tile at the start would take long.
pub(super) fn item_head(dest: &[u8], typesize: usize) -> usize {
    let pays = dest.len() >= 64 * TILE * typesize;
    let head = dest.as_ptr().addr().wrapping_neg() % TILE;
    let is_even = TILE.is_multiple_of(typesize) && head.is_multiple_of(typesize);
    if pays && is_even { head / typesize } else { 0 }
}

/// With an equally long source, this exceeds a first-level cache (32 or 48 KiB).
const BEYOND_L1_NBYTES: usize = 32 << 10;

/// How many of `n` lines, each `stride` bytes after the one before, may be in the same set of the
/// first-level cache. In most processors, lines at multiples of 4096 bytes share a set.
pub(super) const fn in_a_set(n: usize, stride: usize) -> usize {
    let period = 4096;
    if stride.is_multiple_of(period) { n } else { n.div_ceil(period >> stride.trailing_zeros()) }
}

/// Number of planes, at most `most`, that bit shuffle keeps at a time. Usually they belong to one
/// strip. If more rows share a set of the cache than it has ways, they belong to several strips
/// (eight, if they fit): then the same eight rows are completed before others evict them half
/// written. They take at most an eighth of the block, since the buffer has to be cleared first.
pub(super) const fn planes_at_once(typesize: usize, nitems: usize, most: usize) -> usize {
    let planes = if typesize > 16 { 16 } else { typesize };
    if in_a_set(8 * planes, nitems / 8) <= 8 {
        return planes;
    }
    let mut several = 8 * planes;
    while several > most || several > planes && several * STRIP > typesize * nitems / 8 {
        several /= 2;
    }
    several
}

/// The starts of columns of 16 bytes, or of `typesize` if that is less, that cover all bytes of an
/// item.
pub(super) fn columns(typesize: usize) -> impl Iterator<Item = usize> {
    (0..typesize).step_by(16).map(move |column| column.min(typesize.saturating_sub(16)))
}

/// Whether the column before in [`columns`] contains at least the first eight bytes of this one.
pub(super) const fn is_half_known(column: usize) -> bool {
    matches!(column % 16, 1..=8)
}

/// `N` tiles of each of `G` planes of `stride` bytes, from item `first` on. (A function outside of
/// the kernels, because a closure within them requires their instructions, and would not be inlined
/// into functions without these.)
#[inline]
pub(super) fn tiles_of_planes<const G: usize>(
    dest: &mut [u8],
    stride: usize,
    first: usize,
    ntiles: usize,
) -> [&mut [[u8; TILE]]; G] {
    let mut rest = dest;
    core::array::from_fn(|_| {
        let (plane, others) = core::mem::take(&mut rest).split_at_mut(stride);
        rest = others;
        &mut plane[first..].as_chunks_mut().0[..ntiles]
    })
}

/// Calls a function that is generic over the bytes of an item, 16 at most, and over the next power
/// of two.
macro_rules! for_typesize {
    ($typesize:expr, $function:ident $([$size:tt])? ($($argument:expr),+)) => {
        match $typesize {
            2 => $function::<2, 2 $(, $size)?>($($argument),+),
            3 => $function::<3, 4 $(, $size)?>($($argument),+),
            4 => $function::<4, 4 $(, $size)?>($($argument),+),
            5 => $function::<5, 8 $(, $size)?>($($argument),+),
            6 => $function::<6, 8 $(, $size)?>($($argument),+),
            7 => $function::<7, 8 $(, $size)?>($($argument),+),
            8 => $function::<8, 8 $(, $size)?>($($argument),+),
            9 => $function::<9, 16 $(, $size)?>($($argument),+),
            10 => $function::<10, 16 $(, $size)?>($($argument),+),
            11 => $function::<11, 16 $(, $size)?>($($argument),+),
            12 => $function::<12, 16 $(, $size)?>($($argument),+),
            13 => $function::<13, 16 $(, $size)?>($($argument),+),
            14 => $function::<14, 16 $(, $size)?>($($argument),+),
            15 => $function::<15, 16 $(, $size)?>($($argument),+),
            _ => $function::<16, 16 $(, $size)?>($($argument),+),
        }
    };
}

/// Calls a function that is generic over the number of planes in its buffer.
macro_rules! for_planes {
    ($planes:expr, $function:ident($($argument:expr),+)) => {
        match $planes {
            ..=4 => $function::<4>($($argument),+),
            5..=8 => $function::<8>($($argument),+),
            9..=16 => $function::<16>($($argument),+),
            17..=32 => $function::<32>($($argument),+),
            33..=64 => $function::<64>($($argument),+),
            _ => $function::<128>($($argument),+),
        }
    };
}

/// Evaluates `$work` on `$items`. Usually the compiler sees that each of `$n` items of `$typesize`
/// bytes is in bounds; near the end of a block and for large items, it does not. (A check for each
/// item doubles the time.)
macro_rules! bounded {
    ($n:literal, $typesize:ident, $items:ident . $first_chunk:ident, $work:expr) => {
        match $items.$first_chunk::<{ ($n - 1) * 64 + 16 }>() {
            Some($items) if $typesize <= 64 => $work,
            _ => $work,
        }
    };
}

/// Defines `shuffle`, `unshuffle` and `unshuffle_planes` for a set of instructions whose registers
/// have a given type and number of bytes. In scope must be, for items of `G` bytes and `W` the
/// power of two from `G` up:
///
/// * `load_items::<G, W>(&[u8], gather) -> [register; W]`: as many items as a register has bytes,
///   byte `j` of all in register `j`, for `j` below `G`, where `gather` is what `gather::<G, W>()`
///   gives, once for many items; and `store_items::<G, W>([register; W], &mut [u8], scatter)`,
///   its inverse. Both may touch more bytes than the items have:
/// * `reach(G, W)`, how many at most from the start of 64 items;
/// * `load_column(typesize, &[u8], gather) -> [register; 16]`: byte `j` of as many items as a
///   register has bytes in register `j`, for `j` below 16; and `store_column([register; 16],
///   typesize, &mut [u8], scatter)`;
/// * `in_strips(typesize, nitems)`: whether to shuffle by way of a buffer, if there are [`STRIP`]
///   items; and
/// * `UNSHUFFLE_IN_STRIPS`, whether to undo it in the same way.
macro_rules! tiled_kernels {
    ($features:literal, $register:ty, $width:literal) => {
        use zerocopy::transmute;

        use super::super::scalar;
        use super::super::tiled::{
            STRIP, TILE, columns, for_typesize, is_half_known, item_head, row_head, strips,
            strips_on_lines, tiles_of_planes,
        };
        use crate::shuffle::whole_items;

        const WIDTH: usize = $width;
        const ZERO: $register = transmute!([0_u8; WIDTH]);

        #[target_feature(enable = $features)]
        pub(in super::super) fn shuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
            let nitems = whole_items(src.len(), typesize);
            match typesize {
                _ if nitems < TILE => scalar::shuffle(typesize, src, dest),
                _ if in_strips(typesize, nitems) => shuffle_strips::<512>(typesize, src, dest),
                ..=16 => for_typesize!(typesize, shuffle_items(nitems, src, dest)),
                _ => shuffle_columns(typesize, src, dest),
            }
        }

        #[target_feature(enable = $features)]
        pub(in super::super) fn unshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
            let nitems = whole_items(src.len(), typesize);
            // Sizes found by measurement.
            match typesize {
                _ if nitems < TILE => scalar::unshuffle(typesize, src, dest),
                9..=16 if UNSHUFFLE_IN_STRIPS && in_strips(typesize, nitems) => {
                    unshuffle_strips::<128>(typesize, src, dest)
                }
                17.. if UNSHUFFLE_IN_STRIPS && in_strips(typesize, nitems) => {
                    unshuffle_strips::<256>(typesize, src, dest)
                }
                ..=16 => for_typesize!(typesize, unshuffle_items(nitems, src, dest)),
                _ => unshuffle_columns(typesize, src, dest),
            }
        }

        #[target_feature(enable = $features)]
        pub(in super::super) fn unshuffle_planes(planes: &[&[u8]], dest: &mut [u8]) {
            match planes.len() {
                typesize @ 2..=16 if dest.len() >= TILE * typesize => {
                    for_typesize!(typesize, unshuffle_array(planes, dest));
                }
                _ => scalar::unshuffle_planes(planes, dest),
            }
        }

        /// Uses a buffer for `N` items of each plane, so that whole cache lines of a plane are
        /// written at once.
        #[target_feature(enable = $features)]
        fn shuffle_strips<const N: usize>(typesize: usize, src: &[u8], dest: &mut [u8]) {
            let nitems = src.len() / typesize;
            let mut planes = [[0; N]; 16];
            for first in strips_on_lines(row_head(dest, nitems, N), nitems, N) {
                for column in columns(typesize) {
                    shuffle_strip(typesize, column, &src[first * typesize..], &mut planes);
                    let known = if is_half_known(column) { 8 } else { 0 };
                    for (j, plane) in planes.iter().enumerate().take(typesize).skip(known) {
                        dest[(column + j) * nitems + first..][..N].copy_from_slice(plane);
                    }
                }
            }
        }

        /// Undoes [`shuffle_strips`].
        #[target_feature(enable = $features)]
        fn unshuffle_strips<const N: usize>(typesize: usize, src: &[u8], dest: &mut [u8]) {
            let nitems = src.len() / typesize;
            let mut planes = [[0; N]; 16];
            for first in strips(nitems, N) {
                for column in columns(typesize) {
                    for (j, plane) in planes.iter_mut().take(typesize).enumerate() {
                        plane.copy_from_slice(&src[(column + j) * nitems + first..][..N]);
                    }
                    unshuffle_strip(typesize, column, &planes, &mut dest[first * typesize..]);
                }
            }
        }

        /// Shuffles items of more than 16 bytes without a buffer.
        #[target_feature(enable = $features)]
        fn shuffle_columns(typesize: usize, src: &[u8], dest: &mut [u8]) {
            let nitems = src.len() / typesize;
            let gather = gather::<16, 16>();
            for tile in strips_on_lines(row_head(dest, nitems, TILE), nitems, TILE) {
                for column in columns(typesize) {
                    for first in (tile..tile + TILE).step_by(WIDTH) {
                        let rows = load_column(typesize, &src[first * typesize + column..], gather);
                        if is_half_known(column) {
                            let at = (column + 8) * nitems + first;
                            store_rows(rows.as_chunks::<8>().0[1], nitems, &mut dest[at..]);
                        } else {
                            store_rows(rows, nitems, &mut dest[column * nitems + first..]);
                        }
                    }
                }
            }
        }

        #[target_feature(enable = $features)]
        #[inline]
        fn store_rows<const N: usize>(rows: [$register; N], stride: usize, dest: &mut [u8]) {
            for (j, row) in rows.into_iter().enumerate() {
                let row: [u8; WIDTH] = transmute!(row);
                dest[j * stride..][..WIDTH].copy_from_slice(&row);
            }
        }

        /// Undoes [`shuffle_columns`].
        #[target_feature(enable = $features)]
        fn unshuffle_columns(typesize: usize, src: &[u8], dest: &mut [u8]) {
            let nitems = src.len() / typesize;
            let scatter = scatter::<16, 16>();
            for tile in strips(nitems, TILE) {
                for column in columns(typesize) {
                    for first in (tile..tile + TILE).step_by(WIDTH) {
                        let (mut rows, mut at) = ([ZERO; 16], column * nitems + first);
                        for row in &mut rows {
                            let mut bytes = [0_u8; WIDTH];
                            bytes.copy_from_slice(&src[at..at + WIDTH]);
                            *row = transmute!(bytes);
                            at += nitems;
                        }
                        store_column(
                            rows,
                            typesize,
                            &mut dest[first * typesize + column..],
                            scatter,
                        );
                    }
                }
            }
        }

        /// Bytes `column..column + 16` (all, if fewer) of `N` items to planes. `items` may be
        /// longer.
        #[target_feature(enable = $features)]
        fn shuffle_strip<const N: usize>(
            typesize: usize,
            column: usize,
            items: &[u8],
            planes: &mut [[u8; N]],
        ) {
            if typesize <= 16 {
                for_typesize!(typesize, shuffle_planes[N](items, planes));
            } else if let Some(planes) = planes.first_chunk_mut() {
                shuffle_column(typesize, column, items, planes);
            }
        }

        /// Undoes [`shuffle_strip`]. `items` may be longer, and some bytes after these items may
        /// change.
        #[target_feature(enable = $features)]
        fn unshuffle_strip<const N: usize>(
            typesize: usize,
            column: usize,
            planes: &[[u8; N]],
            items: &mut [u8],
        ) {
            if typesize <= 16 {
                for_typesize!(typesize, unshuffle_strip_planes[N](planes, items));
            } else if let Some(planes) = planes.first_chunk() {
                unshuffle_column(typesize, column, planes, items);
            }
        }

        #[target_feature(enable = $features)]
        fn shuffle_planes<const G: usize, const W: usize, const N: usize>(
            items: &[u8],
            planes: &mut [[u8; N]],
        ) {
            let Some(items) = items.get(..(N - TILE) * G + reach(G, W)) else {
                let mut padded = [[0; 16]; N];
                padded.as_flattened_mut()[..N * G].copy_from_slice(&items[..N * G]);
                return shuffle_planes::<G, W, N>(padded.as_flattened(), planes);
            };
            let Some(planes) = planes.first_chunk_mut::<G>() else { return };
            let gather = gather::<G, W>();
            for part in 0..N / WIDTH {
                let rows = load_items::<G, W>(&items[part * WIDTH * G..], gather);
                for j in 0..G {
                    planes[j].as_chunks_mut::<WIDTH>().0[part] = transmute!(rows[j]);
                }
            }
        }

        #[target_feature(enable = $features)]
        fn unshuffle_strip_planes<const G: usize, const W: usize, const N: usize>(
            planes: &[[u8; N]],
            items: &mut [u8],
        ) {
            if items.len() < (N - TILE) * G + reach(G, W) {
                let mut padded = [[0; 16]; N];
                unshuffle_strip_planes::<G, W, N>(planes, padded.as_flattened_mut());
                return items[..N * G].copy_from_slice(&padded.as_flattened()[..N * G]);
            }
            let Some(planes) = planes.first_chunk::<G>() else { return };
            let items = &mut items[..(N - TILE) * G + reach(G, W)];
            let scatter = scatter::<G, W>();
            for part in 0..N / WIDTH {
                let mut rows = [ZERO; W];
                for j in 0..G {
                    rows[j] = transmute!(planes[j].as_chunks::<WIDTH>().0[part]);
                }
                store_items::<G, W>(rows, &mut items[part * WIDTH * G..], scatter);
            }
        }

        #[target_feature(enable = $features)]
        fn shuffle_column<const N: usize>(
            typesize: usize,
            column: usize,
            items: &[u8],
            planes: &mut [[u8; N]; 16],
        ) {
            let gather = gather::<16, 16>();
            for part in 0..N / WIDTH {
                let rows =
                    load_column(typesize, &items[part * WIDTH * typesize + column..], gather);
                for (plane, row) in planes.iter_mut().zip(rows) {
                    plane.as_chunks_mut::<WIDTH>().0[part] = transmute!(row);
                }
            }
        }

        #[target_feature(enable = $features)]
        fn unshuffle_column<const N: usize>(
            typesize: usize,
            column: usize,
            planes: &[[u8; N]; 16],
            items: &mut [u8],
        ) {
            let scatter = scatter::<16, 16>();
            for part in 0..N / WIDTH {
                let mut rows = [ZERO; 16];
                for (row, plane) in rows.iter_mut().zip(planes) {
                    *row = transmute!(plane.as_chunks::<WIDTH>().0[part]);
                }
                store_column(
                    rows,
                    typesize,
                    &mut items[part * WIDTH * typesize + column..],
                    scatter,
                );
            }
        }

        /// Shuffles all tiles that may be read in place, from the first whose rows are cache lines;
        /// then the remaining items from a copy, including some items before the end once more.
        #[target_feature(enable = $features)]
        fn shuffle_items<const G: usize, const W: usize>(
            nitems: usize,
            src: &[u8],
            dest: &mut [u8],
        ) {
            let head = row_head(dest, nitems, TILE);
            let after_head = &src[head * G..];
            if head > 0 && whole_tiles(src.len(), G, W) > 0 {
                shuffle_tiles::<G, W>(1, src, dest, 0, nitems);
            }
            let ntiles = whole_tiles(after_head.len(), G, W);
            shuffle_tiles::<G, W>(ntiles, after_head, dest, head, nitems);
            for first in (head + ntiles * TILE..nitems).step_by(TILE) {
                let first = first.min(nitems - TILE);
                let mut last = [0; TILE * 16];
                last[..TILE * G].copy_from_slice(&src[first * G..][..TILE * G]);
                shuffle_tiles::<G, W>(1, &last, dest, first, nitems);
            }
        }

        /// As [`shuffle_items`].
        #[target_feature(enable = $features)]
        fn unshuffle_items<const G: usize, const W: usize>(
            nitems: usize,
            src: &[u8],
            dest: &mut [u8],
        ) {
            let mut planes: [&[u8]; G] = [&[]; G];
            for (j, plane) in planes.iter_mut().enumerate() {
                *plane = &src[j * nitems..][..nitems];
            }
            unshuffle_all::<G, W>(&planes, dest);
        }

        #[target_feature(enable = $features)]
        fn unshuffle_array<const G: usize, const W: usize>(planes: &[&[u8]], dest: &mut [u8]) {
            match planes.first_chunk() {
                Some(planes) => unshuffle_all::<G, W>(planes, dest),
                None => scalar::unshuffle_planes(planes, dest),
            }
        }

        #[target_feature(enable = $features)]
        fn unshuffle_all<const G: usize, const W: usize>(planes: &[&[u8]; G], dest: &mut [u8]) {
            let nitems = whole_items(dest.len(), G);
            let head = item_head(dest, G);
            if head > 0 {
                unshuffle_tiles::<G, W>(1, planes, 0, dest);
            }
            let after_head = &mut dest[head * G..];
            let ntiles = whole_tiles(after_head.len(), G, W);
            unshuffle_tiles::<G, W>(ntiles, planes, head, after_head);
            for first in (head + ntiles * TILE..nitems).step_by(TILE) {
                let first = first.min(nitems - TILE);
                let mut last = [0; TILE * 16];
                unshuffle_tiles::<G, W>(1, planes, first, &mut last);
                dest[first * G..][..TILE * G].copy_from_slice(&last[..TILE * G]);
            }
        }

        /// `ntiles` tiles of `src` to the planes of `stride` bytes in `dest`, from item `first` on.
        #[target_feature(enable = $features)]
        fn shuffle_tiles<const G: usize, const W: usize>(
            ntiles: usize,
            src: &[u8],
            dest: &mut [u8],
            first: usize,
            stride: usize,
        ) {
            let planes = tiles_of_planes::<G>(dest, stride, first, ntiles);
            // The compiler then knows the lengths and omits checks between the stores, so that it
            // may reorder them.
            assert!(
                planes.iter().all(|plane| plane.len() == ntiles),
                "shuffle: planes of one length"
            );
            let gather = gather::<G, W>();
            for tile in 0..ntiles {
                let items = &src[tile * TILE * G..][..reach(G, W)];
                for part in 0..TILE / WIDTH {
                    let rows = load_items::<G, W>(&items[part * WIDTH * G..], gather);
                    for j in 0..G {
                        planes[j][tile].as_chunks_mut::<WIDTH>().0[part] = transmute!(rows[j]);
                    }
                }
            }
        }

        /// Undoes [`shuffle_tiles`].
        #[target_feature(enable = $features)]
        fn unshuffle_tiles<const G: usize, const W: usize>(
            ntiles: usize,
            from: &[&[u8]; G],
            first: usize,
            dest: &mut [u8],
        ) {
            let mut planes: [&[[u8; TILE]]; G] = [&[]; G];
            for (plane, from) in planes.iter_mut().zip(from) {
                *plane = &from[first..].as_chunks().0[..ntiles];
            }
            let scatter = scatter::<G, W>();
            for tile in 0..ntiles {
                let items = &mut dest[tile * TILE * G..][..reach(G, W)];
                for part in 0..TILE / WIDTH {
                    let mut rows = [ZERO; W];
                    for j in 0..G {
                        rows[j] = transmute!(planes[j][tile].as_chunks::<WIDTH>().0[part]);
                    }
                    store_items::<G, W>(rows, &mut items[part * WIDTH * G..], scatter);
                }
            }
        }

        /// Tiles whose reach is within `nbytes`.
        const fn whole_tiles(nbytes: usize, g: usize, w: usize) -> usize {
            match nbytes.checked_sub(reach(g, w)) {
                Some(rest) => rest / (TILE * g) + 1,
                None => 0,
            }
        }
    };
}

/// Defines `bitshuffle` and `bitunshuffle` beside [`tiled_kernels`], for registers that need
/// another permutation to transpose bits. In scope must be:
///
/// * `load_bits(&[u8], gather) -> [register; 8]`: eight times as many bytes as a register has, bit
///   `k` of all in register `k`; and `store_bits([register; 8], &mut [u8], scatter)`, with the
///   orders for `G` = `W` = 8;
/// * `PLANES`: how many planes of a strip may be in the first-level cache, 16 at least.
macro_rules! tiled_bit_kernels {
    ($features:literal) => {
        use super::super::tiled::{for_planes, groups, planes_at_once};

        #[target_feature(enable = $features)]
        pub(in super::super) fn bitshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
            let nitems = src.len() / typesize;
            if nitems < STRIP {
                return scalar::bitshuffle(typesize, src, dest);
            }
            if typesize == 1 {
                return strips(nitems, STRIP).for_each(|first| {
                    bitshuffle_plane(&src[first..], &mut dest[first / 8..], nitems / 8)
                });
            }
            for_planes!(
                planes_at_once(typesize, nitems, PLANES),
                bitshuffle_strips(typesize, src, dest)
            );
        }

        /// Uses a buffer for [`planes_at_once`] planes of strips.
        #[target_feature(enable = $features)]
        fn bitshuffle_strips<const P: usize>(typesize: usize, src: &[u8], dest: &mut [u8]) {
            let nitems = src.len() / typesize;
            let mut buffer = [[0; STRIP]; P];
            let width = typesize.min(16);
            for firsts in groups(0, nitems, P / width) {
                for column in columns(typesize) {
                    for (first, planes) in firsts.clone().zip(buffer.chunks_exact_mut(width)) {
                        shuffle_strip(typesize, column, &src[first * typesize..], planes);
                    }
                    for j in 0..width {
                        for (first, planes) in firsts.clone().zip(buffer.chunks_exact(width)) {
                            let rows = &mut dest[(column + j) * nitems + first / 8..];
                            bitshuffle_plane(&planes[j], rows, nitems / 8);
                        }
                    }
                }
            }
        }

        #[target_feature(enable = $features)]
        pub(in super::super) fn bitunshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
            let nitems = src.len() / typesize;
            if nitems < STRIP {
                return scalar::bitunshuffle(typesize, src, dest);
            }
            if typesize == 1 {
                return strips(nitems, STRIP).for_each(|first| {
                    bitunshuffle_plane(&src[first / 8..], nitems / 8, &mut dest[first..])
                });
            }
            for_planes!(
                planes_at_once(typesize, nitems, PLANES),
                bitunshuffle_strips(typesize, src, dest)
            );
        }

        /// Undoes [`bitshuffle_strips`].
        #[target_feature(enable = $features)]
        fn bitunshuffle_strips<const P: usize>(typesize: usize, src: &[u8], dest: &mut [u8]) {
            let nitems = src.len() / typesize;
            let mut buffer = [[0; STRIP]; P];
            let width = typesize.min(16);
            for firsts in groups(0, nitems, P / width) {
                for column in columns(typesize) {
                    for j in 0..width {
                        for (first, planes) in firsts.clone().zip(buffer.chunks_exact_mut(width)) {
                            let rows = &src[(column + j) * nitems + first / 8..];
                            bitunshuffle_plane(rows, nitems / 8, &mut planes[j]);
                        }
                    }
                    for (first, planes) in firsts.clone().zip(buffer.chunks_exact(width)) {
                        unshuffle_strip(typesize, column, planes, &mut dest[first * typesize..]);
                    }
                }
            }
        }

        /// The first 512 bytes of `plane` to eight rows of 64 bytes, `stride` apart.
        #[target_feature(enable = $features)]
        fn bitshuffle_plane(plane: &[u8], rows: &mut [u8], stride: usize) {
            let gather = gather::<8, 8>();
            let mut lines = [[[0_u8; WIDTH]; TILE / WIDTH]; 8];
            for (part, groups) in plane[..STRIP].chunks_exact(8 * WIDTH).enumerate() {
                let bits = load_bits(groups, gather);
                for (line, row) in lines.iter_mut().zip(bits) {
                    line[part] = transmute!(row);
                }
            }
            for (k, line) in lines.iter().enumerate() {
                rows[k * stride..][..TILE].copy_from_slice(line.as_flattened());
            }
        }

        /// Undoes [`bitshuffle_plane`].
        #[target_feature(enable = $features)]
        fn bitunshuffle_plane(rows: &[u8], stride: usize, plane: &mut [u8]) {
            let scatter = scatter::<8, 8>();
            for (part, groups) in plane[..STRIP].chunks_exact_mut(8 * WIDTH).enumerate() {
                let mut bits = [ZERO; 8];
                for (k, row) in bits.iter_mut().enumerate() {
                    let mut bytes = [0_u8; WIDTH];
                    bytes.copy_from_slice(&rows[k * stride + part * WIDTH..][..WIDTH]);
                    *row = transmute!(bytes);
                }
                store_bits(bits, groups, scatter);
            }
        }
    };
}

pub(super) use {bounded, for_planes, for_typesize, tiled_bit_kernels, tiled_kernels};

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn the_last_strip_overlaps_the_one_before() {
        assert!(strips(1024, 512).eq([0, 512]));
        assert!(strips(1025, 512).eq([0, 512, 513]));
        assert!(strips(512, 512).eq([0]));
    }

    #[test]
    fn strips_are_taken_several_at_a_time_where_their_rows_share_sets() {
        // 16 KiB of items of 8 bytes: rows 256 bytes apart, four of 64 in a set.
        assert_eq!((in_a_set(64, 256), planes_at_once(8, 2048, 64)), (4, 8));
        // 256 KiB: 4096 bytes apart, all in one.
        assert_eq!((in_a_set(64, 4096), planes_at_once(8, 32768, 64)), (64, 64));
        assert_eq!(planes_at_once(8, 32768, 32), 32);
        // 64 KiB, an eighth of which is 16 planes of 512 bytes.
        assert_eq!(planes_at_once(4, 16384, 64), 16);
        // Three bytes.
        assert_eq!((in_a_set(24, 4095), planes_at_once(3, 32760, 64)), (1, 3));
    }

    #[test]
    fn groups_are_the_strips_in_order() {
        let all: Vec<usize> = groups(0, 1700, 3).flatten().collect();
        assert_eq!(all, [0, 512, 1024, 1188]);
        assert_eq!(groups(0, 1700, 3).count(), 2);
    }

    #[test]
    fn strips_on_lines_begin_with_one_that_the_next_overlaps() {
        assert!(strips_on_lines(0, 1025, 512).eq([0, 512, 513]));
        assert!(strips_on_lines(48, 1536, 512).eq([0, 48, 560, 1024]));
        for (head, at_once) in [(0, 1), (48, 1), (48, 2), (504, 8)] {
            let all: Vec<usize> = groups(head, 2048, at_once).flatten().collect();
            assert!(strips_on_lines(head, 2048, 512).eq(all), "{head}, {at_once}");
        }
    }

    #[test]
    fn rows_have_a_head_where_all_of_them_begin_at_the_same_place_of_a_line() {
        let buffer = alloc::vec![0; BEYOND_L1_NBYTES + 128];
        let start = buffer.as_ptr().addr().wrapping_neg() % TILE + 16;
        let dest = &buffer[start..start + BEYOND_L1_NBYTES];
        assert_eq!(row_head(dest, 4096, TILE), 48);
        assert_eq!(row_head(&dest[48..], 4096, TILE), 0, "too short");
        assert_eq!(row_head(dest, 4095, TILE), 0, "rows at all places");
        assert_eq!(row_head(dest, 4096, STRIP), 0, "too much done twice");
        assert_eq!(row_head(&buffer[start - 16..], 4096, TILE), 0, "on a line");
    }

    #[test]
    fn the_known_half_of_a_column_is_in_the_one_before() {
        for typesize in 17..=64 {
            let mut end = 0;
            for column in columns(typesize) {
                let first = column + if is_half_known(column) { 8 } else { 0 };
                assert!(first <= end || column == 0, "{typesize}, {column}");
                end = column + 16;
            }
            assert_eq!(end, typesize);
        }
    }

    #[test]
    fn columns_cover_an_item() {
        assert!(columns(7).eq([0]));
        assert!(columns(16).eq([0]));
        assert!(columns(40).eq([0, 16, 24]));
    }
}
