//! Unshuffle of items of 16 bytes and more, for the most frequent typesizes.
//!
//! Half of the planes go to the low lanes and half to the high ones, so that three rounds of
//! interleaving need no more than eight registers at a time:
//!
//! ```text
//!   low lanes 0..8, high lanes 16..24    a0 .. a7   b0 .. b7  | a16 .. a23  b16 .. b23    8 registers, for 16 items
//!   low lanes 8..16, high lanes 24..32   a8 .. a15  b8 .. b15 | a24 .. a31  b24 .. b31    8 registers
//!   halves of both                       a0 .. a15            | a16 .. a31                16 registers, one per item
//! ```
//!
//! Items of 16 bytes have bytes 8..16 in the high lanes, and the middle quarters are exchanged at
//! the end.
//!
//! With all sizes known at compile time no store has to be checked, which makes these kernels
//! faster.

use core::arch::x86_64::*;

use zerocopy::{transmute, transmute_ref};

use super::super::tiled::strips;
use super::shuffle::in_strips;
use super::store16;
use super::transpose::interleave_bytes;

/// Number of items; one byte of each fills a lane.
const LANE: usize = 16;

/// Number of items whose planes are read in place at a time.
const WINDOW: usize = 128;

/// The bytes of a plane in a window.
type Rows = [[u8; LANE]; WINDOW / LANE];

/// Whether this module has a kernel for items of this size.
pub(super) const fn has(typesize: usize, nitems: usize) -> bool {
    match typesize {
        16 => nitems >= 256 && in_strips(typesize, nitems),
        20 | 24 | 28 | 32 | 40 | 48 | 64 => nitems >= WINDOW,
        _ => false,
    }
}

/// Undoes a shuffle if [`has`] is true.
#[target_feature(enable = "avx2")]
pub(super) fn unshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let by_buffer = in_strips(typesize, src.len() / typesize);
    match typesize {
        16 => unshuffle_16::<16>(src, dest),
        20 => unshuffle_direct::<20>(src, dest),
        24 => unshuffle_direct::<24>(src, dest),
        28 => unshuffle_direct::<28>(src, dest),
        32 if by_buffer => unshuffle_buffered::<32>(src, dest),
        32 => unshuffle_direct::<32>(src, dest),
        40 => unshuffle_direct::<40>(src, dest),
        48 => unshuffle_direct::<48>(src, dest),
        _ if by_buffer => unshuffle_buffered::<64>(src, dest),
        _ => unshuffle_direct::<64>(src, dest),
    }
}

/// Rows `$n` of eight planes from `$low` on for the low lanes, and from `$high` on for the high
/// ones, interleaved: register `i` has in each lane eight bytes of item `2 * i`, then of the next.
/// (A function would not be inlined.)
macro_rules! eight_rows {
    ($n:ident, $low:ident $from_low:literal, $high:ident $from_high:literal) => {{
        let mut rows = [_mm256_setzero_si256(); 8];
        for (j, row) in rows.iter_mut().enumerate() {
            let (low, high) = ($low[$from_low + j][$n], $high[$from_high + j][$n]);
            *row = _mm256_set_m128i(transmute!(high), transmute!(low));
        }
        interleave_bytes(interleave_bytes(interleave_bytes(rows)))
    }};
}

/// Bytes `$low..$low + 16` and `$high..$high + 16` of the items of rows `$n`.
macro_rules! two_columns {
    ($n:ident, $lows:ident, $highs:ident, $items:ident[$low:ident, $high:ident]) => {{
        let items = &mut $items[$n * LANE * T..][..LANE * T];
        let (low, high) = ($low.min(T - 16), $high.min(T - 16));
        let first = eight_rows!($n, $lows 0, $highs 0);
        let second = eight_rows!($n, $lows 8, $highs 8);
        for (i, (a, b)) in first.into_iter().zip(second).enumerate() {
            let (even, odd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
            let at = 2 * i * T;
            store16(items, at + low, _mm256_castsi256_si128(even));
            store16(items, at + high, _mm256_extracti128_si256::<1>(even));
            let at = at + T;
            store16(items, at + low, _mm256_castsi256_si128(odd));
            store16(items, at + high, _mm256_extracti128_si256::<1>(odd));
        }
    }};
}

/// Items of 16 bytes, with a buffer for `N` rows of each plane, so that the planes evict each other
/// less.
#[target_feature(enable = "avx2")]
fn unshuffle_16<const N: usize>(src: &[u8], dest: &mut [u8]) {
    let nitems = src.len() / 16;
    let mut planes = [[[0; LANE]; N]; 16];
    for first in strips(nitems, N * LANE) {
        for (plane, from) in planes.iter_mut().zip(src.chunks_exact(nitems)) {
            plane.as_flattened_mut().copy_from_slice(&from[first..first + N * LANE]);
        }
        let (items, _) = dest[first * 16..].as_chunks_mut::<32>();
        let (items, _) = items.as_chunks_mut::<8>();
        for (n, items) in items[..N].iter_mut().enumerate() {
            for (pair, to) in eight_rows!(n, planes 0, planes 8).into_iter().zip(items) {
                *to = transmute!(_mm256_permute4x64_epi64::<0b11_01_10_00>(pair));
            }
        }
    }
}

/// As [`unshuffle_16`], for items of `T` bytes.
#[target_feature(enable = "avx2")]
fn unshuffle_buffered<const T: usize>(src: &[u8], dest: &mut [u8]) {
    let nitems = src.len() / T;
    let mut lows: [Rows; 16] = [[[0; LANE]; WINDOW / LANE]; 16];
    let mut highs = lows;
    for first in strips(nitems, WINDOW) {
        for [low, high] in pairs(T) {
            for (buffer, column) in [(&mut lows, low), (&mut highs, high)] {
                for (plane, from) in
                    buffer.iter_mut().zip(src[column * nitems..].chunks_exact(nitems))
                {
                    plane.as_flattened_mut().copy_from_slice(&from[first..first + WINDOW]);
                }
            }
            let items = &mut dest[first * T..][..WINDOW * T];
            for n in 0..WINDOW / LANE {
                two_columns!(n, lows, highs, items[low, high]);
            }
        }
    }
}

/// Items of `T` bytes; the planes are read in place.
#[target_feature(enable = "avx2")]
fn unshuffle_direct<const T: usize>(src: &[u8], dest: &mut [u8]) {
    static NOTHING: Rows = [[0; LANE]; WINDOW / LANE];
    let nitems = src.len() / T;
    for first in strips(nitems, WINDOW) {
        for [low, high] in pairs(T) {
            let (mut lows, mut highs) = ([&NOTHING; 16], [&NOTHING; 16]);
            for (rows, column) in [(&mut lows, low), (&mut highs, high)] {
                let mut at = column * nitems + first;
                for row in rows {
                    *row = transmute_ref!(&src[at..at + WINDOW].as_chunks::<WINDOW>().0[0]);
                    at += nitems;
                }
            }
            let items = &mut dest[first * T..][..WINDOW * T];
            for n in 0..WINDOW / LANE {
                two_columns!(n, lows, highs, items[low, high]);
            }
        }
    }
}

/// The starts of the two columns of 16 bytes that are processed at a time. The columns cover all
/// bytes, some of them twice.
fn pairs(typesize: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..typesize).step_by(32).map(move |low| {
        let low = low.min(typesize.saturating_sub(32));
        [low, (low + 16).min(typesize - 16)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_columns_cover_an_item() {
        assert!(pairs(20).eq([[0, 4]]));
        assert!(pairs(32).eq([[0, 16]]));
        assert!(pairs(70).eq([[0, 16], [32, 48], [38, 54]]));
    }
}
