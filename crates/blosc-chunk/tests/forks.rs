//! A child of a process whose encoders and decoders have used threads.

use blosc_chunk::{
    CParams, Chunk, CodecId, DParams, Decoder, Encoder, Executor, Pipeline, Scratch, SplitMode,
};
use blosc_testdata::{data::Kind, in_child};

/// Chunks of many blocks, and of one whose streams are shared.
#[test]
fn a_child_compresses_and_decompresses() {
    let data = Kind::Walk.bytes(1 << 20);
    for blocksize in [16 << 10, data.len()] {
        let executor = Executor::threads(3);
        let params = CParams::default().codec(CodecId::LZ4).typesize(4).blocksize(Some(blocksize));
        let params = params.filters(Pipeline::SHUFFLE).split(SplitMode::Always);
        let serial = Encoder::new(params.clone()).unwrap().encode(&data).unwrap();
        let mut encoder = Encoder::new(params.threads(executor.clone())).unwrap();
        let mut decoder = Decoder::new(DParams::default().threads(executor));
        encoder.use_all_threads();
        decoder.scratch().use_all_threads();
        let mut test = || {
            assert!(encoder.encode(&data).unwrap() == serial);
            assert!(decoder.decode(&serial).unwrap() == data);
            let (chunk, mut part) = (Chunk::parse(&serial).unwrap(), vec![0; data.len() - 4]);
            let mut scratch = Scratch::new(&DParams::default().threads(Executor::auto()));
            scratch.use_all_threads();
            chunk.read_items(1..data.len() / 4, &mut part, &mut scratch).unwrap();
            assert!(part == data[4..]);
        };
        test();
        in_child(&mut test);
        test();
    }
}
