//! Any bytes decoded as an LZ4 stream of any length, whole and byte by byte, with the same result
//! as its safe twin, and any bytes compressed and back.
#![no_main]

use blosc_codecs::{CodecId, internal::safe};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, u8, &[u8])| {
    let (len, meta, data) = input;
    blosc_fuzz::decode_stream(CodecId::LZ4, meta, None, len.into(), data);
    blosc_fuzz::twins(CodecId::LZ4, safe::decompress_lz4, len.into(), data);
    blosc_fuzz::round_trip(CodecId::LZ4, meta, None, data);
});
