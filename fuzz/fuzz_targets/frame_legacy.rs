//! Any bytes after the magic of an older frame: metadata, every chunk, and the conversion to a
//! current frame.
#![no_main]

use b2frame::{OpenOptions, SChunk, header::FrameLayout};
use blosc_io::MemStore;
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

/// The first byte and the flags of each layout.
const LAYOUTS: [(u8, u8); 4] = [(0x9b, 0x24), (0x9c, 0x24), (0x9d, 0x21), (0x9d, 0x12)];

fuzz_target!(|data: &[u8]| {
    if data.len() < 64 {
        return;
    }
    let mut frame = data.to_vec();
    if !(0x9b..=0x9d).contains(&frame[0]) {
        let layout = usize::from(frame[frame.len() - 1]);
        (frame[0], frame[25]) = LAYOUTS[layout % LAYOUTS.len()];
        frame[1..10].copy_from_slice(b"\xa8b2frame\0");
    }
    let options = OpenOptions::default()
        .dparams(blosc_fuzz::dparams())
        .max_metadata(1 << 16)
        .max_index(1 << 16);
    let Ok(old) = SChunk::from_store_with(Arc::new(blosc_fuzz::store(&frame)), &options) else {
        return;
    };
    if old.layout() == FrameLayout::Current {
        return;
    }
    for layer in old.vlmeta().stored().iter() {
        let _ = old.vlmeta().decode(layer);
    }
    if old.nchunks() > 20 || old.nbytes() > 4 * blosc_fuzz::MAX_NBYTES {
        return;
    }
    let Ok(new) = old.to_cframe() else { return };
    let new = SChunk::from_store_with(Arc::new(MemStore::new(new)), &options)
        .expect("what we write, we read");
    assert_eq!((new.nchunks(), new.nbytes()), (old.nchunks(), old.nbytes()));
    for nchunk in 0..old.nchunks() {
        assert_eq!(new.decode_chunk(nchunk).ok(), old.decode_chunk(nchunk).ok());
    }
});
