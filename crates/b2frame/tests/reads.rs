//! Counts reads: opening reads header, trailer and index; reading a part reads only its blocks.

use std::sync::Arc;

use b2frame::{Budget, Error, FrameParams, OpenOptions, SChunk, to_cframe};
use blosc_chunk::{CParams, CodecId, Pipeline, Threads};
use blosc_io::MemStore;
use blosc_io::testing::CountingStore;
use blosc_testdata::data::Kind;

/// A frame in a counting store, opened.
fn counted(frame: Vec<u8>) -> (Arc<CountingStore<MemStore>>, SChunk) {
    let store = Arc::new(CountingStore::new(MemStore::new(frame)));
    let schunk = SChunk::from_store(store.clone()).unwrap();
    (store, schunk)
}

fn params() -> FrameParams {
    FrameParams::new(CParams::default().codec(CodecId::LZ4).typesize(4)).metalayer("kind", *b"test")
}

#[test]
fn opening_reads_header_trailer_and_index_only() {
    let data = Kind::Walk.bytes(3_000_000);
    let (store, schunk) = counted(to_cframe(&data, &params().chunksize(10_000)).unwrap());
    assert_eq!(schunk.nchunks(), 300);
    let (start, end) =
        (u64::from(schunk.header().header_len()), schunk.frame_len() - schunk.trailer_len());
    let index = end - schunk.index_len();
    assert!(
        store.bytes() < 200 + schunk.index_len() + schunk.trailer_len() + 100,
        "{}",
        store.bytes()
    );
    for read in store.reads() {
        assert!(
            read.end <= start || read.start >= index,
            "{read:?} is in the data section {start}..{index}"
        );
    }
}

#[test]
fn opening_costs_the_same_with_a_million_chunks() {
    // Incompressible items, so that the index is not a run and each chunk has one item.
    let data = Kind::Noise.bytes(8000);
    let (store, schunk) = counted(to_cframe(&data, &params().chunksize(4)).unwrap());
    assert_eq!(schunk.nchunks(), 2000);
    let small = store.bytes();
    let (store, schunk) =
        counted(to_cframe(&Kind::Noise.bytes(80_000), &params().chunksize(4)).unwrap());
    assert_eq!(schunk.nchunks(), 20_000);
    assert!(store.bytes() < small, "a large index is read when it is needed");
    let before = store.requests();
    assert_eq!(schunk.chunk_info(12_345).unwrap().nbytes, 4);
    assert_eq!(store.requests() - before, 2, "the index, and the header of the chunk");
    schunk.chunk_info(12_346).unwrap();
    assert_eq!(store.requests() - before, 3, "the index is kept");
}

#[test]
fn looking_at_chunks_reads_their_headers() {
    let (store, schunk) =
        counted(to_cframe(&Kind::Walk.bytes(1_000_000), &params().chunksize(100_000)).unwrap());
    store.reset();
    let infos: Vec<_> = schunk.chunk_infos().collect::<Result<_, _>>().unwrap();
    assert_eq!((store.requests(), store.bytes()), (10, 320));
    assert!(infos.iter().all(|info| info.nbytes == 100_000 && info.cbytes < 100_000));
}

#[test]
fn a_range_reads_the_chunks_and_blocks_that_hold_it() {
    let data = Kind::Walk.bytes(4_000_000);
    let cparams = CParams::default().codec(CodecId::ZSTD).typesize(4).blocksize(Some(16_000));
    for filters in [Pipeline::SHUFFLE, Pipeline::parse("delta,shuffle").unwrap()] {
        let params = FrameParams::new(cparams.clone().filters(filters)).chunksize(1_000_000);
        let (store, schunk) = counted(to_cframe(&data, &params).unwrap());
        store.reset();
        let mut dest = vec![0; 2000];
        schunk.read_bytes(1_500_000, &mut dest).unwrap();
        assert_eq!(dest, data[1_500_000..1_502_000]);
        let info = schunk.chunk_info(1).unwrap();
        let block = info.cbytes / 63;
        assert!(
            store.bytes() < 400 + 4 * block,
            "{} bytes for a block of about {block}",
            store.bytes()
        );
        let offset = info.offset.unwrap();
        for read in store.reads() {
            assert!(offset <= read.start && read.end <= offset + info.cbytes, "{read:?}");
        }
    }
}

#[test]
fn a_range_of_a_stored_chunk_reads_just_that() {
    let data = Kind::Noise.bytes(100_000);
    let (store, schunk) = counted(to_cframe(&data, &params().chunksize(50_000)).unwrap());
    store.reset();
    let mut dest = vec![0; 400];
    schunk.read(17_500..17_600, &mut dest).unwrap();
    assert_eq!(dest, data[70_000..70_400]);
    assert_eq!(store.bytes(), 32 + 400);
}

#[test]
fn a_run_reads_nothing() {
    let params = params().chunksize(10_000);
    let (store, schunk) = counted(to_cframe(&[0; 1_000_000], &params).unwrap());
    store.reset();
    assert_eq!(schunk.decode_chunk(50).unwrap(), [0; 10_000]);
    assert_eq!(schunk.usage().unwrap().zeros, 100);
    assert_eq!(store.bytes(), 0);
    // Verifying reads only the bytes that have a sum.
    assert!(schunk.verify(&b2frame::report::VerifyOptions::default(), |_| {}).is_ok());
    let header_len = u64::from(schunk.header().header_len());
    assert_eq!(store.bytes(), header_len + schunk.index_len() + schunk.trailer_len() - 16);
}

#[test]
fn any_range_is_a_slice_of_the_whole() {
    let data = Kind::Mixed.bytes(100_003);
    let (_, schunk) = counted(to_cframe(&data, &params().chunksize(7000)).unwrap());
    for start in (0..data.len()).step_by(1777) {
        for len in [0, 1, 3999, 7000, 7001, 20_000] {
            let end = (start + len).min(data.len());
            let mut dest = vec![1; end - start];
            schunk.read_bytes(start as u64, &mut dest).unwrap();
            assert!(dest == data[start..end], "{start}..{end}");
        }
    }
}

#[test]
fn large_chunks_come_in_parts_that_fit_into_memory() {
    let cparams = CParams::default().codec(CodecId::LZ4).typesize(4).blocksize(Some(32_000));
    let mut data = Kind::Mixed.bytes(5_000_000);
    data[1_000_000..3_500_000].fill(0);
    let params = FrameParams::new(cparams).chunksize(1_000_000);
    let (_, schunk) = counted(to_cframe(&data, &params).unwrap());
    for threads in [Threads::One, Threads::Auto] {
        let options = Budget::default().threads(threads).max_memory(200_000);
        let (mut back, mut largest) = (vec![], 0);
        schunk
            .decode_ordered(0..5, &options, |nchunk, bytes| {
                assert_eq!(nchunk, back.len() as u64 / 1_000_000);
                largest = largest.max(bytes.len());
                back.extend_from_slice(bytes);
                Ok::<(), Error>(())
            })
            .unwrap();
        assert!(back == data);
        assert!(largest <= 200_000, "{largest}");
        let verify = b2frame::report::VerifyOptions::default().budget(options);
        assert!(schunk.verify(&verify, |_| {}).is_ok());
    }
    let tiny = schunk.decode_ordered(0..5, &Budget::default().max_memory(20_000), |_, _| Ok(()));
    assert!(matches!(tiny, Err(Error::Limit { limit: 20_000, .. })), "{tiny:?}");
}

#[test]
fn frames_follow_each_other_in_a_file() {
    let frames: Vec<_> = [&b"one"[..], b"", b"three"]
        .iter()
        .map(|data| to_cframe(data, &params()).unwrap())
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("frames");
    std::fs::write(&path, [frames.concat(), b"and more".to_vec()].concat()).unwrap();
    let mut found = SChunk::frames(&path).unwrap();
    let sizes: Vec<_> = found.by_ref().map(|frame| frame.unwrap().nbytes()).collect();
    assert_eq!(sizes, [3, 0, 5]);
    assert_eq!(found.position(), frames.concat().len() as u64);
    let third = OpenOptions::default().offset((frames[0].len() + frames[1].len()) as u64);
    let schunk = SChunk::open_with(&path, &third).unwrap();
    assert_eq!(schunk.decode_chunk(0).unwrap(), b"three");
    assert_eq!(schunk.offset(), third.offset);
    let info = schunk.chunk_info(0).unwrap();
    assert_eq!(info.offset, Some(third.offset + u64::from(schunk.header().header_len())));
}
