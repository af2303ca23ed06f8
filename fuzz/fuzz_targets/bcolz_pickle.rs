//! Any bytes as a pickle: nothing is run, and what comes out is not larger than the limits say.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = bcolz_store::pickle::load(data);
});
