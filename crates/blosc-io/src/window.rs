//! A part of a store that looks like a whole one.

use core::ops::Range;
use std::io;

use crate::{ReadAt, Stamp};

/// `len` bytes of another store, from position `start` on. Bytes outside of them are out of its
/// reach.
#[derive(Clone, Debug)]
pub struct Windowed<S> {
    inner: S,
    start: u64,
    len: u64,
}

impl<S: ReadAt> Windowed<S> {
    /// The window `start..start + len` of `inner`.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if `inner` does not have these bytes; errors of its `len`.
    pub fn new(inner: S, start: u64, len: u64) -> io::Result<Self> {
        match start.checked_add(len) {
            Some(end) if end <= inner.len()? => Ok(Self { inner, start, len }),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The window from `start` to the present end of `inner`.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if `start` is after the end; errors of `inner`'s `len`.
    pub fn from(inner: S, start: u64) -> io::Result<Self> {
        let len = inner.len()?.checked_sub(start).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(Self { inner, start, len })
    }

    /// The store that the window is a part of.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S> Windowed<S> {
    /// A range of the window in the other store. No overflow: `start + len` was checked.
    fn moved(&self, range: &Range<u64>) -> Range<u64> {
        self.start.saturating_add(range.start)..self.start.saturating_add(range.end)
    }
}

impl<S: ReadAt> ReadAt for Windowed<S> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.len.saturating_sub(at);
        let n = usize::try_from(left).map_or(buf.len(), |left| left.min(buf.len()));
        if n == 0 {
            return Ok(0);
        }
        // No overflow: start + len was checked, and at < len.
        self.inner.read_at(self.start.saturating_add(at), &mut buf[..n])
    }

    /// The ranges in the other store, which may read them by one request.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let moved = |range: &Range<u64>| {
            if range.start > range.end {
                return Err(io::Error::from(io::ErrorKind::InvalidInput));
            }
            match range.end <= self.len {
                true => Ok(self.moved(range)),
                false => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        };
        self.inner.read_ranges(&ranges.iter().map(moved).collect::<io::Result<Vec<_>>>()?)
    }

    fn prefetch_limit(&self) -> u64 {
        self.inner.prefetch_limit()
    }

    fn prefetch(&self, ranges: &[Range<u64>]) {
        let inside = |range: &Range<u64>| range.start..range.end.min(self.len);
        let inside = ranges.iter().map(inside).filter(|range| range.start < range.end);
        self.inner.prefetch(&inside.map(|range| self.moved(&range)).collect::<Vec<_>>());
    }

    fn stamp(&self) -> Option<Stamp> {
        let inner = self.inner.stamp()?;
        Some(Stamp::new(self.len, inner.modified))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemStore;

    #[test]
    fn a_window_must_lie_inside() {
        let store = MemStore::new(vec![0; 10]);
        assert!(Windowed::new(&store, 4, 6).is_ok());
        assert_eq!(Windowed::new(&store, 4, 7).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(
            Windowed::new(&store, u64::MAX, 2).unwrap_err().kind(),
            io::ErrorKind::UnexpectedEof
        );
        assert_eq!(Windowed::from(&store, 10).unwrap().len().unwrap(), 0);
        assert_eq!(Windowed::from(&store, 11).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn nothing_after_the_window_is_given() {
        let window = Windowed::new(MemStore::new(b"abcdef".to_vec()), 1, 3).unwrap();
        let mut buf = [b'.'; 5];
        assert_eq!(window.read_at(1, &mut buf).unwrap(), 2);
        assert_eq!(&buf, b"cd...");
        assert_eq!(window.read_at(3, &mut buf).unwrap(), 0);
        assert_eq!(window.stamp().unwrap().len, 3);
        assert_eq!(window.into_inner().as_bytes(), b"abcdef");
    }
}
