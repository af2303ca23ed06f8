//! Queries against loops over the same rows.

use std::sync::Arc;

use bcolz_store::tree::MemTree;
use bcolz_store::{
    Budget, CArrayWriter, CTable, CTableWriter, CreateOptions, Dtype, OpenOptions, Result,
    error::{Blame, Param},
    query::{Number, Scan},
    verify::VerifyOptions,
};
use blosc_chunk::{Executor, Threads};
#[cfg(unix)]
use blosc_testdata::in_child;

const LEN: u64 = 50_000;

/// A row: its number times 7 modulo 1000, a quarter of its number, a letter.
fn a(row: u64) -> i32 {
    i32::try_from(row * 7 % 1000).unwrap() - 500
}

fn x(row: u64) -> f64 {
    f64::from(u32::try_from(row).unwrap()) / 4.0
}

fn s(row: u64) -> u8 {
    b"abcde"[usize::try_from(row % 5).unwrap()]
}

fn table(threads: impl Into<Executor>) -> CTable {
    let tree = Arc::new(MemTree::new());
    let options =
        |dtype: &str, len| CreateOptions::new(Dtype::parse(dtype).unwrap()).chunklen(Some(len));
    let columns =
        [("a", options("int32", 3000)), ("x", options(">f8", 7001)), ("s", options("|S2", 20_000))];
    let mut writer = CTableWriter::create_in(tree.clone(), "", &columns).unwrap();
    let a: Vec<u8> = (0..LEN).flat_map(|row| a(row).to_le_bytes()).collect();
    let x: Vec<u8> = (0..LEN).flat_map(|row| x(row).to_be_bytes()).collect();
    let s: Vec<u8> = (0..LEN).flat_map(|row| [s(row), 0]).collect();
    writer.append(&[&a, &x, &s]).unwrap();
    writer.finish().unwrap();
    CTable::open_in(tree, "", &OpenOptions::default().budget(Budget::default().threads(threads)))
        .unwrap()
}

/// The numbers of the rows of a query; the items of its columns are checked.
fn rows(scan: Scan<'_>) -> Vec<u64> {
    let mut found = Vec::new();
    for batch in scan.batches() {
        let batch = batch.unwrap();
        assert!(!batch.rows.is_empty());
        for column in &batch.columns {
            let expected: Vec<u8> = match column.name.as_str() {
                "a" => batch.rows.iter().flat_map(|row| a(*row).to_le_bytes()).collect(),
                "x" => batch.rows.iter().flat_map(|row| x(*row).to_be_bytes()).collect(),
                _ => batch.rows.iter().flat_map(|row| [s(*row), 0]).collect(),
            };
            assert_eq!(column.items, expected, "{}", column.name);
        }
        found.extend(batch.rows);
    }
    found
}

fn where_(condition: impl Fn(u64) -> bool) -> Vec<u64> {
    (0..LEN).filter(|row| condition(*row)).collect()
}

#[test]
fn rows_are_those_of_a_loop() -> Result<()> {
    for threads in [Threads::One, Threads::Auto] {
        let table = table(threads);
        let filter = |text: &str| Ok::<_, bcolz_store::Error>(rows(table.scan().filter(text)?));
        assert_eq!(filter("a > 100")?, where_(|row| a(row) > 100));
        assert_eq!(
            filter("(a == 493) & (x > 5000)")?,
            where_(|row| a(row) == 493 && x(row) > 5000.0)
        );
        assert_eq!(filter("s == 'c'")?, where_(|row| s(row) == b'c'));
        assert_eq!(
            filter("a % 7 == 3 or x < 2")?,
            where_(|row| a(row).rem_euclid(7) == 3 || x(row) < 2.0)
        );
        assert_eq!(filter("x == 12499.75")?, [LEN - 1]);
        assert!(filter("a > 1000")?.is_empty());
        assert_eq!(filter("True")?.len() as u64, LEN);
    }
    Ok(())
}

#[test]
fn columns_skip_limit_and_batches_narrow_it_down() -> Result<()> {
    let table = table(Threads::Auto);
    let all = where_(|row| a(row) < 0);
    let scan = || table.scan().filter("a < 0");
    for (skip, limit) in [(0, 10), (5, 0), (100, 20_000), (24_000, 5_000), (1_000_000, 1)] {
        let found = rows(scan()?.skip(skip as u64).limit(limit as u64));
        let expected: Vec<u64> = all.iter().skip(skip).take(limit).copied().collect();
        assert_eq!(found, expected, "{skip} {limit}");
    }
    let sizes: Vec<usize> =
        scan()?.batch(999).limit(2500).batches().map(|b| b.unwrap().rows.len()).collect();
    assert_eq!(sizes, [999, 999, 502]);
    let batch = scan()?.columns(&["s", "a"])?.batches().next().unwrap()?;
    let names: Vec<&str> = batch.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["s", "a"]);
    assert_eq!(rows(table.scan().rows(10..20).batch(3)), (10..20).collect::<Vec<u64>>());
    assert_eq!(rows(scan()?.rows(10..100)), where_(|row| (10..100).contains(&row) && a(row) < 0));
    Ok(())
}

#[test]
fn sums_are_those_of_a_loop_whatever_the_threads() -> Result<()> {
    let mut floats = Vec::new();
    for threads in [Threads::One, Threads::Auto] {
        let table = table(threads);
        let scan = table.scan().filter("s != 'b'")?;
        let matching = where_(|row| s(row) != b'b');
        let found = scan.aggregate("a * 2")?;
        assert_eq!(found.count, matching.len() as u64);
        assert_eq!(scan.count()?, found.count);
        assert_eq!(
            found.sum,
            Number::Int(matching.iter().map(|row| i128::from(2 * a(*row))).sum())
        );
        assert_eq!((found.min, found.max), (Some(Number::Int(-1000)), Some(Number::Int(998))));
        let found = table.scan().aggregate("x")?;
        assert_eq!(found.mean(), Some((x(LEN - 1)) / 2.0));
        assert_eq!(found.max, Some(Number::Float(x(LEN - 1))));
        floats.push(table.scan().aggregate("x / 3.7")?.sum);
        let none = table.scan().filter("a > 1000")?.aggregate("x")?;
        assert_eq!((none.count, none.min, none.mean()), (0, None, None));
        assert_eq!(table.scan().count()?, LEN);
        assert_eq!(
            table.scan().aggregate("a > 0")?.sum,
            Number::Int(where_(|row| a(row) > 0).len() as i128)
        );
    }
    assert_eq!(floats[0], floats[1]);
    Ok(())
}

#[test]
fn functions_are_those_of_a_loop() -> Result<()> {
    let table = table(Threads::Auto);
    let filter = |text: &str| Ok::<_, bcolz_store::Error>(rows(table.scan().filter(text)?));
    assert_eq!(filter("sqrt(x) < 3.5")?, where_(|row| x(row).sqrt() < 3.5));
    assert_eq!(
        filter("where(contains(s, b'c'), abs(a), -1) > 490")?,
        where_(|row| s(row) == b'c' && a(row).abs() > 490)
    );
    assert_eq!(table.scan().aggregate("maximum(a, 0)")?.min, Some(Number::Float(0.0)));
    Ok(())
}

#[test]
fn dates_are_compared_with_texts() -> Result<()> {
    let tree = Arc::new(MemTree::new());
    let new = |dtype: &str| CreateOptions::new(Dtype::parse(dtype).unwrap());
    let columns = [
        ("day", new("datetime64[D]")),
        ("time", new(">M8[s]")),
        ("at", new("datetime64[s]")),
        ("month", new("<M8[M]")),
    ];
    let mut writer = CTableWriter::create_in(tree.clone(), "", &columns)?;
    // 2012-02-28 to 2012-03-01, and NaT; noon of these days.
    let days = [15_398_i64, 15_399, 15_400, i64::MIN];
    let noon = |day: i64| if day == i64::MIN { day } else { day * 86_400 + 43_200 };
    let [day, time, at, month] = [
        days.iter().flat_map(|day| day.to_le_bytes()).collect::<Vec<u8>>(),
        days.iter().flat_map(|day| noon(*day).to_be_bytes()).collect(),
        days.iter().rev().flat_map(|day| noon(*day).to_le_bytes()).collect(),
        [505_i64, 505, 506, i64::MIN].iter().flat_map(|month| month.to_le_bytes()).collect(),
    ];
    writer.append(&[&day, &time, &at, &month])?;
    writer.finish()?;
    let table = CTable::open_in(tree, "", &OpenOptions::default())?;
    for (text, expected) in [
        ("day == '2012-02-29'", &[1_u64][..]),
        ("day != '2012-02-29'", &[0, 2, 3]),
        ("day < '2012-02-29'", &[0]),
        ("'2012-02-29' <= day", &[1, 2]),
        // Within a day.
        ("day < '2012-02-29T06:00'", &[0, 1]),
        ("day >= '2012-02-29T06:00'", &[2]),
        ("day == '2012-02-29T06:00'", &[]),
        ("day != '2012-02-29T06:00'", &[0, 1, 2, 3]),
        ("'2012-02-29' < time < '2012-03-01'", &[1]),
        ("time == '2012-02-29 12:00:00'", &[1]),
        ("time <= '2012-02'", &[]),
        ("month == '2012-02'", &[0, 1]),
        ("(month > '2012-02') | ~(day > '1999')", &[2, 3]),
        ("day > '0001-01-01'", &[0, 1, 2]),
        ("day == 'NaT'", &[]),
        ("'NaT' != day", &[0, 1, 2, 3]),
        ("time == time", &[0, 1, 2]),
        ("time != time", &[3]),
        ("time < at", &[1]),
        ("time == at", &[]),
        ("time > at", &[2]),
        ("where(day > '2012-02-28', 1, 0) == 1", &[1, 2]),
    ] {
        let found: Vec<u64> =
            table.scan().filter(text)?.batches().flat_map(|batch| batch.unwrap().rows).collect();
        assert_eq!(found, expected, "{text}");
    }
    let refused = |text: &str| match table.scan().filter(text) {
        Err(bcolz_store::Error::Expr(error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        refused("day > 'yesterday'"),
        "at byte 4: \"yesterday\" is no date such as 2012-01-31 or 2012-01-31T23:59:59.5"
    );
    assert_eq!(
        refused("day > time"),
        "at byte 4: <M8[D] and >M8[s] are not counted in the same unit"
    );
    assert_eq!(
        refused("day > 2012-02-28"),
        "at byte 4: a time is compared with text: \"2016-01-01\""
    );
    Ok(())
}

#[test]
fn what_is_no_query_is_refused() {
    let table = table(Threads::One);
    let text = |error: bcolz_store::Error| {
        assert_eq!(error.blame(), Blame::Usage);
        core::error::Error::source(&error).map_or(error.to_string(), ToString::to_string)
    };
    assert_eq!(
        text(table.scan().filter("a + 1").unwrap_err()),
        "the expression gives integers, not truth values"
    );
    assert_eq!(text(table.scan().filter("b > 1").unwrap_err()), "at byte 0: no column \"b\"");
    assert_eq!(
        text(table.scan().aggregate("s").unwrap_err()),
        "the expression gives byte strings, not numbers"
    );
    let error = table.scan().columns(&["q"]).unwrap_err();
    assert!(matches!(error, bcolz_store::Error::Param(Param::NoColumn { .. })));
}

#[test]
fn only_what_is_needed_is_read() {
    let tree = Arc::new(MemTree::new());
    let options = || CreateOptions::new(Dtype::parse("int32").unwrap()).chunklen(Some(20_000));
    let columns = [("a", options()), ("b", options())];
    let mut writer = CTableWriter::create_in(tree.clone(), "", &columns).unwrap();
    let data: Vec<u8> = (0..100_000_i32).flat_map(i32::to_le_bytes).collect();
    writer.append(&[&data, &data]).unwrap();
    writer.finish().unwrap();
    // All chunks of the other column are lost, except the one that holds the rows.
    for nchunk in [0, 1, 3, 4] {
        bcolz_store::tree::Tree::remove(&*tree, &format!("b/data/__{nchunk}.blp")).unwrap();
    }
    let table = CTable::open_in(tree, "", &OpenOptions::default()).unwrap();
    let batch = table
        .scan()
        .filter("(a > 50000) & (a < 50003)")
        .unwrap()
        .batches()
        .next()
        .unwrap()
        .unwrap();
    assert_eq!(batch.rows, [50_001, 50_002]);
}

/// A child of a process that has read with threads.
#[cfg(unix)]
#[test]
fn a_child_reads_and_writes() {
    for threads in [Executor::auto(), Executor::threads(4)] {
        let table = table(threads.clone());
        let options = VerifyOptions::default().budget(Budget::default().threads(threads.clone()));
        let test = || {
            assert_eq!(rows(table.scan()).len() as u64, LEN);
            assert!(table.verify(&options, |_| {}).unwrap().is_ok());
            let array = table.column("x").unwrap();
            let found = array.read(0..LEN).unwrap();
            assert!(found.chunks(8).zip(0..).all(|(item, row)| item == x(row).to_be_bytes()));
            let options = CreateOptions::new(Dtype::parse("int32").unwrap()).chunklen(Some(1000));
            let options = options.threads(threads.clone());
            let tree = Arc::new(MemTree::new());
            let mut writer = CArrayWriter::create_in(tree, "", &options).unwrap();
            writer.append(&found).unwrap();
            assert_eq!(writer.len(), 2 * LEN);
            writer.finish().unwrap();
        };
        test();
        in_child(test);
        test();
    }
}
