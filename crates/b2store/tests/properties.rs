//! Tables are the same with any division of their rows into batches, and any number of reading
//! threads.

use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};
use std::fs;
use std::thread;

use b2frame::{Budget, FrameParams, SChunk};
use b2store::table::Nulls;
use b2store::{
    ColumnKind, ColumnValues, Content, Error, NewColumn, OpenOptions, Store, StoreForm,
    StoreWriter, Table, Value, WriteOptions, error::Param,
};
use blosc_chunk::Executor;
use blosc_dtype::json::Json;
#[cfg(unix)]
use blosc_testdata::in_child;
use proptest::prelude::*;
use proptest::sample::Index;

fn columns() -> Vec<NewColumn> {
    let new = |name: &str, kind| NewColumn::new(name, kind);
    let item = Json::Object(vec![("kind".to_owned(), Json::String("int64".to_owned()))]);
    vec![
        new("n", ColumnKind::Fixed("i8")).nulls(Nulls::Mask),
        new("u", ColumnKind::Utf8).nulls(Nulls::Mask),
        new("v", ColumnKind::VlString).nulls(Nulls::Native),
        new("d", ColumnKind::Dictionary { null_code: -1 }),
        new("l", ColumnKind::List).nulls(Nulls::Native).option("item", item),
    ]
}

/// A row: a number, a text, and the length of a list, each of which may be null.
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

/// The range of `len` rows between two indexes.
fn between(places: &(Index, Index), len: usize) -> Range<usize> {
    let (a, b) = (places.0.index(len + 1), places.1.index(len + 1));
    a.min(b)..a.max(b)
}

/// `count` rows, some of which are null.
fn many_rows(count: i64) -> Vec<Row> {
    let row = |n: i64| {
        let text = (n % 3 != 1).then(|| format!("row {}", n % 50));
        ((n % 7 != 3).then_some(n * n), text, (n % 5 != 2).then_some(u8::try_from(n % 4).unwrap()))
    };
    (0..count).map(row).collect()
}

/// Nested values of all the kinds that are usual in attributes.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        (1_u64 << 63..).prop_map(Value::UInt),
        (-1e300..1e300).prop_map(Value::Float),
        "[a-zä]{0,20}".prop_map(Value::Str),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Value::Bytes),
    ];
    leaf.prop_recursive(3, 20, 5, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..5);
        prop_oneof![
            list.clone().prop_map(Value::Array),
            list.prop_map(Value::Tuple),
            prop::collection::vec((inner.clone(), inner), 0..4).prop_map(Value::Map),
        ]
    })
}

/// A frame of bytes.
fn frame(bytes: &[u8]) -> Vec<u8> {
    b2frame::to_cframe(bytes, &FrameParams::default()).unwrap()
}

fn bytes_of(store: &Store, key: &str) -> Vec<u8> {
    let frame = store.frame(key).unwrap();
    let mut bytes = vec![0; usize::try_from(frame.nbytes()).unwrap()];
    frame.read_bytes(0, &mut bytes).unwrap();
    bytes
}

/// Reads parts of a table from four threads, each in another way.
fn expect_readers(store: &Store, expected: &[Vec<Value>]) {
    let nrows = expected[0].len();
    thread::scope(|scope| {
        for reader in 0..4_usize {
            scope.spawn(move || {
                let mut table = store.table("/g/t").unwrap();
                let mut memory = ColumnValues::text([]);
                for round in 0..60_usize {
                    if round % 20 == reader {
                        table = store.table("/g/t").unwrap();
                    }
                    let ncolumn = (reader + round) % expected.len();
                    let start = (reader * 733 + round * 389) % nrows;
                    let end = (start + round * 29).min(nrows);
                    let column = table.column(&table.schema().columns[ncolumn].name).unwrap();
                    column.read_into(start as u64..end as u64, &mut memory).unwrap();
                    let found: Vec<Value> =
                        (0..memory.len()).map(|row| memory.value(row)).collect();
                    assert_eq!(found, expected[ncolumn][start..end], "column {ncolumn}");
                    assert_eq!(bytes_of(store, "/b"), b"beside it");
                }
            });
        }
    });
}

#[test]
fn readers_at_once_do_not_disturb_each_other() {
    let rows = many_rows(4000);
    let expected = expected(&rows);
    let dir = tempfile::tempdir().unwrap();
    for name in ["t.b2z", "t.b2d"] {
        let mut writer = StoreWriter::create(dir.path().join(name)).unwrap();
        writer.insert_table("/g/t", &columns(), &values(&rows[..2500])).unwrap();
        writer.append_rows("/g/t", &values(&rows[2500..])).unwrap();
        writer.insert_cframe("/b", frame(b"beside it")).unwrap();
        expect_readers(&writer.commit().unwrap(), &expected);
        expect_readers(&Store::open(dir.path().join(name)).unwrap(), &expected);
    }
}

/// Several versions of two values, which agree in every commit, and one writer.
fn expect_versions(path: &std::path::Path) {
    let write = |writer: &mut StoreWriter, version: u8| {
        // The length also tells the version.
        let bytes = vec![version; 1000 + usize::from(version)];
        writer.insert_cframe("/a", frame(&bytes)).unwrap();
        writer.insert_cframe("/g/b", frame(&bytes)).unwrap();
    };
    let mut writer = StoreWriter::create(path).unwrap();
    write(&mut writer, 0);
    writer.commit().unwrap();
    let first = Store::open(path).unwrap();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut last = 0;
                while !is_done.load(Ordering::Relaxed) {
                    let store = Store::open(path).unwrap();
                    let (a, b) = (bytes_of(&store, "/a"), bytes_of(&store, "/g/b"));
                    assert_eq!(a, b, "of two versions");
                    assert_eq!(a.len(), 1000 + usize::from(a[0]));
                    assert!(a[0] >= last, "{} after {last}", a[0]);
                    last = a[0];
                    // A reader that opened the store before the first change sees none.
                    assert_eq!(bytes_of(&first, "/a"), [0; 1000]);
                }
            });
        }
        for version in 1..=20 {
            let mut writer = StoreWriter::open(path).unwrap();
            write(&mut writer, version);
            writer.commit().unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert_eq!(bytes_of(&Store::open(path).unwrap(), "/g/b"), [20; 1020]);
}

#[cfg(unix)]
#[test]
fn a_store_in_a_file_is_the_old_or_the_new_one_to_those_who_open_it() {
    let dir = tempfile::tempdir().unwrap();
    expect_versions(&dir.path().join("s.b2z"));
    expect_versions(&dir.path().join("s.b2e"));
}

#[cfg(unix)]
#[test]
fn writers_at_once_lose_nothing_of_each_other() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["s.b2z", "s.b2d", "s.b2e"] {
        let path = &dir.path().join(name);
        StoreWriter::create(path).unwrap().commit().unwrap();
        thread::scope(|scope| {
            for nwriter in 0..4 {
                scope.spawn(move || {
                    for n in 0..5 {
                        let mut writer = StoreWriter::open(path).unwrap();
                        let key = format!("/w{nwriter}/{n}");
                        writer.insert_cframe(&key, frame(key.as_bytes())).unwrap();
                        writer.commit().unwrap();
                    }
                });
            }
        });
        let store = Store::open(path).unwrap();
        assert_eq!(store.keys().len(), 20, "{name}");
        for key in store.keys() {
            assert_eq!(bytes_of(&store, key), key.as_bytes());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_items_of_batches_are_those_of_the_whole(
        rows in prop::collection::vec(
            (any::<Option<i64>>(), prop::option::of("[a-cä]{0,3}"), prop::option::of(0..5_u8)),
            1..400,
        ),
        cuts in prop::collection::vec(any::<Index>(), 0..5),
        parts in prop::collection::vec((any::<Index>(), any::<Index>()), 1..8),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.b2d");
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(rows.len())).collect();
        cuts.extend([0, rows.len()]);
        cuts.sort_unstable();
        // Each commit begins a batch.
        for (ncut, ends) in cuts.windows(2).enumerate() {
            let part = values(&rows[ends[0]..ends[1]]);
            let mut writer = match ncut {
                0 => StoreWriter::create(&path).unwrap(),
                _ => StoreWriter::open(&path).unwrap(),
            };
            match ncut {
                0 => writer.insert_table("/", &columns(), &part).unwrap(),
                _ => writer.append_rows("/", &part).unwrap(),
            }
            writer.commit().unwrap();
        }
        let expected = expected(&rows);
        let mut ncolumns = 0;
        for (name, expected) in ["n", "u", "v", "d", "l"].iter().zip(&expected) {
            let name = format!("{name}.b2b");
            let Ok(frame) = SChunk::open(path.join("_cols").join(&name)) else { continue };
            ncolumns += 1;
            let content = Content::from_schunk(frame, &name).unwrap();
            let read = |items: Range<u64>| match &content {
                Content::Batches(batches) => batches.items(items),
                Content::Lists(lists) => lists.rows(items),
                other => panic!("{name}: {}", other.kind_name()),
            };
            for part in parts.iter().map(|places| between(places, rows.len())) {
                let found = read(part.start as u64..part.end as u64).unwrap();
                prop_assert_eq!(&found[..], &expected[part]);
            }
            let beyond = rows.len() as u64 + 1;
            for items in [0..beyond, beyond..beyond, Range { start: 1, end: 0 }] {
                let refused = read(items);
                let is_range = matches!(refused, Err(Error::Param(Param::Range { .. })));
                prop_assert!(is_range, "{refused:?}");
            }
            let Content::Batches(batches) = &content else { continue };
            let all: Vec<Value> =
                (0..batches.nbatches()).flat_map(|n| batches.batch(n).unwrap()).collect();
            prop_assert_eq!(&all, expected);
            prop_assert!(batches.batch(batches.nbatches()).is_err());
        }
        prop_assert!(ncolumns >= 2, "{:?}", fs::read_dir(path.join("_cols")).unwrap());
    }

    #[test]
    fn batches_of_any_size_make_the_same_table(
        rows in prop::collection::vec(
            (any::<Option<i64>>(), prop::option::of("[a-cä]{0,3}"), prop::option::of(0..5_u8)),
            0..5000,
        ),
        cuts in prop::collection::vec(any::<Index>(), 0..5),
        changed_at in any::<Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(rows.len() + 1)).collect();
        cuts.extend([0, rows.len()]);
        cuts.sort_unstable();
        let parts: Vec<&[Row]> = cuts.windows(2).map(|ends| &rows[ends[0]..ends[1]]).collect();
        let (first, later) = parts.split_at(changed_at.index(parts.len()) + 1);
        let path = dir.path().join("t.b2z");
        // Some rows come at the creation of the table, the others after it is opened again.
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
    fn attributes_and_values_are_the_same_in_every_form(
        attributes in prop::collection::btree_map("[a-zä]{1,12}", any_value(), 0..5),
        frames in prop::collection::btree_map(
            "/[ab]/[c-f]", prop::collection::vec(any::<u8>(), 0..300), 1..5,
        ),
        order in prop::collection::vec(0..3_usize, 1..4),
    ) {
        let forms = [StoreForm::Zip, StoreForm::Dir, StoreForm::Embed];
        let dir = tempfile::tempdir().unwrap();
        let mut writer = StoreWriter::create(dir.path().join("first.b2e")).unwrap();
        for (key, bytes) in &frames {
            writer.insert_cframe(key, frame(bytes)).unwrap();
            for (name, value) in &attributes {
                writer.set_attribute(key, name, value).unwrap();
            }
        }
        let mut store = writer.commit().unwrap();
        for (ncopy, nform) in order.into_iter().enumerate() {
            let options = WriteOptions::default().form(forms[nform]);
            let path = dir.path().join(format!("{ncopy}.{}", ["b2z", "b2d", "b2e"][nform]));
            StoreWriter::copy(&store, &path, &options).unwrap().commit().unwrap();
            store = Store::open(&path).unwrap();
            prop_assert!(store.keys().eq(frames.keys()));
            for (key, bytes) in &frames {
                prop_assert_eq!(&bytes_of(&store, key), bytes);
                let mut found = store.attributes(key).unwrap();
                found.sort_by(|a, b| a.0.cmp(&b.0));
                let expected: Vec<_> = attributes.clone().into_iter().collect();
                prop_assert_eq!(found, expected);
                prop_assert!(store.check_crc(key).is_ok());
            }
        }
    }

    #[test]
    fn a_sentinel_tells_nulls_from_values(
        rows in prop::collection::vec(prop::option::of(0..9_i32), 1..300),
        parts in prop::collection::vec((any::<Index>(), any::<Index>()), 1..5),
    ) {
        let new = |name: &str, kind, null| NewColumn::new(name, kind).nulls(Nulls::Sentinel(null));
        let null_text = || Json::String("none".to_owned());
        let columns = [
            new("i", ColumnKind::Fixed("i4"), Json::Int(-1)),
            new("f", ColumnKind::Fixed("f8"), Json::Float(f64::NAN)),
            new("s", ColumnKind::String, null_text()),
            new("u", ColumnKind::Utf8, null_text()),
        ];
        let chars = |text: &str| -> Vec<u8> {
            let chars = text.chars().chain(core::iter::repeat('\0')).take(4);
            chars.flat_map(|c| u32::from(c).to_le_bytes()).collect()
        };
        let values = |rows: &[Option<i32>]| {
            let of_rows = rows.iter().map(|row| row.unwrap_or(7));
            let texts: Vec<String> = of_rows.clone().map(|row| row.to_string()).collect();
            let with_nulls = |column: ColumnValues| {
                column.with_valid(rows.iter().map(Option::is_some).collect())
            };
            let fixed = |dtype: &str, bytes| ColumnValues::fixed(dtype.parse().unwrap(), bytes);
            let floats = of_rows.clone().flat_map(|row| f64::from(row).to_le_bytes()).collect();
            let strings = texts.iter().flat_map(|text| chars(text)).collect();
            [
                with_nulls(fixed("<i4", of_rows.flat_map(i32::to_le_bytes).collect())),
                with_nulls(fixed("<f8", floats)),
                with_nulls(fixed("<U4", strings)),
                with_nulls(ColumnValues::text(texts.iter().map(String::as_str))),
            ]
        };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.b2z");
        let (first, later) = rows.split_at(rows.len() / 2 + 1);
        let mut writer = StoreWriter::create(&path).unwrap();
        writer.insert_table("/", &columns, &values(first)).unwrap();
        writer.append_rows("/", &values(later)).unwrap();
        writer.commit().unwrap();
        let table = Store::open(&path).unwrap().table("/").unwrap();
        let expected = values(&rows);
        for part in parts.iter().map(|places| between(places, rows.len())) {
            for (spec, expected) in table.schema().columns.iter().zip(&expected) {
                let column = table.column(&spec.name).unwrap();
                let found = column.read(part.start as u64..part.end as u64).unwrap();
                for (at, row) in part.clone().enumerate() {
                    prop_assert_eq!(found.is_null(at), rows[row].is_none());
                    prop_assert_eq!(found.value(at), expected.value(row));
                }
            }
        }
        // A null is neither less nor greater than a number, nor equal to it.
        for (text, is_found) in [
            ("i >= 0", (|_| true) as fn(i32) -> bool),
            ("i < 5", |row| row < 5),
            ("f != 3", |row| row != 3),
            ("u == '8'", |row| row == 8),
        ] {
            let is_row = |row: &u64| rows[usize::try_from(*row).unwrap()].is_some_and(is_found);
            let expected: Vec<u64> = (0..rows.len() as u64).filter(is_row).collect();
            let found = table.filter(text).unwrap().matches(0..rows.len() as u64).unwrap();
            prop_assert_eq!(found, expected, "{}", text);
        }
    }

    #[test]
    fn parts_read_into_the_same_memory_are_those_read_into_new(
        rows in prop::collection::vec(
            (any::<Option<i64>>(), prop::option::of("[a-cä]{0,3}"), prop::option::of(0..5_u8)),
            1..200,
        ),
        deleted in (any::<Index>(), any::<Index>()),
        parts in prop::collection::vec(
            (any::<Index>(), any::<Index>(), 0..5_usize),
            1..30,
        ),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.b2d");
        let mut writer = StoreWriter::create(&path).unwrap();
        writer.insert_table("/", &columns(), &values(&rows)).unwrap();
        let gone = between(&deleted, rows.len());
        writer.delete_rows("/", gone.start as u64..gone.end as u64).unwrap();
        let table = writer.commit().unwrap().table("/").unwrap();
        let mut left = rows;
        left.drain(gone);
        let expected = expected(&left);
        // The memory comes from the previous column, whichever it was.
        let mut found = ColumnValues::text(["before"]);
        for (a, b, ncolumn) in parts {
            let part = between(&(a, b), left.len());
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
    // Values that do not fit leave the earlier rows as they are.
    let mut wrong = values(&rows);
    wrong.swap(0, 1);
    assert!(matches!(table.append(&wrong), Err(Error::Param(Param::Column { .. }))));
    assert_eq!(table.nrows(), 2);
    drop(table);
    writer.commit().unwrap();
    assert_eq!(cells(&Store::open(&path).unwrap().table("/").unwrap()), expected(&rows));
    assert!(StoreWriter::open(&path).unwrap().append_to_table("/x").is_err());
}

/// A child of a process that has read and written with threads.
#[cfg(unix)]
#[test]
fn a_child_reads_and_writes() {
    let rows = many_rows(4000);
    let expected = expected(&rows);
    let dir = tempfile::tempdir().unwrap();
    for threads in [Executor::auto(), Executor::threads(4)] {
        let path = dir.path().join(format!("{}.b2z", threads.count()));
        let budget = Budget::default().threads(threads);
        let open = OpenOptions::default().budget(budget);
        let options = WriteOptions::default().open(open.clone());
        let write = |path: &std::path::Path| {
            let mut writer = StoreWriter::create_with(path, &options).unwrap();
            writer.insert_table("/g/t", &columns(), &values(&rows[..2500])).unwrap();
            writer.append_rows("/g/t", &values(&rows[2500..])).unwrap();
            writer.delete_rows("/g/t", 0..1).unwrap();
            writer.commit().unwrap()
        };
        let store = write(&path);
        let test = || {
            let found = cells(&store.table("/g/t").unwrap());
            assert!(found.iter().zip(&expected).all(|(found, expected)| found == &expected[1..]));
            let reopened = Store::open_with(&path, &open).unwrap();
            assert_eq!(cells(&reopened.table("/g/t").unwrap()), found);
            let other = tempfile::tempdir().unwrap();
            assert_eq!(cells(&write(&other.path().join("t.b2z")).table("/g/t").unwrap()), found);
        };
        test();
        in_child(test);
        test();
    }
}
