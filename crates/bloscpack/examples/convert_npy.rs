//! Converts between `.npy` and `.blp`, by the name of the input: `cargo run --example convert_npy
//! -- FROM TO`.

use core::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};

use bloscpack::numpy::npy;
use bloscpack::{Reader, WriteOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(from), Some(to)) = (args.next(), args.next()) else {
        return Err("give a .npy or .blp file and the file to write".into());
    };
    let input = BufReader::new(File::open(&from)?);
    let mut output = BufWriter::new(File::create(&to)?);
    if from.ends_with(".npy") {
        npy::to_blp(input, output, WriteOptions::default())?;
        return Ok(());
    }
    let info = npy::from_blp(&mut Reader::new(input)?, &mut output)?;
    output.flush()?;
    println!("{to}: {} with shape {:?}", info.dtype(), info.shape());
    Ok(())
}
