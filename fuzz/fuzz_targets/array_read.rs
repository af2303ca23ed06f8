//! A frame of an array with bytes changed: reads parts, single items and views, and changes the
//! shape.
#![no_main]

use b2frame::{
    Budget, EditOptions, NdArray, NdWriter, OpenOptions, SChunk,
    nd::{Pick, Selection},
};
use blosc_chunk::Threads;
use blosc_io::MemStore;
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    // Bytes after a frame are ignored, so the last bytes can choose the parts to read.
    let (numbers, _) =
        data.get(data.len().saturating_sub(128)..).unwrap_or_default().as_chunks::<8>();
    let numbers: Vec<u64> = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    let options = OpenOptions::default()
        .dparams(blosc_fuzz::dparams())
        .max_metadata(1 << 16)
        .max_index(1 << 16);
    let Ok(schunk) = SChunk::from_store_with(Arc::new(blosc_fuzz::store(data)), &options) else {
        return;
    };
    let Ok(array) = NdArray::from_schunk(schunk) else { return };
    let read = Budget::default().threads(Threads::One).max_memory(4 * blosc_fuzz::MAX_NBYTES);
    let array = array.budget(read);
    let small = |n: u64| i64::from((n >> 32) as i16);
    let pick = |n: &u64| Pick::slice(small(*n), small(n << 16), small(n << 32));
    let picks: Vec<Pick> = numbers.iter().take(array.ndim()).map(pick).collect();
    let selection = Selection::from(picks);
    // Each item of a scattered part costs a block.
    let is_small = |shape: Vec<u64>| {
        shape
            .iter()
            .try_fold(1_u64, |n, len| n.checked_mul(*len))
            .is_some_and(|nitems| nitems <= 64)
    };
    if selection.shape(array.shape()).is_ok_and(is_small) {
        let _ = array.to_bytes(&selection);
    }
    let items: Vec<u64> =
        numbers.iter().take(20).filter_map(|n| n.checked_rem(array.nitems())).collect();
    if array.typesize() < 1 << 16 {
        let _ = array.gather_bytes(&items, &mut vec![0; items.len() * array.typesize()]);
    }
    let _ = array.expand_dims(&[0]).and_then(|view| view.squeeze(&[0]));
    if array.meta().chunk_items() * array.typesize() as u64 > blosc_fuzz::MAX_NBYTES
        || array.meta().nchunks() > 100
    {
        return;
    }
    let edit = EditOptions::default().open(options);
    let Ok(mut writer) = NdWriter::open_in(Box::new(MemStore::new(data.to_vec())), &edit) else {
        return;
    };
    let shape: Vec<u64> = numbers.iter().take(array.ndim()).map(|n| n % 50).collect();
    if shape.len() < 4 {
        let _ = writer.resize(&shape).and_then(|()| writer.commit());
    }
});
