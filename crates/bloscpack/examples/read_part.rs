//! Describes a `.blp` file and writes some of its data: `cargo run --example read_part -- BLP
//! [START LEN]`.

use core::error::Error;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use bloscpack::BlpFile;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let Some(input) = args.next() else { return Err("give a .blp file".into()) };
    let file = BlpFile::open(&input)?;
    let header = file.header();
    eprintln!(
        "{input}: version {}, {} bytes in {} chunks, checksum {}",
        header.version().number(),
        file.nbytes()?,
        file.nchunks()?,
        header.checksum()
    );
    if let Some(json) = file.metadata().and_then(|metadata| metadata.json()) {
        eprintln!("metadata: {json}");
    }
    if let Some(array) = file.array_info()? {
        eprintln!("array of {} with shape {:?}", array.dtype(), array.shape());
    }
    let (Some(start), Some(len)) = (args.next(), args.next()) else { return Ok(()) };
    let mut data = file.reader();
    data.seek(SeekFrom::Start(start.parse()?))?;
    io::copy(&mut data.take(len.parse()?), &mut io::stdout())?;
    Ok(())
}
