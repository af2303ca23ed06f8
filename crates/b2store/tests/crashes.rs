//! A directory changes value by value; a failure leaves no files beside a store. `blosc-trials`
//! proves for every operation that all changes are made or none (cases 37 and 48 of the
//! specification).

use std::io;
use std::sync::Arc;

use b2frame::{FrameParams, to_cframe};
use b2store::{Error, Store, StoreWriter, Value, WriteOptions};
use blosc_io::testing::{FailingTree, RecordingTree, Step};
use blosc_io::tree::{MemTree, Tree};

fn frame(bytes: &[u8]) -> Vec<u8> {
    to_cframe(bytes, &FrameParams::default()).unwrap()
}

/// The values of a store by their keys.
fn content(store: &Store) -> Vec<(String, Vec<u8>)> {
    let value = |key: &str| {
        let frame = store.frame(key).unwrap();
        let mut bytes = vec![0; usize::try_from(frame.nbytes()).unwrap()];
        frame.read_bytes(0, &mut bytes).unwrap();
        (key.to_owned(), bytes)
    };
    store.keys().map(value).collect()
}

fn open(tree: &MemTree, name: &str) -> Option<Store> {
    let entry = tree.list("").unwrap().into_iter().find(|entry| entry.name == name)?;
    assert_eq!(entry.is_dir, name.ends_with(".b2d"));
    let store = StoreWriter::open_in(Arc::new(tree.clone()), name, &WriteOptions::default());
    Some(store.unwrap().commit().unwrap())
}

fn first(tree: Arc<dyn Tree>, name: &str) -> Store {
    let mut writer = StoreWriter::create_in(tree, name, &WriteOptions::default()).unwrap();
    writer.insert_cframe("/a", frame(b"a")).unwrap();
    writer.insert_cframe("/gone", frame(b"gone")).unwrap();
    writer.insert_cframe("/other", frame(b"a frame")).unwrap();
    writer.commit().unwrap()
}

fn second(tree: Arc<dyn Tree>, name: &str) -> Store {
    let mut writer = StoreWriter::open_in(tree, name, &WriteOptions::default()).unwrap();
    writer.insert_cframe("/a", frame(b"another a")).unwrap();
    writer.insert_cframe("/n", frame(&[3; 9999])).unwrap();
    let params = FrameParams::default().metalayer("batcharray", *b"\x81\xa7version\x01");
    writer.insert_cframe("/other", to_cframe(b"of batches", &params).unwrap()).unwrap();
    writer.remove("/gone").unwrap();
    writer.register("/odd", Value::Map(vec![])).unwrap();
    writer.commit().unwrap()
}

#[test]
fn every_value_of_a_directory_is_the_old_or_the_new_one() {
    let name = "x.b2d";
    let tree = Arc::new(RecordingTree::new(MemTree::new()));
    let old = content(&first(tree.clone(), name));
    let before = tree.take();
    let new = content(&second(tree.clone(), name));
    let steps = tree.take();
    let replayed = MemTree::new();
    before.iter().for_each(|step| step.apply(&replayed).unwrap());
    let mut states = Vec::new();
    for step in &steps {
        step.apply(&replayed).unwrap();
        let found = content(&open(&replayed, name).unwrap());
        for (key, value) in &found {
            let pair = (key.clone(), value.clone());
            assert!(old.contains(&pair) || new.contains(&pair), "{key}");
        }
        // Keys of both states are never missing.
        for key in ["/a", "/other"] {
            assert!(found.iter().any(|(found, _)| found == key), "{key} after {step:?}");
        }
        states.push(found);
    }
    assert_eq!(states.first(), Some(&old));
    assert_eq!(states.last(), Some(&new));
    // The suffix of `/other` has changed.
    assert!(replayed.open("x.b2d/other.b2b").is_ok() && replayed.open("x.b2d/other.b2f").is_err());
    assert_eq!(replayed.list("").unwrap().len(), 1);
}

/// Otherwise a loss of power could leave both files of one value.
#[test]
fn another_suffix_is_on_the_medium_before_the_new_value() {
    let tree = Arc::new(RecordingTree::new(MemTree::new()));
    first(tree.clone(), "x.b2d");
    drop(tree.take());
    second(tree.clone(), "x.b2d");
    let steps = tree.take();
    let renames: Vec<usize> = (0..steps.len())
        .filter(|n| matches!(&steps[*n], Step::Rename(_, to) if to == "x.b2d/other.b2b"))
        .collect();
    let [renamed, replaced] = renames[..] else { panic!("{renames:?}") };
    assert!(matches!(&steps[renamed], Step::Rename(from, _) if from == "x.b2d/other.b2f"));
    let between = &steps[renamed..replaced];
    assert!(between.contains(&Step::SyncNames("x.b2d".to_owned())), "{between:?}");
}

/// The error is passed on, and no files remain beside the store or at its path.
#[test]
fn a_storage_that_fails_has_nothing_beside_the_store() {
    let add = |writer: Result<StoreWriter, Error>| -> Result<Store, Error> {
        let mut writer = writer?;
        writer.insert_cframe("/n/m", frame(b"new"))?;
        writer.commit()
    };
    for (name, is_there) in
        ["x.b2z", "x.b2e", "x.b2d"].map(|name| [(name, false), (name, true)]).concat()
    {
        for limit in 0.. {
            let tree = Arc::new(FailingTree::new(MemTree::new()));
            let shared: Arc<dyn Tree> = tree.clone();
            if is_there {
                first(shared.clone(), name);
            }
            tree.plan().fail_at(limit, io::ErrorKind::StorageFull);
            let options = WriteOptions::default();
            let done = match is_there {
                true => add(StoreWriter::open_in(shared, name, &options)),
                false => add(StoreWriter::create_in(shared, name, &options)),
            };
            if tree.plan().is_pending() {
                assert!(done.is_ok() && limit > 2, "{name}, {limit}");
                break;
            }
            let Err(error) = done else { continue };
            assert!(matches!(error, Error::Write { .. }), "{error}");
            // A new store exists if only the sync of its name has failed.
            let left = tree.list("").unwrap();
            assert!(left.iter().all(|entry| entry.name == name), "{name}, {limit}: {left:?}");
            assert!(left.len() == 1 || !is_there, "{name}, {limit}");
        }
    }
}

/// The next writer removes the leftovers of a killed process.
#[cfg(unix)]
#[test]
fn leftovers_of_dead_processes_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["x.b2z", "x.b2d"] {
        let path = dir.path().join(name);
        StoreWriter::create(&path).unwrap().commit().unwrap();
        let dead = dir.path().join(format!("{name}.{}.tmp", u32::MAX));
        std::fs::create_dir(&dead).unwrap();
        std::fs::write(dead.join("0"), b"half").unwrap();
        let other = dir.path().join(format!("{name}.{}.tmp", u32::MAX - 1));
        let start = std::fs::read(&path).map_or(vec![], |bytes| bytes[..3].to_vec());
        std::fs::write(&other, start).unwrap();
        let new = dir.path().join(format!(".{name}.b2tmp-a1b2c3"));
        std::fs::create_dir(&new).unwrap();
        StoreWriter::open(&path).unwrap();
        assert!(!dead.exists() && !new.exists());
        // An earlier version made a file of this name only for a file.
        assert_eq!(other.exists(), path.is_dir());
    }
}
