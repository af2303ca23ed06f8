//! A chunk at a position of a store: the same data by every way of reading, and the number of bytes
//! read.

use blosc_chunk::{
    CParams, Chunk, CodecId, Dict, Error, Pipeline, Scratch, Special, compress, error::Corrupt,
    special_chunk,
};
use blosc_container::chunk_reader::{ChunkReader, ReadError};
use blosc_io::testing::CountingStore;
use blosc_io::{MemStore, ReadAt};
use blosc_testdata::data::Kind;

/// The position of chunks in their stores.
const AT: u64 = 1000;

/// A store with a chunk in the middle, which lends the reader no memory.
fn counted(chunk: &[u8]) -> CountingStore<MemStore> {
    let before = vec![0xEE; usize::try_from(AT).unwrap()];
    CountingStore::new(MemStore::new([&before, chunk, &[0xEE; 5000]].concat()))
}

/// 100 blocks of 10,000 bytes.
fn long_chunk(filters: &str) -> (Vec<u8>, Vec<u8>) {
    let data = Kind::Walk.bytes(1_000_000);
    let filters = Pipeline::parse(filters).unwrap();
    let params = CParams::default().codec(CodecId::LZ4).typesize(4).filters(filters);
    let chunk = compress(&data, &params.blocksize(Some(10_000))).unwrap();
    assert!(chunk.len() > 200_000, "{}", chunk.len());
    (data, chunk)
}

fn open<'a>(store: &'a dyn ReadAt, buffer: &'a mut Vec<u8>) -> ChunkReader<'a> {
    ChunkReader::open(store, AT, store.len().unwrap() - AT, buffer).unwrap()
}

#[test]
fn a_range_reads_head_and_blocks_in_two_requests() {
    let (data, chunk) = long_chunk("shuffle");
    let (store, mut buffer, mut scratch) = (counted(&chunk), vec![], Scratch::default());
    let mut part = [0; 20_000];
    open(&store, &mut buffer).decode(500_000..520_000, &mut part, &mut scratch).unwrap();
    assert!(part == data[500_000..520_000]);
    assert_eq!(store.requests(), 2);
    assert!(store.bytes() < 2048 + 20_000, "{}", store.bytes());
    for read in store.reads() {
        assert!(AT <= read.start && read.end <= AT + chunk.len() as u64, "{read:?}");
    }
}

#[test]
fn block_starts_beyond_the_head_are_read_apart() {
    let data = Kind::Walk.bytes(1_000_000);
    let params = CParams::default().codec(CodecId::LZ4).typesize(4).blocksize(Some(1000));
    let chunk = compress(&data, &params).unwrap();
    let (store, mut buffer, mut part) = (counted(&chunk), vec![], [0; 10]);
    let mut reader = open(&store, &mut buffer);
    reader.decode(999_990..1_000_000, &mut part, &mut Scratch::default()).unwrap();
    assert_eq!(part, data[999_990..]);
    assert_eq!(store.requests(), 3);
    assert_eq!(store.reads()[1], AT + 2048..AT + 32 + 4 * 1000);
}

#[test]
fn most_of_a_chunk_is_read_as_a_whole() {
    let (data, chunk) = long_chunk("shuffle");
    let (store, mut buffer) = (counted(&chunk), vec![]);
    let mut part = vec![0; 600_000];
    open(&store, &mut buffer).decode(0..600_000, &mut part, &mut Scratch::default()).unwrap();
    assert!(part == data[..600_000]);
    assert_eq!((store.requests(), store.bytes()), (2, chunk.len() as u64));
}

#[test]
fn a_short_chunk_is_read_as_a_whole() {
    let data = Kind::Walk.bytes(8000);
    let chunk = compress(&data, &CParams::default().codec(CodecId::LZ4).blocksize(Some(1000)));
    let chunk = chunk.unwrap();
    let (store, mut buffer, mut part) = (counted(&chunk), vec![], [0; 8]);
    let mut reader = open(&store, &mut buffer);
    for start in [0, 5000, 7992] {
        reader.decode(start..start + 8, &mut part, &mut Scratch::default()).unwrap();
        assert_eq!(part, data[start..start + 8]);
    }
    assert_eq!((store.requests(), store.bytes()), (2, chunk.len() as u64));
}

#[test]
fn stored_data_are_read_without_their_chunk() {
    let data = Kind::Noise.bytes(100_000);
    let chunk = compress(&data, &CParams::default()).unwrap();
    assert!(Chunk::parse(&chunk).unwrap().header().is_memcpyed());
    let (store, mut buffer, mut part) = (counted(&chunk), vec![], [0; 100]);
    let mut reader = open(&store, &mut buffer);
    reader.decode(70_000..70_100, &mut part, &mut Scratch::default()).unwrap();
    assert_eq!(part, data[70_000..70_100]);
    assert_eq!(store.reads()[1], AT + 32 + 70_000..AT + 32 + 70_100);
    let outside = reader.decode(99_950..100_050, &mut part, &mut Scratch::default()).unwrap_err();
    assert!(matches!(outside, ReadError::Chunk(Error::Range { end: 100_050, len: 100_000, .. })));
}

#[test]
fn memory_is_borrowed() {
    let (data, chunk) = long_chunk("shuffle");
    let (store, mut buffer, mut part) = (MemStore::new(chunk.clone()), vec![], [0; 10]);
    let mut reader = ChunkReader::open(&store, 0, chunk.len() as u64, &mut buffer).unwrap();
    assert_eq!(reader.bytes().unwrap().as_ptr(), store.in_memory().unwrap().as_ptr());
    reader.decode(77..87, &mut part, &mut Scratch::default()).unwrap();
    assert_eq!(part, data[77..87]);
    assert!(reader.fetch(core::slice::from_ref(&(0..1))).unwrap().whole().is_some());
    assert_eq!(buffer.capacity(), 0);
}

#[test]
fn several_ranges_are_one_request_and_the_first_block_is_read_once() {
    for (filters, nblocks) in [("shuffle", 3), ("delta,shuffle", 4)] {
        let (data, chunk) = long_chunk(filters);
        let (store, mut buffer) = (counted(&chunk), vec![]);
        let ranges = [200_000..200_004, 400_000..410_000, 900_000..900_001];
        let fetched = open(&store, &mut buffer).fetch(&ranges).unwrap();
        assert!(fetched.whole().is_none());
        let mut scratch = Scratch::default();
        for range in ranges {
            let mut part = vec![0; range.len()];
            fetched.decode(range.clone(), &mut part, &mut scratch).unwrap();
            assert!(part == data[range]);
        }
        // The head, and one range for each run of blocks.
        assert_eq!(store.reads().len(), 1 + nblocks, "{filters}");
        // Data that were not fetched are read as well, only later.
        let mut part = [0; 4];
        fetched.decode(600_000..600_004, &mut part, &mut scratch).unwrap();
        assert_eq!(part, data[600_000..600_004]);
    }
}

#[test]
fn damage_elsewhere_does_not_matter_and_is_told_where_it_does() {
    let (data, mut chunk) = long_chunk("shuffle");
    // The start of block 70.
    chunk[32 + 4 * 70..][..4].copy_from_slice(&(-5_i32).to_le_bytes());
    let store = counted(&chunk);
    let (mut buffer, mut part, mut scratch) = (vec![], [0; 8], Scratch::default());
    let mut reader = open(&store, &mut buffer);
    assert!(matches!(reader.index().unwrap_err(), ReadError::Chunk(Error::Corrupt { .. })));
    reader.decode(500_000..500_008, &mut part, &mut scratch).unwrap();
    assert_eq!(part, data[500_000..500_008]);
    let ReadError::Chunk(found) =
        reader.decode(700_000..700_008, &mut part, &mut scratch).unwrap_err()
    else {
        panic!("not the chunk")
    };
    let in_memory = Chunk::parse(&chunk).unwrap().read_bytes(
        700_000..700_008,
        &mut part,
        &mut Scratch::default(),
    );
    assert_eq!(found, in_memory.unwrap_err());
}

#[test]
fn an_index_serves_many_plans() {
    let (data, chunk) = long_chunk("shuffle");
    let (store, mut buffer, mut scratch) = (counted(&chunk), vec![], Scratch::default());
    let mut reader = open(&store, &mut buffer);
    let index = reader.index().unwrap();
    let mut part = [0; 1000];
    for start in [0, 333_333, 999_000] {
        let plan = index.plan(start..start + 1000, 0).unwrap();
        reader.decode_plan(&index, &plan, &mut part, &mut scratch).unwrap();
        assert!(part == data[start..start + 1000]);
    }
    assert_eq!(store.requests(), 1 + 3);
}

#[test]
fn special_chunks_and_dictionaries_are_read_in_parts_too() {
    let zstd = CParams::default().codec(CodecId::ZSTD).typesize(1).blocksize(Some(8000));
    let text = b"the same words again and again, with numbers ".repeat(10_000);
    let noisy: Vec<u8> =
        text.iter().zip(Kind::Noise.bytes(text.len())).map(|(a, b)| a ^ (b & 3)).collect();
    let value = Special::Value(&[1, 2, 3, 4]);
    let typed = CParams::default().typesize(4);
    for (data, chunk) in [
        (noisy.clone(), compress(&noisy, &zstd.dict(Dict::Train { max: 10_000 })).unwrap()),
        ([1, 2, 3, 4].repeat(10_000), special_chunk(value, 40_000, &typed).unwrap()),
        (vec![0; 40_000], special_chunk(Special::Zeros, 40_000, &typed).unwrap()),
    ] {
        let (store, mut buffer, mut part) = (counted(&chunk), vec![], [0; 8]);
        let mut reader = open(&store, &mut buffer);
        reader.decode(20_001..20_009, &mut part, &mut Scratch::default()).unwrap();
        assert_eq!(part, data[20_001..20_009]);
        assert!(store.bytes() <= 2048 + chunk.len() as u64 / 2 + 100 || chunk.len() < 3000);
    }
}

#[test]
fn a_chunk_that_is_cut_is_refused() {
    let (_, chunk) = long_chunk("shuffle");
    let (cbytes, cut) = (chunk.len(), chunk.len() - 1);
    let (store, mut buffer) = (MemStore::new(chunk), vec![]);
    let error = ChunkReader::open(&store, 0, cut as u64, &mut buffer).unwrap_err();
    let what = Corrupt::Truncated { cbytes, len: cut };
    assert!(matches!(error, ReadError::Chunk(found) if found == Error::Corrupt { at: 0xc, what }));
}

#[test]
fn a_store_that_ends_early_is_an_io_error() {
    let (_, chunk) = long_chunk("shuffle");
    let len = chunk.len() as u64;
    let store = CountingStore::new(MemStore::new(chunk[..100_000].to_vec()));
    let (mut buffer, mut part) = (vec![], [0; 4]);
    let mut reader = ChunkReader::open(&store, 0, len, &mut buffer).unwrap();
    let error = reader.decode(999_000..999_004, &mut part, &mut Scratch::default()).unwrap_err();
    assert!(matches!(error, ReadError::Io { at, .. } if at > 100_000), "{error:?}");
}

mod random_data {
    use proptest::prelude::*;

    use super::*;

    fn params() -> impl Strategy<Value = CParams> {
        let codecs = prop::sample::select(&[CodecId::BLOSCLZ, CodecId::LZ4, CodecId::ZSTD]);
        let filters = prop::sample::select(&["", "shuffle", "delta,shuffle", "bitshuffle"]);
        let choices = (codecs, filters, 1_usize..9);
        (choices, 500_usize..20_000).prop_map(|((codec, filters, typesize), blocksize)| {
            let filters = Pipeline::parse(filters).unwrap();
            let params = CParams::default().codec(codec).typesize(typesize).filters(filters);
            params.blocksize(Some(blocksize.next_multiple_of(typesize)))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn every_way_gives_the_same_bytes(
            params in params(),
            kind in prop::sample::select(&[Kind::Walk, Kind::Mixed, Kind::Noise]),
            len in 1_usize..300_000,
            bounds in prop::collection::vec(0_usize..=1000, 6),
        ) {
            let data = kind.bytes(len);
            let chunk = compress(&data, &params).unwrap();
            let mut bounds: Vec<usize> = bounds.iter().map(|bound| bound * len / 1000).collect();
            bounds.sort_unstable();
            let ranges: Vec<_> = bounds.chunks(2).map(|pair| pair[0]..pair[1]).collect();
            let (store, mut buffer, mut scratch) = (counted(&chunk), vec![], Scratch::default());
            for range in &ranges {
                let mut part = vec![0; range.len()];
                open(&store, &mut buffer).decode(range.clone(), &mut part, &mut scratch).unwrap();
                prop_assert!(part == data[range.clone()]);
            }
            let fetched = open(&store, &mut buffer).fetch(&ranges).unwrap();
            for range in &ranges {
                let mut part = vec![0; range.len()];
                fetched.decode(range.clone(), &mut part, &mut scratch).unwrap();
                prop_assert!(part == data[range.clone()]);
            }
        }
    }
}

#[test]
fn a_chunk_that_says_it_is_lazy_has_no_data_however_it_is_read() {
    let data = Kind::Noise.bytes(100_000);
    let mut chunk = compress(&data, &CParams::default()).unwrap();
    assert!(Chunk::parse(&chunk).unwrap().header().is_memcpyed());
    chunk[0x1f] |= 0x08;
    let (store, memory) = (counted(&chunk), MemStore::new([vec![0; 1000], chunk].concat()));
    for store in [&store as &dyn ReadAt, &memory] {
        for range in [0..10, 0..100_000] {
            let (mut buffer, mut dest) = (vec![], vec![0; range.len()]);
            let read = open(store, &mut buffer).decode(range, &mut dest, &mut Scratch::default());
            let is_lazy =
                |error: &Error| matches!(error, Error::Corrupt { what: Corrupt::Lazy, .. });
            assert!(matches!(&read, Err(ReadError::Chunk(error)) if is_lazy(error)), "{read:?}");
        }
    }
}
