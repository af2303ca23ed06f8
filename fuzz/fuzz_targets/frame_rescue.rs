//! Any bytes as a damaged frame, or as several in sequence: the frames that rescue finds are
//! readable.
#![no_main]

use std::sync::Arc;

use b2frame::{
    OpenOptions,
    rescue::{RescueOptions, Salvage, members},
};
use blosc_io::{ReadAt, Windowed};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let options = OpenOptions::default()
        .dparams(blosc_fuzz::dparams())
        .max_metadata(1 << 16)
        .max_index(1 << 16);
    let store: Arc<dyn ReadAt> = Arc::new(blosc_fuzz::store(data));
    if let Ok(found) = members(Arc::clone(&store)) {
        let mut end = 0;
        for member in found {
            assert!(end <= member.start && member.start <= member.end, "{member:?} from {end}");
            assert!(member.end <= data.len() as u64, "{member:?} of {}", data.len());
            end = member.end;
            let window = Windowed::new(Arc::clone(&store), member.start, member.end - member.start);
            if let Ok(window) = window {
                read_salvaged(Arc::new(window), &options);
            }
        }
    }
    read_salvaged(store, &options);
});

/// Rescues a frame and reads the first of its chunks.
fn read_salvaged(store: Arc<dyn ReadAt>, options: &OpenOptions) {
    let Ok(saved) = Salvage::from_store(store, options, &RescueOptions::default()) else { return };
    let mut scratch = saved.schunk.scratch();
    for nchunk in 0..saved.schunk.nchunks().min(20) {
        let Ok(nbytes) = saved.schunk.chunk_nbytes(nchunk) else { continue };
        if nbytes as u64 <= blosc_fuzz::MAX_NBYTES {
            let _ = saved.schunk.decode_chunk_into(nchunk, &mut vec![0; nbytes], &mut scratch);
        }
    }
}
