//! A store of bytes that another owner holds.

use std::io;

use crate::mem::copy_from;
use crate::{MemStore, ReadAt, Stamp, Sync, WriteAt};

/// Bytes of any owner, read in place: an `Arc<[u8]>`, a mapped region, memory of another language.
/// The first change copies them, so the owner never sees one.
///
/// ```
/// use std::sync::Arc;
/// use blosc_io::{BytesStore, ReadAt, WriteAt};
///
/// let bytes: Arc<[u8]> = Arc::from(&b"shared"[..]);
/// let mut store = BytesStore::new(Arc::clone(&bytes));
/// store.write_at(0, b"S")?;
/// assert_eq!(store.in_memory(), Some(&b"Shared"[..]));
/// assert_eq!(&*bytes, b"shared");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BytesStore<B> {
    /// `None` after the first change.
    theirs: Option<B>,
    ours: MemStore,
}

impl<B: AsRef<[u8]>> BytesStore<B> {
    /// A store of these bytes.
    #[must_use]
    pub fn new(bytes: B) -> Self {
        Self { theirs: Some(bytes), ours: MemStore::default() }
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.theirs.as_ref().map_or(self.ours.as_bytes(), AsRef::as_ref)
    }

    /// Whether the bytes are still the owner's.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.theirs.is_some()
    }

    /// A copy that may be changed.
    fn own(&mut self) -> &mut MemStore {
        if let Some(bytes) = self.theirs.take() {
            self.ours = MemStore::new(bytes.as_ref().to_vec());
        }
        &mut self.ours
    }
}

impl<B: AsRef<[u8]> + Send + core::marker::Sync> ReadAt for BytesStore<B> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.as_bytes().len() as u64)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        Ok(copy_from(self.as_bytes(), at, buf))
    }

    fn in_memory(&self) -> Option<&[u8]> {
        Some(self.as_bytes())
    }

    fn stamp(&self) -> Option<Stamp> {
        Some(Stamp::new(self.as_bytes().len() as u64, None))
    }
}

impl<B: AsRef<[u8]> + Send + core::marker::Sync> WriteAt for BytesStore<B> {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.own().write_at(at, bytes)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.own().set_len(len)
    }

    fn sync(&mut self, _: Sync) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_store_like_others() {
        let content: Vec<u8> = (0..200).collect();
        crate::testing::check_read_at(&BytesStore::new(&content), &content).unwrap();
        crate::testing::check_write_at(&mut BytesStore::new(Vec::new())).unwrap();
    }

    #[test]
    fn bytes_are_copied_when_they_are_changed_first() {
        let bytes = vec![1, 2, 3];
        let mut store = BytesStore::new(bytes.as_slice());
        assert_eq!(store.in_memory().map(<[u8]>::as_ptr), Some(bytes.as_ptr()));
        assert!(store.is_unchanged());
        store.set_len(2).unwrap();
        store.write_at(4, &[9]).unwrap();
        assert_eq!((store.as_bytes(), store.is_unchanged()), (&[1, 2, 0, 0, 9][..], false));
        assert_eq!(bytes, [1, 2, 3]);
        let mut buf = [0; 4];
        assert_eq!(store.read_at(3, &mut buf).unwrap(), 2);
        assert_eq!(store.read_at(5, &mut buf).unwrap(), 0);
    }
}
