//! Memory to read files into, piece by piece.

use core::fmt;
use core::ops::{Deref, DerefMut};

/// Bytes whose first one begins a cache line.
///
/// Large memory from an allocator mostly begins 16 bytes into a page, and pieces of files at the
/// start of a page. For exactly this difference, the system's copy instruction is slow on some
/// processors: on AMD's Zen 3, reading into memory from an allocator is ten times as slow as into
/// these bytes.
///
/// ```
/// let mut room = blosc_io::AlignedBytes::new();
/// room.resize(100);
/// room[..4].copy_from_slice(b"data");
/// assert_eq!(room.len(), 100);
/// assert!(room.as_ptr().addr().is_multiple_of(64));
/// ```
#[derive(Default)]
pub struct AlignedBytes {
    bytes: Vec<u8>,
    start: usize,
}

/// Bytes of a cache line.
const LINE: usize = 64;

impl AlignedBytes {
    /// No bytes.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), start: 0 }
    }

    /// Changes the number of bytes to `nbytes`, as [`Vec::resize`] does; new bytes are 0. If there
    /// were none, they are fresh memory that is not touched.
    ///
    /// As for `vec!`, the caller must check a number that comes from a file.
    pub fn resize(&mut self, nbytes: usize) {
        if self.bytes.capacity() < self.start + nbytes {
            let mut bytes = vec![0; nbytes + LINE - 1];
            // `align_offset` always finds a multiple of a power of 2; `% LINE` tells the compiler.
            let start = bytes.as_ptr().align_offset(LINE) % LINE;
            bytes[start..start + self.len()].copy_from_slice(self);
            (self.bytes, self.start) = (bytes, start);
        }
        // The length stays within the capacity, so the bytes do not move.
        self.bytes.resize(self.start + nbytes, 0);
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

impl DerefMut for AlignedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..]
    }
}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlignedBytes").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays_and_what_is_new_is_zero() {
        let mut bytes = AlignedBytes::new();
        assert!(bytes.is_empty());
        for len in [1, 7, 7, 64, 1000, 999, 3, 1000, 5000] {
            let kept = bytes.len().min(len);
            bytes.resize(len);
            assert_eq!(bytes.len(), len);
            assert!(bytes.as_ptr().addr().is_multiple_of(LINE));
            assert_eq!(bytes[..kept], vec![7; kept]);
            assert_eq!(bytes[kept..], vec![0; len - kept]);
            bytes.fill(7);
        }
    }
}
