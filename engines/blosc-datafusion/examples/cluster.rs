//! A cluster of Ballista over tables of bcolz, of Blosc2 stores and arrays:
//!
//! ```text
//! cluster scheduler 127.0.0.1:50050
//! cluster executor  127.0.0.1:50050 50051      (on every machine; uses this port and the next)
//! cluster query     127.0.0.1:50050 "SELECT sym, avg(price) FROM '/data/trades' GROUP BY sym"
//! ```
//!
//! The names of tables have to lead to the same tables in every process: addresses of an object
//! store, or paths on a file system that all machines see.

use std::sync::Arc;

use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use blosc_datafusion::{BloscLogicalCodec, BloscPhysicalCodec, cluster_config, cluster_session};

type Result<T> = core::result::Result<T, Box<dyn core::error::Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    // Plans are walked by recursion.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(16 << 20)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match args.as_slice() {
            ["scheduler", address] => scheduler(address).await,
            ["executor", scheduler, port] => executor(scheduler, port.parse()?).await,
            ["query", scheduler, query] => self::query(scheduler, query).await,
            _ => Err("usage: cluster scheduler|executor|query HOST:PORT ...".into()),
        }
    })
}

async fn scheduler(address: &str) -> Result<()> {
    let (host, port) = host_and_port(address)?;
    let config = SchedulerConfig {
        bind_host: host.to_owned(),
        external_host: host.to_owned(),
        bind_port: port,
        override_config_producer: Some(Arc::new(cluster_config)),
        override_logical_codec: Some(Arc::new(BloscLogicalCodec::default())),
        override_physical_codec: Some(Arc::new(BloscPhysicalCodec::default())),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    Ok(start_server(cluster, address.parse()?, Arc::new(config)).await?)
}

async fn executor(scheduler: &str, port: u16) -> Result<()> {
    let (host, scheduler_port) = host_and_port(scheduler)?;
    let config = ExecutorProcessConfig {
        bind_host: "0.0.0.0".to_owned(),
        port,
        grpc_port: port.checked_add(1).ok_or("no port is left for the second service")?,
        scheduler_host: host.to_owned(),
        scheduler_port,
        // The scheduler may come later.
        scheduler_connect_timeout_seconds: 30,
        override_config_producer: Some(Arc::new(cluster_config)),
        override_logical_codec: Some(Arc::new(BloscLogicalCodec::default())),
        override_physical_codec: Some(Arc::new(BloscPhysicalCodec::default())),
        ..ExecutorProcessConfig::default()
    };
    Ok(start_executor_process(Arc::new(config)).await?)
}

async fn query(scheduler: &str, query: &str) -> Result<()> {
    let session = cluster_session(&format!("http://{scheduler}"), cluster_config())?;
    Ok(session.sql(query).await?.show().await?)
}

fn host_and_port(address: &str) -> Result<(&str, u16)> {
    let (host, port) = address.rsplit_once(':').ok_or("an address is HOST:PORT")?;
    Ok((host, port.parse()?))
}
