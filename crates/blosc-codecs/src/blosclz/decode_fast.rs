//! The fast half of the decoder.
//!
//! # Invariants
//!
//! At the head of the loop, `at` bytes were read and `done` bytes written, and
//!
//! * **S** (stream): `at + SRC_MARGIN <= src.len()`, that is `at <= src_end`;
//! * **D** (destination): `done + DEST_MARGIN <= dest.len()`, that is `done <= dest_end`.
//!
//! Each path through an instruction tests both again at its end and returns if one fails.

use super::{BloscLz, FAR_BASE, MAX_RUN};
use crate::lz::{
    fast_decode::{FastDecode, cold_path},
    prefetch::prefetch_after,
    unsafe_copy::{STEP, copy_long_match, copy_tiny_match, load, read_length, store},
};

/// Bytes of a literal run that are copied at once. Few runs are longer, and bytes written beyond a
/// run are overwritten.
const RUN_NBYTES: usize = 16;

/// Bytes that stay free after every instruction in the stream: a control byte, a literal run, and
/// one byte more, since only the safe half knows the end of a stream.
const SRC_MARGIN: usize = 1 + RUN_NBYTES + 1;

/// Bytes that stay free in the destination: a literal run, or a short match.
const DEST_MARGIN: usize = RUN_NBYTES;

impl FastDecode for BloscLz {
    #[inline(always)]
    fn decode_fast<const UNCACHED: bool>(src: &[u8], dest: &mut [u8]) -> (usize, usize) {
        let (mut at, mut done) = (0, 0);
        let (Some(src_end), Some(dest_end)) =
            (src.len().checked_sub(SRC_MARGIN), dest.len().checked_sub(DEST_MARGIN))
        else {
            return (0, 0);
        };
        // The first instruction is a literal run; its upper bits are ignored.
        let mut mask = 31;
        loop {
            // S and D hold.
            let stop = (at, done);
            // SAFETY: S, which leaves 18 bytes.
            let [control, low, far @ ..] = unsafe { load::<4>(src, at) };
            let control = control & mask;
            mask = u8::MAX;
            if usize::from(control) < MAX_RUN {
                // SAFETY: S: a control byte and a run are there.
                let run: [u8; RUN_NBYTES] = unsafe { load(src, at + 1) };
                // SAFETY: D, which leaves a run.
                unsafe { store(dest, done, run) };
                if usize::from(control) >= RUN_NBYTES {
                    if at + 1 + RUN_NBYTES > src_end || done + RUN_NBYTES > dest_end {
                        return stop;
                    }
                    // SAFETY: `at + 1 + RUN_NBYTES <= src_end`, which leaves 18 bytes.
                    let run: [u8; RUN_NBYTES] = unsafe { load(src, at + 1 + RUN_NBYTES) };
                    // SAFETY: `done + RUN_NBYTES <= dest_end`, which leaves a run.
                    unsafe { store(dest, done + RUN_NBYTES, run) };
                }
                at += usize::from(control) + 2;
                done += usize::from(control) + 1;
                if at > src_end || done > dest_end {
                    return (at, done);
                }
            } else if control < LONG_MATCH {
                let mut distance = distance(control, low);
                at += 2;
                if distance == FAR_BASE {
                    cold_path();
                    distance += usize::from(u16::from_be_bytes(far));
                    at += 2;
                }
                if distance > done {
                    cold_path();
                    return stop;
                }
                // SAFETY: D leaves 16 bytes, of which this takes 8; `1 <= distance <= done`.
                unsafe { copy_tiny_match(dest, done, distance) };
                done += usize::from(control >> 5) + 2;
                if at > src_end || done > dest_end {
                    return (at, done);
                }
            } else {
                // SAFETY: S: `at + 1 < src.len()`.
                let (len, after) = unsafe { read_length(9, src, at + 1, src_end) };
                // SAFETY: `after` is `at + 2`, and S leaves 16 bytes more; or it is at most
                // `src_end`, which leaves 18.
                let [low, far @ ..] = unsafe { load::<3>(src, after) };
                let mut distance = distance(control, low);
                at = after + 1;
                if distance == FAR_BASE {
                    cold_path();
                    distance += usize::from(u16::from_be_bytes(far));
                    at += 2;
                }
                if distance > done || done + len + STEP > dest.len() {
                    cold_path();
                    return stop;
                }
                if UNCACHED {
                    prefetch_after(dest, done, len);
                }
                // SAFETY: `done + len + STEP <= dest.len()` and `1 <= distance <= done`.
                unsafe { copy_long_match::<2>(dest, done, distance, len) };
                done += len;
                if at > src_end || done > dest_end {
                    return (at, done);
                }
            }
        }
    }
}

/// The first control byte of a match whose length continues in the bytes after it.
const LONG_MATCH: u8 = 7 << 5;

/// The distance that a control byte and the byte after the length give.
#[inline(always)]
fn distance(control: u8, low: u8) -> usize {
    usize::from(control & 31) * 256 + usize::from(low) + 1
}
