//! Any bytes opened as a frame: metadata, every chunk, a range, the array and `verify`.
#![no_main]

use b2frame::{Error, OpenOptions, SChunk, report::VerifyOptions};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let options = OpenOptions::default()
        .dparams(blosc_fuzz::dparams())
        .max_metadata(1 << 16)
        .max_index(1 << 16);
    let store = Arc::new(blosc_fuzz::store(data));
    let Ok(frame) = SChunk::from_store_with(store, &options) else { return };
    for layer in frame.vlmeta().stored().iter() {
        let _ = frame.vlmeta().decode(layer);
    }
    let mut scratch = frame.scratch();
    for nchunk in 0..frame.nchunks().min(20) {
        let _ = frame.chunk_info(nchunk);
        let Ok(nbytes) = frame.chunk_nbytes(nchunk) else { continue };
        if nbytes as u64 <= blosc_fuzz::MAX_NBYTES {
            let _ = frame.decode_chunk_into(nchunk, &mut vec![0; nbytes], &mut scratch);
        }
    }
    let mut some = [0; 100];
    let _ = frame.read_bytes(frame.nbytes() / 2, &mut some);
    let _ = frame.usage();
    if frame.nchunks() <= 20 && frame.nbytes() <= 4 * blosc_fuzz::MAX_NBYTES {
        let _ = frame.seal_state();
        let _ = frame.verify(&VerifyOptions::default(), |_| {});
    }
    if let Ok(Some(array)) = Arc::new(frame).nd_array()
        && array.nbytes() <= blosc_fuzz::MAX_NBYTES
    {
        let _ = array.for_each_band(|_| Ok::<(), Error>(()));
    }
});
