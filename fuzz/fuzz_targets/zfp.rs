//! Any bytes decoded as a ZFP stream of each of the three modes, and any floats compressed.
#![no_main]

use blosc_codecs::CodecId;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, [u8; 4], u8, &[u8])| {
    let (mode, meta, sides, ndim, data) = input;
    let codec = [CodecId::ZFP_ACC, CodecId::ZFP_PREC, CodecId::ZFP_RATE][usize::from(mode % 3)];
    let shape: Vec<u32> =
        sides[..usize::from(ndim % 4) + 1].iter().map(|&side| u32::from(side % 9)).collect();
    let len = shape.iter().product::<u32>() as usize * if mode & 4 == 0 { 4 } else { 8 };
    blosc_fuzz::decode_stream(codec, meta, Some(&shape), len, data);
    let mut plain = data.to_vec();
    plain.resize(len, 0);
    blosc_fuzz::encode_stream(codec, meta, Some(&shape), &plain);
});
