//! Writing sequences.

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

    /// The literals from `anchor` to `at`, then a match.
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

    /// A match right after another one.
    #[inline(always)]
    pub(super) fn push_match(&mut self, distance: usize, len: usize) -> Option<()> {
        let [low, high] = (distance as u16).to_le_bytes();
        *self.out.next_bytes()? = [token_half(len - MIN_MATCH), low, high];
        self.out.advance(3);
        self.push_length_bytes(len - MIN_MATCH)
    }

    /// The last literals; the length of the block.
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

    /// The part of a length that the token does not hold.
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
