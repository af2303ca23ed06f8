//! Values in the form of the sidecars of `conformance/samples/stores`: see the README there.

#![allow(dead_code, reason = "each test file uses a part")]

use std::path::PathBuf;

use b2store::table::Nulls;
use b2store::{BatchArray, Column, Content, ListArray, ObjectArray, Store, Table, Value, Values};
use blosc_dtype::{Dtype, Kind};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

pub(crate) fn root() -> PathBuf {
    blosc_testdata::fixture::root().join("stores")
}

pub(crate) fn read_json(name: &str) -> Json {
    let path = root().join(name);
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_slice(&text).unwrap()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn int(value: i128) -> Json {
    match i64::try_from(value) {
        Ok(value) if value.unsigned_abs() <= 1 << 53 => json!(value),
        _ => json!({"$int": value.to_string()}),
    }
}

pub(crate) fn float(value: f64) -> Json {
    let text = match value {
        value if value.is_nan() => "nan",
        f64::INFINITY => "inf",
        f64::NEG_INFINITY => "-inf",
        value if value == 0.0 && value.is_sign_negative() => "-0.0",
        value => return json!(value),
    };
    json!({"$float": text})
}

/// Numbers are equal whether JSON has them as 1 or 1.0.
pub(crate) fn is_same(found: &Json, expected: &Json) -> bool {
    match (found, expected) {
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same(a, b)))
        }
        (a, b) => a == b,
    }
}

#[track_caller]
pub(crate) fn assert_same(found: &Json, expected: &Json, what: &str) {
    assert!(is_same(found, expected), "{what}:\n found {found}\n  not  {expected}");
}

pub(crate) fn value(value: &Value) -> Json {
    let list = |values: &[Value]| Json::Array(values.iter().map(self::value).collect());
    match value {
        Value::Nil => Json::Null,
        Value::Bool(value) => json!(value),
        Value::Int(value) => int((*value).into()),
        Value::UInt(value) => int((*value).into()),
        Value::Float(value) => float(*value),
        Value::Str(text) => json!(text),
        Value::Bytes(bytes) => json!({"$bytes": hex(bytes)}),
        Value::Array(values) => list(values),
        Value::Tuple(values) => json!({"$tuple": list(values)}),
        Value::Map(entries) => {
            let text = |key: &Value| match key {
                Value::Str(key) => key.clone(),
                other => self::value(other).to_string(),
            };
            entries.iter().map(|(key, value)| (text(key), self::value(value))).collect()
        }
        Value::Complex { re, im } => json!({"$complex": [float(*re), float(*im)]}),
        Value::Set(values) => {
            let mut values: Vec<Json> = values.iter().map(self::value).collect();
            values.sort_by_key(ToString::to_string);
            json!({"$set": values})
        }
        Value::NdArray(array) => {
            let dtype = array.dtype.get("str").or_else(|| array.dtype.get("descr"));
            let dtype = self::value(dtype.unwrap_or(&array.dtype));
            json!({"$ndarray": {"dtype": dtype, "shape": array.shape, "hex": hex(&array.data)}})
        }
        Value::ObjectArray { shape, values } => {
            json!({"$object_array": {"shape": shape, "values": list(values)}})
        }
        Value::Frame(frame) => {
            let frame = b2frame::SChunk::from_cframe(frame.clone()).unwrap();
            json!({"$cframe": content(&Content::from_schunk(frame, "ext 42").unwrap())})
        }
        Value::Reference(map) => json!({"$ref": self::value(map.get("ref").unwrap_or(map))}),
        Value::Ext(code, bytes) => json!({"$ext": [code, hex(bytes)]}),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn objects(objects: &ObjectArray) -> Json {
    (0..objects.len()).map(|n| value(&objects.get(n).unwrap())).collect()
}

pub(crate) fn batches(batches: &BatchArray) -> Json {
    let batch = |n| batches.batch(n).unwrap().iter().map(value).collect::<Json>();
    let joined: Vec<Json> =
        batches.items(0..batches.len().unwrap()).unwrap().iter().map(value).collect();
    let found: Vec<Json> = (0..batches.nbatches()).map(batch).collect();
    let flat: Vec<Json> =
        found.iter().flat_map(|batch| batch.as_array().unwrap().clone()).collect();
    assert_eq!(joined, flat);
    // Any range of items equals the same range of all items.
    for start in 0..flat.len() {
        for end in start..=flat.len() {
            let items = batches.items(start as u64..end as u64).unwrap();
            assert_eq!(items.iter().map(value).collect::<Vec<_>>(), flat[start..end]);
        }
    }
    Json::Array(found)
}

pub(crate) fn lists(lists: &ListArray) -> Json {
    lists.rows(0..lists.len().unwrap()).unwrap().iter().map(value).collect()
}

/// The sidecar's description of a value, without its location.
pub(crate) fn content(content: &Content) -> Json {
    match content {
        Content::Array(array) => {
            let bytes = array.to_bytes(b2frame::nd::Selection::ALL).unwrap();
            let dtype = array.dtype().to_string();
            let dtype = dtype.trim_matches('\'');
            json!({
                "kind": "array", "shape": array.shape(), "dtype": dtype,
                "chunks": array.chunkshape(), "blocks": array.blockshape(),
                "c_order_nbytes": bytes.len(), "c_order_sha256": sha256(&bytes),
                "c_order_hex": hex(&bytes),
            })
        }
        Content::Frame(frame) => {
            let mut bytes = vec![0; usize::try_from(frame.nbytes()).unwrap()];
            frame.read_bytes(0, &mut bytes).unwrap();
            json!({
                "kind": "frame", "nchunks": frame.nchunks(), "typesize": frame.typesize(),
                "nbytes": bytes.len(), "sha256": sha256(&bytes), "hex": hex(&bytes),
            })
        }
        Content::Objects(array) => json!({"kind": "objects", "values": objects(array)}),
        Content::Batches(array) => json!({"kind": "batches", "batches": batches(array)}),
        Content::Lists(array) => json!({"kind": "lists", "values": lists(array)}),
        Content::Recipe(recipe) => json!({"kind": "lazy", "b2o": value(&recipe.description)}),
        other => panic!("{other:?}"),
    }
}

/// Asserts that every field in both is equal.
#[track_caller]
pub(crate) fn assert_content(found: &Json, expected: &Json, what: &str) {
    for (field, found) in found.as_object().unwrap() {
        if let Some(expected) = expected.get(field) {
            assert_same(found, expected, &format!("{what}: {field}"));
        }
    }
    assert_same(&found["kind"], &expected["kind"], what);
}

/// The values of a column, with nulls as null; and flags of valid rows.
pub(crate) fn cells(column: &Column, rows: core::ops::Range<u64>) -> (Vec<Json>, Vec<bool>) {
    let found = column.read(rows.clone()).unwrap();
    let count = usize::try_from(rows.end - rows.start).unwrap();
    let mut cells: Vec<Json> = match &found.values {
        Values::Fixed { dtype, item_shape, bytes } => {
            let nitems: u64 = item_shape.iter().product();
            let rowsize = dtype.itemsize() * usize::try_from(nitems).unwrap();
            let cell = |row: &[u8]| match column.spec().kind {
                b2store::table::ColumnKind::NdArray { .. } => {
                    let dtype = dtype.to_string();
                    let dtype = dtype.trim_matches('\'');
                    json!({"$ndarray": {"dtype": dtype, "shape": item_shape, "hex": hex(row)}})
                }
                _ => item(dtype, row),
            };
            bytes.chunks_exact(rowsize).map(cell).collect()
        }
        Values::Text { ends, text } => {
            let mut start = 0;
            let cells = ends.iter().map(|end| {
                let cell = json!(text[start..*end]);
                start = *end;
                cell
            });
            cells.collect()
        }
        Values::Objects(objects) => objects.iter().map(value).collect(),
        Values::Dictionary { codes, words } => {
            let word = |code: &i32| match usize::try_from(*code) {
                Ok(code) => json!(words[code]),
                Err(_) => Json::Null,
            };
            codes.iter().map(word).collect()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(cells.len(), count);
    let valid = found.valid.unwrap_or_else(|| vec![true; count]);
    assert_eq!(valid.len(), count);
    if matches!(column.spec().nulls, Nulls::Mask | Nulls::Native) {
        for (cell, valid) in cells.iter_mut().zip(&valid) {
            if !valid {
                *cell = Json::Null;
            }
        }
    }
    (cells, valid.iter().map(|valid| !valid).collect())
}

fn item(dtype: &Dtype, bytes: &[u8]) -> Json {
    let mut wide = [0; 8];
    wide[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
    let shift = 64 - 8 * bytes.len().min(8);
    let real = |bytes: &[u8]| match bytes.len() {
        4 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
        _ => f64::from_le_bytes(bytes.try_into().unwrap()),
    };
    match dtype.kind().unwrap() {
        Kind::Bool => json!(bytes[0] != 0),
        Kind::Int => int(((i64::from_le_bytes(wide) << shift) >> shift).into()),
        Kind::Uint => int(u64::from_le_bytes(wide).into()),
        Kind::Float => float(real(bytes)),
        Kind::Complex => {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            json!({"$complex": [float(real(re)), float(real(im))]})
        }
        Kind::Unicode => {
            let char =
                |c: &[u8]| char::from_u32(u32::from_le_bytes(c.try_into().unwrap())).unwrap();
            let text: String = bytes.chunks(4).map(char).collect();
            json!(text.trim_end_matches('\0'))
        }
        Kind::Bytes => {
            let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
            json!({"$bytes": hex(&bytes[..end])})
        }
        other => panic!("{other:?}"),
    }
}

/// Asserts that a table matches its sidecar, as a whole and in every range of rows.
#[track_caller]
pub(crate) fn assert_table(table: &Table, expected: &Json, what: &str) {
    let rows = table.len().unwrap();
    assert_eq!(json!(rows), expected["rows"], "{what}");
    for (name, expected) in expected["columns"].as_object().unwrap() {
        let what = format!("{what}: column {name}");
        let column = table.column(name).unwrap_or_else(|error| panic!("{what}: {error}"));
        let (found, is_null) = cells(&column, 0..rows);
        assert_same(&Json::Array(found.clone()), &expected["values"], &what);
        let nulls = expected.get("is_null").cloned();
        let nulls = nulls.unwrap_or_else(|| json!(vec![false; found.len()]));
        assert_same(&json!(is_null), &nulls, &format!("{what}: nulls"));
        for start in 0..rows {
            for end in start..=rows {
                let (part, _) = cells(&column, start..end);
                let all =
                    found[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()].to_vec();
                assert_eq!(part, all, "{what}: {start}..{end}");
            }
        }
        assert!(column.read(0..rows + 1).is_err());
    }
    let attributes: Json =
        table.attributes().unwrap().iter().map(|(name, v)| (name.clone(), value(v))).collect();
    let expected = expected.get("vlmeta").filter(|v| !v.is_null()).cloned();
    assert_same(
        &attributes,
        &expected.unwrap_or_else(|| json!({})),
        &format!("{what}: attributes"),
    );
}

/// Asserts that a store matches its sidecar.
#[track_caller]
pub(crate) fn assert_store(store: &Store, sidecar: &Json, what: &str) {
    for (key, expected) in sidecar["keys"].as_object().unwrap() {
        let what = format!("{what}: {key}");
        if expected["kind"] == "table" {
            assert_table(&store.table(key).unwrap(), expected, &what);
            continue;
        }
        let found = store.get(key).unwrap_or_else(|error| panic!("{what}: {error:?}"));
        assert_content(&content(&found), expected, &what);
    }
    let Some(groups) = sidecar["groups"].as_object() else { return };
    for (group, expected) in groups {
        let attributes: Json = store
            .attributes(group)
            .unwrap()
            .iter()
            .map(|(name, v)| (name.clone(), value(v)))
            .collect();
        assert_same(&attributes, expected, &format!("{what}: attributes of {group}"));
    }
}
