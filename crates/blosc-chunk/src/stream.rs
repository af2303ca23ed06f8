//! The streams of a block ("Stream encoding" in the format document).

use crate::error::{Corrupt, Error, Result};
use crate::layout::read_i32;

/// The content of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload<'a> {
    /// The bytes themselves.
    Stored(&'a [u8]),
    /// The output of the codec.
    Coded(&'a [u8]),
    /// A run of this byte.
    Run(u8),
}

/// Walks over the streams of one block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streams<'a> {
    /// The bytes from the next size field to the end of the chunk, or of the block's extent.
    rest: &'a [u8],
    /// Where `rest` begins (bytes from the start of the chunk).
    pub(crate) at: usize,
    /// Whether runs are allowed; Blosc 1 has none.
    runs: bool,
}

impl<'a> Streams<'a> {
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], at: usize, runs: bool) -> Self {
        Self { rest: bytes, at, runs }
    }

    /// The size field of the next stream.
    pub(crate) fn peek_csize(&self) -> Option<i32> {
        read_i32(self.rest, 0)
    }

    /// Takes the next stream, which contains `nbytes` bytes of data.
    #[inline(always)]
    pub(crate) fn next(&mut self, nbytes: usize) -> Result<Payload<'a>> {
        let left = self.rest.len();
        let csize = self.peek_csize().ok_or_else(|| self.error(Corrupt::StreamHeader { left }))?;
        let Ok(len) = usize::try_from(csize) else { return self.take_run(csize) };
        if len == 0 {
            self.check_runs(csize)?;
            self.advance(4);
            return Ok(Payload::Run(0));
        }
        let payload = self.payload(len).ok_or_else(|| {
            self.error(Corrupt::StreamSize { csize, left: left.saturating_sub(4) })
        })?;
        self.advance(len.saturating_add(4));
        Ok(if len == nbytes { Payload::Stored(payload) } else { Payload::Coded(payload) })
    }

    /// A run is the negated size field, and one token byte that confirms it.
    #[inline]
    fn take_run(&mut self, csize: i32) -> Result<Payload<'a>> {
        self.check_runs(csize)?;
        let value = csize.checked_neg().and_then(|value| u8::try_from(value).ok());
        let value = value.ok_or_else(|| self.error(Corrupt::RunValue { csize }))?;
        let token = self.payload(1).and_then(|payload| payload.first().copied());
        let token = token.ok_or_else(|| self.error(Corrupt::TokenMissing { csize }))?;
        if token & 1 == 0 {
            return Err(self.error(Corrupt::Token { token }));
        }
        self.advance(5);
        Ok(Payload::Run(value))
    }

    fn check_runs(&self, csize: i32) -> Result<()> {
        if self.runs { Ok(()) } else { Err(self.error(Corrupt::RunInBlosc1 { csize })) }
    }

    fn payload(&self, len: usize) -> Option<&'a [u8]> {
        self.rest.get(4..)?.get(..len)
    }

    fn advance(&mut self, len: usize) {
        self.rest = self.rest.get(len..).unwrap_or_default();
        self.at = self.at.saturating_add(len);
    }

    #[cold]
    fn error(&self, what: Corrupt) -> Error {
        Error::corrupt(self.at, what)
    }
}
