//! The conformance suite: the duties of every store, checked through the traits alone.
//!
//! Each function returns the first broken promise as text, so that any test framework can use it.
//! Enable the feature `testing` in your dev-dependencies.
//!
//! ```
//! use blosc_io::{MemStore, testing};
//!
//! let content: Vec<u8> = (0..100).collect();
//! testing::check_read_at(&MemStore::new(content.clone()), &content)?;
//! testing::check_write_at(&mut MemStore::default())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod counting;
mod failing;
mod recording;
mod recording_tree;

use core::fmt::Debug;
use std::io;

use crate::{ReadAt, Sync, WriteAt};

pub use counting::CountingStore;
pub use failing::{FailingStore, FailingTree, Fault, Plan};
pub use recording::{Change, Recording, RecordingStore};
pub use recording_tree::{RecordingTree, Step, check_tree};

/// Checks a store that holds exactly `content` (give it some hundred bytes).
///
/// # Errors
/// The first difference, or the store's error.
pub fn check_read_at(store: &dyn ReadAt, content: &[u8]) -> io::Result<()> {
    let len = content.len() as u64;
    expect_equal("len", store.len()?, len)?;
    expect_equal("is_empty", store.is_empty()?, content.is_empty())?;
    if let Some(bytes) = store.in_memory() {
        expect_equal("in_memory", bytes, content)?;
    }
    check_positions(store, content)?;
    check_ends(store, len)?;
    check_ranges(store, content)?;
    check_threads(store, content)
}

/// Checks an empty store that can be written and cut.
///
/// # Errors
/// The first difference, or the store's error.
pub fn check_write_at(store: &mut dyn WriteAt) -> io::Result<()> {
    expect_equal("len of a new store", store.len()?, 0)?;
    store.write_at(4, b"efgh")?;
    expect_equal("a gap reads as zeros", read_all(store)?.as_slice(), b"\0\0\0\0efgh")?;
    store.write_at(0, b"abcd")?;
    store.write_at(6, b"GHij")?;
    expect_equal("overwriting and extending", read_all(store)?.as_slice(), b"abcdefGHij")?;
    store.write_at(3, b"")?;
    store.write_at(30, b"")?;
    expect_equal("writing nothing", store.len()?, 10)?;
    store.set_len(2)?;
    expect_equal("cutting", read_all(store)?.as_slice(), b"ab")?;
    store.set_len(4)?;
    expect_equal("extending", read_all(store)?.as_slice(), b"ab\0\0")?;
    store.sync(Sync::Data)?;
    store.sync(Sync::All)?;
    let content: Vec<u8> = (0..=255).cycle().take(1000).collect();
    store.write_at(0, &content)?;
    check_read_at(&store, &content)
}

/// Reads of several lengths at every position.
fn check_positions(store: &dyn ReadAt, content: &[u8]) -> io::Result<()> {
    for start in 0..content.len() {
        for len in [1, 3, 64] {
            let Some(expected) = content.get(start..start.saturating_add(len)) else { continue };
            let mut buf = vec![0xAA; len];
            store.read_exact_at(start as u64, &mut buf)?;
            expect_equal("read_exact_at", buf.as_slice(), expected)?;
        }
    }
    Ok(())
}

/// Reads at and after the end.
fn check_ends(store: &dyn ReadAt, len: u64) -> io::Result<()> {
    let mut buf = [0xAA; 8];
    expect_equal("an empty read", store.read_at(0, &mut [])?, 0)?;
    for at in [len, len.saturating_add(1), 1 << 62, u64::MAX] {
        expect_equal("a read after the end", store.read_at(at, &mut buf)?, 0)?;
    }
    expect_equal("nothing is written to the buffer then", buf, [0xAA; 8])?;
    let past = store.read_exact_at(len.saturating_sub(1), &mut [0; 2]).err();
    expect_equal(
        "a read across the end",
        past.map(|e| e.kind()),
        Some(io::ErrorKind::UnexpectedEof),
    )
}

/// Several ranges in one call, in any order, overlapping or empty.
fn check_ranges(store: &dyn ReadAt, content: &[u8]) -> io::Result<()> {
    let len = content.len();
    let ranges = [len / 2..len, 0..len / 3, 0..len, len..len];
    let wanted: Vec<_> = ranges.iter().map(|r| r.start as u64..r.end as u64).collect();
    let found = store.read_ranges(&wanted)?;
    expect_equal("number of ranges", found.len(), ranges.len())?;
    for (range, bytes) in ranges.into_iter().zip(found) {
        expect_equal("read_ranges", bytes.as_slice(), content.get(range).unwrap_or_default())?;
    }
    let past = store.read_ranges(core::slice::from_ref(&(0..len as u64 + 1))).err();
    expect_equal(
        "a range across the end",
        past.map(|e| e.kind()),
        Some(io::ErrorKind::UnexpectedEof),
    )
}

/// Four threads that read different parts at once.
fn check_threads(store: &dyn ReadAt, content: &[u8]) -> io::Result<()> {
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| check_positions(store, content))).collect();
        threads.into_iter().try_for_each(|t| {
            t.join().map_err(|_| io::Error::other("a reading thread panicked"))?
        })
    })
}

/// The whole content.
fn read_all(store: &dyn WriteAt) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(store.len()?).unwrap_or(0)];
    store.read_exact_at(0, &mut bytes)?;
    Ok(bytes)
}

/// An error that names the promise, unless both are equal.
fn expect_equal<T: PartialEq + Debug>(what: &str, found: T, expected: T) -> io::Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(io::Error::other(format!("{what}: found {found:?}, expected {expected:?}")))
}

#[cfg(test)]
mod tests {
    //! Every store of this crate passes the suite, and the suite notices faulty stores.

    use std::io::Cursor;
    use std::sync::Arc;

    use super::*;
    use crate::{FileStore, MemStore, SeekStore, Windowed};

    fn content() -> Vec<u8> {
        (0u32..500).map(|i| (i * 7 % 251) as u8).collect()
    }

    #[test]
    fn mem_store() {
        check_read_at(&MemStore::new(content()), &content()).unwrap();
        check_read_at(&Arc::new(MemStore::new(content())), &content()).unwrap();
        check_write_at(&mut MemStore::default()).unwrap();
        check_write_at(&mut Box::new(MemStore::default())).unwrap();
    }

    #[test]
    fn file_store() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("r"), content()).unwrap();
        check_read_at(&FileStore::open(dir.path().join("r")).unwrap(), &content()).unwrap();
        check_write_at(&mut FileStore::create(dir.path().join("w")).unwrap()).unwrap();
    }

    #[test]
    fn seek_store() {
        check_read_at(&SeekStore::new(Cursor::new(content())), &content()).unwrap();
    }

    #[test]
    fn windowed() {
        let mut padded = vec![0xEE; 7];
        padded.extend(content());
        padded.extend([0xEE; 9]);
        let window = Windowed::new(MemStore::new(padded), 7, content().len() as u64).unwrap();
        check_read_at(&window, &content()).unwrap();
    }

    #[test]
    fn recording_store() {
        check_read_at(&RecordingStore::new(MemStore::new(content())), &content()).unwrap();
        let mut store = RecordingStore::new(MemStore::default());
        let recording = store.recording();
        check_write_at(&mut store).unwrap();
        let mut replayed = MemStore::default();
        recording.take().iter().for_each(|change| change.apply(&mut replayed).unwrap());
        check_read_at(&replayed, &read_all(&store).unwrap()).unwrap();
    }

    #[test]
    fn counting_store() {
        check_read_at(&CountingStore::new(MemStore::new(content())), &content()).unwrap();
        check_write_at(&mut CountingStore::new(MemStore::default())).unwrap();
    }

    /// A store that ignores the position of a read.
    struct Broken(MemStore);

    impl ReadAt for Broken {
        fn len(&self) -> io::Result<u64> {
            self.0.len()
        }

        fn read_at(&self, _: u64, buf: &mut [u8]) -> io::Result<usize> {
            self.0.read_at(0, buf)
        }
    }

    #[test]
    fn a_broken_store_is_noticed() {
        let err = check_read_at(&Broken(MemStore::new(content())), &content()).unwrap_err();
        assert!(err.to_string().starts_with("read_exact_at: found [0]"), "{err}");
    }
}
