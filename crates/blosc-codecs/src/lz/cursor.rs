//! Positions from which eight bytes can be read: a search tests its limit once, and not for each
//! word that it compares.

use core::hint::select_unpredictable;

use super::unsafe_copy::load;

/// Bytes and the last position of a search in them, which is at least eight bytes before their end.
#[derive(Clone, Copy)]
pub(crate) struct BoundedSlice<'a> {
    bytes: &'a [u8],
    last: usize,
}

impl<'a> BoundedSlice<'a> {
    /// For a search up to `last`; `None` if there are fewer than eight bytes.
    pub(crate) fn new(bytes: &'a [u8], last: usize) -> Option<Self> {
        let last = last.min(bytes.len().checked_sub(8)?);
        Some(Self { bytes, last })
    }

    /// The same for a search up to `last`, if that is earlier.
    #[inline(always)]
    pub(crate) fn shortened(self, last: usize) -> Self {
        Self { last: self.last.min(last), ..self }
    }

    /// A cursor at `at`; `None` after the last position.
    #[inline(always)]
    pub(crate) fn cursor(self, at: usize) -> Option<Cursor<'a>> {
        (at <= self.last).then_some(Cursor { bytes: self.bytes, at })
    }
}

/// A position from which eight bytes can be read.
///
/// Invariant **C**: `at + 8 <= bytes.len()`. [`BoundedSlice::cursor`] alone makes cursors.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    #[inline(always)]
    pub(crate) fn position(self) -> usize {
        self.at
    }

    /// The eight bytes from here, little-endian.
    #[inline(always)]
    pub(crate) fn word(self) -> u64 {
        // SAFETY: invariant C.
        u64::from_le_bytes(unsafe { load(self.bytes, self.at) })
    }

    /// The position `earlier` if it is before this one and within `reach` (`u32::MAX`: any
    /// distance), else 0; and the eight bytes from there. The result is unpredictable, so there is
    /// no branch.
    #[inline(always)]
    pub(crate) fn word_before(self, earlier: u32, reach: u32) -> (usize, u64) {
        let is_before = match reach {
            u32::MAX => (earlier as usize) < self.at,
            _ => (self.at as u64).wrapping_sub(1).wrapping_sub(earlier.into()) < reach.into(),
        };
        let earlier = select_unpredictable(is_before, earlier as usize, 0);
        // SAFETY: `earlier <= at`, and invariant C.
        (earlier, u64::from_le_bytes(unsafe { load(self.bytes, earlier) }))
    }

    /// The eight bytes from `earlier`, which must not be after this position.
    #[inline(always)]
    pub(crate) fn word_at(self, earlier: usize) -> u64 {
        assert!(earlier <= self.at, "a position after the cursor");
        // SAFETY: `earlier <= at`, and invariant C.
        u64::from_le_bytes(unsafe { load(self.bytes, earlier) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_from_their_positions() {
        let bytes: [u8; 20] = core::array::from_fn(|at| u8::try_from(at).unwrap());
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let slice = BoundedSlice::new(&bytes, usize::MAX).unwrap();
        for at in 0..=12 {
            let cursor = slice.cursor(at).unwrap();
            assert_eq!((cursor.position(), cursor.word()), (at, word(at)));
            (0..=at).for_each(|earlier| assert_eq!(cursor.word_at(earlier), word(earlier)));
            for earlier in (0..20).chain([u32::MAX - 1, u32::MAX]) {
                for reach in [5, u32::MAX] {
                    let distance = at.wrapping_sub(earlier as usize);
                    let is_before = (earlier as usize) < at && distance <= reach as usize;
                    let expected = if is_before { earlier as usize } else { 0 };
                    assert_eq!(cursor.word_before(earlier, reach), (expected, word(expected)));
                }
            }
        }
        assert!(slice.cursor(13).is_none());
        assert!(BoundedSlice::new(&bytes, 5).unwrap().cursor(6).is_none());
        assert!(BoundedSlice::new(&bytes[..7], 0).is_none());
    }
}
