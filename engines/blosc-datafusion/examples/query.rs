//! Sums a column of a table for each value of another: query TABLE KEY VALUE

use blosc_datafusion::datafusion::functions_aggregate::expr_fn::sum;
use blosc_datafusion::datafusion::prelude::{col, lit};
use blosc_datafusion::{BloscTable, session};

#[tokio::main]
async fn main() -> Result<(), Box<dyn core::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, key, value] = args.as_slice() else {
        return Err("usage: query TABLE KEY VALUE".into());
    };
    let table = BloscTable::open(path)?;
    println!("{} rows", table.nrows());
    let sums = session()
        .read_table(table.into_provider())?
        .filter(col(value).gt(lit(0)))?
        .aggregate(vec![col(key)], vec![sum(col(value))])?
        .sort(vec![col(key).sort(true, false)])?;
    sums.show().await?;
    Ok(())
}
