//! Appends a file to a `.blp` file, with more room for offsets if they are used up:
//! `cargo run --example append_file -- BLP FILE`.

use core::error::Error;
use std::fs::{self, File};

use blosc_io::FileStore;
use bloscpack::{AppendOptions, BlpFile, RepackOptions, append, error::Param, repack};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(blp), Some(input)) = (args.next(), args.next()) else {
        return Err("give a .blp file and a file to append to it".into());
    };
    let nbytes = fs::metadata(&input)?.len();
    let append_to = |blp: &str| {
        let mut store = FileStore::open_rw(blp)?;
        Ok::<_, Box<dyn Error>>(append(
            &mut store,
            File::open(&input)?,
            nbytes,
            &AppendOptions::default(),
        )?)
    };
    let report = append_to(&blp).or_else(|error| match error.downcast_ref() {
        Some(bloscpack::Error::Param(Param::NotEnoughSpace { .. })) => {
            let larger = format!("{blp}.larger");
            repack(&BlpFile::open(&blp)?, File::create(&larger)?, &RepackOptions::default())?;
            let report = append_to(&larger)?;
            fs::rename(&larger, &blp)?;
            Ok(report)
        }
        _ => Err(error),
    })?;
    println!("{blp}: {} more chunks, {} bytes", report.added, report.len);
    Ok(())
}
