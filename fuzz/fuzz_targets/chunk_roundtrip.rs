//! Any data compressed with any parameters come back.
#![no_main]

use blosc_chunk::{compress, decompress};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut data = data;
    let Some(params) = blosc_fuzz::cparams(&mut data) else { return };
    let chunk = compress(data, &params).expect("checked parameters");
    assert!(chunk.len() <= data.len() + 32);
    assert_eq!(decompress(&chunk).expect("our own chunk"), data);
});
