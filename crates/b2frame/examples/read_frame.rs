//! Describes a Blosc2 frame and writes its data: `cargo run --example read_frame -- FRAME [FILE]`.

use core::error::Error;
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use b2frame::{Budget, SChunk};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let Some(input) = args.next() else { return Err("give a frame to read".into()) };
    let schunk = Arc::new(SChunk::open(&input)?);
    println!(
        "{input}: {} bytes in {} chunks, items of {}",
        schunk.nbytes(),
        schunk.nchunks(),
        schunk.typesize()
    );
    for layer in schunk.meta().iter() {
        println!("metalayer {} of {} bytes", layer.name_text(), layer.content.len());
    }
    for info in schunk.chunk_infos().take(3) {
        let info = info?;
        println!(
            "chunk {} at {:?}: {} bytes as {}",
            info.nchunk, info.offset, info.nbytes, info.cbytes
        );
    }

    let Some(output) = args.next() else { return Ok(()) };
    let mut file = File::create(output)?;
    let options = Budget::default();
    match schunk.nd_array()? {
        Some(array) => array.for_each_band(|bytes| write(&mut file, bytes)),
        None => {
            schunk.decode_ordered(0..schunk.nchunks(), &options, |_, bytes| write(&mut file, bytes))
        }
    }
}

fn write(file: &mut File, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    Ok(file.write_all(bytes)?)
}
