//! Rounds of requests to far storage: one for all metadata of a table, and two for rows of all of
//! its columns.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in small files"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bcolz_store::{CTable, CTableWriter, CreateOptions, OpenOptions};
use blosc_io::steps::{FetchedTree, Step};

/// The files below a folder by their paths.
fn files(root: &Path, below: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(root.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        match entry.path().is_dir() {
            true => files(root, &path, found),
            false => drop(found.insert(path, std::fs::read(entry.path()).unwrap())),
        }
    }
}

/// Runs work until no file is missing; returns the number of rounds.
fn run<T>(
    files: &BTreeMap<String, Vec<u8>>,
    tree: &FetchedTree,
    work: impl Fn() -> bcolz_store::error::Result<T>,
) -> (T, usize) {
    for rounds in 0..50 {
        match tree.step(&work).unwrap() {
            Step::Done(done) => return (done, rounds),
            Step::Fetch(fetches) => {
                for (path, fetch) in fetches {
                    let len = files[&path].len() as u64;
                    let range = fetch.range(len);
                    let bytes = &files[&path][range.start as usize..range.end as usize];
                    tree.add(&path, range.start, bytes, len).unwrap();
                }
            }
        }
    }
    panic!("too many rounds")
}

#[test]
fn a_table_opens_in_one_round_and_rows_take_two() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("t.bcolz");
    let names = ["a", "b", "c", "d"];
    // Chunks of 4 kB, of 400 kB in several blocks, of text, and of one value.
    let new = |dtype: &str, len| CreateOptions::new(dtype.parse().unwrap()).chunklen(Some(len));
    let columns = [
        ("a", new("<i4", 1_000)),
        ("b", new("<f8", 50_000)),
        ("c", new("|S5", 7_000)),
        ("d", new("<i8", 9_000)),
    ];
    let nrows = 200_000_usize;
    let mut state = 1_u64;
    let mut noise = |len: usize| -> Vec<u8> {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as u8
        };
        (0..len).map(|_| next()).collect()
    };
    let data = [noise(4 * nrows), noise(8 * nrows), noise(5 * nrows), vec![0; 8 * nrows]];
    let mut writer = CTableWriter::create(&root, &columns).unwrap();
    writer.append(&data.each_ref().map(|column| &column[..])).unwrap();
    writer.finish().unwrap();
    let mut stored = BTreeMap::new();
    files(&root, "", &mut stored);
    let listing = stored.iter().map(|(path, bytes)| (path.clone(), bytes.len() as u64));
    let tree = Arc::new(FetchedTree::new(listing, 64 << 20));
    let options = OpenOptions::default();

    let open = || CTable::open_in(Arc::clone(&tree) as _, "", &options);
    let (far, rounds) = run(&stored, &tree, open);
    assert_eq!(rounds, 1);
    let local = CTable::open(&root).unwrap();
    for rows in [0..100, 49_990..50_010, 3..150_000, 0..200_000, 199_999..200_000] {
        tree.forget();
        let read = |table: &CTable| {
            table.prefetch(names, rows.clone());
            names
                .iter()
                .map(|name| table.column(name)?.read(rows.clone()))
                .collect::<Result<Vec<_>, _>>()
        };
        let (found, rounds) = run(&stored, &tree, || read(&far));
        assert!(found == read(&local).unwrap(), "{rows:?}");
        assert!(rounds <= 2, "{rounds} for {rows:?}");
        assert_eq!(run(&stored, &tree, || read(&far)).1, 0);
        // A column that is read without an announcement of all takes as many rounds alone.
        tree.forget();
        let (_, rounds) = run(&stored, &tree, || far.column("b")?.read(rows.clone()));
        assert!(rounds <= 2, "{rounds} for {rows:?} of b");
    }
    tree.forget();
    let rows = [5, 199_000, 77_777, 77_778, 5];
    let (found, rounds) = run(&stored, &tree, || far.column("b")?.read_rows(&rows));
    assert_eq!(found, local.column("b").unwrap().read_rows(&rows).unwrap());
    assert!(rounds <= 2, "{rounds}");
    tree.forget();
    let count = |table: &CTable| table.scan().filter("(a > 0) & (b < 1)")?.count();
    let (found, rounds) = run(&stored, &tree, || count(&far));
    assert_eq!(found, count(&local).unwrap());
    assert!(rounds <= 8, "{rounds}");
}
