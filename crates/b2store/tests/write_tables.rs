//! Makes and changes tables; the numbers of cases are those of the specification.

use std::fs;

use b2frame::{NdParams, NdWriter};
use b2store::error::Param;
use b2store::{
    ColumnKind, ColumnValues, Error, NewColumn, Nulls, Store, StoreKind, StoreWriter, Table, Value,
    Values, WriteOptions,
};
use blosc_dtype::json::Json;

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

fn object(fields: &[(&str, Json)]) -> Json {
    Json::Object(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}

fn kind(name: &str) -> Json {
    object(&[("kind", Json::String(name.to_owned()))])
}

fn int64(rows: &[i64]) -> ColumnValues {
    let bytes = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
    ColumnValues::fixed("<i8".parse().unwrap(), bytes)
}

fn float64(rows: &[f64]) -> ColumnValues {
    let bytes = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
    ColumnValues::fixed("<f8".parse().unwrap(), bytes)
}

/// Columns of every kind.
fn columns() -> Vec<NewColumn> {
    let new = |name: &str, kind| NewColumn::new(name, kind);
    vec![
        new("id", ColumnKind::Fixed("i8")),
        new("flag", ColumnKind::Fixed("b1")).nulls(Nulls::Mask),
        new("x.y", ColumnKind::Fixed("f8")).nulls(Nulls::Sentinel(Json::Float(f64::NAN))),
        new("s", ColumnKind::String).nulls(Nulls::Sentinel(Json::String("-".to_owned()))),
        new("by", ColumnKind::Bytes),
        new("t", ColumnKind::Timestamp { unit: "ms".to_owned(), timezone: None }),
        new("a", ColumnKind::NdArray { item_shape: vec![2] }),
        new("u", ColumnKind::Utf8).nulls(Nulls::Mask),
        new("vs", ColumnKind::VlString).nulls(Nulls::Native),
        new("vb", ColumnKind::VlBytes),
        new("st", ColumnKind::Struct).option(
            "fields",
            Json::Array(vec![object(&[
                ("name", Json::String("p".to_owned())),
                ("kind", Json::String("int64".to_owned())),
            ])]),
        ),
        new("o", ColumnKind::Object).nulls(Nulls::Native),
        new("li", ColumnKind::List).nulls(Nulls::Native).option("item", kind("int64")),
        new("d", ColumnKind::Dictionary { null_code: -1 }),
    ]
}

/// `count` rows from row `first` on; every third is null where that is possible.
fn rows(first: usize, count: usize) -> Vec<ColumnValues> {
    let all = || first..first + count;
    let valid: Vec<bool> = all().map(|row| row % 3 != 1).collect();
    let id = |row: usize| i64::try_from(row).unwrap();
    let objects = |make: &dyn Fn(usize) -> Value, has_nulls: bool| {
        let value = |row: usize| if has_nulls && row % 3 == 1 { Value::Nil } else { make(row) };
        ColumnValues::objects(all().map(value))
    };
    let ids: Vec<i64> = all().map(id).collect();
    let flags = all().map(|row| u8::from(row % 2 == 0)).collect();
    let floats: Vec<f64> = all().map(|row| id(row) as f64 / 2.0).collect();
    let chars = all().flat_map(|row| {
        let text = format!("ä{}", row % 10);
        text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<u8>>()
    });
    let words: Vec<String> = all().map(|row| format!("text {row}")).collect();
    let pairs =
        all().flat_map(|row| [i32::try_from(row).unwrap(), -1].map(i32::to_le_bytes)).flatten();
    let shaped = Values::Fixed {
        dtype: "<i4".parse().unwrap(),
        item_shape: vec![2],
        bytes: pairs.collect(),
    };
    let with_nulls = |values: ColumnValues| values.with_valid(valid.clone());
    vec![
        int64(&ids),
        with_nulls(ColumnValues::fixed("|b1".parse().unwrap(), flags)),
        with_nulls(float64(&floats)),
        with_nulls(ColumnValues::fixed("<U2".parse().unwrap(), chars.collect())),
        ColumnValues::fixed("|S1".parse().unwrap(), vec![b'x'; count]),
        int64(&ids),
        ColumnValues::new(shaped),
        with_nulls(ColumnValues::text(words.iter().map(String::as_str))),
        objects(&|row| text(&"v".repeat(row % 5)), true),
        objects(&|row| Value::Bytes(vec![1; row % 4]), false),
        objects(&|row| Value::Map(vec![(text("p"), Value::Int(id(row)))]), false),
        objects(&|row| Value::Tuple(vec![Value::Int(id(row)), Value::Bool(true)]), true),
        objects(&|row| Value::Array(vec![Value::Int(id(row)); row % 3]), true),
        objects(&|row| text(&format!("word {}", row % 7)), true),
    ]
}

/// All cells of some columns.
fn cells(table: &Table) -> Vec<Vec<Value>> {
    let len = table.len().unwrap();
    let column = |name: &str| {
        let values = table.column(name).unwrap().read(0..len).unwrap();
        (0..values.len()).map(|row| values.value(row)).collect()
    };
    table.schema().columns.iter().map(|spec| column(&spec.name)).collect()
}

fn cells_of(values: &[ColumnValues]) -> Vec<Vec<Value>> {
    values.iter().map(|values| (0..values.len()).map(|row| values.value(row)).collect()).collect()
}

/// Case 34, without the part that needs python-blosc2.
#[test]
fn tables_of_every_kind_come_back_and_grow() {
    let dir = tempfile::tempdir().unwrap();
    for (name, key) in [("t.b2z", "/"), ("t.b2d", "/"), ("t.b2e", "/"), ("u.b2d", "/g/tab")] {
        let path = dir.path().join(name);
        let mut writer = StoreWriter::create(&path).unwrap();
        writer.insert_table(key, &columns(), &rows(0, 5)).unwrap();
        writer.set_attribute(key, "note", &text("of a table")).unwrap();
        let store = writer.commit().unwrap();
        assert_eq!(store.kind() == StoreKind::Table, key == "/");
        let table = store.table(key).unwrap();
        assert_eq!(cells(&table), cells_of(&rows(0, 5)), "{name}");
        assert_eq!(table.attributes().unwrap(), [("note".to_owned(), text("of a table"))]);
        drop((store, table));

        let mut writer = StoreWriter::open(&path).unwrap();
        writer.append_rows(key, &rows(5, 3000)).unwrap();
        writer.append_rows(key, &rows(3005, 1)).unwrap();
        writer.delete_rows(key, 1..4).unwrap();
        writer.delete_rows(key, 3002..3003).unwrap();
        let store = writer.commit().unwrap();
        let table = store.table(key).unwrap();
        let mut expected = cells_of(&rows(0, 3006));
        for column in &mut expected {
            column.drain(1..4);
            column.pop();
        }
        assert_eq!(cells(&table), expected, "{name}");
        assert_eq!(table.schema().json.get("n_rows"), Some(&Json::Int(3002)));
        assert_eq!(table.schema().version, 3);
        drop((store, table));

        // The last row was deleted: new rows come after its position.
        let mut writer = StoreWriter::open(&path).unwrap();
        writer.append_rows(key, &rows(7000, 2)).unwrap();
        let table = writer.commit().unwrap().table(key).unwrap();
        for (column, new) in expected.iter_mut().zip(cells_of(&rows(7000, 2))) {
            column.extend(new);
        }
        assert_eq!(cells(&table), expected, "{name}");
        assert_eq!(StoreWriter::open(&path).unwrap().tables().collect::<Vec<_>>(), [key]);
    }
    // A table in a tree is one object, and its parts are not values of their own.
    let mut writer = StoreWriter::open(dir.path().join("u.b2d")).unwrap();
    assert!(writer.insert_cframe("/g/tab/x", vec![]).is_err());
    assert!(writer.insert_table("/g/tab", &columns(), &rows(0, 1)).is_err());
    assert!(writer.remove("/g/tab/_meta").is_err());
    writer.remove("/g/tab").unwrap();
    assert_eq!(writer.commit().unwrap().keys().len(), 0);
}

#[test]
fn a_table_without_rows_gets_some() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.b2z");
    let mut writer = StoreWriter::create(&path).unwrap();
    writer.insert_table("/", &columns(), &rows(0, 0)).unwrap();
    let table = writer.commit().unwrap().table("/").unwrap();
    assert_eq!((table.len().unwrap(), table.capacity()), (0, 1));
    let mut writer = StoreWriter::open(&path).unwrap();
    writer.append_rows("/", &rows(0, 4)).unwrap();
    writer.append_rows("/", &rows(4, 0)).unwrap();
    let table = writer.commit().unwrap().table("/").unwrap();
    assert_eq!(cells(&table), cells_of(&rows(0, 4)));
    let mut writer = StoreWriter::open(&path).unwrap();
    writer.delete_rows("/", 0..4).unwrap();
    assert!(writer.commit().unwrap().table("/").unwrap().is_empty().unwrap());
}

/// Cases 35 and 36: samples with indexes and a number of rows.
#[test]
fn stale_indexes_go_and_rows_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    for (name, is_dir) in [("table-nulls-mask.b2d", true), ("table-basic.b2z", false)] {
        let source = Store::open(blosc_testdata::fixture::path("stores").join(name)).unwrap();
        let path = dir.path().join(name);
        let copied = StoreWriter::copy(&source, &path, &WriteOptions::default());
        copied.unwrap().commit().unwrap();
        if is_dir {
            let index = b2frame::to_cframe(b"old", &b2frame::FrameParams::default()).unwrap();
            fs::create_dir_all(path.join("_indexes/k")).unwrap();
            fs::write(path.join("_indexes/k/summary.block.b2nd"), index).unwrap();
            let mut manifest = b2frame::SChunkWriter::open(path.join("_meta.b2f")).unwrap();
            manifest.set_vlmeta("value_epoch", b"\x06").unwrap();
            manifest.set_vlmeta("index_catalog", b"\x81\xa1k\x80").unwrap();
            manifest.commit().unwrap();
        }
        let table = source.table("/").unwrap();
        let before = cells(&table);
        let new: Vec<ColumnValues> = table
            .schema()
            .columns
            .iter()
            .map(|spec| table.column(&spec.name).unwrap().read(0..1).unwrap())
            .collect();
        let mut writer = StoreWriter::open(&path).unwrap();
        writer.append_rows("/", &new).unwrap();
        let store = writer.commit().unwrap();
        assert!(!store.keys().any(|key| key.starts_with("/_indexes/")));
        assert_eq!(is_dir, store.check_crc("/_meta").unwrap().is_none());
        let meta = store.frame("/_meta").unwrap();
        assert_eq!(meta.vlmeta().get("index_catalog").unwrap(), None);
        let epoch = meta.vlmeta().get("value_epoch").unwrap();
        assert_eq!(epoch, is_dir.then(|| vec![7]));
        let table = store.table("/").unwrap();
        let nrows = i128::from(table.len().unwrap());
        assert_eq!(table.schema().json.get("n_rows"), Some(&Json::Int(nrows)));
        for (found, old) in cells(&table).iter().zip(&before) {
            // Compared as debug text, because NaN differs from NaN.
            let expected = [old.as_slice(), &old[..1]].concat();
            assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        }
    }
}

/// Case 41.
#[test]
fn columns_that_would_share_a_file_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dictionary = || ColumnKind::Dictionary { null_code: -1 };
    let fixed = || ColumnKind::Fixed("i8");
    let words = || ColumnValues::text(["w"]);
    for (names, kinds, values) in [
        (["d", "d_dict"], [dictionary(), fixed()], [words(), int64(&[1])]),
        (["id", "id.b"], [fixed(), fixed()], [int64(&[1]), int64(&[1])]),
        ([r"a\b", "ab"], [fixed(), fixed()], [int64(&[1]), int64(&[1])]),
        (["", "b"], [fixed(), fixed()], [int64(&[1]), int64(&[1])]),
        (["_a", "b"], [fixed(), fixed()], [int64(&[1]), int64(&[1])]),
        (["a..c", "b"], [fixed(), fixed()], [int64(&[1]), int64(&[1])]),
    ] {
        let mut writer = StoreWriter::create(dir.path().join("t.b2z")).unwrap();
        let columns: Vec<NewColumn> =
            names.into_iter().zip(kinds).map(|(name, kind)| NewColumn::new(name, kind)).collect();
        let error = writer.insert_table("/", &columns, &values).unwrap_err();
        assert!(matches!(error, Error::Param(Param::Column { .. })), "{names:?}: {error}");
        assert_eq!(writer.keys().len(), 0);
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn values_of_another_kind_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = StoreWriter::create(dir.path().join("t.b2z")).unwrap();
    writer.insert_table("/", &columns(), &rows(0, 2)).unwrap();
    let mut refuse = |change: &dyn Fn(&mut Vec<ColumnValues>)| {
        let mut values = rows(2, 2);
        change(&mut values);
        let error = writer.append_rows("/", &values).unwrap_err();
        assert!(matches!(error, Error::Param(_)), "{error}");
        error.to_string()
    };
    let message = refuse(&|values| values[0] = float64(&[1.0, 2.0]));
    assert_eq!(message, "column \"id\": its values are of another kind");
    let message = refuse(&|values| values[0] = int64(&[1, 2]).with_valid(vec![true, false]));
    assert_eq!(message, "column \"id\": it has nulls, and no way to mark them");
    refuse(&|values| values[0] = int64(&[1]).with_valid(vec![true]));
    refuse(&|values| values[2] = float64(&[1.0, 2.0]).with_valid(vec![true]));
    refuse(&|values| values[7] = int64(&[1, 2]));
    refuse(&|values| values[12] = ColumnValues::objects([text("no list"), Value::Nil]));
    refuse(&|values| {
        values[11] = {
            let list = Value::Array(vec![text("__tuple__")]);
            ColumnValues::objects([list, Value::Nil])
        }
    });
    refuse(&|values| drop(values.pop()));
    refuse(&|values| values.clear());
    // Text that is wider than in the first rows.
    let wide = || ColumnValues::fixed("<U9".parse().unwrap(), vec![0; 72]);
    refuse(&|values| values[3] = wide());
    // The refused rows have left no trace.
    writer.append_rows("/", &rows(2, 1)).unwrap();
    assert!(writer.delete_rows("/", 2..4).is_err());
    assert!(matches!(writer.append_rows("/x", &[]), Err(Error::Param(Param::NoTable { .. }))));
    let table = writer.commit().unwrap().table("/").unwrap();
    assert_eq!(cells(&table), cells_of(&rows(0, 3)));
}

/// Case 50: unknown parts stay.
#[test]
fn unknown_fields_of_the_schema_and_the_manifest_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.b2d");
    let mut writer = StoreWriter::create(&path).unwrap();
    let column = NewColumn::new("id", ColumnKind::Fixed("i8"))
        .option("of next year", Json::Array(vec![Json::Float(f64::INFINITY)]));
    writer.insert_table("/", &[column], &[int64(&[1])]).unwrap();
    writer.commit().unwrap();
    let mut manifest = b2frame::SChunkWriter::open(path.join("_meta.b2f")).unwrap();
    manifest.set_vlmeta("unknown", b"\xa4kept").unwrap();
    manifest.commit().unwrap();
    drop(manifest);
    let mut writer = StoreWriter::open(&path).unwrap();
    writer.append_rows("/", &[int64(&[2])]).unwrap();
    let store = writer.commit().unwrap();
    let meta = store.frame("/_meta").unwrap();
    assert_eq!(meta.vlmeta().get("unknown").unwrap(), Some(b"\xa4kept".to_vec()));
    let schema = store.table("/").unwrap().schema().columns[0].json.clone();
    let kept = Json::Array(vec![Json::Float(f64::INFINITY)]);
    assert_eq!(schema.get("of next year"), Some(&kept));
}

/// The error of a bad row names its physical number, even after deleted rows.
#[test]
fn rows_of_text_that_is_wrong_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.b2d");
    let new = |name, kind| NewColumn::new(name, kind);
    let columns = [
        new("u", ColumnKind::Utf8),
        new("v", ColumnKind::VlString),
        new("o", ColumnKind::Object),
        new("d", ColumnKind::Dictionary { null_code: -1 }),
    ];
    let cells = |n: i64| Value::Str(format!("ä{n}"));
    let numbers = |n: i64| if n == 7 { Value::Int(7) } else { Value::Str("x".to_owned()) };
    let values = [
        ColumnValues::text((0..10).map(|_| "äb")),
        ColumnValues::objects((0..10).map(cells)),
        ColumnValues::objects((0..10).map(numbers)),
        ColumnValues::objects((0..10).map(cells)),
    ];
    let mut writer = StoreWriter::create(&path).unwrap();
    writer.insert_table("/", &columns, &values).unwrap();
    writer.delete_rows("/", 1..3).unwrap();
    writer.commit().unwrap();
    let frame = |name: &str| path.join("_cols").join(name);
    let read = |name: &str, rows: core::ops::Range<u64>| {
        Store::open(&path).unwrap().table("/").unwrap().column(name).unwrap().read(rows)
    };
    let refused = |name: &str, text: &str| {
        let error = read(name, 0..8).unwrap_err().to_string();
        assert!(error.contains(text), "{name}: {error}");
    };

    // Items of another kind replace the texts; rows beside the bad one are readable.
    fs::copy(frame("o.b2b"), frame("v.b2b")).unwrap();
    refused("v", "row 7");
    assert_eq!(read("v", 0..3).unwrap().value(2), Value::Str("x".to_owned()));

    let replace = |name: &str, bytes: Vec<u8>, dtype: &str| {
        let dtype: blosc_dtype::Dtype = dtype.parse().unwrap();
        let params = NdParams::new(&[(bytes.len() / dtype.itemsize()) as u64], dtype);
        let mut writer = NdWriter::in_memory(&params).unwrap();
        writer.write_bytes(b2frame::nd::Selection::ALL, &bytes).unwrap();
        writer.finish().unwrap().schunk().save(frame(name)).unwrap();
    };
    let offsets = |change: &dyn Fn(i64) -> i64| {
        (0..11).flat_map(|n| change(3 * n).to_le_bytes()).collect::<Vec<u8>>()
    };
    // A byte in row 4 that is not UTF-8; a row that ends inside of a character.
    let mut text = "äb".repeat(10).into_bytes();
    text[12] = 0xff;
    replace("u.utf8.b2nd", text, "|u1");
    refused("u", "row 4");
    assert_eq!(read("u", 0..2).unwrap().value(1), Value::Str("äb".to_owned()));
    replace("u.utf8.b2nd", "äb".repeat(10).into_bytes(), "|u1");
    replace("u.b2nd", offsets(&|end| if end == 15 { 16 } else { end }), "<i8");
    refused("u", "row 4");
    // Ends that descend, or lie outside of the text.
    replace("u.b2nd", offsets(&|end| if end == 15 { 11 } else { end }), "<i8");
    refused("u", "row 4");
    replace("u.b2nd", offsets(&|end| if end == 0 { 1 } else { end }), "<i8");
    refused("u", "row 0");
    replace("u.b2nd", offsets(&|end| if end == 30 { 31 } else { end }), "<i8");
    refused("u", "row 9");
    replace("u.b2nd", offsets(&|end| if end == 0 { -1 } else { end }), "<i8");
    refused("u", "row 0");

    let code = |n: i32| if n == 6 { 99 } else { n };
    replace("d.b2nd", (0..10).flat_map(|n| code(n).to_le_bytes()).collect(), "<i4");
    refused("d", "row 6");
    assert_eq!(read("d", 0..3).unwrap().value(1), Value::Str("ä3".to_owned()));
}
