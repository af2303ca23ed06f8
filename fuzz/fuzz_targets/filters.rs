//! Any pipeline over any block: data of lossless filters come back, no filter panics.
#![no_main]

use blosc_filters::{FilterCx, Pipeline, Registry};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: ([u8; 6], [u8; 6], u8, &[u8])| {
    let (ids, metas, typesize, data) = input;
    let ids = ids.map(|id| if id & 0x80 == 0 { id % 5 } else { 32 + id % 5 });
    let (registry, cx) = (Registry::builtin(), FilterCx::new(usize::from(typesize).max(1)));
    let pipeline = Pipeline::from_slots(ids, metas);
    let (mut filtered, mut scratch) = (vec![0; data.len()], vec![0; data.len()]);
    if pipeline.forward(&registry, &cx, data, &mut filtered, &mut scratch).is_ok() {
        let mut back = vec![0; data.len()];
        let undone = pipeline.backward(&registry, &cx, &mut filtered, &mut back);
        if !pipeline.is_lossy(&registry) {
            undone.expect("what was filtered");
            assert_eq!(back, data);
        }
    }
    let mut any = data.to_vec();
    let _ = pipeline.backward(&registry, &cx, &mut any, &mut scratch);
});
