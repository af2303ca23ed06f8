//! A store that the reader and the writer of a frame share.

use std::io;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use blosc_io::{ReadAt, Stamp, Sync, WriteAt};

/// Bytes that are collected before they are written. A system call for each small chunk would take
/// as long as compressing it.
const MAX_COLLECTED_NBYTES: usize = 256 << 10;
/// From this length on, bytes are written directly: a copy would cost more than a call.
const MIN_UNCOLLECTED_NBYTES: usize = 64 << 10;

/// A writable store under a lock. Readers wait only while a write is under way.
///
/// Appended bytes are collected; the next other operation on the store writes them.
#[derive(Clone)]
pub(super) struct Shared(Arc<RwLock<Collecting>>);

impl Shared {
    pub(super) fn new(store: Box<dyn WriteAt>) -> Self {
        Self(Arc::new(RwLock::new(Collecting::new(store))))
    }

    /// Replaces the store.
    pub(super) fn replace(&self, store: Box<dyn WriteAt>) {
        *self.write() = Collecting::new(store);
    }

    /// The store, without the lock if this is the only owner and no bytes are pending.
    pub(super) fn into_store(self) -> Arc<dyn ReadAt> {
        match Arc::try_unwrap(self.0) {
            Ok(lock) => match lock.into_inner().unwrap_or_else(PoisonError::into_inner) {
                Collecting { store, pending, .. } if pending.is_empty() => Arc::new(store),
                collecting => Arc::new(Self(Arc::new(RwLock::new(collecting)))),
            },
            Err(shared) => Arc::new(Self(shared)),
        }
    }

    /// Writes after the bytes that were appended before: now or later.
    pub(super) fn append_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.write().append_at(at, bytes)
    }

    pub(super) fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.write().write_at(at, bytes)
    }

    /// Writes the pending bytes.
    pub(super) fn flush(&self) -> io::Result<()> {
        self.write().flushed().map(drop)
    }

    pub(super) fn set_len(&self, len: u64) -> io::Result<()> {
        self.write().set_len(len)
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.write().sync(Sync::Data)
    }

    // A panic leaves bytes in a store no more half changed than an error does.
    fn read(&self) -> RwLockReadGuard<'_, Collecting> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Collecting> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A store, and the bytes still to be written to it.
struct Collecting {
    store: Box<dyn WriteAt>,
    pending: Vec<u8>,
    /// The position of the pending bytes.
    at: u64,
}

impl Collecting {
    fn new(store: Box<dyn WriteAt>) -> Self {
        Self { store, pending: vec![], at: 0 }
    }

    /// The end of the pending bytes.
    fn end(&self) -> u64 {
        self.at.saturating_add(self.pending.len() as u64)
    }

    fn append_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let is_after = self.pending.is_empty() || at == self.end();
        let fits = self.pending.len().saturating_add(bytes.len()) <= MAX_COLLECTED_NBYTES;
        // A write to memory needs no system call.
        if bytes.len() >= MIN_UNCOLLECTED_NBYTES || self.store.in_memory().is_some() {
            return self.write_at(at, bytes);
        }
        if !is_after || !fits {
            self.flushed()?;
        }
        if self.pending.is_empty() {
            self.at = at;
        }
        self.pending.extend_from_slice(bytes);
        Ok(())
    }

    /// The store, with all pending bytes written. After an error they are still pending.
    fn flushed(&mut self) -> io::Result<&mut dyn WriteAt> {
        if !self.pending.is_empty() {
            self.store.write_at(self.at, &self.pending)?;
            self.pending.clear();
        }
        Ok(&mut *self.store)
    }

    /// The number of bytes, of `len` from `at` on, that come from the store, before the pending
    /// ones.
    fn before_pending(&self, at: u64, len: usize) -> usize {
        if self.pending.is_empty() {
            return len;
        }
        usize::try_from(self.at.saturating_sub(at)).map_or(len, |before| before.min(len))
    }

    /// The pending bytes from a position on.
    fn pending_from(&self, at: u64) -> &[u8] {
        let from = usize::try_from(at.saturating_sub(self.at)).unwrap_or(usize::MAX);
        self.pending.split_at(from.min(self.pending.len())).1
    }
}

impl ReadAt for Collecting {
    fn len(&self) -> io::Result<u64> {
        let len = self.store.len()?;
        Ok(if self.pending.is_empty() { len } else { len.max(self.end()) })
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        match self.before_pending(at, buf.len()) {
            0 => io::Read::read(&mut self.pending_from(at), buf),
            before => self.store.read_at(at, buf.split_at_mut(before).0),
        }
    }

    fn stamp(&self) -> Option<Stamp> {
        self.store.stamp()
    }
}

impl WriteAt for Collecting {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.flushed()?.write_at(at, bytes)
    }

    /// Pending bytes after `len` are never written.
    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let kept = usize::try_from(len.saturating_sub(self.at)).unwrap_or(usize::MAX);
        self.pending.truncate(kept);
        self.flushed()?.set_len(len)
    }

    fn sync(&mut self, what: Sync) -> io::Result<()> {
        self.flushed()?.sync(what)
    }
}

impl ReadAt for Shared {
    fn len(&self) -> io::Result<u64> {
        self.read().len()
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.read().read_at(at, buf)
    }

    fn read_exact_at(&self, at: u64, buf: &mut [u8]) -> io::Result<()> {
        self.read().read_exact_at(at, buf)
    }

    fn stamp(&self) -> Option<Stamp> {
        self.read().stamp()
    }
}

#[cfg(test)]
mod tests {
    use blosc_io::MemStore;
    use blosc_io::testing::{Change, Recording, RecordingStore, check_read_at, check_write_at};
    use blosc_testdata::data::XorShift32 as Rng;

    use super::*;

    fn recorded(content: Vec<u8>) -> (Shared, Recording) {
        let store = RecordingStore::new(MemStore::new(content));
        let recording = store.recording();
        (Shared::new(Box::new(store)), recording)
    }

    fn all(store: &Shared) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(store.len().unwrap()).unwrap()];
        store.read_exact_at(0, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn what_is_pending_can_be_read() {
        let (store, recording) = recorded(b"0123456789".to_vec());
        store.append_at(10, b"abcdef").unwrap();
        store.append_at(16, b"ghi").unwrap();
        assert!(recording.take().is_empty());
        check_read_at(&store, b"0123456789abcdefghi").unwrap();
    }

    #[test]
    fn a_store_that_collects_is_a_store() {
        check_write_at(&mut Collecting::new(Box::new(MemStore::default()))).unwrap();
    }

    #[test]
    fn what_is_appended_is_written_before_anything_else() {
        let (store, recording) = recorded(vec![7; 4]);
        store.append_at(4, b"ab").unwrap();
        store.append_at(6, b"cd").unwrap();
        store.write_at(0, b"x").unwrap();
        let written: Vec<(u64, Vec<u8>)> = recording
            .take()
            .into_iter()
            .map(|change| match change {
                Change::Write { at, bytes } => (at, bytes),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(written, [(4, b"abcd".to_vec()), (0, b"x".to_vec())]);
    }

    #[test]
    fn what_is_cut_off_is_never_written() {
        let (store, recording) = recorded(vec![7; 4]);
        store.append_at(4, b"abcd").unwrap();
        store.set_len(5).unwrap();
        assert_eq!(all(&store), b"\x07\x07\x07\x07a");
        store.append_at(5, b"b").unwrap();
        store.set_len(2).unwrap();
        store.sync().unwrap();
        assert_eq!(all(&store), [7; 2]);
        let longest = recording.take().into_iter().filter_map(|change| match change {
            Change::Write { at, bytes } => Some(at + bytes.len() as u64),
            _ => None,
        });
        assert_eq!(longest.max(), Some(5));
    }

    #[test]
    fn appending_is_writing() {
        let mut rng = Rng::new(7);
        let (store, recording) = recorded(vec![]);
        let mut model: Vec<u8> = vec![];
        for _ in 0..400 {
            let longest = if rng.below(20) == 0 { 2 * MIN_UNCOLLECTED_NBYTES } else { 4000 };
            let len = usize::try_from(rng.below(longest as u64)).unwrap();
            let bytes = vec![rng.next_hi().to_le_bytes()[0]; len];
            store.append_at(model.len() as u64, &bytes).unwrap();
            model.extend(&bytes);
            let at = rng.below(model.len() as u64);
            let mut read = vec![0; usize::try_from(rng.below(10_000)).unwrap()];
            let n = store.read_at(at, &mut read).unwrap();
            let expected = &model[usize::try_from(at).unwrap()..][..n];
            assert_eq!(&read[..n], expected);
            assert!(n > 0 || read.is_empty());
        }
        assert_eq!(all(&store), model);
        assert!(recording.take().len() < 100);
    }

    /// Refuses writes while it is full.
    struct Full(MemStore, Arc<core::sync::atomic::AtomicBool>);

    impl ReadAt for Full {
        fn len(&self) -> io::Result<u64> {
            self.0.len()
        }

        fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
            self.0.read_at(at, buf)
        }
    }

    impl WriteAt for Full {
        fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
            if self.1.load(core::sync::atomic::Ordering::Relaxed) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.write_at(at, bytes)
        }

        fn set_len(&mut self, len: u64) -> io::Result<()> {
            self.0.set_len(len)
        }

        fn sync(&mut self, what: Sync) -> io::Result<()> {
            self.0.sync(what)
        }
    }

    #[test]
    fn nothing_is_lost_by_a_write_that_fails() {
        let is_full = Arc::new(core::sync::atomic::AtomicBool::new(true));
        let store = Shared::new(Box::new(Full(MemStore::default(), is_full.clone())));
        store.append_at(0, b"abc").unwrap();
        assert!(store.sync().is_err() && store.write_at(0, b"x").is_err());
        assert!(store.append_at(3, &[1; MIN_UNCOLLECTED_NBYTES]).is_err());
        assert_eq!(all(&store), b"abc");
        is_full.store(false, core::sync::atomic::Ordering::Relaxed);
        store.append_at(3, b"d").unwrap();
        store.sync().unwrap();
        let store = store.into_store();
        check_read_at(&store, b"abcd").unwrap();
    }
}
