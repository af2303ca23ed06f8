//! The two traits, and their promises.

use core::ops::Range;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

/// Bytes that can be read at any position, by many threads at once.
///
/// Implementors write [`len`](Self::len) and [`read_at`](Self::read_at); the other methods follow
/// from them and are worth overriding only if the storage has a better way (for instance one
/// request for many ranges).
pub trait ReadAt: Send + core::marker::Sync {
    /// Length of the whole store (bytes).
    ///
    /// # Errors
    /// If the storage cannot tell.
    fn len(&self) -> io::Result<u64>;

    /// Reads up to `buf.len()` bytes from position `at` and returns their number.
    ///
    /// A smaller number is no error, and 0 means that `at` is at or after the end (or `buf` is
    /// empty).
    ///
    /// # Errors
    /// If the storage fails. An interrupted call may be reported as [`io::ErrorKind::Interrupted`].
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize>;

    /// Fills `buf` from position `at`.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if the bytes end before `buf` is full; errors of `read_at`.
    fn read_exact_at(&self, mut at: u64, mut buf: &mut [u8]) -> io::Result<()> {
        while !buf.is_empty() {
            match self.read_at(at, buf) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    buf = buf.get_mut(n..).ok_or(io::ErrorKind::InvalidData)?;
                    at = at.checked_add(n as u64).ok_or(io::ErrorKind::InvalidInput)?;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Reads several ranges, each in full, in the order given.
    ///
    /// The caller is responsible for the sizes: each range is allocated. Stores with a cost per
    /// request override this.
    ///
    /// # Errors
    /// As [`read_exact_at`](Self::read_exact_at); [`io::ErrorKind::InvalidInput`] for a range that
    /// runs backwards.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        // Some stores request their length elsewhere, so one call is enough.
        let len = if ranges.is_empty() { 0 } else { self.len()? };
        ranges.iter().map(|range| read_range(self, range, len)).collect()
    }

    /// Bytes that one [`prefetch`](Self::prefetch) may name. Most stores return 0, as announcing
    /// reads gains nothing: readers then announce none.
    fn prefetch_limit(&self) -> u64 {
        0
    }

    /// Begins to fetch the bytes of the next reads, all at once, and does not wait for them. Reads
    /// that come before the bytes wait, and report failures. Bytes after the end are ignored.
    fn prefetch(&self, ranges: &[Range<u64>]) {
        let _ = ranges;
    }

    /// The whole content if it lies in memory, to be read without a copy; `None` for all other
    /// storage.
    fn in_memory(&self) -> Option<&[u8]> {
        None
    }

    /// A value that changes when the content changes, for caches to compare; `None` if the storage
    /// has none.
    fn stamp(&self) -> Option<Stamp> {
        None
    }

    /// Whether there are no bytes at all.
    ///
    /// # Errors
    /// If the storage cannot tell.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// Bytes that can also be written at any position. Writers are alone: they take `&mut self`.
pub trait WriteAt: ReadAt {
    /// Writes all of `bytes` at position `at`. A gap between the old end and `at` reads as zeros.
    ///
    /// # Errors
    /// If the storage fails; part of the bytes may then have been written.
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the storage at `len` bytes, or extends it with zeros.
    ///
    /// # Errors
    /// If the storage fails.
    fn set_len(&mut self, len: u64) -> io::Result<()>;

    /// Syncs everything written so far, so that it survives a crash of the machine.
    ///
    /// # Errors
    /// If the storage fails.
    fn sync(&mut self, what: Sync) -> io::Result<()>;
}

/// The parts that [`WriteAt::sync`] makes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sync {
    /// The content, and the metadata needed to read it back.
    Data,
    /// The content and all metadata, including the modification time.
    All,
}

/// A cheap fingerprint of the state of a store: see [`ReadAt::stamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stamp {
    /// Length in bytes.
    pub len: u64,
    /// Time of the last modification, if the storage keeps one.
    pub modified: Option<SystemTime>,
}

impl Stamp {
    /// A stamp of a length and, if there is one, a modification time.
    #[must_use]
    pub fn new(len: u64, modified: Option<SystemTime>) -> Self {
        Self { len, modified }
    }
}

/// Makes shared and borrowed stores stores.
macro_rules! forward_read_at {
    ($($pointer:ty),*) => {$(
        impl<S: ReadAt + ?Sized> ReadAt for $pointer {
            fn len(&self) -> io::Result<u64> {
                (**self).len()
            }

            fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
                (**self).read_at(at, buf)
            }

            fn read_exact_at(&self, at: u64, buf: &mut [u8]) -> io::Result<()> {
                (**self).read_exact_at(at, buf)
            }

            fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
                (**self).read_ranges(ranges)
            }

            fn prefetch_limit(&self) -> u64 {
                (**self).prefetch_limit()
            }

            fn prefetch(&self, ranges: &[Range<u64>]) {
                (**self).prefetch(ranges);
            }

            fn in_memory(&self) -> Option<&[u8]> {
                (**self).in_memory()
            }

            fn stamp(&self) -> Option<Stamp> {
                (**self).stamp()
            }
        }
    )*};
}

forward_read_at!(&S, &mut S, Box<S>, Arc<S>);

/// Makes owned and exclusively borrowed writable stores writable stores.
macro_rules! forward_write_at {
    ($($pointer:ty),*) => {$(
        impl<S: WriteAt + ?Sized> WriteAt for $pointer {
            fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
                (**self).write_at(at, bytes)
            }

            fn set_len(&mut self, len: u64) -> io::Result<()> {
                (**self).set_len(len)
            }

            fn sync(&mut self, what: Sync) -> io::Result<()> {
                (**self).sync(what)
            }
        }
    )*};
}

forward_write_at!(&mut S, Box<S>);

/// One range of [`ReadAt::read_ranges`].
fn read_range<S: ReadAt + ?Sized>(
    store: &S,
    range: &Range<u64>,
    store_len: u64,
) -> io::Result<Vec<u8>> {
    let len = range.end.checked_sub(range.start).ok_or(io::ErrorKind::InvalidInput)?;
    if len > store_len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let len = usize::try_from(len).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut bytes = vec![0; len];
    store.read_exact_at(range.start, &mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemStore;

    /// Reads one byte per call and is interrupted before each.
    struct Slow(MemStore, core::sync::atomic::AtomicBool);

    impl ReadAt for Slow {
        fn len(&self) -> io::Result<u64> {
            self.0.len()
        }

        fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
            if !self.1.fetch_xor(true, core::sync::atomic::Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let one = buf.len().min(1);
            self.0.read_at(at, &mut buf[..one])
        }
    }

    #[test]
    fn short_and_interrupted_reads_are_continued() {
        let slow = Slow(MemStore::new(b"abcdef".to_vec()), false.into());
        let mut buf = [0; 4];
        slow.read_exact_at(1, &mut buf).unwrap();
        assert_eq!(&buf, b"bcde");
    }

    #[test]
    fn a_range_longer_than_the_store_is_not_allocated() {
        let store = MemStore::new(vec![1; 3]);
        let err = store.read_ranges(&[1..2, 0..u64::MAX]).unwrap_err();
        assert_eq!(err.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    #[expect(clippy::reversed_empty_ranges, reason = "that is the case")]
    fn a_backward_range_is_refused() {
        let store = MemStore::new(vec![1; 3]);
        let err = store.read_ranges(&[0..1, 2..1]).unwrap_err();
        assert_eq!(err.kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn pointers_to_stores_are_stores() {
        fn total(store: impl ReadAt) -> u64 {
            store.len().unwrap()
        }
        let store = MemStore::new(vec![7; 5]);
        assert_eq!(total(&store), 5);
        let shared: Arc<dyn ReadAt> = Arc::new(store);
        assert_eq!(total(Arc::clone(&shared)), 5);
        assert_eq!(shared.read_ranges(&[0..1, 3..5]).unwrap(), [vec![7], vec![7, 7]]);
        assert_eq!(shared.in_memory(), Some(&[7; 5][..]));
        assert_eq!(shared.stamp(), Some(Stamp::new(5, None)));
    }
}
