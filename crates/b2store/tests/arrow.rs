//! Tables as record batches: the samples match their sidecars, in batches of any size.

use crate::sidecar;

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryViewArray, Date32Array, Date64Array, Decimal128Array, DictionaryArray,
    DurationSecondArray, FixedSizeListArray, Int64Array, LargeListArray, LargeStringArray,
    RecordBatch, StringArray, StringViewArray, Time64NanosecondArray,
};
use arrow_schema::{DataType, TimeUnit};
use b2store::error::Param;
use b2store::table::ColumnKind;
use b2store::{Error, OpenOptions, Store, StoreWriter, Table, Value};
use blosc_dtype::arrow::from_native;
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use sidecar::{assert_same, float, hex, int, read_json, root};

const TABLES: &[(&str, &str)] = &[
    ("table-basic.b2d", "table-basic.b2d.json"),
    ("table-basic.b2z", "table-basic.b2z.json"),
    ("table-cframe.b2e", "table-basic.b2d.json"),
    ("table-nulls-mask.b2d", "table-nulls-mask.json"),
    ("table-nulls-sentinel.b2d", "table-nulls-sentinel.json"),
    ("table-names.b2d", "table-names.json"),
    ("table-derived.b2d", "table-derived.json"),
    ("table-unclosed.b2d", "table-unclosed.json"),
    ("table-empty.b2z", "table-empty.json"),
    ("v4.2.0-table.b2d", "v4.2.0-table.json"),
    ("v4.8.0-table.b2d", "v4.8.0-table.json"),
];

fn open(name: &str) -> Table {
    Store::open(root().join(name)).unwrap().table("/").unwrap()
}

/// A value in the form of the sidecars.
fn cell(array: &dyn Array, at: usize) -> Json {
    if array.is_null(at) {
        return Json::Null;
    }
    let items = |items: &dyn Array| (0..items.len()).map(|n| cell(items, n)).collect::<Json>();
    match array.data_type() {
        DataType::Boolean => json!(array.as_boolean().value(at)),
        DataType::Int8 => json!(array.as_primitive::<Int8Type>().value(at)),
        DataType::Int16 => json!(array.as_primitive::<Int16Type>().value(at)),
        DataType::Int32 => json!(array.as_primitive::<Int32Type>().value(at)),
        DataType::Int64 => int(array.as_primitive::<Int64Type>().value(at).into()),
        DataType::UInt8 => json!(array.as_primitive::<UInt8Type>().value(at)),
        DataType::UInt16 => json!(array.as_primitive::<UInt16Type>().value(at)),
        DataType::UInt32 => json!(array.as_primitive::<UInt32Type>().value(at)),
        DataType::UInt64 => int(array.as_primitive::<UInt64Type>().value(at).into()),
        DataType::Float32 => float(array.as_primitive::<Float32Type>().value(at).into()),
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(at)),
        DataType::Timestamp(..) => {
            let bytes = plain_bytes(&*array.slice(at, 1));
            int(i64::from_le_bytes(bytes.try_into().unwrap()).into())
        }
        DataType::Utf8 => json!(array.as_string::<i32>().value(at)),
        DataType::Binary => json!({"$bytes": hex(array.as_binary::<i32>().value(at))}),
        DataType::FixedSizeBinary(size) => {
            let bytes = array.as_fixed_size_binary().value(at);
            let number = |bytes: &[u8]| match size {
                8 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
                _ => f64::from_le_bytes(bytes.try_into().unwrap()),
            };
            let (re, im) = bytes.split_at(bytes.len() / 2);
            json!({"$complex": [float(number(re)), float(number(im))]})
        }
        DataType::Dictionary(..) => {
            let array = array.as_dictionary::<Int32Type>();
            cell(&**array.values(), usize::try_from(array.keys().value(at)).unwrap())
        }
        DataType::List(_) => items(&*array.as_list::<i32>().value(at)),
        DataType::Struct(fields) => {
            let array = array.as_struct();
            let field = |(n, name): (usize, &String)| (name.clone(), cell(&**array.column(n), at));
            fields.iter().map(|field| field.name()).enumerate().map(field).collect()
        }
        DataType::FixedSizeList(..) => {
            let (mut row, mut shape) = (array.slice(at, 1), Vec::new());
            while let DataType::FixedSizeList(_, len) = row.data_type().clone() {
                let list = row.as_fixed_size_list();
                let start = list.value_offset_at(0);
                let len = usize::try_from(len).unwrap();
                row = list.values().slice(start, list.len() * len);
                shape.push(len);
            }
            json!({"$ndarray": {"shape": shape, "hex": hex(&plain_bytes(&*row))}})
        }
        other => panic!("{other}"),
    }
}

/// The bytes of numbers.
fn plain_bytes(array: &dyn Array) -> Vec<u8> {
    let data = array.to_data();
    let width = data.data_type().primitive_width().unwrap();
    data.buffers()[0].as_slice()[data.offset() * width..][..data.len() * width].to_vec()
}

/// All cells of each column.
fn cells(batches: &[RecordBatch], ncolumns: usize) -> Vec<Vec<Json>> {
    let column = |n: usize| {
        let arrays = batches.iter().map(|batch| batch.column(n));
        arrays.flat_map(|array| (0..array.len()).map(|at| cell(&**array, at))).collect()
    };
    (0..ncolumns).map(column).collect()
}

#[test]
fn tables_are_what_their_sidecars_say_17_to_25_and_29() {
    for (name, sidecar) in TABLES {
        let (table, expected) = (open(name), &read_json(sidecar)["table"]);
        let reader = table.scan().record_batches().unwrap();
        let schema = reader.schema();
        let batches: Vec<_> = reader.collect::<Result<_, _>>().unwrap();
        assert!(batches.iter().all(|batch| batch.schema() == schema));
        let found = cells(&batches, schema.fields().len());
        for (field, found) in schema.fields().iter().zip(found) {
            let what = format!("{name}: {}", field.name());
            let expected = &expected["columns"][field.name()];
            let mut values = expected["values"].as_array().unwrap().clone();
            for (value, is_null) in
                values.iter_mut().zip(expected["is_null"].as_array().unwrap_or(&Vec::new()))
            {
                if is_null.as_bool().unwrap() {
                    *value = Json::Null;
                }
            }
            // Truth values with sentinels are stored as numbers.
            for value in values.iter_mut().filter(|_| field.data_type() == &DataType::Boolean) {
                if let Some(number) = value.as_u64() {
                    *value = json!(number != 0);
                }
            }
            // The metadata of the field have the type of rows with a shape.
            for value in &mut values {
                if let Some(array) = value.get_mut("$ndarray") {
                    let dtype = array.as_object_mut().unwrap().remove("dtype").unwrap_or_default();
                    assert_eq!(json!(field.metadata()["numpy.dtype"]), dtype, "{what}");
                }
            }
            assert_same(&Json::Array(found), &Json::Array(values), &what);
        }
        // Only columns without an Arrow type are left out.
        for spec in &table.schema().columns {
            let is_there = schema.field_with_name(&spec.name).is_ok();
            assert_eq!(is_there, !matches!(spec.kind, ColumnKind::Object), "{name}: {}", spec.name);
        }
    }
}

#[test]
fn a_column_has_the_type_that_its_schema_says() {
    let schema = open("table-basic.b2d").scan().record_batches().unwrap().schema();
    let data_type = |name: &str| schema.field_with_name(name).unwrap().data_type().clone();
    assert_eq!(data_type("t"), DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())));
    assert_eq!(data_type("ok"), DataType::Boolean);
    assert_eq!(data_type("c"), DataType::FixedSizeBinary(8));
    assert_eq!(data_type("li").to_string(), "List(Int64)");
    assert_eq!(
        data_type("a").to_string(),
        "FixedSizeList(2 x non-null FixedSizeList(2 x non-null Float32))"
    );
    assert_eq!(data_type("st").to_string(), r#"Struct("p": Int64, "q": Utf8)"#);
    assert_eq!(data_type("d").to_string(), "Dictionary(Int32, Utf8)");
    let is_nullable = |name: &str| schema.field_with_name(name).unwrap().is_nullable();
    assert!(!is_nullable("id") && is_nullable("vs"));
    assert_eq!(schema.field_with_name("s").unwrap().metadata()["numpy.dtype"], "<U8");
}

#[test]
fn columns_without_a_counterpart_are_named() {
    let table = open("table-basic.b2d");
    let error = table.scan().columns(&["id", "o"]).unwrap_err();
    let expected = Param::NoCounterpart { column: "o".into(), found: "object".into() };
    assert!(matches!(&error, Error::Param(param) if *param == expected), "{error}");
    let error = table.scan().columns(&["nothing"]).unwrap_err();
    assert!(matches!(error, Error::Param(Param::NoColumn { .. })), "{error}");
    let error = open("table-derived.b2d").scan().columns(&["sum"]).unwrap_err();
    assert!(matches!(error, Error::Param(Param::Computed { .. })), "{error}");
}

#[test]
fn columns_come_in_the_requested_order() {
    let scan = open("table-basic.b2d").scan().columns(&["s", "id"]).unwrap().rows(1..3);
    let batches: Vec<_> = scan.record_batches().unwrap().map(Result::unwrap).collect();
    let names: Vec<_> = batches[0].schema().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names, ["s", "id"]);
    assert_eq!(batches[0].column(1).as_primitive::<Int64Type>().values()[..], [2, 3]);
    // Rows are counted even without columns.
    let none = open("table-basic.b2d").scan().columns(&[]).unwrap().record_batches().unwrap();
    assert_eq!(none.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 5);
}

#[test]
fn memory_bounds_the_rows_of_a_batch() {
    let table = open("table-derived.b2d");
    let scan = table.scan().columns(&["a", "b"]).unwrap();
    for (max_nbytes, most) in [(0, 1), (15, 1), (32, 2), (100, 5), (1 << 20, 20)] {
        let batches = scan.clone().max_nbytes(max_nbytes).record_batches().unwrap();
        let rows: Vec<usize> = batches.map(|batch| batch.unwrap().num_rows()).collect();
        assert_eq!((rows.iter().sum::<usize>(), rows[0]), (20, most), "{max_nbytes}: {rows:?}");
    }
}

#[test]
fn after_an_error_there_is_no_batch() {
    // A column that is too short for the rows that are alive.
    let dir = tempfile::tempdir().unwrap();
    let from = root().join("table-basic.b2d");
    copy(&from, dir.path());
    let short = root().join("table-names.b2d/_cols/a.b2nd");
    std::fs::copy(short, dir.path().join("_cols/id.b2nd")).unwrap();
    let table = Store::open(dir.path()).unwrap().table("/").unwrap();
    let mut batches = table.scan().columns(&["id"]).unwrap().batch(2).record_batches().unwrap();
    let error = batches.next().unwrap().unwrap_err();
    assert!(error.to_string().contains("row 1 is missing"), "{error}");
    assert!(batches.next().is_none());
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, dest) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            copy(&path, &dest);
        } else {
            std::fs::copy(path, dest).unwrap();
        }
    }
}

proptest! {
    #[test]
    fn batches_of_any_size_hold_the_same_rows(
        ntable in 0..TABLES.len(),
        start in 0..25_u64,
        len in 0..25_u64,
        batch in 0..8_u64,
        max_nbytes in 0..2000_u64,
        is_alone: bool,
    ) {
        let (name, _) = TABLES[ntable];
        let mut options = OpenOptions::default();
        if is_alone {
            options.budget = options.budget.threads(blosc_chunk::Threads::One);
        }
        let store = Store::open_with(root().join(name), &options).unwrap();
        let table = store.table("/").unwrap();
        let scan = table.scan();
        let reader = scan.clone().record_batches().unwrap();
        let ncolumns = reader.schema().fields().len();
        let all: Vec<_> = reader.map(Result::unwrap).collect();
        let scan = scan.rows(start..start + len).batch(batch).max_nbytes(max_nbytes);
        let parts: Vec<_> = scan.record_batches().unwrap().map(Result::unwrap).collect();
        let most = if batch == 0 { u64::MAX } else { batch };
        prop_assert!(parts.iter().all(|part| (1..=most).contains(&(part.num_rows() as u64))));
        let rows = usize::try_from(table.len().unwrap()).unwrap();
        let end = usize::try_from(start + len).unwrap().min(rows);
        let start = usize::try_from(start).unwrap().min(end);
        let expected = cells(&all, ncolumns);
        for (found, expected) in cells(&parts, ncolumns).iter().zip(expected) {
            prop_assert_eq!(&found[..], &expected[start..end]);
        }
    }
}

/// A number of this width in the byte order of this machine.
fn native(number: i64, width: usize) -> Vec<u8> {
    match width {
        1 => i8::try_from(number).unwrap().to_ne_bytes().to_vec(),
        2 => i16::try_from(number).unwrap().to_ne_bytes().to_vec(),
        4 => i32::try_from(number).unwrap().to_ne_bytes().to_vec(),
        _ => number.to_ne_bytes().to_vec(),
    }
}

#[test]
fn integers_and_times_of_every_type_keep_their_values_in_parts_of_arrays() {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    let zone = Some("Europe/Berlin".into());
    let types = [
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
        DataType::Date32,
        DataType::Date64,
        DataType::Time32(Second),
        DataType::Time32(Millisecond),
        DataType::Time64(Microsecond),
        DataType::Time64(Nanosecond),
        DataType::Duration(Second),
        DataType::Duration(Millisecond),
        DataType::Duration(Microsecond),
        DataType::Duration(Nanosecond),
        DataType::Timestamp(Second, None),
        DataType::Timestamp(Millisecond, zone),
        DataType::Timestamp(Microsecond, None),
        DataType::Timestamp(Nanosecond, None),
    ];
    let dir = tempfile::tempdir().unwrap();
    for (ntype, data_type) in types.iter().enumerate() {
        let width = data_type.primitive_width().unwrap();
        let first = if data_type.is_unsigned_integer() { 0 } else { -20 };
        let number = |row: i64| first + 3 * row;
        let bytes: Vec<u8> = (0..40).flat_map(|row| native(number(row), width)).collect();
        let valid: Vec<bool> = (0..40).map(|row| row % 7 != 2).collect();
        let array = from_native(data_type, bytes, Some(valid.clone().into())).unwrap();
        let (array, valid) = (array.slice(5, 30), &valid[5..35]);
        assert_eq!(array.null_count(), 4, "{data_type}");
        let batch = RecordBatch::try_from_iter([("x", array)]).unwrap();
        let mut writer = StoreWriter::create(dir.path().join(format!("{ntype}.b2z"))).unwrap();
        let batches = [Ok::<_, Error>(batch.clone())];
        assert_eq!(writer.insert_batches("/", &batch.schema(), batches).unwrap(), 30);
        let table = writer.commit().unwrap().table("/").unwrap();
        let found = table.column("x").unwrap().read(0..30).unwrap();
        // Days are stored as seconds.
        let factor = if *data_type == DataType::Date32 { 86_400 } else { 1 };
        for (row, number) in (5..35).map(number).enumerate() {
            assert_eq!(found.is_null(row), !valid[row], "{data_type}, row {row}");
            if valid[row] {
                assert_eq!(found.value(row), Value::Int(factor * number), "{data_type}, row {row}");
            }
        }
        // And back to record batches.
        let again = table.scan().record_batches().unwrap().next().unwrap().unwrap();
        let again = again.column(0);
        if matches!(again.data_type(), found if found == data_type) {
            assert_eq!(again, batch.column(0), "{data_type}");
        }
        let nulls = again.logical_nulls().unwrap();
        assert_eq!(nulls.iter().collect::<Vec<_>>(), valid, "{data_type}");
        assert_eq!(plain_bytes(&**again).len(), 30 * again.data_type().primitive_width().unwrap());
    }
}

/// One source makes the arrays for both versions.
#[cfg(feature = "arrow-59")]
#[test]
fn arrays_of_arrow_59_are_those_of_the_newest() {
    let mut seen = 0;
    for (name, _) in TABLES {
        let table = open(name);
        let len = table.len().unwrap();
        for spec in &table.schema().columns {
            if !b2store::arrow_59::has_counterpart(&spec.kind) {
                continue;
            }
            let column = || table.column(&spec.name).unwrap();
            let new = b2store::arrow::ColumnArrays::new(column()).unwrap();
            let old = b2store::arrow_59::ColumnArrays::new(column()).unwrap();
            let types = [format!("{}", new.field()), format!("{}", old.field())];
            assert_eq!(types[0], types[1], "{name}: {}", spec.name);
            let [new, old] = [
                format!("{:?}", new.read(0..len).unwrap()),
                format!("{:?}", old.read(0..len).unwrap()),
            ];
            assert_eq!(new, old, "{name}: {}", spec.name);
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}

/// The only table of a new store, made from record batches.
fn imported(schema: &arrow_schema::SchemaRef, batches: Vec<RecordBatch>) -> Result<Table, Error> {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = StoreWriter::create(dir.path().join("t.b2z")).unwrap();
    let nrows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let batches = batches.into_iter().map(Ok::<_, Error>);
    assert_eq!(writer.insert_batches("/", schema, batches)?, nrows as u64);
    writer.commit()?.table("/")
}

#[test]
fn tables_become_batches_and_tables_again() {
    for (name, _) in TABLES {
        let table = open(name);
        let reader = table.scan().batch(2).record_batches().unwrap();
        let schema = reader.schema();
        let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().unwrap();
        let ncolumns = schema.fields().len();
        let again = imported(&schema, batches.clone()).unwrap();
        let reader = again.scan().record_batches().unwrap();
        let types = |schema: &arrow_schema::Schema| {
            let fields = schema.fields().iter();
            fields.map(|f| (f.name().clone(), f.data_type().clone())).collect::<Vec<_>>()
        };
        assert_eq!(types(&reader.schema()), types(&schema), "{name}");
        let found: Vec<RecordBatch> = reader.collect::<Result<_, _>>().unwrap();
        // Compared as debug text, because NaN differs from NaN.
        let text = |batches: &[RecordBatch]| format!("{:?}", cells(batches, ncolumns));
        assert_eq!(text(&found), text(&batches), "{name}");
    }
}

#[test]
fn types_that_tables_do_not_have_become_others() {
    let views = StringViewArray::from(vec![Some("a view that is long enough"), None, Some("")]);
    let words = DictionaryArray::<Int8Type>::from_iter([Some("w"), None, Some("w")]);
    let lists = LargeListArray::from_iter_primitive::<Int64Type, _, _>([
        Some(vec![Some(1), None]),
        None,
        Some(vec![]),
    ]);
    let arrays: Vec<(&str, ArrayRef, Value)> = vec![
        ("view", Arc::new(views.slice(0, 1)), Value::Str("a view that is long enough".into())),
        ("large", Arc::new(LargeStringArray::from(vec!["x"])), Value::Str("x".into())),
        ("bytes", Arc::new(BinaryViewArray::from(vec![&b"y"[..]])), Value::Bytes(b"y".to_vec())),
        ("date", Arc::new(Date32Array::from(vec![2])), Value::Int(2 * 86_400)),
        ("moment", Arc::new(Date64Array::from(vec![5])), Value::Int(5)),
        ("span", Arc::new(DurationSecondArray::from(vec![7])), Value::Int(7)),
        ("clock", Arc::new(Time64NanosecondArray::from(vec![9])), Value::Int(9)),
        ("word", Arc::new(words.slice(2, 1)), Value::Str("w".into())),
        ("null word", Arc::new(words.slice(1, 1)), Value::Nil),
        ("list", Arc::new(lists.slice(0, 1)), Value::Array(vec![Value::Int(1), Value::Nil])),
        ("null list", Arc::new(lists.slice(1, 1)), Value::Nil),
        ("nothing", Arc::new(views.slice(1, 1)), Value::Nil),
    ];
    for (name, array, expected) in arrays {
        let batch = RecordBatch::try_from_iter_with_nullable([(name, array, true)]).unwrap();
        let table = imported(&batch.schema(), vec![batch.clone(), batch]).unwrap();
        let found = table.column(name).unwrap().read(0..2).unwrap();
        assert_eq!([found.value(0), found.value(1)], [expected.clone(), expected], "{name}");
    }
}

#[test]
fn batches_that_do_not_fit_are_refused() {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let batch = |name| RecordBatch::try_from_iter([(name, Arc::clone(&numbers))]).unwrap();
    let said = |schema: &arrow_schema::SchemaRef, batch| {
        imported(schema, vec![batch]).map(drop).unwrap_err().to_string()
    };
    assert_eq!(said(&batch("n").schema(), batch("m")), "no column \"n\"");
    let both = RecordBatch::try_from_iter([("n", Arc::clone(&numbers)), ("m", numbers.clone())]);
    assert_eq!(said(&batch("n").schema(), both.unwrap()), "no column \"m\"");
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let other = RecordBatch::try_from_iter([("n", texts)]).unwrap();
    assert!(said(&batch("n").schema(), other).contains("type Utf8 has no counterpart"));
    let decimals: ArrayRef = Arc::new(Decimal128Array::from(vec![1]));
    let decimals = RecordBatch::try_from_iter([("d", decimals)]).unwrap();
    assert!(said(&decimals.schema(), decimals).contains("column \"d\" of type Decimal128"));
    // Null items in arrays of fixed size cannot be marked.
    let lists =
        FixedSizeListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None])], 2);
    let lists: ArrayRef = Arc::new(lists);
    let lists = RecordBatch::try_from_iter([("l", lists)]).unwrap();
    assert!(said(&lists.schema(), lists).contains("FixedSizeList"));
}
