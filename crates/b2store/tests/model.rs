//! Random changes of stores and tables, against a model in memory: after each commit the store
//! equals the model, for its writer and for a new reader.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use b2frame::nd::Selection;
use b2frame::{FrameParams, NdParams, NdWriter};
use b2store::{
    ColumnKind, ColumnValues, Content, NewColumn, Nulls, Store, StoreForm, StoreWriter, Table,
    Value, pack, unpack,
};
use blosc_io::MemStore;
use proptest::prelude::*;

/// The content of a store.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    values: BTreeMap<String, Held>,
    /// Attributes of groups and values: by key and name.
    attributes: BTreeMap<(String, String), i64>,
}

#[derive(Clone, Debug, PartialEq)]
enum Held {
    Array(Vec<i32>),
    Bytes(Vec<u8>),
}

#[derive(Clone, Debug)]
enum Change {
    Array(usize, Vec<i32>),
    Bytes(usize, Vec<u8>),
    Remove(usize),
    SetAttribute(usize, usize, i64),
    RemoveAttribute(usize, usize),
    Commit,
    /// All changes since the last commit are lost.
    Abandon,
}

const KEYS: &[&str] = &["/a", "/b", "/ü", "/g/a", "/g/b", "/g/h/a", "/k/x"];
/// In the numbering of owners, groups come after keys.
const GROUPS: &[&str] = &["/", "/g", "/g/h"];
const NAMES: &[&str] = &["unit", "größe", "n"];

fn change() -> impl Strategy<Value = Change> {
    let key = 0..KEYS.len();
    let owner = 0..KEYS.len() + GROUPS.len();
    let name = 0..NAMES.len();
    prop_oneof![
        3 => (key.clone(), prop::collection::vec(any::<i32>(), 0..40))
            .prop_map(|(key, items)| Change::Array(key, items)),
        3 => (key.clone(), prop::collection::vec(any::<u8>(), 0..3000))
            .prop_map(|(key, bytes)| Change::Bytes(key, bytes)),
        2 => key.prop_map(Change::Remove),
        3 => (owner.clone(), name.clone(), any::<i64>())
            .prop_map(|(key, name, value)| Change::SetAttribute(key, name, value)),
        2 => (owner, name).prop_map(|(key, name)| Change::RemoveAttribute(key, name)),
        2 => Just(Change::Commit),
        1 => Just(Change::Abandon),
    ]
}

fn array(items: &[i32]) -> b2frame::NdArray {
    let params = NdParams::new(&[items.len() as u64], "<i4".parse().unwrap());
    let mut writer = NdWriter::in_memory(&params).unwrap();
    writer.write_slice(Selection::ALL, items).unwrap();
    writer.finish().unwrap()
}

/// Applies a change to a writer and to the model.
fn apply(writer: &mut StoreWriter, model: &mut Model, change: &Change) {
    match change {
        Change::Array(key, items) => {
            let key = KEYS[*key];
            writer.insert_array(key, &array(items)).unwrap();
            model.attributes.retain(|(of, _), _| of != key);
            model.values.insert(key.to_owned(), Held::Array(items.clone()));
        }
        Change::Bytes(key, bytes) => {
            let key = KEYS[*key];
            let frame = b2frame::to_cframe(bytes, &FrameParams::default()).unwrap();
            writer.insert_cframe(key, frame).unwrap();
            model.attributes.retain(|(of, _), _| of != key);
            model.values.insert(key.to_owned(), Held::Bytes(bytes.clone()));
        }
        Change::Remove(key) => {
            let key = KEYS[*key];
            let is_there = model.values.remove(key).is_some();
            assert_eq!(writer.remove(key).is_ok(), is_there, "{key}");
            model.attributes.retain(|(of, _), _| of != key);
        }
        Change::SetAttribute(owner, name, value) => {
            let name = NAMES[*name];
            // An attribute of a key without a value would make a group.
            let Some(key) = owner_of(model, *owner) else { return };
            let is_set = writer.set_attribute(key, name, &Value::Int(*value)).is_ok();
            let has_groups = writer.form() != StoreForm::Embed;
            assert_eq!(is_set, has_groups || model.values.contains_key(key), "{key}");
            if is_set {
                model.attributes.insert((key.to_owned(), name.to_owned()), *value);
            }
        }
        Change::RemoveAttribute(owner, name) => {
            let name = NAMES[*name];
            let Some(key) = owner_of(model, *owner) else { return };
            let old = model.attributes.remove(&(key.to_owned(), name.to_owned()));
            let has_groups = writer.form() != StoreForm::Embed;
            if has_groups || model.values.contains_key(key) {
                assert_eq!(writer.remove_attribute(key, name).unwrap(), old.is_some());
            } else {
                assert!(writer.remove_attribute(key, name).is_err());
            }
        }
        Change::Commit | Change::Abandon => unreachable!("done by the caller"),
    }
}

/// The key of an existing value, or a group.
fn owner_of(model: &Model, owner: usize) -> Option<&'static str> {
    match KEYS.get(owner) {
        Some(key) => model.values.contains_key(*key).then_some(*key),
        None => GROUPS.get(owner - KEYS.len()).copied(),
    }
}

/// The content of a store.
fn read(store: &Store) -> Model {
    let mut model = Model::default();
    for key in store.keys().filter(|key| !key.ends_with("/__vlmeta__")) {
        let held = match store.get(key).unwrap() {
            Content::Array(array) => Held::Array(array.read().unwrap()),
            Content::Frame(frame) => {
                let mut bytes = vec![0; usize::try_from(frame.nbytes()).unwrap()];
                frame.read_bytes(0, &mut bytes).unwrap();
                Held::Bytes(bytes)
            }
            other => panic!("{key}: {other:?}"),
        };
        model.values.insert(key.to_owned(), held);
    }
    let owners = model.values.keys().map(String::as_str).chain(GROUPS.iter().copied());
    for key in owners {
        // A group without values and attributes does not exist.
        for (name, value) in store.attributes(key).unwrap_or_default() {
            let Value::Int(value) = value else { panic!("{key} {name}: {value:?}") };
            model.attributes.insert((key.to_owned(), name), value);
        }
    }
    model
}

/// Names in a directory that do not belong to a store.
fn strangers(dir: &Path, store: &str) -> Vec<String> {
    let names = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    names.filter(|name| name != store && name != &format!("{store}.b2lock")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn stores_hold_what_the_model_holds(
        changes in prop::collection::vec(change(), 1..40),
        form in 0..3_usize,
    ) {
        let suffix = ["b2z", "b2d", "b2e"][form];
        let dir = tempfile::tempdir().unwrap();
        let name = format!("x.{suffix}");
        let path = dir.path().join(&name);
        let mut committed = Model::default();
        StoreWriter::create(&path).unwrap().commit().unwrap();
        let mut writer = StoreWriter::open(&path).unwrap();
        let mut model = committed.clone();
        for change in changes.iter().chain([&Change::Commit]) {
            match change {
                Change::Commit => {
                    let store = writer.commit().unwrap();
                    prop_assert_eq!(read(&store), model.clone());
                    drop(store);
                    prop_assert_eq!(read(&Store::open(&path).unwrap()), model.clone());
                    committed = model.clone();
                    writer = StoreWriter::open(&path).unwrap();
                }
                Change::Abandon => {
                    drop(writer);
                    prop_assert_eq!(read(&Store::open(&path).unwrap()), committed.clone());
                    model = committed.clone();
                    writer = StoreWriter::open(&path).unwrap();
                }
                change => apply(&mut writer, &mut model, change),
            }
        }
        drop(writer);
        prop_assert_eq!(strangers(dir.path(), &name), Vec::<String>::new());

        // The same content as one file in memory, and in the other forms.
        if form != 1 {
            let bytes = Arc::new(MemStore::new(std::fs::read(&path).unwrap()));
            let store = Store::from_store(bytes, &b2store::OpenOptions::default()).unwrap();
            prop_assert_eq!(read(&store), committed.clone());
        }
        if form != 2 {
            let other = dir.path().join("y").with_extension(["b2d", "b2z"][form]);
            let store = if form == 0 { unpack(&path, &other) } else { pack(&path, &other) };
            prop_assert_eq!(read(&store.unwrap()), committed);
        }
    }
}

/// A row of the model: a number, text, a word, each of which may be null.
type Row = (Option<i64>, Option<String>, Option<u8>);

#[derive(Clone, Debug)]
enum RowChange {
    Append(Vec<Row>),
    Delete(prop::sample::Index, prop::sample::Index),
    Commit,
    Abandon,
}

const WORDS: &[&str] = &["", "red", "grün", "blue"];

fn columns() -> Vec<NewColumn> {
    vec![
        NewColumn::new("n", ColumnKind::Fixed("i8")).nulls(Nulls::Mask),
        NewColumn::new("u", ColumnKind::Utf8).nulls(Nulls::Mask),
        NewColumn::new("v", ColumnKind::VlString).nulls(Nulls::Native),
        NewColumn::new("d", ColumnKind::Dictionary { null_code: -1 }),
    ]
}

fn columns_of(rows: &[Row]) -> Vec<ColumnValues> {
    let numbers = rows.iter().flat_map(|row| row.0.unwrap_or_default().to_le_bytes());
    let text = |row: &Row| row.1.clone().map_or(Value::Nil, Value::Str);
    vec![
        ColumnValues::fixed("<i8".parse().unwrap(), numbers.collect())
            .with_valid(rows.iter().map(|row| row.0.is_some()).collect()),
        ColumnValues::text(rows.iter().map(|row| row.1.as_deref().unwrap_or_default()))
            .with_valid(rows.iter().map(|row| row.1.is_some()).collect()),
        ColumnValues::objects(rows.iter().map(text)),
        ColumnValues::objects(rows.iter().map(|row| word(row.2).map_or(Value::Nil, Value::Str))),
    ]
}

fn word(number: Option<u8>) -> Option<String> {
    number.map(|number| WORDS[usize::from(number) % WORDS.len()].to_owned())
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (any::<Option<i64>>(), prop::option::of("[a-cü]{0,4}"), any::<Option<u8>>());
    prop::collection::vec(row, 0..60)
}

fn row_change() -> impl Strategy<Value = RowChange> {
    prop_oneof![
        4 => rows().prop_map(RowChange::Append),
        3 => (any::<prop::sample::Index>(), any::<prop::sample::Index>())
            .prop_map(|(a, b)| RowChange::Delete(a, b)),
        2 => Just(RowChange::Commit),
        1 => Just(RowChange::Abandon),
    ]
}

fn assert_rows(table: &Table, rows: &[Row], key: &str) {
    assert_eq!(table.len().unwrap(), rows.len() as u64, "{key}");
    for (spec, expected) in table.schema().columns.iter().zip(columns_of(rows)) {
        let found = table.column(&spec.name).unwrap().read(0..rows.len() as u64).unwrap();
        assert_eq!(found.len(), rows.len(), "{key} {}", spec.name);
        for row in 0..rows.len() {
            assert_eq!(found.value(row), expected.value(row), "{key} {} row {row}", spec.name);
        }
    }
    let wanted = |row: &Row| row.0.is_some_and(|n| n > 0) && row.1.as_deref() != Some("a");
    // Null text makes the comparison unknown, so the row is not found.
    let expected: Vec<u64> = (0..)
        .zip(rows)
        .filter(|(_, row)| wanted(row) && row.1.is_some())
        .map(|(at, _)| at)
        .collect();
    let filter = table.filter("n > 0 and u != 'a'").unwrap();
    assert_eq!(filter.matches(0..rows.len() as u64).unwrap(), expected, "{key}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn tables_hold_what_the_model_holds(
        first in rows(),
        changes in prop::collection::vec(row_change(), 1..12),
        is_dir: bool,
        is_in_tree: bool,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(if is_dir { "t.b2d" } else { "t.b2z" });
        let key = if is_in_tree { "/g/tab" } else { "/" };
        let mut writer = StoreWriter::create(&path).unwrap();
        writer.insert_table(key, &columns(), &columns_of(&first)).unwrap();
        writer.commit().unwrap();
        let mut committed = first;
        let mut model = committed.clone();
        let mut writer = StoreWriter::open(&path).unwrap();
        for change in changes.iter().chain([&RowChange::Commit]) {
            match change {
                RowChange::Append(rows) => {
                    writer.append_rows(key, &columns_of(rows)).unwrap();
                    model.extend_from_slice(rows);
                }
                RowChange::Delete(a, b) => {
                    let (a, b) = (a.index(model.len() + 1), b.index(model.len() + 1));
                    let range = a.min(b)..a.max(b);
                    writer.delete_rows(key, range.start as u64..range.end as u64).unwrap();
                    model.drain(range);
                    let beyond = model.len() as u64..model.len() as u64 + 1;
                    prop_assert!(writer.delete_rows(key, beyond).is_err());
                }
                RowChange::Commit => {
                    assert_rows(&writer.commit().unwrap().table(key).unwrap(), &model, key);
                    committed = model.clone();
                    writer = StoreWriter::open(&path).unwrap();
                }
                RowChange::Abandon => {
                    drop(writer);
                    model = committed.clone();
                    writer = StoreWriter::open(&path).unwrap();
                }
            }
        }
        drop(writer);
        assert_rows(&Store::open(&path).unwrap().table(key).unwrap(), &committed, key);
    }
}
