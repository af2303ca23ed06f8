//! The fast half of the decoder.
//!
//! # Invariants
//!
//! At the head of the loop, `at` bytes were read and `done` bytes written, and
//!
//! * **S** (stream): `at + SRC_MARGIN <= src.len()`, that is `at <= src_end`;
//! * **D** (destination): `done + DEST_MARGIN <= dest.len()`, that is `done <= dest_end`.
//!
//! After the literals of a sequence,
//!
//! * **S'**: `at + 3 <= src.len()`: at most a token and 14 literals of the 18 bytes were read, or a
//!   long run ended at or before `run_end`, which leaves a step;
//! * **D'**: `done + 18 <= dest.len()`: at most 14 literals of the 32 bytes were written, or a long
//!   run ended at or before `dest_end`.
//!
//! Each path through a sequence tests S and D again at its end and returns if one fails.

use super::Lz4;
use crate::lz::{
    fast_decode::{FastDecode, cold_path},
    prefetch::prefetch_after,
    unsafe_copy::{
        STEP, copy_literals, copy_long_match, copy_short_match, copy_short_period, load,
        read_length, store,
    },
};

/// Bytes that stay free after every sequence in the stream: a token, 14 literals, a distance and a
/// length byte, or a token and the 16 bytes that are copied for up to 14.
const SRC_MARGIN: usize = 18;

/// Bytes that stay free in the destination: 14 literals and a match of up to 18 bytes.
const DEST_MARGIN: usize = 14 + 18;
const _: () = assert!(DEST_MARGIN >= STEP);

impl FastDecode for Lz4 {
    #[inline(always)]
    fn decode_fast<const UNCACHED: bool>(src: &[u8], dest: &mut [u8]) -> (usize, usize) {
        let (mut at, mut done) = (0, 0);
        let (Some(run_end), Some(dest_end)) =
            (src.len().checked_sub(STEP), dest.len().checked_sub(DEST_MARGIN))
        else {
            return (0, 0);
        };
        let src_end = run_end + STEP - SRC_MARGIN;
        loop {
            // S and D hold.
            let stop = (at, done);
            // SAFETY: S.
            let [token] = unsafe { load(src, at) };
            at += 1;
            let mut nliterals = usize::from(token >> 4);
            if token < 15 << 4 {
                // SAFETY: S leaves 18 bytes, of which the token took one.
                let run: [u8; 16] = unsafe { load(src, at) };
                // SAFETY: D.
                unsafe { store(dest, done, run) };
            } else {
                cold_path();
                // SAFETY: S: the second of 18 bytes.
                (nliterals, at) = unsafe { read_length(15, src, at, src_end) };
                if nliterals > dest_end - done || at + nliterals > run_end {
                    return stop;
                }
                // SAFETY: `at + nliterals <= run_end` and `done + nliterals <= dest_end`, each a
                // step before its end.
                unsafe { copy_literals(src, at, dest, done, nliterals) };
            }
            at += nliterals;
            done += nliterals;
            // S' and D' hold.
            // SAFETY: S'.
            let distance = usize::from(u16::from_le_bytes(unsafe { load(src, at) }));
            at += 2;
            if distance > done {
                cold_path();
                return stop;
            }
            let mut len = usize::from(token & 15);
            if len < 15 {
                if distance >= 8 {
                    // SAFETY: D', and `8 <= distance <= done`.
                    unsafe { copy_short_match(dest, done, distance) };
                } else if distance > 0 && done + STEP <= dest.len() {
                    cold_path();
                    // SAFETY: `done + STEP <= dest.len()`, and `0 < distance < 8`, `distance <=
                    // done`.
                    unsafe { copy_short_period(dest, done, distance) };
                } else {
                    cold_path();
                    return stop;
                }
                done += len + 4;
                if at > src_end || done > dest_end {
                    return (at, done);
                }
            } else {
                // SAFETY: S' was for three bytes, of which the distance took two.
                (len, at) = unsafe { read_length(15 + 4, src, at, src_end) };
                if distance == 0 || done + len > dest_end {
                    return stop;
                }
                if UNCACHED {
                    prefetch_after(dest, done, len);
                }
                // SAFETY: `done + len <= dest_end`, a step before the end; `0 < distance <= done`.
                unsafe { copy_long_match::<2>(dest, done, distance, len) };
                done += len;
                if at > src_end {
                    return (at, done);
                }
            }
        }
    }
}
