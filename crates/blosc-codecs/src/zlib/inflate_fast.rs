//! The fast half of the decoder: the symbols of a block.
//!
//! # Invariants
//!
//! At the head of the loop, `now.at` bytes of the stream were read and `done` bytes written, and
//!
//! * **S** (stream): `now.at + SRC_MARGIN <= src.len()`, that is `now.at <= src_end`;
//! * **D** (destination): `done + STEP <= dest.len()`, that is `done <= dest_end`;
//! * **B** (bits): `now` holds at least 56 bits, and `entry` is the table's entry for the lowest.
//!
//! A turn of the loop fills the bits at most twice. The first filling reads 8 bytes from `now.at`
//! and advances by at most 7; the second reads 8 more: SRC_MARGIN.

#![allow(clippy::cast_possible_truncation, reason = "each value is below its bound")]

use core::hint;

use super::{
    codes::{
        DISTANCE, DISTANCE_BITS, DistanceCode, END, LITERAL, LITLEN, LITLEN_BITS, LitLenCode,
        SECOND, SPECIAL, value,
    },
    inflate::Input,
};
#[cfg(target_arch = "x86_64")]
use crate::simd::SimdLevel;
use crate::{
    lz::unsafe_copy::{STEP, copy_long_match, copy_short_match, copy_short_period, load, store},
    simd::Simd,
};

/// Bytes of the stream that stay free after every symbol: two fillings.
const SRC_MARGIN: usize = 7 + 8;

/// Successive literals between two fillings: as many as fit into 56 bits, together with the index
/// of the next symbol.
const LITERALS: u32 = 56 / LITLEN_BITS - 1;

/// The bits that are not consumed yet.
#[derive(Clone, Copy)]
struct Bits {
    at: usize,
    bits: u64,
    /// The number of bits, in the lowest byte; entries leave garbage in the bits above.
    nbits: u32,
}

impl Bits {
    /// Reads bytes until there are at least 56 bits.
    ///
    /// # Safety
    ///
    /// `at + 8 <= src.len()`.
    #[inline(always)]
    unsafe fn fill(&mut self, src: &[u8]) {
        let nbits = self.nbits & 63;
        // SAFETY: `at + 8 <= src.len()`, as this function requires.
        self.bits |= u64::from_le_bytes(unsafe { load(src, self.at) }) << nbits;
        self.at += (63 - nbits as usize) / 8;
        self.nbits = nbits | 56;
    }

    /// Consumes the bits of an entry.
    #[inline(always)]
    fn skip(&mut self, entry: u32) {
        self.bits >>= entry & 63;
        self.nbits = self.nbits.wrapping_sub(entry);
    }

    /// The lowest `n` bits.
    #[inline(always)]
    fn low(&self, n: u32) -> usize {
        self.bits as usize & !(usize::MAX << n)
    }
}

/// Decodes symbols to `dest[done..]`: up to the end of the block, up to the margin of the stream or
/// of the destination, or up to the first doubtful symbol. Returns the end of the written bytes,
/// and whether the block ended.
pub(super) fn decode_symbols(
    simd: Simd,
    input: &mut Input<'_>,
    dest: &mut [u8],
    done: usize,
    (litlen, distances): (&LitLenCode, &DistanceCode),
) -> (usize, bool) {
    #[cfg(target_arch = "x86_64")]
    if simd.level() >= SimdLevel::Avx2 {
        // SAFETY: a `Simd` of this level exists only where BMI2 was detected.
        return unsafe { decode_bmi2(input, dest, done, litlen, distances) };
    }
    let _ = simd;
    decode_any(input, dest, done, litlen, distances)
}

/// As [`decode_symbols`], with instructions that shift and mask by a number in any register.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn decode_bmi2(
    input: &mut Input<'_>,
    dest: &mut [u8],
    done: usize,
    litlen: &LitLenCode,
    distances: &DistanceCode,
) -> (usize, bool) {
    decode_any(input, dest, done, litlen, distances)
}

#[inline(always)]
fn decode_any(
    input: &mut Input<'_>,
    dest: &mut [u8],
    mut done: usize,
    litlen: &LitLenCode,
    distances: &DistanceCode,
) -> (usize, bool) {
    let (litlen, distances) = (&*litlen.entries, &*distances.entries);
    let src = input.src;
    let (Some(src_end), Some(dest_end)) =
        (src.len().checked_sub(SRC_MARGIN), dest.len().checked_sub(STEP))
    else {
        return (done, false);
    };
    let mut now = Bits { at: input.at, bits: input.bits, nbits: input.nbits };
    let mut is_end = false;
    if now.at > src_end {
        return (done, false);
    }
    // SAFETY: `now.at <= src_end`, which leaves 15 bytes. The loop tests S again.
    unsafe { now.fill(src) };
    let mut entry = litlen[now.low(LITLEN_BITS)];
    'symbols: while now.at <= src_end && done <= dest_end {
        // S, D and B hold.
        if entry & LITERAL != 0 {
            for n in 1..=LITERALS {
                // SAFETY: D: at most the fourth byte of a step.
                unsafe { store(dest, done, [literal(entry)]) };
                now.skip(entry);
                entry = litlen[now.low(LITLEN_BITS)];
                done += 1;
                if n == LITERALS {
                    // SAFETY: S: the first filling. The bits of `entry` stay the lowest.
                    unsafe { now.fill(src) };
                    continue 'symbols;
                }
                if entry & LITERAL == 0 {
                    break;
                }
            }
            // SAFETY: S: the first filling.
            unsafe { now.fill(src) };
        }
        let before = now;
        if entry & SPECIAL != 0 {
            if entry & SECOND != 0 {
                now.skip(entry);
                entry = litlen[((entry >> 16) as usize + now.low(entry >> 8 & 15)) % LITLEN];
                if entry & LITERAL != 0 {
                    // SAFETY: D: at most the fifth byte of a step.
                    unsafe { store(dest, done, [literal(entry)]) };
                    now.skip(entry);
                    // SAFETY: S: at most the second filling.
                    unsafe { now.fill(src) };
                    entry = litlen[now.low(LITLEN_BITS)];
                    done += 1;
                    continue;
                }
            }
            if entry & END != 0 {
                now.skip(entry);
                is_end = true;
                break;
            }
            if entry & SPECIAL != 0 {
                now = before;
                break;
            }
        }
        let len = value(entry, now.bits);
        now.skip(entry);
        entry = distances[now.low(DISTANCE_BITS)];
        if entry & SECOND != 0 {
            now.skip(entry);
            entry = distances[((entry >> 16) as usize + now.low(entry >> 8 & 15)) % DISTANCE];
        }
        let distance = value(entry, now.bits);
        if entry & SPECIAL != 0 || distance > done || done + len > dest_end {
            now = before;
            break;
        }
        now.skip(entry);
        // SAFETY: S: at most the second filling.
        unsafe { now.fill(src) };
        entry = litlen[now.low(LITLEN_BITS)];
        // SAFETY: `done + len <= dest_end` and `1 <= distance <= done`.
        unsafe { copy_match(dest, done, distance, len) };
        done += len;
    }
    let nbits = now.nbits & 63;
    (input.at, input.bits, input.nbits) = (now.at, now.bits & !(u64::MAX << nbits), nbits);
    (done, is_end)
}

/// Copies a match to `dest[done..]`.
///
/// # Safety
///
/// `1 <= distance <= done`, and `done + len + STEP <= dest.len()`.
#[inline(always)]
unsafe fn copy_match(dest: &mut [u8], done: usize, distance: usize, len: usize) {
    if len > 18 {
        // If the compiler knew the longest match (258), it would unroll the loops over it, which
        // would then take longer to start and to end.
        let len = hint::black_box(len);
        // SAFETY: this function requires the same.
        unsafe { copy_long_match::<1>(dest, done, distance, len) };
    } else if distance >= 8 {
        // SAFETY: `8 <= distance <= done`; this function requires the rest.
        unsafe { copy_short_match(dest, done, distance) };
    } else {
        // SAFETY: `distance < 8`; this function requires the rest.
        unsafe { copy_short_period(dest, done, distance) };
    }
}

#[inline(always)]
fn literal(entry: u32) -> u8 {
    (entry >> 16) as u8
}
