//! SQL over tables of bcolz, of Blosc2 stores and arrays: `b2-sql 'SELECT * FROM "trades.bcolz"'`.

mod output;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionConfig;
use futures::StreamExt as _;

use output::RowWriter;

/// Runs SQL over tables of bcolz, tables of Blosc2 stores and arrays, which are named in the query
/// by their paths: 'trades.bcolz', 'survey.b2z::/obs', 'points.b2nd', or a folder of such.
#[derive(Parser)]
#[command(name = "b2-sql", version, after_help = EXAMPLES)]
struct Args {
    /// The query; several are separated by semicolons, and the rows of the last are written.
    query: String,
    /// How rows are written.
    #[arg(short, long, value_enum, default_value = "table")]
    format: Format,
    /// Writes to this file, which must not exist, instead of to standard output.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Threads [default: as many as there are processors].
    #[arg(short, long)]
    threads: Option<usize>,
    /// Most memory of sorting, grouping and joining, in MiB; what needs more goes to files.
    #[arg(short, long, default_value = "1024")]
    memory: usize,
}

const EXAMPLES: &str = "\
Examples:
  b2-sql \"SELECT sym, avg(price) FROM 'trades.bcolz' WHERE volume > 9000 GROUP BY sym\"
  b2-sql -f csv -o cold.csv \"SELECT * FROM 'survey.b2z::/obs' WHERE temperature < 0\"
  b2-sql \"EXPLAIN ANALYZE SELECT count(*) FROM 'points.b2nd' WHERE x > 0\"";

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Columns with lines around them; takes all rows into memory.
    Table,
    /// Comma-separated values with a header; a null is nothing, an empty text "".
    Csv,
    /// One object of JSON for each row and line.
    Json,
    /// A Parquet file, compressed by Zstandard.
    Parquet,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let threads = args.threads.unwrap_or(0);
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if threads > 0 {
        builder.worker_threads(threads);
    }
    let done = builder
        .build()
        .map_err(DataFusionError::from)
        .and_then(|runtime| runtime.block_on(run(&args)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has closed the pipe.
        Err(DataFusionError::IoError(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("b2-sql: {}", message(&error));
            ExitCode::FAILURE
        }
    }
}

/// The error and its causes, without the prefix that the engine adds.
fn message(error: &DataFusionError) -> String {
    let root = error.find_root();
    let mut text = match root {
        DataFusionError::External(error) => error.to_string(),
        other => other.strip_backtrace(),
    };
    let mut source = match root {
        DataFusionError::External(error) => error.source(),
        _ => None,
    };
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

async fn run(args: &Args) -> Result<()> {
    let mut config = SessionConfig::new().with_information_schema(true);
    if let Some(threads) = args.threads.filter(|threads| *threads > 0) {
        config = config.with_target_partitions(threads);
    }
    let runtime = RuntimeEnvBuilder::new().with_memory_limit(args.memory << 20, 1.0).build_arc()?;
    let builder = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_default_features();
    let session = blosc_datafusion::session_with(builder);
    let queries = split(&args.query);
    let Some((last, before)) = queries.split_last() else {
        return Err(DataFusionError::Plan("the query is empty".to_owned()));
    };
    for query in before {
        session.sql(query).await?.collect().await?;
    }
    let frame = session.sql(last).await?;
    let mut rows = frame.execute_stream().await?;
    let mut writer = RowWriter::new(args.format, output(args)?, &rows.schema())?;
    while let Some(batch) = rows.next().await {
        writer.write(batch?)?;
    }
    writer.finish()
}

fn output(args: &Args) -> io::Result<Box<dyn Write + Send>> {
    Ok(match &args.output {
        Some(path) => {
            let named = |error: io::Error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            };
            Box::new(BufWriter::new(File::create_new(path).map_err(named)?))
        }
        None => Box::new(BufWriter::new(io::stdout())),
    })
}

/// Splits the text at semicolons outside of quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut queries, mut start, mut quote) = (Vec::new(), 0, None);
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), character) if open == character => quote = None,
            (None, ';') => {
                queries.push(text.get(start..at).unwrap_or_default());
                start = at.saturating_add(1);
            }
            _ => {}
        }
    }
    queries.push(text.get(start..).unwrap_or_default());
    queries.into_iter().map(str::trim).filter(|query| !query.is_empty()).collect()
}
