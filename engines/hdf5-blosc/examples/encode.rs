//! Writes a chunk of 2500 `i4` items as each filter stores it: `cargo run --example encode -- FOLDER`.
//! `tests/python/read_back.py` puts them into a file of h5py and reads it.

use std::{fs, path::Path};

use hdf5_blosc::blosc_chunk::{CParams, CodecId};

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder")?;
    let data: Vec<u8> = (0..2500_u32).flat_map(|n| (n / 3).to_le_bytes()).collect();
    for (name, codec) in
        [("blosclz", CodecId::BLOSCLZ), ("lz4", CodecId::LZ4), ("zstd", CodecId::ZSTD)]
    {
        let params = CParams::default().codec(codec).typesize(4);
        let (stored, client_data) = hdf5_blosc::encode_32001(&data, params.clone())?;
        fs::write(Path::new(&folder).join(format!("{name}.32001")), stored)?;
        println!("{name} 32001 {client_data:?}");
        let (stored, client_data) = hdf5_blosc::encode_32026(&data, params)?;
        fs::write(Path::new(&folder).join(format!("{name}.32026")), stored)?;
        println!("{name} 32026 {client_data:?}");
    }
    Ok(())
}
