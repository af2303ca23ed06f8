//! Prints the numbers of the rows that meet a condition, and the sum and mean of a column over
//! them: `cargo run --example query_table -- ROOTDIR 'price > 10' price`.

use core::error::Error;

use bcolz_store::CTable;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [rootdir, condition, column] = &args[..] else {
        return Err("give a ctable, a condition and a column".into());
    };
    let table = CTable::open(rootdir)?;
    let query = table.scan().filter(condition)?;
    for batch in query.clone().columns(&[])?.limit(10).batches() {
        println!("{:?}", batch?.rows);
    }
    let found = query.aggregate(column)?;
    println!(
        "{} rows, mean {:?}, from {:?} to {:?}",
        found.count,
        found.mean(),
        found.min,
        found.max
    );
    Ok(())
}
