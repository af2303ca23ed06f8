//! Reading less than a whole chunk: items, chosen blocks, and parts fetched from elsewhere.

use crate::text;

use core::ops::Range;
use core::slice;

use blosc_chunk::{
    CParams, Chunk, CodecId, Dict, Encoder, Error, Pipeline, Scratch, Special, Target, compress,
    decompress,
    partial::{ChunkIndex, IndexStep},
    special_chunk,
};
use blosc_testdata::{
    conformance::{Case, Kind, cases},
    data::Kind as Data,
    sha256_hex,
};
use proptest::prelude::*;

use text::{hex, lines};

/// Makes an index as for a file, and counts the bytes.
fn index_of(chunk: &[u8]) -> (ChunkIndex, usize) {
    let mut head = 0;
    for _ in 0..5 {
        match ChunkIndex::parse(&chunk[..head]).unwrap() {
            IndexStep::Ready(index) => return (index, head),
            IndexStep::Needs(len) => head = len,
        }
    }
    panic!("more than four steps");
}

fn read_lazily(chunk: &[u8], range: Range<usize>, merge_gap: usize) -> Result<Vec<u8>, Error> {
    let (index, _) = index_of(chunk);
    let plan = index.plan(range.clone(), merge_gap)?;
    assert!(plan.ranges().windows(2).all(|pair| pair[0].end + merge_gap < pair[1].start));
    let parts: Vec<&[u8]> = plan.ranges().iter().map(|range| &chunk[range.clone()]).collect();
    let mut dest = vec![0xaa; range.len()];
    index.decode(&plan, &parts, &mut dest, &mut Scratch::default())?;
    Ok(dest)
}

fn chunks() -> Vec<(Vec<u8>, Vec<u8>)> {
    let data = Data::Walk.bytes(20_003);
    let params = CParams::default().codec(CodecId::LZ4).typesize(4).blocksize(Some(2048));
    let target3 = params.clone().target(Target::Blosc3_0);
    let blocks: Vec<&[u8]> = data.chunks(1777).collect();
    let delta = Pipeline::parse("delta,shuffle").unwrap();
    let made = [
        compress(&data, &params).unwrap(),
        compress(&data, &params.clone().filters(delta)).unwrap(),
        compress(&data, &params.clone().target(Target::Blosc1_14)).unwrap(),
        compress(&data, &target3.clone().dict(Dict::Train { max: 2048 })).unwrap(),
        Encoder::new(target3.clone()).unwrap().encode_vl(&blocks).unwrap(),
        Encoder::new(target3.filters(delta)).unwrap().encode_vl(&blocks).unwrap(),
        compress(&data, &params.clone().clevel(blosc_chunk::Level::NONE)).unwrap(),
    ];
    let mut chunks: Vec<_> = made.into_iter().map(|chunk| (chunk, data.clone())).collect();
    let value = special_chunk(Special::Value(b"abcd"), 4000, &params).unwrap();
    chunks.push((value, b"abcd".repeat(1000)));
    chunks.push((special_chunk(Special::Zeros, 4000, &params).unwrap(), vec![0; 4000]));
    chunks.push((compress(&[], &params).unwrap(), Vec::new()));
    chunks
}

#[test]
fn every_kind_of_chunk_is_read_in_parts_from_anywhere() {
    let mut scratch = Scratch::default();
    for (bytes, data) in chunks() {
        let chunk = Chunk::parse(&bytes).unwrap();
        for start in (0..=data.len()).step_by(509) {
            for len in [0, 1, 4, 100, 2048, 5000] {
                let range = start..(start + len).min(data.len());
                let mut part = vec![0xaa; range.len()];
                chunk.read_bytes(range.clone(), &mut part, &mut scratch).unwrap();
                assert_eq!(part, data[range.clone()]);
                assert_eq!(read_lazily(&bytes, range.clone(), len).unwrap(), data[range]);
            }
        }
    }
}

/// Compares parts from every start, and of several lengths, with the data.
fn check_parts(name: &str, chunk: &[u8], data: &[u8]) {
    for start in 0..data.len().min(40) {
        let range = start..data.len() - (data.len() - start) / 3;
        let part = read_lazily(chunk, range.clone(), 0);
        assert_eq!(part.as_deref(), Ok(&data[range]), "{name}");
    }
}

#[test]
fn historical_chunks_are_read_from_anywhere() {
    let mut count = 0;
    for line in lines("chunks/odd.txt") {
        let fields: Vec<&str> = line.split(' ').collect();
        check_parts(fields[0], &hex(fields[1]), &hex(fields[2]));
        count += 1;
    }
    assert_eq!(count, 12);
}

#[test]
fn chunks_of_the_conformance_suite_are_read_from_anywhere() {
    let is_sound = |case: &Case| case.format == "chunk" && case.kind == Kind::Valid;
    let mut count = 0;
    for case in cases().unwrap().into_iter().filter(is_sound) {
        let chunk = std::fs::read(case.path()).unwrap();
        let data = decompress(&chunk).unwrap();
        assert_eq!(Some(sha256_hex(&data)), case.data.unwrap().sha256, "{}", case.id);
        check_parts(&case.id, &chunk, &data);
        count += 1;
    }
    assert!(count > 300, "{count}");
}

#[test]
fn only_needed_bytes_are_read() {
    let (bytes, _) = &chunks()[0];
    let (index, head) = index_of(bytes);
    assert_eq!(head, 32 + 4 * 10);
    let plan = index.plan(2048..2049, 0).unwrap();
    assert_eq!(plan.ranges(), [index.extent(1)]);
    let both = index.extent(0).start..index.extent(1).end;
    assert_eq!(index.plan(2047..2049, 0).unwrap().ranges(), slice::from_ref(&both));
    let (delta, _) = &chunks()[1];
    let (index, _) = index_of(delta);
    let plan = index.plan(10_000..10_001, 0).unwrap();
    assert_eq!(plan.ranges(), [index.extent(0), index.extent(4)]);
    let (stored, _) = &chunks()[6];
    assert_eq!(index_of(stored).0.plan(5..9, 0).unwrap().ranges(), slice::from_ref(&(37..41)));
    let (value, _) = &chunks()[7];
    assert_eq!(index_of(value).0.plan(5..9, 0).unwrap().ranges(), []);
}

#[test]
fn parts_that_do_not_fit_the_plan_are_refused() {
    let (bytes, _) = &chunks()[0];
    let (index, _) = index_of(bytes);
    let plan = index.plan(0..10, 0).unwrap();
    let (mut dest, mut scratch) = ([0; 10], Scratch::default());
    let none: [&[u8]; 0] = [];
    assert!(matches!(
        index.decode(&plan, &none, &mut dest, &mut scratch),
        Err(Error::Range { .. })
    ));
    assert!(matches!(
        index.decode(&plan, &[b"abc"], &mut dest, &mut scratch),
        Err(Error::Range { .. })
    ));
    let parts = [&bytes[plan.ranges()[0].clone()]];
    assert_eq!(
        index.decode(&plan, &parts, &mut dest[..9], &mut scratch),
        Err(Error::Dest { needed: 10, room: 9 })
    );
    assert_eq!(index.plan(0..20_004, 0), Err(Error::Range { start: 0, end: 20_004, len: 20_003 }));
}

#[test]
fn a_cut_item_is_not_counted() {
    let (bytes, data) = &chunks()[0];
    let chunk = Chunk::parse(bytes).unwrap();
    let (mut dest, mut scratch) = ([0; 8], Scratch::default());
    chunk.read_items(4998..5000, &mut dest, &mut scratch).unwrap();
    assert_eq!(dest, data[19_992..20_000]);
    let range = |start, end| Err(Error::Range { start, end, len: 5000 });
    assert_eq!(chunk.read_items(5000..5001, &mut dest, &mut scratch), range(5000, 5001));
    // `start * typesize` must not wrap.
    let (start, end) = (usize::MAX / 4 + 2, usize::MAX / 4 + 3);
    assert_eq!(chunk.read_items(start..end, &mut dest, &mut scratch), range(start, end));
    #[expect(clippy::reversed_empty_ranges)]
    let reversed = chunk.read_items(3..2, &mut dest, &mut scratch);
    assert!(matches!(reversed, Err(Error::Range { .. })));
    assert_eq!(chunk.read_items(7..7, &mut [], &mut scratch), Ok(()));
}

#[test]
fn chosen_blocks_are_decoded_and_other_bytes_not_changed() {
    let mut scratch = Scratch::default();
    for (bytes, data) in &chunks()[..6] {
        let chunk = Chunk::parse(bytes).unwrap();
        let mut dest = vec![0xaa; data.len()];
        chunk.read_blocks(|nblock| nblock % 3 == 1, &mut dest, &mut scratch).unwrap();
        let mut block = vec![0; data.len()];
        for nblock in 0..chunk.nblocks() {
            let range = chunk.block_data(nblock).unwrap();
            let nbytes = chunk.read_block(nblock, &mut block, &mut scratch).unwrap();
            assert_eq!(block[..nbytes], data[range.clone()]);
            if nblock % 3 == 1 {
                assert_eq!(dest[range.clone()], data[range]);
            } else {
                assert!(dest[range].iter().all(|&byte| byte == 0xaa));
            }
        }
    }
    let (stored, _) = &chunks()[6];
    let stored = Chunk::parse(stored).unwrap();
    assert!(matches!(stored.read_block(0, &mut [], &mut scratch), Err(Error::Unsupported(_))));
}

#[test]
fn a_damaged_block_does_not_harm_the_others() {
    let (mut bytes, data) = chunks().swap_remove(0);
    let block = Chunk::parse(&bytes).unwrap().block(3).unwrap();
    bytes[block.offset()..block.offset() + 4].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
    let (chunk, mut scratch) = (Chunk::parse(&bytes).unwrap(), Scratch::default());
    let mut part = vec![0; 2048];
    for nblock in 0..chunk.nblocks() {
        let result = chunk.read_block(nblock, &mut part, &mut scratch);
        match result {
            Ok(nbytes) => assert_eq!(part[..nbytes], data[chunk.block_data(nblock).unwrap()]),
            Err(Error::Block { nblock: 3, at, .. }) => {
                assert_eq!((nblock, at), (3, block.offset() as u64))
            }
            Err(other) => panic!("{other}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_chunks_are_indexed_without_panic(
        nchunk in 0..10usize,
        damage in prop::collection::vec((any::<u16>(), any::<u8>()), 1..6),
        range in (0..20_000usize, 0..3000usize),
    ) {
        let (mut chunk, _) = chunks().swap_remove(nchunk);
        for (at, value) in damage {
            let len = chunk.len().min(80);
            chunk[usize::from(at) % len] = value;
        }
        let mut head = 32.min(chunk.len());
        while let Ok(IndexStep::Needs(len)) = ChunkIndex::parse(&chunk[..head]) {
            prop_assert!(len > head);
            if len > chunk.len() {
                return Ok(());
            }
            head = len;
        }
        let Ok(IndexStep::Ready(index)) = ChunkIndex::parse(&chunk[..head]) else { return Ok(()) };
        let range = range.0..range.0 + range.1;
        let Ok(plan) = index.plan(range.clone(), 0) else { return Ok(()) };
        let parts: Option<Vec<&[u8]>> = plan.ranges().iter().map(|r| chunk.get(r.clone())).collect();
        let (Some(parts), Ok(whole)) = (parts, Chunk::parse(&chunk)) else { return Ok(()) };
        let mut scratch = Scratch::new(&blosc_chunk::DParams::default());
        let (mut lazily, mut directly) = (vec![0; range.len()], vec![0; range.len()]);
        if index.decode(&plan, &parts, &mut lazily, &mut scratch).is_ok() {
            whole.read_bytes(range, &mut directly, &mut scratch)?;
            prop_assert_eq!(lazily, directly);
        }
    }
}
