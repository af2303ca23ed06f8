//! The writer of sequences.

#![allow(clippy::cast_possible_truncation, reason = "each value is below its bound")]

use super::MIN_MATCH;
use crate::lz::output::OutputBuffer;

/// The block written so far.
pub(super) struct BlockWriter<'a> {
    window: &'a [u8],
    out: OutputBuffer<'a>,
}

impl<'a> BlockWriter<'a> {
    /// A block whose literals come from `window`.
    pub(super) fn new(window: &'a [u8], dest: &'a mut [u8]) -> Self {
        Self { window, out: OutputBuffer::new(dest) }
    }

    /// Writes the literals from `anchor` to `at`, then a match.
    #[inline(always)]
    pub(super) fn push_sequence(
        &mut self,
        anchor: usize,
        at: usize,
        distance: usize,
        len: usize,
    ) -> Option<()> {
        let (nliterals, distance) = (at - anchor, (distance as u16).to_le_bytes());
        if let (0..15, Some(run), Some(out)) =
            (nliterals, self.window.get(anchor..anchor + 16), self.out.next_bytes::<32>())
        {
            // The usual case, without a loop.
            out[0] = token_half(nliterals) << 4 | token_half(len - MIN_MATCH);
            out[1..17].copy_from_slice(run);
            out[1 + nliterals..3 + nliterals].copy_from_slice(&distance);
            self.out.advance(3 + nliterals);
        } else {
            self.push_literals(anchor, at, token_half(len - MIN_MATCH))?;
            self.out.extend(&distance)?;
        }
        self.push_length_bytes(len - MIN_MATCH)
    }

    /// Writes a match right after another one.
    #[inline(always)]
    pub(super) fn push_match(&mut self, distance: usize, len: usize) -> Option<()> {
        let [low, high] = (distance as u16).to_le_bytes();
        *self.out.next_bytes()? = [token_half(len - MIN_MATCH), low, high];
        self.out.advance(3);
        self.push_length_bytes(len - MIN_MATCH)
    }

    /// Writes the last literals; returns the length of the block.
    pub(super) fn finish(mut self, anchor: usize) -> Option<usize> {
        self.push_literals(anchor, self.window.len(), 0)?;
        Some(self.out.len())
    }

    #[inline(always)]
    fn push_literals(&mut self, from: usize, to: usize, low: u8) -> Option<()> {
        let len = to - from;
        self.out.push(token_half(len) << 4 | low)?;
        self.push_length_bytes(len)?;
        if len <= 32 {
            self.out.copy_short(self.window, from, len)
        } else {
            self.out.extend(&self.window[from..to])
        }
    }

    /// Writes the part of a length that the token does not hold.
    #[inline(always)]
    fn push_length_bytes(&mut self, len: usize) -> Option<()> {
        let Some(rest) = len.checked_sub(15) else { return Some(()) };
        if rest >= 255 {
            self.out.repeat(255, rest / 255)?;
        }
        self.out.push((rest % 255) as u8)
    }
}

/// The part of a length that the token holds.
#[inline(always)]
fn token_half(len: usize) -> u8 {
    len.min(15) as u8
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::*;

    /// One sequence and the last literals, in a destination of `size` bytes.
    fn write(
        window: &[u8],
        nliterals: usize,
        distance: usize,
        len: usize,
        size: usize,
    ) -> Option<Vec<u8>> {
        let mut dest = vec![0xEE; size];
        let mut writer = BlockWriter::new(window, &mut dest);
        writer.push_sequence(0, nliterals, distance, len)?;
        let csize = writer.finish((nliterals + len).min(window.len()))?;
        dest.truncate(csize);
        Some(dest)
    }

    /// The same according to the format document.
    fn expected(window: &[u8], nliterals: usize, distance: usize, len: usize) -> Vec<u8> {
        let token_half = |len: usize| u8::try_from(len.min(15)).unwrap();
        let push_length = |out: &mut Vec<u8>, len: usize| {
            let Some(mut rest) = len.checked_sub(15) else { return };
            while rest >= 255 {
                out.push(255);
                rest -= 255;
            }
            out.push(u8::try_from(rest).unwrap());
        };
        let mut out = vec![token_half(nliterals) << 4 | token_half(len - MIN_MATCH)];
        push_length(&mut out, nliterals);
        out.extend(&window[..nliterals]);
        out.extend(u16::try_from(distance).unwrap().to_le_bytes());
        push_length(&mut out, len - MIN_MATCH);
        let last = &window[(nliterals + len).min(window.len())..];
        out.push(token_half(last.len()) << 4);
        push_length(&mut out, last.len());
        out.extend(last);
        out
    }

    #[test]
    fn sequences_have_the_bytes_of_the_format() {
        let window: Vec<u8> = (0..2000_usize).map(|n| n.to_le_bytes()[0]).collect();
        for nliterals in [0, 1, 14, 15, 16, 31, 32, 33, 269, 270, 271, 600] {
            for len in [4, 5, 18, 19, 20, 273, 274, 275, 900] {
                for (distance, end) in [(1, 2000), (65_535, nliterals + len), (300, 1700)] {
                    let window = &window[..end];
                    let expected = expected(window, nliterals, distance, len);
                    for spare in [0, 1, 31, 32, 33, 100] {
                        let size = expected.len() + spare;
                        let found = write(window, nliterals, distance, len, size);
                        assert_eq!(found.as_ref(), Some(&expected), "{nliterals}, {len}, {spare}");
                    }
                    for size in [0, 1, expected.len() / 2, expected.len() - 1] {
                        assert_eq!(write(window, nliterals, distance, len, size), None, "{size}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_match_without_literals_is_a_sequence_of_none() {
        for len in [4, 18, 19, 300] {
            let [mut a, mut b] = [[0; 64]; 2];
            let mut writer = BlockWriter::new(&[], &mut a);
            writer.push_match(77, len).unwrap();
            let first = writer.finish(0).unwrap();
            let mut writer = BlockWriter::new(&[], &mut b);
            writer.push_sequence(0, 0, 77, len).unwrap();
            assert_eq!(writer.finish(0), Some(first));
            assert_eq!(a, b);
        }
    }
}
