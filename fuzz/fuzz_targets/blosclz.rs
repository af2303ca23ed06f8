//! Any bytes decoded as a blosclz stream of any length, with the same result as its safe twin, and
//! any bytes compressed and back.
#![no_main]

use blosc_codecs::{CodecId, internal::safe};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, u8, &[u8])| {
    let (len, meta, data) = input;
    blosc_fuzz::decode_stream(CodecId::BLOSCLZ, meta, None, len.into(), data);
    blosc_fuzz::twins(CodecId::BLOSCLZ, safe::decompress_blosclz, len.into(), data);
    blosc_fuzz::round_trip(CodecId::BLOSCLZ, meta, None, data);
});
