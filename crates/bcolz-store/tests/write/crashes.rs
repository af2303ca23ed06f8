//! Leftovers of killed writers, two writers at a time, and changes of other programs.
//! `blosc-trials` shows for every operation that an interrupted change leaves the old or the new
//! state.

use std::sync::{Arc, Barrier};

use bcolz_store::tree::{DirTree, MemTree, Tree};
use bcolz_store::{
    Attrs, CArray, CArrayWriter, CTable, CTableWriter, CreateOptions, Dtype, Error, LockWait,
    OpenOptions, Result,
};
use blosc_io::testing::FailingTree;

fn options(chunklen: u64) -> CreateOptions {
    CreateOptions::new(Dtype::parse("int8").unwrap()).chunklen(Some(chunklen))
}

fn rows(len: u64) -> Vec<u8> {
    (0..len).map(|row| u8::try_from(row * 7 % 128).unwrap()).collect()
}

/// An array and a table of three columns with different chunk lengths.
fn data_sets(len: u64) -> MemTree {
    let tree = Arc::new(MemTree::new());
    let mut array = CArrayWriter::create_in(tree.clone(), "array", &options(4)).unwrap();
    array.append(&rows(len)).unwrap();
    array.finish().unwrap();
    let columns = [("a", options(3)), ("b", options(5)), ("c", options(100))];
    let mut table = CTableWriter::create_in(tree.clone(), "table", &columns).unwrap();
    table.append(&[&rows(len), &rows(len), &rows(len)]).unwrap();
    table.finish().unwrap();
    MemTree::clone(&tree)
}

fn read_array(tree: &Arc<MemTree>) -> Vec<u8> {
    let array = CArray::open_in(tree.clone(), "array", &OpenOptions::default()).unwrap();
    array.read(0..array.len()).unwrap()
}

/// Rows of the table, which are the same in all columns.
fn read_table(tree: &Arc<MemTree>) -> Vec<u8> {
    let table = CTable::open_in(tree.clone(), "table", &OpenOptions::default()).unwrap();
    let columns: Vec<Vec<u8>> =
        table.columns().iter().map(|column| column.array.read(0..table.len()).unwrap()).collect();
    assert!(columns.iter().all(|column| *column == columns[0]));
    columns.into_iter().next().unwrap_or_default()
}

fn append(tree: Arc<dyn Tree>, more: &[u8]) -> Result<()> {
    let mut table = CTableWriter::open_in(tree, "table", &OpenOptions::default())?;
    table.append(&[more, more, more])?;
    table.finish()
}

fn array_writer(tree: Arc<dyn Tree>) -> Result<CArrayWriter> {
    CArrayWriter::open_in(tree, "array", &OpenOptions::default())
}

fn array_append(tree: Arc<dyn Tree>, more: &[u8]) -> Result<()> {
    let mut array = array_writer(tree)?;
    array.append(more)?;
    array.finish()
}

#[test]
fn half_a_note_of_a_renaming_does_not_obstruct_the_next_writer() {
    for note in ["", "{\"from\": \"b\", \"t", "{\"from\": \"b\"}", "\0\0\0\0"] {
        let tree = Arc::new(data_sets(20));
        tree.write("table/__rename__", note.as_bytes()).unwrap();
        assert_eq!(read_table(&tree), rows(20));
        append(tree.clone(), b"x").unwrap();
        assert_eq!(read_table(&tree), [&rows(20)[..], b"x"].concat());
        assert!(tree.open("table/__rename__").is_err());
    }
}

#[test]
fn what_killed_writers_left_is_counted_and_removed_by_the_next_one() {
    let tree = Arc::new(data_sets(20));
    for path in [
        "array/meta/sizes.__temp__",
        "array/data/__2.blp.__temp__",
        "array/data/__5.blp",
        "array/data/__17.blp",
        "table/__rootdirs__.__temp__",
        "table/b/data/__9.blp",
    ] {
        tree.write(path, &[1; 100]).unwrap();
    }
    tree.create_dir("table/d.__temp__").unwrap();
    tree.create_dir("table/d.__temp__/data").unwrap();
    tree.write("table/d.__temp__/data/__0.blp", &[1; 30]).unwrap();
    let dead = || {
        let array = CArray::open_in(tree.clone(), "array", &OpenOptions::default()).unwrap();
        let table = CTable::open_in(tree.clone(), "table", &OpenOptions::default()).unwrap();
        (array.dead_nbytes().unwrap(), table.dead_nbytes().unwrap())
    };
    assert_eq!(dead(), (400, 230));
    append(tree.clone(), b"x").unwrap();
    array_append(tree.clone(), b"x").unwrap();
    assert_eq!(dead(), (0, 0));
    assert!(tree.open("array/data/__17.blp").is_err() && tree.list("table/d.__temp__").is_err());
    assert_eq!(read_array(&tree), [&rows(20)[..], b"x"].concat());
}

/// The names and bytes of all files below a folder.
fn files(tree: &dyn Tree, folder: &str) -> Vec<(String, Vec<u8>)> {
    let mut found = vec![];
    for entry in tree.list(folder).unwrap() {
        let path = format!("{folder}/{}", entry.name);
        match tree.open(&path) {
            Ok(file) => {
                let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
                file.read_exact_at(0, &mut bytes).unwrap();
                found.push((path, bytes));
            }
            Err(_) => found.extend(files(tree, &path)),
        }
    }
    found.sort();
    found
}

#[test]
fn an_append_that_fails_leaves_the_files_as_they_were() {
    // All arrays have partial chunks; three more rows fill some, and forty begin new ones.
    let before = data_sets(22);
    let all = |tree: &dyn Tree| [files(tree, "array"), files(tree, "table")].concat();
    let mut nfailed = 0;
    for more in [3, 40] {
        for count in 0.. {
            let plain = MemTree::new();
            for (path, bytes) in all(&before) {
                make_folders(&plain, &path);
                plain.write(&path, &bytes).unwrap();
            }
            let tree = Arc::new(FailingTree::new(plain));
            let done = |tree: Arc<FailingTree<MemTree>>| {
                array_append(tree.clone(), &rows(more)).and_then(|()| append(tree, &rows(more)))
            };
            tree.plan().fail_at(count, std::io::ErrorKind::StorageFull);
            if done(tree.clone()).is_ok() && tree.plan().is_pending() {
                break;
            }
            nfailed += 1;
            let found = all(&*tree);
            // Each data set has its old or its new content.
            for folder in ["array/", "table/a/", "table/b/", "table/c/"] {
                let of = |files: &[(String, Vec<u8>)]| -> Vec<(String, Vec<u8>)> {
                    files.iter().filter(|(path, _)| path.starts_with(folder)).cloned().collect()
                };
                let sizes = |files: &[(String, Vec<u8>)]| {
                    files.iter().find(|(path, _)| *path == format!("{folder}meta/sizes")).cloned()
                };
                if sizes(&found) == sizes(&all(&before)) {
                    assert!(of(&found) == of(&all(&before)), "{folder} {more} {count}");
                }
            }
        }
    }
    assert!(nfailed > 40, "{nfailed}");
}

fn make_folders(tree: &MemTree, path: &str) {
    for (at, _) in path.match_indices('/') {
        let _ = tree.create_dir(&path[..at]);
    }
}

#[test]
fn a_change_of_another_program_is_noticed_before_anything_is_written() {
    let changes: [fn(&mut CArrayWriter) -> Result<()>; 4] = [
        |writer| writer.append(b"x").and_then(|()| writer.flush()),
        |writer| writer.append(&rows(100)),
        |writer| writer.trim(3),
        |writer| writer.write_rows(0, b"zz"),
    ];
    for change in changes {
        let tree = Arc::new(data_sets(20));
        let mut writer = array_writer(tree.clone()).unwrap();
        // bcolz takes no lock.
        let foreign = "{\"shape\": [18], \"nbytes\": 18, \"cbytes\": 9}\n";
        tree.write("array/meta/sizes", foreign.as_bytes()).unwrap();
        let before = MemTree::clone(&tree);
        let error = change(&mut writer).unwrap_err();
        assert_eq!(error.to_string(), "array/meta/sizes: changed by another program");
        assert!(matches!(error, Error::ChangedByOther { .. }));
        drop(writer);
        assert_eq!(read_array(&tree), read_array(&Arc::new(before)));
    }
}

#[cfg(unix)]
#[test]
fn two_writers_at_a_time_both_take_effect() {
    const NWRITERS: usize = 4;
    let dir = tempfile::tempdir().unwrap();
    let tree = Arc::new(DirTree::new(dir.path()));
    CArrayWriter::create_in(tree.clone(), "array", &options(4)).unwrap();
    let columns = [("a", options(3)), ("b", options(5)), ("c", options(100))];
    CTableWriter::create_in(tree.clone(), "table", &columns).unwrap();
    let barrier = Arc::new(Barrier::new(NWRITERS));
    let threads: Vec<_> = (0..NWRITERS)
        .map(|n| {
            let (tree, barrier) = (tree.clone(), barrier.clone());
            std::thread::spawn(move || {
                let data = [u8::try_from(n).unwrap(); 3];
                for round in 0..5 {
                    barrier.wait();
                    append(tree.clone(), &data).unwrap();
                    array_append(tree.clone(), &data).unwrap();
                    Attrs::update_in(&*tree, "array", &LockWait::default(), |attrs| {
                        attrs.set(&format!("{n} {round}"), 1.0);
                        Ok::<_, Error>(())
                    })
                    .unwrap();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let array = CArray::open_in(tree.clone(), "array", &OpenOptions::default()).unwrap();
    let table = CTable::open_in(tree, "table", &OpenOptions::default()).unwrap();
    let len = NWRITERS as u64 * 15;
    assert_eq!((array.len(), table.len()), (len, len));
    assert_eq!(array.attrs().unwrap().len(), NWRITERS * 5);
    assert_eq!(table.notes().count(), 0);
    let mut found = table.column("c").unwrap().read(0..len).unwrap();
    assert!(found.chunks(3).all(|rows| rows.iter().all(|row| *row == rows[0])));
    found.sort_unstable();
    assert_eq!(found, (0..4_u8).flat_map(|n| [n; 15]).collect::<Vec<u8>>());
}

#[cfg(unix)]
#[test]
fn a_lock_that_is_held_too_long_is_an_error_that_names_the_holder() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("a");
    let writer = CArrayWriter::create(&root, &options(4)).unwrap();
    let tree = Arc::new(DirTree::new(&root));
    let impatient = OpenOptions::default().lock(LockWait::never());
    let error = CArrayWriter::open_in(tree.clone(), "", &impatient).unwrap_err();
    assert!(matches!(&error, Error::Locked { path, .. } if path.is_empty()), "{error}");
    assert!(error.to_string().contains("locked by"), "{error}");
    let set = |attrs: &mut Attrs| {
        attrs.set("n", 1.0);
        Ok::<_, Error>(())
    };
    assert!(Attrs::update_in(&*tree, "", &LockWait::never(), set).is_err());
    // Readers need no lock.
    assert!(CArray::open(&root).unwrap().is_empty());
    drop(writer);
    CArrayWriter::open_in(tree, "", &impatient).unwrap();
}
