//! The same rows as arrays in memory and as tables of every format.

use core::ops::Range;
use std::path::Path;
use std::sync::Arc;

use b2frame::{NdParams, NdWriter};
use b2store::{ColumnKind, ColumnValues, NewColumn, Nulls, StoreWriter};
use bcolz_store::{CTableWriter, CreateOptions};
use blosc_datafusion::datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, StringArray,
    TimestampMillisecondArray,
};
use blosc_datafusion::datafusion::arrow::datatypes::SchemaRef;
use blosc_datafusion::datafusion::arrow::record_batch::RecordBatch;

/// NumPy's mark of a missing date.
const NAT: i64 = i64::MIN;

pub(crate) struct Rows {
    id: Vec<i64>,
    x: Vec<f64>,
    v: Vec<i32>,
    flag: Vec<bool>,
    at: Vec<i64>,
    name: Vec<String>,
}

impl Rows {
    /// Rows with these numbers; each row depends on its number alone.
    pub(crate) fn new(numbers: Range<u64>) -> Self {
        // Steps of a generator that passes through all 64-bit numbers.
        let random = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let float = |n: u64| match n % 11 {
            0 => f64::NAN,
            1 => -0.0,
            2 => 0.0,
            3 => f64::INFINITY,
            _ => (random(n) % 1000) as f64 / 500.0 - 1.0,
        };
        let name = |n: u64| match n % 5 {
            0 => String::new(),
            1 => format!("long name of {}", n % 100),
            _ => format!("n{}", n % 20),
        };
        let signed = |n: u64| i64::try_from(n).unwrap();
        let at = |n: u64| if n.is_multiple_of(6) { NAT } else { signed(n) * 1_000_000_000 };
        Self {
            id: numbers.clone().map(signed).collect(),
            x: numbers.clone().map(float).collect(),
            v: numbers
                .clone()
                .map(|n| i32::try_from(random(n) % 20_000).unwrap() - 10_000)
                .collect(),
            flag: numbers.clone().map(|n| random(n) % 2 == 0).collect(),
            at: numbers.clone().map(at).collect(),
            name: numbers.map(name).collect(),
        }
    }

    pub(crate) fn batch(&self) -> RecordBatch {
        let at = self.at.iter().map(|at| (*at != NAT).then_some(*at));
        let columns: [(&str, ArrayRef, bool); 6] = [
            ("id", Arc::new(Int64Array::from(self.id.clone())), false),
            ("x", Arc::new(Float64Array::from(self.x.clone())), false),
            ("v", Arc::new(Int32Array::from(self.v.clone())), false),
            ("flag", Arc::new(BooleanArray::from(self.flag.clone())), false),
            ("at", Arc::new(at.collect::<TimestampMillisecondArray>()), true),
            ("name", Arc::new(StringArray::from(self.name.clone())), false),
        ];
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        self.batch().schema()
    }

    fn len(&self) -> usize {
        self.id.len()
    }

    /// Items of 20 bytes, or of 20 characters of 4.
    fn names(&self, width: usize) -> Vec<u8> {
        let mut bytes = vec![0; self.len() * 20 * width];
        for (item, name) in bytes.chunks_exact_mut(20 * width).zip(&self.name) {
            for (to, from) in item.chunks_exact_mut(width).zip(name.bytes()) {
                to[0] = from;
            }
        }
        bytes
    }

    fn flags(&self) -> Vec<u8> {
        self.flag.iter().copied().map(u8::from).collect()
    }
}

fn bytes<const N: usize, T: Copy>(items: &[T], convert: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    items.iter().flat_map(|item| convert(*item)).collect()
}

/// A table of bcolz: with a big-endian column, and text as byte strings.
pub(crate) fn write_bcolz(path: &Path, rows: &Rows, chunklen: u64) {
    let new = |dtype: &str| CreateOptions::new(dtype.parse().unwrap()).chunklen(Some(chunklen));
    let columns = [
        ("id", new("<i8")),
        ("x", new("<f8")),
        ("v", new(">i4")),
        ("flag", new("|b1")),
        ("at", new("<M8[ms]")),
        ("name", new("|S20")),
    ];
    let mut writer = CTableWriter::create(path, &columns).unwrap();
    writer
        .append(&[
            &bytes(&rows.id, i64::to_le_bytes),
            &bytes(&rows.x, f64::to_le_bytes),
            &bytes(&rows.v, i32::to_be_bytes),
            &rows.flags(),
            &bytes(&rows.at, i64::to_le_bytes),
            &rows.names(1),
        ])
        .unwrap();
    writer.finish().unwrap();
}

/// A table of a store, from which some rows were deleted.
pub(crate) fn write_store(path: &Path, rows: &Rows) {
    let new = NewColumn::new;
    let timestamp = ColumnKind::Timestamp { unit: "ms".to_owned(), timezone: None };
    let columns = [
        new("id", ColumnKind::Fixed("i8")),
        new("x", ColumnKind::Fixed("f8")),
        new("v", ColumnKind::Fixed("i4")),
        new("flag", ColumnKind::Fixed("b1")),
        new("at", timestamp).nulls(Nulls::Mask),
        new("name", ColumnKind::Utf8),
    ];
    let fixed = |dtype: &str, bytes| ColumnValues::fixed(dtype.parse().unwrap(), bytes);
    let valid: Vec<bool> = rows.at.iter().map(|at| *at != NAT).collect();
    let at: Vec<i64> = rows.at.iter().map(|at| if *at == NAT { 0 } else { *at }).collect();
    let values = |rows: &Rows| {
        [
            fixed("<i8", bytes(&rows.id, i64::to_le_bytes)),
            fixed("<f8", bytes(&rows.x, f64::to_le_bytes)),
            fixed("<i4", bytes(&rows.v, i32::to_le_bytes)),
            fixed("|b1", rows.flags()),
            fixed("<i8", bytes(&at, i64::to_le_bytes)).with_valid(valid.clone()),
            ColumnValues::text(rows.name.iter().map(String::as_str)),
        ]
    };
    let mut writer = StoreWriter::create(path).unwrap();
    writer.insert_table("/", &columns, &values(rows)).unwrap();
    // The same rows once more; then the first ones are deleted.
    writer.append_rows("/", &values(rows)).unwrap();
    writer.delete_rows("/", 0..rows.len() as u64).unwrap();
    writer.commit().unwrap();
}

/// An array of records with padding between fields, and text as UTF-32.
pub(crate) fn write_records(path: &Path, rows: &Rows, chunk: u32) {
    let create = |params: &NdParams| NdWriter::create(path, params).unwrap();
    records(rows, chunk, create);
}

/// The same in a directory with a file for each chunk.
pub(crate) fn write_sparse_records(path: &Path, rows: &Rows, chunk: u32) {
    let create = |params: &NdParams| NdWriter::create_sparse(path, params).unwrap();
    records(rows, chunk, create);
}

fn records(rows: &Rows, chunk: u32, create: impl Fn(&NdParams) -> NdWriter) {
    let dtype = "{'names': ['id', 'x', 'v', 'flag', 'at', 'name'], \
        'formats': ['<i8', '<f8', '<i4', '|b1', '<M8[ms]', '<U20'], \
        'offsets': [0, 8, 16, 20, 24, 32], 'itemsize': 120}";
    let names = rows.names(4);
    let mut records = vec![0; rows.len() * 120];
    for (n, record) in records.chunks_exact_mut(120).enumerate() {
        record[..8].copy_from_slice(&rows.id[n].to_le_bytes());
        record[8..16].copy_from_slice(&rows.x[n].to_le_bytes());
        record[16..20].copy_from_slice(&rows.v[n].to_le_bytes());
        record[20] = rows.flag[n].into();
        record[24..32].copy_from_slice(&rows.at[n].to_le_bytes());
        record[32..112].copy_from_slice(&names[n * 80..][..80]);
    }
    let params = NdParams::new(&[rows.len() as u64], dtype.parse().unwrap()).chunkshape(&[chunk]);
    let mut writer = create(&params);
    writer.write_bytes(b2frame::nd::Selection::default(), &records).unwrap();
    writer.finish().unwrap();
}
