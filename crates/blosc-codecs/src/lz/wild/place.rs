//! Places of which it is known that eight bytes are there, so that a search tests once how far it
//! may go, and not again for each word that it compares.

use core::hint::select_unpredictable;

use super::load;

/// Bytes, and the last place in them where a search may stand: eight bytes before their end, at
/// least.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    bytes: &'a [u8],
    last: usize,
}

impl<'a> Ground<'a> {
    /// For a search that stands at `last` at the utmost; `None` if there are no eight bytes.
    pub(crate) fn new(bytes: &'a [u8], last: usize) -> Option<Self> {
        let last = last.min(bytes.len().checked_sub(8)?);
        Some(Self { bytes, last })
    }

    /// The place at `at`; `None` behind the last one.
    #[inline(always)]
    pub(crate) fn place(self, at: usize) -> Option<Place<'a>> {
        (at <= self.last).then_some(Place { bytes: self.bytes, at })
    }
}

/// A place with eight bytes from it on.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Place<'_> {
    #[inline(always)]
    pub(crate) fn at(self) -> usize {
        self.at
    }

    /// The eight bytes from here, little-endian.
    #[inline(always)]
    pub(crate) fn word(self) -> u64 {
        // SAFETY: a place has eight bytes.
        u64::from_le_bytes(unsafe { load(self.bytes, self.at) })
    }

    /// `earlier`, if it is before this place and within `reach` (`u32::MAX`: anywhere), else the
    /// start; and the eight bytes from there. Nothing foretells which it is, so there is no
    /// branch.
    #[inline(always)]
    pub(crate) fn before(self, earlier: u32, reach: u32) -> (usize, u64) {
        let is_before = match reach {
            u32::MAX => (earlier as usize) < self.at,
            _ => (self.at as u64).wrapping_sub(1).wrapping_sub(earlier.into()) < reach.into(),
        };
        let earlier = select_unpredictable(is_before, earlier as usize, 0);
        // SAFETY: it has as many bytes as this place, at least.
        (earlier, u64::from_le_bytes(unsafe { load(self.bytes, earlier) }))
    }

    /// The eight bytes from `earlier`, which must not be later than this place.
    #[inline(always)]
    pub(crate) fn word_at(self, earlier: usize) -> u64 {
        assert!(earlier <= self.at, "a place behind the one that it is for");
        // SAFETY: it has as many bytes as this place, at least.
        u64::from_le_bytes(unsafe { load(self.bytes, earlier) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_where_they_were_asked_for() {
        let bytes: [u8; 20] = core::array::from_fn(|at| u8::try_from(at).unwrap());
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let ground = Ground::new(&bytes, usize::MAX).unwrap();
        for at in 0..=12 {
            let place = ground.place(at).unwrap();
            assert_eq!((place.at(), place.word()), (at, word(at)));
            (0..=at).for_each(|earlier| assert_eq!(place.word_at(earlier), word(earlier)));
            for earlier in (0..20).chain([u32::MAX - 1, u32::MAX]) {
                for reach in [5, u32::MAX] {
                    let distance = at.wrapping_sub(earlier as usize);
                    let is_before = (earlier as usize) < at && distance <= reach as usize;
                    let expected = if is_before { earlier as usize } else { 0 };
                    assert_eq!(place.before(earlier, reach), (expected, word(expected)));
                }
            }
        }
        assert!(ground.place(13).is_none());
        assert!(Ground::new(&bytes, 5).unwrap().place(6).is_none());
        assert!(Ground::new(&bytes[..7], 0).is_none());
    }
}
