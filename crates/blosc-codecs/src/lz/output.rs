//! The destination of an encoder: if bytes do not fit, the result is `None`, not a panic.

#![forbid(unsafe_code)]

/// Bytes that [`OutputBuffer::copy_short`] copies at once.
const SHORT_COPY_NBYTES: usize = 32;

/// Writes to the start of a slice until it is full.
pub(crate) struct OutputBuffer<'a> {
    dest: &'a mut [u8],
    len: usize,
}

impl<'a> OutputBuffer<'a> {
    pub(crate) fn new(dest: &'a mut [u8]) -> Self {
        Self { dest, len: 0 }
    }

    /// Bytes written.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes that still fit.
    pub(crate) fn remaining(&self) -> usize {
        self.dest.len() - self.len
    }

    #[must_use]
    #[inline(always)]
    pub(crate) fn push(&mut self, byte: u8) -> Option<()> {
        *self.dest.get_mut(self.len)? = byte;
        self.len += 1;
        Some(())
    }

    #[must_use]
    #[inline(always)]
    pub(crate) fn extend(&mut self, bytes: &[u8]) -> Option<()> {
        self.dest.get_mut(self.len..self.len + bytes.len())?.copy_from_slice(bytes);
        self.len += bytes.len();
        Some(())
    }

    /// Writes the same byte `n` times.
    #[must_use]
    #[inline(always)]
    pub(crate) fn repeat(&mut self, byte: u8, n: usize) -> Option<()> {
        self.dest.get_mut(self.len..self.len + n)?.fill(byte);
        self.len += n;
        Some(())
    }

    /// As [`extend`](Self::extend) for `src[from..from + len]` of up to 32 bytes. Copies 32 bytes
    /// if both sides have them, since a copy of fixed length takes few instructions.
    #[must_use]
    #[inline(always)]
    pub(crate) fn copy_short(&mut self, src: &[u8], from: usize, len: usize) -> Option<()> {
        match (
            src.get(from..from + SHORT_COPY_NBYTES),
            self.dest.get_mut(self.len..self.len + SHORT_COPY_NBYTES),
        ) {
            (Some(from), Some(to)) => {
                to.copy_from_slice(from);
                self.len += len;
                Some(())
            }
            _ => self.extend(&src[from..from + len]),
        }
    }

    /// The next `N` bytes, if they fit. They count as written only after
    /// [`advance`](Self::advance).
    #[inline(always)]
    pub(crate) fn next_bytes<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        self.dest.get_mut(self.len..)?.first_chunk_mut()
    }

    /// Counts the next `n` bytes, which fit, as written.
    #[inline(always)]
    pub(crate) fn advance(&mut self, n: usize) {
        self.len += n;
    }

    /// The bytes written.
    pub(crate) fn written(&mut self) -> &mut [u8] {
        &mut self.dest[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_write_stops_at_the_end() {
        let src: [u8; 40] = core::array::from_fn(|n| n.to_le_bytes()[0]);
        for size in 0..80 {
            let mut dest = [0xEE; 80];
            let mut out = OutputBuffer::new(&mut dest[..size]);
            let mut len = 0;
            let mut check = |n: usize, outcome: Option<()>| {
                let fits = len + n <= size;
                assert_eq!(outcome.is_some(), fits, "{n} bytes after {len} of {size}");
                len += if fits { n } else { 0 };
            };
            check(1, out.push(7));
            check(3, out.extend(&[1, 2, 3]));
            check(4, out.repeat(9, 4));
            check(20, out.copy_short(&src, 3, 20));
            check(0, out.copy_short(&src, 3, 0));
            check(32, out.copy_short(&src, 8, 32));
            assert_eq!((out.len(), out.remaining(), out.written().len()), (len, size - len, len));
            assert_eq!(out.next_bytes::<5>().is_some(), len + 5 <= size);
            assert!(dest[size..].iter().all(|byte| *byte == 0xEE), "{size}");
        }
    }

    #[test]
    fn bytes_are_written_in_order() {
        let mut dest = [0; 64];
        let mut out = OutputBuffer::new(&mut dest);
        let src: [u8; 40] = core::array::from_fn(|n| n.to_le_bytes()[0]);
        out.push(1).and_then(|()| out.extend(&[2, 3])).and_then(|()| out.repeat(4, 2)).unwrap();
        out.copy_short(&src, 10, 3).unwrap();
        *out.next_bytes().unwrap() = [5, 6, 7];
        out.advance(2);
        out.copy_short(&src, 37, 3).unwrap();
        assert_eq!(out.written(), [1, 2, 3, 4, 4, 10, 11, 12, 5, 6, 37, 38, 39]);
    }
}
