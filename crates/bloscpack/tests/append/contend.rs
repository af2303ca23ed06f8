//! Several programs with one file: writers wait for each other, and readers see one state.

use core::sync::atomic::{AtomicBool, Ordering};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use blosc_io::{FileStore, Lock, LockWait, MemStore};
use bloscpack::{
    AppendOptions, BlpFile, Checksum, Durability, Error, LockedFile, ReadOptions, WriteOptions,
    append,
    error::{Blame, Param},
    pack,
    params::Reserve,
    report::VerifyOptions,
    rewrite_metadata,
};
use serde_json::json;

fn file_with(data: &[u8], options: WriteOptions) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.blp");
    fs::write(&path, pack(data, options.chunksize(100)).unwrap()).unwrap();
    (dir, path)
}

/// An append without waiting for the disk.
fn append_to(path: &Path, data: &[u8]) -> bloscpack::Result<bloscpack::AppendReport> {
    let mut file = LockedFile::open(path, &LockWait::default())?;
    let options = AppendOptions::default().durability(Durability::ProcessDeath);
    file.append(data, data.len() as u64, &options)
}

fn data_of(path: &Path) -> Vec<u8> {
    let file = BlpFile::open(path).unwrap();
    let report = file.verify(&VerifyOptions::default(), |_| {}).unwrap();
    assert!(report.is_ok(), "{:?}", report.bad);
    let mut data = vec![];
    file.copy_to(0..file.nchunks().unwrap(), &mut data).unwrap();
    data
}

/// Eight writers, each 12 times: no byte is lost, even when the table has to grow.
#[cfg(unix)]
#[test]
fn no_append_of_many_is_lost() {
    for reserve in [Reserve::Times(10), Reserve::Entries(0)] {
        let (_dir, path) = file_with(&[0; 50], WriteOptions::default().reserve(reserve));
        thread::scope(|scope| {
            for writer in 1..=8_u8 {
                let path = &path;
                scope.spawn(move || {
                    for n in 0..12 {
                        append_to(path, &vec![writer; 17 + n]).unwrap();
                    }
                });
            }
        });
        let data = data_of(&path);
        for writer in 1..=8 {
            let count = data.iter().filter(|byte| **byte == writer).count();
            assert_eq!(count, (0..12).map(|n| 17 + n).sum::<usize>(), "writer {writer}");
        }
    }
}

/// Readers that open during appends, and readers that had opened before: each gets the data of one
/// state, with digests and without.
#[cfg(unix)]
#[test]
fn readers_see_one_state_while_others_append() {
    for checksum in [Checksum::Crc32, Checksum::None] {
        let start: Vec<u8> = (0..250_u8).collect();
        let options = WriteOptions::default().checksum(checksum);
        let (_dir, path) = file_with(&start, options);
        let done = AtomicBool::new(false);
        let nreads = thread::scope(|scope| {
            let readers: Vec<_> = (0..2)
                .map(|_| {
                    let (path, done) = (&path, &done);
                    scope.spawn(move || {
                        let mut nreads = 0;
                        while !done.load(Ordering::Relaxed) || nreads < 5 {
                            let options = ReadOptions::default();
                            let file = BlpFile::open_with(path, options).unwrap();
                            let nbytes = file.nbytes().unwrap();
                            for _ in 0..3 {
                                let mut data = vec![];
                                file.copy_to(0..file.nchunks().unwrap(), &mut data).unwrap();
                                assert_eq!(data.len() as u64, nbytes);
                                assert!(
                                    data.iter()
                                        .enumerate()
                                        .all(|(n, b)| usize::from(*b) == n % 251)
                                );
                                let mut last = [0; 40];
                                file.read_at(nbytes - 40, &mut last).unwrap();
                                assert_eq!(last, data[data.len() - 40..]);
                                nreads += 1;
                            }
                            let report = file.verify(&VerifyOptions::default(), |_| {}).unwrap();
                            assert!(report.is_ok(), "{:?}", report.bad);
                        }
                        nreads
                    })
                })
                .collect();
            let mut len = 250;
            for n in 0..150 {
                let more: Vec<u8> =
                    (0..=250_u8).cycle().skip(len % 251).take(30 + n % 90).collect();
                append_to(&path, &more).unwrap();
                len += more.len();
            }
            done.store(true, Ordering::Relaxed);
            readers.into_iter().map(|reader| reader.join().unwrap()).sum::<u64>()
        });
        assert!(nreads >= 10, "{nreads}");
    }
}

#[cfg(unix)]
#[test]
fn who_waits_too_long_learns_who_has_the_file() {
    let (_dir, path) = file_with(&[1; 250], WriteOptions::default());
    let _other = Lock::shared(&path, &LockWait::never()).unwrap();
    let error = LockedFile::open(&path, &LockWait::never()).unwrap_err();
    assert_eq!(error.blame(), Blame::Busy);
    let Error::Locked { path: locked, .. } = &error else { panic!("{error}") };
    assert_eq!(*locked, path);
    assert!(error.to_string().starts_with("locked by "), "{error}");
    // Reading needs no lock.
    assert_eq!(data_of(&path).len(), 250);
}

/// A store without room gives an error that says so; a file makes room by itself.
#[test]
fn a_file_without_room_grows() {
    let options = WriteOptions::default().reserve(Reserve::Entries(2)).metadata(Some(json!("m")));
    let (dir, path) = file_with(&[1; 250], options.clone());
    let mut store = MemStore::new(fs::read(&path).unwrap());
    let result = append(&mut store, &[2; 500][..], 500, &AppendOptions::default());
    let error = result.unwrap_err();
    assert!(
        matches!(error, Error::Param(Param::NotEnoughSpace { needed: 5, available: 2 })),
        "{error}"
    );
    let report = append_to(&path, &[2; 500]).unwrap();
    assert_eq!((report.added, report.header.nchunks()), (5, Some(8)));
    assert_eq!(report.header.max_app_chunks(), 45);
    assert_eq!(data_of(&path), [&[1; 250][..], &[2; 500]].concat());
    let file = BlpFile::open(&path).unwrap();
    assert_eq!(file.metadata().unwrap().json(), Some(&json!("m")));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    // Many small appends to a file that never had room.
    let (_dir, path) = file_with(&[], WriteOptions::default().reserve(Reserve::Entries(0)));
    for n in (0..=u8::MAX).cycle().take(300) {
        append_to(&path, &[n; 90]).unwrap();
    }
    assert_eq!(data_of(&path).len(), 300 * 90);
}

/// The new table is made in a temporary file, which a killed program leaves.
#[cfg(unix)]
#[test]
fn what_a_killed_program_left_is_removed() {
    let (dir, path) = file_with(&[1; 250], WriteOptions::default());
    // No process has these numbers.
    let pids = [0_u32, 1, 2].map(|n| u32::MAX - n);
    let [empty, half, foreign] = pids.map(|pid| format!("f.blp.{pid}.tmp"));
    let other = format!("g.blp.{}.tmp", u32::MAX);
    let names = [&*empty, &*half, "f.blp.x.tmp", &*other, &*foreign];
    let contents: [&[u8]; 5] = [b"", b"blpk\x03\x01", b"blpk", b"blpk", b"of others"];
    for (name, content) in names.iter().zip(contents) {
        fs::write(dir.path().join(name), content).unwrap();
    }
    append_to(&path, b"x").unwrap();
    let left: Vec<bool> = names.iter().map(|name| dir.path().join(name).exists()).collect();
    assert_eq!(left, [false, false, true, true, true]);
}

/// A reader of the replaced file keeps reading that file.
#[test]
fn an_open_file_stays_readable_when_it_is_replaced() {
    let (_dir, path) = file_with(&[1; 250], WriteOptions::default().reserve(Reserve::Entries(0)));
    let file = BlpFile::open(&path).unwrap();
    append_to(&path, &[2; 400]).unwrap();
    let mut data = vec![];
    file.copy_to(0..3, &mut data).unwrap();
    assert_eq!(data, [1; 250]);
    assert_eq!(data_of(&path).len(), 650);
}

#[test]
fn a_locked_file_is_a_store() {
    let options = WriteOptions::default().metadata(Some(json!({ "n": 1 })));
    let (_dir, path) = file_with(&[1; 250], options);
    let mut file = LockedFile::open(&path, &LockWait::default()).unwrap();
    rewrite_metadata(&mut file, &json!({ "n": 2 }), Durability::None).unwrap();
    assert_eq!(BlpFile::new(&file).unwrap().metadata().unwrap().json(), Some(&json!({ "n": 2 })));
    assert!(!file.is_replaced());
    let plain = BlpFile::new(FileStore::open(&path).unwrap()).unwrap();
    assert_eq!(plain.nbytes().unwrap(), 250);
}
