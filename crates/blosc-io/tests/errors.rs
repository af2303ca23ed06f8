//! Failing reads and writes, and names that lead outside.

use core::ops::Range;
use std::io::ErrorKind;

use blosc_io::tree::{DirTree, MemTree, Tree};
use blosc_io::{FileStore, Lock, LockWait, MemStore, ReadAt, Windowed, WriteAt};

fn kind<T>(result: std::io::Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

#[test]
fn a_missing_file_is_not_found() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(kind(FileStore::open(dir.path().join("none"))), Some(ErrorKind::NotFound));
    assert_eq!(kind(DirTree::new(dir.path()).open("none")), Some(ErrorKind::NotFound));
    assert_eq!(kind(DirTree::new(dir.path().join("none")).list("")), Some(ErrorKind::NotFound));
    assert_eq!(kind(MemTree::new().open("none")), Some(ErrorKind::NotFound));
}

#[test]
fn positions_at_the_end_of_the_numbers_are_errors() {
    let mut store = MemStore::new(vec![1; 8]);
    assert_eq!(kind(store.read_exact_at(u64::MAX, &mut [0])), Some(ErrorKind::UnexpectedEof));
    let [backward, endless] = [Range { start: 9, end: 8 }, Range { start: 0, end: u64::MAX }];
    assert_eq!(kind(store.read_ranges(&[backward, 0..1])), Some(ErrorKind::InvalidInput));
    assert_eq!(kind(store.read_ranges(&[0..1, endless])), Some(ErrorKind::UnexpectedEof));
    assert!(store.write_at(u64::MAX, b"x").is_err());
    assert!(Windowed::new(&store, u64::MAX, 2).and_then(|w| w.read_exact_at(0, &mut [0])).is_err());
    assert_eq!(store.len().unwrap(), 8);
}

#[test]
fn a_file_that_was_opened_to_be_read_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::write(&path, b"as it was").unwrap();
    let mut store = FileStore::open(&path).unwrap();
    assert!(store.write_at(0, b"x").is_err());
    assert!(store.set_len(0).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"as it was");
}

#[cfg(unix)]
#[test]
fn names_and_links_that_lead_outside_are_refused() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), b"secret").unwrap();
    let root = outside.path().join("root");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("inside"), b"inside").unwrap();
    std::os::unix::fs::symlink("../secret", root.join("out")).unwrap();
    std::os::unix::fs::symlink("inside", root.join("in")).unwrap();
    let tree = DirTree::new(&root);
    for name in ["../secret", "./inside", "out", "a\\b", "in\0side"] {
        assert_eq!(kind(tree.open(name)), Some(ErrorKind::InvalidInput), "{name:?}");
    }
    assert_eq!(tree.len_of("in").unwrap(), 6);
    let tree = tree.follow_links(false);
    assert_eq!(kind(tree.open("in")), Some(ErrorKind::InvalidInput));
    assert_eq!(tree.len_of("inside").unwrap(), 6);
}

#[cfg(unix)]
#[test]
fn a_lock_that_is_held_is_reported_after_the_wait() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::write(&path, b"").unwrap();
    let held = Lock::exclusive(&path, &LockWait::never()).unwrap();
    assert!(held.is_held());
    for lock in [Lock::shared, Lock::exclusive] {
        assert!(lock(&path, &LockWait::never()).is_err());
    }
    drop(held);
    let shared = Lock::shared(&path, &LockWait::never()).unwrap();
    assert!(Lock::shared(&path, &LockWait::never()).is_ok());
    assert!(Lock::exclusive(&path, &LockWait::never()).is_err());
    drop(shared);
    assert!(Lock::exclusive(&path, &LockWait::never()).is_ok());
}

#[cfg(not(unix))]
#[test]
fn a_system_without_locks_lets_everybody_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::write(&path, b"x").unwrap();
    let locks = [Lock::exclusive, Lock::shared].map(|lock| lock(&path, &LockWait::never()));
    assert!(locks.iter().all(|lock| !lock.as_ref().unwrap().is_held()));
    assert_eq!(std::fs::read(&path).unwrap(), b"x");
}
