//! The inner part of an LZ4 block.

use super::{
    FastHalf, STEP, aside, fetch, length, literals, load, long_match, short_match, short_period,
    store,
};
use crate::lz4::Lz4;

/// Bytes that stay free behind every token in the stream: a token, 14 literals, a distance and a
/// byte of a length, or a token and the 16 bytes that are copied for up to 14.
const SRC_MARGIN: usize = 18;

/// Bytes that stay free in the destination: 14 literals, and a match of up to 18 bytes.
const DEST_MARGIN: usize = 14 + 18;
const _: () = assert!(DEST_MARGIN >= STEP);

impl FastHalf for Lz4 {
    #[inline(always)]
    fn decode_plain<const UNCACHED: bool>(src: &[u8], dest: &mut [u8]) -> (usize, usize) {
        let (mut at, mut done) = (0, 0);
        let (Some(run_end), Some(dest_end)) =
            (src.len().checked_sub(STEP), dest.len().checked_sub(DEST_MARGIN))
        else {
            return (0, 0);
        };
        let src_end = run_end + STEP - SRC_MARGIN;
        // Both margins are there at the start. Either way through a sequence tests them at its end
        // and goes on from there: the usual one jumps once.
        loop {
            let stop = (at, done);
            // SAFETY: the margin is behind `at`.
            let [token] = unsafe { load(src, at) };
            at += 1;
            let mut nliterals = usize::from(token >> 4);
            if token < 15 << 4 {
                // SAFETY: the margins of both hold 1 + 16 bytes.
                let run: [u8; 16] = unsafe { load(src, at) };
                // SAFETY: likewise.
                unsafe { store(dest, done, run) };
            } else {
                aside();
                // SAFETY: the second byte of the margin.
                (nliterals, at) = unsafe { length(15, src, at, src_end) };
                if nliterals > dest_end - done || at + nliterals > run_end {
                    return stop;
                }
                // SAFETY: the run ends a step before both.
                unsafe { literals(src, at, dest, done, nliterals) };
            }
            at += nliterals;
            done += nliterals;
            // SAFETY: at most 1 + 14 bytes of the margin are used, or a step is left.
            let distance = usize::from(u16::from_le_bytes(unsafe { load(src, at) }));
            at += 2;
            if distance > done {
                aside();
                return stop;
            }
            let mut len = usize::from(token & 15);
            if len < 15 {
                if distance >= 8 {
                    // SAFETY: at most 14 bytes of the margin are used.
                    unsafe { short_match(dest, done, distance) };
                } else if distance > 0 && done + STEP <= dest.len() {
                    aside();
                    // SAFETY: a step is left.
                    unsafe { short_period(dest, done, distance) };
                } else {
                    aside();
                    return stop;
                }
                done += len + 4;
                if at > src_end || done > dest_end {
                    return (at, done);
                }
            } else {
                // SAFETY: at most 1 + 14 + 2 bytes of the margin are used, or 2 of a step.
                (len, at) = unsafe { length(15 + 4, src, at, src_end) };
                if distance == 0 || done + len > dest_end {
                    return stop;
                }
                if UNCACHED {
                    fetch(dest, done, len);
                }
                // SAFETY: the match ends before the margin.
                unsafe { long_match::<2>(dest, done, distance, len) };
                done += len;
                if at > src_end {
                    return (at, done);
                }
            }
        }
    }
}
