//! A store that the reading half and the writing half of an editor have in common.

use std::io;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use blosc_io::{ReadAt, Stamp, Sync, WriteAt};

/// A writable store behind a lock. Readers wait only while a write is under way.
#[derive(Clone)]
pub(super) struct Shared(Arc<RwLock<Box<dyn WriteAt>>>);

impl Shared {
    pub(super) fn new(store: Box<dyn WriteAt>) -> Self {
        Self(Arc::new(RwLock::new(store)))
    }

    /// Puts another store in place of this one.
    pub(super) fn replace(&self, store: Box<dyn WriteAt>) {
        *self.write() = store;
    }

    /// The store, without the lock if nobody else holds it.
    pub(super) fn into_store(self) -> Arc<dyn ReadAt> {
        match Arc::try_unwrap(self.0) {
            Ok(lock) => Arc::new(lock.into_inner().unwrap_or_else(PoisonError::into_inner)),
            Err(shared) => Arc::new(Self(shared)),
        }
    }

    pub(super) fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.write().write_at(at, bytes)
    }

    pub(super) fn set_len(&self, len: u64) -> io::Result<()> {
        self.write().set_len(len)
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.write().sync(Sync::Data)
    }

    // Bytes in a store are never half changed by a panic that they could not be by an error.
    fn read(&self) -> RwLockReadGuard<'_, Box<dyn WriteAt>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Box<dyn WriteAt>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
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
