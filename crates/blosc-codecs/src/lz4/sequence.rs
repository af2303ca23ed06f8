//! Writing sequences into a limited room.

use super::MIN_MATCH;
use crate::lz::Room;

/// The block written so far.
pub(super) struct Block<'a> {
    window: &'a [u8],
    out: Room<'a>,
}

impl<'a> Block<'a> {
    /// A block whose literals come from `window`.
    pub(super) fn new(window: &'a [u8], dest: &'a mut [u8]) -> Self {
        Self { window, out: Room::new(dest) }
    }

    /// The literals from `anchor` to `at`, then a match.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "distances are below 65536")]
    pub(super) fn sequence(
        &mut self,
        anchor: usize,
        at: usize,
        distance: usize,
        len: usize,
    ) -> Option<()> {
        let (nliterals, distance) = (at - anchor, (distance as u16).to_le_bytes());
        if let (0..15, Some(run), Some(out)) =
            (nliterals, self.window.get(anchor..anchor + 16), self.out.next::<32>())
        {
            // The usual case, without a loop.
            out[0] = nibble(nliterals) << 4 | nibble(len - MIN_MATCH);
            out[1..17].copy_from_slice(run);
            out[1 + nliterals..3 + nliterals].copy_from_slice(&distance);
            self.out.skip(3 + nliterals);
        } else {
            self.literals(anchor, at, nibble(len - MIN_MATCH))?;
            self.out.bytes(&distance)?;
        }
        self.rest(len - MIN_MATCH)
    }

    /// A match right after another one.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "distances are below 65536")]
    pub(super) fn another(&mut self, distance: usize, len: usize) -> Option<()> {
        let [low, high] = (distance as u16).to_le_bytes();
        *self.out.next()? = [nibble(len - MIN_MATCH), low, high];
        self.out.skip(3);
        self.rest(len - MIN_MATCH)
    }

    /// The last literals; the length of the block.
    pub(super) fn finish(mut self, anchor: usize) -> Option<usize> {
        self.literals(anchor, self.window.len(), 0)?;
        Some(self.out.len())
    }

    #[inline(always)]
    fn literals(&mut self, from: usize, to: usize, low: u8) -> Option<()> {
        let len = to - from;
        self.out.byte(nibble(len) << 4 | low)?;
        self.rest(len)?;
        if len <= 32 {
            self.out.short(self.window, from, len)
        } else {
            self.out.bytes(&self.window[from..to])
        }
    }

    /// What of a length does not go into the token.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the last byte is below 255")]
    fn rest(&mut self, len: usize) -> Option<()> {
        let Some(rest) = len.checked_sub(15) else { return Some(()) };
        if rest >= 255 {
            self.out.repeat(255, rest / 255)?;
        }
        self.out.byte((rest % 255) as u8)
    }
}

/// What of a length goes into the token.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "at most 15")]
fn nibble(len: usize) -> u8 {
    len.min(15) as u8
}
