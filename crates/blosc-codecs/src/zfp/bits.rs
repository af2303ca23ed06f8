//! Bits in a byte stream, least significant first.

/// Writes whole 64-bit words, as ZFP does.
pub(super) struct BitWriter<'a> {
    dest: &'a mut [u8],
    /// Bytes written.
    len: usize,
    word: u64,
    /// Bits in `word`, 0 to 63.
    pending: u32,
}

impl<'a> BitWriter<'a> {
    pub(super) fn new(dest: &'a mut [u8]) -> Self {
        Self { dest, len: 0, word: 0, pending: 0 }
    }

    /// Bits written.
    pub(super) fn position(&self) -> u64 {
        8 * self.len as u64 + u64::from(self.pending)
    }

    /// Writes the low `nbits` of `value`, 0 to 64; the bits above are zero.
    #[must_use]
    pub(super) fn write(&mut self, value: u64, nbits: u32) -> Option<()> {
        self.word |= value << self.pending;
        let total = self.pending + nbits;
        if total >= u64::BITS {
            self.flush()?;
            let taken = u64::BITS - self.pending;
            self.word = value.checked_shr(taken).unwrap_or(0);
            self.pending = total - u64::BITS;
        } else {
            self.pending = total;
        }
        Some(())
    }

    /// Writes zeros up to a later position.
    #[must_use]
    pub(super) fn fill_up_to(&mut self, position: u64) -> Option<()> {
        while self.position() < position {
            let nbits = (position - self.position()).min(u64::from(u64::BITS - self.pending));
            self.write(0, u32::try_from(nbits).ok()?)?;
        }
        Some(())
    }

    /// Completes the last word; returns the length in bytes.
    pub(super) fn finish(mut self) -> Option<usize> {
        if self.pending > 0 {
            self.flush()?;
        }
        Some(self.len)
    }

    fn flush(&mut self) -> Option<()> {
        self.dest.get_mut(self.len..self.len + 8)?.copy_from_slice(&self.word.to_le_bytes());
        self.len += 8;
        Some(())
    }
}

/// Reads bits, and zeros after the end; [`is_past_the_end`](BitReader::is_past_the_end) reports
/// that.
pub(super) struct BitReader<'a> {
    src: &'a [u8],
    position: u64,
}

impl<'a> BitReader<'a> {
    /// Fewest bits that [`peek`](Self::peek) gives.
    pub(super) const PEEK: u32 = 57;

    pub(super) fn new(src: &'a [u8]) -> Self {
        Self { src, position: 0 }
    }

    /// Bits read.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The next 57 bits or more.
    #[inline]
    pub(super) fn peek(&self) -> u64 {
        let at = usize::try_from(self.position / 8).unwrap_or(usize::MAX);
        let rest = self.src.get(at..).unwrap_or_default();
        let word = match rest.first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        word >> (self.position % 8)
    }

    /// Skips `nbits`.
    #[inline]
    pub(super) fn skip(&mut self, nbits: u32) {
        self.position += u64::from(nbits);
    }

    /// The next `nbits`, at most [`PEEK`](Self::PEEK).
    #[inline]
    pub(super) fn read(&mut self, nbits: u32) -> u64 {
        let value = self.peek() & ((1 << nbits) - 1);
        self.skip(nbits);
        value
    }

    /// Skips to a later position.
    pub(super) fn skip_to(&mut self, position: u64) {
        self.position = self.position.max(position);
    }

    /// Whether more bits were read than exist.
    pub(super) fn is_past_the_end(&self) -> bool {
        self.position > 8 * self.src.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_read_as_written() {
        let mut dest = [0xFF; 64];
        let mut out = BitWriter::new(&mut dest);
        for n in 1..=20 {
            out.write(u64::from(n) & ((1 << n) - 1), n).unwrap();
        }
        out.write(u64::MAX, 64).unwrap();
        out.fill_up_to(300).unwrap();
        out.fill_up_to(100).unwrap();
        assert_eq!(out.position(), 300);
        out.write(1, 1).unwrap();
        let len = out.finish().unwrap();
        assert_eq!(len, 40);

        let mut input = BitReader::new(&dest[..len]);
        for n in 1..=20 {
            assert_eq!(input.read(n), u64::from(n) & ((1 << n) - 1));
        }
        assert_eq!((input.read(32), input.read(32)), (0xFFFF_FFFF, 0xFFFF_FFFF));
        assert_eq!(input.read(26), 0);
        assert_eq!((input.position(), input.read(1)), (300, 1));
        input.skip_to(320);
        assert!(!input.is_past_the_end());
        assert_eq!(input.read(5), 0);
        assert!(input.is_past_the_end());
    }

    #[test]
    fn a_full_destination_stops_the_writer() {
        let mut dest = [0; 8];
        let mut out = BitWriter::new(&mut dest);
        assert_eq!(out.write(1, 63), Some(()));
        assert_eq!(out.write(1, 1), Some(()));
        assert_eq!(out.write(1, 1), Some(()));
        assert_eq!(out.finish(), None);
    }
}
