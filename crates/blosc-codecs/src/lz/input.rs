//! The stream of a decoder's safe half.

use crate::{CodecId, Corrupt, Error};

/// A stream of `codec`, read up to `at`.
pub(crate) struct Input<'a> {
    pub codec: CodecId,
    pub src: &'a [u8],
    pub at: usize,
}

impl Input<'_> {
    pub(crate) const fn corrupt(&self, at: usize, what: Corrupt) -> Error {
        Error::Corrupt { codec: self.codec, at, what }
    }

    /// The next byte, if the stream has at least `need` bytes left.
    #[inline(always)]
    pub(crate) fn read_byte(&mut self, need: usize) -> Result<u8, Error> {
        let have = self.src.len() - self.at;
        if have < need {
            return Err(self.corrupt(self.at, Corrupt::Truncated { need, have }));
        }
        let byte = self.src[self.at];
        self.at += 1;
        Ok(byte)
    }

    /// Adds bytes to a length until one is not 255; stops once the length exceeds `room`. Before
    /// each byte, the stream must have at least `need` bytes left.
    #[inline(always)]
    pub(crate) fn add_to_length(
        &mut self,
        mut len: usize,
        room: usize,
        need: usize,
    ) -> Result<usize, Error> {
        loop {
            let more = self.read_byte(need)?;
            len += usize::from(more);
            if more != u8::MAX || len > room {
                return Ok(len);
            }
        }
    }

    /// Copies literals of `len` bytes to `dest[done..]`; returns their end in `dest`.
    #[inline(always)]
    pub(crate) fn copy_literals(
        &mut self,
        len: usize,
        dest: &mut [u8],
        done: usize,
    ) -> Result<usize, Error> {
        let (from, end) = (self.at, done + len);
        let have = self.src.len() - from;
        let literals = self
            .src
            .get(from..from + len)
            .ok_or_else(|| self.corrupt(from, Corrupt::Truncated { need: len, have }))?;
        let too_long = Corrupt::TooLong { nbytes: end as u64, room: dest.len() };
        dest.get_mut(done..end)
            .ok_or_else(|| self.corrupt(from, too_long))?
            .copy_from_slice(literals);
        self.at += len;
        Ok(end)
    }

    /// Checks a match of `len` bytes before it is copied. The match begins at `start` of the
    /// stream, and `distance` bytes before `dest[done..]`, where `available` bytes precede.
    #[inline(always)]
    pub(crate) fn check_match(
        &self,
        start: usize,
        (distance, available): (usize, usize),
        len: usize,
        dest: &[u8],
        done: usize,
    ) -> Result<(), Error> {
        if distance == 0 || distance > available {
            return Err(self.corrupt(start, Corrupt::Distance { distance, available }));
        }
        if len > dest.len() - done {
            let nbytes = done as u64 + len as u64;
            return Err(self.corrupt(start, Corrupt::TooLong { nbytes, room: dest.len() }));
        }
        Ok(())
    }

    /// Checks that the whole stream has filled the destination.
    pub(crate) fn check_end(&self, dest: &[u8], done: usize) -> Result<(), Error> {
        if done < dest.len() {
            let what = Corrupt::TooShort { nbytes: done, expected: dest.len() };
            return Err(self.corrupt(self.src.len(), what));
        }
        Ok(())
    }
}
