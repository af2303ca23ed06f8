//! A store that loses power.

use std::io;

use blosc_io::{MemStore, ReadAt, Sync, WriteAt};

/// Takes a number of steps, and nothing more. A written byte is a step, and so are a change of
/// length and a wait for the disk.
pub(crate) struct CrashStore {
    store: MemStore,
    left: u64,
    taken: u64,
}

impl CrashStore {
    pub(crate) fn new(bytes: Vec<u8>, steps: u64) -> Self {
        Self { store: MemStore::new(bytes), left: steps, taken: 0 }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.store.into_bytes()
    }

    fn take(&mut self, wanted: u64) -> u64 {
        let taken = wanted.min(self.left);
        self.left -= taken;
        self.taken += taken;
        taken
    }
}

/// How many steps a whole change takes.
pub(crate) fn total_cost<T>(
    before: &[u8],
    change: impl Fn(&mut CrashStore) -> bloscpack::Result<T>,
) -> u64 {
    let mut store = CrashStore::new(before.to_vec(), u64::MAX);
    assert!(change(&mut store).is_ok());
    store.taken
}

impl ReadAt for CrashStore {
    fn len(&self) -> io::Result<u64> {
        self.store.len()
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.store.read_at(at, buf)
    }
}

impl WriteAt for CrashStore {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let taken = self.take(bytes.len() as u64);
        self.store.write_at(at, &bytes[..usize::try_from(taken).unwrap()])?;
        if taken == bytes.len() as u64 { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        if self.take(1) == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.store.set_len(len)
    }

    fn sync(&mut self, _: Sync) -> io::Result<()> {
        if self.take(1) == 1 { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    }
}
