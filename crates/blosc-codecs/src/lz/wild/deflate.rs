//! The inner part of a block of a zlib stream.

use core::hint;

use super::{STEP, load, long_match, short_match, short_period, store};
use crate::zlib::{
    codes::{
        DISTANCE, DISTANCE_BITS, DistanceCode, END, LITERAL, LITLEN, LITLEN_BITS, LitLenCode,
        SECOND, SPECIAL, value,
    },
    inflate::Input,
};

/// Bytes of the stream that stay free behind every symbol. Bits are filled up to twice, by 8 bytes
/// of which at most 7 are taken.
const SRC_MARGIN: usize = 7 + 8;

/// Literals in a row between two fillings: as many as fit into 56 bits, with the index of what
/// follows.
const LITERALS: u32 = 56 / LITLEN_BITS - 1;

/// The bits that are not taken yet.
#[derive(Clone, Copy)]
struct Bits {
    at: usize,
    bits: u64,
    /// How many they are, in the lowest byte. What is above is left of entries.
    nbits: u32,
}

impl Bits {
    /// Makes them at least 56.
    ///
    /// # Safety
    ///
    /// `at + 8 <= src.len()`.
    #[inline(always)]
    unsafe fn fill(&mut self, src: &[u8]) {
        let nbits = self.nbits & 63;
        // SAFETY: the caller's promise.
        self.bits |= u64::from_le_bytes(unsafe { load(src, self.at) }) << nbits;
        self.at += (63 - nbits as usize) / 8;
        self.nbits = nbits | 56;
    }

    /// Takes the bits of an entry.
    #[inline(always)]
    fn skip(&mut self, entry: u32) {
        self.bits >>= entry & 63;
        self.nbits = self.nbits.wrapping_sub(entry);
    }

    /// The lowest `n` bits.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "of the lowest bits")]
    fn low(&self, n: u32) -> usize {
        self.bits as usize & !(usize::MAX << n)
    }
}

/// Decodes symbols to `dest[done..]`: up to the end of the block, or where the margin of the stream
/// or of the destination begins, or to the first that is doubtful. Where they end, and whether the
/// block does.
pub(crate) fn decode(
    input: &mut Input<'_>,
    dest: &mut [u8],
    done: usize,
    litlen: &LitLenCode,
    distances: &DistanceCode,
) -> (usize, bool) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("bmi2") {
        // SAFETY: the machine has what the function is compiled for.
        return unsafe { decode_bmi2(input, dest, done, litlen, distances) };
    }
    decode_plain(input, dest, done, litlen, distances)
}

/// As [`decode`], with the instructions that shift and cut by numbers in any register.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn decode_bmi2(
    input: &mut Input<'_>,
    dest: &mut [u8],
    done: usize,
    litlen: &LitLenCode,
    distances: &DistanceCode,
) -> (usize, bool) {
    decode_plain(input, dest, done, litlen, distances)
}

#[inline(always)]
fn decode_plain(
    input: &mut Input<'_>,
    dest: &mut [u8],
    mut done: usize,
    litlen: &LitLenCode,
    distances: &DistanceCode,
) -> (usize, bool) {
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
    // SAFETY: the margin is behind `at`.
    unsafe { now.fill(src) };
    let mut entry = litlen.entries[now.low(LITLEN_BITS)];
    // There are 56 bits here, the first of them those of the entry.
    'symbols: while now.at <= src_end && done <= dest_end {
        if entry & LITERAL != 0 {
            for n in 1..=LITERALS {
                // SAFETY: a step is free.
                unsafe { store(dest, done, [literal(entry)]) };
                now.skip(entry);
                entry = litlen.entries[now.low(LITLEN_BITS)];
                done += 1;
                if n == LITERALS {
                    // SAFETY: the first of at most two fillings from the margin. The bits of the
                    // entry stay.
                    unsafe { now.fill(src) };
                    continue 'symbols;
                }
                if entry & LITERAL == 0 {
                    break;
                }
            }
            // SAFETY: likewise.
            unsafe { now.fill(src) };
        }
        let before = now;
        if entry & SPECIAL != 0 {
            if entry & SECOND != 0 {
                now.skip(entry);
                entry =
                    litlen.entries[((entry >> 16) as usize + now.low(entry >> 8 & 15)) % LITLEN];
                if entry & LITERAL != 0 {
                    // SAFETY: at most the fifth byte of a step.
                    unsafe { store(dest, done, [literal(entry)]) };
                    now.skip(entry);
                    // SAFETY: the second filling at most.
                    unsafe { now.fill(src) };
                    entry = litlen.entries[now.low(LITLEN_BITS)];
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
        entry = distances.entries[now.low(DISTANCE_BITS)];
        if entry & SECOND != 0 {
            now.skip(entry);
            entry =
                distances.entries[((entry >> 16) as usize + now.low(entry >> 8 & 15)) % DISTANCE];
        }
        let distance = value(entry, now.bits);
        if entry & SPECIAL != 0 || distance > done || done + len > dest_end {
            now = before;
            break;
        }
        now.skip(entry);
        // SAFETY: the second filling at most.
        unsafe { now.fill(src) };
        entry = litlen.entries[now.low(LITLEN_BITS)];
        // SAFETY: the match ends before the margin; distances are at least 1.
        unsafe { copy(dest, done, distance, len) };
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
unsafe fn copy(dest: &mut [u8], done: usize, distance: usize, len: usize) {
    if len > 18 {
        // Whoever knows how long matches can be unrolls the loops over them, which then take longer
        // to start and to end.
        let len = hint::black_box(len);
        // SAFETY: the caller's promise.
        unsafe { long_match::<1>(dest, done, distance, len) };
    } else if distance >= 8 {
        // SAFETY: likewise.
        unsafe { short_match(dest, done, distance) };
    } else {
        // SAFETY: likewise.
        unsafe { short_period(dest, done, distance) };
    }
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the entry of a literal holds no more")]
fn literal(entry: u32) -> u8 {
    (entry >> 16) as u8
}
