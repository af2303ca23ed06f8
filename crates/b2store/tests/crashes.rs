//! Stores are written to a tree that records every call, and each prefix of the calls is replayed:
//! what a process that dies there leaves. (Case 48 of the specification.)

use core::sync::atomic::{AtomicUsize, Ordering};
use std::io;
use std::sync::Arc;

use b2frame::{FrameParams, to_cframe};
use b2store::{Store, StoreWriter, Value, WriteOptions};
use blosc_io::ReadAt;
use blosc_io::testing::{RecordingTree, Step};
use blosc_io::tree::{Entry, MemTree, Tree};

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

/// Where the writer would put its files.
fn is_scratch(name: &str) -> bool {
    blosc_io::replace::is_temporary(name)
}

#[test]
fn a_new_store_is_there_as_a_whole_or_not_at_all() {
    for name in ["x.b2z", "x.b2d", "x.b2e"] {
        let tree = Arc::new(RecordingTree::new(MemTree::new()));
        let made = content(&first(tree.clone(), name));
        let steps = tree.take();
        let (replayed, mut seen) = (MemTree::new(), 0);
        for step in &steps {
            step.apply(&replayed).unwrap();
            let others = replayed.list("").unwrap();
            assert!(others.iter().all(|entry| entry.name == name || is_scratch(&entry.name)));
            if let Some(store) = open(&replayed, name) {
                assert_eq!(content(&store), made);
                seen += 1;
            }
        }
        assert!(seen > 0 && steps.len() > seen, "{name}");
        check_syncs(&steps, name);
    }
}

#[test]
fn a_file_that_is_changed_is_the_old_or_the_new_one() {
    for name in ["x.b2z", "x.b2e"] {
        let tree = Arc::new(RecordingTree::new(MemTree::new()));
        let old = content(&first(tree.clone(), name));
        let before = tree.take();
        let new = content(&second(tree.clone(), name));
        let steps = tree.take();
        let replayed = MemTree::new();
        before.iter().for_each(|step| step.apply(&replayed).unwrap());
        let mut found = Vec::new();
        for step in &steps {
            step.apply(&replayed).unwrap();
            found.push(content(&open(&replayed, name).unwrap()));
        }
        assert!(found.iter().all(|content| *content == old || *content == new));
        assert!(found.contains(&old) && found.last() == Some(&new), "{name}");
        check_syncs(&steps, name);
    }
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
        // What both have is never missing.
        for key in ["/a", "/other"] {
            assert!(found.iter().any(|(found, _)| found == key), "{key} after {step:?}");
        }
        states.push(found);
    }
    assert_eq!(states.first(), Some(&old));
    assert_eq!(states.last(), Some(&new));
    // The suffix of `/other` is another one now.
    assert!(replayed.open("x.b2d/other.b2b").is_ok() && replayed.open("x.b2d/other.b2f").is_err());
    assert_eq!(replayed.list("").unwrap().len(), 1);
}

/// Else a loss of power could leave both files of one value.
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

/// Case 37, as often as there are steps.
#[test]
fn packing_is_crash_safe() {
    let tree = Arc::new(RecordingTree::new(MemTree::new()));
    let folder = first(tree.clone(), "x.b2d");
    let made = content(&folder);
    let before = tree.take();
    for name in ["y.b2z", "z.b2d"] {
        let options = WriteOptions::default();
        let copied = StoreWriter::copy_in(&folder, tree.clone(), name, &options);
        assert_eq!(content(&copied.unwrap().commit().unwrap()), made);
        let replayed = MemTree::new();
        before.iter().for_each(|step| step.apply(&replayed).unwrap());
        for step in &tree.take() {
            step.apply(&replayed).unwrap();
            assert_eq!(content(&open(&replayed, "x.b2d").unwrap()), made);
            if let Some(store) = open(&replayed, name) {
                assert_eq!(content(&store), made);
            }
        }
        assert!(open(&replayed, name).is_some());
    }
}

/// What gets its name has its content on the medium, and the name itself follows.
fn check_syncs(steps: &[Step], name: &str) {
    let at = |wanted: &dyn Fn(&Step) -> bool| steps.iter().position(wanted).unwrap();
    let renamed = at(&|step| matches!(step, Step::Rename(_, to) if to == name));
    assert!(matches!(&steps[renamed + 1], Step::SyncNames(dir) if dir.is_empty()));
    for (number, step) in steps[..renamed].iter().enumerate() {
        let Step::CreateNew(path, _) = step else { continue };
        let synced = at(&|step| matches!(step, Step::Sync(synced) if synced == path));
        assert!((number..renamed).contains(&synced), "{path}");
    }
}

/// A table that is read at every step while rows are appended and deleted.
#[test]
fn a_table_can_be_read_at_every_step_of_a_change() {
    use b2store::{ColumnKind, ColumnValues, NewColumn, Nulls};
    let rows = |ids: &[i64]| {
        let bytes = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
        let texts: Vec<String> = ids.iter().map(|id| format!("text {id}")).collect();
        let words = || ColumnValues::text(texts.iter().map(String::as_str));
        let is_even = ids.iter().map(|id| id % 2 == 0).collect();
        [ColumnValues::fixed("<i8".parse().unwrap(), bytes), words(), words().with_valid(is_even)]
    };
    let columns = [
        NewColumn::new("id", ColumnKind::Fixed("i8")),
        NewColumn::new("word", ColumnKind::Dictionary { null_code: -1 }),
        NewColumn::new("text", ColumnKind::Utf8).nulls(Nulls::Mask),
    ];
    let cells = |store: &Store| -> Vec<Vec<Value>> {
        let table = store.table("/").unwrap();
        let len = table.len().unwrap();
        let column = |name: &&str| -> Vec<Value> {
            let values = table.column(name).unwrap().read(0..len).unwrap();
            (0..values.len()).map(|row| values.value(row)).collect()
        };
        ["id", "word", "text"].iter().map(column).collect()
    };
    for name in ["t.b2d", "t.b2z", "t.b2e"] {
        let tree = Arc::new(RecordingTree::new(MemTree::new()));
        let options = WriteOptions::default();
        let mut writer = StoreWriter::create_in(tree.clone(), name, &options).unwrap();
        writer.insert_table("/", &columns, &rows(&[0, 2, 4])).unwrap();
        let old = cells(&writer.commit().unwrap());
        let before = tree.take();
        let mut writer = StoreWriter::open_in(tree.clone(), name, &options).unwrap();
        writer.append_rows("/", &rows(&[5, 6, 7])).unwrap();
        writer.delete_rows("/", 0..2).unwrap();
        let new = cells(&writer.commit().unwrap());
        let replayed = MemTree::new();
        before.iter().for_each(|step| step.apply(&replayed).unwrap());
        let mut states = Vec::new();
        for step in &tree.take() {
            step.apply(&replayed).unwrap();
            states.push(cells(&open(&replayed, name).unwrap()));
        }
        assert!(states.iter().all(|state| *state == old || *state == new), "{name}");
        assert_eq!((states.first(), states.last()), (Some(&old), Some(&new)));
    }
}

/// A tree in memory whose changes fail from one of them on, but for removing.
#[derive(Debug)]
struct FailingTree {
    inner: MemTree,
    left: AtomicUsize,
}

impl FailingTree {
    fn count(&self) -> io::Result<()> {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        if left == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

impl Tree for FailingTree {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        self.inner.open(path)
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        self.inner.list(path)
    }

    fn create_new(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.count()?;
        self.inner.create_new(path, bytes)
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        self.count()?;
        self.inner.create_dir(path)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.inner.remove(path)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.count()?;
        self.inner.rename(from, to)
    }

    fn sync(&self, path: &str) -> io::Result<()> {
        self.count()?;
        self.inner.sync(path)
    }
}

/// A full disk at every call: the error is passed on, the store stays, nothing lies beside it.
#[test]
fn a_storage_that_fails_leaves_a_store() {
    for name in ["x.b2z", "x.b2e", "x.b2d"] {
        for limit in 0.. {
            let inner = MemTree::new();
            let old = content(&first(Arc::new(inner.clone()), name));
            drop(inner);
            let tree = Arc::new(FailingTree { inner: MemTree::new(), left: usize::MAX.into() });
            assert_eq!(content(&first(tree.clone(), name)), old);
            tree.left.store(limit, Ordering::Relaxed);
            let options = WriteOptions::default();
            let mut writer = StoreWriter::open_in(tree.clone(), name, &options).unwrap();
            writer.insert_cframe("/a", frame(b"another a")).unwrap();
            writer.insert_cframe("/n/m", frame(b"new")).unwrap();
            let written = writer.commit();
            assert_eq!(tree.list("").unwrap().len(), 1, "{name}, {limit}");
            let found = content(&open(&tree.inner, name).unwrap());
            let Err(error) = written else {
                assert!(found.iter().any(|(key, _)| key == "/n/m") && limit > 2);
                break;
            };
            assert!(matches!(error, b2store::Error::Write { .. }), "{error}");
            if name != "x.b2d" {
                assert_eq!(found, old, "{name}, {limit}");
            }
            assert_eq!(found.iter().filter(|(key, _)| key != "/n/m").count(), 3);
        }
        for limit in 0..3 {
            let tree = Arc::new(FailingTree { inner: MemTree::new(), left: limit.into() });
            let mut writer =
                StoreWriter::create_in(tree.clone(), name, &WriteOptions::default()).unwrap();
            writer.insert_cframe("/a", frame(b"a")).unwrap();
            assert!(writer.commit().is_err(), "{name}, {limit}");
            assert_eq!(tree.list("").unwrap(), []);
        }
    }
}

/// What a process that was killed left is removed by the next writer.
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
        // An earlier version made a file only for a file.
        assert_eq!(other.exists(), path.is_dir());
    }
}
