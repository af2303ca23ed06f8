//! Writes arrays of Zarr 3 with every codec and reads a part of each:
//! `cargo run --example array -- FOLDER`.

use std::sync::Arc;

use zarrs::array::{ArrayBuilder, data_type};
use zarrs::filesystem::FilesystemStore;
use zarrs_blosc::{BloscCodec, Config};
use zarrs_codec::BytesToBytesCodecTraits;

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder")?;
    let items: Vec<i32> =
        (0..8000_i64).map(|n| i32::try_from(n * n % 1000)).collect::<Result<_, _>>()?;
    let store = Arc::new(FilesystemStore::new(&folder)?);
    for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        for shuffle in ["noshuffle", "shuffle", "bitshuffle"] {
            let config = serde_json::json!({
                "cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": 4, "blocksize": 0,
            });
            let config = config.as_object().cloned().unwrap_or_default();
            let codec: Arc<dyn BytesToBytesCodecTraits> =
                Arc::new(BloscCodec::new(Config::from_v3(config)?));
            let name = format!("/{cname}_{shuffle}.zarr");
            let array = ArrayBuilder::new(vec![100, 80], vec![60, 30], data_type::int32(), 0_i32)
                .bytes_to_bytes_codecs(vec![codec])
                .build(Arc::clone(&store), &name)?;
            array.store_metadata()?;
            let all = array.subset_all();
            array.store_array_subset(&all, &items)?;
            // Reading two rows decodes, of each chunk, only the blocks that hold them.
            let rows = zarrs::array::ArraySubset::new_with_ranges(&[10..12, 0..80]);
            let part: Vec<i32> = array.retrieve_array_subset(&rows)?;
            assert_eq!(part, items[800..960]);
        }
    }
    Ok(())
}
