//! Literals and the match after them, for decoders without unsafe code.

use super::unsafe_copy::{
    STEP, copy_literals, copy_long_match, copy_short_match, copy_short_period, copy_within_fixed,
    load, store,
};

/// Bytes that must follow a sequence of [`Sequence::copy`] in its source and in its destination.
pub(crate) const MARGIN: usize = STEP;

/// A run of literals, and the match that follows them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sequence {
    /// Literals.
    pub(crate) nliterals: u32,
    /// Distance back to the start of the match.
    pub(crate) distance: usize,
    /// Bytes of the match.
    pub(crate) len: u32,
}

/// The literals and the destination of sequences.
///
/// Invariants: **S**, `src_limit` is 0 or at most `src.len() - MARGIN + 1`; **D**, the same of
/// `dest_limit` and `dest`.
pub(crate) struct Copier<'a> {
    src: &'a [u8],
    src_limit: usize,
    dest: &'a mut [u8],
    dest_limit: usize,
}

impl<'a> Copier<'a> {
    /// A copier for literals that end at `end` of `src`.
    pub(crate) fn new(src: &'a [u8], end: usize, dest: &'a mut [u8]) -> Self {
        let limit = |len: usize| len.checked_sub(MARGIN).map_or(0, |end| end + 1);
        let src_limit = limit(src.len()).min(end.saturating_add(1));
        let dest_limit = limit(dest.len());
        Self { src, src_limit, dest, dest_limit }
    }

    /// Copies the literals from `src[at..]` to `dest[done..]`, and the match. Copies nothing and
    /// returns `false` if the literals or the match do not end within their slices, with [`MARGIN`]
    /// bytes after them, or if the match begins before `dest`.
    #[inline(always)]
    #[must_use]
    pub(crate) fn copy(&mut self, sequence: Sequence, at: usize, done: usize) -> bool {
        let Sequence { nliterals, distance, len } = sequence;
        let (Some(src_room), Some(dest_room)) =
            (self.src_limit.checked_sub(at), self.dest_limit.checked_sub(done))
        else {
            return false;
        };
        let nbytes = u64::from(nliterals) + u64::from(len);
        if u64::from(nliterals) >= src_room as u64 || nbytes >= dest_room as u64 {
            return false;
        }
        let (nliterals, len) = (nliterals as usize, len as usize);
        let to = done + nliterals;
        if distance.wrapping_sub(1) >= to {
            return false;
        }
        let (src, dest) = (self.src, &mut *self.dest);
        // SAFETY: S and D with `at + nliterals < src_limit` and `done + nliterals < dest_limit`.
        unsafe { copy_run(src, at, dest, done, nliterals) };
        if len <= 16 && distance >= 16 {
            // SAFETY: `16 <= distance <= to`, and D with `to < dest_limit`.
            unsafe { copy_within_fixed::<16>(dest, to - distance, to) };
        } else if len > 18 || distance >= 16 {
            // SAFETY: `0 < distance <= to`, and D with `to + len < dest_limit`.
            unsafe { copy_long_match::<1>(dest, to, distance, len) };
        } else if distance >= 8 {
            // SAFETY: `8 <= distance <= to`, and D with `to < dest_limit`.
            unsafe { copy_short_match(dest, to, distance) };
        } else {
            // SAFETY: `0 < distance < 8`, `distance <= to`, and D with `to < dest_limit`.
            unsafe { copy_short_period(dest, to, distance) };
        }
        true
    }

    /// The source and the destination.
    pub(crate) fn parts(&mut self) -> (&'a [u8], &mut [u8]) {
        (self.src, self.dest)
    }
}

/// Copies a literal run, which is usually shorter than a register.
///
/// # Safety
///
/// `from + len + STEP <= src.len()` and `to + len + STEP <= dest.len()`.
#[inline(always)]
unsafe fn copy_run(src: &[u8], from: usize, dest: &mut [u8], to: usize, len: usize) {
    // SAFETY: a step is free on both sides.
    let run: [u8; 16] = unsafe { load(src, from) };
    // SAFETY: as above.
    unsafe { store(dest, to, run) };
    if len > 16 {
        // SAFETY: this function requires the same.
        unsafe { copy_literals(src, from, dest, to, len) };
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::*;

    #[test]
    fn sequences_are_copied_or_left() {
        let src: Vec<u8> = (0..100).collect();
        for nliterals in [0, 1, 16, 17, 33, 68, 69] {
            for (distance, len) in
                [(0, 5), (1, 5), (3, 40), (9, 18), (12, 30), (13, 3), (40, 3), (17, 50)]
            {
                for room in [0, MARGIN - 1, MARGIN] {
                    let (nbytes, nmatch) = (nliterals as usize, len as usize);
                    let mut dest = vec![7; 10 + nbytes + nmatch + room];
                    let is_sound = (1..=10 + nbytes).contains(&distance);
                    let sequence = Sequence { nliterals, distance, len };
                    let is_copied = Copier::new(&src, src.len(), &mut dest).copy(sequence, 0, 10);
                    let has_margins = room == MARGIN && nbytes + MARGIN <= src.len();
                    assert_eq!(is_copied, is_sound && has_margins, "{sequence:?} {room}");
                    if is_copied {
                        let mut expected = vec![7; 10];
                        expected.extend(&src[..nbytes]);
                        (0..len).for_each(|_| expected.push(expected[expected.len() - distance]));
                        assert_eq!(dest[..expected.len()], expected);
                    }
                }
            }
        }
    }

    #[test]
    fn literals_end_where_they_are_told_to() {
        let mut dest = [0; 100];
        let mut copier = Copier::new(&[0; 100], 20, &mut dest);
        let sequence = Sequence { nliterals: 11, distance: 1, len: 3 };
        assert!(copier.copy(sequence, 9, 10));
        assert!(!copier.copy(sequence, 10, 10));
        let nothing = Sequence { nliterals: 0, distance: 1, len: 0 };
        assert!(!Copier::new(&[0; 31], 20, &mut dest).copy(nothing, 0, 10));
        assert!(!Copier::new(&[0; 64], 20, &mut [0; 31]).copy(nothing, 0, 10));
    }

    #[test]
    fn numbers_that_overflow_are_left() {
        let mut dest = [0; 64];
        let mut copier = Copier::new(&[0; 64], 64, &mut dest);
        let sequence = Sequence { nliterals: u32::MAX, distance: 1, len: u32::MAX };
        assert!(!copier.copy(sequence, 10, 10));
        let sequence = Sequence { nliterals: 1, distance: usize::MAX, len: 3 };
        assert!(!copier.copy(sequence, 0, 10));
        let sequence = Sequence { nliterals: 1, distance: 1, len: 3 };
        assert!(!copier.copy(sequence, usize::MAX, 10));
        assert!(!copier.copy(sequence, 0, usize::MAX));
    }
}
