//! A store that records its calls: the proof that a reader reads no more than it should.

use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{ReadAt, Stamp, Sync, WriteAt};

/// Passes every call on to another store and records the ranges read.
#[derive(Debug)]
pub struct CountingStore<S> {
    inner: S,
    reads: Mutex<Vec<Range<u64>>>,
    trips: AtomicUsize,
}

impl<S> CountingStore<S> {
    /// Counts the reads of `inner`.
    pub fn new(inner: S) -> Self {
        Self { inner, reads: Mutex::default(), trips: AtomicUsize::new(0) }
    }

    /// The ranges read so far, in the order of the calls, without empty reads.
    pub fn reads(&self) -> Vec<Range<u64>> {
        self.log().clone()
    }

    /// The number of reads so far.
    pub fn requests(&self) -> usize {
        self.log().len()
    }

    /// The number of calls that read: one call requests all of its ranges together.
    pub fn trips(&self) -> usize {
        self.trips.load(Ordering::Relaxed)
    }

    /// The bytes read so far; bytes read twice count twice.
    pub fn bytes(&self) -> u64 {
        self.log().iter().map(|r| r.end.saturating_sub(r.start)).sum()
    }

    /// Forgets the reads so far.
    pub fn reset(&self) {
        self.log().clear();
        self.trips.store(0, Ordering::Relaxed);
    }

    /// The counted store.
    pub fn into_inner(self) -> S {
        self.inner
    }

    fn log(&self) -> MutexGuard<'_, Vec<Range<u64>>> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: ReadAt> ReadAt for CountingStore<S> {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read_at(at, buf)?;
        if n > 0 {
            self.log().push(at..at.saturating_add(n as u64));
            self.trips.fetch_add(1, Ordering::Relaxed);
        }
        Ok(n)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let read = self.inner.read_ranges(ranges)?;
        let found = ranges.iter().filter(|range| range.start < range.end);
        self.log().extend(found.cloned());
        self.trips.fetch_add(1, Ordering::Relaxed);
        Ok(read)
    }

    fn stamp(&self) -> Option<Stamp> {
        self.inner.stamp()
    }
}

impl<S: WriteAt> WriteAt for CountingStore<S> {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.inner.write_at(at, bytes)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn sync(&mut self, what: Sync) -> io::Result<()> {
        self.inner.sync(what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemStore;

    #[test]
    fn it_counts_requests_and_bytes() {
        let store = CountingStore::new(MemStore::new(vec![1; 10]));
        store.read_exact_at(0, &mut [0; 4]).unwrap();
        store.read_ranges(&[2..5, 9..10]).unwrap();
        assert_eq!(store.read_at(10, &mut [0; 4]).unwrap(), 0);
        assert_eq!(store.reads(), [0..4, 2..5, 9..10]);
        assert_eq!((store.requests(), store.bytes(), store.trips()), (3, 8, 2));
        store.reset();
        assert_eq!((store.requests(), store.bytes()), (0, 0));
        assert_eq!(store.into_inner().into_bytes().len(), 10);
    }
}
