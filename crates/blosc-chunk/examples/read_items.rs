//! Reads a few items of a chunk in a file, and fetches only the bytes that contain them.
//!
//! `cargo run --example read_items`

use core::error::Error;
use core::ops::Range;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use blosc_chunk::{
    CParams, CodecId, Scratch, compress,
    partial::{ChunkIndex, IndexStep},
};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join("read_items.chunk");
    let data: Vec<u8> = (0..2_000_000u32).flat_map(|i| (i / 3).to_le_bytes()).collect();
    std::fs::write(&path, compress(&data, &CParams::default().codec(CodecId::LZ4).typesize(4))?)?;
    let mut file = File::open(&path)?;

    let mut head = fetch(&mut file, 0..32)?;
    let index = loop {
        match ChunkIndex::parse(&head)? {
            IndexStep::Ready(index) => break index,
            IndexStep::Needs(len) => head.extend(fetch(&mut file, head.len()..len)?),
        }
    };

    let items = 1_500_000..1_500_010;
    let plan = index.plan(items.start * 4..items.end * 4, 0)?;
    let parts: Result<Vec<_>, _> =
        plan.ranges().iter().map(|range| fetch(&mut file, range.clone())).collect();
    let (parts, mut dest) = (parts?, [0; 40]);
    index.decode(&plan, &parts, &mut dest, &mut Scratch::default())?;

    let fetched: usize = head.len() + parts.iter().map(Vec::len).sum::<usize>();
    println!("fetched {fetched} of {} bytes", index.header().cbytes());
    for (item, bytes) in items.zip(dest.as_chunks().0) {
        println!("item {item}: {}", u32::from_le_bytes(*bytes));
    }
    std::fs::remove_file(path)?;
    Ok(())
}

/// A range of the file. In an object store, this would be a request.
fn fetch(file: &mut File, range: Range<usize>) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = vec![0; range.len()];
    file.seek(SeekFrom::Start(range.start as u64))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}
