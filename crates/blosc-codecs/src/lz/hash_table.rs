//! Positions of earlier words, by hash.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "each value is below its bound"
)]
#![forbid(unsafe_code)]

use alloc::boxed::Box;

/// The table of an encoder, kept between streams.
///
/// Entries are absolute positions: each stream starts after the end of the one before, plus a gap
/// beyond the longest distance. So entries of earlier streams are too far away to match, and the
/// table is cleared only if positions overflow.
pub(crate) struct HashTable<const SIZE: usize> {
    slots: Box<[u32; SIZE]>,
    /// Absolute position of the next stream's first byte.
    next: u32,
}

impl<const SIZE: usize> HashTable<SIZE> {
    pub(crate) fn new() -> Self {
        Self { slots: Box::new([0; SIZE]), next: u32::MAX }
    }

    /// A view for a new stream of `nbytes`, in which no distance exceeds `REACH`; `None` if the
    /// stream is too long.
    ///
    /// `BITS` bits of each hash are used. Both numbers are compile-time constants, since every
    /// probe needs them.
    pub(crate) fn start<const BITS: u32, const REACH: u32>(
        &mut self,
        nbytes: usize,
    ) -> Option<TableView<'_, SIZE, BITS, REACH>> {
        const { assert!(1 << BITS <= SIZE) };
        let nbytes = u32::try_from(nbytes).ok()?;
        // Zero, the content of a new table, is as far away as the entries of earlier streams.
        let lowest = REACH + 1;
        if self.next.checked_add(nbytes).is_none_or(|end| end > u32::MAX - lowest) {
            *self.slots = [0; SIZE];
            self.next = lowest;
        }
        let base = self.next;
        self.next = base.checked_add(nbytes)?.checked_add(lowest)?;
        Some(TableView { slots: &mut self.slots, base })
    }
}

/// The table, in use by one stream: positions count from the stream's first byte.
pub(crate) struct TableView<'a, const SIZE: usize, const BITS: u32, const REACH: u32> {
    slots: &'a mut [u32; SIZE],
    base: u32,
}

impl<const SIZE: usize, const BITS: u32, const REACH: u32> TableView<'_, SIZE, BITS, REACH> {
    /// Stores `at` in the slot of this hash and returns the position that it replaces, if that
    /// position is within reach.
    #[inline(always)]
    pub(crate) fn replace(&mut self, hash: u32, at: usize) -> Option<usize> {
        let distance = self.replace_for_distance(hash, at);
        (distance.wrapping_sub(1) < REACH).then(|| at.wrapping_sub(distance as usize))
    }

    /// As [`replace`](Self::replace), but returns the former position even if it is out of reach;
    /// a number that is not below `at` if there is none.
    #[inline(always)]
    pub(crate) fn swap(&mut self, hash: u32, at: usize) -> u32 {
        let slot = &mut self.slots[(hash >> (32 - BITS)) as usize & (SIZE - 1)];
        core::mem::replace(slot, self.base.wrapping_add(at as u32)).wrapping_sub(self.base)
    }

    /// As [`replace`](Self::replace), but returns the distance to the former position, or 0 if that
    /// is above 65535: a link of a hash chain.
    #[inline(always)]
    pub(crate) fn link(&mut self, hash: u32, at: usize) -> u16 {
        let distance = self.replace_for_distance(hash, at);
        // All ones if the distance is below 65536. This is unpredictable, and compilers turn
        // comparisons into branches.
        let mask = (i64::from(distance) - (1 << 16)) >> 63;
        (distance & mask as u32) as u16
    }

    /// Stores `at` in the slot of this hash.
    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u32, at: usize) {
        self.slots[(hash >> (32 - BITS)) as usize & (SIZE - 1)] = self.base.wrapping_add(at as u32);
    }

    /// Stores `at` and returns the distance to the former position, in any range.
    #[inline(always)]
    fn replace_for_distance(&mut self, hash: u32, at: usize) -> u32 {
        (at as u32).wrapping_sub(self.swap(hash, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_out_of_reach_and_of_earlier_streams_are_not_found() {
        let mut table = HashTable::<256>::new();
        for _ in 0..3 {
            let mut stream = table.start::<8, 65_535>(200_000).unwrap();
            assert_eq!(stream.link(5 << 24, 0), 0);
            assert_eq!(stream.link(5 << 24, 65_535), 65_535);
            assert_eq!(stream.link(5 << 24, 131_071), 0);
            assert_eq!(stream.replace(5 << 24, 196_606), Some(131_071));
            assert_eq!(stream.replace(6 << 24, 196_606), None);
        }
    }

    #[test]
    fn swap_returns_the_position_and_insert_stores_one() {
        let mut table = HashTable::<256>::new();
        let mut stream = table.start::<8, 1000>(100_000).unwrap();
        assert!(stream.swap(7 << 24, 10) as usize >= 10, "nothing was stored before");
        stream.insert(7 << 24, 20);
        assert_eq!(stream.swap(7 << 24, 90_000), 20);
        assert_eq!(stream.replace(7 << 24, 91_000), Some(90_000));
        assert_eq!(stream.replace(7 << 24, 92_001), None);
    }

    #[test]
    fn a_table_is_cleared_when_positions_overflow() {
        let mut table = HashTable::<16>::new();
        for _ in 0..5 {
            let mut stream = table.start::<4, 100>(1 << 30).unwrap();
            assert_eq!(stream.replace(0, 50), None);
            assert_eq!(stream.replace(0, 60), Some(50));
        }
    }
}
