//! Prefilters and postfilters: data that are made and changed, for every kind of chunk, in parts,
//! with any number of threads.

use core::num::NonZeroUsize;

use std::sync::Mutex;
use std::thread;

use blosc_chunk::error::Blame;
use blosc_chunk::hooks::{BlockCx, HookResult, Made};
use blosc_chunk::{
    CParams, Chunk, CodecId, DParams, Decoder, Dict, Encoder, Error, Kind, Level, Pipeline,
    Scratch, Special, SplitMode, Target, Threads, compress, decompress, max_compressed_len,
    special_chunk,
};

const THREE: Threads = Threads::N(NonZeroUsize::new(3).unwrap());

/// Byte `at` of the data.
fn byte(at: usize) -> u8 {
    (at / 64 % 7 * (at % 4)).to_le_bytes()[0]
}

fn made(cx: BlockCx<'_>, dest: &mut [u8]) -> HookResult<Made> {
    dest.iter_mut().enumerate().for_each(|(i, dest)| *dest = byte(cx.at + i));
    Ok(Made::Data)
}

/// The same from data with all bits inverted.
fn inverted(cx: BlockCx<'_>, dest: &mut [u8]) -> HookResult<Made> {
    dest.iter_mut().zip(cx.input).for_each(|(dest, byte)| *dest = !byte);
    Ok(Made::Data)
}

fn data(nbytes: usize) -> Vec<u8> {
    (0..nbytes).map(byte).collect()
}

#[test]
fn a_prefilter_changes_blocks_of_individual_sizes() {
    let params = CParams::default().typesize(1).target(Target::Blosc3_0);
    let mut encoder = Encoder::new(params).unwrap();
    let blocks: [&[u8]; 3] = [b"variable", &[7; 300], b"x"];
    let changed: Vec<Vec<u8>> =
        blocks.iter().map(|block| block.iter().map(|byte| !byte).collect()).collect();
    let changed: Vec<&[u8]> = changed.iter().map(Vec::as_slice).collect();
    let wanted = encoder.encode_vl(&changed).unwrap();
    assert_eq!(encoder.encode_vl_with(&blocks, &inverted).unwrap(), wanted);

    let places = Mutex::new(Vec::new());
    let noted = |cx: BlockCx<'_>, dest: &mut [u8]| {
        places.lock().unwrap().push((cx.nblock, cx.at, cx.blocksize, dest.len()));
        dest.fill(1);
        Ok(Made::Zeros)
    };
    let zeros = encoder.encode_vl_with(&blocks, &noted).unwrap();
    assert_eq!(*places.lock().unwrap(), [(0, 0, 8, 8), (1, 8, 300, 300), (2, 308, 1, 1)]);
    let zeros = Chunk::parse(&zeros).unwrap().as_vl().unwrap();
    assert_eq!(zeros.read(1, &mut Scratch::default()).unwrap(), [0; 300]);

    let fails = |cx: BlockCx<'_>, _: &mut [u8]| match cx.nblock {
        2 => Err("no".into()),
        _ => Ok(Made::Zeros),
    };
    let error = encoder.encode_vl_with(&blocks, &fails).unwrap_err();
    assert!(matches!(error, Error::Hook { nblock: 2, .. }), "{error}");
}

#[test]
fn a_prefilter_and_its_data_give_the_same_chunk() {
    let params = CParams::default().typesize(4).blocksize(Some(1024)).codec(CodecId::LZ4);
    let cases = [
        params.clone(),
        params.clone().filters(Pipeline::parse("delta,shuffle").unwrap()),
        params
            .clone()
            .codec(CodecId::LZ4HC)
            .dict(Dict::Train { max: 1000 })
            .target(Target::Blosc3_0),
        params.clone().clevel(Level::NONE),
        params.target(Target::Blosc1_14),
    ];
    for params in cases {
        for nbytes in [0, 3, 31, 1000, 1024, 30_001, 200_001] {
            let plain = compress(&data(nbytes), &params).unwrap();
            let before: Vec<u8> = data(nbytes).into_iter().map(|byte| !byte).collect();
            for threads in [Threads::One, THREE] {
                let mut encoder = Encoder::new(params.clone().threads(threads)).unwrap();
                encoder.use_all_threads();
                let chunks = [
                    encoder.encode_with(nbytes, &made).unwrap(),
                    encoder.encode_with(&before[..], &inverted).unwrap(),
                ];
                assert!(chunks.iter().all(|chunk| *chunk == plain), "{params:?} {nbytes}");
            }
        }
    }
}

#[test]
fn each_block_is_made_once_and_knows_its_place() {
    for threads in [Threads::One, THREE] {
        let params = CParams::default().typesize(4).blocksize(Some(1024)).threads(threads);
        let seen = Mutex::new(Vec::new());
        let counted = |cx: BlockCx<'_>, dest: &mut [u8]| {
            assert_eq!((cx.at, cx.blocksize, cx.input.len()), (1024 * cx.nblock, 1024, 0));
            seen.lock().unwrap().push((cx.nblock, dest.len()));
            made(cx, dest)
        };
        let mut encoder = Encoder::new(params.clone()).unwrap();
        encoder.use_all_threads();
        let mut chunk = vec![0; max_compressed_len(10_000)];
        let cbytes = encoder.encode_with_into(10_000, &counted, &mut chunk).unwrap();
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        let lens = (0..10).map(|nblock| (nblock, if nblock < 9 { 1024 } else { 784 }));
        assert!(seen.into_iter().eq(lens));
        assert_eq!(chunk[..cbytes], compress(&data(10_000), &params).unwrap());
    }
}

#[test]
fn a_prefilter_fills_a_memcpyed_chunk_block_by_block() {
    let mix = |at: usize| {
        let mixed = (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9).to_le_bytes()[7]
    };
    let noise = |cx: BlockCx<'_>, dest: &mut [u8]| {
        assert_eq!(dest.len(), 1000);
        dest.iter_mut().zip(cx.at..).for_each(|(dest, at)| *dest = mix(at));
        Ok(Made::Data)
    };
    let params = CParams::default().blocksize(Some(1000));
    let chunk = Encoder::new(params).unwrap().encode_with(9000, &noise).unwrap();
    assert_eq!(Chunk::parse(&chunk).unwrap().header().kind(), Kind::Memcpyed);
    assert_eq!(decompress(&chunk).unwrap(), (0..9000).map(mix).collect::<Vec<u8>>());
}

#[test]
fn a_block_that_a_prefilter_calls_zeros_is_zeros() {
    let params = CParams::default().typesize(4).blocksize(Some(1024)).split(SplitMode::Never);
    let odd = |cx: BlockCx<'_>, dest: &mut [u8]| {
        dest.fill(7);
        Ok(if cx.nblock.is_multiple_of(2) { Made::Zeros } else { Made::Data })
    };
    let expected: Vec<u8> = (0..8000).map(|at| if at / 1024 % 2 == 0 { 0 } else { 7 }).collect();
    let targets = [Target::Blosc2_0, Target::Blosc1_14];
    for params in targets.map(|target| params.clone().target(target)) {
        for params in [params.clone(), params.clone().clevel(Level::NONE)] {
            let chunk = Encoder::new(params.clone()).unwrap().encode_with(8000, &odd).unwrap();
            assert_eq!(chunk, compress(&expected, &params).unwrap());
        }
    }
    let none = |_: BlockCx<'_>, _: &mut [u8]| Ok(Made::Zeros);
    let chunk = Encoder::new(params).unwrap().encode_with(8000, &none).unwrap();
    assert_eq!(Chunk::parse(&chunk).unwrap().special(), Some(Special::Zeros));
}

#[test]
fn the_error_of_a_hook_comes_back_with_its_block() {
    let noise: Vec<u8> = (0..9000u32)
        .map(|i| (i.wrapping_mul(i).wrapping_mul(7919) >> 7).to_le_bytes()[0])
        .collect();
    for threads in [Threads::One, THREE] {
        for level in [Level::NONE, Level::DEFAULT] {
            let params = CParams::default().blocksize(Some(1024)).clevel(level).threads(threads);
            let fails = |cx: BlockCx<'_>, dest: &mut [u8]| {
                if cx.nblock >= 3 { Err("no third block".into()) } else { inverted(cx, dest) }
            };
            let mut encoder = Encoder::new(params.clone()).unwrap();
            encoder.use_all_threads();
            let error = encoder.encode_with(&noise[..], &fails).unwrap_err();
            assert!(matches!(&error, Error::Hook { nblock: 3, .. }), "{error:?}");
            assert_eq!(error.blame(), Blame::Usage);
            let Error::Hook { source, .. } = &error else { panic!("{error:?}") };
            assert_eq!(source.get().to_string(), "no third block");
            assert_eq!(error.clone(), error);

            let bytes = compress(&noise, &params).unwrap();
            let fails = |cx: BlockCx<'_>, _: &mut [u8]| {
                if cx.nblock >= 3 { Err("no third block".into()) } else { Ok(()) }
            };
            let mut decoder = Decoder::new(DParams::default().threads(threads));
            decoder.scratch().use_all_threads();
            let chunk = Chunk::parse(&bytes).unwrap();
            let read = |range: core::ops::Range<usize>, scratch: &mut Scratch| {
                chunk.read_bytes_with(range.clone(), &mut vec![0; range.len()], scratch, &fails)
            };
            assert!(read(0..3000, decoder.scratch()).is_ok());
            let error = read(0..9000, decoder.scratch()).unwrap_err();
            assert!(matches!(error, Error::Hook { nblock: 3, .. }), "{error:?}");
        }
    }
}

#[test]
fn one_thread_is_the_callers_and_workers_do_not_share_a_number() {
    let data = data(600_000);
    let bytes = compress(&data, &CParams::default().typesize(1).blocksize(Some(10_000))).unwrap();
    let chunk = Chunk::parse(&bytes).unwrap();
    for (threads, count) in [(Threads::One, 1), (THREE, 3)] {
        let caller = thread::current().id();
        let busy: Vec<_> = (0..count).map(|_| Mutex::new(0usize)).collect();
        let check = |cx: &mut BlockCx<'_>| {
            let is_caller = thread::current().id() == caller;
            assert_eq!(is_caller, cx.worker == 0);
            let mut calls = busy[cx.worker].try_lock().unwrap();
            // The scratch memory of a call is kept for the next call of the same worker.
            assert!(cx.scratch.len() <= *calls);
            *calls += 1;
            cx.scratch.push(0);
        };
        let mut scratch = Scratch::new(&DParams::default().threads(threads));
        scratch.use_all_threads();
        let copy = |mut cx: BlockCx<'_>, dest: &mut [u8]| {
            check(&mut cx);
            dest.copy_from_slice(cx.input);
            Ok(())
        };
        let mut dest = vec![0; data.len()];
        chunk.read_bytes_with(0..data.len(), &mut dest, &mut scratch, &copy).unwrap();
        assert!(dest == data);
        let params = CParams::default().blocksize(Some(10_000)).threads(threads);
        let mut encoder = Encoder::new(params).unwrap();
        encoder.use_all_threads();
        let copy = |mut cx: BlockCx<'_>, dest: &mut [u8]| {
            check(&mut cx);
            dest.copy_from_slice(cx.input);
            Ok(Made::Data)
        };
        let chunk = encoder.encode_with(&data[..], &copy).unwrap();
        assert!(decompress(&chunk).unwrap() == data);
        let calls: usize = busy.iter().map(|calls| *calls.lock().unwrap()).sum();
        assert!(calls >= 120, "{calls}");
    }
}

#[test]
fn a_postfilter_gets_whole_blocks_once_wherever_reading_starts() {
    let params = CParams::default().typesize(4).blocksize(Some(512)).target(Target::Blosc3_0);
    let plain = data(5000);
    let delta = params.clone().filters(Pipeline::parse("delta,shuffle").unwrap());
    let grid = |nblocks: usize| (0..nblocks).map(|n| 512 * n..(512 * (n + 1)).min(5000)).collect();
    let chunks: [(Vec<u8>, Vec<core::ops::Range<usize>>); 6] = [
        (compress(&plain, &params).unwrap(), grid(10)),
        (compress(&plain, &delta).unwrap(), grid(10)),
        (compress(&plain, &params.clone().clevel(Level::NONE)).unwrap(), grid(10)),
        (
            compress(&plain, &params.clone().blocksize(None)).unwrap(),
            core::iter::once(0..5000).collect(),
        ),
        (special_chunk(Special::Value(b"abcd"), 5000, &params).unwrap(), grid(10)),
        (
            Encoder::new(params).unwrap().encode_vl(&[&plain[..700], &plain[700..]]).unwrap(),
            vec![0..700, 700..5000],
        ),
    ];
    for (bytes, blocks) in &chunks {
        let (chunk, whole) = (Chunk::parse(bytes).unwrap(), decompress(bytes).unwrap());
        for threads in [Threads::One, THREE] {
            let mut scratch = Scratch::new(&DParams::default().threads(threads));
            scratch.use_all_threads();
            for range in [0..5000, 0..1, 511..513, 600..4999, 4999..5000, 7..7] {
                let seen = Mutex::new(Vec::new());
                let add = |cx: BlockCx<'_>, dest: &mut [u8]| {
                    assert!(cx.input == &whole[blocks[cx.nblock].clone()]);
                    assert_eq!((cx.at, dest.len()), (blocks[cx.nblock].start, cx.input.len()));
                    seen.lock().unwrap().push(cx.nblock);
                    for ((to, from), at) in dest.iter_mut().zip(cx.input).zip(cx.at..) {
                        *to = from.wrapping_add(at.to_le_bytes()[0]);
                    }
                    Ok(())
                };
                let mut part = vec![0xaa; range.len()];
                chunk.read_bytes_with(range.clone(), &mut part, &mut scratch, &add).unwrap();
                let added = |at: usize| whole[at].wrapping_add(at.to_le_bytes()[0]);
                assert_eq!(part, range.clone().map(added).collect::<Vec<u8>>(), "{range:?}");
                let mut seen = seen.into_inner().unwrap();
                seen.sort_unstable();
                let touched = blocks.iter().enumerate().filter(|(_, block)| {
                    !range.is_empty() && block.start < range.end && range.start < block.end
                });
                assert!(seen.into_iter().eq(touched.map(|(nblock, _)| nblock)), "{range:?}");
            }
        }
    }
}

#[test]
fn a_postfilter_gets_no_block_that_was_not_chosen() {
    let plain = data(5000);
    for filters in ["shuffle", "delta,shuffle"] {
        let params = CParams::default().typesize(4).blocksize(Some(512));
        let params = params.filters(Pipeline::parse(filters).unwrap());
        let bytes = compress(&plain, &params).unwrap();
        let invert = |cx: BlockCx<'_>, dest: &mut [u8]| {
            assert_eq!(cx.nblock % 3, 1);
            inverted(cx, dest).map(drop)
        };
        let mut dest = vec![0xaa; 5000];
        let chunk = Chunk::parse(&bytes).unwrap();
        chunk
            .read_blocks_with(|n| n % 3 == 1, &mut dest, &mut Scratch::default(), &invert)
            .unwrap();
        let expected = plain.iter().enumerate();
        let expected = expected.map(|(at, byte)| if at / 512 % 3 == 1 { !byte } else { 0xaa });
        assert!(dest.into_iter().eq(expected));
    }
}
