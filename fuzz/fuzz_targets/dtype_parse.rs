//! Any text parsed as a dtype; what parses prints as it was and means the same.
#![no_main]

use blosc_dtype::Dtype;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(dtype) = Dtype::parse(text) else { return };
    let printed = dtype.to_string();
    assert_eq!(printed, text);
    assert_eq!(Dtype::parse(&printed), Ok(dtype));
});
