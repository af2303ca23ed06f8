//! Queries in a cluster of a scheduler and two executors give the same rows as in one process.

#[cfg(feature = "http")]
use core::sync::atomic::Ordering;
use core::time::Duration;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_executor::new_standalone_executor_from_state;
use ballista_scheduler::standalone::new_standalone_scheduler_from_state;
#[cfg(feature = "http")]
use blosc_datafusion::BloscPhysicalCodec;
use blosc_datafusion::{cluster_config, cluster_session};

use super::*;

/// Starts a cluster in this process.
async fn cluster() -> SessionContext {
    let config = || cluster_config().with_target_partitions(4);
    let state = SessionStateBuilder::new().with_default_features().with_config(config()).build();
    let address = new_standalone_scheduler_from_state(&state).await.unwrap();
    let url = format!("http://localhost:{}", address.port());
    for _ in 0..2 {
        let scheduler = SchedulerGrpcClient::connect(url.clone()).await.unwrap();
        new_standalone_executor_from_state(scheduler, 2, &state).await.unwrap();
    }
    cluster_session(&url, config()).unwrap()
}

const QUERIES: &[&str] = &[
    "SELECT count(*) FROM t",
    // The condition rules out statistics: each row must arrive once.
    "SELECT count(*), count(at), sum(id), min(x), max(v) FROM t WHERE id >= 0",
    "SELECT name, count(*), avg(v) FROM t WHERE v > 2000 GROUP BY name ORDER BY name",
    "SELECT id, name, x FROM t WHERE name = 'n7' AND id % 3 = 0 ORDER BY id LIMIT 5",
    "SELECT * FROM t ORDER BY v DESC, id LIMIT 3",
    "SELECT count(*) FROM (SELECT id FROM t LIMIT 17)",
    "SELECT a.name, count(*) FROM t a JOIN t b ON a.id = b.id + 1 GROUP BY a.name ORDER BY a.name",
    "SELECT id FROM t WHERE id > (SELECT avg(id) FROM t) AND x > 0.9 ORDER BY id",
];

/// The rows of a table as it is printed, without the names of its columns.
#[cfg(any(feature = "http", feature = "s3-emulator"))]
fn cells(printed: &str) -> Vec<Vec<&str>> {
    let lines = printed.lines().filter(|line| line.starts_with('|')).skip(1);
    lines.map(|line| line.split('|').map(str::trim).collect()).collect()
}

/// 20 tables with 150 rows each.
fn write_tables(folder: &Path) {
    for table in 0..20_u64 {
        let rows = Rows::new(table * 150..(table + 1) * 150);
        write_bcolz(&folder.join(format!("part-{table:02}.bcolz")), &rows, 64);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_gives_the_rows_that_one_process_gives() {
    let dir = tempfile::tempdir().unwrap();
    write_tables(dir.path());
    let (local, cluster) = (threaded(4), cluster().await);
    for query in QUERIES {
        let query = query.replace(" t", &format!(" '{}'", dir.path().display()));
        assert_eq!(rows(&cluster, &query).await, rows(&local, &query).await, "{query}");
    }
    let create =
        format!("CREATE EXTERNAL TABLE t STORED AS BCOLZ LOCATION '{}'", dir.path().display());
    cluster.sql(&create).await.unwrap();
    let counted = rows(&cluster, "SELECT count(id) FROM t").await;
    assert!(counted.contains("| 3000 "), "{counted}");
    // Damage ends the query in a cluster as well.
    fs::remove_file(dir.path().join("part-07.bcolz/v/data/__0.blp")).unwrap();
    let failed = cluster.sql("SELECT sum(v) FROM t").await.unwrap().collect().await.unwrap_err();
    let text = failed.to_string();
    assert!(text.contains("part-07.bcolz") && text.contains("column v, rows 0 to"), "{text}");
}

#[cfg(feature = "http")]
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_over_a_web_server_gives_the_rows_of_one_process_over_files() {
    use super::server::{Fault, Server, files_in};

    let dir = tempfile::tempdir().unwrap();
    // A table for each month of two years, in folders that are columns.
    for table in 0..24_u64 {
        let folder = dir.path().join(format!("tables/year={}", 2024 + table / 12));
        fs::create_dir_all(&folder).unwrap();
        let rows = Rows::new(table * 125..(table + 1) * 125);
        write_bcolz(&folder.join(format!("month-{table:02}.bcolz")), &rows, 64);
    }
    let server = Server::start(files_in(dir.path()), Fault::None);
    let (local, cluster) = (threaded(4), cluster().await);
    let last = "SELECT year, count(x) AS n, max(name) AS m FROM t WHERE v > 0 GROUP BY year \
        ORDER BY year";
    for query in QUERIES.iter().copied().chain([last]) {
        let over = |place: &str| query.replace(" t", &format!(" '{place}/tables'"));
        let expected = rows(&local, &over(&dir.path().display().to_string())).await;
        // Several processes, and one, query the same addresses.
        for session in [&cluster, &local] {
            let remote = rows(session, &over(&server.address)).await;
            assert_eq!(cells(&remote), cells(&expected), "{query}");
            assert!(!cells(&remote).is_empty(), "{query}");
        }
    }
    // A single table.
    let month = "tables/year=2024/month-03.bcolz";
    let query = |place: &str| format!("SELECT max(name), count(*) FROM '{place}/{month}'");
    let remote = rows(&cluster, &query(&server.address)).await;
    let near = rows(&local, &query(&dir.path().display().to_string())).await;
    assert_eq!(cells(&remote), cells(&near));
    // Each task opens its tables separately; a client for each would hold some 10,000 connections.
    let connections = server.connections.load(Ordering::Relaxed);
    assert!(connections < 500, "{connections} connections");
}

/// A plan as it comes to an executor.
#[cfg(feature = "http")]
fn shipped(plan: &Arc<dyn ExecutionPlan>, session: &SessionContext) -> Arc<dyn ExecutionPlan> {
    use datafusion_proto::physical_plan::{
        DefaultPhysicalProtoConverter, PhysicalExtensionCodec as _,
    };

    let (codec, converter) = (BloscPhysicalCodec::default(), DefaultPhysicalProtoConverter {});
    let mut bytes = vec![];
    codec.try_encode(Arc::clone(plan), &mut bytes, &converter).unwrap();
    codec.try_decode(&bytes, &[], &session.task_ctx(), &converter).unwrap()
}

#[cfg(feature = "http")]
#[tokio::test(flavor = "multi_thread")]
async fn a_remote_table_that_is_written_again_ends_the_plan_that_an_executor_got() {
    use super::remote::write_named_tables;
    use super::server::{Fault, Server, files_in};

    let dir = tempfile::tempdir().unwrap();
    write_named_tables(&dir.path().join("t"));
    let rewritten = tempfile::tempdir().unwrap();
    write_named_tables(&rewritten.path().join("t"));
    for name in ["one.b2z", "one.b2nd"] {
        for (folder, numbers) in [(&dir, 0..40_000), (&rewritten, 40_000..80_000)] {
            let (path, all) = (folder.path().join(name), Rows::new(numbers));
            match name {
                "one.b2z" => write_store(&path, &all),
                _ => write_records(&path, &all, 2048),
            }
        }
    }
    let server = Server::start(files_in(dir.path()), Fault::None);
    let session = threaded(2);
    let printed = |batches: &[_]| pretty_format_batches(batches).unwrap().to_string();
    let mut plans = Vec::new();
    for name in ["t", "one.b2z", "one.b2nd"] {
        let query = format!("SELECT * FROM '{}/{name}' WHERE id < 250", server.address);
        let planned = plan(&session, &query).await;
        let shipped = shipped(&planned, &session);
        plans.push((name, Arc::clone(&shipped)));
        let run = |plan| collect(plan, session.task_ctx());
        let lines = |batches: &[_]| {
            let mut lines: Vec<String> = printed(batches).lines().map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        };
        let here = lines(&run(planned).await.unwrap());
        let there = lines(&run(shipped).await.unwrap());
        assert!(here.len() > 250 && here == there, "{name}: {} {}", here.len(), there.len());
    }
    // As many rows as before, with other tags.
    server.replace(files_in(rewritten.path()));
    for (name, plan) in plans {
        // This process has no table open.
        let plan = shipped(&plan, &session);
        let failed = collect(plan, session.task_ctx()).await.unwrap_err().to_string();
        let changed = "was changed since the query was planned";
        assert!(failed.contains(&format!("/{name}")) && failed.contains(changed), "{failed}");
    }
}

/// Kills a process at the end of the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ended = self.0.kill().and_then(|()| self.0.wait());
    }
}

fn example(args: &[&str]) -> Command {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().and_then(Path::parent).unwrap();
    let mut command = Command::new(built.join("examples/cluster"));
    command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Two ports in a row that are free.
fn free_ports() -> u16 {
    (20_000..60_000)
        .step_by(7)
        .find(|port| {
            let bound = [*port, *port + 1].map(|port| TcpListener::bind(("0.0.0.0", port)));
            bound.iter().all(Result::is_ok)
        })
        .unwrap()
}

/// The processes of the example: a scheduler and two executors.
struct Processes {
    scheduler: String,
    variables: Vec<(String, String)>,
    running: Vec<Process>,
}

impl Processes {
    /// Starts them with these variables in their environment.
    fn start(variables: &[(&str, &str)]) -> Self {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let scheduler = format!("127.0.0.1:{}", free_ports());
        let mut processes =
            Self { scheduler, variables: variables.iter().map(own).collect(), running: vec![] };
        processes.run(&["scheduler", &processes.scheduler.clone()], processes.scheduler.clone());
        for _ in 0..2 {
            let port = free_ports();
            let address = format!("127.0.0.1:{port}");
            let scheduler = processes.scheduler.clone();
            processes.run(&["executor", &scheduler, &port.to_string()], address);
        }
        processes
    }

    /// Starts a process, and waits until it answers.
    fn run(&mut self, args: &[&str], address: String) {
        let process = example(args).envs(self.variables.clone()).spawn().unwrap();
        self.running.push(Process(process));
        let started = Instant::now();
        while std::net::TcpStream::connect(&address).is_err() {
            assert!(started.elapsed() < Duration::from_secs(90), "{args:?} does not answer");
            std::thread::yield_now();
        }
    }

    /// The output of the example for a query.
    fn query(&self, query: &str) -> String {
        let output = example(&["query", &self.scheduler, query])
            .envs(self.variables.clone())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert!(output.status.success(), "{query}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn processes_of_the_example_are_a_cluster() {
    let dir = tempfile::tempdir().unwrap();
    write_tables(dir.path());
    let processes = Processes::start(&[]);
    let query = format!("SELECT count(id), sum(id) FROM '{}'", dir.path().display());
    let text = processes.query(&query);
    assert!(text.contains("3000") && text.contains("4498500"), "{text}");
}

/// A folder of tables in an object store; each process has the credentials in its environment.
#[cfg(feature = "s3-emulator")]
#[test]
fn processes_of_the_example_read_a_folder_of_tables_in_s3() {
    let dir = tempfile::tempdir().unwrap();
    write_tables(dir.path());
    let emulator = emulator::Emulator::start();
    emulator.upload(dir.path());
    let processes = Processes::start(&emulator.variables());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let local = threaded(4);
    for query in QUERIES {
        let over = |place: &str| query.replace(" t", &format!(" '{place}'"));
        let expected = runtime.block_on(rows(&local, &over(&dir.path().display().to_string())));
        let found = processes.query(&over("s3://bucket/data"));
        assert_eq!(cells(&found), cells(&expected), "{query}");
    }
    // A client without credentials is refused: none came to it from the cluster.
    let refused = example(&["query", &processes.scheduler, "SELECT * FROM 's3://bucket/data'"])
        .env("AWS_ENDPOINT_URL", &emulator.address)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(!refused.status.success(), "{refused:?}");
}
