//! A child of a process that has read and written frames with threads.

use b2frame::{
    Budget, CompressOptions, CopyOptions, Dest, Error, FrameParams, FrameWriter, NdArray, NdParams,
    NdWriter, SChunk, compress_stream, report::VerifyOptions, to_cframe,
};
use blosc_chunk::{CParams, CodecId, Executor};
use blosc_io::MemStore;
use blosc_testdata::{data::Kind, in_child};

/// Reads a frame and an array in every way that takes a budget.
fn use_threads(schunk: &SChunk, array: &NdArray, data: &[u8], budget: &Budget) {
    let mut found = vec![0; data.len()];
    let nitems = (data.len() / 4) as u64;
    schunk.read_par(0..nitems, &mut found, &budget.threads).unwrap();
    assert!(found == data);
    let mut at = 0;
    let decoded = schunk.decode_ordered(0..schunk.nchunks(), budget, |_, bytes| {
        assert!(bytes == &data[at..at + bytes.len()]);
        at += bytes.len();
        Ok::<(), Error>(())
    });
    assert!(decoded.is_ok() && at == data.len());
    let options = VerifyOptions::default().budget(budget.clone());
    assert!(schunk.verify(&options, |_| {}).is_ok());
    let lz4 = CParams::default().codec(CodecId::LZ4);
    let options = CopyOptions::default().budget(budget.clone()).cparams(lz4);
    assert_eq!(schunk.copy(&Dest::Memory, &options).unwrap().nbytes(), schunk.nbytes());
    let params = FrameParams::new(CParams::default().typesize(4)).chunksize(100_000);
    let mut writer = FrameWriter::new(MemStore::default(), &params).unwrap();
    let options = CompressOptions::default().budget(budget.clone());
    compress_stream(&mut &*data, &mut writer, &options, |_| {}).unwrap();

    found.fill(0);
    array.read_bytes(.., &mut found).unwrap();
    assert!(found == data);
    let params = NdParams::new(array.shape(), array.dtype().clone());
    let mut writer = NdWriter::in_memory(&params).unwrap().budget(budget.clone());
    writer.write_bytes(.., data).unwrap();
    assert_eq!(writer.finish().unwrap().shape(), array.shape());
}

#[test]
fn a_child_reads_and_writes() {
    let data = Kind::Walk.bytes(4_000_000);
    let params = FrameParams::new(CParams::default().typesize(4)).chunksize(300_000);
    let schunk = SChunk::from_cframe(to_cframe(&data, &params).unwrap()).unwrap();
    let params = NdParams::new(&[1000, 1000], "<u4".parse().unwrap()).chunkshape(&[300, 400]);
    let mut writer = NdWriter::in_memory(&params).unwrap();
    writer.write_bytes(.., &data).unwrap();
    let array = writer.finish().unwrap();
    for budget in [Budget::default(), Budget::default().threads(Executor::threads(4))] {
        // The array with its default budget, and with this budget.
        for array in [array.clone(), array.clone().budget(budget.clone())] {
            let test = || use_threads(&schunk, &array, &data, &budget);
            test();
            in_child(test);
            in_child(|| in_child(test));
            test();
        }
    }
}
