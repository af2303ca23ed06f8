//! MessagePack with fixed widths, the encoding of headers, trailers and the `b2nd` metalayer.
//!
//! C readers take every field at a fixed position, so an integer keeps its width, whatever its
//! value. A general serialiser would shorten it; hence these few lines. Reading checks every marker
//! and never allocates.

use crate::error::{Corrupt, Error, Result};

/// Small integers from 0 on encode themselves.
pub(crate) const FIXARRAY: u8 = 0x90;
pub(crate) const FIXSTR: u8 = 0xa0;
pub(crate) const FALSE: u8 = 0xc2;
pub(crate) const TRUE: u8 = 0xc3;
pub(crate) const BIN32: u8 = 0xc6;
pub(crate) const UINT16: u8 = 0xcd;
pub(crate) const UINT32: u8 = 0xce;
pub(crate) const UINT64: u8 = 0xcf;
pub(crate) const INT16: u8 = 0xd1;
pub(crate) const INT32: u8 = 0xd2;
pub(crate) const INT64: u8 = 0xd3;
pub(crate) const FIXEXT16: u8 = 0xd8;
pub(crate) const STR32: u8 = 0xdb;
pub(crate) const ARRAY16: u8 = 0xdc;
pub(crate) const MAP16: u8 = 0xde;

/// Reads fixed-width fields from a byte string, position by position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Reads `bytes` from position `at` on.
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// The position of the next field.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Reads a byte that must have this value.
    pub(crate) fn marker(&mut self, field: &'static str, expected: u8) -> Result<()> {
        let at = self.at;
        let found = self.u8()?;
        if found == expected {
            return Ok(());
        }
        Err(Error::corrupt(at, Corrupt::Marker { field, found, expected }))
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self, field: &'static str, marker: u8) -> Result<u16> {
        self.marker(field, marker)?;
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self, field: &'static str, marker: u8) -> Result<u32> {
        self.marker(field, marker)?;
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn i32(&mut self, field: &'static str) -> Result<i32> {
        self.marker(field, INT32)?;
        self.array().map(i32::from_be_bytes)
    }

    pub(crate) fn i64(&mut self, field: &'static str) -> Result<i64> {
        self.marker(field, INT64)?;
        self.array().map(i64::from_be_bytes)
    }

    /// The next `len` bytes.
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let taken =
            self.at.checked_add(len).and_then(|end| Some((end, self.bytes.get(self.at..end)?)));
        let Some((end, taken)) = taken else {
            let what = Corrupt::Truncated {
                len: len as u64,
                left: self.bytes.len().saturating_sub(self.at) as u64,
            };
            return Err(Error::corrupt(self.at, what));
        };
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let taken = self.take(N)?;
        Ok(taken.first_chunk().copied().unwrap_or([0; N]))
    }
}

/// Writes fixed-width fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Writer {
    pub(crate) bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    pub(crate) fn u8(&mut self, byte: u8) -> &mut Self {
        self.raw(&[byte])
    }

    pub(crate) fn u16(&mut self, marker: u8, value: u16) -> &mut Self {
        self.u8(marker).raw(&value.to_be_bytes())
    }

    pub(crate) fn u32(&mut self, marker: u8, value: u32) -> &mut Self {
        self.u8(marker).raw(&value.to_be_bytes())
    }

    pub(crate) fn i64(&mut self, value: i64) -> &mut Self {
        self.u8(INT64).raw(&value.to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_keep_their_width() {
        let mut writer = Writer::default();
        writer.u16(MAP16, 1).u32(INT32, 2).i64(3);
        assert_eq!(writer.bytes, [0xde, 0, 1, 0xd2, 0, 0, 0, 2, 0xd3, 0, 0, 0, 0, 0, 0, 0, 3]);
        let mut reader = Reader::new(&writer.bytes, 0);
        assert_eq!(reader.u16("map", MAP16).unwrap(), 1);
        assert_eq!(reader.i32("number").unwrap(), 2);
        assert_eq!(reader.i64("number").unwrap(), 3);
        assert_eq!(reader.position(), writer.bytes.len());
    }

    #[test]
    fn reading_past_the_end_says_where() {
        let mut reader = Reader::new(&[0xd2, 0, 0], 0);
        let Err(Error::Corrupt { at: 1, what }) = reader.i32("number") else {
            panic!("read past the end")
        };
        assert_eq!(what, Corrupt::Truncated { len: 4, left: 2 });
        assert!(Reader::new(&[], usize::MAX).u8().is_err());
    }
}
