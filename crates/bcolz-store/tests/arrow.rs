//! Tables to record batches and back.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int32Type, TimestampSecondType};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date64Array, Float32Array, Int32Array,
    LargeStringArray, RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use bcolz_store::arrow::{Columns, DTYPE_KEY};
use bcolz_store::tree::{MemTree, Tree};
use bcolz_store::{
    CArray, CTable, CTableWriter, CreateOptions, Dtype, Error, OpenOptions, Result, error::Param,
};

const ROWS: usize = 1000;

/// Dtypes, items of a row in each further dimension, and their Arrow types.
fn types() -> Vec<(&'static str, Vec<u64>, DataType)> {
    let timestamp = |unit| DataType::Timestamp(unit, None);
    let list =
        |item, len| DataType::FixedSizeList(Arc::new(Field::new_list_field(item, false)), len);
    vec![
        ("bool", vec![], DataType::Boolean),
        ("int8", vec![], DataType::Int8),
        (">i2", vec![], DataType::Int16),
        ("int32", vec![], DataType::Int32),
        (">i8", vec![], DataType::Int64),
        ("uint8", vec![], DataType::UInt8),
        ("uint16", vec![], DataType::UInt16),
        (">u4", vec![], DataType::UInt32),
        ("uint64", vec![], DataType::UInt64),
        (">f2", vec![], DataType::Float16),
        ("float32", vec![], DataType::Float32),
        (">f8", vec![], DataType::Float64),
        ("|S5", vec![], DataType::Binary),
        ("<U3", vec![], DataType::Utf8),
        (">U2", vec![], DataType::Utf8),
        ("|V7", vec![], DataType::FixedSizeBinary(7)),
        ("complex128", vec![], DataType::FixedSizeBinary(16)),
        ("[('a', '<i4'), ('b', '|S3')]", vec![], DataType::FixedSizeBinary(7)),
        ("datetime64[Y]", vec![], DataType::Date32),
        ("<M8[3M]", vec![], DataType::Date32),
        ("datetime64[W]", vec![], DataType::Date32),
        (">M8[D]", vec![], DataType::Date32),
        ("datetime64[h]", vec![], timestamp(TimeUnit::Second)),
        ("<M8[25s]", vec![], timestamp(TimeUnit::Second)),
        ("datetime64[ms]", vec![], timestamp(TimeUnit::Millisecond)),
        ("datetime64[us]", vec![], timestamp(TimeUnit::Microsecond)),
        ("datetime64[ns]", vec![], timestamp(TimeUnit::Nanosecond)),
        ("datetime64[ps]", vec![], DataType::Int64),
        ("timedelta64[D]", vec![], DataType::Duration(TimeUnit::Second)),
        ("timedelta64[ms]", vec![], DataType::Duration(TimeUnit::Millisecond)),
        ("timedelta64[us]", vec![], DataType::Duration(TimeUnit::Microsecond)),
        (">m8[ns]", vec![], DataType::Duration(TimeUnit::Nanosecond)),
        ("timedelta64[M]", vec![], DataType::Int64),
        ("float32", vec![3], list(DataType::Float32, 3)),
        (">i2", vec![2, 3], list(list(DataType::Int16, 3), 2)),
        ("|S2", vec![2], list(DataType::Binary, 2)),
    ]
}

/// Arbitrary items: small numbers, or letters.
fn items(dtype: &Dtype, count: usize) -> Vec<u8> {
    let is_text = dtype.kind() == Some(blosc_dtype::Kind::Unicode);
    let is_time = dtype.scalar().is_some_and(|scalar| scalar.unit().is_some());
    let is_big = dtype.scalar().is_some_and(|scalar| scalar.order() == blosc_dtype::ByteOrder::Big);
    let low = |value: usize| value.to_le_bytes()[0];
    let mut bytes = Vec::new();
    for item in 0..count {
        let mut one: Vec<u8> = if is_time {
            let value = if item % 50 == 7 { i64::MIN } else { item as i64 * 5 - 900 };
            value.to_le_bytes().to_vec()
        } else if is_text {
            (0..dtype.itemsize() / 4)
                .flat_map(|at| [0x41 + low(item % 26), low(at), 0, 0])
                .collect()
        } else {
            (0..dtype.itemsize())
                .map(|at| if at == 0 { low(item % 2) } else { low(item * 7 + at) | 1 })
                .collect()
        };
        if is_big {
            one.chunks_exact_mut(if is_text { 4 } else { dtype.itemsize() })
                .for_each(<[u8]>::reverse);
        }
        bytes.extend(one);
    }
    bytes
}

/// A table in memory with a column of each type.
fn table() -> Result<CTable> {
    let tree = Arc::new(MemTree::new());
    let types = types();
    let names: Vec<String> = (0..types.len()).map(|n| format!("c{n}")).collect();
    let columns: Vec<(&str, CreateOptions)> = names
        .iter()
        .zip(&types)
        .map(|(name, (dtype, shape, _))| {
            let dtype = Dtype::parse(dtype).unwrap();
            (name.as_str(), CreateOptions::new(dtype).row_shape(shape.clone()).chunklen(Some(300)))
        })
        .collect();
    let mut writer = CTableWriter::create_in(tree.clone(), "", &columns)?;
    let data: Vec<Vec<u8>> = columns
        .iter()
        .map(|(_, options)| {
            let inner: u64 = options.row_shape.iter().product();
            items(&options.dtype, ROWS * usize::try_from(inner).unwrap())
        })
        .collect();
    writer.append(&data.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    writer.set_attr("origin", "test")?;
    writer.finish()?;
    CTable::open_in(tree, "", &OpenOptions::default())
}

/// The table made of batches.
fn made_of(batches: &[RecordBatch]) -> Result<CTable> {
    let tree = Arc::new(MemTree::new());
    let mut columns = Columns::new(&batches[0].schema())?;
    for batch in batches {
        columns.observe(batch)?;
    }
    let options = columns.options()?;
    let named: Vec<(&str, CreateOptions)> =
        options.iter().map(|(name, options)| (name.as_str(), options.clone())).collect();
    let mut writer = CTableWriter::create_in(tree.clone(), "", &named)?;
    for batch in batches {
        writer.append_batch(batch)?;
    }
    for (name, value) in columns.attrs().iter() {
        writer.set_attr(name, value.clone())?;
    }
    writer.finish()?;
    CTable::open_in(tree, "", &OpenOptions::default())
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn every_type_comes_back() -> Result<()> {
    let table = table()?;
    let batches = table.scan().record_batches()?;
    let schema = batches.schema();
    for (field, (dtype, _, expected)) in schema.fields().iter().zip(types()) {
        // Dates can be missing, in lists too.
        let found = field.data_type();
        assert_eq!(found, &expected, "{dtype}");
        assert_eq!(
            Dtype::parse(&field.metadata()[DTYPE_KEY]).unwrap(),
            Dtype::parse(dtype).unwrap()
        );
    }
    let batches = batches.collect::<Result<Vec<_>>>()?;
    let again = made_of(&batches)?;
    assert_eq!(again.len(), ROWS as u64);
    for (before, after) in table.columns().iter().zip(again.columns()) {
        let name = before.array.dtype().to_string();
        assert_eq!(before.array.dtype(), after.array.dtype(), "{name}");
        assert_eq!(before.array.shape(), after.array.shape(), "{name}");
        assert_eq!(before.array.read(0..ROWS as u64)?, after.array.read(0..ROWS as u64)?, "{name}");
    }
    assert_eq!(again.attrs()?, table.attrs()?);
    Ok(())
}

#[test]
fn values_are_those_of_the_items() -> Result<()> {
    let tree = Arc::new(MemTree::new());
    let new = |dtype: &str| CreateOptions::new(Dtype::parse(dtype).unwrap());
    let columns = [
        ("i", new(">i4")),
        ("t", new("<U4")),
        ("s", new("|S2")),
        ("y", new("M8[Y]")),
        ("h", new("M8[h]")),
    ];
    let mut writer = CTableWriter::create_in(tree.clone(), "", &columns)?;
    let text: Vec<u8> =
        ['é', 'x', '\0', '\0'].iter().flat_map(|c| u32::from(*c).to_le_bytes()).collect();
    writer.append(&[
        &7_i32.to_be_bytes(),
        &text,
        b"a\0",
        &42_i64.to_le_bytes(),
        &2_i64.to_le_bytes(),
    ])?;
    let nat = i64::MIN.to_le_bytes();
    writer.append(&[&(-1_i32).to_be_bytes(), &[0; 16], b"\0\0", &nat, &nat])?;
    writer.finish()?;
    let table = CTable::open_in(tree, "", &OpenOptions::default())?;
    let batch = table.scan().record_batches()?.next().unwrap()?;
    assert_eq!(batch.column(0).as_primitive::<Int32Type>().values(), &[7, -1]);
    assert_eq!(
        batch.column(1).as_string::<i32>().iter().collect::<Vec<_>>(),
        [Some("éx"), Some("")]
    );
    assert_eq!(
        batch.column(2).as_binary::<i32>().iter().collect::<Vec<_>>(),
        [Some(&b"a"[..]), Some(b"")]
    );
    // 2012 began 15340 days after 1970.
    assert_eq!(
        batch.column(3).as_primitive::<Date32Type>().iter().collect::<Vec<_>>(),
        [Some(15_340), None]
    );
    assert_eq!(
        batch.column(4).as_primitive::<TimestampSecondType>().iter().collect::<Vec<_>>(),
        [Some(7200), None]
    );
    Ok(())
}

#[test]
fn queries_narrow_batches_down() -> Result<()> {
    let table = table()?;
    let scan = || table.scan().filter("c5 == 0")?.columns(&["c3", "c0"]);
    let sizes: Vec<usize> =
        scan()?.batch(99).record_batches()?.map(|batch| batch.unwrap().num_rows()).collect();
    assert_eq!(sizes, [99, 99, 99, 99, 99, 5]);
    let schema = scan()?.record_batches()?.schema();
    assert_eq!(
        schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(),
        ["c3", "c0"]
    );
    let rows: usize =
        scan()?.columns(&[])?.record_batches()?.map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, 500);
    Ok(())
}

#[test]
fn batches_from_elsewhere_get_the_dtypes_of_numpy() -> Result<()> {
    let table = made_of(&[
        batch(vec![
            ("s", Arc::new(StringArray::from(vec!["a", "éé"]))),
            ("l", Arc::new(LargeStringArray::from(vec!["abc", ""]))),
            ("b", Arc::new(BinaryArray::from_vec(vec![b"\xff", b"xy"]))),
            ("d", Arc::new(Date64Array::from(vec![Some(5), None]))),
            ("f", Arc::new(Float32Array::from(vec![None, Some(1.5)]))),
        ]),
        batch(vec![
            ("s", Arc::new(StringArray::from(vec!["four"]))),
            ("l", Arc::new(LargeStringArray::from(vec!["x"]))),
            ("b", Arc::new(BinaryArray::from_vec(vec![b""]))),
            ("d", Arc::new(Date64Array::from(vec![-1]))),
            ("f", Arc::new(Float32Array::from(vec![-0.0]))),
        ]),
    ])?;
    let dtypes: Vec<String> =
        table.columns().iter().map(|column| column.array.dtype().to_string()).collect();
    assert_eq!(dtypes, ["<U4", "<U3", "|S2", "<M8[ms]", "float32"]);
    assert_eq!(table.column("d")?.read_as::<i64>(0..3)?, [5, i64::MIN, -1]);
    let floats = table.column("f")?.read_as::<f32>(0..3)?;
    assert!(floats[0].is_nan() && floats[1] == 1.5);
    assert_eq!(table.column("b")?.read(0..3)?, b"\xff\0xy\0\0");
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused() -> Result<()> {
    let param = |result: Result<CTable>| match result {
        Err(Error::Param(param)) => param.to_string(),
        other => panic!("{other:?}"),
    };
    let nulls = batch(vec![("i", Arc::new(Int32Array::from(vec![Some(1), None])))]);
    assert_eq!(param(made_of(&[nulls])), "column \"i\" lacks 1 values, and int32 cannot say so");
    let nulls = batch(vec![("t", Arc::new(BooleanArray::from(vec![None, Some(true)])))]);
    assert_eq!(param(made_of(&[nulls])), "column \"t\" lacks 1 values, and bool cannot say so");
    let zeros = batch(vec![("b", Arc::new(BinaryArray::from_vec(vec![b"a", b"b\0"])))]);
    assert_eq!(param(made_of(&[zeros])), "row 1 of column \"b\" does not fit into |S2");
    let null = batch(vec![("n", Arc::new(arrow_array::NullArray::new(2)))]);
    assert_eq!(param(made_of(&[null])), "column \"n\" of type Null has no counterpart");

    // A field whose metadata promise less than it holds.
    let field = |dtype: &str| {
        let field = Field::new("s", DataType::Utf8, false);
        Arc::new(Schema::new(vec![field.with_metadata([(DTYPE_KEY, dtype)])]))
    };
    let text: ArrayRef = Arc::new(StringArray::from(vec!["abc", "abcd"]));
    let long = RecordBatch::try_new(field("<U3"), vec![text.clone()]).unwrap();
    assert_eq!(param(made_of(&[long])), "row 1 of column \"s\" does not fit into <U3");
    // A field whose metadata describe another type.
    let other = RecordBatch::try_new(field("float64"), vec![text]).unwrap();
    assert_eq!(made_of(&[other])?.column("s")?.dtype().to_string(), "<U4");
    Ok(())
}

#[test]
fn appended_batches_have_the_columns_of_the_table() -> Result<()> {
    let (a, b): (ArrayRef, ArrayRef) =
        (Arc::new(Int32Array::from(vec![1])), Arc::new(BooleanArray::from(vec![true])));
    let tree = Arc::new(MemTree::new());
    let new = |dtype: &str| CreateOptions::new(Dtype::parse(dtype).unwrap());
    let mut writer =
        CTableWriter::create_in(tree.clone(), "", &[("a", new("int32")), ("b", new("bool"))])?;
    // Columns may come in any order.
    writer.append_batch(&batch(vec![("b", b.clone()), ("a", a.clone())]))?;
    assert_eq!(writer.len(), 1);
    let refused = |batch: &RecordBatch, writer: &mut CTableWriter| match writer.append_batch(batch)
    {
        Err(Error::Param(param)) => param,
        other => panic!("{other:?}"),
    };
    let lacking = refused(&batch(vec![("a", a.clone())]), &mut writer);
    assert_eq!(lacking, Param::NoColumn { name: "b".to_owned() });
    let more = batch(vec![("a", a.clone()), ("b", b.clone()), ("c", a.clone())]);
    assert_eq!(refused(&more, &mut writer), Param::ColumnCount { found: 3, expected: 2 });
    let other = refused(&batch(vec![("a", b), ("b", a)]), &mut writer);
    assert_eq!(other.to_string(), "column \"a\" of type Boolean has no counterpart");
    assert_eq!(writer.len(), 1);
    Ok(())
}

#[test]
fn dates_beyond_those_of_arrow_are_refused() -> Result<()> {
    let tree = Arc::new(MemTree::new());
    let new = |dtype: &str| CreateOptions::new(Dtype::parse(dtype).unwrap());
    let mut writer =
        CTableWriter::create_in(tree.clone(), "", &[("d", new("M8[D]")), ("h", new("M8[h]"))])?;
    writer.append(&[&[3; 8], &[0; 8]])?;
    writer.append(&[&[0; 8], &i64::MAX.to_le_bytes()])?;
    writer.finish()?;
    let table = CTable::open_in(tree, "", &OpenOptions::default())?;
    for (column, row) in [("d", 0), ("h", 1)] {
        let mut batches = table.scan().columns(&[column])?.record_batches()?;
        match batches.next() {
            Some(Err(Error::Param(Param::Value { row: found, .. }))) => {
                assert_eq!(found, row, "{column}")
            }
            other => panic!("{other:?}"),
        }
        assert!(batches.next().is_none());
    }
    Ok(())
}

#[test]
fn uniform_objects_are_a_column() -> Result<()> {
    let chunk = |pickle: &[u8]| {
        let cparams =
            blosc_chunk::CParams::default().target(blosc_chunk::Target::Blosc1_14).typesize(1);
        let chunk = blosc_chunk::compress(pickle, &cparams).unwrap();
        [b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0", &chunk[..]].concat()
    };
    let types = |pickles: &[&[u8]]| {
        let tree = Arc::new(MemTree::new());
        for dir in ["data", "meta"] {
            tree.create_dir(dir).unwrap();
        }
        let sizes = format!("{{\"shape\": [{}], \"nbytes\": 9, \"cbytes\": 9}}\n", pickles.len());
        tree.write("meta/sizes", sizes.as_bytes()).unwrap();
        let storage = br#"{"dtype": "object", "cparams": {"clevel": 5, "shuffle": 1, "cname": "lz4", "quantize": 0}, "chunklen": 1, "expectedlen": 1, "dflt": 0}"#;
        tree.write("meta/storage", storage).unwrap();
        tree.write("__attrs__", b"{}\n").unwrap();
        for (n, pickle) in pickles.iter().enumerate() {
            tree.write(&format!("data/__{n}.blp"), &chunk(pickle)).unwrap();
        }
        let table = CTable::of_array("o", &CArray::open_in(tree, "", &OpenOptions::default())?);
        let batches = table.scan().record_batches()?.objects(&["o"])?;
        let data_type = batches.schema().field(0).data_type().clone();
        let batches = batches.collect::<Result<Vec<_>>>()?;
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), pickles.len());
        Ok::<_, Error>((
            data_type,
            batches.iter().map(|batch| batch.column(0).null_count()).sum::<usize>(),
        ))
    };
    assert_eq!(types(&[b"Va\n.", b"N.", b"V\n."])?, (DataType::Utf8, 1));
    assert_eq!(types(&[b"\x80\x03C\x01a."])?, (DataType::Binary, 0));
    assert_eq!(types(&[b"I1\n.", b"L-2L\n."])?, (DataType::Int64, 0));
    assert_eq!(types(&[b"F1.5\n."])?, (DataType::Float64, 0));
    assert_eq!(types(&[b"I01\n.", b"N."])?, (DataType::Boolean, 1));
    let refused = |pickles: &[&[u8]]| match types(pickles) {
        Err(Error::Param(param)) => param.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        refused(&[b"I1\n.", b"Va\n."]),
        "column \"o\" of type objects of Int64 and Utf8 has no counterpart"
    );
    assert_eq!(refused(&[b"(t."]), "column \"o\" of type containers has no counterpart");
    Ok(())
}
