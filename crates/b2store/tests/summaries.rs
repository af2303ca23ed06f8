//! Conditions that skip rows by the indexes of python-blosc2: they find the same rows as without,
//! and doubtful indexes are ignored. `xtask interop` has tables with indexes that python-blosc2
//! wrote.

use std::fs;
use std::path::{Path, PathBuf};

use b2frame::nd::{Pick, Selection};
use b2frame::{NdParams, NdWriter};
use b2store::table::Unused;
use b2store::{
    ColumnKind, ColumnValues, NewColumn, Nulls, Store, StoreForm, StoreWriter, Table, TableParams,
    Value, Values, WriteOptions,
};
use blosc_dtype::Dtype;
use blosc_dtype::json::Json;
use proptest::prelude::*;
use proptest::sample::select;

const BLOCK_NROWS: usize = 16;
const NAMES: [&str; 5] = ["n", "u", "f", "s", "t"];
const DTYPES: [&str; 5] = ["<i4", "<u8", "<f8", "<i2", "<i8"];
/// Marks nulls of `s`.
const SENTINEL: i16 = -99;

/// A row: `f` has nulls by a mask, `s` by a value.
type Row = (i32, u64, Option<f64>, Option<i16>, i64);

fn columns() -> Vec<NewColumn> {
    let time = ColumnKind::Timestamp { unit: "s".to_owned(), timezone: None };
    vec![
        NewColumn::new("n", ColumnKind::Fixed("i4")),
        NewColumn::new("u", ColumnKind::Fixed("u8")),
        NewColumn::new("f", ColumnKind::Fixed("f8")).nulls(Nulls::Mask),
        NewColumn::new("s", ColumnKind::Fixed("i2"))
            .nulls(Nulls::Sentinel(Json::Int(SENTINEL.into()))),
        NewColumn::new("t", time),
    ]
}

/// The items of each column, and the flags of items that are not null.
fn values(rows: &[Row]) -> Vec<(Vec<Vec<u8>>, Vec<bool>)> {
    let column = |item: &dyn Fn(&Row) -> Vec<u8>, is_valid: &dyn Fn(&Row) -> bool| {
        (rows.iter().map(item).collect(), rows.iter().map(is_valid).collect())
    };
    vec![
        column(&|row| row.0.to_le_bytes().to_vec(), &|_| true),
        column(&|row| row.1.to_le_bytes().to_vec(), &|_| true),
        column(&|row| row.2.unwrap_or(7.0).to_le_bytes().to_vec(), &|row| row.2.is_some()),
        column(&|row| row.3.unwrap_or(SENTINEL).to_le_bytes().to_vec(), &|row| row.3.is_some()),
        column(&|row| row.4.to_le_bytes().to_vec(), &|_| true),
    ]
}

/// The record of a segment: smallest, largest, flags.
fn record(place: usize, items: &[Vec<u8>], valid: &[bool]) -> Vec<u8> {
    let number = |item: &Vec<u8>| -> f64 {
        let mut wide = [if item[item.len() - 1] >= 0x80 { 0xff } else { 0 }; 8];
        wide[..item.len()].copy_from_slice(item);
        match place {
            1 => u64::from_le_bytes(wide) as f64,
            2 => f64::from_le_bytes(wide),
            _ => i64::from_le_bytes(wide) as f64,
        }
    };
    let valid: Vec<&Vec<u8>> =
        items.iter().zip(valid).filter(|(_, is_valid)| **is_valid).map(|(item, _)| item).collect();
    let mut found = valid.clone();
    found.retain(|item| !number(item).is_nan());
    found.sort_by(|a, b| number(a).total_cmp(&number(b)));
    let zero = vec![0; items[0].len()];
    let ends = [found.first().unwrap_or(&&zero).to_vec(), found.last().unwrap_or(&&zero).to_vec()];
    let has_nan = found.len() < valid.len();
    let flags = u8::from(found.is_empty() && has_nan)
        + 2 * u8::from(has_nan)
        + 4 * u8::from(valid.is_empty());
    [ends.concat(), vec![flags]].concat()
}

fn map(entries: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Map(entries.into_iter().map(|(name, value)| (text(name), value)).collect())
}

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

fn lens(len: usize) -> Value {
    Value::Tuple(vec![int(len)])
}

fn int(value: usize) -> Value {
    Value::Int(i64::try_from(value).unwrap())
}

/// The entry of the catalog for a column, as python-blosc2 writes it.
fn entry(place: usize, nrows: usize) -> Value {
    let level = map([
        ("segment_len", int(BLOCK_NROWS)),
        ("nsegments", int(nrows.div_ceil(BLOCK_NROWS))),
        ("path", Value::Str(format!("_indexes/{}/summary.block.b2nd", NAMES[place]))),
    ]);
    map([
        ("token", text(NAMES[place])),
        ("target", map([("source", text("field")), ("field", Value::Nil)])),
        ("kind", text("summary")),
        ("version", Value::Int(1)),
        ("stale", Value::Bool(false)),
        ("dtype", text(DTYPES[place])),
        ("shape", lens(nrows)),
        ("chunks", lens(2 * BLOCK_NROWS)),
        ("blocks", lens(BLOCK_NROWS)),
        ("levels", map([("block", level)])),
        ("null_aware", Value::Bool(true)),
        ("built_value_epoch", Value::Int(3)),
    ])
}

fn write_summary(root: &Path, place: usize, dtype: &str, records: &[u8]) {
    let dtype: Dtype =
        format!("[('min', '{dtype}'), ('max', '{dtype}'), ('flags', '|u1')]").parse().unwrap();
    let len = (records.len() / dtype.itemsize()) as u64;
    let folder = root.join("_indexes").join(NAMES[place]);
    fs::create_dir_all(&folder).unwrap();
    let params = NdParams::new(&[len], dtype);
    let mut writer = NdWriter::create(folder.join("summary.block.b2nd"), &params).unwrap();
    writer.write_bytes(Selection::ALL, records).unwrap();
    writer.finish().unwrap();
}

fn write_catalog(root: &Path, entries: Vec<(Value, Value)>) {
    let mut manifest = b2frame::SChunkWriter::open(root.join("_meta.b2f")).unwrap();
    manifest.set_vlmeta("value_epoch", b"\x03").unwrap();
    let catalog = Value::Map(entries).encode().unwrap();
    manifest.set_vlmeta("index_catalog", &catalog).unwrap();
    manifest.commit().unwrap();
}

/// A table of these rows with indexes. Some rows are deleted afterwards, which leaves the indexes
/// as they are.
fn make(dir: &Path, rows: &[Row]) -> PathBuf {
    let root = dir.join("t.b2d");
    let options = WriteOptions::default().form(StoreForm::Dir);
    let mut writer = StoreWriter::create_with(&root, &options).unwrap();
    let block = u32::try_from(BLOCK_NROWS).unwrap();
    let mut params = TableParams::default();
    (params.chunk_rows, params.block_rows) = (Some(2 * block), Some(block));
    let found = values(rows);
    let columns_values = found.iter().zip(DTYPES).map(|((items, valid), dtype)| {
        let values = ColumnValues::fixed(dtype.parse().unwrap(), items.concat());
        if valid.contains(&false) { values.with_valid(valid.clone()) } else { values }
    });
    let mut appender = writer.create_table_with("/", &columns(), &params).unwrap();
    appender.append(&columns_values.collect::<Vec<_>>()).unwrap();
    appender.finish().unwrap();
    writer.commit().unwrap();
    for (place, (items, valid)) in found.iter().enumerate() {
        let segments = items.chunks(BLOCK_NROWS).zip(valid.chunks(BLOCK_NROWS));
        let records: Vec<u8> =
            segments.flat_map(|(items, valid)| record(place, items, valid)).collect();
        write_summary(&root, place, DTYPES[place], &records);
    }
    write_catalog(
        &root,
        (0..5).map(|place| (text(NAMES[place]), entry(place, rows.len()))).collect(),
    );
    root
}

fn open(root: &Path) -> Table {
    Store::open(root).unwrap().table("/").unwrap()
}

fn unused(table: &Table) -> Vec<Option<Unused>> {
    table.indexes().iter().map(|index| index.unused).collect()
}

fn found(table: &Table, condition: &str) -> Vec<u64> {
    table.filter(condition).unwrap().matches(0..table.len().unwrap()).unwrap()
}

/// Marks rows as deleted, as python-blosc2 does.
fn delete(root: &Path, gone: &[usize]) {
    let mut flags = NdWriter::open(root.join("_valid_rows.b2nd")).unwrap();
    for row in gone {
        let row = i64::try_from(*row).unwrap();
        flags.write_bytes(Selection::from([Pick::slice(row, row + 1, 1)]), &[0]).unwrap();
    }
    flags.commit().unwrap();
}

fn sorted_rows(nrows: i32) -> Vec<Row> {
    (0..nrows)
        .map(|n| {
            let half = f64::from(n) / 2.0;
            let f = [Some(half), None, Some(f64::NAN), Some(-half)]
                [usize::try_from(n).unwrap() / 20 % 4];
            let s = (n % 50 > 20).then(|| i16::try_from(n).unwrap());
            (n, u64::MAX - 500 + u64::try_from(n).unwrap(), f, s, i64::from(n) * 60)
        })
        .collect()
}

#[test]
fn indexes_of_python_blosc2_are_used() {
    let path = |name: &str| blosc_testdata::fixture::path("stores").join(name);
    let indexes = |path: PathBuf| -> Vec<(String, Option<Unused>)> {
        let found = Store::open(path).unwrap().table("/").unwrap().indexes();
        found.into_iter().map(|index| (index.column, index.unused)).collect()
    };
    let names = indexes(path("table-names.b2d"));
    assert_eq!(names.len(), 9, "{names:?}");
    // Some systems cannot have a backslash in the names of files: such names are not looked up.
    let expected = |name: &str| name.contains('\\').then_some(Unused::Place);
    assert!(names.iter().all(|(name, unused)| *unused == expected(name)), "{names:?}");
    let dir = tempfile::tempdir().unwrap();
    let packed = dir.path().join("packed.b2z");
    b2store::pack(path("table-basic.b2d"), &packed).unwrap();
    for (path, names) in [
        (path("table-basic.b2d"), &["c", "f", "id", "ok", "t", "u1"][..]),
        (packed, &["c", "f", "id", "ok", "t", "u1"]),
        (path("table-nulls-mask.b2d"), &["b", "c", "f", "i", "k", "never", "t"]),
    ] {
        let mut found = indexes(path);
        found.sort_by(|a, b| a.0.cmp(&b.0));
        // `c` has complex numbers.
        let unused = |name: &str| (name == "c").then_some(Unused::NoNumbers);
        let expected = names.iter().map(|name| ((*name).to_owned(), unused(name)));
        assert_eq!(found, expected.collect::<Vec<_>>());
    }
}

#[test]
fn rows_that_cannot_match_are_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let root = make(dir.path(), &sorted_rows(400));
    assert_eq!(unused(&open(&root)), [None; 5]);
    // A chunk of `n` is missing, with rows 128 to 159: only a reader of these rows notices.
    let column = root.join("_cols/n.b2nd");
    let frame = b2frame::SChunk::open(&column).unwrap();
    let at = usize::try_from(frame.chunk_info(4).unwrap().offset.unwrap()).unwrap();
    let mut bytes = fs::read(&column).unwrap();
    bytes[at..at + 32].fill(0xff);
    fs::write(&column, bytes).unwrap();
    let table = open(&root);
    assert_eq!(found(&table, "n < 5 or n in (123, 390)"), [0, 1, 2, 3, 4, 123, 390]);
    assert!(found(&table, "n == 140 and t >= '1970-01-01T06'").is_empty());
    assert!(table.filter("n == 140").unwrap().matches(0..400).is_err());
    assert!(table.filter("n + 0 == 5").unwrap().matches(0..400).is_err());
}

/// Makes an entry of the catalog doubtful.
type Doubt = Box<dyn Fn(&mut Value)>;

/// The validation list of indexes: each doubt makes conditions ignore an index, and none is an
/// error.
#[test]
fn doubtful_indexes_are_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let rows = sorted_rows(200);
    let level = |field: &'static str, value: Value| {
        move |entry: &mut Value| set(set_of(set_of(entry, "levels"), "block"), field, value.clone())
    };
    let field = |field: &'static str, value: Value| {
        move |entry: &mut Value| set(entry, field, value.clone())
    };
    let doubts: Vec<(Doubt, Unused)> = vec![
        (Box::new(field("stale", Value::Bool(true))), Unused::Stale),
        (Box::new(field("stale", Value::Nil)), Unused::Stale),
        (Box::new(field("built_value_epoch", Value::Int(2))), Unused::Stale),
        (Box::new(field("kind", text("membership"))), Unused::Kind),
        (Box::new(field("kind", text("../../summary"))), Unused::Kind),
        (Box::new(field("version", Value::Int(2))), Unused::Kind),
        (Box::new(field("token", text("u"))), Unused::Kind),
        (Box::new(field("null_aware", Value::Nil)), Unused::Kind),
        (Box::new(field("target", text("field"))), Unused::Kind),
        (Box::new(field("target", map([("source", text("expression"))]))), Unused::Kind),
        (Box::new(field("levels", map([]))), Unused::Kind),
        (Box::new(field("dtype", text("<i8"))), Unused::OtherArray),
        (Box::new(field("dtype", text("what?"))), Unused::OtherArray),
        (Box::new(field("shape", lens(201))), Unused::OtherArray),
        (Box::new(field("shape", Value::Tuple(vec![]))), Unused::OtherArray),
        (Box::new(field("chunks", lens(16))), Unused::OtherArray),
        (Box::new(field("blocks", lens(8))), Unused::OtherArray),
        (Box::new(level("segment_len", int(0))), Unused::OtherArray),
        (Box::new(level("nsegments", int(usize::MAX >> 1))), Unused::OtherArray),
        (Box::new(level("path", text("../_indexes/n/summary.block.b2nd"))), Unused::Place),
        (Box::new(level("path", text("_indexes/u/summary.block.b2nd"))), Unused::Place),
        (Box::new(level("path", Value::Nil)), Unused::Place),
        (Box::new(field("kind", text("full"))), Unused::Place),
        (Box::new(|entry| *entry = Value::Nil), Unused::Kind),
    ];
    let root = make(dir.path(), &rows);
    for (number, (doubt, expected)) in doubts.iter().enumerate() {
        let mut changed = entry(0, rows.len());
        doubt(&mut changed);
        write_catalog(&root, vec![(text("n"), changed)]);
        let table = open(&root);
        assert_eq!(unused(&table), [Some(*expected)], "{number}");
        assert_eq!(found(&table, "n >= 198"), [198, 199], "{number}");
    }
    // Two entries contradict each other.
    let twice = || (text("n"), entry(0, rows.len()));
    write_catalog(&root, vec![twice(), twice()]);
    assert_eq!(unused(&open(&root)), [Some(Unused::Kind); 2]);
    write_catalog(&root, vec![(text("q"), entry(0, rows.len()))]);
    assert_eq!(unused(&open(&root)), [Some(Unused::OtherArray)]);
}

fn set_of<'a>(entry: &'a mut Value, field: &str) -> &'a mut Value {
    let Value::Map(entries) = entry else { panic!("no map") };
    &mut entries.iter_mut().find(|(name, _)| name.as_str() == Some(field)).unwrap().1
}

fn set(entry: &mut Value, field: &str, value: Value) {
    *set_of(entry, field) = value;
}

#[test]
fn damaged_summaries_are_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let rows = sorted_rows(200);
    let root = make(dir.path(), &rows);
    write_catalog(&root, vec![(text("n"), entry(0, rows.len()))]);
    let check = |expected: Option<Unused>| {
        let table = open(&root);
        assert_eq!(unused(&table), [expected]);
        assert_eq!(found(&table, "n >= 198"), [198, 199]);
    };
    let records = |least: i32, largest: i32, flags: u8| -> Vec<u8> {
        [&least.to_le_bytes()[..], &largest.to_le_bytes(), &[flags]].concat().repeat(13)
    };
    check(None);
    write_summary(&root, 0, "<i4", &records(0, 199, 0));
    check(None);
    // Invalid records: the bounds are exchanged, a flag is unknown, nulls in a column without them.
    for (least, largest, flags) in [(5, 4, 0), (0, 5, 8), (0, 5, 4)] {
        write_summary(&root, 0, "<i4", &records(least, largest, flags));
        check(None);
    }
    write_summary(&root, 0, "<i4", &records(0, 150, 0));
    check(Some(Unused::Contradicted));
    write_summary(&root, 0, "<i4", &records(0, 0, 1));
    check(Some(Unused::Contradicted));
    write_summary(&root, 0, "<i4", &records(0, 199, 0)[9..]);
    check(Some(Unused::Damaged));
    write_summary(&root, 0, "<f4", &records(0, 199, 0));
    check(Some(Unused::Damaged));
    let file = root.join("_indexes/n/summary.block.b2nd");
    fs::write(&file, b"no frame").unwrap();
    check(Some(Unused::Damaged));
    fs::remove_file(&file).unwrap();
    check(Some(Unused::Place));
    let mut manifest = b2frame::SChunkWriter::open(root.join("_meta.b2f")).unwrap();
    manifest.set_vlmeta("index_catalog", b"\xc1").unwrap();
    manifest.commit().unwrap();
    assert_eq!(found(&open(&root), "n >= 198"), [198, 199]);
}

/// A column that replaced another one without an update of the catalog.
#[test]
fn replaced_columns_are_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let root = make(dir.path(), &sorted_rows(200));
    let mut column = NdWriter::open(root.join("_cols/n.b2nd")).unwrap();
    let turned: Vec<u8> = (0..200_i32).rev().flat_map(i32::to_le_bytes).collect();
    column.write_bytes(Selection::ALL, &turned).unwrap();
    column.commit().unwrap();
    let table = open(&root);
    assert_eq!(table.indexes()[0].unused, Some(Unused::Contradicted));
    assert_eq!(table.indexes()[0].use_text(), "not used: contradicted by the rows");
    assert_eq!(found(&table, "n >= 198"), [0, 1]);
}

#[test]
fn changes_of_ours_leave_no_index() {
    let dir = tempfile::tempdir().unwrap();
    let rows = sorted_rows(200);
    let root = make(dir.path(), &rows);
    let mut writer = StoreWriter::open(&root).unwrap();
    let new: Vec<ColumnValues> = open(&root)
        .schema()
        .columns
        .iter()
        .map(|spec| open(&root).column(&spec.name).unwrap().read(0..1).unwrap())
        .collect();
    writer.append_rows("/", &new).unwrap();
    let table = writer.commit().unwrap().table("/").unwrap();
    assert_eq!(table.indexes(), []);
    assert_eq!(found(&table, "n == 0"), [0, 200]);
}

fn conditions() -> impl Strategy<Value = String> {
    let op = || select(vec!["<", "<=", ">", ">=", "==", "!="]);
    let leaf = prop_oneof![
        (op(), -3..70_i32).prop_map(|(op, value)| format!("(n {op} {value})")),
        (op(), select(vec!["0", "18446744073709551000", "-1", "1e19"]))
            .prop_map(|(op, value)| format!("(u {op} {value})")),
        (op(), select(vec!["-1.5", "0", "20.25", "1e300"]))
            .prop_map(|(op, value)| format!("(f {op} {value})")),
        (op(), -20..60_i32).prop_map(|(op, value)| format!("(s {op} {value})")),
        (op(), 0..60_u32).prop_map(|(op, minute)| format!("(t {op} '1970-01-01T00:{minute:02}')")),
        select(vec!["(f is null)", "(s is not null)", "(t is null)", "(n + s > 50)", "(n < f)"])
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| format!("(not {inner})")),
            (inner.clone(), select(vec!["and", "or"]), inner)
                .prop_map(|(a, op, b)| format!("({a} {op} {b})")),
        ]
    })
}

/// Rows whose values are near to their neighbours', so that segments differ.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    let f = prop_oneof![
        Just(None),
        Just(Some(f64::NAN)),
        Just(Some(f64::INFINITY)),
        (-9..9_i32).prop_map(|n| Some(f64::from(n) / 4.0))
    ];
    let step = (0..3_i32, 0..5_u64, f, prop::option::of(-5..5_i16), 0..90_i64);
    prop::collection::vec(step, 20..120).prop_map(|steps| {
        let mut last = (0, 0, 0);
        let mut row = |(n, (step, u, f, s, t)): (usize, Row)| {
            last = (last.0 + step, last.1 + u, last.2 + t);
            let slow = i16::try_from(n / 3).unwrap();
            // Whole segments are null.
            let s = s.filter(|_| n / 20 % 3 != 1).map(|s| s + slow);
            let t = if n == 33 { i64::MIN } else { last.2 };
            (last.0, u64::MAX - 600 + last.1, f.map(|f| f + f64::from(slow)), s, t)
        };
        steps.into_iter().enumerate().map(&mut row).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20) })]

    #[test]
    fn the_same_rows_are_found_with_and_without(
        rows in rows(),
        conditions in prop::collection::vec(conditions(), 12),
        gone in prop::collection::vec(any::<prop::sample::Index>(), 0..30),
        middle in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let root = make(dir.path(), &rows);
        delete(&root, &gone.iter().map(|index| index.index(rows.len())).collect::<Vec<_>>());
        let with = open(&root);
        prop_assert_eq!(unused(&with), vec![None; 5]);
        let filters: Vec<_> = conditions.iter().map(|text| with.filter(text).unwrap()).collect();
        let len = with.len().unwrap();
        let middle = middle.index(rows.len()) as u64 % (len + 1);
        let found_with: Vec<Vec<u64>> = filters
            .iter()
            .map(|filter| {
                let parts = [0..middle, middle..len].map(|rows| filter.matches(rows).unwrap());
                parts.concat()
            })
            .collect();
        write_catalog(&root, vec![]);
        let without = open(&root);
        prop_assert_eq!(without.indexes(), vec![]);
        for (text, found_with) in conditions.iter().zip(found_with) {
            prop_assert_eq!(found_with, found(&without, text), "{}", text);
        }
    }
}

/// Without a usable index, the stored values of a column are read.
#[test]
fn tables_of_one_block_need_no_index() {
    let dir = tempfile::tempdir().unwrap();
    let root = make(dir.path(), &sorted_rows(10));
    let table = open(&root);
    let Values::Fixed { bytes, .. } = table.column("n").unwrap().read(9..10).unwrap().values else {
        panic!()
    };
    assert_eq!(bytes, 9_i32.to_le_bytes());
    assert_eq!(found(&table, "n == 9"), [9]);
}
