//! Data sets of every release and of every kind, compared with their known contents.

use crate::tree;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use bcolz_store::tree::{DirTree, MemTree};
use bcolz_store::{
    Budget, CArray, CTable, DataSet, Json, OpenOptions, Result, open, open_in, verify::Fault,
    walk::walk,
};
use blosc_testdata::{fixture, sha256_hex};
use serde_json::Value;

/// The data sets with their expected contents.
fn expected() -> Vec<Value> {
    serde_json::from_slice(&fixture::read("bcolz/expected.json").unwrap()).unwrap()
}

fn name(expected: &Value) -> &str {
    expected["name"].as_str().unwrap()
}

fn root(expected: &Value) -> PathBuf {
    fixture::path("bcolz").join(name(expected))
}

/// Each array and column: its name, its expected content, and itself.
fn arrays() -> Vec<(String, Value, CArray)> {
    let mut arrays = Vec::new();
    for set in expected() {
        match open(root(&set)).unwrap() {
            DataSet::CArray(array) => arrays.push((name(&set).to_owned(), set, array)),
            DataSet::CTable(table) => {
                for column in table.columns() {
                    let expected = set["columns"][&column.name].clone();
                    arrays.push((
                        format!("{}/{}", name(&set), column.name),
                        expected,
                        column.array.clone(),
                    ));
                }
            }
        }
    }
    arrays
}

/// Arrays without objects.
fn plain_arrays() -> Vec<(String, Value, CArray)> {
    arrays().into_iter().filter(|(_, _, array)| !array.is_object()).collect()
}

#[test]
fn every_data_set_is_listed_and_found() {
    let listed: BTreeSet<String> = expected().iter().map(|set| name(set).to_owned()).collect();
    assert_eq!(listed.len(), 100);
    let found = walk(fixture::path("bcolz")).map(|found| found.unwrap().path);
    let found: BTreeSet<String> = found.filter(|path| !path.starts_with("malformed/")).collect();
    assert_eq!(found, listed);
}

#[test]
fn data_are_as_expected() {
    for (name, expected, array) in plain_arrays() {
        let data = array.read(0..array.len()).unwrap();
        assert_eq!(expected["raw"]["nbytes"], data.len(), "{name}");
        assert_eq!(expected["raw"]["sha256"], sha256_hex(&data), "{name}");
        assert_eq!(array.nbytes(), data.len() as u64, "{name}");
    }
}

#[test]
fn metadata_are_as_expected() {
    for (name, expected, array) in arrays() {
        let shape: Vec<Value> = array.shape().iter().map(|length| (*length).into()).collect();
        assert_eq!(expected["shape"], Value::from(shape), "{name}");
        assert_eq!(expected["chunklen"], array.chunklen(), "{name}");
        assert_eq!(
            expected["dtype"].as_str().unwrap().parse().ok(),
            Some(array.dtype().clone()),
            "{name}"
        );
        assert_eq!(expected["expectedlen"].as_i64().map(i128::from), array.expectedlen(), "{name}");
        assert_eq!(
            expected["sizes_cbytes"].as_i64().map(i128::from),
            array.stored_cbytes(),
            "{name}"
        );
        assert_eq!(expected["sizes_nbytes"], array.nbytes(), "{name}");
        check_json(&expected["dflt"], array.dflt().unwrap());
        check_cparams(&expected["cparams"], &array);
        let attrs = array.attrs().unwrap();
        assert_eq!(expected["attrs"].as_object().unwrap().len(), attrs.len(), "{name}");
        attrs.iter().for_each(|(key, value)| check_json(&expected["attrs"][key], value));
        if !array.is_object() {
            assert_eq!(expected["atomsize"], array.rowsize(), "{name}");
            assert_eq!(expected["leftover"], array.nleftover(), "{name}");
            assert_eq!(array.dflt_row().unwrap().len(), array.rowsize(), "{name}");
        }
    }
}

/// The list of expectations spells the three tokens that are no JSON as strings.
fn check_json(expected: &Value, found: &Json) {
    let text = expected.as_str().unwrap_or_default();
    let same = match found {
        Json::Float(value) if !value.is_finite() => found.to_string() == text,
        _ => serde_json::from_str::<Value>(&found.to_string()).unwrap() == *expected,
    };
    assert!(same, "{expected} and {found}");
}

fn check_cparams(expected: &Value, array: &CArray) {
    let cparams = array.cparams();
    assert_eq!(expected["clevel"], cparams.clevel);
    let shuffle = &expected["shuffle"];
    assert_eq!(
        shuffle.as_u64().unwrap_or(u64::from(shuffle == true)),
        u64::from(cparams.shuffle.number())
    );
    assert_eq!(expected["cname"].as_str().unwrap_or("blosclz"), cparams.cname.name());
    assert_eq!(expected["quantize"].as_u64().unwrap_or(0), u64::from(cparams.quantize));
}

#[test]
fn tables_are_as_expected() {
    for set in expected().iter().filter(|set| set["kind"] == "ctable") {
        let table = CTable::open(root(set)).unwrap();
        let names: Vec<Value> = table.names().map(Value::from).collect();
        assert_eq!(set["names"], Value::from(names), "{}", name(set));
        assert_eq!(set["nrows"], table.len(), "{}", name(set));
        let lengths: Vec<Value> =
            table.columns().iter().map(|column| column.array.len().into()).collect();
        assert_eq!(set["column_lengths"], Value::from(lengths), "{}", name(set));
        assert_eq!(
            set["attrs"].as_object().unwrap().len(),
            table.attrs().unwrap().len(),
            "{}",
            name(set)
        );
    }
}

#[test]
fn every_part_is_that_of_the_whole() {
    for (name, _, array) in plain_arrays() {
        let (len, rowsize) = (array.len(), array.rowsize());
        let whole = array.read(0..len).unwrap();
        let at = |row: u64| usize::try_from(row).unwrap() * rowsize;
        for rows in [0..len.min(1), len / 3..len / 2, len.saturating_sub(7)..len, len..len] {
            let part = array.read(rows.clone()).unwrap();
            assert_eq!(part, whole[at(rows.start)..at(rows.end)], "{name} {rows:?}");
        }
        for blen in [0, 1, 7, 1000] {
            if len > 10_000 && blen == 1 {
                continue;
            }
            let blocks: Vec<Vec<u8>> = array.blocks(blen).collect::<Result<_>>().unwrap();
            assert_eq!(blocks.concat(), whole, "{name} {blen}");
        }
        let part: Vec<Vec<u8>> = array.blocks(3).skip(2).limit(8).collect::<Result<_>>().unwrap();
        assert_eq!(part.concat(), whole[at(len.min(2))..at(len.min(10))], "{name}");
        let rows: Vec<u64> = (0..len).rev().step_by(3).chain((0..len).step_by(5)).collect();
        let picked: Vec<u8> =
            rows.iter().flat_map(|row| &whole[at(*row)..at(row + 1)]).copied().collect();
        assert_eq!(array.read_rows(&rows).unwrap(), picked, "{name}");
    }
}

#[test]
fn memory_and_threads_change_nothing() {
    use blosc_chunk::Threads;
    for set in ["ca_codec_lz4_shuffle1", "ca_large_bool", "ca_3d", "ca_empty_2d"] {
        let root = fixture::path("bcolz").join(set);
        let Ok(whole) = CArray::open(&root).map(|array| array.read(0..array.len()).unwrap()) else {
            continue;
        };
        for threads in [Threads::One, Threads::N(core::num::NonZeroUsize::new(3).unwrap())] {
            let options =
                OpenOptions::default().budget(Budget::default().threads(threads).max_memory(100));
            let array = CArray::open_in(Arc::new(DirTree::new(&root)), "", &options).unwrap();
            let blocks: Vec<Vec<u8>> = array.blocks(999).collect::<Result<_>>().unwrap();
            assert_eq!(blocks.concat(), whole, "{set}");
        }
    }
}

#[test]
fn a_tree_in_memory_reads_as_one_on_disk() {
    let memory = MemTree::new();
    let disk = DirTree::new(fixture::path("bcolz/ct_basic"));
    tree::copy(&disk, &memory, "");
    let DataSet::CTable(table) = open_in(Arc::new(memory), "", &OpenOptions::default()).unwrap()
    else {
        unreachable!("a table")
    };
    let expected = CTable::open(fixture::path("bcolz/ct_basic")).unwrap();
    assert_eq!(table.read_records(0..50).unwrap(), expected.read_records(0..50).unwrap());
}

#[test]
fn everything_verifies() {
    for set in expected() {
        let report = open(root(&set))
            .unwrap()
            .verify(&bcolz_store::verify::VerifyOptions::default(), |_| ())
            .unwrap();
        assert!(report.is_ok(), "{}: {report:?}", name(&set));
        let ignored = set["files_to_ignore"].as_array().map_or(0, Vec::len) as u64;
        let stale = report.notes.iter().find_map(|note| match note.fault {
            Fault::StaleChunks { count } => Some(count),
            _ => None,
        });
        if set["kind"] == "carray" {
            assert_eq!(stale.unwrap_or(0), ignored, "{}", name(&set));
        }
    }
}

#[test]
fn oddities_are_noted() {
    let notes = |set: &str| match open(fixture::path("bcolz").join(set)).unwrap() {
        DataSet::CArray(array) => array.notes().iter().map(ToString::to_string).collect::<Vec<_>>(),
        DataSet::CTable(table) => table.notes().map(ToString::to_string).collect(),
    };
    assert_eq!(notes("synth_ca_no_attrs"), [".: no __attrs__; bcolz does not open this"]);
    assert_eq!(
        notes("synth_ca_attrs_zero_bytes"),
        [".: __attrs__ is empty; bcolz does not open this"]
    );
    assert_eq!(notes("ct_torn_append"), [".: columns of 50 to 53 rows; 50 are complete"]);
    assert!(notes("synth_ca_old_storage").is_empty());
    assert!(notes("ct_basic").is_empty());
}

#[test]
fn objects_are_as_expected() {
    let mut found = 0;
    for (name, expected, array) in arrays().into_iter().filter(|(_, _, array)| array.is_object()) {
        for (nitem, pickle) in expected["pickles"].as_array().unwrap().iter().enumerate() {
            let bytes = array.pickle(nitem as u64).unwrap();
            assert_eq!(pickle["nbytes"], bytes.len(), "{name}");
            assert_eq!(pickle["sha256"], sha256_hex(&bytes), "{name}");
        }
        let values: Vec<Value> =
            array.objects().unwrap().map(|object| plain(&object.unwrap())).collect();
        assert!(
            expected["values"].is_null() || expected["values"] == Value::from(values),
            "{name}"
        );
        assert!(array.read(0..1).is_err(), "{name}");
        found += 1;
    }
    assert_eq!(found, 4);
}

fn plain(object: &bcolz_store::pickle::Object) -> Value {
    use bcolz_store::pickle::Object;
    match object {
        Object::None => Value::Null,
        Object::Bool(value) => (*value).into(),
        Object::Int(value) => i64::try_from(*value).unwrap().into(),
        Object::Float(value) => (*value).into(),
        Object::Str(text) => (**text).into(),
        Object::List(items) | Object::Tuple(items) => items.iter().map(plain).collect(),
        Object::Dict(entries) => {
            let entry = |(key, value): &(Object, Object)| {
                (plain(key).as_str().unwrap().to_owned(), plain(value))
            };
            Value::Object(entries.iter().map(entry).collect())
        }
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn rows_of_tables_are_records() {
    let table = CTable::open(fixture::path("bcolz/ct_2d_column")).unwrap();
    let dtype = table.dtype().unwrap();
    let records = table.read_records(0..table.len()).unwrap();
    assert_eq!(records.len() as u64, table.len() * dtype.itemsize() as u64);
    for (field, column) in dtype.fields().iter().zip(table.columns()) {
        let column = column.array.read(0..table.len()).unwrap();
        let size = field.dtype().itemsize();
        let items: Vec<u8> = records
            .chunks_exact(dtype.itemsize())
            .flat_map(|record| &record[field.offset()..field.offset() + size])
            .copied()
            .collect();
        assert_eq!(items, column, "{}", field.name());
    }
}

#[test]
fn values_have_the_type_of_the_items() {
    let array = CArray::open(fixture::path("bcolz/ca_be_i4")).unwrap();
    let values: Vec<i32> = array.read_as(0..3).unwrap();
    let raw = array.read(0..3).unwrap();
    let expected: Vec<i32> =
        raw.chunks(4).map(|item| i32::from_be_bytes(item.try_into().unwrap())).collect();
    assert_eq!(values, expected);
    let error = array.read_as::<f32>(0..3).unwrap_err();
    assert_eq!(error.to_string(), "items of type >i4 requested as f32");
    let flags: Vec<bool> =
        CArray::open(fixture::path("bcolz/ca_bool")).unwrap().read_as(0..100).unwrap();
    assert!(flags.contains(&true) && flags.contains(&false));
}
