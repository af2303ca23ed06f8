//! Stores and tables against python-blosc2, which makes the data.

use core::ops::Range;
use std::path::Path;

use b2store::{Content, Store, Table, Values, table::ColumnValues};
use serde_json::{Value, json};

use super::{
    Bench, Subject,
    python::{Python, compare},
};
use crate::failure::{Result, fail};

/// A column of every kind.
const COLUMNS: &[&str] = &["id", "price", "flag", "time", "name", "symbol", "note", "tags"];

/// Rows in one read when all rows are read.
const BATCH_NROWS: u64 = 1 << 20;

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let mut python = Python::start(bench, "bench_stores.py")?;
    eprintln!("python-blosc2 {}", python.ask("version", json!({}))?.result);
    let (rows, arrays) = if bench.quick { (1_000_000, 1000) } else { (10_000_000, 10_000) };
    // Made once: Python takes minutes for rows of lists.
    for (name, deleted) in [("table", 0), ("table with gaps", 10)] {
        let rows = if deleted == 0 { rows } else { rows / 10 };
        let root = bench.folder.join(format!("{rows} {name}.b2d"));
        let request = json!({"root": text(&root), "rows": rows, "deleted": deleted});
        make(&mut python, "make_table", &root, request)?;
        tables(bench, &mut python, &text(&root), &format!("{rows} rows, {name}"))?;
    }
    let root = bench.folder.join(format!("{arrays} arrays.b2z"));
    make(&mut python, "make_tree", &root, json!({"root": text(&root), "arrays": arrays}))?;
    trees(bench, &mut python, &text(&root), arrays)
}

fn make(python: &mut Python, case: &str, root: &Path, request: Value) -> Result<()> {
    if !root.exists() {
        python.ask(case, request)?;
    }
    Ok(())
}

fn open(root: &str) -> Result<Table> {
    Ok(Store::open(root)?.table("/")?)
}

fn tables(bench: &mut Bench, python: &mut Python, root: &str, case: &str) -> Result<()> {
    let rows = open(root)?.len()?;
    let subject = |what, nbytes| subject(what, case.to_owned(), nbytes);
    let request = json!({"root": root});
    compare(bench, subject("open", 0), python, ("open_table", request.clone()), &mut || {
        Ok(json!(open(root)?.len()?))
    })?;
    for name in COLUMNS {
        let (request, case) = (json!({"root": root, "name": name}), format!("{case}: {name}"));
        let subject = Subject { case, ..subject("column", rows * 8) };
        compare(bench, subject, python, ("column", request), &mut || {
            Ok(json!(count_rows(&open(root)?, name)?))
        })?;
    }
    let random: Vec<u64> = (0..20_u64).map(|n| n * 999_983 * 7919 % rows).collect();
    let rows_request = json!({"root": root, "rows": random});
    compare(bench, subject("rows at random", 20), python, ("rows", rows_request), &mut || {
        let table = open(root)?;
        let columns = COLUMNS.iter().map(|name| Ok(table.column(name)?));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let mut sum = 0;
        for row in &random {
            for (name, column) in COLUMNS.iter().zip(&columns) {
                let found = column.read(*row..row + 1)?.value(0);
                if *name == "id" {
                    sum += found.as_u64().unwrap_or_default();
                }
            }
        }
        Ok(json!(sum))
    })?;
    let limit = 100.5;
    let filter = json!({"root": root, "name": "price", "above": true, "limit": limit});
    compare(bench, subject("filter", rows * 8), python, ("where", filter), &mut || {
        let table = open(root)?;
        let (filter, ids) = (table.filter(&format!("price > {limit}"))?, table.column("id")?);
        let (mut values, mut sum) = (ColumnValues::new(Values::Objects(Vec::new())), 0);
        for part in parts(rows) {
            let found = filter.matches(part.clone())?;
            ids.read_into(part.clone(), &mut values)?;
            let Values::Fixed { bytes, .. } = &values.values else {
                return fail("a column of another kind");
            };
            let (ids, _) = bytes.as_chunks();
            let id = |row: u64| {
                let nth = usize::try_from(row - part.start).unwrap_or(usize::MAX);
                ids.get(nth).map_or(0, |id| i64::from_le_bytes(*id))
            };
            sum += found.into_iter().map(id).sum::<i64>();
        }
        Ok(json!(sum))
    })?;
    compare(bench, subject("all columns", rows * 64), python, ("all_columns", request), &mut || {
        let table = open(root)?;
        let counts = COLUMNS.iter().map(|name| count_rows(&table, name));
        Ok(json!(counts.sum::<Result<usize>>()?))
    })
}

/// Reads a column in parts, and counts its rows.
fn count_rows(table: &Table, name: &str) -> Result<usize> {
    let (column, rows) = (table.column(name)?, table.len()?);
    let (mut count, mut values) = (0, ColumnValues::new(Values::Objects(Vec::new())));
    for part in parts(rows) {
        column.read_into(part, &mut values)?;
        count += values.len();
    }
    Ok(count)
}

/// The ranges of rows of each read.
fn parts(rows: u64) -> impl Iterator<Item = Range<u64>> {
    let step = usize::try_from(BATCH_NROWS).unwrap_or(usize::MAX);
    (0..rows).step_by(step).map(move |start| start..rows.min(start + BATCH_NROWS))
}

fn trees(bench: &mut Bench, python: &mut Python, root: &str, arrays: u64) -> Result<()> {
    let case = format!("tree of {arrays} arrays");
    let subject = |what, nbytes| subject(what, case.clone(), nbytes);
    let request = json!({"root": root});
    compare(bench, subject("open, list keys", 0), python, ("open_tree", request), &mut || {
        Ok(json!(Store::open(root)?.tree().len()))
    })?;
    let keys: Vec<String> =
        (0..100).map(|n| n * 999_983 % arrays).map(|n| format!("/g{}/a{n}", n / 100)).collect();
    let request = json!({"root": root, "keys": keys});
    compare(
        bench,
        subject("open, 100 arrays", 800_000),
        python,
        ("tree_array", request),
        &mut || {
            let (store, mut sum) = (Store::open(root)?, 0);
            for key in &keys {
                let Content::Array(array) = store.get(key)? else { return fail("no array") };
                sum += array.read::<i64>()?.iter().sum::<i64>();
            }
            Ok(json!(sum))
        },
    )
}

fn subject(what: &'static str, case: String, nbytes: u64) -> Subject {
    let nbytes = usize::try_from(nbytes).unwrap_or(usize::MAX);
    Subject::new("stores", what, "as python-blosc2 writes", case).threads(2).nbytes(nbytes)
}

fn text(root: &Path) -> String {
    root.to_string_lossy().into_owned()
}
