//! The samples of five releases of python-blosc2 match their sidecars. Numbers refer to the test
//! cases of the specification.

use crate::sidecar;

use b2store::{Content, Error, Location, Store, StoreKind, Value};
use serde_json::json;
use sidecar::{assert_content, assert_same, assert_store, assert_table, content, read_json, root};

fn open(name: &str) -> Store {
    Store::open(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error:?}"))
}

fn keys(store: &Store) -> Vec<String> {
    store.tree().into_iter().map(|child| child.key).collect()
}

/// A file that consists of one frame.
fn open_frame(name: &str) -> Content {
    Content::from_schunk(b2frame::SChunk::open(root().join(name)).unwrap(), name).unwrap()
}

#[test]
fn stores_1_to_9_and_27_to_29() {
    for (name, sidecar) in [
        ("tree-basic.b2z", "tree-basic.b2z.json"),
        ("tree-basic.b2d", "tree-basic.b2d.json"),
        ("dict-basic.b2z", "dict-basic.b2z.json"),
        ("dict-basic.b2d", "dict-basic.b2d.json"),
        ("dict-embedded.b2d", "dict-embedded.json"),
        ("tree-embedded.b2z", "tree-embedded.json"),
        ("tree-empty.b2z", "tree-empty.b2z.json"),
        ("tree-empty.b2d", "tree-empty.b2d.json"),
        ("tree-dtypes.b2z", "tree-dtypes.json"),
        ("tree-attributes.b2z", "tree-attributes.json"),
        ("tree-with-table.b2z", "tree-with-table.json"),
        ("dict-locked.b2d", "dict-locked.json"),
        ("v3.7.0-dict.b2d", "v3.7.0-dict.json"),
        ("v3.7.0-tree.b2z", "v3.7.0-tree.json"),
        ("v3.12.2-dict.b2d", "v3.12.2-dict.json"),
        ("v3.12.2-tree.b2z", "v3.12.2-tree.json"),
        ("v4.2.0-dict.b2d", "v4.2.0-dict.json"),
        ("v4.2.0-tree.b2z", "v4.2.0-tree.json"),
        ("v4.8.0-dict.b2d", "v4.8.0-dict.json"),
        ("v4.8.0-tree.b2z", "v4.8.0-tree.json"),
        ("embed-basic.b2e", "embed-basic.json"),
        ("embed-chunks.b2e", "embed-chunks.json"),
        ("embed-empty.b2e", "embed-empty.json"),
    ] {
        let (store, sidecar) = (open(name), read_json(sidecar));
        assert_store(&store, &sidecar, name);
        // All other keys are parts of the listed ones.
        let listed = sidecar["keys"].as_object().unwrap();
        for key in store.keys() {
            let is_known = listed.keys().any(|known| key.starts_with(known.as_str()));
            assert!(is_known || key.ends_with("/__vlmeta__"), "{name}: {key}");
        }
    }
}

#[test]
fn zips_of_other_writers_10_to_12() {
    for name in ["zip-aligned-embed-first", "zip-streamed-comment-prefix", "zip-zip64-extra"] {
        let store = open(&format!("{name}.b2z"));
        assert_store(&store, &read_json(&format!("{name}.json")), name);
        assert_eq!(keys(&store), keys(&open("tree-basic.b2d")), "{name}");
        for key in store.keys() {
            assert!(store.check_crc(key).unwrap().is_some(), "{name}: {key}");
        }
    }
}

#[test]
fn a_zip_may_follow_other_bytes() {
    let zip = std::fs::read(root().join("tree-basic.b2z")).unwrap();
    let bytes = [&b"#!/usr/bin/env b2\n"[..], &zip].concat();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    std::fs::write(&path, bytes).unwrap();
    let store = Store::open(&path).unwrap();
    assert_store(&store, &read_json("tree-basic.b2z.json"), "with a prefix");
}

#[test]
fn objects_batches_and_lists_13_to_16() {
    for name in
        ["objects.b2f", "batches.b2b", "batches-arrow.b2b", "lists-batch.b2b", "lists-vl.b2b"]
    {
        let stem = name.split_once('.').unwrap().0;
        let expected = &read_json(&format!("{stem}.json"))["value"];
        assert_content(&content(&open_frame(name)), expected, name);
    }
    let Content::Batches(batches) = open_frame("batches.b2b") else { panic!() };
    assert_eq!(batches.items(5..6).unwrap(), [Value::Str("y".to_owned())]);
}

/// A cache with all chunks of its array is that array.
#[test]
fn a_whole_cache_of_another_array_is_an_array() {
    let frame = || b2frame::SChunk::open(root().join("lazy/proxy-whole.b2nd")).unwrap();
    let Content::Array(array) = Content::from_schunk(frame(), "x").unwrap() else { panic!() };
    let items: Vec<u8> = (0..40_i32).flat_map(i32::to_le_bytes).collect();
    assert_eq!(array.to_bytes(b2frame::nd::Selection::ALL).unwrap(), items);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part.b2nd");
    std::fs::copy(root().join("lazy/proxy-whole.b2nd"), &path).unwrap();
    let mut writer = b2frame::SChunkWriter::open(&path).unwrap();
    // Chunk 3 is missing.
    writer.set_vlmeta("proxy-fetched", b"\xc4\x01\x07").unwrap();
    writer.commit().unwrap();
    let part = b2frame::SChunk::open(&path).unwrap();
    assert!(matches!(Content::from_schunk(part, "x").unwrap(), Content::Recipe(_)));
}

/// The table of `conformance/samples/stores/make_v4_13.py`: lists in Arrow's form, with every kind of item.
#[test]
fn lists_in_the_form_of_arrow_are_rows_like_others() {
    let store = open("v4.13.1-lists.b2z");
    let table = store.table("/").unwrap();
    let column = |name: &str| match table.column(name).unwrap().read(0..4).unwrap().values {
        b2store::Values::Objects(rows) => rows,
        other => panic!("{name}: {other:?}"),
    };
    let list = |items: &[Value]| Value::Array(items.to_vec());
    let (int, text) = (Value::Int, |text: &str| Value::Str(text.to_owned()));
    let pair = |a: Value, b: Value| Value::Map(vec![(text("a"), a), (text("b"), b)]);
    let (none, nil) = (list(&[]), Value::Nil);
    for (name, rows) in [
        (
            "words",
            [
                list(&[text("a"), text("bc")]),
                none.clone(),
                nil.clone(),
                list(&[text("d"), nil.clone()]),
            ],
        ),
        (
            "whole",
            [
                list(&[int(1), int(-2)]),
                list(&[int(3)]),
                none.clone(),
                list(&[int(4), nil.clone(), int(6)]),
            ],
        ),
        ("large", [list(&[Value::UInt(u64::MAX)]), none.clone(), list(&[int(0)]), nil.clone()]),
        (
            "reals",
            [
                list(&[Value::Float(1.5), nil.clone()]),
                list(&[Value::Float(2.5)]),
                none.clone(),
                nil.clone(),
            ],
        ),
        (
            "truth",
            [
                list(&[Value::Bool(true), Value::Bool(false), nil.clone()]),
                none.clone(),
                list(&[Value::Bool(true)]),
                nil.clone(),
            ],
        ),
        (
            "bytes",
            [
                list(&[Value::Bytes(b"ab".to_vec()), Value::Bytes(vec![])]),
                none.clone(),
                list(&[Value::Bytes(b"c".to_vec())]),
                nil.clone(),
            ],
        ),
        (
            "times",
            [list(&[int(1_577_836_800_000_000)]), nil.clone(), none.clone(), list(&[int(0)])],
        ),
        (
            "pairs",
            [
                list(&[pair(int(1), text("x"))]),
                none.clone(),
                list(&[pair(nil.clone(), text("y")), pair(int(3), nil.clone())]),
                nil.clone(),
            ],
        ),
    ] {
        assert_eq!(column(name), rows, "{name}");
    }
    // Rows in the other form would make a mixture.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.b2z");
    std::fs::copy(root().join("v4.13.1-lists.b2z"), &path).unwrap();
    let mut writer = b2store::StoreWriter::open(&path).unwrap();
    let error = writer.append_to_table("/").map(drop).unwrap_err();
    assert!(error.to_string().contains("in Arrow's form"), "{error}");
}

/// Each byte of a block is damaged once: the result is rows, or an error, within the memory limit.
#[test]
fn damaged_rows_in_the_form_of_arrow_are_no_panic() {
    let frame = b2frame::SChunk::open(root().join("batches-arrow.b2b")).unwrap();
    let block = frame.vl_block(0, 0).unwrap();
    let layer = frame.meta().get("batcharray").unwrap().content.to_vec();
    for at in 0..block.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut bytes = block.clone();
            bytes[at] = value;
            let params = b2frame::FrameParams::new(blosc_chunk::CParams::default().typesize(1));
            let params = params.metalayer("batcharray", layer.clone());
            let mut writer = b2frame::SChunkWriter::in_memory(&params).unwrap();
            writer.append_vl(&[&bytes]).unwrap();
            let frame = writer.finish().unwrap();
            let Content::Batches(batches) = Content::from_schunk(frame, "x").unwrap() else {
                panic!()
            };
            if let Err(error) = batches.batch(0) {
                assert_ne!(error.blame(), b2store::error::Blame::Io, "{error}");
            }
        }
    }
}

#[test]
fn tables_17_to_25_and_29() {
    for (name, sidecar) in [
        ("table-basic.b2d", "table-basic.b2d.json"),
        ("table-basic.b2z", "table-basic.b2z.json"),
        // The same table, as one frame.
        ("table-cframe.b2e", "table-basic.b2d.json"),
        ("table-nulls-mask.b2d", "table-nulls-mask.json"),
        ("table-nulls-sentinel.b2d", "table-nulls-sentinel.json"),
        ("table-names.b2d", "table-names.json"),
        ("table-derived.b2d", "table-derived.json"),
        ("table-unclosed.b2d", "table-unclosed.json"),
        ("table-empty.b2z", "table-empty.json"),
        ("v4.2.0-table.b2d", "v4.2.0-table.json"),
        ("v4.8.0-table.b2d", "v4.8.0-table.json"),
    ] {
        let (store, sidecar) = (open(name), read_json(sidecar));
        assert_eq!(store.kind(), StoreKind::Table, "{name}");
        let table = store.table("/").unwrap();
        let expected = &sidecar["table"];
        assert_table(&table, expected, name);
        assert_eq!(json!(table.capacity()), expected["physical_rows"], "{name}");
        let columns = table.schema().columns.iter().map(|column| column.name.as_str());
        let listed = expected["columns"].as_object().unwrap();
        assert_eq!(columns.filter(|name| !listed.contains_key(*name)).count(), 0, "{name}");
    }
}

#[test]
fn a_tree_hides_the_parts_of_tables_and_attributes_19() {
    let store = open("tree-with-table.b2z");
    assert_eq!(keys(&store), ["/arr", "/g", "/g/tab"]);
    assert_eq!(store.tables().collect::<Vec<_>>(), ["/g/tab"]);
    assert!(store.table("/arr").is_err() && store.table("/").is_err());
    let store = open("tree-basic.b2z");
    assert_eq!(keys(&store), ["/a", "/g", "/g/b", "/g/h", "/g/h/c", "/only-attributes"]);
}

#[test]
fn the_file_hides_an_embedded_value_of_its_key_4() {
    let store = open("dict-embedded.b2d");
    assert!(matches!(store.location("/both"), Some(Location::File { .. })));
    let Content::Array(array) = store.get("/both").unwrap() else { panic!() };
    assert_eq!(array.read::<f64>().unwrap(), (0..200).map(f64::from).collect::<Vec<_>>());
}

#[test]
fn a_computed_column_is_refused_by_its_name_23() {
    let table = open("table-derived.b2d").table("/").unwrap();
    let computed = &table.schema().computed[0];
    assert_eq!(computed.name, "sum");
    let error = table.column("sum").unwrap_err().to_string();
    assert!(error.contains(&computed.expression) && error.contains("not evaluated"), "{error}");
    assert!(table.column("nothing").is_err());
}

#[test]
fn recipes_are_described_and_never_resolved_26() {
    for (file, kind) in [
        ("expr.b2nd", "a lazy expression"),
        ("udf-dsl.b2nd", "a lazy function"),
        ("udf-python.b2nd", "a lazy function"),
        ("proxy.b2nd", "a cache of another array"),
    ] {
        let Content::Recipe(recipe) = open_frame(&format!("lazy/{file}")) else { panic!("{file}") };
        assert_eq!(recipe.kind.to_string(), kind, "{file}");
        assert_ne!(recipe.description, Value::Nil, "{file}");
    }
    let Content::Recipe(recipe) = open_frame("lazy/expr.b2nd") else { panic!() };
    assert_eq!(recipe.description.get("expression").unwrap().as_str(), Some("((o0 * 2) + o1)"));
    let (store, sidecar) = (open("dict-lazy.b2d"), read_json("dict-lazy.json"));
    assert_store(&store, &sidecar, "dict-lazy.b2d");
    let Content::Recipe(recipe) = store.get("/sum").unwrap() else { panic!() };
    assert_same(&sidecar::value(&recipe.description), &sidecar["keys"]["/sum"]["b2o"], "/sum");
    // A reference among attributes is shown.
    let attributes = open("tree-attributes.b2z").attributes("/").unwrap();
    assert!(attributes.iter().any(|(_, value)| matches!(value, Value::Reference(_))));
}

#[test]
fn what_is_no_store_is_refused() {
    for path in ["lazy", "objects.b2f", "malformed.json", "nothing"] {
        let error = Store::open(root().join(path)).unwrap_err();
        assert!(!matches!(error, Error::Corrupt { .. }), "{path}: {error:?}");
    }
}
