//! Chunks with a dictionary, given or trained: compressed data come back, and a chunk with changed
//! bytes gives data or an error.
#![no_main]

use blosc_chunk::{CParams, CodecId, Decoder, Dict, Encoder, Target};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut data = data;
    let codecs = [CodecId::LZ4, CodecId::LZ4HC, CodecId::ZSTD];
    let codec = codecs[usize::from(blosc_fuzz::take(&mut data)) % codecs.len()];
    let (kind, at) = (blosc_fuzz::take(&mut data), blosc_fuzz::take(&mut data));
    let (change, blocksize) = (blosc_fuzz::take(&mut data), blosc_fuzz::take(&mut data));
    let (dict, data) = data.split_at(data.len() / 2);
    let dict = match kind % 2 {
        0 => Dict::Train { max: 16 * usize::from(at) },
        _ => Dict::Given(dict.into()),
    };
    let params = CParams::default()
        .codec(codec)
        .target(Target::Blosc3_0)
        .typesize(1 + usize::from(kind >> 5))
        .blocksize(Some(32 + usize::from(blocksize)))
        .dict(dict);
    if params.check().is_err() {
        return;
    }
    let Ok(mut encoder) = Encoder::new(params) else { return };
    let Ok(mut chunk) = encoder.encode(data) else { return };
    let mut decoder = Decoder::new(blosc_fuzz::dparams());
    assert_eq!(decoder.decode(&chunk).expect("our own chunk"), data);
    if change != 0 && !chunk.is_empty() {
        let at = usize::from(at) * chunk.len() / 256;
        chunk[at] ^= change;
        let _ = decoder.decode(&chunk);
    }
});
