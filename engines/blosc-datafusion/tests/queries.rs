//! Queries over tables of every format give the same rows as over plain arrays in memory.

#[cfg(feature = "cluster")]
#[path = "queries/cluster.rs"]
mod cluster;
#[path = "data/rows.rs"]
mod data;
#[cfg(all(feature = "cluster", feature = "s3-emulator"))]
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../../blosc-object-store/tests/support/emulator.rs"]
mod emulator;
#[cfg(feature = "http")]
#[path = "queries/remote.rs"]
mod remote;
#[cfg(feature = "http")]
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../../blosc-object-store/tests/support/server.rs"]
mod server;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use blosc_datafusion::datafusion::arrow::util::pretty::pretty_format_batches;
use blosc_datafusion::datafusion::catalog::MemTable;
use blosc_datafusion::datafusion::common::DataFusionError;
use blosc_datafusion::datafusion::execution::SessionStateBuilder;
use blosc_datafusion::datafusion::physical_plan::{ExecutionPlan, collect, displayable};
use blosc_datafusion::datafusion::prelude::{SessionConfig, SessionContext};
use blosc_datafusion::{BloscTable, Error, TableOptions, session, session_with};
use data::{Rows, write_bcolz, write_records, write_sparse_records, write_store};

/// The rows of a query, as text.
async fn rows(session: &SessionContext, query: &str) -> String {
    let batches = session.sql(query).await.unwrap().collect().await;
    pretty_format_batches(&batches.unwrap_or_else(|error| panic!("{query}: {error}")))
        .unwrap()
        .to_string()
}

/// A session with a number of threads.
fn threaded(nthreads: usize) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(nthreads);
    session_with(SessionStateBuilder::new().with_config(config).with_default_features())
}

fn register(session: &SessionContext, name: &str, path: &Path) {
    let table = BloscTable::open(path).unwrap_or_else(|error| panic!("{name}: {error}"));
    session.register_table(name, table.into_provider()).unwrap();
}

/// Conditions over the columns that all formats have.
const CONDITIONS: &[&str] = &[
    "true",
    "false",
    "id >= 100",
    "id < 10 OR id > 2990",
    "x > 0.5",
    "x = 'NaN'",
    "x <> x",
    "x = 0.0",
    "x < -0.0",
    "NOT (x < 0.5)",
    "isnan(x)",
    "v > 9000",
    "v > 9000 AND x > 0 AND id > 1500",
    "v BETWEEN -5 AND 5",
    "v % 7 = 3",
    "v <> 0 AND 1000 / v > 100",
    "flag",
    "NOT flag AND x IS NOT NULL",
    "at IS NULL",
    "at > '2001-01-01'",
    "at IS NOT NULL AND id % 2 = 0",
    "name = ''",
    "name = 'n7'",
    "name LIKE '%1'",
    "name IN ('n1', 'n2', 'long name of 33')",
    "length(name) > 3",
    "CASE WHEN v = 0 THEN false ELSE 10 / v > 1 END",
    "id IN (SELECT max(id) FROM plain)",
    "id > (SELECT avg(id) FROM plain)",
    "id = 17 OR name = 'n3'",
    "abs(v) < 20",
    "id = -1",
];

#[tokio::test(flavor = "multi_thread")]
async fn queries_give_what_they_give_over_plain_arrays() {
    let dir = tempfile::tempdir().unwrap();
    let all = Rows::new(0..3000);
    let session = threaded(3);
    let plain = MemTable::try_new(all.schema(), vec![vec![all.batch()]]).unwrap();
    session.register_table("plain", Arc::new(plain)).unwrap();
    write_bcolz(&dir.path().join("t.bcolz"), &all, 128);
    write_store(&dir.path().join("t.b2z"), &all);
    write_store(&dir.path().join("t.b2d"), &all);
    write_records(&dir.path().join("t.b2nd"), &all, 256);
    let folder = dir.path().join("folder");
    fs::create_dir(&folder).unwrap();
    for (n, part) in [0..1000, 1000..1001, 1001..3000].into_iter().enumerate() {
        write_bcolz(&folder.join(format!("{n}.bcolz")), &Rows::new(part), 64);
    }
    let names = ["t.bcolz", "t.b2z", "t.b2d", "t.b2nd", "folder"];
    for (n, name) in names.iter().enumerate() {
        register(&session, &format!("t{n}"), &dir.path().join(name));
    }
    let mut seen = 0;
    for condition in CONDITIONS {
        for query in [
            format!("SELECT id, x, v, flag, at, name FROM t WHERE {condition} ORDER BY id"),
            format!(
                "SELECT count(*), sum(v) AS v, min(name) AS n, max(at) AS a FROM t WHERE {condition}"
            ),
            format!(
                "SELECT name, count(x) AS n FROM t WHERE {condition} GROUP BY name ORDER BY name"
            ),
            format!("SELECT x + v AS s FROM t WHERE {condition} ORDER BY id DESC LIMIT 5"),
        ] {
            let expected = rows(&session, &query.replace("FROM t ", "FROM plain ")).await;
            for (n, name) in names.iter().enumerate() {
                let found = rows(&session, &query.replace("FROM t ", &format!("FROM t{n} "))).await;
                assert_eq!(found, expected, "{name}: {query}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, CONDITIONS.len() * 4 * names.len());
    // A join: the narrower side filters the other while the query runs.
    let join =
        "SELECT a.id, b.name FROM t0 a JOIN t1 b ON a.id = b.id WHERE b.v > 9900 ORDER BY a.id";
    let expected = rows(&session, &join.replace("t0", "plain").replace("t1", "plain")).await;
    assert_eq!(rows(&session, join).await, expected);
}

async fn plan(session: &SessionContext, query: &str) -> Arc<dyn ExecutionPlan> {
    session.sql(query).await.unwrap().create_physical_plan().await.unwrap()
}

/// The sum of a count over all parts of the scan.
fn metric(plan: &Arc<dyn ExecutionPlan>, name: &str) -> usize {
    let own = plan.metrics().and_then(|metrics| metrics.sum_by_name(name));
    let children = plan.children().into_iter().map(|child| metric(child, name));
    own.map_or(0, |value| value.as_usize()) + children.sum::<usize>()
}

#[tokio::test]
async fn scans_decode_what_a_query_needs() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.bcolz");
    // 6 columns in 4 units.
    write_bcolz(&path, &Rows::new(0..1000), 256);
    let session = threaded(1);
    register(&session, "t", &path);
    for (query, decoded, skipped) in [
        ("SELECT id FROM t", 4, 0),
        ("SELECT * FROM t WHERE id > 900", 4 + 5, 3),
        ("SELECT count(*) FROM t WHERE v > 1000000", 4, 4),
        // The cheapest column first: a truth value.
        ("SELECT id FROM t WHERE name = 'no such' AND flag", 4 + 4, 4),
        ("SELECT * FROM t LIMIT 5", 6, 0),
        ("SELECT count(*) FROM t", 0, 0),
    ] {
        let plan = plan(&session, query).await;
        let text = displayable(plan.as_ref()).indent(false).to_string();
        assert!(!text.contains("FilterExec"), "{text}");
        collect(Arc::clone(&plan), session.task_ctx()).await.unwrap();
        assert_eq!(metric(&plan, "columns_decoded"), decoded, "{query}");
        assert_eq!(metric(&plan, "units_skipped"), skipped, "{query}");
    }
    // The zones of the condition are known by now: units that cannot have rows left are not read.
    for (query, decoded, skipped) in [
        ("SELECT * FROM t WHERE id > 900", 1 + 5, 3),
        ("SELECT v FROM t WHERE id BETWEEN 300 AND 310", 2, 3),
        ("SELECT count(*) FROM t WHERE v > 1000000", 0, 4),
        ("SELECT count(*) FROM t WHERE id = -5", 0, 4),
    ] {
        let plan = plan(&session, query).await;
        collect(Arc::clone(&plan), session.task_ctx()).await.unwrap();
        assert_eq!(metric(&plan, "columns_decoded"), decoded, "{query}");
        assert_eq!(metric(&plan, "units_skipped"), skipped, "{query}");
    }
    let narrowed = plan(&session, "SELECT id, x FROM t ORDER BY id LIMIT 3").await;
    collect(Arc::clone(&narrowed), session.task_ctx()).await.unwrap();
    assert!(metric(&narrowed, "columns_decoded") <= 8);
}

#[tokio::test]
async fn facts_about_a_file_serve_later_queries() {
    let dir = tempfile::tempdir().unwrap();
    let (path, other) = (dir.path().join("t.bcolz"), dir.path().join("other.bcolz"));
    write_bcolz(&path, &Rows::new(0..1000), 256);
    write_bcolz(&other, &Rows::new(1000..2000), 256);
    let session = threaded(1);
    let query = format!("SELECT count(id) AS n FROM '{}' WHERE id > 900", path.display());
    let mut decoded = Vec::new();
    for _ in 0..3 {
        let plan = plan(&session, &query).await;
        let batches = collect(Arc::clone(&plan), session.task_ctx()).await.unwrap();
        let found = pretty_format_batches(&batches).unwrap().to_string();
        assert!(found.contains("| 99 "), "{found}");
        decoded.push(metric(&plan, "columns_decoded"));
    }
    assert_eq!(decoded, [4, 4, 1]);
    // bcolz rewrites the file of a chunk, and changes no other file.
    std::thread::sleep(core::time::Duration::from_millis(20));
    fs::copy(other.join("id/data/__0.blp"), path.join("id/data/__0.blp")).unwrap();
    let found = rows(&session, &query).await;
    assert!(found.contains("| 355 "), "{found}");
}

/// The error of ours that a query ended with.
async fn failure(session: &SessionContext, query: &str) -> Error {
    let error = session.sql(query).await.unwrap().collect().await.unwrap_err();
    let text = error.to_string();
    match error {
        DataFusionError::External(error) => *error.downcast::<Error>().unwrap(),
        DataFusionError::Context(_, error) | DataFusionError::Diagnostic(_, error) => {
            match *error {
                DataFusionError::External(error) => *error.downcast::<Error>().unwrap(),
                _ => panic!("{text}"),
            }
        }
        _ => panic!("{text}"),
    }
}

/// A query over a damaged table ends with an error that names table, column and chunk.
async fn assert_damaged(session: &SessionContext, path: &Path, place: &str, chunk: &str) {
    let query = format!("SELECT sum(v) FROM '{}'", path.display());
    let error = failure(session, &query).await;
    let text = error.to_string();
    let Error::Read { location, what, .. } = &error else { panic!("{text}") };
    assert_eq!(location, path.to_str().unwrap(), "{text}");
    assert_eq!(what, place, "{text}");
    assert!(text.contains(chunk), "{text}");
}

#[tokio::test]
async fn damaged_chunks_end_a_query_with_their_place() {
    let dir = tempfile::tempdir().unwrap();
    let session = session();
    for damage in ["missing", "cut", "changed"] {
        let path = dir.path().join(format!("{damage}.bcolz"));
        write_bcolz(&path, &Rows::new(0..1000), 256);
        let chunk = path.join("v/data/__1.blp");
        let mut bytes = fs::read(&chunk).unwrap();
        match damage {
            "missing" => fs::remove_file(&chunk).unwrap(),
            "cut" => fs::write(&chunk, &bytes[..bytes.len() / 2]).unwrap(),
            _ => {
                // The length of the data, in the header of the chunk.
                bytes[20] ^= 1;
                fs::write(&chunk, &bytes).unwrap();
            }
        }
        assert_damaged(&session, &path, "column v, rows 256 to 512", "v/data/__1.blp").await;
        // The other columns stay readable.
        rows(&session, &format!("SELECT sum(x) FROM '{}'", path.display())).await;
    }
}

/// Where the bytes of a file lie in another one.
fn position(haystack: &[u8], needle: &[u8]) -> usize {
    haystack.windows(needle.len()).position(|bytes| bytes == needle).unwrap()
}

#[tokio::test]
async fn damaged_chunks_of_frames_end_a_query_with_their_place() {
    let dir = tempfile::tempdir().unwrap();
    let (at, session) = (|name: &str| dir.path().join(name), session());
    let all = Rows::new(0..1000);
    // The length of the data, in the header of a chunk.
    let damage = |bytes: &mut [u8], chunk: usize| bytes[chunk + 4] ^= 1;
    let extent = |path: &Path, nchunk: u64| {
        let extent = b2frame::SChunk::open(path).unwrap().chunk_extent(nchunk).unwrap();
        usize::try_from(extent.start).unwrap()..usize::try_from(extent.end).unwrap()
    };

    write_records(&at("t.b2nd"), &all, 256);
    let whole = fs::read(at("t.b2nd")).unwrap();
    let mut bytes = whole.clone();
    damage(&mut bytes, extent(&at("t.b2nd"), 2).start);
    fs::write(at("t.b2nd"), &bytes).unwrap();
    assert_damaged(&session, &at("t.b2nd"), "column v, rows 512 to 768", "chunk 2").await;
    // A frame without its end is refused.
    fs::write(at("t.b2nd"), &whole[..whole.len() / 2]).unwrap();
    let error = BloscTable::open(at("t.b2nd")).unwrap_err().to_string();
    assert!(error.contains("t.b2nd: cannot be opened as an array"), "{error}");

    // A file for each chunk.
    for (damage_of, name) in [("missing", "m.b2nd"), ("cut", "c.b2nd"), ("changed", "x.b2nd")] {
        write_sparse_records(&at(name), &all, 256);
        let chunk = at(name).join("00000002.chunk");
        let mut bytes = fs::read(&chunk).unwrap();
        match damage_of {
            "missing" => fs::remove_file(&chunk).unwrap(),
            "cut" => fs::write(&chunk, &bytes[..bytes.len() / 2]).unwrap(),
            _ => {
                damage(&mut bytes, 0);
                fs::write(&chunk, &bytes).unwrap();
            }
        }
        assert_damaged(&session, &at(name), "column v, rows 512 to 768", "chunk 2").await;
    }

    write_store(&at("t.b2d"), &all);
    write_store(&at("t.b2z"), &all);
    let member = at("t.b2d").join("_cols/v.b2nd");
    let chunk = extent(&member, 0);
    let mut bytes = fs::read(&member).unwrap();
    let chunk_bytes = bytes[chunk.clone()].to_vec();
    damage(&mut bytes, chunk.start);
    fs::write(&member, &bytes).unwrap();
    assert_damaged(&session, &at("t.b2d"), "column v, rows 0 to 1000", "chunk 0").await;
    rows(&session, &format!("SELECT sum(x) FROM '{}'", at("t.b2d").display())).await;
    fs::remove_file(&member).unwrap();
    let error = BloscTable::open(at("t.b2d")).unwrap_err().to_string();
    assert!(error.contains("t.b2d") && error.contains("/_cols/v is missing"), "{error}");

    let mut bytes = fs::read(at("t.b2z")).unwrap();
    let start = position(&bytes, &chunk_bytes);
    damage(&mut bytes, start);
    fs::write(at("t.b2z"), &bytes).unwrap();
    assert_damaged(&session, &at("t.b2z"), "column v, rows 0 to 1000", "chunk 0").await;
}

#[tokio::test]
async fn a_table_that_is_written_again_ends_the_query_that_was_planned() {
    let dir = tempfile::tempdir().unwrap();
    let session = session();
    let write = |name: &str, rows: &Rows| {
        let path = dir.path().join(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else if path.exists() {
            fs::remove_file(&path).unwrap();
        }
        match name {
            "t.bcolz" => write_bcolz(&path, rows, 256),
            "t.b2nd" => write_records(&path, rows, 256),
            "s.b2nd" => write_sparse_records(&path, rows, 256),
            _ => write_store(&path, rows),
        }
    };
    for name in ["t.bcolz", "t.b2z", "t.b2d", "t.b2nd", "s.b2nd"] {
        write(name, &Rows::new(0..1000));
        let table = name.replace('.', "_");
        register(&session, &table, &dir.path().join(name));
        let query = format!("SELECT sum(id) AS s FROM {table}");
        let planned = plan(&session, &query).await;
        // The same number of rows, and a time that the file system can tell from the one before.
        std::thread::sleep(core::time::Duration::from_millis(20));
        write(name, &Rows::new(1000..2000));
        let failed = collect(planned, session.task_ctx()).await.unwrap_err().to_string();
        let changed = "was changed since the query was planned";
        assert!(failed.contains(name) && failed.contains(changed), "{failed}");
        // A query that is planned now returns the new rows.
        let found = rows(&session, &query).await;
        assert!(found.contains("| 1499500 "), "{name}: {found}");
        // The second query uses zones of the new rows alone.
        let query = format!("SELECT count(id) AS n FROM {table} WHERE id >= 1990");
        for _ in 0..3 {
            let found = rows(&session, &query).await;
            assert!(found.contains("| 10 "), "{name}: {found}");
        }
    }
}

#[tokio::test]
async fn tables_have_names_in_queries() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().display();
    write_bcolz(&dir.path().join("t.bcolz"), &Rows::new(0..10), 4);
    write_store(&dir.path().join("t.b2z"), &Rows::new(0..20));
    let session = session();
    for (format, name, count) in [("BCOLZ", "t.bcolz", 10), ("B2Z", "t.b2z", 20)] {
        let create =
            format!("CREATE EXTERNAL TABLE {format} STORED AS {format} LOCATION '{root}/{name}'");
        session.sql(&create).await.unwrap().collect().await.unwrap();
        for table in [format.to_owned(), format!("'{root}/{name}'")] {
            let found = rows(&session, &format!("SELECT count(id) AS n FROM {table}")).await;
            assert!(found.contains(&format!("| {count} ")), "{found}");
        }
    }
    let create = format!(
        "CREATE EXTERNAL TABLE b STORED AS BCOLZ LOCATION '{root}/t.bcolz' OPTIONS (nonsense '1')"
    );
    let error = session.sql(&create).await.unwrap_err().to_string();
    assert!(error.contains("nonsense"), "{error}");
    assert!(session.sql(&format!("SELECT * FROM '{root}/none.bcolz'")).await.is_err());
}

#[tokio::test]
async fn folders_called_key_and_value_are_columns() {
    let dir = tempfile::tempdir().unwrap();
    for (year, site, rows) in [(2024, "a", 0..100), (2024, "b", 100..150), (2025, "a", 150..400)] {
        let folder = dir.path().join(format!("year={year}/site={site}"));
        fs::create_dir_all(&folder).unwrap();
        write_bcolz(&folder.join("t.bcolz"), &Rows::new(rows), 64);
    }
    let session = threaded(2);
    register(&session, "t", dir.path());
    let counted = rows(
        &session,
        "SELECT year, site, count(*) AS n, sum(id) AS s FROM t \
         GROUP BY year, site ORDER BY year, site",
    )
    .await;
    for line in ["| 2024 | a    | 100 | 4950  |", "| 2024 | b    | 50  | 6225  |"] {
        assert!(counted.contains(line), "{counted}");
    }
    // Tables of another year are not read.
    let query = "SELECT sum(id + 1) FROM t WHERE year = 2024 AND site <> 'a'";
    let scan = plan(&session, query).await;
    let found = collect(Arc::clone(&scan), session.task_ctx()).await.unwrap();
    assert!(pretty_format_batches(&found).unwrap().to_string().contains("| 6275 "));
    assert!(metric(&scan, "columns_decoded") < 12, "{}", metric(&scan, "columns_decoded"));
    // The least and the largest are known without reading.
    let extremes = plan(&session, "SELECT min(year), max(year), max(site) FROM t").await;
    let text = displayable(extremes.as_ref()).indent(false).to_string();
    assert!(!text.contains("DataSourceExec: file"), "{text}");
    let found = collect(extremes, session.task_ctx()).await.unwrap();
    let found = pretty_format_batches(&found).unwrap().to_string();
    assert!(found.contains("| 2024        | 2025        | b           |"), "{found}");
    // A condition prevents it: no row of `b` has the id.
    let found = rows(&session, "SELECT min(year), max(site) FROM t WHERE id = 399").await;
    assert!(found.contains("| 2025        | a           |"), "{found}");
    // All folders must have the same keys.
    fs::create_dir(dir.path().join("month=1")).unwrap();
    write_bcolz(&dir.path().join("month=1/t.bcolz"), &Rows::new(0..10), 64);
    let error = BloscTable::open(dir.path()).unwrap_err();
    assert!(
        matches!(&error, Error::Schema { .. }) && error.to_string().contains("year"),
        "{error}"
    );
}

#[tokio::test]
async fn a_folder_needs_tables_of_the_same_columns() {
    let dir = tempfile::tempdir().unwrap();
    write_bcolz(&dir.path().join("a"), &Rows::new(0..10), 4);
    write_records(&dir.path().join("b.b2nd"), &Rows::new(0..10), 4);
    // A table of another format in the folder is accepted.
    assert_eq!(BloscTable::open(dir.path()).unwrap().nrows(), 20);
    fs::remove_file(dir.path().join("b.b2nd")).unwrap();
    write_grid(&dir.path().join("grid.b2nd"));
    let error = BloscTable::open(dir.path()).unwrap_err();
    assert!(matches!(&error, Error::Schema { .. }), "{error}");
    fs::remove_file(dir.path().join("grid.b2nd")).unwrap();
    fs::write(dir.path().join("notes.txt"), "no table").unwrap();
    let error = BloscTable::open(dir.path()).unwrap_err();
    assert!(error.to_string().contains("notes.txt"), "{error}");
    fs::remove_file(dir.path().join("notes.txt")).unwrap();
    assert_eq!(BloscTable::open(dir.path()).unwrap().nrows(), 10);
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(BloscTable::open(empty.path()), Err(Error::NotATable { .. })));
    assert!(matches!(BloscTable::open(empty.path().join("no")), Err(Error::Io { .. })));
}

#[tokio::test]
async fn bytes_that_are_no_text_are_named_or_stay_bytes() {
    let dir = tempfile::tempdir().unwrap();
    for (name, dtype, item) in [("short", "S3", *b"\xff\xfe\0"), ("plain", "S3", *b"ab\0")] {
        let path = dir.path().join(name);
        let options = bcolz_store::CreateOptions::new(dtype.parse().unwrap());
        let mut writer = bcolz_store::CTableWriter::create(&path, &[("s", options)]).unwrap();
        writer.append(&[&[*b"ok\0", item].concat()]).unwrap();
        writer.finish().unwrap();
    }
    let session = session();
    register(&session, "short", &dir.path().join("short"));
    let error = failure(&session, "SELECT s FROM short").await;
    assert!(matches!(error, Error::NoText { row: 1, .. }), "{error}");
    let options = TableOptions::default().bytes_as_text(false);
    let location = dir.path().join("short").display().to_string();
    let table = BloscTable::open_with(&location, &options).unwrap();
    session.register_table("bytes", table.into_provider()).unwrap();
    let found = rows(&session, "SELECT s FROM bytes").await;
    assert!(found.contains("fffe") && found.contains("6f6b"), "{found}");
}

/// 100 rows of 3 consecutive numbers.
fn write_grid(path: &Path) {
    let params = b2frame::NdParams::new(&[100, 3], "<i4".parse().unwrap()).chunkshape(&[32, 3]);
    let mut writer = b2frame::NdWriter::create(path, &params).unwrap();
    let items: Vec<i32> = (0..300).collect();
    writer.write_slice(b2frame::nd::Selection::default(), &items).unwrap();
    writer.finish().unwrap();
}

#[tokio::test]
async fn arrays_without_fields_have_one_column() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("grid.b2nd");
    write_grid(&path);
    let session = session();
    let query = format!("SELECT grid FROM '{}' LIMIT 2", path.display());
    let found = rows(&session, &query).await;
    assert!(found.contains("[0, 1, 2]") && found.contains("[3, 4, 5]"), "{found}");
}

/// Runs the program with these arguments.
fn b2_sql(args: &[&str]) -> (bool, String, String) {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_b2-sql"));
    let out = program.args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (out.status.success(), text(out.stdout), text(out.stderr))
}

#[test]
fn the_program_writes_rows_in_each_format() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.bcolz");
    write_bcolz(&path, &Rows::new(0..100), 32);
    let query = format!("SELECT id, name FROM '{}' WHERE id < 3 ORDER BY id", path.display());
    let csv = "id,name\n0,\"\"\n1,long name of 1\n2,n2\n";
    let json = "{\"id\":0,\"name\":\"\"}\n{\"id\":1,\"name\":\"long name of 1\"}\n\
        {\"id\":2,\"name\":\"n2\"}\n";
    assert_eq!(b2_sql(&["-f", "csv", &query]), (true, csv.to_owned(), String::new()));
    assert_eq!(b2_sql(&["-f", "json", &query]).1, json);
    let (_, table, _) = b2_sql(&["--threads", "1", &query]);
    assert_eq!(table.lines().count(), 7, "{table}");
    let none = query.replace("id < 3", "id < 0");
    assert_eq!(b2_sql(&["-f", "csv", &none]).1, "id,name\n");

    let file = dir.path().join("rows.csv").display().to_string();
    assert!(b2_sql(&["-f", "csv", "-o", &file, &query]).0);
    assert_eq!(fs::read_to_string(&file).unwrap(), csv);
    let (is_done, _, message) = b2_sql(&["-f", "csv", "-o", &file, &query]);
    assert!(!is_done && message.contains("rows.csv"), "{message}");

    // A null, and an empty text.
    let null = format!("SELECT id, nullif(name, 'n2') FROM '{}' WHERE id = 2", path.display());
    assert!(b2_sql(&["-f", "csv", &null]).1.ends_with("\n2,\n"));

    #[cfg(feature = "parquet")]
    {
        let file = dir.path().join("rows.parquet").display().to_string();
        assert!(b2_sql(&["-f", "parquet", "-o", &file, &query]).0);
        let create = format!("CREATE EXTERNAL TABLE p STORED AS PARQUET LOCATION '{file}'");
        let back = format!("{create}; SELECT * FROM p ORDER BY id");
        assert_eq!(b2_sql(&["-f", "csv", &back]), (true, csv.to_owned(), String::new()));
    }

    let two = format!(
        "CREATE EXTERNAL TABLE t STORED AS BCOLZ LOCATION '{}'; \
        SELECT max(id) AS m, ';' AS s FROM t",
        path.display()
    );
    assert_eq!(b2_sql(&["-f", "csv", &two]).1, "m,s\n99,;\n");
    let (is_done, out, message) = b2_sql(&["SELECT * FROM 'nowhere.bcolz'"]);
    assert!(!is_done && out.is_empty() && message.contains("nowhere.bcolz"), "{message}");
    fs::write(path.join("id/data/__0.blp"), b"").unwrap();
    let (is_done, _, message) = b2_sql(&[&query]);
    assert!(!is_done && message.contains("column id, rows 0 to 32"), "{message}");
}

#[test]
fn the_example_prints_sums() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.b2z");
    write_store(&path, &Rows::new(0..100));
    let tests = std::env::current_exe().unwrap();
    let example = tests.ancestors().nth(2).unwrap().join("examples/query");
    let output = std::process::Command::new(example)
        .args([path.to_str().unwrap(), "flag", "id"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(text.starts_with("100 rows\n") && text.contains("| true  | "), "{text}");
}
