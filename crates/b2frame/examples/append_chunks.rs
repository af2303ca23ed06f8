//! Appends standard input to a frame, line by line, and commits now and then:
//! `tail -f LOG | cargo run --example append_chunks -- FRAME`. Readers follow with
//! `SChunk::refresh`.

use core::error::Error;
use std::io::BufRead;
use std::path::Path;

use b2frame::{FrameParams, SChunkWriter};
use blosc_chunk::{CParams, CodecId};

/// Lines between two commits.
const LINES: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("give the frame to append to")?;
    let mut writer = if Path::new(&path).exists() {
        SChunkWriter::open(&path)?
    } else {
        let cparams = CParams::default().codec(CodecId::ZSTD).typesize(1);
        SChunkWriter::create(&path, &FrameParams::new(cparams).chunksize(256 << 10))?
    };

    for (n, line) in std::io::stdin().lock().lines().enumerate() {
        writer.append(line?.as_bytes())?;
        writer.append(b"\n")?;
        if n % LINES == LINES - 1 {
            // A commit is atomic: readers of the frame see whole lines, also after a crash.
            writer.commit()?;
        }
    }
    let schunk = writer.finish()?;

    println!("{path}: {} bytes in {} chunks", schunk.nbytes(), schunk.nchunks());
    if schunk.usage()?.dead_bytes > schunk.frame_len() / 2 {
        SChunkWriter::open(&path)?.compact()?;
    }
    Ok(())
}
