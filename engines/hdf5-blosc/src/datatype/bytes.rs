//! The bytes of a message, one after the other.

use super::{Result, TypeError};

/// The rest of a message.
pub(super) struct Bytes<'a> {
    pub(super) rest: &'a [u8],
    /// Whether PyTables wrote the file.
    pub(super) is_of_pytables: bool,
}

impl<'a> Bytes<'a> {
    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.rest.split_at_checked(len).ok_or(TypeError::Damaged("it ends too early"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const LEN: usize>(&mut self) -> Result<[u8; LEN]> {
        let taken = self.take(LEN)?;
        taken.first_chunk().copied().ok_or(TypeError::Damaged("it ends too early"))
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A name with a zero after it; before version 3 more zeros make it a multiple of 8 bytes.
    pub(super) fn name(&mut self, version: u8) -> Result<&'a [u8]> {
        let len = self.rest.iter().position(|byte| *byte == 0);
        let len = len.ok_or(TypeError::Damaged("a name without an end"))?;
        let with_zero = len.saturating_add(1);
        let room = if version < 3 { with_zero.next_multiple_of(8) } else { with_zero };
        let taken = self.take(room)?;
        Ok(taken.get(..len).unwrap_or_default())
    }
}
