//! A store in memory.

use std::io;

use crate::{ReadAt, Stamp, Sync, WriteAt, zeroed};

/// Bytes in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemStore {
    bytes: Vec<u8>,
}

impl MemStore {
    /// A store of these bytes; they are not copied.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, without a copy.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl ReadAt for MemStore {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        Ok(copy_from(&self.bytes, at, buf))
    }

    fn in_memory(&self) -> Option<&[u8]> {
        Some(self.as_bytes())
    }

    fn stamp(&self) -> Option<Stamp> {
        Some(Stamp::new(self.bytes.len() as u64, None))
    }
}

impl WriteAt for MemStore {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let start = usize::try_from(at).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let end = start.checked_add(bytes.len()).ok_or(io::ErrorKind::OutOfMemory)?;
        self.reserve(end)?;
        if start > self.bytes.len() {
            self.bytes.resize(start, 0);
        }
        let (inside, after) = bytes.split_at(bytes.len().min(self.bytes.len() - start));
        self.bytes[start..start + inside.len()].copy_from_slice(inside);
        self.bytes.extend_from_slice(after);
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        if len <= self.bytes.len() {
            self.bytes.truncate(len);
            return Ok(());
        }
        self.reserve(len)?;
        self.bytes.resize(len, 0);
        Ok(())
    }

    fn sync(&mut self, _: Sync) -> io::Result<()> {
        Ok(())
    }
}

impl MemStore {
    /// Reserves room for `len` bytes in all, and reports a lack of memory instead of aborting.
    fn reserve(&mut self, len: usize) -> io::Result<()> {
        let more = len.saturating_sub(self.bytes.len());
        Ok(zeroed::try_reserve(&mut self.bytes, more).map_err(|_| io::ErrorKind::OutOfMemory)?)
    }
}

/// Copies the bytes from position `at` on, until they end or `buf` is full.
pub(crate) fn copy_from(bytes: &[u8], at: u64, buf: &mut [u8]) -> usize {
    let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
    let n = rest.len().min(buf.len());
    buf[..n].copy_from_slice(&rest[..n]);
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absurd_position_is_an_error_not_an_abort() {
        let mut store = MemStore::default();
        let err = store.write_at(u64::MAX - 4, b"x").unwrap_err();
        assert_eq!(err.kind(), io::ErrorKind::OutOfMemory);
        assert_eq!(store.set_len(1 << 62).unwrap_err().kind(), io::ErrorKind::OutOfMemory);
        assert!(store.is_empty().unwrap());
    }
}
