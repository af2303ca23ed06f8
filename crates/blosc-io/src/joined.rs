//! Several stores that look like one.

use core::fmt;
use std::io;
use std::sync::Arc;

use crate::{MemStore, ReadAt};

/// Stores one after the other, as one store. A part is read by the lengths that it had when it
/// was added.
#[derive(Default)]
pub struct Joined {
    /// The start of each store.
    parts: Vec<(u64, Arc<dyn ReadAt>)>,
    len: u64,
}

impl fmt::Debug for Joined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nparts, len) = (self.parts.len(), self.len);
        f.debug_struct("Joined").field("nparts", &nparts).field("len", &len).finish()
    }
}

impl Joined {
    /// A store without a byte.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the first `len` bytes of a store.
    pub fn push(&mut self, part: Arc<dyn ReadAt>, len: u64) {
        if len > 0 {
            self.parts.push((self.len, part));
            self.len = self.len.saturating_add(len);
        }
    }

    /// Adds bytes in memory.
    pub fn push_bytes(&mut self, bytes: Vec<u8>) {
        let len = bytes.len() as u64;
        self.push(Arc::new(MemStore::new(bytes)), len);
    }

    /// Bytes of all parts.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.len
    }
}

impl ReadAt for Joined {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        if at >= self.len {
            return Ok(0);
        }
        let next = self.parts.partition_point(|(start, _)| *start <= at);
        let end = self.parts.get(next).map_or(self.len, |(start, _)| *start);
        let Some((start, part)) = next.checked_sub(1).and_then(|n| self.parts.get(n)) else {
            return Ok(0);
        };
        let left = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
        let count = left.min(buf.len());
        part.read_at(at.saturating_sub(*start), buf.split_at_mut(count).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_read_at;

    #[test]
    fn parts_follow_each_other() {
        let mut joined = Joined::new();
        joined.push_bytes(b"abc".to_vec());
        joined.push_bytes(vec![]);
        joined.push(Arc::new(MemStore::new(b"defgh".to_vec())), 4);
        joined.push_bytes(b"i".to_vec());
        assert_eq!(joined.nbytes(), 8);
        check_read_at(&joined, b"abcdefgi").unwrap();
    }
}
