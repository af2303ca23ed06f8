//! Queries over tables on a web server.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::time::Instant;

use blosc_datafusion::datafusion::physical_plan::ExecutionPlanProperties as _;

use super::server::{DELAY, Fault, Server, files_in};
use super::*;

/// Writes the same rows in all formats. Each file is longer than its first and last bytes that
/// opening fetches.
fn write_all(folder: &Path) {
    write_forms(folder, &Rows::new(0..40_000));
}

fn write_forms(folder: &Path, rows: &Rows) {
    write_store(&folder.join("t.b2z"), rows);
    write_store(&folder.join("t.b2d"), rows);
    write_records(&folder.join("t.b2nd"), rows, 2048);
    write_bcolz(&folder.join("t.bcolz"), rows, 2048);
}

const NAMES: [&str; 4] = ["t.b2z", "t.b2d", "t.b2nd", "t.bcolz"];

#[tokio::test(flavor = "multi_thread")]
async fn queries_over_addresses_are_those_over_files() {
    let dir = tempfile::tempdir().unwrap();
    write_all(dir.path());
    let server = Server::start(files_in(dir.path()), Fault::None);
    let session = session();
    for name in NAMES {
        let (local, remote) =
            (dir.path().join(name).display().to_string(), format!("{}/{name}", server.address));
        for condition in ["true", "v > 9000", "name LIKE '%1' AND x > 0", "at IS NULL"] {
            let query = |table: &str| {
                format!("SELECT id, x, name FROM '{table}' WHERE {condition} ORDER BY id")
            };
            let [found, expected] =
                [rows(&session, &query(&remote)).await, rows(&session, &query(&local)).await];
            assert_eq!(found, expected, "{name}: {condition}");
        }
    }
    let missing = format!("SELECT * FROM '{}/no.b2z'", server.address);
    assert!(session.sql(&missing).await.unwrap_err().to_string().contains("no.b2z"));
}

#[tokio::test]
async fn remote_scans_leave_their_thread_to_others() {
    let dir = tempfile::tempdir().unwrap();
    write_all(dir.path());
    let server = Server::start(files_in(dir.path()), Fault::Slow);
    for (name, nthreads) in NAMES.into_iter().flat_map(|name| [(name, 1), (name, 4)]) {
        let session = threaded(nthreads);
        let query = |table: &str| {
            format!(
                "SELECT count(*) AS n, sum(id) AS i, sum(v) AS v, max(name) AS m FROM '{table}' WHERE x > 0"
            )
        };
        let expected = rows(&session, &query(&dir.path().join(name).display().to_string())).await;
        // Another task of the same thread must keep running.
        let ticks = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&ticks);
        let ticking = tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(2)).await;
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        let (before, began) = (server.requests.load(Ordering::Relaxed), Instant::now());
        let found = rows(&session, &query(&format!("{}/{name}", server.address))).await;
        let (elapsed, seen) = (began.elapsed(), ticks.load(Ordering::Relaxed));
        let nrequests = server.requests.load(Ordering::Relaxed) - before;
        ticking.abort();
        assert_eq!(found, expected, "{name}");
        // Opening waits for its requests too. Decoding and other programs may take much of the
        // time.
        assert!(elapsed > 3 * DELAY, "{name}: {elapsed:?}");
        let least = elapsed.as_millis() / 2 / 8;
        assert!(u128::from(seen) > least, "{name}: {seen} ticks in {elapsed:?}");
        println!("{name}, {nthreads}: {nrequests} requests, {elapsed:?}, {seen} ticks");
    }
}

#[tokio::test]
async fn streams_of_one_thread_wait_for_their_requests_at_once() {
    let dir = tempfile::tempdir().unwrap();
    // 48 chunks of a column.
    write_bcolz(&dir.path().join("t.bcolz"), &Rows::new(0..3072), 64);
    let server = Server::start(files_in(dir.path()), Fault::Slow);
    let address = format!("{}/t.bcolz", server.address);
    for nthreads in [1, 4] {
        let session = threaded(nthreads);
        let table = tokio::task::spawn_blocking({
            let address = address.clone();
            move || BloscTable::open(address).unwrap()
        });
        session.register_table("t", table.await.unwrap().into_provider()).unwrap();
        let plan = plan(&session, "SELECT v FROM t WHERE id >= 0").await;
        assert_eq!(plan.output_partitioning().partition_count(), nthreads);
        let (before, began) = (server.requests.load(Ordering::Relaxed), Instant::now());
        let batches = collect(plan, session.task_ctx()).await.unwrap();
        assert_eq!(batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), 3072);
        let elapsed = began.elapsed();
        let nrequests = server.requests.load(Ordering::Relaxed) - before;
        // A file for each chunk of both columns; sequential requests would take 2.9 s.
        assert_eq!(nrequests, 96);
        let sum = DELAY * 96;
        assert!(elapsed < sum / 2, "{nthreads} streams: {elapsed:?} of {sum:?}");
        println!("{nthreads} streams: {elapsed:?} of {sum:?}");
    }
}

#[tokio::test]
async fn faults_of_the_server_end_a_query() {
    let dir = tempfile::tempdir().unwrap();
    write_all(dir.path());
    for (name, fault) in
        NAMES.into_iter().flat_map(|name| [(name, Fault::Replaced), (name, Fault::NoRanges)])
    {
        let server = Server::start(files_in(dir.path()), fault);
        let query = format!("SELECT sum(v), max(name) FROM '{}/{name}'", server.address);
        let session = threaded(2);
        let failed = match session.sql(&query).await {
            Ok(frame) => frame.collect().await.map(|batches| batches.len()),
            Err(error) => Err(error),
        };
        // A server without ranges sends a small file whole, but no part of a folder.
        if fault == Fault::NoRanges && ["t.b2z", "t.b2nd"].contains(&name) {
            assert_eq!(failed.unwrap(), 1, "{name}");
            continue;
        }
        let text = failed.unwrap_err().to_string();
        assert!(text.contains(name), "{name}, {fault:?}: {text}");
    }
}

#[tokio::test]
async fn a_remote_table_that_is_written_again_ends_the_query_that_was_planned() {
    let dirs = [0..40_000, 40_000..80_000].map(|numbers| {
        let dir = tempfile::tempdir().unwrap();
        write_forms(dir.path(), &Rows::new(numbers));
        dir
    });
    for name in NAMES {
        let server = Server::start(files_in(dirs[0].path()), Fault::None);
        let session = threaded(2);
        // The query reads more than opening fetches.
        let query = format!("SELECT sum(v) AS s, max(name) AS m FROM '{}/{name}'", server.address);
        let planned = plan(&session, &query).await;
        server.replace(files_in(dirs[1].path()));
        let failed = collect(planned, session.task_ctx()).await.unwrap_err().to_string();
        assert!(failed.contains(name) && failed.contains("replaced"), "{failed}");
        let found = rows(&session, &query).await;
        let local = query.replace(&server.address, &dirs[1].path().display().to_string());
        assert_eq!(found, rows(&session, &local).await, "{name}");
    }
}

/// Writes tables whose names and keys would change if they were read as addresses.
pub(super) fn write_named_tables(folder: &Path) {
    let names = ["a%20b", "50%", "what?", "#1", "\u{e9} \u{fc}", "plain"];
    for (table, name) in (0_u64..).zip(names) {
        let folder = folder.join(if table < 3 { "site=100%25" } else { "site=b c" });
        fs::create_dir_all(&folder).unwrap();
        let rows = Rows::new(table * 100..(table + 1) * 100);
        write_bcolz(&folder.join(format!("{name}.bcolz")), &rows, 64);
    }
}

#[tokio::test]
async fn names_of_a_listing_are_taken_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    write_named_tables(&dir.path().join("t"));
    let server = Server::start(files_in(dir.path()), Fault::None);
    let query = |place: &str| {
        format!(
            "SELECT site, count(*) AS n, sum(id) AS s, max(name) AS m FROM '{place}/t' \
             GROUP BY site ORDER BY site"
        )
    };
    let expected = rows(&session(), &query(&dir.path().display().to_string())).await;
    assert!(expected.contains("| 100%25 | 300 |"), "{expected}");
    assert_eq!(rows(&session(), &query(&server.address)).await, expected);
}
