//! The codec of our own name, over chunks and frames.

use std::borrow::Cow;
use std::sync::Arc;

use b2frame::FrameParams;
use blosc_chunk::CParams;
use zarrs::array::{Array, ArraySubset};
use zarrs::filesystem::FilesystemStore;
use zarrs_blosc::{Blosc2Codec, Config};
use zarrs_codec::{BytesRepresentation, BytesToBytesCodecTraits as _, CodecOptions};

fn codec() -> Blosc2Codec {
    let config = serde_json::json!({
        "cname": "zstd", "clevel": 5, "shuffle": "shuffle", "typesize": 8, "blocksize": 0
    });
    let serde_json::Value::Object(map) = config else { panic!("a map") };
    Blosc2Codec::new(Config::from_v3(map).unwrap())
}

fn data() -> Vec<u8> {
    (0..5000_u64).flat_map(u64::to_le_bytes).collect()
}

#[test]
fn chunks_and_frames_are_decoded_and_other_sizes_refused() {
    let (codec, data, options) = (codec(), data(), CodecOptions::default());
    let size = |n: usize| BytesRepresentation::FixedSize(n as u64);
    let chunk = codec.encode(Cow::Borrowed(&data), &options).unwrap().into_owned();
    // The header of a chunk of Blosc2 has 32 bytes and a version of its own.
    assert_eq!(chunk[0], 5);
    let params = FrameParams::new(CParams::default().typesize(8)).chunksize(8000);
    let frame = b2frame::to_cframe(&data, &params).unwrap();
    for stored in [&chunk, &frame] {
        let decode = |bytes: &[u8], size| {
            codec.decode(Cow::Borrowed(bytes), &size, &options).map(Cow::into_owned)
        };
        assert!(decode(stored, size(data.len())).unwrap() == data);
        for wrong in [data.len() - 1, data.len() + 1, 0] {
            decode(stored, size(wrong)).unwrap_err();
        }
        for len in (0..stored.len()).step_by(7) {
            decode(&stored[..len], size(data.len())).unwrap_err();
        }
    }
}

#[test]
fn arrays_in_frames_give_their_items_without_padding() {
    let params = b2frame::NdParams::new(&[30, 25], "<u8".parse().unwrap());
    let params = params.chunkshape(&[16, 16]).blockshape(&[8, 8]);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2nd");
    let mut writer = b2frame::NdWriter::create(&path, &params).unwrap();
    let data: Vec<u8> = (0..750_u64).flat_map(u64::to_le_bytes).collect();
    writer.write_bytes(b2frame::nd::Selection::ALL, &data).unwrap();
    drop(writer.finish().unwrap());
    let frame = std::fs::read(&path).unwrap();
    let decode = |len: u64| {
        let size = BytesRepresentation::FixedSize(len);
        codec().decode(Cow::Borrowed(&frame), &size, &CodecOptions::default()).map(Cow::into_owned)
    };
    assert!(decode(6000).unwrap() == data);
    decode(5999).unwrap_err();
    decode(30 * 25 * 8 + 8).unwrap_err();
}

#[test]
fn arrays_with_the_codec_are_written_and_read() {
    let dir = tempfile::tempdir().unwrap();
    let metadata = serde_json::json!({
        "zarr_format": 3, "node_type": "array", "shape": [100, 50], "data_type": "uint64",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [30, 50]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [
            {"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "blosc-rs.blosc2", "configuration":
                {"cname": "lz4", "clevel": 5, "shuffle": "bitshuffle", "typesize": 8, "blocksize": 0}}
        ]
    });
    std::fs::write(dir.path().join("zarr.json"), metadata.to_string()).unwrap();
    let store = Arc::new(FilesystemStore::new(dir.path()).unwrap());
    let array = Array::open(Arc::clone(&store), "/").unwrap();
    let items: Vec<u64> = (0..5000).collect();
    array.store_array_subset(&array.subset_all(), items.as_slice()).unwrap();
    let back = Array::open(store, "/").unwrap();
    assert_eq!(back.retrieve_array_subset::<Vec<u64>>(&back.subset_all()).unwrap(), items);
    let part = ArraySubset::new_with_ranges(&[29..31, 48..50]);
    let part: Vec<u64> = back.retrieve_array_subset(&part).unwrap();
    assert_eq!(part, [1498, 1499, 1548, 1549]);
    assert_eq!(std::fs::read(dir.path().join("c/0/0")).unwrap()[0], 5);
}
