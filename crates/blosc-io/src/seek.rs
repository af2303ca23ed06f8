//! A store on a reader with a cursor.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{ReadAt, Sync, WriteAt};

/// A `Read + Seek` as a store: each call takes the lock, moves the cursor and reads.
///
/// For files, [`FileStore`](crate::FileStore) needs no lock.
#[derive(Debug)]
pub struct SeekStore<R> {
    inner: Mutex<R>,
}

impl<R> SeekStore<R> {
    /// A store on `inner`. Position 0 is its beginning, wherever its cursor is.
    pub fn new(inner: R) -> Self {
        Self { inner: Mutex::new(inner) }
    }

    /// The reader; its cursor may be anywhere.
    pub fn into_inner(self) -> R {
        self.inner.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// A cursor has no invariant that a panic elsewhere could break: every call seeks first.
    fn lock(&self) -> MutexGuard<'_, R> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Read + Seek + Send> ReadAt for SeekStore<R> {
    fn len(&self) -> io::Result<u64> {
        self.lock().seek(SeekFrom::End(0))
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        // Positions from 2^63 on are after every end, and some readers refuse to seek there.
        if i64::try_from(at).is_err() {
            return Ok(0);
        }
        let mut inner = self.lock();
        inner.seek(SeekFrom::Start(at))?;
        inner.read(buf)
    }
}

impl<R: Read + Write + Seek + Send> WriteAt for SeekStore<R> {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        // A cursor would extend its vector to the position.
        if bytes.is_empty() {
            return Ok(());
        }
        let mut inner = self.lock();
        inner.seek(SeekFrom::Start(at))?;
        inner.write_all(bytes)
    }

    /// Extends with zeros; a cursor cannot cut, so a shorter length is
    /// [`io::ErrorKind::Unsupported`].
    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let old = self.len()?;
        if len < old {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut inner = self.lock();
        inner.seek(SeekFrom::End(0))?;
        io::copy(&mut io::repeat(0).take(len.saturating_sub(old)), &mut *inner)?;
        Ok(())
    }

    /// Flushes; a cursor has no stronger operation.
    fn sync(&mut self, _: Sync) -> io::Result<()> {
        self.lock().flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn it_cannot_be_cut() {
        let mut store = SeekStore::new(Cursor::new(b"abc".to_vec()));
        assert_eq!(store.set_len(2).unwrap_err().kind(), io::ErrorKind::Unsupported);
        store.set_len(5).unwrap();
        store.sync(Sync::Data).unwrap();
        assert_eq!(store.into_inner().into_inner(), b"abc\0\0");
    }
}
