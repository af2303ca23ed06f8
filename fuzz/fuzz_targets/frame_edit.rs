//! Any bytes opened as a frame for change: appends a chunk, deletes one, sets metadata, commits and
//! reads it all.
#![no_main]

use b2frame::{EditOptions, OpenOptions, SChunkWriter};
use blosc_io::MemStore;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let options = OpenOptions::default()
        .dparams(blosc_fuzz::dparams())
        .max_metadata(1 << 16)
        .max_index(1 << 16);
    let edit = EditOptions::default().open(options);
    let Ok(mut writer) = SChunkWriter::open_in(Box::new(MemStore::new(data.to_vec())), &edit)
    else {
        return;
    };
    let is_small = |writer: &SChunkWriter| {
        writer.nchunks() <= 100 && writer.nbytes() <= 4 * blosc_fuzz::MAX_NBYTES
    };
    if !is_small(&writer) {
        return;
    }
    let typesize = writer.cparams().typesize;
    let _ = writer.append(&vec![1; typesize.saturating_mul(3).min(1 << 16)]);
    if writer.nchunks() > 1 {
        let _ = writer.delete(0);
    }
    let _ = writer.set_vlmeta("fuzz", b"\x01");
    if writer.commit().is_err() || !is_small(&writer) {
        return;
    }
    let Ok(frame) = writer.finish() else { return };
    let mut some = [0; 100];
    let _ = frame.read_bytes(frame.nbytes() / 2, &mut some);
});
