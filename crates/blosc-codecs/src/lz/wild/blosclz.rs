//! The inner part of a BloscLZ stream.

use super::{MARGIN, length, load, long_match, store, tiny_match};
use crate::blosclz::{FAR_BASE, MAX_RUN};

/// Decodes whole instructions from the start of `src` and returns how far it read and wrote: to where the margin
/// begins, or to the first instruction that is doubtful.
#[inline]
pub(crate) fn decode(src: &[u8], dest: &mut [u8]) -> (usize, usize) {
    let (mut at, mut done) = (0, 0);
    let (Some(src_end), Some(dest_end)) = (src.len().checked_sub(MARGIN), dest.len().checked_sub(MARGIN))
    else {
        return (0, 0);
    };
    // The first instruction is a literal run, whatever its upper bits say.
    let mut mask = 31;
    while at <= src_end && done <= dest_end {
        let stop = (at, done);
        // SAFETY: the margin is behind `at`.
        let [control, next] = unsafe { load(src, at) };
        let control = control & mask;
        mask = u8::MAX;
        at += 1;
        if usize::from(control) < MAX_RUN {
            // SAFETY: 64 bytes are left in both; these are 1 + 32.
            let run: [u8; 32] = unsafe { load(src, at) };
            // SAFETY: likewise.
            unsafe { store(dest, done, run) };
            at += usize::from(control) + 1;
            done += usize::from(control) + 1;
            continue;
        }
        let mut len = usize::from(control >> 5) + 2;
        let mut low = next;
        if len == 9 {
            (len, at) = length(9, src, at, src_end);
            // SAFETY: at most the first byte of the margin.
            [low] = unsafe { load(src, at) };
        }
        at += 1;
        let mut distance = usize::from(control & 31) * 256 + usize::from(low) + 1;
        if distance == FAR_BASE {
            // SAFETY: at most the second and third byte of the margin.
            distance = FAR_BASE + usize::from(u16::from_be_bytes(unsafe { load(src, at) }));
            at += 2;
        }
        if distance > done || done + len > dest_end {
            return stop;
        }
        if len < 9 {
            // SAFETY: the match ends before the margin.
            unsafe { tiny_match(dest, done, distance) };
        } else {
            // SAFETY: likewise.
            unsafe { long_match(dest, done, distance, len) };
        }
        done += len;
    }
    (at, done)
}
