//! A storage that fails at its Nth call, for every N, once or from there on: the file holds the old
//! state or the new one.

use core::sync::atomic::{AtomicU64, Ordering};
use std::io;

use blosc_io::{MemStore, ReadAt, Sync, WriteAt};
use bloscpack::{
    AppendOptions, BlpFile, Durability, Error, WriteOptions, append, error::Blame, pack,
    report::VerifyOptions, rewrite_metadata,
};
use serde_json::json;

/// Fails from call `at` on; all calls that change something are counted, or all that read.
struct FailingStore {
    store: MemStore,
    kind: io::ErrorKind,
    at: u64,
    /// Whether only one call fails.
    once: bool,
    /// Whether calls that read are the ones that fail.
    reads: bool,
    ncalls: AtomicU64,
}

impl FailingStore {
    fn call(&self, is_read: bool) -> io::Result<()> {
        if is_read != self.reads {
            return Ok(());
        }
        let ncall = self.ncalls.fetch_add(1, Ordering::Relaxed);
        let fails = ncall == self.at || !self.once && ncall > self.at;
        if fails { Err(self.kind.into()) } else { Ok(()) }
    }
}

impl ReadAt for FailingStore {
    fn len(&self) -> io::Result<u64> {
        self.store.len()
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.call(true)?;
        self.store.read_at(at, buf)
    }
}

impl WriteAt for FailingStore {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let failed = self.call(false);
        // A write that fails may have written a part.
        let written = if failed.is_err() { bytes.len() / 2 } else { bytes.len() };
        self.store.write_at(at, &bytes[..written])?;
        failed
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.call(false)?;
        self.store.set_len(len)
    }

    fn sync(&mut self, _: Sync) -> io::Result<()> {
        self.call(false)
    }
}

/// Data and metadata of a file that must be sound.
fn state(store: &MemStore) -> (Vec<u8>, serde_json::Value) {
    let file = BlpFile::new(store).unwrap();
    let report = file.verify(&VerifyOptions::default(), |_| {}).unwrap();
    assert!(report.is_ok(), "{:?}", report.bad);
    let mut data = vec![];
    io::Read::read_to_end(&mut file.reader(), &mut data).unwrap();
    (data, file.metadata().unwrap().json().unwrap().clone())
}

/// Lets a change fail at every call, and says how many cases there were.
fn fail_everywhere<T>(
    durabilities: &[Durability],
    change: impl Fn(&mut FailingStore, Durability) -> bloscpack::Result<T>,
) -> u64 {
    let options = WriteOptions::default().chunksize(100).metadata(Some(json!({ "n": 1 })));
    let before = pack(&[1; 250], options).unwrap();
    let mut ncases = 0;
    for durability in durabilities.iter().copied() {
        let run = |at, once, reads, kind| {
            let store = MemStore::new(before.clone());
            let mut store =
                FailingStore { store, kind, at, once, reads, ncalls: AtomicU64::new(0) };
            let result = change(&mut store, durability).map(drop);
            (store.store, store.ncalls.into_inner(), result)
        };
        let old = state(&MemStore::new(before.clone()));
        for reads in [false, true] {
            let (new, ncalls, result) = run(u64::MAX, true, reads, io::ErrorKind::Other);
            assert!(result.is_ok());
            let new = state(&new);
            assert_ne!(old, new);
            for (at, once) in (0..ncalls).flat_map(|at| [(at, true), (at, false)]) {
                for kind in [io::ErrorKind::StorageFull, io::ErrorKind::Other] {
                    ncases += 1;
                    let (mut store, _, result) = run(at, once, reads, kind);
                    let what = format!("{durability:?}, call {at}, once {once}, reads {reads}");
                    if let Err(error) = &result {
                        assert_eq!(error.blame(), Blame::Io, "{what}: {error}");
                        let full = kind == io::ErrorKind::StorageFull;
                        assert_eq!(error.to_string().starts_with("writing at"), full, "{what}");
                    }
                    // What is read at once, and after the next change has restored it.
                    let found = state(&store);
                    assert!(found == old || found == new, "{what}");
                    bloscpack::recover(&mut store).unwrap();
                    assert_eq!(state(&store), found, "{what}, restored");
                }
            }
        }
    }
    ncases
}

const DURABLE: [Durability; 2] = [Durability::PowerLoss, Durability::ProcessDeath];

#[test]
fn an_append_that_fails_at_any_call_leaves_the_old_or_the_new_state() {
    let ncases = fail_everywhere(&DURABLE, |store, durability| {
        let options = AppendOptions::default().durability(durability);
        append(store, &[2; 333][..], 333, &options.metadata(Some(json!({ "n": 2 }))))
    });
    assert!(ncases > 200, "{ncases}");
}

#[test]
fn metadata_that_fail_at_any_call_are_the_old_or_the_new_ones() {
    let ncases = fail_everywhere(&DURABLE, |store, durability| {
        rewrite_metadata(store, &json!({ "n": 3, "more": [1, 2, 3] }), durability)
    });
    assert!(ncases > 50, "{ncases}");
}

/// A file changed by a program that does not lock: seen before anything is written.
#[test]
fn a_change_by_another_program_is_an_error_and_nothing_is_written() {
    /// Appends to the file while the data to be appended are read, as Bloscpack 0.16.0 would.
    struct Meddling<'a>(&'a std::path::Path, bool);

    impl io::Read for Meddling<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            if !core::mem::replace(&mut self.1, true) {
                let mut bytes = std::fs::read(self.0)?;
                bytes[16] += 1; // nchunks
                std::fs::write(self.0, bytes)?;
            }
            buf.fill(7);
            Ok(buf.len())
        }
    }

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.blp");
    let before = pack(&[1; 250], WriteOptions::default().chunksize(100)).unwrap();
    for durability in [Durability::PowerLoss, Durability::None] {
        std::fs::write(&path, &before).unwrap();
        let mut store = blosc_io::FileStore::open_rw(&path).unwrap();
        let options = AppendOptions::default().durability(durability);
        let result = append(&mut store, Meddling(&path, false), 333, &options);
        assert!(matches!(result, Err(Error::ChangedByOther { at: 16 })), "{result:?}");
        let error = result.unwrap_err();
        assert_eq!(error.blame(), Blame::Busy);
        assert_eq!(error.to_string(), "at byte 16: another program changed the file meanwhile");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}
