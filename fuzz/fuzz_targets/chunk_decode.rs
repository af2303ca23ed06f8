//! Any bytes decoded as a chunk, block by block, whole, and as a report.
#![no_main]

use blosc_chunk::{Chunk, Decoder, Scratch, validate::Depth};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let params = blosc_fuzz::dparams();
    let whole = Decoder::new(params.clone()).decode(data);
    let Ok(chunk) = Chunk::parse(data) else {
        assert!(whole.is_err());
        return;
    };
    let mut scratch = Scratch::new(&params);
    let report = chunk.validate(Depth::Structure, &mut scratch);
    if whole.is_ok() {
        assert!(report.is_ok(), "decoded, but {report:?}");
    }
    if chunk.as_vl().is_ok() && whole.is_ok() {
        let vl = chunk.as_vl().expect("it was one above");
        let blocks: Vec<u8> =
            (0..vl.nblocks()).flat_map(|i| vl.read(i, &mut scratch).expect("whole")).collect();
        assert_eq!(Some(blocks), whole.ok());
    }
});
