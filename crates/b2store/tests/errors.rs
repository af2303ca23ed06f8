//! The malformed samples: the behaviour that `malformed.json` requires of a reader, case by case.

use crate::sidecar;

use b2store::{
    ColumnKind, ColumnValues, Content, Error, Location, NewColumn, Note, Store, StoreWriter, Table,
    error::Corrupt,
};
use serde_json::json;
use sidecar::{content, read_json, root};

fn path(id: &str) -> std::path::PathBuf {
    let file = read_json("malformed.json")["cases"]
        .as_array()
        .unwrap()
        .iter()
        .find(|case| case["id"] == id)
        .unwrap_or_else(|| panic!("{id}"))["file"]
        .as_str()
        .unwrap()
        .to_owned();
    root().join(file)
}

fn open(id: &str) -> Store {
    Store::open(path(id)).unwrap_or_else(|error| panic!("{id}: {error:?}"))
}

fn reject(id: &str) -> String {
    match Store::open(path(id)) {
        Err(error) => error.to_string(),
        Ok(store) => panic!("{id}: {:?}", store.keys().collect::<Vec<_>>()),
    }
}

fn numbers(store: &Store, key: &str) -> Vec<f64> {
    let Content::Array(array) = store.get(key).unwrap_or_else(|error| panic!("{key}: {error:?}"))
    else {
        panic!("{key}")
    };
    let number = |item: &[u8]| match array.dtype().to_string().as_str() {
        "'<i8'" | "<i8" => i64::from_le_bytes(item.try_into().unwrap()) as f64,
        "'<i4'" | "<i4" => i32::from_le_bytes(item.try_into().unwrap()).into(),
        _ => f64::from_le_bytes(item.try_into().unwrap()),
    };
    let bytes = array.to_bytes(b2frame::nd::Selection::ALL).unwrap();
    bytes.chunks_exact(array.typesize()).map(number).collect()
}

/// The value `/g/b` beside a damaged one.
fn assert_b_is_read(store: &Store) {
    assert_eq!(numbers(store, "/g/b"), [100.0, 101.0, 102.0, 103.0]);
}

fn get_error(store: &Store, key: &str) -> String {
    match store.get(key) {
        Err(error) => format!("{error}: {:?}", error),
        Ok(found) => panic!("{key}: {}", content(&found)),
    }
}

#[test]
fn every_case_has_a_test() {
    let tests = include_str!("errors.rs");
    for case in read_json("malformed.json")["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        assert!(tests.contains(&format!("\"{id}\"")), "{case}");
    }
}

#[test]
fn archives_without_a_marker_are_no_stores() {
    assert!(reject("Z01").contains("no embed.b2e"));
    assert!(reject("Z03").contains("compressed by zip (method 8)"));
    assert!(reject("Z19").contains("embed.b2e"));
    let error = Store::open(path("Z25")).unwrap_err();
    let Error::Corrupt { what: Corrupt::Version { found: 2, .. }, .. } = error else {
        panic!("{error:?}")
    };
}

#[test]
fn members_that_cannot_be_read_in_place_fail_alone() {
    let store = open("Z02");
    assert!(get_error(&store, "/a").contains("compressed by zip (method 8)"));
    assert_b_is_read(&store);
    let store = open("Z13");
    assert!(get_error(&store, "/a").contains("encrypted"));
    assert_b_is_read(&store);
    for id in ["Z09", "Z20"] {
        let store = open(id);
        get_error(&store, "/a");
        assert_b_is_read(&store);
    }
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    assert!(reject("Z05").contains("'.' or '..'"));
    assert!(reject("Z06").contains("empty"));
    assert!(reject("Z07").contains("'.' or '..'"));
    assert!(reject("Z08").contains("control character"));
    assert!(reject("Z22").contains("not UTF-8"));
}

#[test]
fn directories_of_archives_that_disagree_are_believed_by_sums_or_refused() {
    assert!(reject("Z04").contains("two members \"a.b2nd\""));
    reject("Z10");
    let store = open("Z11");
    let (path, field) = ("a.b2nd".to_owned(), "name");
    assert_eq!(store.notes(), [Note::Header { path, field }]);
    assert_eq!(numbers(&store, "/a"), [0.0, 1.0, 2.0]);
    let store = open("Z14");
    let (path, field) = ("a.b2nd".to_owned(), "length");
    assert_eq!(store.notes(), [Note::Header { path, field }]);
    assert_eq!(numbers(&store, "/a"), [0.0, 1.0, 2.0]);
    reject("Z15");
    assert!(reject("Z16").contains("also in"));
    reject("Z18");
}

#[test]
fn a_wrong_crc_is_found_by_verifying() {
    let store = open("Z12");
    assert_b_is_read(&store);
    assert!(store.check_crc("/a").unwrap_err().to_string().contains("CRC-32"));
    assert!(store.check_crc("/g/b").unwrap().is_some());
}

#[test]
fn what_is_unusual_is_accepted() {
    let keys = |store: &Store| store.tree().into_iter().map(|c| c.key).collect::<Vec<_>>();
    // In the tree, a group hides a value of its key; the flat view has it.
    let store = open("Z17");
    assert_eq!(keys(&store), ["/a", "/g", "/g/b"]);
    assert!(store.contains("/g") && store.get("/g").is_ok());
    let store = open("Z21");
    assert_eq!(keys(&store), ["/a", "/g", "/g/b"]);
    assert!(store.notes().iter().any(|note| matches!(note, Note::Ignored { .. })));
    for id in ["Z23", "Z24"] {
        let store = open(id);
        assert_eq!(keys(&store), ["/a", "/g", "/g/b"], "{id}");
        assert_b_is_read(&store);
    }
    let store = open("Z26");
    assert_eq!(store.notes(), [Note::NoData { key: "/gone".to_owned() }]);
    assert_b_is_read(&store);
}

#[test]
fn damaged_entries_of_embed_stores_fail_alone() {
    for id in ["E01", "E02", "E04", "E05", "E10", "E13"] {
        let store = open(id);
        get_error(&store, "/a");
        assert_eq!(numbers(&store, "/b"), [100.0, 101.0, 102.0, 103.0], "{id}");
    }
    let store = open("E03");
    get_error(&store, "/b");
    assert_eq!(numbers(&store, "/a"), [0.0, 1.0, 2.0]);
    assert!(reject("E07").contains("embed_map is a list, not a map"));
}

#[test]
fn embed_stores_that_are_unusual_are_read() {
    for id in ["E06", "E12"] {
        let store = open(id);
        assert_eq!(numbers(&store, "/a"), [0.0, 1.0, 2.0], "{id}");
        assert_eq!(numbers(&store, "/b"), [100.0, 101.0, 102.0, 103.0], "{id}");
    }
    let store = open("E08");
    assert_eq!(store.notes(), [Note::Key { key: "nolead".to_owned() }]);
    assert_eq!(store.keys().collect::<Vec<_>>(), ["/a", "/b"]);
    let store = open("E09");
    assert!(matches!(store.location("/r"), Some(Location::Remote { .. })));
    assert!(matches!(store.get("/r"), Err(Error::Recipe { .. })));
    let store = open("E11");
    assert_eq!(numbers(&store, "/c"), numbers(&store, "/a"));
}

fn table(id: &str) -> Table {
    open(id).table("/").unwrap_or_else(|error| panic!("{id}: {error:?}"))
}

fn column(table: &Table, name: &str) -> String {
    let column = table.column(name).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let rows = table.len().unwrap();
    serde_json::Value::Array(sidecar::cells(&column, 0..rows).0).to_string()
}

fn column_error(table: &Table, name: &str) -> String {
    let rows = table.len().unwrap();
    match table.column(name).and_then(|column| column.read(0..rows)) {
        Err(error) => error.to_string(),
        Ok(found) => panic!("{name}: {found:?}"),
    }
}

/// The columns of the table that all cases start from, except the damaged ones.
#[track_caller]
fn assert_others(table: &Table, damaged: &[&str]) {
    for (name, cells) in [
        ("id", json!([10, null, 30])),
        ("v", json!(["a", "b", "c"])),
        ("u", json!(["x", "", "yz"])),
        ("d", json!(["red", "green", null])),
    ] {
        if !damaged.contains(&name) {
            assert_eq!(column(table, name), cells.to_string(), "{name}");
        }
    }
}

#[test]
fn a_damaged_column_fails_alone() {
    assert_others(&table("T00"), &[]);
    for (id, name, text) in [
        ("T02", "id", ""),
        ("T04", "id", "missing"),
        ("T05", "u", "text from byte"),
        ("T06", "u", "text from byte"),
        ("T07", "u", "not UTF-8"),
        ("T08", "d", "there are"),
        ("T09", "id", "the column has 2"),
        ("T13", "id", "the schema says"),
        ("T16", "v", "an integer in a column of text"),
    ] {
        let table = table(id);
        let name = if id == "T02" {
            let unknown =
                |c: &&b2store::table::ColumnSpec| matches!(c.kind, ColumnKind::Unknown(_));
            table.schema().columns.iter().find(unknown).unwrap().name.clone()
        } else {
            name.to_owned()
        };
        let error = column_error(&table, &name);
        assert!(error.contains(text), "{id}: {error}");
        assert_others(&table, &[name.as_str()]);
    }
}

#[test]
fn a_damaged_schema_is_refused_and_a_hint_is_not_believed() {
    for id in ["T01", "T03", "T14", "T18"] {
        let found = open(id).table("/");
        assert!(matches!(found, Err(Error::Corrupt { .. })), "{id}: {found:?}");
    }
    let table_10 = table("T10");
    assert_eq!(column(&table_10, "id"), "[10,20,30]");
    for id in ["T11", "T19"] {
        let table = table(id);
        assert_eq!(table.len().unwrap(), 3, "{id}");
        assert_others(&table, &[]);
    }
    // Not a table at all.
    assert_eq!(open("T17").tables().count(), 0);
}

#[test]
fn rows_past_the_end_of_a_column_and_names_that_lead_outside() {
    let longer = table("T12");
    let error = column_error(&longer, "id");
    assert!(error.contains("row 3 is missing"), "{error}");
    // Existing rows are readable.
    assert!(longer.column("id").unwrap().read(0..3).is_ok());
    let outside = table("T15");
    let name = &outside.schema().columns.iter().find(|c| c.name.contains("..")).unwrap().name;
    assert!(column_error(&outside, name).contains("leads elsewhere"));
}

#[test]
fn damaged_batches_fail_when_they_are_read() {
    let read = |id: &str| {
        let schunk = b2frame::SChunk::open(path(id)).unwrap();
        let Content::Batches(batches) = Content::from_schunk(schunk, id)? else { panic!("{id}") };
        let mut found = Vec::new();
        for nbatch in 0..batches.nbatches() {
            found.push(batches.batch(nbatch)?);
        }
        Ok::<_, Error>(found)
    };
    for (id, text) in [
        ("B02", "batch_lengths"),
        ("B03", "not a list of items"),
        ("B04", "cut at byte 5"),
        ("B05", "nested deeper"),
        ("B06", "after the value"),
    ] {
        let error = read(id).unwrap_err().to_string();
        assert!(error.contains(text), "{id}: {error}");
    }
    // Reading batch by batch does not need the numbers in the frame; items by number do.
    let found = read("B01").unwrap();
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [3, 1]);
    let schunk = b2frame::SChunk::open(path("B01")).unwrap();
    let Content::Batches(batches) = Content::from_schunk(schunk, "B01").unwrap() else { panic!() };
    let error = batches.items(0..batches.len().unwrap()).unwrap_err().to_string();
    assert!(error.contains("items of a"), "{error}");
    let found = read("B07").unwrap();
    let is_reference = |value: &b2store::Value| matches!(value, b2store::Value::Reference(_));
    assert!(found.iter().flatten().any(is_reference), "{found:?}");
}

/// A request for a missing thing names it in its error, and changes no data.
#[test]
fn what_is_not_there_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.b2z");
    let mut writer = StoreWriter::create(&path).unwrap();
    let numbers = ColumnValues::fixed("<i8".parse().unwrap(), vec![1; 80]);
    let column = || NewColumn::new("n", ColumnKind::Fixed("i8"));
    writer.insert_table("/t", &[column()], core::slice::from_ref(&numbers)).unwrap();
    let frame = b2frame::to_cframe(b"bytes", &b2frame::FrameParams::default()).unwrap();
    writer.insert_cframe("/g/a", frame).unwrap();
    writer.commit().unwrap();

    let store = Store::open(&path).unwrap();
    let table = store.table("/t").unwrap();
    let text = |error: Option<Error>| error.map(|error| error.to_string());
    for (error, expected) in [
        (store.get("/g/b").err(), "no key \"/g/b\""),
        (store.frame("/g").err(), "no key \"/g\""),
        (store.frame_bytes("/g/a/b").err(), "no key \"/g/a/b\""),
        (store.table("/g/a").err(), "\"/g/a\" is no table"),
        (store.table("/none").err(), "\"/none\" is no table"),
        (table.column("m").err(), "no column \"m\""),
        (table.column("n").unwrap().read(3..12).err(), "3..12 of 10 rows"),
        (table.column("n").unwrap().read(11..11).err(), "11..11 of 10 rows"),
    ] {
        assert_eq!(text(error).as_deref(), Some(expected));
    }
    assert!(store.location("/g/b").is_none() && !store.contains("/g"));
    // A value outside of the members of an archive has no sum to compare.
    assert_eq!(store.check_crc("/g/b").unwrap(), None);

    let before = std::fs::read(&path).unwrap();
    let mut writer = StoreWriter::open(&path).unwrap();
    for (error, expected) in [
        (writer.remove("/g/b").err(), "no key \"/g/b\""),
        (writer.get("/g/b").err(), "no key \"/g/b\""),
        (writer.frame("/none").err(), "no key \"/none\""),
        (writer.delete_rows("/none", 0..0).err(), "\"/none\" is no table"),
        (writer.delete_rows("/g/a", 0..1).err(), "\"/g/a\" is no table"),
        (writer.delete_rows("/t", 4..11).err(), "4..11 of 10 rows"),
        (writer.append_rows("/none", &[numbers]).err(), "\"/none\" is no table"),
    ] {
        assert_eq!(text(error).as_deref(), Some(expected));
    }
    drop(writer);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
