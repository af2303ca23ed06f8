//! Compresses a file to a `.blp` file: `cargo run --example pack_file -- FILE [BLP]`.

use core::error::Error;
use std::fs::File;
use std::io;

use blosc_chunk::CodecId;
use bloscpack::{Checksum, WriteOptions, Writer};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let Some(input) = args.next() else { return Err("give a file to compress".into()) };
    let output = args.next().unwrap_or_else(|| format!("{input}.blp"));

    let mut data = File::open(&input)?;
    // With a known size the file has offsets, so that readers can start anywhere and it can be
    // appended to.
    let defaults = WriteOptions::default();
    let cparams = defaults.cparams.clone().codec(CodecId::ZSTD).typesize(4);
    let options =
        defaults.nbytes(Some(data.metadata()?.len())).checksum(Checksum::Sha256).cparams(cparams);
    let mut writer = Writer::seekable(File::create(&output)?, options)?;
    io::copy(&mut data, &mut writer)?;
    let blp = writer.finish()?;
    println!("{output}: {} bytes", blp.metadata()?.len());
    Ok(())
}
