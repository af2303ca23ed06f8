//! Any text as the condition of `--where` on a table of a store, whose columns have nulls.
#![no_main]

use std::sync::{Arc, LazyLock};

use b2store::{
    ColumnKind, ColumnValues, NewColumn, Nulls, StoreWriter, Table, Value, WriteOptions,
};
use blosc_io::tree::MemTree;
use libfuzzer_sys::fuzz_target;

const NROWS: i64 = 40;

/// A column of each kind, named by its letter. The first row is deleted.
static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let columns = [
        NewColumn::new("i", ColumnKind::Fixed("i8")),
        NewColumn::new("f", ColumnKind::Fixed("f8")).nulls(Nulls::Mask),
        NewColumn::new("d", ColumnKind::Timestamp { unit: "s".to_owned(), timezone: None }),
        NewColumn::new("w", ColumnKind::Dictionary { null_code: -1 }),
        NewColumn::new("t", ColumnKind::Utf8).nulls(Nulls::Mask),
    ];
    let numbers = |scale: i64| {
        let bytes = (0..NROWS).flat_map(|n| (n * scale).to_le_bytes()).collect();
        ColumnValues::fixed("<i8".parse().expect("a type"), bytes)
    };
    let halves = (0..NROWS).flat_map(|n| (n as f64 / 2.0 - 3.0).to_le_bytes()).collect();
    let valid: Vec<bool> = (0..NROWS).map(|n| n % 3 != 1).collect();
    let texts: Vec<String> = (0..NROWS).map(|n| n.to_string()).collect();
    let words = (0..NROWS).map(|n| Value::Str(["low", "high"][(n % 2) as usize].to_owned()));
    let values = [
        numbers(1),
        ColumnValues::fixed("<f8".parse().expect("a type"), halves).with_valid(valid.clone()),
        numbers(86_400),
        ColumnValues::objects(words),
        ColumnValues::text(texts.iter().map(String::as_str)).with_valid(valid),
    ];
    let tree = Arc::new(MemTree::new());
    let options = WriteOptions::default();
    let mut writer = StoreWriter::create_in(tree, "t.b2z", &options).expect("in memory");
    writer.insert_table("/", &columns, &values).expect("whole rows");
    writer.delete_rows("/", 0..1).expect("a row");
    writer.commit().and_then(|store| store.table("/")).expect("a sound table")
});

fuzz_target!(|data: &[u8]| {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let len = TABLE.len().expect("a sound table");
    let Ok(filter) = TABLE.filter(text) else { return };
    let Ok(whole) = filter.matches(0..len) else { return };
    assert!(whole.iter().all(|row| *row < len) && whole.is_sorted(), "{text}");
    // Rows do not depend on their neighbours.
    let halves = [filter.matches(0..len / 2), filter.matches(len / 2..len)];
    if let [Ok(first), Ok(second)] = halves {
        assert_eq!([first, second].concat(), whole, "{text}");
    }
});
