//! Writes a ctable as a file of Parquet, or makes a ctable of such a file:
//! `cargo run --features parquet --example parquet_table -- FROM TO`.

use core::error::Error;
use std::fs::File;

use bcolz_store::CTable;
use bcolz_store::parquet::{self, WriteOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(from), Some(to)) = (args.next(), args.next()) else {
        return Err("give a ctable and a file, or a file and a directory".into());
    };
    let rows = if std::path::Path::new(&from).is_dir() {
        let table = CTable::open(&from)?;
        parquet::write(
            table.scan().record_batches()?,
            File::create(&to)?,
            &WriteOptions::default(),
        )?
    } else {
        parquet::read(&File::open(&from)?, &to, &|_, options| options)?
    };
    println!("{to}: {rows} rows");
    Ok(())
}
