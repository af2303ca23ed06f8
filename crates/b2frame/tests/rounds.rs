//! Rounds of a caller that fetches by itself: at most two for opening a frame, at most two for any
//! part of it, over all chunks, and none for a part that was read before.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in small files"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use b2frame::nd::{Pick, Selection};
use b2frame::{
    Budget, FrameParams, NdArray, NdParams, NdWriter, OpenOptions, SChunk, SChunkWriter, to_cframe,
};
use blosc_chunk::CParams;
use blosc_io::steps::{Fetch, FetchedFile, FetchedTree, Step};

const LIMIT: u64 = 64 << 20;

/// Runs work over a file in memory; returns the rounds, and the bytes that were fetched.
fn run<T>(
    content: &[u8],
    file: &FetchedFile,
    work: impl Fn() -> b2frame::error::Result<T>,
) -> (T, usize, u64) {
    let len = content.len() as u64;
    let mut nbytes = 0;
    for rounds in 0..100 {
        match file.step(&work).unwrap() {
            Step::Done(done) => return (done, rounds, nbytes),
            Step::Fetch(fetches) => {
                assert!(!fetches.is_empty());
                for fetch in fetches {
                    let range = fetch.range(len);
                    nbytes += range.end - range.start;
                    let bytes = &content[range.start as usize..range.end as usize];
                    file.add(range.start, bytes, len).unwrap();
                }
            }
        }
    }
    panic!("too many rounds")
}

/// Random numbers, always the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}

/// An array whose items hardly compress; some chunks are zeros.
fn array(shape: &[u64], chunkshape: &[u32], blockshape: &[u32]) -> Vec<u8> {
    let params = NdParams::new(shape, "<i4".parse().unwrap())
        .chunkshape(chunkshape)
        .blockshape(blockshape)
        .cparams(CParams::default());
    let mut writer = NdWriter::in_memory(&params).unwrap();
    let nitems: u64 = shape.iter().product();
    let mut random = Random(shape.len() as u64);
    let zeros = nitems / 3..nitems / 2;
    let item = |n: u64, random: &mut Random| {
        if zeros.contains(&n) { 0 } else { (random.next() & 0xff_ffff) as i32 }
    };
    let items: Vec<u8> = (0..nitems).flat_map(|n| item(n, &mut random).to_le_bytes()).collect();
    writer.write_bytes(.., &items).unwrap();
    writer.finish().unwrap().schunk().to_cframe().unwrap()
}

/// A part of an array of this shape.
fn part(shape: &[u64], random: &mut Random) -> Selection {
    let pick = |len: &u64| match random.below(4) {
        0 => Pick::from(random.below(*len) as i64),
        1 => Pick::ALL.step(-1 - random.below(5) as i64),
        _ => {
            let (a, b) = (random.below(len + 1) as i64, random.below(len + 1) as i64);
            Pick::from(a.min(b)..a.max(b))
        }
    };
    Selection::from(shape.iter().map(pick).collect::<Vec<_>>())
}

#[test]
fn arrays_open_in_two_rounds_and_any_part_takes_two() {
    let shapes: [(&[u64], &[u32], &[u32]); 4] = [
        (&[60, 80, 90], &[30, 80, 90], &[2, 8, 90]),
        (&[60, 80, 90], &[2, 80, 90], &[1, 5, 18]),
        (&[400_000], &[1_000], &[500]),
        (&[500, 700], &[200, 300], &[40, 50]),
    ];
    for (shape, chunkshape, blockshape) in shapes {
        let frame = array(shape, chunkshape, blockshape);
        let local = NdArray::from_cframe(frame.clone()).unwrap();
        let file = Arc::new(FetchedFile::new(LIMIT));
        let open = || NdArray::from_schunk(SChunk::from_store(Arc::clone(&file) as _)?);
        let (far, rounds, _) = run(&frame, &file, open);
        assert_eq!(rounds, 1, "{shape:?}");
        let mut random = Random(7);
        for case in 0..40 {
            let part = part(shape, &mut random);
            if case % 4 == 0 {
                file.forget();
            }
            let expected = local.to_bytes(&part).unwrap();
            let (found, rounds, nbytes) = run(&frame, &file, || far.to_bytes(&part));
            assert_eq!(found, expected, "{shape:?} {part:?}");
            assert!(rounds <= 2, "{rounds} for {part:?} of {shape:?}");
            // Each chunk has a head; chunks of up to 128 KiB are fetched whole.
            assert!(nbytes <= frame.len() as u64);
            let (_, rounds, _) = run(&frame, &file, || far.to_bytes(&part));
            assert_eq!(rounds, 0);
        }
        file.forget();
        let items: Vec<u64> = (0..50).map(|_| random.below(local.nitems())).collect();
        let mut expected = vec![0; 200];
        local.gather_bytes(&items, &mut expected).unwrap();
        let gather = || {
            let mut bytes = vec![0; 200];
            far.gather_bytes(&items, &mut bytes).map(|()| bytes)
        };
        let (found, rounds, _) = run(&frame, &file, gather);
        assert_eq!(found, expected);
        assert!(rounds <= 2, "{rounds} for items of {shape:?}");
    }
}

#[test]
fn a_line_through_all_chunks_fetches_heads_and_blocks_only() {
    // 30 chunks of 720 kB, each of 72 blocks.
    let frame = array(&[60, 300, 300], &[2, 300, 300], &[1, 50, 50]);
    let file = Arc::new(FetchedFile::new(LIMIT));
    let open = || NdArray::from_schunk(SChunk::from_store(Arc::clone(&file) as _)?);
    let (far, ..) = run(&frame, &file, open);
    file.forget();
    let (found, rounds, nbytes) = run(&frame, &file, || far.to_bytes((.., 77, 191)));
    let local = NdArray::from_cframe(frame.clone()).unwrap();
    assert_eq!(found, local.to_bytes((.., 77, 191)).unwrap());
    assert_eq!(rounds, 2);
    // 60 blocks of 10 kB that compress by a fifth, and 30 heads.
    let planned = 60 * 10_000 + 30 * (32 + 4 * 72);
    assert!(nbytes * 10 <= planned * 12, "{nbytes} of {planned}");
    assert!(nbytes * 10 >= planned * 3, "{nbytes} of {planned}");
    let (_, rounds, nbytes) = run(&frame, &file, || far.get::<i32>(&[59, 299, 299]));
    assert!(rounds <= 2 && nbytes < 20_000, "{rounds} {nbytes}");
}

#[test]
fn parts_larger_than_the_limit_come_in_batches_and_are_the_same() {
    let frame = array(&[100, 100, 100], &[10, 100, 100], &[5, 10, 100]);
    let file = Arc::new(FetchedFile::new(300 << 10));
    let open = || NdArray::from_schunk(SChunk::from_store(Arc::clone(&file) as _)?);
    let (far, ..) = run(&frame, &file, open);
    let far = far.budget(Budget::default().max_memory(8 << 20));
    file.forget();
    let local = NdArray::from_cframe(frame.clone()).unwrap();
    let (found, rounds, _) = run(&frame, &file, || far.to_bytes(..));
    assert_eq!(found, local.to_bytes(..).unwrap());
    assert!((4..30).contains(&rounds), "{rounds}");
}

#[test]
fn ranges_and_items_of_a_frame_take_two_rounds() {
    let mut random = Random(3);
    let data: Vec<u8> = (0..1_000_000).flat_map(|_| (random.next() as u32).to_le_bytes()).collect();
    for (chunksize, blocksize) in [(1_000, None), (400_000, Some(20_000)), (4_000_000, None)] {
        let cparams = CParams::default().typesize(4).blocksize(blocksize);
        let frame = to_cframe(&data, &FrameParams::new(cparams).chunksize(chunksize)).unwrap();
        let local = SChunk::from_cframe(frame.clone()).unwrap();
        let file = Arc::new(FetchedFile::new(LIMIT));
        let (far, rounds, _) = run(&frame, &file, || SChunk::from_store(Arc::clone(&file) as _));
        assert_eq!(rounds, 1);
        for _ in 0..20 {
            file.forget();
            let (a, b) = (random.below(1_000_001), random.below(1_000_001));
            let items = a.min(b)..a.max(b);
            let read = |schunk: &SChunk| {
                let mut bytes = vec![0; 4 * (items.end - items.start) as usize];
                schunk.read(items.clone(), &mut bytes).map(|()| bytes)
            };
            let (found, rounds, _) = run(&frame, &file, || read(&far));
            assert!(found == read(&local).unwrap(), "{items:?}");
            assert!(rounds <= 2, "{rounds} for {items:?} of chunks of {chunksize}");
        }
        file.forget();
        let items: Vec<u64> = (0..30).map(|_| random.below(1_000_000)).collect();
        let gather = || {
            let mut bytes = vec![0; 120];
            far.gather(&items, &mut bytes).map(|()| bytes)
        };
        let (found, rounds, _) = run(&frame, &file, gather);
        let expected = items.iter().flat_map(|item| &data[4 * *item as usize..][..4]);
        assert!(found.iter().eq(expected));
        assert!(rounds <= 2, "{rounds}");
        file.forget();
        let all = || {
            let mut back = vec![];
            far.decode_ordered(0..far.nchunks(), &Budget::default(), |_, bytes| {
                back.extend_from_slice(bytes);
                Ok::<(), b2frame::Error>(())
            })?;
            Ok(back)
        };
        let (found, rounds, _) = run(&frame, &file, all);
        assert!(found == data && rounds <= 2, "{rounds}");
        for nchunk in [0, far.nchunks() / 2, far.nchunks() - 1] {
            let extent = local.chunk_extent(nchunk).unwrap();
            let info = local.chunk_info(nchunk).unwrap();
            assert_eq!(
                (extent.start, extent.end - extent.start),
                (info.offset.unwrap(), info.cbytes)
            );
        }
        assert_eq!(local.chunk_extent(local.nchunks()), None);
    }
}

#[test]
fn an_index_that_is_longer_than_the_tail_takes_a_second_round() {
    // 200,000 chunks whose positions hardly compress.
    let mut random = Random(5);
    let data: Vec<u8> =
        (0..200_000 * 4).flat_map(|_| (random.next() as u16).to_le_bytes()).collect();
    let cparams = CParams::default().typesize(2);
    let frame = to_cframe(&data, &FrameParams::new(cparams).chunksize(8)).unwrap();
    let file = Arc::new(FetchedFile::new(LIMIT));
    let (far, rounds, _) = run(&frame, &file, || SChunk::from_store(Arc::clone(&file) as _));
    assert!(far.index_len() > 64 << 10, "{}", far.index_len());
    assert_eq!(rounds, 2);
    let read = || {
        let mut bytes = [0; 100];
        far.read_bytes(700_000, &mut bytes).map(|()| bytes)
    };
    let (found, rounds, _) = run(&frame, &file, read);
    assert!(rounds <= 2 && found == data[700_000..700_100], "{rounds}");
}

#[test]
fn sparse_frames_are_fetched_in_as_many_rounds() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sparse.b2frame");
    let mut random = Random(9);
    let data: Vec<u8> = (0..300_000).flat_map(|_| (random.next() as u32).to_le_bytes()).collect();
    let cparams = CParams::default().typesize(4).blocksize(Some(16_000));
    let params = FrameParams::new(cparams).chunksize(240_000);
    let mut writer = SChunkWriter::create_sparse(&path, &params).unwrap();
    data.chunks(240_000).for_each(|chunk| {
        writer.append(chunk).unwrap();
    });
    writer.commit().unwrap();
    let files: BTreeMap<String, Vec<u8>> = std::fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
        })
        .collect();
    let listing = files.iter().map(|(name, bytes)| (name.clone(), bytes.len() as u64));
    let tree = Arc::new(FetchedTree::new(listing, LIMIT));
    let fetch = |fetches: Vec<(String, Fetch)>| {
        for (name, fetch) in fetches {
            let len = files[&name].len() as u64;
            let range = fetch.range(len);
            let bytes = &files[&name][range.start as usize..range.end as usize];
            tree.add(&name, range.start, bytes, len).unwrap();
        }
    };
    let mut rounds = 0;
    let far = loop {
        let options = OpenOptions::default();
        match tree.step(|| SChunk::from_tree(Arc::clone(&tree) as _, &options)).unwrap() {
            Step::Done(far) => break far,
            Step::Fetch(fetches) => fetch(fetches),
        }
        rounds += 1;
    };
    // Without a suffix request, the header gives the positions of the other parts.
    assert!(rounds <= 3, "{rounds}");
    for range in [0..1_200_000, 239_000..241_000, 700_000..700_004] {
        tree.forget();
        let mut rounds = 0;
        let found = loop {
            let read = || {
                let mut bytes = vec![0; range.len()];
                far.read_bytes(range.start as u64, &mut bytes).map(|()| bytes)
            };
            match tree.step(read).unwrap() {
                Step::Done(found) => break found,
                Step::Fetch(fetches) => fetch(fetches),
            }
            rounds += 1;
        };
        assert!(found == data[range.clone()] && rounds <= 2, "{rounds} for {range:?}");
    }
}

/// A damaged frame gives the same error as in memory, in as many rounds.
#[test]
fn damage_is_told_as_in_memory() {
    let frame = array(&[60, 80, 90], &[2, 80, 90], &[1, 5, 18]);
    let local = NdArray::from_cframe(frame.clone()).unwrap();
    let extent = local.schunk().chunk_extent(7).unwrap();
    for at in [0, 5, 12, 40, 300, 5_000] {
        let mut damaged = frame.clone();
        damaged[extent.start as usize + at] ^= 0x5a;
        let local = NdArray::from_cframe(damaged.clone()).unwrap();
        let file = Arc::new(FetchedFile::new(LIMIT));
        let open = || NdArray::from_schunk(SChunk::from_store(Arc::clone(&file) as _)?);
        let (far, ..) = run(&damaged, &file, open);
        let outcome = |array: &NdArray| match array.to_bytes((.., 3, 5)) {
            Ok(bytes) => Ok(bytes),
            Err(error) => Err(error.to_string()),
        };
        let (mut found, mut rounds) = (None, 0);
        while found.is_none() {
            match file.step(|| far.to_bytes((.., 3, 5))) {
                Ok(Step::Done(bytes)) => found = Some(Ok(bytes)),
                Err(error) => found = Some(Err(error.to_string())),
                Ok(Step::Fetch(fetches)) => {
                    for fetch in fetches {
                        let range = fetch.range(damaged.len() as u64);
                        let bytes = &damaged[range.start as usize..range.end as usize];
                        file.add(range.start, bytes, damaged.len() as u64).unwrap();
                    }
                    rounds += 1;
                }
            }
        }
        assert_eq!(found.unwrap(), outcome(&local), "byte {at}");
        assert!(rounds <= 4, "{rounds} for byte {at}");
    }
}
