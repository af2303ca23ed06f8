//! Conditions on the rows of tables.

use b2store::error::{ExprError, Param};
use b2store::{ColumnKind, ColumnValues, Error, NewColumn, Nulls, Store, StoreWriter, Table};

/// `n` counts from 0, `x` is half of it and null in every third row, `day` counts days, `word` is
/// one of two words, `text` repeats `n`.
fn table(dir: &tempfile::TempDir) -> Table {
    let columns = [
        NewColumn::new("n", ColumnKind::Fixed("i8")),
        NewColumn::new("x", ColumnKind::Fixed("f8")).nulls(Nulls::Mask),
        NewColumn::new("day", ColumnKind::Timestamp { unit: "s".to_owned(), timezone: None }),
        NewColumn::new("word", ColumnKind::Dictionary { null_code: -1 }),
        NewColumn::new("text", ColumnKind::Utf8),
        NewColumn::new("pair", ColumnKind::NdArray { item_shape: vec![2] }),
    ];
    let rows = 0..100_i64;
    let valid: Vec<bool> = rows.clone().map(|n| n % 3 != 1).collect();
    let ints = |values: Vec<i64>| {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        ColumnValues::fixed("<i8".parse().unwrap(), bytes)
    };
    let halves = rows
        .clone()
        .flat_map(|n| (f64::from(i32::try_from(n).unwrap()) / 2.0).to_le_bytes())
        .collect();
    let texts: Vec<String> = rows.clone().map(|n| n.to_string()).collect();
    let word = |n: i64| if n < 50 { "low" } else { "high" };
    let pairs = rows.clone().flat_map(|n| [n.to_le_bytes(), [0; 8]]).flatten().collect();
    let pairs =
        b2store::Values::Fixed { dtype: "<i8".parse().unwrap(), item_shape: vec![2], bytes: pairs };
    let values = [
        ints(rows.clone().collect()),
        ColumnValues::fixed("<f8".parse().unwrap(), halves).with_valid(valid),
        ints(rows.clone().map(|n| n * 86_400).collect()),
        ColumnValues::objects(rows.clone().map(|n| b2store::Value::Str(word(n).to_owned()))),
        ColumnValues::text(texts.iter().map(String::as_str)),
        ColumnValues::new(pairs),
    ];
    let path = dir.path().join("t.b2z");
    let mut writer = StoreWriter::create(&path).unwrap();
    writer.insert_table("/", &columns, &values).unwrap();
    writer.delete_rows("/", 0..1).unwrap();
    writer.commit().unwrap();
    Store::open(path).unwrap().table("/").unwrap()
}

/// The values of `n` in the rows found.
fn found(table: &Table, text: &str) -> Vec<i64> {
    let rows = table.filter(text).unwrap().matches(0..table.len().unwrap()).unwrap();
    // The first row was deleted.
    rows.iter().map(|row| i64::try_from(*row).unwrap() + 1).collect()
}

#[test]
fn rows_that_meet_a_condition_are_those_of_a_model() {
    let dir = tempfile::tempdir().unwrap();
    let table = table(&dir);
    let model = |is_wanted: &dyn Fn(i64) -> bool| (1..100).filter(|n| is_wanted(*n)).collect();
    let is_null = |n: i64| n % 3 == 1;
    let cases: [(&str, Vec<i64>); 12] = [
        ("n >= 97", vec![97, 98, 99]),
        ("(n < 3) | (n == 50)", vec![1, 2, 50]),
        ("x < 3", model(&|n| n < 6 && !is_null(n))),
        ("~(x < 3)", model(&|n| n >= 6 && !is_null(n))),
        ("(x < 3) | (n < 8)", model(&|n| n < 8)),
        ("(x < 3) & (n > 0)", model(&|n| n < 6 && !is_null(n))),
        ("day < '1970-01-03'", vec![1]),
        ("word == 'low' and n % 10 == 0", vec![10, 20, 30, 40]),
        ("text == '7' or text == '77'", vec![7, 77]),
        ("contains(text, '77')", vec![77]),
        ("True", (1..100).collect()),
        ("n != n", vec![]),
    ];
    for (text, expected) in cases {
        assert_eq!(found(&table, text), expected, "{text}");
    }
    let filter = table.filter("n > 50").unwrap();
    assert_eq!(filter.matches(48..52).unwrap(), [50, 51]);
    assert!(filter.matches(7..7).unwrap().is_empty());
    assert!(matches!(filter.matches(0..1000), Err(Error::Param(Param::Range { len: 99, .. }))));
}

#[test]
fn what_is_no_condition_is_told_before_rows_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let table = table(&dir);
    let error = |text: &str| match table.filter(text) {
        Err(Error::Expr(error)) => error,
        other => panic!("{text}: {other:?}"),
    };
    assert!(matches!(error("n + 1"), ExprError::Result { found: "integers", .. }));
    assert!(matches!(error("q > 1"), ExprError::NoColumn { at: 0, .. }));
    assert!(matches!(error("n >"), ExprError::Syntax { at: 3, .. }));
    assert!(matches!(error("text > 1"), ExprError::Types { .. }));
    assert!(matches!(error("pair > 1"), ExprError::Column { .. }));
    assert!(matches!(error("day > 'soon'"), ExprError::Date { .. }));
}
