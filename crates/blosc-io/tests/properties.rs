//! Stores behave like a vector of bytes, and trees like a map of names, for any order of calls.

use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Cursor, ErrorKind};
use std::thread;

use blosc_io::replace::{Carry, ReplaceOptions, Replacement};
use blosc_io::steps::{Fetch, FetchedFile, FetchedTree, Step as Fetched};
use blosc_io::tree::{DirTree, MemTree, Tree};
use blosc_io::{Durability, FileStore, MemStore, ReadAt, SeekStore, Sync, Windowed, WriteAt};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Write(usize, Vec<u8>),
    SetLen(usize),
    Read(usize, usize),
    Sync,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = prop::collection::vec(any::<u8>(), 0..40);
    let step = prop_oneof![
        4 => (0..200usize, bytes).prop_map(|(at, bytes)| Step::Write(at, bytes)),
        1 => (0..200usize).prop_map(Step::SetLen),
        4 => (0..260usize, 0..60usize).prop_map(|(at, len)| Step::Read(at, len)),
        1 => Just(Step::Sync),
    ];
    prop::collection::vec(step, 1..40)
}

/// Applies the steps to a store and to a vector.
fn expect_vector(store: &mut dyn WriteAt, steps: &[Step]) -> io::Result<()> {
    let mut model: Vec<u8> = Vec::new();
    for step in steps {
        match step {
            // Writing no bytes extends no store.
            Step::Write(at, bytes) => {
                store.write_at(*at as u64, bytes)?;
                if !bytes.is_empty() {
                    model.resize(model.len().max(*at + bytes.len()), 0);
                    model[*at..*at + bytes.len()].copy_from_slice(bytes);
                }
            }
            Step::SetLen(len) => {
                store.set_len(*len as u64)?;
                model.resize(*len, 0);
            }
            Step::Read(at, len) => {
                let expected = model.get(*at..*at + len);
                let mut buf = vec![0xEE; *len];
                let read = store.read_exact_at(*at as u64, &mut buf);
                match expected {
                    Some(bytes) => {
                        read?;
                        assert_eq!(buf, bytes, "{len} bytes at {at}");
                        let range = *at as u64..(*at + *len) as u64;
                        assert_eq!(store.read_ranges(&[range])?, [bytes.to_vec()]);
                    }
                    None if *len == 0 => {}
                    None => assert_eq!(read.unwrap_err().kind(), ErrorKind::UnexpectedEof),
                }
            }
            Step::Sync => store.sync(Sync::Data)?,
        }
        assert_eq!(store.len()?, model.len() as u64);
    }
    let mut all = vec![0; model.len()];
    store.read_exact_at(0, &mut all)?;
    assert_eq!(all, model);
    Ok(())
}

#[derive(Clone, Debug)]
enum Change {
    Write(usize, Vec<u8>),
    CreateNew(usize, Vec<u8>),
    Remove(usize),
    Rename(usize, usize),
}

/// Names in two directories, so that files move between them.
const NAMES: [&str; 5] = ["a", "d/a", "d/b", "e/a", "e/__c"];

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let name = || 0..NAMES.len();
    let bytes = || prop::collection::vec(any::<u8>(), 0..9);
    let change = prop_oneof![
        3 => (name(), bytes()).prop_map(|(name, bytes)| Change::Write(name, bytes)),
        2 => (name(), bytes()).prop_map(|(name, bytes)| Change::CreateNew(name, bytes)),
        1 => name().prop_map(Change::Remove),
        2 => (name(), name()).prop_map(|(from, to)| Change::Rename(from, to)),
    ];
    prop::collection::vec(change, 1..30)
}

/// Applies the changes to a tree and to a map.
fn expect_map(tree: &dyn Tree, changes: &[Change]) -> io::Result<()> {
    let mut model: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    ["d", "e"].iter().try_for_each(|dir| tree.create_dir(dir))?;
    for change in changes {
        match change {
            Change::Write(name, bytes) => {
                tree.write(NAMES[*name], bytes)?;
                model.insert(NAMES[*name], bytes.clone());
            }
            Change::CreateNew(name, bytes) if model.contains_key(NAMES[*name]) => {
                let error = tree.create_new(NAMES[*name], bytes).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::AlreadyExists);
            }
            Change::CreateNew(name, bytes) => {
                tree.create_new(NAMES[*name], bytes)?;
                model.insert(NAMES[*name], bytes.clone());
            }
            Change::Remove(name) => {
                tree.remove(NAMES[*name])?;
                model.remove(NAMES[*name]);
            }
            Change::Rename(from, to) => {
                let renamed = tree.rename(NAMES[*from], NAMES[*to]);
                match model.remove(NAMES[*from]) {
                    Some(bytes) => {
                        renamed?;
                        model.insert(NAMES[*to], bytes);
                    }
                    None => assert_eq!(renamed.unwrap_err().kind(), ErrorKind::NotFound),
                }
            }
        }
        for name in NAMES {
            match model.get(name) {
                Some(bytes) => {
                    let mut found = vec![0; usize::try_from(tree.len_of(name)?).unwrap()];
                    tree.open(name)?.read_exact_at(0, &mut found)?;
                    assert_eq!(&found, bytes, "{name}");
                }
                None => {
                    assert_eq!(tree.open(name).err().unwrap().kind(), ErrorKind::NotFound);
                }
            }
        }
        let listed: usize = ["d", "e"].map(|dir| tree.list(dir).unwrap().len()).iter().sum();
        assert_eq!(listed, model.keys().filter(|name| name.contains('/')).count());
    }
    tree.sync_all(&NAMES.map(str::to_owned))
}

/// A read of some bytes, and the ranges announced before it.
type Reading = ((usize, usize), Vec<(usize, usize)>);

/// Positions and lengths in a file of `len` bytes.
fn spans(len: usize) -> impl Strategy<Value = (usize, usize)> {
    (0..=len).prop_flat_map(move |at| (Just(at), 0..=(len - at)))
}

fn readings(len: usize) -> impl Strategy<Value = Vec<Reading>> {
    prop::collection::vec((spans(len), prop::collection::vec(spans(len), 0..4)), 1..8)
}

fn content(len: usize, salt: usize) -> Vec<u8> {
    (0..len).map(|at| u8::try_from((at * 7 + salt + at / 251) % 251).unwrap()).collect()
}

/// The bytes of the readings, one after the other.
fn read_all(store: &dyn ReadAt, readings: &[Reading]) -> io::Result<Vec<u8>> {
    let range = |(at, len): &(usize, usize)| *at as u64..(*at + *len) as u64;
    let mut all = vec![];
    for (span, announced) in readings {
        store.prefetch(&announced.iter().map(range).collect::<Vec<_>>());
        let mut bytes = vec![0; span.1];
        store.read_exact_at(span.0 as u64, &mut bytes)?;
        all.extend(bytes);
        let again = store.read_ranges(&[range(span)])?;
        assert!(all.ends_with(&again[0]));
    }
    Ok(all)
}

/// Gives a file the bytes that it requests; it may request each byte only once.
fn fetch(
    content: &[u8],
    fetch: &Fetch,
    known: &mut [bool],
    add: impl FnOnce(u64, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let range = fetch.range(content.len() as u64);
    let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
    for (at, is_known) in range.clone().zip(&mut known[range.clone()]) {
        assert!(!*is_known, "byte {at} is fetched twice");
        *is_known = true;
    }
    add(range.start as u64, &content[range])
}

/// Many threads read different parts at once, and each gets the store's content.
fn expect_readers(store: &dyn ReadAt, content: &[u8]) {
    thread::scope(|scope| {
        for reader in 0..4 {
            scope.spawn(move || {
                for round in 0..300 {
                    let at = (reader * 977 + round * 131) % content.len();
                    let len = (round * 17 + reader) % (content.len() - at + 1);
                    let mut found = vec![0; len];
                    store.read_exact_at(at as u64, &mut found).unwrap();
                    assert_eq!(found, content[at..at + len], "{len} bytes at {at}");
                    assert_eq!(store.len().unwrap(), content.len() as u64);
                }
            });
        }
    });
}

#[test]
fn readers_at_once_do_not_disturb_each_other() {
    let content = content(5000, 3);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    fs::write(&path, &content).unwrap();
    expect_readers(&FileStore::open(&path).unwrap(), &content);
    expect_readers(&MemStore::new(content.clone()), &content);
    // All threads share one cursor.
    expect_readers(&SeekStore::new(fs::File::open(&path).unwrap()), &content);
    let window = Windowed::new(FileStore::open(&path).unwrap(), 1000, 3000).unwrap();
    expect_readers(&window, &content[1000..4000]);
    expect_readers(&DirTree::new(dir.path()).open("f").unwrap(), &content);
}

#[test]
fn a_file_that_is_replaced_is_the_old_or_the_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    fs::write(&path, [0; 4000]).unwrap();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut last = 0;
                    while !is_done.load(Ordering::Relaxed) {
                        let mut found = [0; 4000];
                        FileStore::open(&path).unwrap().read_exact_at(0, &mut found).unwrap();
                        assert!(found.iter().all(|byte| *byte == found[0]), "of two files");
                        assert!(found[0] >= last, "{} after {last}", found[0]);
                        last = found[0];
                    }
                })
            })
            .collect();
        for version in 1..=100 {
            let options = ReplaceOptions {
                durability: Durability::ProcessDeath,
                ..ReplaceOptions::default()
            };
            let new = Replacement::file(&path, options).unwrap();
            fs::write(new.path(), [version; 4000]).unwrap();
            new.commit(Carry::Target).unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
    assert_eq!(fs::read(&path).unwrap(), [100; 4000]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn what_is_changed_under_a_lock_is_changed_by_one_at_a_time() {
    use blosc_io::{Lock, LockWait};
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("count");
    fs::write(&path, "0").unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let lock = Lock::exclusive(&path, &LockWait::default().timeout(None)).unwrap();
                    let count: u32 = fs::read_to_string(&path).unwrap().parse().unwrap();
                    thread::yield_now();
                    fs::write(&path, (count + 1).to_string()).unwrap();
                    drop(lock);
                }
            });
        }
    });
    assert_eq!(fs::read_to_string(&path).unwrap(), "100");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn stores_are_vectors(steps in steps()) {
        expect_vector(&mut MemStore::default(), &steps)?;
        expect_vector(&mut FileStore::from_file(tempfile::tempfile()?), &steps)?;
        // A store on a cursor cannot be cut.
        let growing: Vec<Step> =
            steps.into_iter().filter(|step| !matches!(step, Step::SetLen(_))).collect();
        expect_vector(&mut SeekStore::new(tempfile::tempfile()?), &growing)?;
    }

    #[test]
    fn a_window_is_a_slice(content: Vec<u8>, start in 0..300u64, len in 0..300u64) {
        let end = usize::try_from(start + len).unwrap();
        let slice = content.get(usize::try_from(start).unwrap()..end);
        let stores: [Box<dyn ReadAt>; 2] = [
            Box::new(MemStore::new(content.clone())),
            Box::new(SeekStore::new(Cursor::new(content.clone()))),
        ];
        for store in stores {
            match (Windowed::new(store, start, len), slice) {
                (Ok(window), Some(slice)) => {
                    let mut found = vec![0; slice.len()];
                    window.read_exact_at(0, &mut found)?;
                    prop_assert_eq!(&found, slice);
                    prop_assert_eq!(window.read_at(len, &mut [0; 8])?, 0);
                }
                (Ok(window), None) => prop_assert!(window.read_exact_at(0, &mut vec![0; end]).is_err()),
                (Err(_), slice) => prop_assert!(slice.is_none()),
            }
        }
    }

    #[test]
    fn trees_are_maps(changes in changes()) {
        let dir = tempfile::tempdir()?;
        expect_map(&DirTree::new(dir.path()), &changes)?;
        expect_map(&MemTree::new(), &changes)?;
    }

    #[test]
    fn what_is_fetched_step_by_step_is_the_file(
        readings in readings(200_000),
        is_len_known: bool,
    ) {
        let content = content(200_000, 1);
        let expected = read_all(&MemStore::new(content.clone()), &readings)?;
        let len = content.len() as u64;
        let file = match is_len_known {
            true => FetchedFile::with_len(len, 1 << 20),
            false => FetchedFile::new(1 << 20),
        };
        let mut known = vec![false; content.len()];
        let mut nsteps = 0;
        let found = loop {
            match file.step(|| read_all(&file, &readings))? {
                Fetched::Done(found) => break found,
                Fetched::Fetch(fetches) => for wanted in &fetches {
                    fetch(&content, wanted, &mut known, |at, bytes| file.add(at, bytes, len))?;
                },
            }
            nsteps += 1;
            // Each step makes one read succeed, and the first one may only tell the length.
            prop_assert!(nsteps <= readings.len() + 1);
        };
        prop_assert_eq!(found, expected);
        let nbytes = known.iter().filter(|is_known| **is_known).count();
        prop_assert_eq!(file.known_nbytes(), nbytes as u64);
    }

    #[test]
    fn files_of_a_tree_are_fetched_as_one(
        readings in prop::collection::vec((0..3_usize, readings(3000)), 1..6),
    ) {
        let names = ["a", "d/a", "d/b"];
        let contents = [content(3000, 1), content(3000, 2), content(3000, 3)];
        let tree = FetchedTree::new(names.map(|name| (name.to_owned(), 3000)), 1 << 20);
        let mut known = vec![vec![false; 3000]; 3];
        let work = || {
            let read = |(nfile, readings): &(usize, Vec<Reading>)| {
                read_all(&tree.open(names[*nfile])?, readings)
            };
            readings.iter().map(read).collect::<io::Result<Vec<_>>>()
        };
        let found = loop {
            match tree.step(work)? {
                Fetched::Done(found) => break found,
                Fetched::Fetch(fetches) => for (name, wanted) in &fetches {
                    let nfile = names.iter().position(|known| known == name).unwrap();
                    fetch(&contents[nfile], wanted, &mut known[nfile], |at, bytes| {
                        tree.add(name, at, bytes, 3000)
                    })?;
                },
            }
        };
        for ((nfile, readings), found) in readings.iter().zip(found) {
            let expected = read_all(&MemStore::new(contents[*nfile].clone()), readings)?;
            prop_assert_eq!(found, expected);
        }
    }
}
