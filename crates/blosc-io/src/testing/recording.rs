//! A store that records its changes, so that a test can stop anywhere.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{ReadAt, Stamp, Sync, WriteAt};

/// A change of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Bytes written at a position.
    Write {
        /// Position (bytes).
        at: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Cut or extended to this number of bytes.
    SetLen(u64),
    /// Everything before this was made durable.
    Sync,
}

impl Change {
    /// Applies the change to another store.
    ///
    /// # Errors
    /// The errors of that store.
    pub fn apply(&self, store: &mut dyn WriteAt) -> io::Result<()> {
        match self {
            Self::Write { at, bytes } => store.write_at(*at, bytes),
            Self::SetLen(len) => store.set_len(*len),
            Self::Sync => Ok(()),
        }
    }
}

/// The changes of a [`RecordingStore`]; the same for all clones.
#[derive(Clone, Debug, Default)]
pub struct Recording(Arc<Mutex<Vec<Change>>>);

impl Recording {
    /// Takes the changes recorded so far.
    #[must_use]
    pub fn take(&self) -> Vec<Change> {
        core::mem::take(&mut *self.changes())
    }

    fn changes(&self) -> MutexGuard<'_, Vec<Change>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes all calls to another store and records all changes.
///
/// ```
/// use blosc_io::testing::{Change, RecordingStore};
/// use blosc_io::{MemStore, WriteAt};
///
/// let mut store = RecordingStore::new(MemStore::default());
/// let recording = store.recording();
/// store.write_at(0, b"ab")?;
/// store.set_len(1)?;
/// assert_eq!(recording.take(),
///     [Change::Write { at: 0, bytes: b"ab".to_vec() }, Change::SetLen(1)]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct RecordingStore<S> {
    inner: S,
    recording: Recording,
}

impl<S: WriteAt> RecordingStore<S> {
    /// Records the changes of `inner` from now on.
    pub fn new(inner: S) -> Self {
        Self { inner, recording: Recording::default() }
    }

    /// The record, usable after the store has been given away.
    pub fn recording(&self) -> Recording {
        self.recording.clone()
    }
}

impl<S: ReadAt> ReadAt for RecordingStore<S> {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.inner.read_at(at, buf)
    }

    fn stamp(&self) -> Option<Stamp> {
        self.inner.stamp()
    }
}

impl<S: WriteAt> WriteAt for RecordingStore<S> {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.inner.write_at(at, bytes)?;
        self.recording.changes().push(Change::Write { at, bytes: bytes.to_vec() });
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)?;
        self.recording.changes().push(Change::SetLen(len));
        Ok(())
    }

    fn sync(&mut self, what: Sync) -> io::Result<()> {
        self.inner.sync(what)?;
        self.recording.changes().push(Change::Sync);
        Ok(())
    }
}
