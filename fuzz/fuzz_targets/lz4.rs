//! Any bytes decoded as a lz4 stream of any length, as by its safe twin, whole and byte by byte,
//! and any bytes compressed and back.
#![no_main]

use blosc_codecs::{CodecId, internal::safe};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, u8, &[u8])| {
    let (len, meta, data) = input;
    blosc_fuzz::decode_stream(CodecId::LZ4, meta, None, len.into(), data);
    blosc_fuzz::twins(CodecId::LZ4, safe::decompress_lz4, len.into(), data);
    blosc_fuzz::round_trip(CodecId::LZ4, meta, None, data);
});
