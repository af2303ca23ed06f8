//! Any bytes decoded as an ndlz stream of any length, and any bytes compressed and back.
#![no_main]

use blosc_codecs::CodecId;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, u8, &[u8])| {
    let (len, meta, data) = input;
    blosc_fuzz::decode_stream(CodecId::NDLZ, meta, None, len.into(), data);
    blosc_fuzz::round_trip(CodecId::NDLZ, meta, None, data);
});
