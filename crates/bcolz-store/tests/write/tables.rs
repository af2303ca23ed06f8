//! Tables that are made, changed, broken and repaired.

use std::collections::BTreeSet;
use std::sync::Arc;

use bcolz_store::tree::{DirTree, MemTree, Tree};
use bcolz_store::{
    CArray, CArrayWriter, CTable, CTableWriter, CreateOptions, Dtype, Json, OpenOptions, Result,
    repair::{Repair, repair, repair_in},
};
use blosc_testdata::fixture;

use super::states::states;
use crate::tree;

fn options(dtype: &str, chunklen: u64) -> CreateOptions {
    CreateOptions::new(Dtype::parse(dtype).unwrap()).chunklen(Some(chunklen))
}

/// Rows `range` of the three columns.
fn rows(range: core::ops::Range<i16>) -> [Vec<u8>; 3] {
    [
        range.clone().flat_map(i16::to_le_bytes).collect(),
        range.clone().flat_map(|n| f64::from(n).to_le_bytes()).collect(),
        range.flat_map(|n| [n.to_le_bytes()[0], 0, 1]).collect(),
    ]
}

fn create(tree: Arc<dyn Tree>) -> Result<CTableWriter> {
    let columns = [
        ("a", options("int16", 7)),
        ("b", options("float64", 10)),
        ("c", options("uint8", 4).row_shape(vec![3]).dflt(Some(Json::Int(9)))),
    ];
    CTableWriter::create_in(tree, "", &columns)
}

fn append(writer: &mut CTableWriter, range: core::ops::Range<i16>) -> Result<()> {
    let [a, b, c] = rows(range);
    writer.append(&[&a, &b, &c])
}

/// A table of `len` rows.
fn table(len: i16) -> Arc<MemTree> {
    let tree = Arc::new(MemTree::new());
    let mut writer = create(tree.clone()).unwrap();
    append(&mut writer, 0..len).unwrap();
    writer.finish().unwrap();
    tree
}

fn open(tree: &Arc<MemTree>) -> CTable {
    CTable::open_in(tree.clone(), "", &OpenOptions::default()).unwrap()
}

fn writer(tree: Arc<dyn Tree>) -> Result<CTableWriter> {
    CTableWriter::open_in(tree, "", &OpenOptions::default())
}

/// Checks the rows of the table against [`rows`]; returns their number.
fn check(table: &CTable) -> u64 {
    let len = i16::try_from(table.len()).unwrap();
    for (column, expected) in table.columns().iter().zip(rows(0..len)) {
        assert_eq!(column.array.read(0..table.len()).unwrap(), expected, "{}", column.name);
    }
    table.len()
}

#[test]
fn a_table_lives_as_its_columns_do() {
    let tree = table(25);
    let mut table = writer(tree.clone()).unwrap();
    append(&mut table, 25..40).unwrap();
    assert_eq!((table.len(), open(&tree).len()), (40, 25));
    table.flush().unwrap();
    assert_eq!(check(&open(&tree)), 40);
    append(&mut table, 40..44).unwrap();
    table.trim(20).unwrap();
    assert_eq!(check(&open(&tree)), 24);
    table.resize(26).unwrap();
    let found = open(&tree);
    assert_eq!(found.column("c").unwrap().read(23..26).unwrap(), [23, 0, 1, 9, 9, 9, 9, 9, 9]);
    assert_eq!(found.column("a").unwrap().read_as::<i16>(23..26).unwrap(), [23, 0, 0]);
    table.write_rows("a", 24, &[7, 0, 8, 0]).unwrap();
    table.set_attr("t", "x").unwrap();
    table.finish().unwrap();
    assert_eq!(open(&tree).column("a").unwrap().read_as::<i16>(23..26).unwrap(), [23, 7, 8]);
    assert_eq!(open(&tree).attrs().unwrap().get("t"), Some(&Json::from("x")));
    assert!(
        open(&tree)
            .verify(&bcolz_store::verify::VerifyOptions::default(), |_| ())
            .unwrap()
            .notes
            .is_empty()
    );
}

#[test]
fn records_go_in_as_they_come_out() {
    let tree = table(30);
    let records = open(&tree).read_records(0..30).unwrap();
    let other = Arc::new(MemTree::new());
    let mut copy = create(other.clone()).unwrap();
    copy.append_records(&records).unwrap();
    copy.finish().unwrap();
    assert_eq!(check(&open(&other)), 30);
}

#[test]
fn columns_come_go_and_change_their_names() {
    let tree = table(12);
    let mut table = writer(tree.clone()).unwrap();
    let flags: Vec<u8> = (0..12).map(|n| n % 2).collect();
    table.add_column("flags", &options("bool", 5), &flags).unwrap();
    table.rename_column("a", "zwölf").unwrap();
    table.delete_column("b").unwrap();
    append_mixed(&mut table);
    table.finish().unwrap();
    let found = open(&tree);
    assert_eq!(found.names().collect::<Vec<_>>(), ["zwölf", "c", "flags"]);
    assert_eq!(found.len(), 13);
    assert_eq!(found.column("flags").unwrap().read(0..12).unwrap(), flags);
    assert_eq!(found.column("zwölf").unwrap().read_as::<i16>(11..13).unwrap(), [11, 12]);
    assert!(
        found
            .verify(&bcolz_store::verify::VerifyOptions::default(), |_| ())
            .unwrap()
            .notes
            .is_empty()
    );
}

fn append_mixed(table: &mut CTableWriter) {
    table.append(&[&12_i16.to_le_bytes(), &[12, 0, 1], &[1]]).unwrap();
}

#[test]
fn what_cannot_be_is_refused() {
    let tree = table(5);
    tree.create_dir("old").unwrap();
    let mut table = writer(tree).unwrap();
    let text = |result: Result<()>| result.unwrap_err().to_string();
    let plain = options("int8", 1);
    assert_eq!(
        text(table.add_column("../x", &plain, &[])),
        "column \"../x\" has a character that no directory may have"
    );
    assert_eq!(text(table.add_column("a", &plain, &[0; 5])), "there is a column \"a\"");
    assert_eq!(text(table.add_column("old", &plain, &[0; 5])), "old exists");
    assert_eq!(
        text(table.add_column("new", &plain, &[0; 4])),
        "column \"new\" has 4 rows, others 5"
    );
    assert_eq!(text(table.rename_column("a", "b")), "there is a column \"b\"");
    assert_eq!(text(table.delete_column("x")), "no column \"x\"");
    assert_eq!(text(table.append(&[&[0; 2]])), "data for 1 of 3 columns");
    assert_eq!(
        text(table.append(&[&[0; 2], &[0; 8], &[0; 6]])),
        "column \"c\" has 2 rows, others 1"
    );
    assert_eq!(
        text(table.append(&[&[0; 2], &[0; 7], &[0; 3]])),
        "7 bytes are no whole number of rows of 8 bytes"
    );
    assert_eq!(text(table.trim(6)), "rows 0..6 of 5");
    let twice = [("a", plain.clone()), ("a", plain)];
    let error = CTableWriter::create_in(Arc::new(MemTree::new()), "", &twice).unwrap_err();
    assert_eq!(error.to_string(), "there is a column \"a\"");
}

#[test]
fn a_crash_among_columns_leaves_a_table_that_repair_completes() {
    type Change = fn(&mut CTableWriter) -> Result<()>;
    let changes: [(Change, &[&str]); 3] = [
        (|table| table.add_column("d", &options("int8", 5), &[1; 20]), &["a", "b", "c", "d"]),
        (|table| table.delete_column("b"), &["a", "c"]),
        (|table| table.rename_column("b", "d"), &["a", "d", "c"]),
    ];
    for (change, after) in changes {
        let mut seen = BTreeSet::new();
        for state in states(&table(20), |tree| change(&mut writer(tree)?)) {
            repair_in(state.clone(), "").unwrap();
            assert!(repair_in(state.clone(), "").unwrap().is_empty());
            let table = open(&state);
            assert_eq!(table.len(), 20);
            assert_eq!(table.column("c").unwrap().read(0..20).unwrap(), rows(0..20)[2]);
            for name in ["b", "d"] {
                let Ok(column) = table.column(name) else { continue };
                let flat = vec![1; 20];
                let data = column.read(0..20).unwrap();
                assert!(data == flat || data == rows(0..20)[1]);
            }
            seen.insert(table.names().map(str::to_owned).collect::<Vec<_>>());
        }
        let expected: BTreeSet<Vec<String>> = [&["a", "b", "c"][..], after]
            .map(|names| names.iter().map(|name| (*name).to_owned()).collect())
            .into();
        assert_eq!(seen, expected);
    }
}

#[test]
fn a_crash_while_creating_leaves_no_table_or_an_empty_one() {
    let states = states(&MemTree::new(), |tree| create(tree)?.finish());
    let opened = states.iter().filter(|state| state.open("__rootdirs__").is_ok()).count();
    assert_eq!(opened, 1);
    assert_eq!(check(&open(states.last().unwrap())), 0);
}

#[test]
fn leftovers_of_bcolz_are_repaired() {
    let copy = |name: &str| {
        let tree = Arc::new(MemTree::new());
        tree::copy(&DirTree::new(fixture::path("bcolz").join(name)), &*tree, "");
        tree
    };
    let what = |tree: &Arc<MemTree>| {
        repair_in(tree.clone(), "")
            .unwrap()
            .into_iter()
            .map(|action| action.what)
            .collect::<Vec<_>>()
    };
    let torn = copy("ct_torn_append");
    assert_eq!(what(&torn), [Repair::Trimmed { from: 53, to: 50 }]);
    assert!(open(&torn).notes().next().is_none());
    assert_eq!(what(&copy("synth_ca_no_attrs")), [Repair::Attrs]);
    assert_eq!(what(&copy("synth_ca_attrs_zero_bytes")), [Repair::Attrs]);
    for name in ["ca_appended", "ct_basic", "ca_unflushed", "ca_object", "ca_empty", "ca_3d"] {
        assert_eq!(what(&copy(name)), [], "{name}");
    }
    // A lost meta/sizes: the length is that of the chunks.
    for (name, lost) in
        [("ca_i4", 0), ("ca_unflushed", 0), ("ca_object", 0), ("ca_2d", 0), ("ca_exact", 0)]
    {
        let tree = copy(name);
        let before = CArray::open_in(tree.clone(), "", &OpenOptions::default()).unwrap();
        if lost == 0 {
            tree.remove("meta/sizes").unwrap()
        } else {
            tree.write("meta/sizes", b"").unwrap()
        }
        let actions = what(&tree);
        let after = CArray::open_in(tree, "", &OpenOptions::default()).unwrap();
        assert_eq!(actions, [Repair::Sizes { len: after.len() }], "{name}");
        assert!(after.len() >= before.len(), "{name}");
        assert_eq!(after.rowsize(), before.rowsize(), "{name}");
        assert!(
            after.verify(&bcolz_store::verify::VerifyOptions::default(), |_| ()).unwrap().is_ok(),
            "{name}"
        );
    }
    // An interrupted trim of bcolz: chunks are gone, but the length is the old one.
    let tree = copy("ca_appended");
    let before = CArray::open_in(tree.clone(), "", &OpenOptions::default()).unwrap();
    tree.remove(&format!("data/__{}.blp", before.nchunks() - 1)).unwrap();
    let to = (before.nchunks() - 1) * before.chunklen();
    assert_eq!(what(&tree), [Repair::Shortened { from: before.len(), to }]);
    assert!(
        CArray::open_in(tree, "", &OpenOptions::default())
            .unwrap()
            .verify(&bcolz_store::verify::VerifyOptions::default(), |_| ())
            .unwrap()
            .is_ok()
    );
}

#[test]
fn a_damaged_chunk_does_not_take_others_with_it() {
    let tree = Arc::new(MemTree::new());
    let mut writer =
        CArrayWriter::create_in(tree.clone(), "", &options("uint8", 4).dflt(Some(Json::Int(7))))
            .unwrap();
    writer.append(b"abcdefghij").unwrap();
    writer.finish().unwrap();
    tree.write("data/__1.blp", b"blpk").unwrap();
    assert!(repair_in(tree.clone(), "").unwrap().is_empty());
    let array = CArray::open_in(tree, "", &OpenOptions::default()).unwrap();
    let (rows, error) = array.salvage_chunk(1).unwrap();
    assert_eq!(
        (rows, error.unwrap().to_string()),
        (vec![7; 4], "data/__1.blp: 4 bytes long, 32 are needed".into())
    );
    assert_eq!(array.salvage_chunk(2).unwrap().0, b"ij");
    assert!(array.salvage_chunk(3).is_err());
}

#[test]
fn a_column_that_claims_more_rows_than_anybody_has_is_trimmed() {
    let tree = table(21);
    tree.write("a/meta/sizes", b"{\"shape\": [1008806316530991104], \"nbytes\": 0, \"cbytes\": 0}")
        .unwrap();
    // The length cannot be corrected: another chunk follows the lost one.
    tree.remove("a/data/__1.blp").unwrap();
    let actions = repair_in(tree.clone(), "").unwrap();
    assert_eq!(actions.last().unwrap().what, Repair::Trimmed { from: 7 << 57, to: 21 });
    assert_eq!(open(&tree).len(), 21);
    let error = open(&tree).column("a").unwrap().read(0..21).unwrap_err();
    assert_eq!(error.to_string(), "a/data/__1.blp: is missing");
}

#[test]
fn tables_on_disk_are_repaired_in_place() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("t");
    let mut writer =
        CTableWriter::create(&root, &[("a", options("int8", 3)), ("b", options("int8", 5))])
            .unwrap();
    writer.append(&[&[1; 10], &[2; 10]]).unwrap();
    writer.rename_column("b", "c").unwrap();
    writer.finish().unwrap();
    let mut longer = CArrayWriter::open(root.join("a")).unwrap();
    longer.append(&[1; 5]).unwrap();
    longer.finish().unwrap();
    std::fs::remove_file(root.join("__attrs__")).unwrap();
    std::fs::write(root.join("a/meta/sizes.__temp__"), b"{").unwrap();
    let actions: Vec<String> = repair(&root).unwrap().iter().map(ToString::to_string).collect();
    let expected = [
        "a/meta: removed the unfinished \"sizes.__temp__\"",
        "a: trimmed from 15 to 10 rows",
        ".: wrote empty attributes",
    ];
    // Without locks, an unfinished file may be another writer's, and stays.
    assert_eq!(actions, expected[usize::from(!cfg!(unix))..]);
    assert_eq!(CTableWriter::open(&root).unwrap().len(), 10);
}
