//! Bits of a frame: forward for the counts of an FSE table, backward for all other streams.
//!
//! A stream that is read backward ends with a set bit, which marks where it begins. Each of these
//! streams has at least [`BEFORE`] bytes of the frame (or of the dictionary) before it, so a word
//! of 64 bits that ends anywhere in the stream lies within the frame. Bits from before a stream are
//! harmless: each reader tests at the end that it stopped at the stream's first bit.

use core::ops::Range;

use super::{Result, fault::Fault};
use crate::lz::cursor::BoundedSlice;

/// Bytes before every stream that is read backward: a word.
pub(super) const BEFORE: usize = 8;

/// Bits in order, the lowest of a byte first. Beyond the end there are zeros.
pub(super) struct Forward<'a> {
    bytes: &'a [u8],
    /// Number of consumed bits.
    at: usize,
}

impl<'a> Forward<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next `n` bits, at most 24.
    pub(super) fn peek(&self, n: u32) -> u32 {
        let mut word = [0; 4];
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        word.iter_mut().zip(rest).for_each(|(to, byte)| *to = *byte);
        u32::from_le_bytes(word) >> (self.at % 8) & ((1 << n) - 1)
    }

    pub(super) const fn skip(&mut self, n: u32) {
        self.at += n as usize;
    }

    pub(super) fn take(&mut self, n: u32) -> u32 {
        let value = self.peek(n);
        self.skip(n);
        value
    }

    /// Number of bytes with consumed bits; exceeds the length if the end was passed.
    pub(super) const fn nbytes(&self) -> usize {
        self.at.div_ceil(8)
    }
}

/// Bits of `src` from the end of a stream to its start, the highest first.
#[derive(Clone, Copy)]
pub(super) struct Backward<'a> {
    src: BoundedSlice<'a>,
    /// The first byte of a word that holds the next bits,
    at: usize,
    /// this word,
    word: u64,
    /// and its consumed bits, counted from the highest.
    used: u32,
    /// The first byte of the stream.
    start: usize,
}

impl<'a> Backward<'a> {
    /// The stream in `range` of `src`.
    pub(super) fn new(src: &'a [u8], range: Range<usize>) -> Result<Self> {
        let last = src.get(range.clone()).and_then(<[u8]>::last).copied().unwrap_or(0);
        let at = range.end.checked_sub(BEFORE).filter(|_| range.start >= BEFORE);
        let (Some(at), Some(src), true) = (at, BoundedSlice::new(src, usize::MAX), last != 0)
        else {
            return Err(Fault::NoEndMark.into_error(range.end.saturating_sub(1)));
        };
        Self::resume(src, at, last.leading_zeros() + 1, range.start)
    }

    /// The stream from `start` on without the first `used` bits of the word at `at`, and without
    /// all bits after that word.
    pub(super) fn resume(
        src: BoundedSlice<'a>,
        at: usize,
        used: u32,
        start: usize,
    ) -> Result<Self> {
        let mut bits = Self { src, at, word: 0, used, start };
        bits.refill()?;
        Ok(bits)
    }

    /// The position of its word, and the number of its consumed bits.
    pub(super) const fn position(&self) -> (usize, u32) {
        (self.at, self.used)
    }

    /// Makes at least 57 bits available.
    #[inline(always)]
    pub(super) fn refill(&mut self) -> Result<()> {
        let at = self.at.wrapping_sub((self.used / 8) as usize);
        let Some(cursor) = self.src.cursor(at) else {
            return Err(self.passed());
        };
        self.at = at;
        self.used %= 8;
        self.word = cursor.word();
        Ok(())
    }

    /// The next `n` available bits; at most 63.
    #[inline(always)]
    pub(super) const fn peek(&self, n: u32) -> u64 {
        self.word >> (self.used.wrapping_add(n).wrapping_neg() % 64) & !(u64::MAX << (n % 64))
    }

    #[inline(always)]
    pub(super) const fn skip(&mut self, n: u32) {
        self.used = self.used.wrapping_add(n);
    }

    #[inline(always)]
    pub(super) const fn take(&mut self, n: u32) -> u64 {
        let value = self.peek(n);
        self.skip(n);
        value
    }

    /// Consumed bits before the start of the stream; negative: bits that are left.
    pub(super) fn overrun(&self) -> isize {
        let next = (self.at + 8) * 8 - self.used as usize;
        // Both are below eight times the length of a slice of a few blocks.
        (self.start * 8).cast_signed().wrapping_sub(next.cast_signed())
    }

    /// Tests that the stream was read to its first bit.
    pub(super) fn check_end(&self) -> Result<()> {
        match self.overrun() {
            0 => Ok(()),
            _ => Err(self.passed()),
        }
    }

    #[cold]
    fn passed(&self) -> super::Error {
        Fault::BitStream.into_error(self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_bits_come_lowest_first_and_end_in_zeros() {
        let mut bits = Forward::new(&[0b1010_0110, 0b1]);
        assert_eq!((bits.take(4), bits.take(5), bits.nbytes()), (0b0110, 0b1_1010, 2));
        assert_eq!((bits.take(9), bits.nbytes()), (0, 3));
    }

    #[test]
    fn backward_bits_come_highest_first_below_the_mark() {
        let src = [0, 0, 0, 0, 0, 0, 0, 0, 0b1010_0110, 0b0001_1011];
        let mut bits = Backward::new(&src, 8..10).unwrap();
        assert_eq!((bits.take(4), bits.overrun()), (0b1011, -8));
        assert_eq!((bits.take(3), bits.take(0), bits.take(5)), (0b101, 0, 0b00110));
        assert!(bits.check_end().is_ok());
        bits.skip(1);
        assert!(bits.check_end().is_err());
    }

    #[test]
    fn streams_without_a_mark_or_without_bytes_before_them_are_refused() {
        assert!(Backward::new(&[1; 9], 8..8).is_err());
        assert!(Backward::new(&[1, 1, 1, 1, 1, 1, 1, 1, 0], 8..9).is_err());
        assert!(Backward::new(&[1; 9], 7..9).is_err());
    }
}
