//! Compresses a file to a Blosc2 frame: `cargo run --example write_frame -- FILE FRAME [TYPESIZE]`.

use core::error::Error;
use std::fs::File;

use b2frame::{CompressOptions, FrameParams, FrameWriter, compress_stream};
use blosc_chunk::{CParams, CodecId};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(input), Some(output)) = (args.next(), args.next()) else {
        return Err("give a file to compress and the frame to write".into());
    };
    let typesize = args.next().map_or(Ok(1), |text| text.parse())?;

    let cparams = CParams::default().codec(CodecId::ZSTD).typesize(typesize);
    let params = FrameParams::new(cparams).chunksize(1 << 20).vlmetalayer("name", input.as_bytes());
    let mut writer = FrameWriter::create(&output, &params)?;
    let mut stream = File::open(&input)?;
    let totals = compress_stream(&mut stream, &mut writer, &CompressOptions::default(), |_| {})?;
    writer.finish()?;

    println!(
        "{input}: {} bytes in {} chunks to {} bytes",
        totals.nbytes, totals.nchunks, totals.cbytes
    );
    Ok(())
}
