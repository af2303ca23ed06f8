//! The writer of instructions, and their costs.

#![allow(clippy::cast_possible_truncation, reason = "each value is below its bound")]

use super::{
    FAR_BASE, MAX_NEAR, MAX_RUN,
    search::{ITEM_REST_NBYTES, Match},
};
use crate::lz::output::OutputBuffer;

/// Literals from this number on are written only if all of them fit: incompressible data is one
/// long run.
const LONG_RUN_NBYTES: usize = 128;

/// Encoded bytes of `n` literals.
pub(super) fn literals_cost(n: usize) -> usize {
    n + n.div_ceil(MAX_RUN)
}

/// Encoded bytes of a match.
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
    /// Writes the literals from `anchor` on, then a match.
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
        // Without a loop and without a branch: lengths and distances are unpredictable.
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

    /// Writes the literal before `at`, then a match of [`ITEM_REST_NBYTES`] bytes with `earlier`,
    /// or of one more if the literal matches as well; all in one word. `false` if the match does
    /// not fit this form.
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

    /// Finishes the stream; returns its length.
    pub(super) fn finish(mut self) -> Option<usize> {
        // The first control byte carries a marker, which decoders mask off.
        *self.out.written().first_mut()? |= 0x20;
        Some(self.out.len())
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::*;

    /// The output of `push` in a destination of `size` bytes.
    fn write(
        src: &[u8],
        size: usize,
        push: impl FnOnce(&mut Writer<'_>) -> Option<()>,
    ) -> Option<Vec<u8>> {
        let mut dest = vec![0xEE; size];
        let mut writer = Writer { src, out: OutputBuffer::new(&mut dest) };
        push(&mut writer)?;
        let len = writer.out.len();
        dest.truncate(len);
        Some(dest)
    }

    /// Literals according to the format document.
    fn expected_literals(literals: &[u8]) -> Vec<u8> {
        let run = |run: &[u8]| [&[u8::try_from(run.len() - 1).unwrap()], run].concat();
        literals.chunks(32).flat_map(run).collect()
    }

    /// A match according to the format document.
    fn expected_match(distance: usize, len: usize) -> Vec<u8> {
        let byte = |n: usize| u8::try_from(n).unwrap();
        let (high, low) = match distance {
            ..=8191 => (byte((distance - 1) / 256), byte((distance - 1) % 256)),
            _ => (31, 255),
        };
        let mut out = vec![byte((len - 2).min(7)) << 5 | high];
        if let Some(rest) = len.checked_sub(9) {
            out.extend(vec![255; rest / 255]);
            out.push(byte(rest % 255));
        }
        out.push(low);
        if distance > 8191 {
            out.extend(u16::try_from(distance - 8192).unwrap().to_be_bytes());
        }
        out
    }

    #[test]
    fn sequences_have_the_bytes_of_the_format() {
        let src: Vec<u8> = (0..400_usize).map(|n| n.to_le_bytes()[0]).collect();
        for nliterals in [0, 1, 2, 31, 32, 33, 64, 65, 130] {
            for len in [3, 4, 8, 9, 10, 263, 264, 518, 519, 1000] {
                for distance in [1, 256, 257, 8191, 8192, 8193, 73_724] {
                    let m = Match { at: 5 + nliterals, distance, len };
                    let literals = expected_literals(&src[5..5 + nliterals]);
                    let expected = [literals, expected_match(distance, len)].concat();
                    for spare in [0, 1, 39, 40, 41, 200] {
                        let size = expected.len() + spare;
                        let found = write(&src, size, |writer| writer.push_sequence(5, &m, true));
                        assert_eq!(found.as_ref(), Some(&expected), "{nliterals}, {len}, {spare}");
                        if distance < 8192 {
                            let found =
                                write(&src, size, |writer| writer.push_sequence(5, &m, false));
                            assert_eq!(found.as_ref(), Some(&expected), "{nliterals}, {len}");
                        }
                    }
                    let size = expected.len() - 1;
                    assert_eq!(write(&src, size, |writer| writer.push_sequence(5, &m, true)), None);
                }
            }
        }
    }

    #[test]
    fn costs_are_the_bytes_written() {
        let src = [7; 400];
        for n in [0, 1, 31, 32, 33, 64, 65, 400] {
            let found = write(&src, 500, |writer| writer.push_literals(0, n)).unwrap();
            assert_eq!(found.len(), literals_cost(n));
        }
        for len in [4, 8, 9, 10, 263, 264, 265, 520] {
            for distance in [1, 8191, 8192, 73_724] {
                let found = write(&src, 500, |writer| writer.push_match(distance, len)).unwrap();
                let cost = match_cost(&Match { at: 0, distance, len });
                assert!(found.len().abs_diff(cost) <= 1, "{len}: {} and {cost}", found.len());
            }
        }
    }

    #[test]
    fn an_item_is_a_literal_and_a_match() {
        let src: Vec<u8> = (0..100).map(|n| n % 10).collect();
        for (at, earlier) in [(30, 20), (31, 20), (90, 1)] {
            let found = write(&src, 10, |writer| writer.push_item(&src, at, earlier).then_some(()));
            let expected = if src[at - 1] == src[earlier - 1] {
                expected_match(at - earlier, 8)
            } else {
                [expected_literals(&src[at - 1..at]), expected_match(at - earlier, 7)].concat()
            };
            assert_eq!(found, Some(expected), "{at}, {earlier}");
        }
        // No byte before the first match byte, a distance that is too far, and too little space.
        let far = vec![0; 10_000];
        let push = |size, at, earlier| {
            write(&far, size, |writer| writer.push_item(&far, at, earlier).then_some(())).is_some()
        };
        assert!(!push(10, 30, 0) && !push(10, 9000, 1) && !push(3, 30, 20) && push(4, 30, 20));
    }

    #[test]
    fn a_long_run_that_does_not_fit_is_not_begun() {
        let src = [1; 200];
        let mut dest = [0xEE; 100];
        let mut writer = Writer { src: &src, out: OutputBuffer::new(&mut dest) };
        assert_eq!(writer.push_literals(0, 200), None);
        assert_eq!(writer.out.len(), 0);
        assert!(dest.iter().all(|byte| *byte == 0xEE));
    }
}
