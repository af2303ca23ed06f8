//! Prints the content of a frame on a web server or in an object store, and its requests: remote
//! URL

use std::sync::Arc;

use b2frame::SChunk;
use blosc_object_store::{Address, Cache};

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let Some(address) = std::env::args().nth(1) else { return Err("usage: remote URL".into()) };
    let cache = Cache::new(64 << 20)?;
    let schunk = Arc::new(SChunk::from_store(Arc::new(Address::parse(&address)?.open(&cache)?))?);
    println!("{} chunks, {} bytes", schunk.nchunks(), schunk.nbytes());
    if let Some(array) = schunk.nd_array()? {
        println!("an array of {:?}, {}", array.shape(), array.dtype());
    }
    let counts = cache.counts();
    println!("{} requests in {} rounds, {} bytes", counts.requests, counts.rounds, counts.nbytes);
    Ok(())
}
