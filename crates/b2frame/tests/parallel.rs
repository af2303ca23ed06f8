//! Few large chunks: their blocks are spread over threads, and the result is the same for any
//! number of threads.

use b2frame::{
    Budget, Error, FrameParams, NdArray, NdParams, NdWriter, SChunk,
    nd::{Pick, Selection},
    report::VerifyOptions,
    to_cframe,
};
use blosc_chunk::{CParams, CodecId, Dict, Executor, Pipeline};
use blosc_testdata::data::Kind;

fn options(threads: usize) -> Budget {
    Budget::default().threads(Executor::threads(threads))
}

/// The data, the number of parts, and the result.
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
    let plain = CParams::default().typesize(4).blocksize(Some(20_000));
    vec![
        plain.clone(),
        plain.clone().codec(CodecId::LZ4).filters(Pipeline::parse("delta, shuffle").unwrap()),
        plain.clone().codec(CodecId::ZSTD).dict(Dict::Train { max: 4096 }),
        plain.clone().clevel(0.try_into().unwrap()),
        plain.blocksize(None),
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
        // Damaged bytes may also decode.
        let (whole, _, expected) = decode(&schunk, 1);
        errors += u32::from(expected.is_err());
        for threads in [2, 3, 8] {
            let (found, _, result) = decode(&schunk, threads);
            assert_eq!(format!("{result:?}"), format!("{expected:?}"), "{threads} threads");
            assert!(expected.is_err() || found == whole);
            let report = schunk.verify(&VerifyOptions::default().budget(options(threads)), |_| {});
            // If damaged data decode, only the body sum notices, and it names no chunk.
            let is_named = matches!(&expected, Err(Error::Chunk { .. }));
            assert_eq!((report.nbad, report.nchunks), (u64::from(is_named), 1));
            assert_eq!(report.is_ok(), expected.is_ok());
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
    let part: Vec<i32> =
        (17..983).flat_map(|row| items[row * 700 + 5..row * 700 + 650].to_vec()).collect();
    let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
    for threads in [1, 2, 3, 8] {
        let array: NdArray = array.clone().budget(options(threads));
        assert!(array.read::<i32>().unwrap() == items, "{threads} threads");
        assert!(array.read_slice::<i32>((17..983, 5..650)).unwrap() == part, "{threads} threads");
        let mut found = vec![];
        array
            .for_each_band(|band| {
                found.extend_from_slice(band);
                Ok::<(), Error>(())
            })
            .unwrap();
        assert!(found == bytes, "{threads} threads");
    }
}

/// 600 x 70 x 30 items of 4 bytes; each item is its number.
fn array(block: u32) -> NdArray {
    let cparams = CParams::default().typesize(4);
    let params = NdParams::new(&[600, 70, 30], "<u4".parse().unwrap());
    let params = params.chunkshape(&[110, 40, 30]).blockshape(&[block, 9, 30]).cparams(cparams);
    let mut writer = NdWriter::in_memory(&params).unwrap();
    writer.write_slice(.., &(0..600 * 70 * 30).collect::<Vec<u32>>()).unwrap();
    writer.finish().unwrap()
}

#[test]
fn slices_of_arrays_are_the_same_for_any_number_of_threads() {
    let (down, third) = (Pick::ALL.step(-1), Pick::ALL.step(3));
    let selections: [Selection; 7] = [
        Selection::ALL,
        (7..591, 3..66).into(),
        (down, down, 2..28).into(),
        (third, .., down).into(),
        // One chunk of the first dimension, one block of it, one position.
        (120..215,).into(),
        (112..118,).into(),
        (300,).into(),
    ];
    for block in [16, 110] {
        let array = array(block);
        for selection in &selections {
            let read = |threads| array.clone().budget(options(threads)).to_bytes(selection.clone());
            let alone = read(1).unwrap();
            assert!((2..5).all(|threads| read(threads).unwrap() == alone), "{selection:?}");
        }
        let numbers = array.read_slice::<u32>((down, down, down)).unwrap();
        assert!(numbers.iter().rev().copied().eq(0..600 * 70 * 30));
    }
}

#[test]
fn the_first_bad_chunk_of_an_array_is_named_whatever_the_threads() {
    let frame = array(16).schunk().to_cframe().unwrap();
    let array = NdArray::from_cframe(frame.clone()).unwrap();
    // Blocks of each chunk whose block starts will point outside of the chunk. In the last case the
    // bad block of the earlier chunk has a larger number than that of the later chunk.
    for (first, blocks) in [(3, vec![(3, 0), (5, 0), (8, 0)]), (2, vec![(2, 34), (3, 0)])] {
        let mut damaged = frame.clone();
        for (nchunk, nblock) in blocks {
            let at = usize::try_from(array.schunk().chunk_info(nchunk).unwrap().offset.unwrap())
                .unwrap();
            damaged[at + 32 + 4 * nblock..][..4].fill(0x7f);
        }
        let array = NdArray::from_cframe(damaged).unwrap();
        for threads in [1, 2, 3, 4, 8] {
            let array = array.clone().budget(options(threads));
            let error = array.to_bytes(..).unwrap_err();
            assert!(
                matches!(error, Error::Chunk { nchunk, .. } if nchunk == first),
                "{threads}: {error:?}"
            );
            let error = array.for_each_band(|_| Ok::<(), Error>(())).unwrap_err();
            assert!(
                matches!(error, Error::Chunk { nchunk, .. } if nchunk == first),
                "{threads}: {error:?}"
            );
        }
    }
}

#[test]
fn items_are_the_same_for_any_number_of_threads() {
    let data = Kind::Walk.bytes(4_000_000);
    for cparams in ways() {
        // Many chunks, some, few, one.
        for chunksize in [4_000, 300_000, 1_999_996, 4_000_000] {
            let params = FrameParams::new(cparams.clone()).chunksize(chunksize);
            let schunk = SChunk::from_cframe(to_cframe(&data, &params).unwrap()).unwrap();
            for (start, end) in [(0, 1_000_000), (12_345, 987_654), (7, 500_000), (5, 6), (9, 9)] {
                let expected = &data[start * 4..end * 4];
                for threads in [1, 2, 3, 8] {
                    let mut found = vec![0; expected.len()];
                    schunk
                        .read_par(start as u64..end as u64, &mut found, &Executor::threads(threads))
                        .unwrap();
                    assert!(found == expected, "{start}..{end}, {threads} threads, {cparams:?}");
                }
            }
            assert!(
                schunk
                    .read_par(0..1_000_001, &mut vec![0; 4_000_004], &Executor::threads(2))
                    .is_err()
            );
            assert!(schunk.read_par(0..2, &mut [0; 4], &Executor::threads(2)).is_err());
        }
    }
}

#[test]
fn chunks_of_any_size_are_read_by_threads() {
    let data = Kind::Walk.bytes(3_000_000);
    let params = FrameParams::new(CParams::default().typesize(4));
    let mut writer = b2frame::SChunkWriter::in_memory(&params).unwrap();
    writer.make_variable().unwrap();
    let (mut rest, mut len) = (data.as_slice(), 4);
    while !rest.is_empty() {
        let (now, later) = rest.split_at(len.min(rest.len()));
        writer.append(now).unwrap();
        (rest, len) = (later, len * 3 % 700_004 / 4 * 4 + 4);
    }
    let schunk = writer.finish().unwrap();
    let mut found = vec![0; data.len()];
    schunk.read_par(0..750_000, &mut found, &Executor::threads(3)).unwrap();
    assert!(found == data);
}

#[test]
fn threads_name_the_first_bad_chunk() {
    let data = Kind::Walk.bytes(4_000_000);
    let params =
        FrameParams::new(CParams::default().typesize(4).codec(CodecId::ZSTD)).chunksize(400_000);
    let mut frame = to_cframe(&data, &params).unwrap();
    let schunk = SChunk::from_cframe(frame.clone()).unwrap();
    for nchunk in [3, 8] {
        let at = usize::try_from(schunk.chunk_info(nchunk).unwrap().offset.unwrap()).unwrap();
        let blocks = at + 32..at + 40;
        frame[blocks].fill(0xFF);
    }
    let schunk = SChunk::from_cframe(frame).unwrap();
    for threads in [1, 2, 4] {
        let threads = &Executor::threads(threads);
        let error = schunk.read_par(0..1_000_000, &mut vec![0; 4_000_000], threads).unwrap_err();
        assert!(matches!(error, Error::Chunk { nchunk: 3, .. }), "{error}");
    }
}
