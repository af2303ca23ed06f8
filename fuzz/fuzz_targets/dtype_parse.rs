//! Any text parsed as a dtype; a parsed type prints its text and has the same meaning.
#![no_main]

use blosc_dtype::Dtype;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(dtype) = Dtype::parse(text) else { return };
    let printed = dtype.to_string();
    assert_eq!(printed, text);
    assert_eq!(Dtype::parse(&printed), Ok(dtype));
});
