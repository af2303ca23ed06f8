//! A part of a chunk read alone is the same part of the whole.
#![no_main]

use blosc_chunk::{Chunk, Decoder, Scratch};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u32, u32, &[u8])| {
    let (start, len, data) = input;
    let params = blosc_fuzz::dparams();
    let Ok(chunk) = Chunk::parse(data) else { return };
    let nbytes = chunk.header().nbytes();
    if nbytes as u64 > blosc_fuzz::MAX_NBYTES {
        return;
    }
    let start = start as usize % (nbytes + 1);
    let end = start + len as usize % (nbytes - start + 1);
    let mut part = vec![0; end - start];
    let read = chunk.read_bytes(start..end, &mut part, &mut Scratch::new(&params));
    if let Ok(whole) = Decoder::new(params).decode(data) {
        read.expect("the whole chunk decodes");
        assert_eq!(part, whole[start..end]);
    }
});
