//! What can be saved of damaged data sets: everything can be read afterwards, and what is gone is
//! told.

#[path = "support/tree.rs"]
mod tree;

use std::sync::Arc;

use bcolz_store::tree::{DirTree, MemTree, Tree};
use bcolz_store::{
    Action, CArray, CArrayWriter, CTable, CTableWriter, CreateOptions, DataSet, Dtype, OpenOptions,
};
use bcolz_store::{open_in, rescue_in};
use blosc_testdata::fixture;

fn rescued(tree: &Arc<MemTree>) -> Vec<Action> {
    let found = rescue_in(tree.clone(), "", &OpenOptions::default()).unwrap();
    assert!(
        open_in(tree.clone(), "", &OpenOptions::default())
            .unwrap()
            .verify(&bcolz_store::VerifyOptions::default(), |_| ())
            .unwrap()
            .is_ok()
    );
    assert_eq!(rescue_in(tree.clone(), "", &OpenOptions::default()).unwrap(), []);
    found
}

fn texts(actions: &[Action]) -> Vec<String> {
    actions.iter().map(ToString::to_string).collect()
}

fn array(len: u8) -> Arc<MemTree> {
    let tree = Arc::new(MemTree::new());
    let dflt = bcolz_store::Json::Int(-1);
    let options =
        CreateOptions::new(Dtype::parse("int8").unwrap()).chunklen(Some(10)).dflt(Some(dflt));
    let mut writer = CArrayWriter::create_in(tree.clone(), "a", &options).unwrap();
    writer.append(&(0..len).collect::<Vec<_>>()).unwrap();
    writer.finish().unwrap();
    tree
}

fn rows(tree: &Arc<MemTree>) -> Vec<i8> {
    let array = CArray::open_in(tree.clone(), "a", &OpenOptions::default()).unwrap();
    array.read_as(0..array.len()).unwrap()
}

#[test]
fn chunks_that_do_not_decode_get_the_fill_value() {
    for (wrong, expected) in
        [(1, [(0, 0), (10, -1), (19, -1), (20, 20)]), (2, [(0, 0), (10, 10), (20, -1), (24, -1)])]
    {
        let tree = array(25);
        tree.write(&format!("a/data/__{wrong}.blp"), b"nonsense").unwrap();
        let found = rescue_in(tree.clone(), "a", &OpenOptions::default()).unwrap();
        let rows_in = if wrong == 2 { 5 } else { 10 };
        assert_eq!(
            texts(&found),
            [format!("a: filled chunk {wrong}, {rows_in} rows, with the fill value")]
        );
        assert!(found[0].what.is_loss());
        let rows = rows(&tree);
        assert_eq!(rows.len(), 25);
        for (row, value) in expected {
            assert_eq!(rows[row], value, "{wrong} {row}");
        }
    }
}

#[test]
fn a_length_that_makes_no_sense_is_counted_again() {
    for sizes in [
        "",
        "{}",
        "{\"shape\": [-3]}",
        "{\"shape\": [9223372036854775807, 9], \"nbytes\": 0, \"cbytes\": 0}",
    ] {
        let tree = array(25);
        tree.write("a/meta/sizes", sizes.as_bytes()).unwrap();
        let found = rescue_in(tree.clone(), "a", &OpenOptions::default()).unwrap();
        assert_eq!(texts(&found), ["a: counted 25 rows"], "{sizes}");
        assert_eq!(rows(&tree), (0..25).collect::<Vec<i8>>());
    }
}

#[test]
fn a_length_without_chunks_is_not_filled_forever() {
    let tree = array(25);
    tree.write("a/meta/sizes", b"{\"shape\": [1000000000000], \"nbytes\": 0, \"cbytes\": 0}")
        .unwrap();
    tree.write("a/data/__3.blp", b"").unwrap();
    assert!(rescue_in(tree, "a", &OpenOptions::default()).is_err());
}

#[test]
fn columns_that_are_lost_leave_the_others() {
    let tree = Arc::new(MemTree::new());
    let options = || CreateOptions::new(Dtype::parse("int8").unwrap());
    let columns = ["a", "b", "c"].map(|name| (name, options()));
    let mut writer = CTableWriter::create_in(tree.clone(), "", &columns).unwrap();
    writer.append(&[&[1, 2, 3], &[4, 5, 6], &[7, 8, 9]]).unwrap();
    writer.finish().unwrap();
    tree.write("b/meta/storage", b"").unwrap();
    tree.write("__attrs__", b"[]").unwrap();
    tree.write("__rootdirs__", b"{\"names\": [\"a\", \"b\", \"c\", \"../x\", \"a\"]}").unwrap();
    let found = texts(&rescued(&tree));
    let expected = [
        ".: gave up attributes that make no sense",
        ".: gave up column \"b\"",
        ".: gave up column \"../x\"",
        ".: gave up column \"a\"",
    ];
    assert_eq!(found, expected);
    let table = CTable::open_in(tree.clone(), "", &OpenOptions::default()).unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(table.read_records(0..3).unwrap(), [1, 7, 2, 8, 3, 9]);
    tree.write("__rootdirs__", b"").unwrap();
    assert_eq!(
        texts(&rescued(&tree)),
        [".: found 3 columns by their directories", ".: gave up column \"b\""]
    );
}

#[test]
fn every_malformed_sample_becomes_readable_or_is_refused() {
    let mut saved = 0;
    for entry in std::fs::read_dir(fixture::path("bcolz/malformed"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if !entry.is_dir() {
            continue;
        }
        let tree = Arc::new(MemTree::new());
        tree::copy(&DirTree::new(&entry), &*tree, "");
        let found = rescue_in(tree.clone(), "", &OpenOptions::default());
        match open_in(tree.clone(), "", &OpenOptions::default()) {
            Ok(set) => {
                let sound =
                    set.verify(&bcolz_store::VerifyOptions::default(), |_| ()).unwrap().is_ok();
                assert_eq!(found.is_ok(), sound, "{entry:?} {found:?}");
                saved +=
                    u32::from(sound && !matches!(&set, DataSet::CArray(array) if array.is_empty()));
            }
            Err(_) => assert!(found.is_err(), "{entry:?} {found:?}"),
        }
    }
    assert!(saved > 20, "{saved}");
}
