//! Rescuing damaged data sets: afterwards all data are readable, and the actions name the losses.

use crate::arrays;
use crate::tree;

use std::sync::Arc;

use bcolz_store::tree::{DirTree, MemTree, Tree};
use bcolz_store::{
    CArray, CArrayWriter, CTable, CTableWriter, CreateOptions, DataSet, Dtype, OpenOptions,
    repair::{Action, Fill, Repair, RescueOptions},
};
use bcolz_store::{open_in, repair::rescue_in};
use blosc_testdata::fixture;

use arrays::{array, rows};

fn rescued(tree: &Arc<MemTree>) -> Vec<Action> {
    let found = rescue_in(tree.clone(), "", &OpenOptions::default(), &Fill::Zeros.into()).unwrap();
    assert!(
        open_in(tree.clone(), "", &OpenOptions::default())
            .unwrap()
            .verify(&bcolz_store::verify::VerifyOptions::default(), |_| ())
            .unwrap()
            .is_ok()
    );
    assert_eq!(
        rescue_in(tree.clone(), "", &OpenOptions::default(), &Fill::Zeros.into()).unwrap(),
        []
    );
    found
}

fn texts(actions: &[Action]) -> Vec<String> {
    actions.iter().map(ToString::to_string).collect()
}

#[test]
fn chunks_that_do_not_decode_get_the_fill_value() {
    for (wrong, expected) in
        [(1, [(0, 0), (10, -1), (19, -1), (20, 20)]), (2, [(0, 0), (10, 10), (20, -1), (24, -1)])]
    {
        let tree = array(25);
        tree.write(&format!("a/data/__{wrong}.blp"), b"nonsense").unwrap();
        let found =
            rescue_in(tree.clone(), "a", &OpenOptions::default(), &Fill::Zeros.into()).unwrap();
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
        let found =
            rescue_in(tree.clone(), "a", &OpenOptions::default(), &Fill::Zeros.into()).unwrap();
        assert_eq!(texts(&found), ["a: counted 25 rows"], "{sizes}");
        assert_eq!(rows(&tree), (0..25).collect::<Vec<i8>>());
    }
}

#[test]
fn rows_that_are_lost_are_cut_on_request() {
    let tree = array(45);
    tree.write("a/data/__1.blp", b"nonsense").unwrap();
    tree.remove("a/data/__3.blp").unwrap();
    let found = rescue_in(tree.clone(), "a", &OpenOptions::default(), &Fill::Cut.into()).unwrap();
    assert_eq!(texts(&found), ["a: took out 20 rows"]);
    assert_eq!(rows(&tree), (0..10).chain(20..30).chain(40..45).collect::<Vec<i8>>());
    assert_eq!(tree.list("a/data").unwrap().len(), 3);
}

#[test]
fn rows_stay_at_their_position_without_a_length_and_without_a_chunk() {
    let tree = array(45);
    tree.remove("a/meta/sizes").unwrap();
    tree.remove("a/data/__1.blp").unwrap();
    let found = rescue_in(tree.clone(), "a", &OpenOptions::default(), &Fill::Zeros.into()).unwrap();
    assert_eq!(
        texts(&found),
        ["a: counted 45 rows", "a: filled chunk 1, 10 rows, with the fill value"]
    );
    assert_eq!(rows(&tree), (0..10).chain([-1; 10]).chain(20..45).collect::<Vec<i8>>());
}

#[test]
fn lost_rows_are_filled_with_what_was_requested() {
    let create = |dtype: &str| {
        let tree = Arc::new(MemTree::new());
        let options =
            CreateOptions::new(Dtype::parse(dtype).unwrap()).chunklen(Some(2)).row_shape(vec![3]);
        let mut writer = CArrayWriter::create_in(tree.clone(), "", &options).unwrap();
        writer.append(&vec![1; 4 * writer.rowsize()]).unwrap();
        writer.finish().unwrap();
        tree.remove("data/__0.blp").unwrap();
        tree
    };
    for dtype in ["<f4", ">f8", "<f2"] {
        let tree = create(dtype);
        rescue_in(tree.clone(), "", &OpenOptions::default(), &Fill::NaN.into()).unwrap();
        let array = CArray::open_in(tree, "", &OpenOptions::default()).unwrap();
        match dtype {
            "<f4" => assert!(array.read_as::<f32>(0..2).unwrap().iter().all(|x| x.is_nan())),
            ">f8" => assert!(array.read_as::<f64>(0..2).unwrap().iter().all(|x| x.is_nan())),
            _ => assert_eq!(array.read(0..1).unwrap(), [0, 0x7e].repeat(3)),
        }
        assert!(array.read(2..4).unwrap().iter().all(|byte| *byte == 1));
    }
    let tree = create("<i4");
    let fill = Fill::Value(vec![9, 8, 7, 6]);
    rescue_in(tree.clone(), "", &OpenOptions::default(), &fill.clone().into()).unwrap();
    let array = CArray::open_in(tree, "", &OpenOptions::default()).unwrap();
    assert_eq!(array.read(0..2).unwrap(), [9, 8, 7, 6].repeat(6));
    for (dtype, fill) in [
        ("<i4", Fill::NaN),
        ("<i4", Fill::Value(vec![])),
        ("<i4", Fill::Value(vec![1; 5])),
        ("<i4", Fill::Value(vec![1; 100])),
    ] {
        let error = rescue_in(create(dtype), "", &OpenOptions::default(), &fill.clone().into())
            .unwrap_err();
        assert_eq!(error.to_string(), "a fill value that does not fit items of type int32");
    }
}

/// A table of three columns of 50 rows, `row * factor`.
fn table() -> Arc<MemTree> {
    let tree = Arc::new(MemTree::new());
    let options =
        |chunklen| CreateOptions::new(Dtype::parse("uint8").unwrap()).chunklen(Some(chunklen));
    let columns = [("a", options(10)), ("b", options(7)), ("c", options(100))];
    let mut writer = CTableWriter::create_in(tree.clone(), "", &columns).unwrap();
    let data = [1, 2, 3].map(|factor| (0..50).map(|row| row * factor).collect::<Vec<u8>>());
    writer.append(&data.each_ref().map(Vec::as_slice)).unwrap();
    writer.finish().unwrap();
    tree
}

#[test]
fn a_table_gives_up_a_column_and_never_the_others() {
    type Damage = fn(&MemTree);
    let damages: [(&str, Damage); 3] = [
        ("data", |tree| tree.remove("b/data").unwrap()),
        ("directory", |tree| tree.remove("b").unwrap()),
        ("data and length", |tree| {
            tree.remove("b/data").unwrap();
            tree.remove("b/meta/sizes").unwrap();
        }),
    ];
    for (name, damage) in damages {
        for fill in [Fill::Zeros, Fill::Cut] {
            let tree = table();
            damage(&tree);
            let found =
                rescue_in(tree.clone(), "", &OpenOptions::default(), &fill.clone().into()).unwrap();
            assert_eq!(texts(&found).pop().unwrap(), ".: gave up column \"b\"", "{name}");
            assert_eq!(found.iter().filter(|action| action.what.is_loss()).count(), 1, "{name}");
            let table = CTable::open_in(tree, "", &OpenOptions::default()).unwrap();
            assert_eq!(table.names().collect::<Vec<_>>(), ["a", "c"], "{name}");
            let expected: Vec<u8> = (0..50).flat_map(|row| [row, row * 3]).collect();
            assert_eq!(table.read_records(0..50).unwrap(), expected, "{name}");
        }
    }
}

#[test]
fn a_column_without_its_type_is_kept_as_raw_items_or_as_the_caller_says() {
    let damages: [fn(&MemTree); 3] = [
        |tree| tree.remove("b/meta/storage").unwrap(),
        |tree| tree.write("b/meta/storage", b"{\"dtype\": 7}").unwrap(),
        |tree| tree.remove("b/meta").unwrap(),
    ];
    for damage in damages {
        for dtype in [None, Some("int8")] {
            let tree = table();
            damage(&tree);
            let dtype = dtype.map(|dtype| Dtype::parse(dtype).unwrap());
            let rescue = RescueOptions::default().dtype(dtype.clone());
            let found = rescue_in(tree.clone(), "", &OpenOptions::default(), &rescue).unwrap();
            let lost: Vec<_> = found.iter().filter(|action| action.what.is_loss()).collect();
            assert!(matches!(lost[..], [Action { what: Repair::Storage { .. }, .. }]), "{found:?}");
            let table = CTable::open_in(tree, "", &OpenOptions::default()).unwrap();
            assert_eq!(table.names().collect::<Vec<_>>(), ["a", "b", "c"]);
            let raw = dtype.unwrap_or(Dtype::parse("uint8").unwrap());
            assert_eq!(table.column("b").unwrap().dtype(), &raw);
            let expected: Vec<u8> = (0..50).flat_map(|row| [row, row * 2, row * 3]).collect();
            assert_eq!(table.read_records(0..50).unwrap(), expected);
        }
    }
}

#[test]
fn an_array_without_meta_is_rebuilt_by_its_chunks() {
    let make = |dtype: &str, row_shape: Vec<u64>| {
        let tree = Arc::new(MemTree::new());
        let options = CreateOptions::new(Dtype::parse(dtype).unwrap());
        let options = options.row_shape(row_shape).chunklen(Some(100));
        let mut writer = CArrayWriter::create_in(tree.clone(), "", &options).unwrap();
        writer
            .append(&(0..250 * 12_u32).map(|n| (n / 7).to_le_bytes()[0]).collect::<Vec<_>>())
            .unwrap();
        writer.finish().unwrap();
        tree
    };
    let data = |tree: &Arc<MemTree>| {
        let array = CArray::open_in(tree.clone(), "", &OpenOptions::default()).unwrap();
        let data = array.read(0..array.len()).unwrap();
        (array.dtype().to_string(), array.shape().to_vec(), data)
    };
    for (dtype, row_shape, raw) in
        [("<f4", vec![3], "|V4"), ("|S12", vec![], "|V12"), ("<u4", vec![3], "|V4")]
    {
        let (_, shape, expected) = data(&make(dtype, row_shape.clone()));
        for lost in ["meta/storage", "meta"] {
            // Without the sizes, rows are longer than items, and the items of a row count as rows.
            let tree = make(dtype, row_shape.clone());
            tree.remove(lost).unwrap();
            let options = OpenOptions::default();
            rescue_in(tree.clone(), "", &options, &RescueOptions::default()).unwrap();
            let (found, of_rows, rows) = data(&tree);
            // The chunks of strings do not have the strings' length.
            let raw = if lost == "meta" && dtype == "|S12" { "uint8" } else { raw };
            assert_eq!((found.as_str(), rows == expected), (raw, true), "{dtype} {lost}");
            if lost == "meta/storage" {
                assert_eq!(of_rows, shape);
            }
            let tree = make(dtype, row_shape.clone());
            tree.remove(lost).unwrap();
            let given = RescueOptions::default().dtype(Some(Dtype::parse(dtype).unwrap()));
            rescue_in(tree.clone(), "", &options, &given).unwrap();
            let (found, _, rows) = data(&tree);
            assert_eq!(Dtype::parse(&found).unwrap(), Dtype::parse(dtype).unwrap(), "{lost}");
            assert_eq!(rows, expected, "{lost}");
        }
    }
    let tree = make("<f4", vec![]);
    tree.remove("meta").unwrap();
    let wrong = RescueOptions::default().dtype(Some(Dtype::parse("|S7").unwrap()));
    assert!(rescue_in(tree, "", &OpenOptions::default(), &wrong).is_err());
}

#[test]
fn a_table_without_its_list_of_columns_finds_them() {
    let tree = table();
    tree.remove("__rootdirs__").unwrap();
    tree.remove("__attrs__").unwrap();
    let found = texts(&rescued(&tree));
    assert_eq!(found, [".: found 3 columns by their directories", ".: wrote empty attributes"]);
    let table = CTable::open_in(tree, "", &OpenOptions::default()).unwrap();
    assert_eq!((table.names().count(), table.len()), (3, 50));
}

#[test]
fn a_chunk_of_a_column_is_filled_or_its_rows_are_cut_of_all_columns() {
    for fill in [Fill::Zeros, Fill::Cut] {
        let tree = table();
        tree.write("b/data/__2.blp", b"").unwrap();
        let found =
            rescue_in(tree.clone(), "", &OpenOptions::default(), &fill.clone().into()).unwrap();
        assert!(found.iter().all(|action| action.what.is_loss()));
        let table = CTable::open_in(tree.clone(), "", &OpenOptions::default()).unwrap();
        let lost = 14..21;
        let is_kept = |row: &u8| fill != Fill::Cut || !lost.contains(row);
        let expected: Vec<u8> = (0..50)
            .filter(is_kept)
            .flat_map(|row| [row, if lost.contains(&row) { 0 } else { row * 2 }, row * 3])
            .collect();
        assert_eq!(table.read_records(0..table.len()).unwrap(), expected);
        assert_eq!(rescued(&tree), []);
    }
}

#[test]
fn a_table_of_which_nothing_can_be_read_is_refused() {
    let tree = table();
    for column in ["a", "b", "c"] {
        tree.remove(&format!("{column}/data")).unwrap();
    }
    assert!(rescue_in(tree, "", &OpenOptions::default(), &Fill::Zeros.into()).is_err());
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
        "b: the type is lost; items are |u1, as the chunks have them",
        ".: gave up column \"../x\"",
        ".: gave up column \"a\"",
    ];
    assert_eq!(found, expected);
    let table = CTable::open_in(tree.clone(), "", &OpenOptions::default()).unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(table.read_records(0..3).unwrap(), [1, 4, 7, 2, 5, 8, 3, 6, 9]);
    tree.write("__rootdirs__", b"").unwrap();
    tree.remove("b/data").unwrap();
    tree.remove("b/meta/storage").unwrap();
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
        let found = rescue_in(tree.clone(), "", &OpenOptions::default(), &Fill::Zeros.into());
        match open_in(tree.clone(), "", &OpenOptions::default()) {
            Ok(set) => {
                let sound = set
                    .verify(&bcolz_store::verify::VerifyOptions::default(), |_| ())
                    .unwrap()
                    .is_ok();
                assert_eq!(found.is_ok(), sound, "{entry:?} {found:?}");
                saved +=
                    u32::from(sound && !matches!(&set, DataSet::CArray(array) if array.is_empty()));
            }
            Err(_) => assert!(found.is_err(), "{entry:?} {found:?}"),
        }
    }
    assert!(saved > 20, "{saved}");
}

#[test]
fn sizes_without_a_sum_that_bcolz_needs_are_completed() {
    let tree = array(25);
    for key in ["cbytes", "nbytes"] {
        let text = tree_text(&tree, "a/meta/sizes").replace(key, "xbytes");
        tree.write("a/meta/sizes", text.as_bytes()).unwrap();
        rescue_in(tree.clone(), "a", &OpenOptions::default(), &Fill::Zeros.into()).unwrap();
        assert!(tree_text(&tree, "a/meta/sizes").contains(key), "{key}");
    }
}

fn tree_text(tree: &MemTree, path: &str) -> String {
    let file = tree.open(path).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
    file.read_exact_at(0, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}
