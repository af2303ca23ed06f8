//! Scans of tables that are much larger than the memory limit. They run in a process of their own,
//! because the system reports the peak of a process.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::sync::Arc;

use b2frame::{NdParams, NdWriter};
use b2store::{ColumnKind, ColumnValues, NewColumn, StoreWriter};
use bcolz_store::{CTableWriter, CreateOptions};
use blosc_datafusion::datafusion::arrow::util::pretty::pretty_format_batches;
use blosc_datafusion::datafusion::execution::SessionStateBuilder;
use blosc_datafusion::datafusion::execution::runtime_env::RuntimeEnvBuilder;
use blosc_datafusion::datafusion::prelude::{SessionConfig, SessionContext};
use blosc_datafusion::session_with;

/// Rows of each table, in parts of `PART`: 256 MiB in four columns.
const NROWS: u64 = 8 << 20;
const PART: u64 = 1 << 20;
const NAMES: [&str; 4] = ["a", "b", "c", "d"];
/// Memory limit of a scan: two streams of a unit each, of 32 MiB decoded at most, and as much again
/// for results.
const MAX_NBYTES: u64 = 128 << 20;

/// The most memory of the process so far (bytes).
fn peak_nbytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// The numbers of some rows; column `column` has a multiple of them.
fn items(rows: core::ops::Range<u64>, column: u64) -> Vec<u8> {
    rows.flat_map(|row| (row / 100 * (column + 1)).to_le_bytes()).collect()
}

fn parts() -> impl Iterator<Item = [Vec<u8>; 4]> {
    let starts = (0..NROWS).step_by(usize::try_from(PART).unwrap());
    starts.map(|start| [0, 1, 2, 3].map(|column| items(start..start + PART, column)))
}

fn write_bcolz(path: &Path) {
    let columns = NAMES.map(|name| (name, CreateOptions::new("<i8".parse().unwrap())));
    let mut writer = CTableWriter::create(path, &columns).unwrap();
    parts().for_each(|part| writer.append(&part.each_ref().map(Vec::as_slice)).unwrap());
    writer.finish().unwrap();
}

fn write_store(path: &Path) {
    let columns = NAMES.map(|name| NewColumn::new(name, ColumnKind::Fixed("i8")));
    let values =
        |part: [Vec<u8>; 4]| part.map(|items| ColumnValues::fixed("<i8".parse().unwrap(), items));
    let mut parts = parts();
    let mut writer = StoreWriter::create(path).unwrap();
    writer.insert_table("/", &columns, &values(parts.next().unwrap())).unwrap();
    parts.for_each(|part| writer.append_rows("/", &values(part)).unwrap());
    writer.commit().unwrap();
}

fn write_records(path: &Path) {
    let dtype = "[('a', '<i8'), ('b', '<i8'), ('c', '<i8'), ('d', '<i8')]";
    let params = NdParams::new(&[NROWS], dtype.parse().unwrap()).chunkshape(&[1 << 17]);
    let mut writer = NdWriter::create(path, &params).unwrap();
    for (n, part) in (0_i64..).zip(parts()) {
        let mut records = Vec::with_capacity(part.each_ref().map(Vec::len).iter().sum());
        for row in 0..usize::try_from(PART).unwrap() {
            part.iter().for_each(|items| records.extend_from_slice(&items[row * 8..row * 8 + 8]));
        }
        let part = i64::try_from(PART).unwrap();
        writer.write_bytes((n * part..(n + 1) * part,), &records).unwrap();
    }
    writer.finish().unwrap();
}

fn session() -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(2);
    // The memory limit of the engine itself.
    let runtime = RuntimeEnvBuilder::new().with_memory_limit(64 << 20, 1.0).build().unwrap();
    let builder = SessionStateBuilder::new().with_config(config).with_default_features();
    session_with(builder.with_runtime_env(Arc::new(runtime)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scan_takes_the_memory_of_a_few_units() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    // Another process writes the tables, so that the peak of this one comes from scans alone.
    if let Some(folder) = std::env::var_os("WRITE_TABLES_TO") {
        let folder = Path::new(&folder);
        write_bcolz(&folder.join("t.bcolz"));
        write_store(&folder.join("t.b2z"));
        write_records(&folder.join("t.b2nd"));
        return;
    }
    let written = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_scan_takes_the_memory_of_a_few_units"])
        .env("WRITE_TABLES_TO", dir.path())
        .output()
        .unwrap();
    assert!(written.status.success(), "{written:?}");
    let (session, before) = (session(), peak_nbytes());
    let rows = u128::from(NROWS);
    let sum: u128 = (0..rows / 100).map(|n| n * 100).sum::<u128>() + rows / 100 * (rows % 100);
    for name in ["t.bcolz", "t.b2z", "t.b2nd"] {
        let query = format!(
            "SELECT count(*), sum(a), sum(b), sum(c), sum(d) FROM '{}' WHERE d % 3 <> 5",
            path(name).display()
        );
        let found = session.sql(&query).await.unwrap().collect().await.unwrap();
        let found = pretty_format_batches(&found).unwrap().to_string();
        for expected in [rows, sum, 2 * sum, 3 * sum, 4 * sum] {
            assert!(found.contains(&format!("| {expected} ")), "{name}: {found}");
        }
        let grown = peak_nbytes() - before;
        println!("{name}: {} MiB", grown >> 20);
        assert!(grown < MAX_NBYTES, "{name}: {} MiB", grown >> 20);
    }
}
