//! Reading forward with a known position: errors of cut files name the part, and a buffer grows
//! only after its bytes have come.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "lengths are those of buffers in memory"
)]

use std::io::{self, Read};

use crate::{Corrupt, Error, Part, Result};

/// A source that is read from front to back.
#[derive(Debug)]
pub(crate) struct Input<R> {
    source: R,
    /// Position of the next byte.
    at: u64,
    /// The end of the source, if it is known beforehand.
    end: Option<u64>,
}

impl<R: Read> Input<R> {
    pub(crate) fn new(source: R, at: u64, end: Option<u64>) -> Self {
        Self { source, at, end }
    }

    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    pub(crate) fn end(&self) -> Option<u64> {
        self.end
    }

    pub(crate) fn into_inner(self) -> R {
        self.source
    }

    /// Reads until `buf` is full or the source ends, and returns the number of bytes.
    pub(crate) fn up_to(&mut self, buf: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while let Some(rest) = buf.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match self.source.read(rest) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Error::io(self.at + done as u64, source)),
            }
        }
        self.at += done as u64;
        Ok(done)
    }

    /// Fills `buf`.
    pub(crate) fn exact(&mut self, part: Part, buf: &mut [u8]) -> Result<()> {
        let (at, needed) = (self.at, buf.len() as u64);
        let left = self.up_to(buf)? as u64;
        if left == needed { Ok(()) } else { Err(truncated(at, part, needed, left)) }
    }

    /// Replaces the content of `buf` by `first` and the next `len` bytes; `buf` grows only if they
    /// exist.
    pub(crate) fn append_to(
        &mut self,
        part: Part,
        first: &[u8],
        len: u64,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        let whole = usize::try_from(len).ok().and_then(|len| len.checked_add(first.len()));
        let Some(whole) = whole.filter(|_| self.end.is_some()) else {
            buf.clear();
            buf.extend_from_slice(first);
            return self.append(part, len, buf);
        };
        self.check(part, len)?;
        if buf.capacity() < whole {
            // Unlike `resize`, a fresh vector does not touch the memory.
            *buf = vec![0; whole];
        }
        buf.resize(whole, 0);
        let (start, rest) = buf.split_at_mut(first.len());
        start.copy_from_slice(first);
        self.exact(part, rest)
    }

    /// Appends `len` bytes to `buf`, which grows only as they come.
    pub(crate) fn append(&mut self, part: Part, len: u64, buf: &mut Vec<u8>) -> Result<()> {
        self.check(part, len)?;
        let at = self.at;
        if self.end.is_some() {
            // The bytes exist, so one allocation is enough.
            buf.reserve(usize::try_from(len).unwrap_or(0));
        }
        let result = self.source.by_ref().take(len).read_to_end(buf);
        let left = result.map_err(|source| Error::io(at, source))? as u64;
        self.at += left;
        if left == len { Ok(()) } else { Err(truncated(at, part, len, left)) }
    }

    /// Reads `len` bytes and drops them.
    pub(crate) fn skip(&mut self, part: Part, len: u64) -> Result<()> {
        self.check(part, len)?;
        let at = self.at;
        let result = io::copy(&mut self.source.by_ref().take(len), &mut io::sink());
        let left = result.map_err(|source| Error::io(at, source))?;
        self.at += left;
        if left == len { Ok(()) } else { Err(truncated(at, part, len, left)) }
    }

    /// Checks that `len` more bytes can come, as far as that is known.
    pub(crate) fn check(&self, part: Part, len: u64) -> Result<()> {
        let left = self.end.map_or(u64::MAX, |end| end.saturating_sub(self.at));
        if len <= left { Ok(()) } else { Err(truncated(self.at, part, len, left)) }
    }
}

pub(crate) fn truncated(at: u64, part: Part, needed: u64, left: u64) -> Error {
    Error::corrupt(at, Corrupt::Truncated { part, needed, left })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_source_names_part_place_and_numbers() {
        let mut input = Input::new(&b"abcdef"[..], 100, None);
        input.skip(Part::Header, 2).unwrap();
        let mut buf = vec![];
        input.append(Part::Chunk, 3, &mut buf).unwrap();
        assert_eq!((&buf[..], input.position()), (&b"cde"[..], 105));
        let error = input.append(Part::Chunk, u64::MAX, &mut buf).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("at byte 105: chunk of {} bytes, 1 are left", u64::MAX)
        );
        assert!(buf.capacity() < 1000);
    }

    #[test]
    fn a_used_buffer_gets_new_content() {
        for end in [None, Some(9)] {
            let mut input = Input::new(&b"abcdefghi"[..], 0, end);
            let mut buf = vec![];
            for (len, expected) in [(3, "->abc"), (1, "->d"), (5, "->efghi")] {
                input.append_to(Part::Chunk, b"->", len, &mut buf).unwrap();
                assert_eq!(buf, expected.as_bytes());
            }
            assert!(input.append_to(Part::Chunk, b"->", 1 << 40, &mut buf).is_err());
            assert!(buf.capacity() < 1000);
        }
    }

    #[test]
    fn a_known_end_is_checked_before_reading() {
        let mut input = Input::new(io::repeat(0), 0, Some(10));
        assert_eq!(
            input.skip(Part::Offsets, 11).unwrap_err().to_string(),
            "at byte 0: offsets of 11 bytes, 10 are left"
        );
        assert_eq!(input.position(), 0);
    }
}
