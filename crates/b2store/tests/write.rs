//! Makes and changes stores; the numbers of cases are those of the specification.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use b2frame::lock::{FrameLock, Locking};
use b2frame::{FrameParams, NdParams, NdWriter, SChunk, to_cframe};
use b2store::error::{Blame, KeyFault, Param};
use b2store::{
    ChildKind, Content, Error, Location, Store, StoreForm, StoreKind, StoreWriter, Value,
    WriteOptions, pack, unpack,
};
use blosc_io::tree::{MemTree, Tree};
use blosc_io::{LockWait, MemStore};

const SUFFIXES: [&str; 3] = ["b2z", "b2d", "b2e"];

fn frame(bytes: &[u8]) -> Vec<u8> {
    to_cframe(bytes, &FrameParams::default()).unwrap()
}

fn array(items: &[i32]) -> b2frame::NdArray {
    let params = NdParams::new(&[items.len() as u64], "<i4".parse().unwrap());
    let mut writer = NdWriter::in_memory(&params).unwrap();
    writer.write_slice(b2frame::nd::Selection::ALL, items).unwrap();
    writer.finish().unwrap()
}

fn bytes_of(store: &Store, key: &str) -> Vec<u8> {
    let frame = store.frame(key).unwrap();
    let mut bytes = vec![0; usize::try_from(frame.nbytes()).unwrap()];
    frame.read_bytes(0, &mut bytes).unwrap();
    bytes
}

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

fn keys(store: &Store) -> Vec<&str> {
    store.keys().collect()
}

/// A store with `/a` (an array), `/b` and, except in one frame, `/g/c` and attributes of `/` and
/// `/g`.
fn make(path: &Path) -> Store {
    let mut writer = StoreWriter::create(path).unwrap();
    writer.insert_array("/a", &array(&[1, 2, 3])).unwrap();
    writer.insert_cframe("/b", frame(b"bytes of b")).unwrap();
    if writer.form() != StoreForm::Embed {
        writer.insert_cframe("/g/c", frame(b"c")).unwrap();
        writer.set_attribute("/", "title", &text("root")).unwrap();
        writer.set_attribute("/g", "unit", &Value::Tuple(vec![Value::Int(1)])).unwrap();
    }
    writer.set_attribute("/a", "of a", &Value::Float(0.5)).unwrap();
    writer.commit().unwrap()
}

/// Cases 31 and 33, without the part that needs python-blosc2 (`xtask interop` has it).
#[test]
fn stores_of_every_form_are_made_and_changed() {
    let dir = tempfile::tempdir().unwrap();
    for suffix in SUFFIXES {
        let path = dir.path().join("x").with_extension(suffix);
        let store = make(&path);
        let embed = suffix == "b2e";
        let expected = match embed {
            true => vec!["/a", "/b"],
            false => vec!["/__vlmeta__", "/a", "/b", "/g/__vlmeta__", "/g/c"],
        };
        assert_eq!(keys(&store), expected);
        assert_eq!(store.kind(), if embed { StoreKind::Embed } else { StoreKind::Tree });
        assert_eq!(matches!(store.location("/b"), Some(Location::Embedded { .. })), embed);
        let Content::Array(found) = store.get("/a").unwrap() else { panic!("no array") };
        assert_eq!(found.read::<i32>().unwrap(), [1, 2, 3]);
        assert_eq!(bytes_of(&store, "/b"), b"bytes of b");
        assert_eq!(store.attributes("/a").unwrap(), [("of a".to_owned(), Value::Float(0.5))]);
        if !embed {
            assert_eq!(store.attributes("/").unwrap(), [("title".to_owned(), text("root"))]);
            let unit = ("unit".to_owned(), Value::Tuple(vec![Value::Int(1)]));
            assert_eq!(store.attributes("/g").unwrap(), [unit]);
        }
        drop(store);

        let mut writer = StoreWriter::open(&path).unwrap();
        writer.insert_array("/b", &array(&[9])).unwrap();
        writer.insert_cframe("/new", frame(b"new")).unwrap();
        writer.remove("/a").unwrap();
        assert!(matches!(writer.get("/b").unwrap(), Content::Array(_)));
        assert!(writer.keys().all(|key| key != "/a"));
        let store = writer.commit().unwrap();
        assert!(!store.contains("/a") && store.contains("/new"));
        let Content::Array(found) = store.get("/b").unwrap() else { panic!("no array") };
        assert_eq!(found.read::<i32>().unwrap(), [9]);
        assert_eq!(Store::open(&path).unwrap().keys().len(), store.keys().len());
        for key in store.keys() {
            assert_eq!(store.check_crc(key).unwrap().is_some(), suffix == "b2z", "{key}");
        }
        // No files lie beside the store or, in a directory, at a path where python-blosc2 would see
        // a value.
        let names = |dir: &Path| -> Vec<String> {
            let names = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name());
            let mut names: Vec<String> = names.map(|n| n.into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert!(names(dir.path()).iter().all(|name| name.starts_with("x.b2")));
        if suffix == "b2d" {
            let expected = ["__vlmeta__.b2f", "b.b2nd", "embed.b2e", "g", "new.b2f"];
            assert_eq!(names(&path), expected);
        }
    }
}

#[test]
fn an_empty_store_is_one_and_the_annotated_example_has_its_length() {
    let dir = tempfile::tempdir().unwrap();
    for suffix in SUFFIXES {
        let path = dir.path().join("x").with_extension(suffix);
        let store = StoreWriter::create(&path).unwrap().commit().unwrap();
        assert_eq!(store.keys().len(), 0);
        let again = StoreWriter::open(&path).unwrap().commit().unwrap();
        assert_eq!(again.keys().len(), 0);
    }
    let flat = WriteOptions::default().flat(true);
    let writer = StoreWriter::create_with(dir.path().join("d.b2z"), &flat).unwrap();
    assert_eq!(writer.commit().unwrap().kind(), StoreKind::Dict);
    // Chapter 25: 245 bytes of frame, 39 before them, 55 + 22 after.
    let zip = fs::read(dir.path().join("x.b2z")).unwrap();
    assert_eq!(zip.len(), fs::read(dir.path().join("x.b2d/embed.b2e")).unwrap().len() + 116);
    assert_eq!(&zip[..6], b"PK\x03\x04\x14\0");
    assert_eq!(&zip[39..47], b"\x9e\xa8b2frame\0"[..8].as_ref());
}

#[test]
fn files_and_frames_with_bytes_after_them_are_copied() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("v.b2frame");
    fs::write(&file, [&frame(b"from a file")[..], b"and more"].concat()).unwrap();
    let mut writer = StoreWriter::create(dir.path().join("x.b2d")).unwrap();
    writer.insert_file("/f", &file).unwrap();
    let schunk = SChunk::open(&file).unwrap();
    writer.insert_schunk("/s", &schunk).unwrap();
    let store = writer.commit().unwrap();
    assert_eq!(bytes_of(&store, "/f"), b"from a file");
    assert_eq!(bytes_of(&store, "/s"), b"from a file");
    let len = fs::metadata(dir.path().join("x.b2d/f.b2f")).unwrap().len();
    assert_eq!(len, frame(b"from a file").len() as u64);
    let mut writer = StoreWriter::open(dir.path().join("x.b2d")).unwrap();
    let error = writer.insert_cframe("/bad", b"no frame".to_vec()).unwrap_err();
    assert_eq!(error.blame(), Blame::NotOurs);
    let cut = frame(&[1; 5000]);
    assert!(writer.insert_cframe("/bad", cut[..cut.len() - 1].to_vec()).is_err());
    assert!(writer.insert_file("/bad", dir.path().join("none")).is_err());
    assert!(!writer.contains("/bad"));
}

/// Case 37.
#[test]
fn packing_and_unpacking_keeps_keys_and_frames() {
    let dir = tempfile::tempdir().unwrap();
    let [folder, zip, again] = ["x.b2d", "x.b2z", "y.b2d"].map(|name| dir.path().join(name));
    make(&folder);
    fs::write(folder.join("embed.b2e.b2lock"), b"").unwrap();
    fs::write(folder.join("notes.txt"), b"of a stranger").unwrap();
    let packed = pack(&folder, &zip).unwrap();
    let unpacked = unpack(&zip, &again).unwrap();
    assert_eq!(keys(&packed), keys(&unpacked));
    assert_eq!(fs::read(again.join("notes.txt")).unwrap(), b"of a stranger");
    assert!(!again.join("embed.b2e.b2lock").exists());
    for name in ["b.b2f", "g/c.b2f", "g/__vlmeta__.b2f", "embed.b2e"] {
        let [old, new] = [&folder, &again].map(|root| fs::read(root.join(name)).unwrap());
        assert_eq!(old, new, "{name}");
    }
    // This frame got metadata later: its old trailer is unused, and is not copied.
    let [old, new] = [&folder, &again].map(|root| SChunk::open(root.join("a.b2nd")).unwrap());
    let usage = |schunk: &SChunk| schunk.usage().unwrap().dead_bytes;
    assert!(usage(&old) > 0 && usage(&new) == 0, "{} {}", usage(&old), usage(&new));
    let bytes = |schunk: &SChunk| {
        let mut bytes = vec![0; schunk.nbytes().try_into().unwrap()];
        schunk.read_bytes(0, &mut bytes).map(|()| bytes).unwrap()
    };
    assert_eq!(bytes(&old), bytes(&new));
    let layer = |schunk: &SChunk| schunk.vlmeta().get("of a").unwrap();
    assert!(layer(&old).is_some() && layer(&old) == layer(&new));
    assert!(matches!(pack(&folder, &zip), Err(Error::Param(Param::Exists { .. }))));
    assert!(matches!(unpack(&zip, &again), Err(Error::Param(Param::Exists { .. }))));

    // To one frame and back.
    let embed = dir.path().join("x.b2e");
    StoreWriter::copy(&packed, &embed, &WriteOptions::default()).unwrap().commit().unwrap();
    let back = unpack(&embed, dir.path().join("z.b2d")).unwrap();
    assert_eq!(keys(&back), keys(&packed));
    assert_eq!(bytes_of(&back, "/g/c"), b"c");
    assert_eq!(back.attributes("/g").unwrap(), packed.attributes("/g").unwrap());
}

/// Case 38.
#[test]
fn keys_that_lead_elsewhere_or_are_not_canonical_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = StoreWriter::create(dir.path().join("x.b2d")).unwrap();
    let long = format!("/{}", "x".repeat(300));
    for (key, expected) in [
        ("/../x", KeyFault::Dots),
        ("/a//b", KeyFault::EmptyName),
        ("/a/", KeyFault::EmptyName),
        ("/a\\b", KeyFault::NotPortable),
        ("/a\tb", KeyFault::Control),
        ("", KeyFault::NoSlash),
        (&long, KeyFault::LongName { nbytes: 300 }),
        ("/g/__vlmeta__", KeyFault::Reserved),
    ] {
        let error = writer.insert_cframe(key, frame(b"x")).unwrap_err();
        let Error::Param(Param::Key { fault, .. }) = error else { panic!("{key}: {error}") };
        assert_eq!(fault, expected, "{key}");
    }
    assert_eq!(writer.keys().len(), 0);
    // The file of one key is not the directory of another one.
    let mut writer = StoreWriter::create(dir.path().join("x.b2d")).unwrap();
    writer.insert_cframe("/a", frame(b"x")).unwrap();
    writer.insert_cframe("/a.b2f/x", frame(b"x")).unwrap();
    let error = writer.commit().unwrap_err();
    assert!(matches!(error, Error::Param(Param::SamePath { .. })), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// A tree whose names are the same in capitals and in small letters of ASCII.
#[derive(Debug)]
struct Folding(MemTree);

impl Tree for Folding {
    fn open(&self, path: &str) -> std::io::Result<Box<dyn blosc_io::ReadAt>> {
        self.0.open(&path.to_ascii_lowercase())
    }

    fn list(&self, path: &str) -> std::io::Result<Vec<blosc_io::tree::Entry>> {
        self.0.list(&path.to_ascii_lowercase())
    }

    fn create_new(&self, path: &str, bytes: &[u8]) -> std::io::Result<()> {
        self.0.create_new(&path.to_ascii_lowercase(), bytes)
    }

    fn create_dir(&self, path: &str) -> std::io::Result<()> {
        self.0.create_dir(&path.to_ascii_lowercase())
    }

    fn remove(&self, path: &str) -> std::io::Result<()> {
        self.0.remove(&path.to_ascii_lowercase())
    }

    fn rename(&self, from: &str, to: &str) -> std::io::Result<()> {
        self.0.rename(&from.to_ascii_lowercase(), &to.to_ascii_lowercase())
    }
}

#[test]
fn keys_that_differ_in_case_are_files_where_the_system_tells_them_apart() {
    let options = WriteOptions::default();
    for (one, other, paths) in [
        ("/Ab", "/aB", ["aB.b2f", "Ab.b2f"]),
        ("/Group/x", "/group/x", ["group", "Group"]),
        ("/Group/x", "/group/y", ["group", "Group"]),
        ("/g/Ab", "/g/aB", ["g/aB.b2f", "g/Ab.b2f"]),
    ] {
        for is_folding in [false, true] {
            let mem = MemTree::new();
            let tree: Arc<dyn Tree> =
                if is_folding { Arc::new(Folding(mem)) } else { Arc::new(mem) };
            let mut writer = StoreWriter::create_in(Arc::clone(&tree), "x.b2d", &options).unwrap();
            writer.insert_cframe(one, frame(b"1")).unwrap();
            // The second key comes to a new store, and to one that exists.
            if !is_folding {
                writer.commit().unwrap();
                writer = StoreWriter::open_in(Arc::clone(&tree), "x.b2d", &options).unwrap();
            }
            writer.insert_cframe(other, frame(b"2")).unwrap();
            match writer.commit() {
                Ok(store) => {
                    assert!(!is_folding, "{one}");
                    assert_eq!(
                        (bytes_of(&store, one), bytes_of(&store, other)),
                        (vec![b'1'], vec![b'2'])
                    );
                }
                Err(error) => {
                    assert!(is_folding, "{one}: {error}");
                    let Error::Param(Param::SamePath { path, other }) = &error else {
                        panic!("{error}");
                    };
                    assert_eq!([path, other], paths, "{error}");
                    assert_eq!(tree.list("").unwrap(), [], "{one}");
                }
            }
        }
    }
}

#[test]
fn the_error_names_the_two_paths_that_are_one_file() {
    let tree: Arc<dyn Tree> = Arc::new(Folding(MemTree::new()));
    let mut writer = StoreWriter::create_in(tree, "x.b2d", &WriteOptions::default()).unwrap();
    for key in ["/aÉ", "/aé", "/g/B", "/g/b"] {
        writer.insert_cframe(key, frame(b"x")).unwrap();
    }
    let error = writer.commit().unwrap_err();
    assert_eq!(error.to_string(), r#""g/b.b2f" and "g/B.b2f" are one file on this system"#);
}

/// Case 39.
#[test]
fn a_value_is_no_group() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = StoreWriter::create(dir.path().join("x.b2z")).unwrap();
    writer.insert_cframe("/a", frame(b"a")).unwrap();
    writer.insert_cframe("/g/x", frame(b"x")).unwrap();
    for (key, other) in [("/a/b/c", "/a"), ("/g", "/g/x")] {
        let error = writer.insert_cframe(key, frame(b"?")).unwrap_err();
        let Error::Param(Param::Occupied { other: found, .. }) = error else { panic!("{error}") };
        assert_eq!(found, other);
    }
    assert!(writer.set_attribute("/a/b", "n", &Value::Nil).is_err());
    writer.insert_cframe("/a", frame(b"again")).unwrap();
    writer.remove("/g").unwrap();
    writer.insert_cframe("/g", frame(b"a value now")).unwrap();
    assert!(matches!(writer.remove("/none"), Err(Error::Param(Param::NoKey { .. }))));
    assert_eq!(keys(&writer.commit().unwrap()), ["/a", "/g"]);
}

#[test]
fn an_embed_store_has_attributes_of_values_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2e");
    make(&path);
    let mut writer = StoreWriter::open(&path).unwrap();
    writer.insert_cframe("/group/x", frame(b"x")).unwrap();
    for key in ["/", "/group"] {
        let error = writer.set_attribute(key, "n", &Value::Nil).unwrap_err();
        assert!(matches!(error, Error::Param(Param::NoGroups { .. })), "{error}");
    }
    let error = writer.set_attribute("/none", "n", &Value::Nil).unwrap_err();
    assert!(matches!(error, Error::Param(Param::NoKey { .. })), "{error}");
    writer.set_attribute("/a", "n", &Value::Nil).unwrap();
}

/// Case 40.
#[test]
fn attributes_are_at_most_16_with_names_of_31_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2d");
    make(&path);
    let mut writer = StoreWriter::open(&path).unwrap();
    for n in 0..16 {
        writer.set_attribute("/only-attributes", &format!("{n:031}"), &Value::Int(n)).unwrap();
    }
    let group = "/only-attributes";
    let error = writer.set_attribute(group, "one more", &Value::Nil).unwrap_err();
    assert!(matches!(error, Error::Param(Param::AttributeCount { count: 17, .. })), "{error}");
    for name in ["", &"x".repeat(32)] {
        let error = writer.set_attribute(group, name, &Value::Nil).unwrap_err();
        assert!(matches!(error, Error::Param(Param::AttributeName { .. })), "{error}");
    }
    let list = Value::Array(vec![text("__tuple__")]);
    let error = writer.set_attribute("/g", "list", &list).unwrap_err();
    assert!(matches!(error, Error::Param(Param::Value { .. })), "{error}");
    assert!(!writer.remove_attribute("/b", "none").unwrap());
    assert!(writer.remove_attribute("/g", "unit").unwrap());
    assert_eq!(writer.attributes("/g").unwrap(), []);
    let store = writer.commit().unwrap();
    assert_eq!(store.attributes(group).unwrap().len(), 16);
    assert!(store.tree().iter().any(|child| child.key == group && child.kind == ChildKind::Group));
    assert!(!path.join("g/__vlmeta__.b2f").exists());
    let before = fs::read(path.join("only-attributes/__vlmeta__.b2f")).unwrap();
    let mut writer = StoreWriter::open(&path).unwrap();
    writer.set_attribute(group, "one more", &Value::Nil).unwrap_err();
    writer.commit().unwrap();
    assert_eq!(fs::read(path.join("only-attributes/__vlmeta__.b2f")).unwrap(), before);
}

/// Case 49.
#[test]
fn a_reader_keeps_the_archive_that_it_opened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2z");
    let reader = make(&path);
    let mut writer = StoreWriter::open(&path).unwrap();
    writer.insert_cframe("/b", frame(&[5; 100_000])).unwrap();
    writer.commit().unwrap();
    assert_eq!(bytes_of(&reader, "/b"), b"bytes of b");
    assert_eq!(bytes_of(&Store::open(&path).unwrap(), "/b"), [5; 100_000]);
}

/// Case 50: unknown parts stay.
#[test]
fn unknown_registry_entries_and_files_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2z");
    let mut writer = StoreWriter::create(&path).unwrap();
    let entry = Value::Map(vec![(text("kind"), text("of next year"))]);
    writer.register("/g/odd", entry.clone()).unwrap();
    writer.insert_cframe("/a", frame(b"a")).unwrap();
    writer.commit().unwrap();
    let mut writer = StoreWriter::open(&path).unwrap();
    writer.insert_cframe("/b", frame(b"b")).unwrap();
    let store = writer.commit().unwrap();
    assert_eq!(store.registry().get("/g/odd"), Some(&entry));
    let mut writer = StoreWriter::open(&path).unwrap();
    writer.remove("/g").unwrap();
    assert!(writer.commit().unwrap().registry().is_empty());
}

#[test]
fn a_value_moves_from_the_frame_to_a_file_and_its_old_place_is_forgotten() {
    // As in python-blosc2 before 4.4: small values are in `embed.b2e`.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2z");
    fs::copy(blosc_testdata::fixture::path("stores/tree-embedded.b2z"), &path).unwrap();
    let before = Store::open(&path).unwrap();
    let embedded = |store: &Store| -> Vec<String> {
        let is_inside = |key: &&str| matches!(store.location(key), Some(Location::Embedded { .. }));
        store.keys().filter(is_inside).map(str::to_owned).collect()
    };
    let key = embedded(&before).into_iter().find(|key| !key.ends_with("__vlmeta__")).unwrap();
    let mut writer = StoreWriter::open(&path).unwrap();
    writer.insert_cframe(&key, frame(b"moved")).unwrap();
    let store = writer.commit().unwrap();
    assert_eq!(bytes_of(&store, &key), b"moved");
    assert_eq!(embedded(&store).len() + 1, embedded(&before).len());
    let mut writer = StoreWriter::open(&path).unwrap();
    writer.remove(&key).unwrap();
    assert!(!writer.commit().unwrap().contains(&key));
}

#[test]
fn indexes_on_an_array_go_with_its_values() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2d");
    make(&path);
    fs::write(path.join("a.__index__.full.b2nd"), frame(b"old")).unwrap();
    let params = FrameParams::default().vlmetalayer("blosc2_indexes", *b"\x80");
    let mut writer = StoreWriter::open(&path).unwrap();
    writer.insert_cframe("/a", to_cframe(b"new", &params).unwrap()).unwrap();
    let store = writer.commit().unwrap();
    assert!(store.frame("/a").unwrap().vlmeta().is_empty());
    assert!(!path.join("a.__index__.full.b2nd").exists());
    assert!(!path.join("a.b2nd").exists() && path.join("a.b2f").exists());
}

#[test]
fn one_writer_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    for suffix in SUFFIXES {
        let path = dir.path().join("x").with_extension(suffix);
        make(&path);
        let never = WriteOptions::default().wait(LockWait::never());
        let first = StoreWriter::open(&path).unwrap();
        if blosc_io::Lock::shared(&path, &LockWait::never()).is_err() {
            assert!(StoreWriter::open_with(&path, &never).is_err(), "{suffix}");
        }
        drop(first);
        StoreWriter::open_with(&path, &never).unwrap();
    }
}

/// Chapter 18: the lock of python-blosc2 is taken if it is in use, and its counter goes up.
#[test]
fn the_lock_of_python_blosc2_is_respected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2d");
    make(&path);
    let lock = FrameLock::exclusive(path.join("embed.b2e")).unwrap();
    let generation = lock.generation();
    let never = WriteOptions::default().wait(LockWait::never()).locking(Locking::Sidecar);
    if blosc_io::Lock::exclusive(&path, &LockWait::never()).unwrap().is_held() {
        assert!(StoreWriter::open_with(&path, &never).is_err());
    }
    drop(lock);
    for tick in 1..4 {
        let mut writer = StoreWriter::open(&path).unwrap();
        writer.insert_cframe("/b", frame(&[tick; 9])).unwrap();
        let store = writer.commit().unwrap();
        let found = store.embed_frame().vlmeta().get("dstore_tick").unwrap();
        assert_eq!(found, Some(vec![tick]));
        assert_eq!(store.keys().len(), 5);
    }
    let lock = FrameLock::shared(path.join("embed.b2e")).unwrap();
    assert!(lock.generation() >= generation + 3);
}

#[test]
fn stores_in_a_tree_of_memory() {
    let tree: Arc<dyn Tree> = Arc::new(MemTree::new());
    tree.create_dir("d").unwrap();
    for name in ["d/x.b2z", "d/x.b2d", "d/x.b2e"] {
        let options = WriteOptions::default();
        let mut writer = StoreWriter::create_in(tree.clone(), name, &options).unwrap();
        writer.insert_source("/a", Arc::new(MemStore::new(frame(b"a")))).unwrap();
        writer.commit().unwrap();
        let error = StoreWriter::create_in(tree.clone(), name, &options).unwrap_err();
        assert!(matches!(error, Error::Param(Param::Exists { .. })), "{error}");
        let mut writer = StoreWriter::open_in(tree.clone(), name, &options).unwrap();
        writer.insert_cframe("/b", frame(b"b")).unwrap();
        assert_eq!(keys(&writer.commit().unwrap()), ["/a", "/b"]);
    }
    assert_eq!(tree.list("d").unwrap().len(), 3);
}

#[test]
fn archives_that_would_lose_something_are_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2z");
    make(&path);
    let mut bytes = fs::read(&path).unwrap();
    // Both headers of the first member say that zip compresses it.
    let local = bytes.windows(4).position(|w| w == b"PK\x03\x04").unwrap();
    let central = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    (bytes[local + 8], bytes[central + 10]) = (8, 8);
    fs::write(&path, &bytes).unwrap();
    let error = StoreWriter::open(&path).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

/// Names that only some systems treat as one file name are not extracted.
#[test]
fn members_with_a_backslash_are_not_unpacked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2z");
    let mut writer = StoreWriter::create(&path).unwrap();
    writer.insert_cframe("/a_b", frame(b"x")).unwrap();
    writer.commit().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    for at in 0..bytes.len() - 3 {
        if &bytes[at..at + 3] == b"a_b" {
            bytes[at + 1] = b'\\';
        }
    }
    fs::write(&path, &bytes).unwrap();
    assert_eq!(keys(&Store::open(&path).unwrap()), ["/a\\b"]);
    let error = unpack(&path, dir.path().join("y.b2d")).unwrap_err();
    assert!(matches!(error, Error::Param(Param::Path { .. })), "{error}");
    assert_eq!(error.blame(), Blame::Usage);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_key_has_at_most_4096_bytes_and_255_levels() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = StoreWriter::create(dir.path().join("x.b2z")).unwrap();
    for (key, is_right) in [
        (format!("/{}", "x".repeat(15)).repeat(255), true),
        (format!("/{}", "x".repeat(14)).repeat(256), false),
        (format!("/{}", "x".repeat(250)).repeat(17), false),
    ] {
        let done = writer.insert_cframe(&key, frame(b"x"));
        assert_eq!(done.is_ok(), is_right, "{done:?}");
    }
    writer.commit().unwrap();
}

#[cfg(unix)]
#[test]
fn a_changed_archive_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2z");
    make(&path);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let mut writer = StoreWriter::open(&path).unwrap();
    writer.remove("/a").unwrap();
    writer.commit().unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

mod sequences {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const KEYS: [&str; 7] = ["/a", "/b", "/g/a", "/g/b", "/g/h/a", "/ä", "/g/h"];

    #[derive(Clone, Debug)]
    enum Step {
        Insert(usize, Vec<u8>),
        Remove(usize),
        Reopen,
        Copy(usize),
    }

    fn any_step() -> impl Strategy<Value = Step> {
        let key = || 0..KEYS.len();
        prop_oneof![
            5 => (key(), prop::collection::vec(any::<u8>(), 0..300))
                .prop_map(|(key, bytes)| Step::Insert(key, bytes)),
            2 => key().prop_map(Step::Remove),
            2 => Just(Step::Reopen),
            1 => (0..SUFFIXES.len()).prop_map(Step::Copy),
        ]
    }

    /// Whether a value at one key prevents a value at the other key.
    fn is_below(key: &str, group: &str) -> bool {
        key.strip_prefix(group).is_some_and(|rest| rest.starts_with('/'))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn a_store_is_a_map_of_keys(
            form in 0..SUFFIXES.len(),
            steps in prop::collection::vec(any_step(), 0..25),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let options = WriteOptions::default().durability(blosc_io::Durability::ProcessDeath);
            let mut number = 0;
            let mut path = dir.path().join("0").with_extension(SUFFIXES[form]);
            let mut writer = StoreWriter::create_with(&path, &options).unwrap();
            let mut model: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
            for step in steps {
                match step {
                    Step::Insert(key, bytes) => {
                        let key = KEYS[key];
                        let in_way = |other: &&str| is_below(key, other) || is_below(other, key);
                        let is_free = model.contains_key(key) || !model.keys().any(in_way);
                        let inserted = writer.insert_cframe(key, frame(&bytes));
                        prop_assert_eq!(inserted.is_ok(), is_free);
                        if is_free {
                            model.insert(key, bytes);
                        }
                    }
                    Step::Remove(key) => {
                        let before = model.len();
                        let key = KEYS[key];
                        model.retain(|other, _| *other != key && !is_below(other, key));
                        prop_assert_eq!(writer.remove(key).is_ok(), model.len() < before);
                    }
                    Step::Reopen => {
                        writer.commit().unwrap();
                        writer = StoreWriter::open_with(&path, &options).unwrap();
                    }
                    Step::Copy(form) => {
                        let store = writer.commit().unwrap();
                        number += 1;
                        path = dir.path().join(number.to_string());
                        path.set_extension(SUFFIXES[form]);
                        writer = StoreWriter::copy(&store, &path, &options).unwrap();
                    }
                }
                let found: Vec<&str> = writer.keys().collect();
                prop_assert_eq!(found, model.keys().copied().collect::<Vec<_>>());
            }
            let store = writer.commit().unwrap();
            prop_assert_eq!(keys(&store), model.keys().copied().collect::<Vec<_>>());
            for (key, expected) in model {
                prop_assert_eq!(bytes_of(&store, key), expected);
                store.check_crc(key).unwrap();
            }
        }
    }
}

type Edited = Result<(), Box<dyn core::error::Error>>;

#[test]
fn values_are_changed_in_place() {
    for suffix in SUFFIXES {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s").with_extension(suffix);
        drop(make(&path));
        let mut writer = StoreWriter::open(&path).unwrap();
        let items: Vec<u8> = [4_i32, 5].iter().flat_map(|item| item.to_le_bytes()).collect();
        let appended: Edited = writer.edit_array("/a", |array| Ok(array.append_bytes(0, &items)?));
        appended.unwrap();
        let appended: Edited = writer.edit_schunk("/b", |schunk| Ok(schunk.append(b" and more")?));
        appended.unwrap();
        // A failure leaves the value as it was.
        let failed: Edited = writer.edit_schunk("/b", |schunk| {
            schunk.append(b"lost")?;
            Err("of the caller".into())
        });
        assert_eq!(failed.unwrap_err().to_string(), "of the caller");
        let missing: Result<(), Error> = writer.edit_schunk("/none", |_| Ok(()));
        assert!(matches!(missing, Err(Error::Param(Param::NoKey { .. }))));
        let no_array: Result<(), Error> = writer.edit_array("/b", |_| Ok(()));
        no_array.unwrap_err();
        let store = writer.commit().unwrap();
        let expected: Vec<u8> = (1_i32..=5).flat_map(i32::to_le_bytes).collect();
        assert_eq!(bytes_of(&store, "/a")[..20], expected, "{suffix}");
        assert_eq!(bytes_of(&store, "/b"), b"bytes of b and more");
        assert_eq!(store.attributes("/a").unwrap(), [("of a".to_owned(), Value::Float(0.5))]);
        let frame = store.frame_bytes("/b").unwrap();
        assert_eq!(SChunk::from_store(frame).unwrap().nbytes(), 19);
    }
}

#[test]
fn names_of_attributes_are_checked_before_they_are_written() {
    let many: Vec<String> = (0..17).map(|n| format!("a{n}")).collect();
    let names = |count: usize| many.iter().take(count).map(String::as_str);
    StoreWriter::check_attributes("/", names(16)).unwrap();
    let error = StoreWriter::check_attributes("/", names(17)).unwrap_err();
    assert!(matches!(error, Error::Param(Param::AttributeCount { count: 17, .. })));
    for name in ["", &"n".repeat(32)] {
        let error = StoreWriter::check_attributes("/", [name]).unwrap_err();
        assert!(matches!(error, Error::Param(Param::AttributeName { .. })), "{name}");
    }
}
