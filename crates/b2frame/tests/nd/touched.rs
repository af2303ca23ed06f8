//! Counts the bytes and requests of reading a part of an array.

use std::sync::Arc;

use b2frame::{Budget, FrameParams, FrameWriter, NdArray, SChunk, nd::NdMeta};
use blosc_chunk::{CParams, Threads};
use blosc_io::MemStore;
use blosc_io::testing::CountingStore;

/// 8 x 8 chunks of 8 x 8 blocks of 64 x 64 bytes that hardly compress.
fn noise() -> (Arc<CountingStore<MemStore>>, NdArray) {
    let meta = NdMeta::new(&[4096, 4096], &[512, 512], &[64, 64], "|u1").unwrap();
    let cparams = CParams::default().typesize(1).blocksize(Some(64 * 64));
    let params = FrameParams::new(cparams).chunksize(512 * 512).metalayer("b2nd", meta.encode());
    let mut writer = FrameWriter::new(MemStore::default(), &params).unwrap();
    let mut state = 1_u64;
    for _ in 0..64 {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Seven bits of noise: compressible, but only by little.
            u8::try_from(state >> 57).unwrap()
        };
        let chunk: Vec<u8> = (0..512 * 512).map(|n| if n % 4 == 0 { 0 } else { next() }).collect();
        writer.append(&chunk).unwrap();
    }
    let store = Arc::new(CountingStore::new(writer.finish().unwrap()));
    let schunk = SChunk::from_store(Arc::<CountingStore<MemStore>>::clone(&store)).unwrap();
    let array = NdArray::from_schunk(schunk).unwrap();
    (store, array.budget(Budget::default().threads(Threads::One)))
}

#[test]
fn a_slice_reads_its_blocks_and_no_more() {
    let (store, array) = noise();
    let chunk = array.schunk().chunk_info(0).unwrap().cbytes;
    assert!(chunk > 64 * 1024, "{chunk}");
    // At most the length of a block, and header and 64 starts for each chunk; the header is read
    // before.
    let (block, head) = (64 * 64 + 100, 32 + 32 + 4 * 64);

    store.reset();
    array.get::<u8>(&[700, 700]).unwrap();
    assert!(
        store.bytes() <= block + head && store.requests() == 3,
        "{} {}",
        store.bytes(),
        store.requests()
    );

    // One row: 8 chunks, 8 adjacent blocks of each.
    store.reset();
    array.to_bytes((5,)).unwrap();
    assert!(store.bytes() <= 8 * (8 * block + head), "{}", store.bytes());
    assert_eq!(store.requests(), 8 * 3);

    // One column: 8 chunks, 8 separate blocks of each.
    store.reset();
    array.to_bytes((.., 5)).unwrap();
    assert!(store.bytes() <= 8 * (8 * block + head), "{}", store.bytes());
    assert!(store.requests() <= 8 * (2 + 8), "{}", store.requests());

    // A long step touches four chunks.
    store.reset();
    array.to_bytes((.., b2frame::nd::Pick::ALL.step(1000))).unwrap();
    assert!(store.bytes() <= 5 * 8 * (8 * block + head), "{}", store.bytes());

    // Single items of one block read one block.
    store.reset();
    let items: Vec<u64> = (0..64).map(|n| n * 4096 + 63 - n).collect();
    array.gather::<u8>(&items).unwrap();
    assert!(store.bytes() <= block + head && store.requests() == 3, "{}", store.bytes());
}

#[test]
fn a_whole_chunk_is_one_request() {
    let (store, array) = noise();
    let chunk = array.schunk().chunk_info(9).unwrap().cbytes;
    store.reset();
    array.to_bytes((512..1024, 512..1024)).unwrap();
    assert_eq!((store.bytes(), store.requests()), (chunk + 32, 2));
}

#[test]
fn nothing_is_read_for_nothing_or_for_runs() {
    let (store, array) = noise();
    store.reset();
    array.to_bytes((0..0,)).unwrap();
    array.gather::<u8>(&[]).unwrap();
    assert_eq!(store.requests(), 0);
}
