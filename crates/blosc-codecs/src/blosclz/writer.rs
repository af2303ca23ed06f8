//! Writing instructions, and what they take.

#![allow(clippy::cast_possible_truncation, reason = "each value is below its bound")]

use super::{
    FAR_BASE, MAX_NEAR, MAX_RUN,
    search::{ITEM_REST_NBYTES, Match},
};
use crate::lz::output::OutputBuffer;

/// Literals from this number on are written only if all of them fit: incompressible data is one
/// long run.
const LONG_RUN_NBYTES: usize = 128;

/// Bytes that `n` literals take.
pub(super) fn literals_cost(n: usize) -> usize {
    n + n.div_ceil(MAX_RUN)
}

/// Bytes that a match takes.
pub(super) fn match_cost(m: &Match) -> usize {
    let far = if m.distance > MAX_NEAR { 2 } else { 0 };
    2 + far + (m.len + 255 - 9) / 255
}

/// The instructions written so far.
pub(super) struct Writer<'a> {
    pub(super) src: &'a [u8],
    pub(super) out: OutputBuffer<'a>,
}

impl Writer<'_> {
    /// The literals from `anchor` on, then a match.
    #[inline(always)]
    pub(super) fn push_sequence(
        &mut self,
        anchor: usize,
        m: &Match,
        may_be_far: bool,
    ) -> Option<()> {
        let nliterals = m.at - anchor;
        let is_usual = nliterals <= MAX_RUN && m.len < 9 + 255;
        let (true, Some(run), Some(out)) =
            (is_usual, self.src.get(anchor..anchor + MAX_RUN), self.out.next_bytes::<40>())
        else {
            self.push_literals(anchor, m.at)?;
            return self.push_match(m.distance, m.len);
        };
        // Without a loop and without a branch: neither lengths nor distances are predictable.
        let (is_far, is_long) = (may_be_far && m.distance > MAX_NEAR, m.len >= 9);
        out[0] = (nliterals as u8).wrapping_sub(1);
        out[1..=MAX_RUN].copy_from_slice(run);
        let at = nliterals + usize::from(nliterals > 0);
        let (high, low) =
            if is_far { (31, u8::MAX) } else { ((m.distance - 1) >> 8, (m.distance - 1) as u8) };
        let code = if is_long { 7 } else { m.len - 2 };
        out[at] = (code << 5 | high) as u8;
        out[at + 1] = m.len.wrapping_sub(9) as u8;
        let end = at + 1 + usize::from(is_long);
        out[end] = low;
        if may_be_far {
            out[end + 1..end + 3]
                .copy_from_slice(&(m.distance.wrapping_sub(FAR_BASE) as u16).to_be_bytes());
        }
        self.out.advance(end + 1 + 2 * usize::from(is_far));
        Some(())
    }

    /// The literal before `at`, then a match of [`ITEM_REST_NBYTES`] bytes with `earlier`, or of
    /// one more if the literal matches as well; all in one word. `false` where that form does not
    /// do.
    #[inline(always)]
    pub(super) fn push_item(&mut self, src: &[u8], at: usize, earlier: usize) -> bool {
        let distance = at - earlier;
        let (1.., ..=MAX_NEAR, Some(out)) = (earlier, distance, self.out.next_bytes::<4>()) else {
            return false;
        };
        let literal = src[at - 1];
        let more = usize::from(literal == src[earlier - 1]);
        let control = (ITEM_REST_NBYTES - 2 + more) << 5 | (distance - 1) >> 8;
        let sequence = u32::from_le_bytes([0, literal, control as u8, (distance - 1) as u8]);
        *out = (sequence >> (16 * more)).to_le_bytes();
        self.out.advance(4 - 2 * more);
        true
    }

    pub(super) fn push_literals(&mut self, from: usize, to: usize) -> Option<()> {
        if to - from > LONG_RUN_NBYTES && literals_cost(to - from) > self.out.remaining() {
            return None;
        }
        let mut at = from;
        while at < to {
            let len = MAX_RUN.min(to - at);
            self.out.push(len as u8 - 1)?;
            self.out.copy_short(self.src, at, len)?;
            at += len;
        }
        Some(())
    }

    fn push_match(&mut self, distance: usize, len: usize) -> Option<()> {
        let (high, low) = match distance {
            ..=MAX_NEAR => ((distance - 1) >> 8, (distance - 1) as u8),
            _ => (31, u8::MAX),
        };
        if len < 9 {
            self.out.push((((len - 2) << 5) | high) as u8)?;
        } else {
            self.out.push((7 << 5 | high) as u8)?;
            let mut rest = len - 9;
            while rest >= 255 {
                self.out.push(255)?;
                rest -= 255;
            }
            self.out.push(rest as u8)?;
        }
        self.out.push(low)?;
        if distance > MAX_NEAR {
            self.out.extend(&((distance - FAR_BASE) as u16).to_be_bytes())?;
        }
        Some(())
    }

    /// The length of the stream.
    pub(super) fn finish(mut self) -> Option<usize> {
        // The first control byte carries a marker, which decoders mask off.
        *self.out.written().first_mut()? |= 0x20;
        Some(self.out.len())
    }
}
