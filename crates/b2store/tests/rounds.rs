//! Rounds of a caller that fetches by itself: two for an archive with all of its tables and values,
//! and two for rows of all columns of a table.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in small files"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use b2store::{Column, ColumnKind, ColumnValues, NewColumn, OpenOptions, Store, StoreWriter};
use blosc_io::ReadAt;
use blosc_io::steps::{FetchedFile, FetchedTree, Step};

const NAMES: [&str; 4] = ["i", "x", "s", "b"];

/// A store with a table, and an array beside it.
fn write(path: &Path) {
    let mut state = 1_u64;
    let mut noise = |len: usize| -> Vec<u8> {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as u8
        };
        (0..len).map(|_| next()).collect()
    };
    let nrows = 100_000;
    let columns = [
        NewColumn::new("i", ColumnKind::Fixed("i8")),
        NewColumn::new("x", ColumnKind::Fixed("f4")),
        NewColumn::new("s", ColumnKind::Fixed("i2")),
        NewColumn::new("b", ColumnKind::Fixed("u1")),
    ];
    let values = [("<i8", 8), ("<f4", 4), ("<i2", 2), ("|u1", 1)]
        .map(|(dtype, size)| ColumnValues::fixed(dtype.parse().unwrap(), noise(size * nrows)));
    let mut writer = StoreWriter::create(path).unwrap();
    writer.insert_table("/t", &columns, &values).unwrap();
    writer.commit().unwrap();
}

fn rows_of(
    columns: &[Column],
    rows: core::ops::Range<u64>,
) -> b2store::error::Result<Vec<ColumnValues>> {
    Column::prefetch(columns, &rows);
    columns.iter().map(|column| column.read(rows.clone())).collect()
}

fn columns(store: &Store) -> b2store::error::Result<Vec<Column>> {
    let table = store.table("/t")?;
    table.len()?;
    NAMES.iter().map(|name| table.column(name)).collect()
}

#[test]
fn an_archive_opens_in_two_rounds_and_rows_take_two() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.b2z");
    write(&path);
    let content = std::fs::read(&path).unwrap();
    let len = content.len() as u64;
    let file = Arc::new(FetchedFile::new(64 << 20));
    fn run<T>(
        content: &[u8],
        file: &FetchedFile,
        work: impl Fn() -> b2store::error::Result<T>,
    ) -> (T, usize) {
        let len = content.len() as u64;
        for rounds in 0..50 {
            match file.step(&work).unwrap() {
                Step::Done(done) => return (done, rounds),
                Step::Fetch(fetches) => {
                    for fetch in fetches {
                        let range = fetch.range(len);
                        let bytes = &content[range.start as usize..range.end as usize];
                        file.add(range.start, bytes, len).unwrap();
                    }
                }
            }
        }
        panic!("too many rounds")
    }
    let options = OpenOptions::default();
    let open = || Store::from_store(Arc::clone(&file) as Arc<dyn ReadAt>, &options);
    let (far, rounds) = run(&content, &file, open);
    assert!(rounds <= 2, "{rounds}");
    assert!(file.known_nbytes() < len / 2);
    // The table's frames were announced with the archive; the flags of alive rows are read now.
    let (far, rounds) = run(&content, &file, || columns(&far));
    assert!(rounds <= 2, "{rounds}");
    let local = columns(&Store::open(&path).unwrap()).unwrap();
    for rows in [0..10, 50_000..50_100, 0..100_000] {
        let (found, rounds) = run(&content, &file, || rows_of(&far, rows.clone()));
        assert!(found == rows_of(&local, rows.clone()).unwrap(), "{rows:?}");
        assert!(rounds <= 2, "{rounds} for {rows:?}");
        assert_eq!(run(&content, &file, || rows_of(&far, rows.clone())).1, 0);
    }
}

#[test]
fn a_directory_takes_as_many() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.b2d");
    write(&path);
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut folders = vec![path.clone()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let found = entry.unwrap().path();
            if found.is_dir() {
                folders.push(found);
                continue;
            }
            let name = found.strip_prefix(&path).unwrap().to_str().unwrap().replace('\\', "/");
            files.insert(name, std::fs::read(&found).unwrap());
        }
    }
    let listing = files.iter().map(|(name, bytes)| (name.clone(), bytes.len() as u64));
    let tree = Arc::new(FetchedTree::new(listing, 64 << 20));
    let options = OpenOptions::default();
    fn run<T>(
        files: &BTreeMap<String, Vec<u8>>,
        tree: &FetchedTree,
        work: impl Fn() -> b2store::error::Result<T>,
    ) -> (T, usize) {
        for rounds in 0..50 {
            match tree.step(&work).unwrap() {
                Step::Done(done) => return (done, rounds),
                Step::Fetch(fetches) => {
                    for (name, fetch) in fetches {
                        let len = files[&name].len() as u64;
                        let range = fetch.range(len);
                        let bytes = &files[&name][range.start as usize..range.end as usize];
                        tree.add(&name, range.start, bytes, len).unwrap();
                    }
                }
            }
        }
        panic!("too many rounds")
    }
    let open = || columns(&Store::from_tree(Arc::clone(&tree) as _, &options)?);
    let (far, rounds) = run(&files, &tree, open);
    assert!(rounds <= 2, "{rounds}");
    let local = columns(&Store::open(&path).unwrap()).unwrap();
    for rows in [0..10, 50_000..50_100] {
        let (found, rounds) = run(&files, &tree, || rows_of(&far, rows.clone()));
        assert!(found == rows_of(&local, rows.clone()).unwrap(), "{rows:?}");
        assert!(rounds <= 2, "{rounds} for {rows:?}");
    }
}
