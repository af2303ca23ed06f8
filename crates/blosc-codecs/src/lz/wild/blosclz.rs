//! The inner part of a BloscLZ stream.

use super::{FastHalf, STEP, aside, fetch, length, load, long_match, store, tiny_match};
use crate::blosclz::{BloscLz, FAR_BASE, MAX_RUN};

/// Bytes of a literal run that are copied at once. Few runs are longer, and what is written beyond
/// them is written again.
const RUN: usize = 16;

/// Bytes that stay free behind every instruction in the stream: a control byte, a literal run, and
/// one that is left to the plain decoder, which looks at the end.
const SRC_MARGIN: usize = 1 + RUN + 1;

/// Bytes that stay free in the destination: a literal run, or a short match.
const DEST_MARGIN: usize = RUN;

impl FastHalf for BloscLz {
    #[inline(always)]
    fn decode_plain<const UNCACHED: bool>(src: &[u8], dest: &mut [u8]) -> (usize, usize) {
        let (mut at, mut done) = (0, 0);
        let (Some(src_end), Some(dest_end)) =
            (src.len().checked_sub(SRC_MARGIN), dest.len().checked_sub(DEST_MARGIN))
        else {
            return (0, 0);
        };
        // The first instruction is a literal run, whatever its upper bits say.
        let mut mask = 31;
        // Both margins are there at the start. Each way through an instruction tests them at its
        // end and goes on from there.
        loop {
            let stop = (at, done);
            // SAFETY: the margin is behind `at`.
            let [control, low, far @ ..] = unsafe { load::<4>(src, at) };
            let control = control & mask;
            mask = u8::MAX;
            if usize::from(control) < MAX_RUN {
                // SAFETY: the margins of both.
                let run: [u8; RUN] = unsafe { load(src, at + 1) };
                // SAFETY: likewise.
                unsafe { store(dest, done, run) };
                if usize::from(control) >= RUN {
                    if at + 1 + RUN > src_end || done + RUN > dest_end {
                        return stop;
                    }
                    // SAFETY: a margin is left behind what was copied.
                    let run: [u8; RUN] = unsafe { load(src, at + 1 + RUN) };
                    // SAFETY: likewise.
                    unsafe { store(dest, done + RUN, run) };
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
                    aside();
                    distance += usize::from(u16::from_be_bytes(far));
                    at += 2;
                }
                if distance > done {
                    aside();
                    return stop;
                }
                // SAFETY: 16 bytes are left, of which it takes 8.
                unsafe { tiny_match(dest, done, distance) };
                done += usize::from(control >> 5) + 2;
                if at > src_end || done > dest_end {
                    return (at, done);
                }
            } else {
                // SAFETY: the second byte of the margin.
                let (len, behind) = unsafe { length(9, src, at + 1, src_end) };
                // SAFETY: at most the first three bytes of the margin, or one more.
                let [low, far @ ..] = unsafe { load::<3>(src, behind) };
                let mut distance = distance(control, low);
                at = behind + 1;
                if distance == FAR_BASE {
                    aside();
                    distance += usize::from(u16::from_be_bytes(far));
                    at += 2;
                }
                if distance > done || done + len + STEP > dest.len() {
                    aside();
                    return stop;
                }
                if UNCACHED {
                    fetch(dest, done, len);
                }
                // SAFETY: the match ends a step before the end.
                unsafe { long_match::<2>(dest, done, distance, len) };
                done += len;
                if at > src_end || done > dest_end {
                    return (at, done);
                }
            }
        }
    }
}

/// The first control byte of a match whose length goes on behind it.
const LONG_MATCH: u8 = 7 << 5;

/// The distance that a control byte and the byte behind the length give.
#[inline(always)]
fn distance(control: u8, low: u8) -> usize {
    usize::from(control & 31) * 256 + usize::from(low) + 1
}
