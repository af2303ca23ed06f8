//! Any bytes as a pickle: no code runs, and the result stays within the limits.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = bcolz_store::pickle::load(data);
});
