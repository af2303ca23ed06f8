//! Tables to files of Parquet and back.

use std::fs::File;
use std::path::Path;

use bcolz_store::Durability;
use bcolz_store::parquet::{self, WriteOptions};
use bcolz_store::{
    CTable, CTableWriter, Cname, CreateOptions, Dtype, Error, Result, StorageParams, error::Blame,
};

/// No test here simulates a loss of power.
const FAST: Durability = Durability::ProcessDeath;

const ROWS: i64 = 10_000;

/// A table with numbers, text, dates and rows with a shape.
fn make(root: &Path) -> Result<CTable> {
    let new = |dtype: &str| {
        CreateOptions::new(Dtype::parse(dtype).unwrap()).chunklen(Some(1111)).durability(FAST)
    };
    let columns = [
        ("i", new(">i4")),
        ("f", new("float64")),
        ("s", new("|S6")),
        ("u", new("<U4")),
        ("d", new("datetime64[D]")),
        ("n", new("datetime64[ns]")),
        ("h", new("datetime64[h]")),
        ("t", new("timedelta64[s]")),
        ("b", new("bool")),
        ("e", new("float16")),
        ("v", new("|V3")),
        ("m", new("int16").row_shape(vec![2, 2])),
    ];
    let mut data = vec![Vec::new(); columns.len()];
    for row in 0..ROWS {
        let date = if row % 100 == 3 { i64::MIN } else { row - 5000 };
        let letter = b'a' + u8::try_from(row % 26).unwrap();
        let small = i16::try_from(row).unwrap();
        data[0].extend(i32::from(small).to_be_bytes());
        data[1].extend((row as f64 / 8.0).to_le_bytes());
        data[2].extend([letter, letter, 0, letter, 0, 0]);
        data[3].extend([u32::from(letter), 0x1f600, 0, 0].map(u32::to_le_bytes).concat());
        [4, 5, 6, 7].iter().for_each(|column| data[*column].extend(date.to_le_bytes()));
        data[8].push(u8::from(row % 3 == 0));
        data[9].extend(half::f16::from_f32(f32::from(small)).to_le_bytes());
        data[10].extend([letter, 0, 1]);
        data[11].extend([small, 1, -small, 2].map(i16::to_le_bytes).concat());
    }
    let mut writer = CTableWriter::create(root, &columns)?;
    writer.append(&data.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    writer.set_attr("unit", "day")?;
    writer.finish()?;
    CTable::open(root)
}

fn assert_same(before: &CTable, after: &CTable) -> Result<()> {
    assert_eq!(before.len(), after.len());
    for (a, b) in before.columns().iter().zip(after.columns()) {
        assert_eq!(
            (&a.name, a.array.dtype(), a.array.shape()),
            (&b.name, b.array.dtype(), b.array.shape())
        );
        assert!(a.array.read(0..a.array.len())? == b.array.read(0..b.array.len())?, "{}", a.name);
    }
    assert_eq!(before.attrs()?, after.attrs()?);
    Ok(())
}

#[test]
fn tables_come_back_through_a_file() -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let table = make(&path("table"))?;
    for (n, options) in [
        WriteOptions::default(),
        WriteOptions::default().group_rows(3000),
        WriteOptions::default().is_compressed(false).group_nbytes(50_000),
    ]
    .iter()
    .enumerate()
    {
        let file = path(&format!("{n}.parquet"));
        let batches = table.scan().record_batches()?;
        assert_eq!(parquet::write(batches, File::create(&file).unwrap(), options)?, ROWS as u64);
        let again = path(&n.to_string());
        let cparams = StorageParams::default().cname(Cname::Zstd);
        let rows = parquet::read(&File::open(&file).unwrap(), &again, &|_, options| {
            options.cparams(cparams).durability(FAST)
        })?;
        assert_eq!(rows, ROWS as u64);
        let again = CTable::open(&again)?;
        assert_same(&table, &again)?;
        assert_eq!(again.column("f")?.cparams().cname, Cname::Zstd);
        // bcolz's default chunk length for this number of rows.
        assert_eq!(again.column("f")?.expectedlen(), Some(ROWS.into()));
    }
    Ok(())
}

#[test]
fn a_file_is_appended_to_a_table() -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let (root, file) = (dir.path().join("table"), dir.path().join("some.parquet"));
    let table = make(&root)?;
    let some = table.scan().filter("i < 10")?.record_batches()?;
    parquet::write(some, File::create(&file).unwrap(), &WriteOptions::default())?;
    let mut writer = CTableWriter::open(&root)?;
    assert_eq!(parquet::append_file(&mut writer, &File::open(&file).unwrap())?, 10);
    writer.finish()?;
    let longer = CTable::open(&root)?;
    let rows = ROWS as u64;
    assert_eq!(longer.read_records(rows..rows + 10)?, table.read_records(0..10)?);
    Ok(())
}

#[test]
fn files_of_pyarrow_are_read() -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/parquet/pyarrow.parquet");
    let root = dir.path().join("table");
    assert_eq!(
        parquet::read(&File::open(file).unwrap(), &root, &|_, options| options.durability(FAST))?,
        300
    );
    let table = CTable::open(&root)?;
    let dtypes: Vec<String> = table
        .columns()
        .iter()
        .map(|column| format!("{} {}", column.name, column.array.dtype()))
        .collect();
    assert_eq!(
        dtypes.join(", "),
        "i8 int8, u16 uint16, i64 int64, f32 float32, f64 float64, bool bool, text <U5, bytes |S3, fixed |V3, \
         date <M8[D], ms <M8[ms], utc <M8[us], span <m8[ns], pair int32"
    );
    let column = |name: &str| table.column(name).unwrap();
    let numbers = || (0..300_i32).map(i64::from);
    assert!(
        column("i64").read_as::<i64>(0..300)?.into_iter().eq(numbers().map(|n| n * 10_i64.pow(15)))
    );
    for name in ["ms", "utc", "span"] {
        assert!(column(name).read_as::<i64>(0..300)?.into_iter().eq(numbers()), "{name}");
    }
    let dates = numbers().map(|n| if n % 9 == 0 { i64::MIN } else { n });
    assert!(column("date").read_as::<i64>(0..300)?.into_iter().eq(dates));
    assert!(
        column("f32")
            .read_as::<f32>(0..300)?
            .into_iter()
            .eq((0..300_u16).map(|n| f32::from(n) / 4.0))
    );
    for (n, value) in column("f64").read_as::<f64>(0..300)?.into_iter().enumerate() {
        assert!(if n % 7 == 0 { value.is_nan() } else { value == n as f64 / 8.0 }, "{n}");
    }
    assert!(column("bool").read_as::<bool>(0..300)?.into_iter().eq(numbers().map(|n| n % 3 == 0)));
    assert_eq!(column("bytes").read(1..3)?, b"\xff\0\0\xff\xff\0");
    assert_eq!(column("fixed").read(8..10)?, b"ab8ab9");
    let text: Vec<u8> =
        ['x', 'é', '\0', '\0', '\0'].iter().flat_map(|c| u32::from(*c).to_le_bytes()).collect();
    assert_eq!(column("text").read(1..2)?, text);
    assert_eq!(column("pair").shape(), [300, 2]);
    assert_eq!(column("pair").read(298..299)?, [298_i32, 299].map(i32::to_le_bytes).concat());
    Ok(())
}

#[test]
fn what_is_no_file_of_parquet_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("no.parquet");
    std::fs::write(&path, b"PAR1 and nothing after PAR1").unwrap();
    let error =
        parquet::read(&File::open(&path).unwrap(), dir.path().join("t"), &|_, options| options)
            .unwrap_err();
    assert!(matches!(error, Error::Parquet(_)));
    assert_eq!(error.blame(), Blame::Data);
    assert!(!dir.path().join("t").exists());
}
