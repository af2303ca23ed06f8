//! Any bytes as a value of MessagePack, and as the schema of a table: a decoded one survives a
//! round trip.
#![no_main]

use b2store::table::Schema;
use b2store::{Value, ValueLimits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let limits = ValueLimits::default().max_memory(1 << 24);
    if let Ok(value) = Value::decode(data, &limits)
        && let Some(bytes) = value.encode()
    {
        let again = Value::decode(&bytes, &limits).expect("our own bytes");
        // NaN differs from itself, so the texts are compared.
        assert_eq!(format!("{again:?}"), format!("{value:?}"));
    }
    if let Ok(text) = core::str::from_utf8(data) {
        let _ = Schema::parse(text, "the schema");
    }
});
