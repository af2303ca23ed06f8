//! Any bytes decoded as a zlib stream of any length, as given and with a corrected checksum, with
//! the library's result; and any bytes compressed and back.
#![no_main]

use blosc_codecs::{CodecId, internal::safe::decompress_zlib};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, u8, &[u8])| {
    let (len, level, data) = input;
    let len = usize::from(len);
    blosc_fuzz::twins(CodecId::ZLIB, decompress_zlib, len, data);
    // Random streams rarely have a valid header and sum.
    let mut plain = vec![0; len];
    let stream = [&[0x78, 0x9c], data, &[0; 4]].concat();
    let _ = decompress_zlib(&stream, &mut plain);
    let sum = zlib_rs::adler32::adler32(1, &plain).to_be_bytes();
    blosc_fuzz::twins(CodecId::ZLIB, decompress_zlib, len, &[&[0x78, 0x9c], data, &sum].concat());
    blosc_fuzz::round_trip(CodecId::ZLIB, level, None, data);
});
