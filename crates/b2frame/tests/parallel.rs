//! Few large chunks: their blocks are spread over threads, and what comes is the same for any number of them.

use core::num::NonZeroUsize;

use b2frame::{
    Error, FrameParams, NdArray, NdParams, NdWriter, ReadOptions, SChunk, VerifyOptions, to_cframe,
};
use blosc_chunk::{CParams, CodecId, Dict, Pipeline, Threads};
use blosc_testdata::data::Kind;

fn options(threads: usize) -> ReadOptions {
    ReadOptions::default().threads(Threads::N(NonZeroUsize::new(threads).unwrap()))
}

/// The data, in how many parts they came, and what ended them.
fn decode(schunk: &SChunk, threads: usize) -> (Vec<u8>, usize, Result<(), Error>) {
    let (mut data, mut parts) = (vec![], 0);
    let result = schunk.decode_ordered(0..schunk.nchunks(), &options(threads), |_, bytes| {
        data.extend_from_slice(bytes);
        parts += 1;
        Ok::<(), Error>(())
    });
    (data, parts, result)
}

fn ways() -> Vec<CParams> {
    let plain = CParams::default().typesize(4).block_size(Some(20_000));
    vec![
        plain.clone(),
        plain.clone().codec(CodecId::LZ4).filters(Pipeline::parse("delta, shuffle").unwrap()),
        plain.clone().codec(CodecId::ZSTD).dict(Dict::Train { max: 4096 }),
        plain.clone().level(0.try_into().unwrap()),
        plain.block_size(None),
    ]
}

#[test]
fn parts_of_chunks_are_the_chunks() {
    let data = Kind::Walk.bytes(2_500_000);
    for cparams in ways() {
        for (chunksize, nchunks) in [(2_500_000, 1), (1_000_000, 3), (2_499_996, 2)] {
            let params = FrameParams::new(cparams.clone()).chunksize(chunksize);
            let schunk = SChunk::from_cframe(to_cframe(&data, &params).unwrap()).unwrap();
            assert_eq!(schunk.nchunks(), nchunks);
            for threads in [1, 2, 3, 8] {
                let (found, parts, result) = decode(&schunk, threads);
                result.unwrap();
                assert!(found == data, "{threads} threads, {cparams:?}");
                assert_eq!(parts as u64 > nchunks, threads > 1, "{parts} parts");
            }
        }
    }
}

#[test]
fn a_bad_block_ends_it_at_the_same_place() {
    let data = Kind::Walk.bytes(2_000_000);
    let params = FrameParams::new(ways().remove(2)).chunksize(2_000_000);
    let good = to_cframe(&data, &params).unwrap();
    let chunk = SChunk::from_cframe(good.clone()).unwrap().chunk_info(0).unwrap();
    let at = usize::try_from(chunk.offset.unwrap()).unwrap();
    let len = usize::try_from(chunk.cbytes).unwrap();
    let mut errors = 0;
    for place in (1..20).map(|n| len / 20 * n) {
        let mut bad = good.clone();
        bad[at + place..at + place + 200].fill(0xff);
        let schunk = SChunk::from_cframe(bad).unwrap();
        // Nonsense may be data, too.
        let (whole, _, expected) = decode(&schunk, 1);
        errors += u32::from(expected.is_err());
        for threads in [2, 3, 8] {
            let (found, _, result) = decode(&schunk, threads);
            assert_eq!(format!("{result:?}"), format!("{expected:?}"), "{threads} threads");
            assert!(expected.is_err() || found == whole);
            let report = schunk.verify(&VerifyOptions::default().read(options(threads)), |_| {});
            assert_eq!((report.nbad, report.nchunks), (u64::from(expected.is_err()), 1));
        }
    }
    assert!(errors > 3, "{errors}");
}

#[test]
fn an_array_of_one_chunk_is_read_by_all_threads() {
    let params = NdParams::new(&[1000, 700], "<i4".parse().unwrap())
        .chunkshape(&[1000, 700])
        .blockshape(&[30, 100])
        .cparams(CParams::default().codec(CodecId::LZ4));
    let items: Vec<i32> = (0..700_000).map(|n| n / 3 * 7).collect();
    let mut writer = NdWriter::in_memory(&params).unwrap();
    writer.write_slice(.., &items).unwrap();
    let array = writer.finish().unwrap();
    let part: Vec<i32> = (17..983).flat_map(|row| items[row * 700 + 5..row * 700 + 650].to_vec()).collect();
    let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
    for threads in [1, 2, 3, 8] {
        let array: NdArray = array.clone().read_options(options(threads));
        assert!(array.read::<i32>().unwrap() == items, "{threads} threads");
        assert!(array.read_slice::<i32>((17..983, 5..650)).unwrap() == part, "{threads} threads");
        let mut found = vec![];
        let view = array.schunk().nd_view().unwrap().unwrap();
        view.for_each_band(&options(threads), |band| {
            found.extend_from_slice(band);
            Ok::<(), Error>(())
        })
        .unwrap();
        assert!(found == bytes, "{threads} threads");
    }
}
