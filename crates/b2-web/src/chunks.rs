//! How well each chunk is compressed.

use blosc_data::{ChunkSizes, Data};
use serde_json::{Value, json};

use crate::fault::{Fault, Result};

/// Chunks of one answer: the header of each may be a part of its own to fetch.
const MAX_CHUNKS: u64 = 4096;

fn sizes_of(data: &Data) -> Option<ChunkSizes> {
    let frame = match data {
        Data::Array(array) => array.frame(),
        Data::Bytes(bytes) => bytes.frame(),
        Data::Objects(objects) => objects.frame(),
        _ => None,
    };
    frame.cloned().map(ChunkSizes::Frame)
}

/// Number of chunks whose sizes are known; `None` for data without such.
pub(crate) fn count(data: &Data) -> Option<u64> {
    sizes_of(data).map(|chunks| chunks.nchunks())
}

/// The sizes of `count` chunks from number `start` on, before and after compression.
pub(crate) fn sizes(data: &Data, start: u64, count: u64) -> Result<Value> {
    let chunks =
        sizes_of(data).ok_or_else(|| Fault::request("the sizes of chunks are not known"))?;
    let end = start.saturating_add(count.min(MAX_CHUNKS)).min(chunks.nchunks());
    let sizes: Vec<_> = (start.min(end)..end).map(|nchunk| chunks.sizes(nchunk)).collect();
    Ok(json!({
        "first": start, "nchunks": chunks.nchunks(), "grid": chunks.grid(), "sizes": sizes,
    }))
}
