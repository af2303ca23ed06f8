//! Any names and bytes as the files of a sparse frame: read, rescued, changed.
#![no_main]

use std::sync::Arc;

use b2frame::{
    EditOptions, OpenOptions, SChunk, SChunkWriter,
    report::VerifyOptions,
    rescue::{RescueOptions, Salvage},
};
use blosc_io::tree::MemTree;
use libfuzzer_sys::fuzz_target;

/// The names that files can have; the first is the index.
const NAMES: [&str; 6] = [
    "chunks.b2frame",
    "00000000.chunk",
    "00000001.chunk",
    "00000002.chunk",
    "FFFFFFFF.chunk",
    ".b2lock",
];

fuzz_target!(|data: &[u8]| {
    let tree = Arc::new(blosc_fuzz::tree(data, &NAMES));
    let options = OpenOptions::default()
        .dparams(blosc_fuzz::dparams())
        .max_metadata(1 << 16)
        .max_index(1 << 16);
    if let Ok(schunk) = SChunk::from_tree(tree.clone(), &options) {
        read(&schunk);
        let _ = (schunk.seal_state(), schunk.usage());
        if is_small(schunk.nchunks(), schunk.nbytes()) {
            let _ = schunk.verify(&VerifyOptions::default(), |_| {});
        }
    }
    if let Ok(saved) = Salvage::from_tree(tree.clone(), &options, &RescueOptions::default()) {
        read(&saved.schunk);
    }
    change(tree, options);
});

/// Reads the first chunks.
fn read(schunk: &SChunk) {
    let mut scratch = schunk.scratch();
    for nchunk in 0..schunk.nchunks().min(20) {
        let Ok(nbytes) = schunk.chunk_nbytes(nchunk) else { continue };
        if nbytes as u64 <= blosc_fuzz::MAX_NBYTES {
            let _ = schunk.decode_chunk_into(nchunk, &mut vec![0; nbytes], &mut scratch);
        }
    }
}

fn change(tree: Arc<MemTree>, options: OpenOptions) {
    let edit = EditOptions::default().open(options);
    let Ok(mut writer) = SChunkWriter::open_in_tree(tree, &edit) else { return };
    if !is_small(writer.nchunks(), writer.nbytes()) {
        return;
    }
    let typesize = writer.cparams().typesize;
    let _ = writer.append(&vec![1; typesize.saturating_mul(3).min(1 << 16)]);
    if writer.nchunks() > 1 {
        let _ = writer.delete(0);
    }
    let _ = writer.commit();
}

fn is_small(nchunks: u64, nbytes: u64) -> bool {
    nchunks <= 100 && nbytes <= 4 * blosc_fuzz::MAX_NBYTES
}
