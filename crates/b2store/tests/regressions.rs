//! Defects of the past, each with its smallest input.

use std::fs;

use b2frame::rescue::{ChunkState, RescueOptions};
use b2store::rescue::Salvage;
use b2store::{OpenOptions, Store, StoreWriter, WriteOptions};

/// The header of the last chunk claims bytes of the index: rescue decodes the chunk, but readers of
/// the frame do not, so that the value cannot stay as it is.
#[test]
fn a_last_chunk_that_claims_the_bytes_after_it_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let data: Vec<u8> = (0..30_000_u32).map(|n| (n / 9 % 17 + n / 100).to_le_bytes()[0]).collect();
    let path = dir.path().join("x.b2d");
    let mut writer = StoreWriter::create(&path).unwrap();
    let params = b2frame::FrameParams::default().chunksize(10_000);
    writer.insert_cframe("/a", b2frame::to_cframe(&data, &params).unwrap()).unwrap();
    let store = writer.commit().unwrap();
    let frame = store.frame("/a").unwrap();
    let b2frame::ChunkBytes::Stored(chunk) = frame.chunk(2).unwrap() else { panic!("a run") };
    let file = path.join("a.b2f");
    let mut bytes = fs::read(&file).unwrap();
    let at = bytes.windows(chunk.len()).position(|part| part == &chunk[..]).unwrap();
    let cbytes = u32::from_le_bytes(bytes[at + 12..at + 16].try_into().unwrap());
    bytes[at + 12..at + 16].copy_from_slice(&(cbytes + 8).to_le_bytes());
    fs::write(&file, bytes).unwrap();
    drop((frame, store));
    assert!(b2frame::SChunk::open(&file).unwrap().decode_chunk(2).is_err());

    let mut salvage =
        Salvage::open(&path, &OpenOptions::default(), &RescueOptions::default()).unwrap();
    assert_eq!(salvage.values[0].chunks, [ChunkState::Good; 3]);
    let saved = dir.path().join("saved.b2d");
    salvage.save(&saved, &WriteOptions::default()).unwrap();
    let frame = Store::open(&saved).unwrap().frame("/a").unwrap();
    let mut found = vec![0; data.len()];
    frame.read_bytes(0, &mut found).unwrap();
    assert!(found == data);
}
