//! Compresses an array of floats with several codecs and prints the sizes.
//!
//! `cargo run --example compress_buffer`

use core::error::Error;

use blosc_chunk::{CParams, Chunk, CodecId, Decoder, Encoder, Level, Pipeline};

fn main() -> Result<(), Box<dyn Error>> {
    let items: Vec<f64> = (0..250_000).map(|i| (f64::from(i) * 1e-4).sin()).collect();
    let data: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
    let mut decoder = Decoder::default();

    println!("codec    filter      cbytes  cratio  blocks");
    for (codec, filters) in [
        (CodecId::LZ4, "none"),
        (CodecId::LZ4, "shuffle"),
        (CodecId::LZ4, "bitshuffle"),
        (CodecId::BLOSCLZ, "shuffle"),
        (CodecId::ZSTD, "shuffle"),
    ] {
        let params = CParams::default()
            .codec(codec)
            .clevel(Level::DEFAULT)
            .typesize(8)
            .filters(Pipeline::parse(filters)?);
        let bytes = Encoder::new(params)?.encode(&data)?;
        let chunk = Chunk::parse(&bytes)?;
        let cratio = data.len() as f64 / bytes.len() as f64;
        println!("{codec:8} {filters:10} {:7}  {cratio:6.2}  {:6}", bytes.len(), chunk.nblocks());
        assert_eq!(decoder.decode(&bytes)?, data);
    }
    Ok(())
}
