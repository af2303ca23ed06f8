//! Any bytes as damaged chunks, one after the other: rescue makes a sound chunk.
#![no_main]

use blosc_chunk::Decoder;
use blosc_container::rescue::{ChunkSalvage, RescueOptions, chunk_members};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(members) = chunk_members(&blosc_fuzz::store(data)) else { return };
    let mut end = 0;
    for member in members {
        assert_eq!(member.start, end, "{member:?} of {}", data.len());
        end = member.end;
        let range = member.start as usize..member.end as usize;
        let (options, dparams) = (RescueOptions::default(), blosc_fuzz::dparams());
        let Ok(saved) = ChunkSalvage::from_bytes(&data[range], &dparams, &options) else {
            continue;
        };
        if let Ok(chunk) = saved.to_chunk() {
            assert_eq!(Decoder::new(dparams).decode(&chunk).as_deref(), Ok(saved.data()));
        }
    }
    assert_eq!(end, data.len() as u64);
});
