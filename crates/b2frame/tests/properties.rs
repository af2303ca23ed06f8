//! Written data are read back, with any parameters and any number of threads.

use b2frame::{
    Budget, Checksums, CompressOptions, Error, FrameParams, FrameWriter, SChunk, compress_slice,
    compress_stream, report::VerifyOptions, to_cframe,
};
use blosc_chunk::{
    CParams, CodecId, Dict, Level, Pipeline, Special, SpecialKind, SplitMode, Threads,
    special_chunk,
};
use blosc_io::MemStore;
use blosc_testdata::data::Kind;
use proptest::prelude::*;

fn threads(n: usize) -> Threads {
    Threads::N(n.try_into().unwrap())
}

/// The frame of a stream, and that of a slice, compressed by `n` threads.
fn compressed(data: &[u8], params: &FrameParams, n: usize) -> [Vec<u8>; 2] {
    let options = CompressOptions::default().budget(Budget::default().threads(threads(n)));
    [true, false].map(|is_stream| {
        let mut writer = FrameWriter::new(MemStore::default(), params).unwrap();
        let totals = match is_stream {
            true => compress_stream(&mut &*data, &mut writer, &options, |_| {}),
            false => compress_slice(data, &mut writer, &options, |_| {}),
        };
        let totals = totals.unwrap();
        assert_eq!((totals.nbytes, totals.is_end), (data.len() as u64, true));
        assert_eq!((totals.nchunks, totals.cbytes), (writer.nchunks(), writer.cbytes()));
        writer.finish().unwrap().into_bytes()
    })
}

/// All data of a frame.
fn decoded(schunk: &SChunk, options: &Budget) -> Vec<u8> {
    let mut data = vec![];
    let sink = |_, bytes: &[u8]| {
        data.extend_from_slice(bytes);
        Ok::<(), Error>(())
    };
    schunk.decode_ordered(0..schunk.nchunks(), options, sink).unwrap();
    data
}

fn check(data: &[u8], params: &FrameParams) {
    let frame = to_cframe(data, params).unwrap();
    for n in [1, 2, 5] {
        for written in compressed(data, params, n) {
            assert!(written == frame, "{n} threads write other bytes");
        }
    }
    let schunk = SChunk::from_cframe(frame).unwrap();
    let options = Budget::default();
    assert!(decoded(&schunk, &options.clone().threads(Threads::One)) == data);
    assert!(decoded(&schunk, &options.threads(threads(3))) == data);
    let report = schunk.verify(&VerifyOptions::default(), |_| {});
    assert!(
        report.is_ok() && report.notes.is_empty() && report.nbytes == data.len() as u64,
        "{report:?}"
    );
    assert_eq!(schunk.usage().unwrap().dead_bytes, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_data_with_any_parameters(
        kind in 0..Kind::ALL.len(),
        len in prop_oneof![0..300_usize, 0..60_000_usize],
        typesize in prop_oneof![1..=17_usize, Just(24), Just(255), Just(256), Just(300)],
        chunksize in prop_oneof![1..100_usize, 1000..30_000_usize],
        codec in prop_oneof![Just(0), Just(1), Just(2), Just(4), Just(5_u8)],
        level in 0..=9_u8,
        filters in prop::sample::select(vec!["none", "shuffle", "bitshuffle", "delta,shuffle"]),
        block in proptest::option::of(1..5000_usize),
        zeros in any::<bool>(),
    ) {
        let mut data = Kind::ALL[kind].bytes(len);
        if zeros {
            data[len / 2..].fill(0);
        }
        // Few chunks keep the test fast.
        let chunksize = chunksize.max(len / 300);
        let cparams = CParams::default()
            .codec(CodecId(codec))
            .clevel(Level::try_from(level).unwrap())
            .typesize(typesize)
            .filters(Pipeline::parse(filters).unwrap())
            .blocksize(block);
        check(&data, &FrameParams::new(cparams).chunksize(chunksize));
    }

    #[test]
    fn any_metalayers(
        meta in proptest::collection::btree_map(
            "[a-z]{1,31}", proptest::collection::vec(any::<u8>(), 0..50), 0..5),
        vlmeta in proptest::collection::btree_map(
            "\\PC{1,7}", proptest::collection::vec(any::<u8>(), 0..500), 0..16),
        len in 0..50_usize,
    ) {
        let mut params = FrameParams::default().chunksize(16);
        for (name, content) in &meta {
            params = params.metalayer(name, content.clone());
        }
        for (name, content) in &vlmeta {
            params = params.vlmetalayer(name, content.clone());
        }
        let schunk = SChunk::from_cframe(to_cframe(&vec![1; len], &params).unwrap()).unwrap();
        prop_assert_eq!((schunk.meta().len(), schunk.vlmeta().len()), (meta.len(), vlmeta.len()));
        for (name, content) in &meta {
            prop_assert_eq!(schunk.meta().get(name).unwrap().content, content);
        }
        for (name, content) in &vlmeta {
            prop_assert_eq!(&schunk.vlmeta().get(name).unwrap().unwrap(), content);
        }
    }
}

#[test]
fn the_header_keeps_the_parameters() {
    let cparams = CParams::default()
        .codec(CodecId::ZSTD)
        .clevel(Level::try_from(7).unwrap())
        .typesize(300)
        .filters(Pipeline::parse("delta,shuffle").unwrap())
        .blocksize(Some(6000))
        .split(SplitMode::Never)
        .dict(Dict::Train { max: 32 << 10 });
    let frame = to_cframe(&[1; 1000], &FrameParams::new(cparams.clone())).unwrap();
    let schunk = SChunk::from_cframe(frame).unwrap();
    assert_eq!(schunk.cparams(), cparams);
    assert_eq!((schunk.typesize(), schunk.header().flags().version()), (300, 2));
    assert_eq!(schunk.chunksize().fixed(), Some(4_194_300));
}

#[test]
fn runs_are_noted_in_the_index() {
    let params = FrameParams::new(CParams::default().typesize(4)).chunksize(400);
    let params = params.checksums(Checksums::None);
    let frame = to_cframe(&[0; 4000], &params).unwrap();
    // Header, an index of one repeated value, trailer: as C-Blosc2 writes a frame of zeros.
    assert_eq!(frame.len(), 97 + 40 + 35);
    let schunk = SChunk::from_cframe(frame).unwrap();
    assert_eq!(schunk.chunk_info(9).unwrap().special, Some(SpecialKind::Zeros));
    assert_eq!(decoded(&schunk, &Budget::default()), [0; 4000]);
}

#[test]
fn a_run_that_ends_within_an_item_is_stored() {
    // C-Blosc2 before 3.1.5 cannot read the run; no release can read a run stored as a chunk.
    let params = FrameParams::new(CParams::default().typesize(4)).chunksize(400);
    for len in [801, 802, 803] {
        let schunk = SChunk::from_cframe(to_cframe(&vec![0; len], &params).unwrap()).unwrap();
        let info = schunk.chunk_info(2).unwrap();
        assert_eq!((info.special, info.nbytes), (None, len as u64 - 800));
        assert_eq!(decoded(&schunk, &Budget::default()), vec![0; len]);
    }
}

#[test]
fn ready_chunks_and_runs_can_be_appended() {
    let cparams = CParams::default().typesize(8);
    let mut writer =
        FrameWriter::new(MemStore::default(), &FrameParams::new(cparams.clone()).chunksize(80))
            .unwrap();
    writer.append_chunk(&blosc_chunk::compress(&[7; 80], &cparams).unwrap()).unwrap();
    for special in [Special::Zeros, Special::Nans, Special::Uninit, Special::Value(b"12345678")] {
        writer.append_chunk(&special_chunk(special, 80, &cparams).unwrap()).unwrap();
    }
    writer.append_special(SpecialKind::Nans, 13).unwrap();
    let schunk = SChunk::from_cframe(writer.finish().unwrap().into_bytes()).unwrap();
    let nan = f64::NAN.to_le_bytes();
    let expected =
        [&[7; 80], &[0; 80], &*nan.repeat(10), &[0; 80], &*b"12345678".repeat(10), &nan, &nan[..5]]
            .concat();
    assert_eq!(decoded(&schunk, &Budget::default()), expected);
    let offsets: Vec<_> = schunk.chunk_infos().map(|info| info.unwrap().offset.is_some()).collect();
    assert_eq!(offsets, [true, false, false, false, true, true]);
    let usage = schunk.usage().unwrap();
    assert_eq!((usage.zeros, usage.nans, usage.uninit, usage.value), (1, 1, 1, 1));
}

#[test]
fn a_stream_may_be_cut_into_frames() {
    let data = Kind::Walk.bytes(1050);
    let params = FrameParams::default().chunksize(80);
    let options = CompressOptions::default().max_nbytes(Some(400));
    let (mut stream, mut back, mut frames) = (data.as_slice(), vec![], 0);
    loop {
        let mut writer = FrameWriter::new(MemStore::default(), &params).unwrap();
        let totals = compress_stream(&mut stream, &mut writer, &options, |_| {}).unwrap();
        let schunk = SChunk::from_cframe(writer.finish().unwrap().into_bytes()).unwrap();
        back.extend(decoded(&schunk, &Budget::default()));
        frames += 1;
        if totals.is_end {
            break;
        }
        assert_eq!(totals.nbytes, 400);
    }
    assert_eq!((back, frames), (data, 3));
}

#[test]
fn no_more_of_a_slice_is_compressed_than_wanted() {
    let data = Kind::Walk.bytes(1050);
    let params = FrameParams::default().chunksize(80);
    for (max, nbytes, is_end) in [(None, 1050, true), (Some(400), 400, false), (Some(0), 0, false)]
    {
        let mut writer = FrameWriter::new(MemStore::default(), &params).unwrap();
        let options = CompressOptions::default().max_nbytes(max);
        let totals = compress_slice(&data, &mut writer, &options, |_| {}).unwrap();
        assert_eq!((totals.nbytes, totals.is_end), (nbytes, is_end));
        let schunk = SChunk::from_cframe(writer.finish().unwrap().into_bytes()).unwrap();
        let nbytes = usize::try_from(nbytes).unwrap();
        assert_eq!(decoded(&schunk, &Budget::default()), data[..nbytes]);
    }
}

#[test]
fn progress_counts_up_to_the_end() {
    let mut seen = vec![];
    let mut writer =
        FrameWriter::new(MemStore::default(), &FrameParams::default().chunksize(80)).unwrap();
    compress_stream(&mut &[5; 200][..], &mut writer, &CompressOptions::default(), |p| {
        seen.push(p.nbytes)
    })
    .unwrap();
    assert_eq!(seen, [80, 160, 200]);
    let schunk = SChunk::from_cframe(writer.finish().unwrap().into_bytes()).unwrap();
    let mut seen = vec![];
    schunk.verify(&VerifyOptions::default(), |p| seen.push((p.nchunks, p.nbytes)));
    assert_eq!(seen, [(1, 80), (2, 160), (3, 200), (3, 200)]);
}

#[test]
fn an_empty_frame_has_its_trailer_after_its_header() {
    let params = FrameParams::default();
    let sealed = to_cframe(b"", &params).unwrap();
    assert_eq!(sealed.len(), 97 + 35 + 74);
    let frame = to_cframe(b"", &params.checksums(Checksums::None)).unwrap();
    assert_eq!(frame.len(), 97 + 35);
    let schunk = SChunk::from_cframe(frame).unwrap();
    assert_eq!(
        (schunk.nchunks(), schunk.nbytes(), schunk.cbytes(), schunk.index_len()),
        (0, 0, 0, 0)
    );
    schunk.read_bytes(0, &mut []).unwrap();
    assert!(schunk.verify(&VerifyOptions::default(), |_| {}).is_ok());
}

#[test]
fn a_file_is_no_frame_before_it_is_finished() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    let mut writer = FrameWriter::create(&path, &FrameParams::default().chunksize(800)).unwrap();
    writer.append(&Kind::Noise.bytes(800)).unwrap();
    assert!(matches!(SChunk::open(&path), Err(Error::NotAFrame { .. })));
    writer.finish().unwrap();
    assert_eq!(SChunk::open(&path).unwrap().decode_chunk(0).unwrap(), Kind::Noise.bytes(800));
}
