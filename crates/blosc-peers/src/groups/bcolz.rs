//! Directories of bcolz against bcolz-zipline; bcolz makes the data.

use std::{path::Path, sync::Arc};

use bcolz_store::{CArray, CTable, OpenOptions, tree::DirTree};
use serde_json::json;

use super::{
    Bench, Subject,
    python::{Python, compare},
};
use crate::failure::Result;

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let mut python = Python::start(bench, "bench_bcolz.py")?;
    eprintln!("bcolz-zipline {}", python.ask("version", json!({}))?.result);
    let rows = if bench.quick { 1_000_000 } else { 10_000_000 };
    // The goals were set with even steps; a codec takes longer for prices.
    for (make, name) in [("make_even_array", "even float64"), ("make_array", "prices")] {
        let root = fresh(&bench.folder.join("carray"))?;
        python.ask(make, json!({"root": root, "rows": rows * 10}))?;
        arrays(bench, &mut python, &root, name, rows * 10)?;
        python.ask("forget", json!({}))?;
        std::fs::remove_dir_all(root)?;
    }
    let table = fresh(&bench.folder.join("ctable"))?;
    python.ask("make_table", json!({"root": table, "rows": rows}))?;
    tables(bench, &mut python, &table, rows)?;
    Ok(std::fs::remove_dir_all(table)?)
}

fn arrays(bench: &mut Bench, python: &mut Python, root: &str, name: &str, rows: u64) -> Result<()> {
    let array = CArray::open(root)?;
    let subject = |what, nbytes: u64| subject(what, format!("{rows} {name}"), nbytes);
    // The memory is freed before the next request, as in Python.
    compare(
        bench,
        subject("read all", rows * 8),
        python,
        ("read_all", json!({"root": root})),
        &mut || Ok(json!(array.read(0..rows)?.len() / 8)),
    )?;
    // bcolz cannot reuse a buffer: fresh memory costs the system as much as decoding.
    let mut buffer = array.read(0..rows)?;
    compare(
        bench,
        subject("read into kept memory", rows * 8),
        python,
        ("read_all", json!({"root": root})),
        &mut || {
            array.read_into(0..rows, &mut buffer)?;
            Ok(json!(buffer.len() / 8))
        },
    )?;
    drop(buffer);
    compare(
        bench,
        subject("sum", rows * 8),
        python,
        ("total", json!({"root": root})),
        &mut || Ok(json!(CTable::of_array("x", &array).scan().aggregate("x")?.sum.to_f64())),
    )?;
    // Multiples of a prime reach all rows in mixed order.
    let random: Vec<u64> = (0..1000_u64).map(|n| n * 999_983 * 7919 % rows).collect();
    let near: Vec<u64> = (0..1000_u64).map(|n| rows / 2 + n * 7919 % 10_000).collect();
    let large = OpenOptions::default().cache(rows * 16);
    let cached = CArray::open_in(Arc::new(DirTree::new(root)), "", &large)?;
    for (what, array, items) in [
        ("random items", &array, &random),
        ("random items, all blocks kept", &cached, &random),
        ("items near each other", &array, &near),
    ] {
        let (request, mut rows) = (json!({"root": root, "rows": items}), array.row_reader());
        compare(bench, subject(what, 8000), python, ("items", request), &mut || {
            let mut sum = 0.0;
            for row in items {
                sum += rows.item::<f64>(*row)?;
            }
            Ok(json!(sum))
        })?;
    }
    Ok(())
}

fn tables(bench: &mut Bench, python: &mut Python, root: &str, rows: u64) -> Result<()> {
    let table = CTable::open(root)?;
    for (case, expr, names) in [
        ("one in 1000", "volume == 500", &["time", "price", "symbol"][..]),
        ("half", "(volume > 200) & (price > 98)", &["price", "volume"]),
        ("by symbol", "(symbol == b'IBM') & (volume < 100)", &["time", "price"]),
    ] {
        let request = json!({"root": root, "expr": expr, "names": names});
        let subject = subject("where", format!("{rows} rows, {case}"), rows * 24);
        compare(bench, subject, python, ("where", request), &mut || {
            let mut found = 0;
            for batch in table.scan().columns(names)?.filter(expr)?.batches() {
                found += batch?.rows.len();
            }
            Ok(json!(found))
        })?;
    }
    let (expr, names) = ("volume < 500", ["price"]);
    let request = json!({"root": root, "expr": expr, "names": names});
    let subject = subject("sum where", format!("{rows} rows"), rows * 12);
    compare(bench, subject, python, ("where_total", request), &mut || {
        Ok(json!(table.scan().filter(expr)?.aggregate(names[0])?.sum.to_f64()))
    })
}

fn subject(what: &'static str, case: String, nbytes: u64) -> Subject {
    let nbytes = usize::try_from(nbytes).unwrap_or(usize::MAX);
    Subject::new("bcolz", what, "lz4 shuffle", case).threads(2).nbytes(nbytes)
}

/// A path where nothing exists.
fn fresh(root: &Path) -> Result<String> {
    if root.exists() {
        std::fs::remove_dir_all(root)?;
    }
    Ok(root.to_string_lossy().into_owned())
}
