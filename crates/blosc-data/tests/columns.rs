//! Columns of every sample table against the library of its format.

use std::path::PathBuf;

use b2store::{ColumnKind, ColumnValues, NewColumn, Store, StoreWriter, Value};
use blosc_data::columns::Rule;
use blosc_data::{Table, Values, open};
use blosc_testdata::fixture::path;

/// The sample tables of a folder.
fn tables(folder: &str) -> Vec<(PathBuf, std::sync::Arc<dyn Table>)> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(path(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let table = |path: PathBuf| Some((path.clone(), open(&path).ok()?.into_table().ok()?));
    paths.into_iter().filter_map(table).collect()
}

#[test]
fn columns_of_stores_have_the_values_of_their_library() {
    let (mut ncolumns, mut nnulls) = (0, 0);
    for (path, table) in tables("stores") {
        let stored = Store::open(&path).unwrap().table("/").unwrap();
        let nrows = stored.len().unwrap();
        assert_eq!(table.nrows(), nrows, "{}", path.display());
        assert_eq!(table.columns().len(), stored.schema().columns.len());
        for (column, spec) in table.columns().iter().zip(&stored.schema().columns) {
            assert_eq!((&column.name, &column.kind), (&spec.name, &spec.kind));
            let expected = stored.column(&spec.name).and_then(|column| column.read(0..nrows));
            let found = table.read(&[&column.name], 0..nrows);
            let name = format!("{}: {}", path.display(), column.name);
            match (expected, found) {
                (Ok(expected), Ok(found)) => {
                    assert!(same(&found[0], &expected), "{name}");
                    let is_null = (0..found[0].len()).any(|row| found[0].is_null(row));
                    assert!(!is_null || column.is_nullable, "{name}");
                    nnulls += usize::from(is_null);
                    ncolumns += 1;
                }
                (Err(_), Err(_)) => {}
                (expected, found) => panic!("{name}: {expected:?}, {found:?}"),
            }
        }
    }
    assert!(ncolumns > 40 && nnulls > 3, "{ncolumns} columns, {nnulls} with nulls");
}

/// Equality in which NaN equals itself.
fn same(one: &ColumnValues, other: &ColumnValues) -> bool {
    one == other || format!("{one:?}") == format!("{other:?}")
}

#[test]
fn columns_of_bcolz_have_the_items_of_their_library() {
    let (mut nsame, mut nothers) = (0, 0);
    for (path, table) in tables("bcolz") {
        let stored = bcolz_store::CTable::open(&path).unwrap();
        assert_eq!(table.nrows(), stored.len(), "{}", path.display());
        for (column, of_library) in table.columns().iter().zip(stored.columns()) {
            assert_eq!(column.name, of_library.name);
            let array = &of_library.array;
            let found = table.read(&[&column.name], 0..table.nrows()).unwrap().remove(0);
            // An interrupted append leaves columns longer than the table.
            assert_eq!(found.len() as u64, stored.len(), "{}: {}", path.display(), column.name);
            let Values::Fixed { dtype, bytes, item_shape } = &found.values else {
                assert!(array.is_object());
                nothers += 1;
                continue;
            };
            assert_eq!(item_shape[..], array.shape()[1..]);
            let items = array.read(0..stored.len()).unwrap();
            match dtype == array.dtype() || column.dtype.as_ref() == Some(array.dtype()) {
                true => assert_eq!(*bytes, items, "{}: {}", path.display(), column.name),
                false => {
                    let rule = Rule::of_items("", array.dtype(), item_shape).unwrap();
                    let values = rule.values("", items, found.len()).unwrap();
                    assert!(same(&found, &values), "{}: {}", path.display(), column.name);
                }
            }
            nsame += 1;
        }
    }
    assert!(nsame > 20 && nothers > 0, "{nsame}, {nothers}");
}

#[test]
fn deleted_rows_are_gone_in_values_and_conditions() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.b2z");
    let mut writer = StoreWriter::create(&file).unwrap();
    let numbers: Vec<u8> = (0..100_i32).flat_map(i32::to_le_bytes).collect();
    let values = [ColumnValues::fixed("<i4".parse().unwrap(), numbers)];
    let columns = [NewColumn::new("n", ColumnKind::Fixed("i4"))];
    writer.insert_table("/", &columns, &values).unwrap();
    writer.delete_rows("/", 10..90).unwrap();
    writer.commit().unwrap();
    let table = open(&file).unwrap().into_table().unwrap();
    assert_eq!(table.nrows(), 20);
    let read = table.read(&["n"], 8..12).unwrap();
    let found: Vec<Value> = (0..4).map(|row| read[0].value(row)).collect();
    assert_eq!(found, [8, 9, 90, 91].map(Value::Int));
    assert_eq!(
        table.filter("n >= 91").unwrap().matches(0..20).unwrap(),
        (11..20).collect::<Vec<_>>()
    );
}

#[cfg(feature = "arrow")]
mod arrow {
    use super::*;
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::{
        Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
        UInt32Type, UInt64Type,
    };
    use arrow_schema::DataType;

    /// An Arrow cell as a value of a store; `None` for types that other tests compare.
    fn cell(array: &dyn arrow_array::Array, row: usize) -> Option<Value> {
        if array.is_null(row) {
            return Some(Value::Nil);
        }
        Some(match array.data_type() {
            DataType::Boolean => Value::Bool(array.as_boolean().value(row)),
            DataType::Int8 => Value::Int(array.as_primitive::<Int8Type>().value(row).into()),
            DataType::Int16 => Value::Int(array.as_primitive::<Int16Type>().value(row).into()),
            DataType::Int32 => Value::Int(array.as_primitive::<Int32Type>().value(row).into()),
            DataType::Int64 => Value::Int(array.as_primitive::<Int64Type>().value(row)),
            DataType::UInt8 => Value::UInt(array.as_primitive::<UInt8Type>().value(row).into()),
            DataType::UInt16 => Value::UInt(array.as_primitive::<UInt16Type>().value(row).into()),
            DataType::UInt32 => Value::UInt(array.as_primitive::<UInt32Type>().value(row).into()),
            DataType::UInt64 => Value::UInt(array.as_primitive::<UInt64Type>().value(row)),
            DataType::Float32 => {
                Value::Float(array.as_primitive::<Float32Type>().value(row).into())
            }
            DataType::Float64 => Value::Float(array.as_primitive::<Float64Type>().value(row)),
            DataType::Utf8 => Value::Str(array.as_string::<i32>().value(row).to_owned()),
            DataType::Binary => Value::Bytes(array.as_binary::<i32>().value(row).to_vec()),
            _ => return None,
        })
    }

    /// A number, independent of its sign type. A nullable boolean is stored as a number.
    fn plain(value: &Value) -> String {
        match value {
            Value::Bool(truth) => u8::from(*truth).to_string(),
            Value::Int(n) => n.to_string(),
            Value::UInt(n) => n.to_string(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn batches_have_the_values_of_the_columns() {
        let mut ncells = 0;
        for (path, table) in tables("stores").into_iter().chain(tables("bcolz")) {
            for (number, column) in table.columns().iter().enumerate() {
                let nrows = table.nrows().min(200);
                let Ok(batch) = table.record_batch(&[number], 0..nrows) else { continue };
                let name = format!("{}: {}", path.display(), column.name);
                assert_eq!(batch.num_rows() as u64, nrows, "{name}");
                let values = table.read(&[&column.name], 0..nrows).unwrap();
                for row in 0..batch.num_rows() {
                    let Some(found) = cell(batch.column(0), row) else { break };
                    assert_eq!(plain(&found), plain(&values[0].value(row)), "{name}: row {row}");
                    ncells += 1;
                }
            }
        }
        assert!(ncells > 1000, "{ncells}");
    }
}
