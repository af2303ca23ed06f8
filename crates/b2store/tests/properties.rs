//! Tables are the same, however their rows are cut into batches.

use b2store::table::Nulls;
use b2store::{
    ColumnKind, ColumnValues, Error, NewColumn, Store, StoreWriter, Table, Value, error::Param,
};
use proptest::prelude::*;

fn columns() -> Vec<NewColumn> {
    let new = |name: &str, kind| NewColumn::new(name, kind);
    let item = blosc_dtype::json::Json::Object(vec![(
        "kind".to_owned(),
        blosc_dtype::json::Json::String("int64".to_owned()),
    )]);
    vec![
        new("n", ColumnKind::Fixed("i8")).nulls(Nulls::Mask),
        new("u", ColumnKind::Utf8).nulls(Nulls::Mask),
        new("v", ColumnKind::VlString).nulls(Nulls::Native),
        new("d", ColumnKind::Dictionary { null_code: -1 }),
        new("l", ColumnKind::List).nulls(Nulls::Native).option("item", item),
    ]
}

/// A row: a number, text, and how long a list is, each of which may be null.
type Row = (Option<i64>, Option<String>, Option<u8>);

fn values(rows: &[Row]) -> Vec<ColumnValues> {
    let numbers = rows.iter().flat_map(|row| row.0.unwrap_or_default().to_le_bytes());
    let texts = || rows.iter().map(|row| row.1.as_deref().unwrap_or_default());
    let cells = || rows.iter().map(|row| row.1.clone().map_or(Value::Nil, Value::Str));
    let list = |row: &Row| match row.2 {
        Some(len) => Value::Array((0..i64::from(len)).map(Value::Int).collect()),
        None => Value::Nil,
    };
    vec![
        ColumnValues::fixed("<i8".parse().unwrap(), numbers.collect())
            .with_valid(rows.iter().map(|row| row.0.is_some()).collect()),
        ColumnValues::text(texts()).with_valid(rows.iter().map(|row| row.1.is_some()).collect()),
        ColumnValues::objects(cells()),
        ColumnValues::objects(cells()),
        ColumnValues::objects(rows.iter().map(list)),
    ]
}

fn cells(table: &Table) -> Vec<Vec<Value>> {
    let rows = table.len().unwrap();
    let column = |name: &str| {
        let found = table.column(name).unwrap().read(0..rows).unwrap();
        (0..found.len()).map(|row| found.value(row)).collect()
    };
    table.schema().columns.iter().map(|spec| column(&spec.name)).collect()
}

fn expected(rows: &[Row]) -> Vec<Vec<Value>> {
    let found = values(rows);
    found.iter().map(|column| (0..rows.len()).map(|row| column.value(row)).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn batches_of_any_size_make_the_same_table(
        rows in prop::collection::vec(
            (any::<Option<i64>>(), prop::option::of("[a-cä]{0,3}"), prop::option::of(0..5_u8)),
            0..5000,
        ),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        changed_at in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(rows.len() + 1)).collect();
        cuts.extend([0, rows.len()]);
        cuts.sort_unstable();
        let parts: Vec<&[Row]> = cuts.windows(2).map(|ends| &rows[ends[0]..ends[1]]).collect();
        let (first, later) = parts.split_at(changed_at.index(parts.len()) + 1);
        let path = dir.path().join("t.b2z");
        // Some rows come when the table is made, the others when it is opened again.
        let mut writer = StoreWriter::create(&path).unwrap();
        let mut table = writer.create_table("/", &columns()).unwrap();
        first.iter().for_each(|part| table.append(&values(part)).unwrap());
        table.finish().unwrap();
        writer.commit().unwrap();
        let mut writer = StoreWriter::open(&path).unwrap();
        let mut table = writer.append_to_table("/").unwrap();
        later.iter().for_each(|part| table.append(&values(part)).unwrap());
        let nrows: usize = later.iter().map(|part| part.len()).sum();
        prop_assert_eq!(table.nrows(), nrows as u64);
        table.finish().unwrap();
        let table = writer.commit().unwrap().table("/").unwrap();
        prop_assert_eq!(table.len().unwrap(), rows.len() as u64);
        prop_assert!(cells(&table) == expected(&rows));
    }

    #[test]
    fn parts_read_into_the_same_memory_are_those_read_into_new(
        rows in prop::collection::vec(
            (any::<Option<i64>>(), prop::option::of("[a-cä]{0,3}"), prop::option::of(0..5_u8)),
            1..200,
        ),
        deleted in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        parts in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..5_usize),
            1..30,
        ),
    ) {
        let between = |a: &prop::sample::Index, b: &prop::sample::Index, len: usize| {
            let (a, b) = (a.index(len + 1), b.index(len + 1));
            a.min(b)..a.max(b)
        };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.b2d");
        let mut writer = StoreWriter::create(&path).unwrap();
        writer.insert_table("/", &columns(), &values(&rows)).unwrap();
        let gone = between(&deleted.0, &deleted.1, rows.len());
        writer.delete_rows("/", gone.start as u64..gone.end as u64).unwrap();
        let table = writer.commit().unwrap().table("/").unwrap();
        let mut left = rows;
        left.drain(gone);
        let expected = expected(&left);
        // The memory comes from whatever column was read before.
        let mut found = ColumnValues::text(["before"]);
        for (a, b, ncolumn) in parts {
            let part = between(&a, &b, left.len());
            let column = table.column(&table.schema().columns[ncolumn].name).unwrap();
            column.read_into(part.start as u64..part.end as u64, &mut found).unwrap();
            prop_assert_eq!(found.len(), part.len());
            let cells: Vec<Value> = (0..part.len()).map(|row| found.value(row)).collect();
            prop_assert_eq!(&cells[..], &expected[ncolumn][part]);
        }
    }

    #[test]
    fn rows_that_are_kept_are_those_that_were_said(
        rows in prop::collection::vec(
            (any::<Option<i64>>(), prop::option::of("[a-cä]{0,3}"), prop::option::of(0..5_u8)),
            0..50,
        ),
        is_kept in prop::collection::vec(any::<bool>(), 50),
    ) {
        let kept: Vec<Row> =
            rows.iter().zip(&is_kept).filter(|(_, kept)| **kept).map(|(row, _)| row.clone()).collect();
        for (column, expected) in values(&rows).into_iter().zip(expected(&kept)) {
            let column = column.keep(&is_kept[..rows.len()]);
            prop_assert_eq!(column.len(), kept.len());
            let found: Vec<Value> = (0..kept.len()).map(|row| column.value(row)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}

#[test]
fn rows_that_were_not_finished_are_no_rows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.b2d");
    let rows = [(Some(1), Some("x".to_owned()), Some(2)), (None, None, None)];
    let mut writer = StoreWriter::create(&path).unwrap();
    // A new table without a batch has no types.
    let table = writer.create_table("/", &columns()).unwrap();
    assert!(matches!(table.finish(), Err(Error::Param(Param::Rows { found: 0, expected: 5, .. }))));
    let mut table = writer.create_table("/", &columns()).unwrap();
    table.append(&values(&rows)).unwrap();
    drop(table);
    assert_eq!((writer.keys().len(), writer.tables().len()), (0, 0));
    writer.insert_table("/", &columns(), &values(&rows)).unwrap();
    writer.commit().unwrap();
    let mut writer = StoreWriter::open(&path).unwrap();
    let mut table = writer.append_to_table("/").unwrap();
    table.append(&values(&rows)).unwrap();
    // Values that do not fit leave the rows before as they are.
    let mut wrong = values(&rows);
    wrong.swap(0, 1);
    assert!(matches!(table.append(&wrong), Err(Error::Param(Param::Column { .. }))));
    assert_eq!(table.nrows(), 2);
    drop(table);
    writer.commit().unwrap();
    assert_eq!(cells(&Store::open(&path).unwrap().table("/").unwrap()), expected(&rows));
    assert!(StoreWriter::open(&path).unwrap().append_to_table("/x").is_err());
}
