//! Any bytes decoded as a lz4 stream of any length, as by its safe twin, whole and byte by byte,
//! and any bytes compressed and back.
#![no_main]

use blosc_codecs::{
    CodecId,
    internal::{SeqIndex, safe},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, u8, &[u8])| {
    let (len, meta, data) = input;
    blosc_fuzz::decode_stream(CodecId::LZ4, meta, None, len.into(), data);
    blosc_fuzz::twins(CodecId::LZ4, safe::decompress_lz4, len.into(), data);
    seq_index(len.into(), data);
    blosc_fuzz::round_trip(CodecId::LZ4, meta, None, data);
});

/// Seek points exist for exactly the blocks that are decoded, and lead to the same data.
fn seq_index(len: usize, block: &[u8]) {
    let mut plain = vec![0; len];
    let is_block = safe::decompress_lz4(block, &mut plain).is_ok();
    let index = SeqIndex::new(block, len);
    assert_eq!(index.is_some(), is_block);
    let Some(index) = index else { return };
    for (position, &expected) in plain.iter().enumerate().step_by(61) {
        let byte = index.read_byte::<()>(position, &mut |at, dest| {
            dest.copy_from_slice(&block[at..at + dest.len()]);
            Ok(())
        });
        assert!(byte.unwrap().is_none_or(|byte| byte == expected));
    }
}
