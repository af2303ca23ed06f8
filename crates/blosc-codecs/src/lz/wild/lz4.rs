//! The inner part of an LZ4 block.

use super::{MARGIN, length, literals, load, long_match, short_match, short_period, store};

/// Decodes whole sequences from the start of `src` and returns how far it read and wrote: to where the margin begins,
/// or to the first sequence that is doubtful.
#[inline]
pub(crate) fn decode(src: &[u8], dest: &mut [u8]) -> (usize, usize) {
    let (mut at, mut done) = (0, 0);
    let (Some(src_end), Some(dest_end)) = (src.len().checked_sub(MARGIN), dest.len().checked_sub(MARGIN))
    else {
        return (0, 0);
    };
    while at <= src_end && done <= dest_end {
        let stop = (at, done);
        // SAFETY: the margin is behind `at`.
        let [token] = unsafe { load(src, at) };
        at += 1;
        let mut nliterals = usize::from(token >> 4);
        if nliterals < 15 {
            // SAFETY: 64 bytes are left in both; these are 1 + 16.
            let run: [u8; 16] = unsafe { load(src, at) };
            // SAFETY: likewise.
            unsafe { store(dest, done, run) };
        } else {
            // SAFETY: the second byte of the margin.
            (nliterals, at) = unsafe { length(15, src, at, src_end) };
            if nliterals > dest_end - done || at + nliterals > src_end {
                return stop;
            }
            // SAFETY: the run ends before the margin of both.
            unsafe { literals(src, at, dest, done, nliterals) };
        }
        at += nliterals;
        done += nliterals;
        // SAFETY: at most 1 + 14 bytes of the margin, or none, are used.
        let distance = usize::from(u16::from_le_bytes(unsafe { load(src, at) }));
        at += 2;
        if distance > done {
            return stop;
        }
        let mut len = usize::from(token & 15);
        if len < 15 {
            if distance >= 8 {
                // SAFETY: at most 14 of the 64 bytes are used.
                unsafe { short_match(dest, done, distance) };
            } else if distance > 0 {
                // SAFETY: likewise.
                unsafe { short_period(dest, done, distance) };
            } else {
                return stop;
            }
            len += 4;
        } else {
            // SAFETY: at most 1 + 14 + 2 of the 64 bytes are used.
            (len, at) = unsafe { length(15 + 4, src, at, src_end) };
            if distance == 0 || done + len > dest_end {
                return stop;
            }
            // SAFETY: the match ends before the margin.
            unsafe { long_match(dest, done, distance, len) };
        }
        done += len;
    }
    (at, done)
}
