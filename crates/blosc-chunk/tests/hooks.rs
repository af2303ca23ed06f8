//! Prefilters and postfilters: data made and changed on the way, for every kind of chunk, in parts,
//! in any number of threads.

use core::num::NonZeroUsize;
use core::sync::atomic::{AtomicUsize, Ordering};

use blosc_chunk::{
    CParams, Chunk, CodecId, DParams, Dict, Encoder, Kind, Level, Pipeline, Scratch, Special,
    Target, Threads, compress, decompress, max_compressed_len, special_chunk,
};

const THREE: Threads = Threads::N(NonZeroUsize::new(3).unwrap());

/// Byte `at` of the data.
fn byte(at: usize) -> u8 {
    (at / 64 % 7 * (at % 4)).to_le_bytes()[0]
}

fn made(at: usize, dest: &mut [u8]) {
    dest.iter_mut().enumerate().for_each(|(i, dest)| *dest = byte(at + i));
}

fn data(nbytes: usize) -> Vec<u8> {
    (0..nbytes).map(byte).collect()
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
            for threads in [Threads::One, THREE] {
                let mut encoder = Encoder::new(params.clone().threads(threads)).unwrap();
                assert_eq!(
                    encoder.encode_with(nbytes, &made).unwrap(),
                    plain,
                    "{params:?} {nbytes}"
                );
            }
        }
    }
}

#[test]
fn each_block_is_made_once() {
    let asked = AtomicUsize::new(0);
    let counted = |at: usize, dest: &mut [u8]| {
        asked.fetch_add(dest.len(), Ordering::Relaxed);
        made(at, dest);
    };
    let params = CParams::default().typesize(4).blocksize(Some(1024));
    let mut encoder = Encoder::new(params.clone()).unwrap();
    let mut chunk = vec![0; max_compressed_len(10_000)];
    let cbytes = encoder.encode_with_into(10_000, &counted, &mut chunk).unwrap();
    assert_eq!(asked.into_inner(), 10_000);
    assert_eq!(chunk[..cbytes], compress(&data(10_000), &params).unwrap());
}

#[test]
fn a_prefilter_fills_a_memcpyed_chunk() {
    let noise = |at: usize, dest: &mut [u8]| {
        for (i, dest) in dest.iter_mut().enumerate() {
            let mixed = (at + i).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            *dest = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9).to_le_bytes()[7];
        }
    };
    let chunk = Encoder::new(CParams::default()).unwrap().encode_with(9000, &noise).unwrap();
    assert_eq!(Chunk::parse(&chunk).unwrap().header().kind(), Kind::Memcpyed);
    let mut expected = vec![0; 9000];
    noise(0, &mut expected);
    assert_eq!(decompress(&chunk).unwrap(), expected);
}

#[test]
fn a_postfilter_changes_each_byte_once_wherever_reading_starts() {
    let params = CParams::default().typesize(4).blocksize(Some(512)).target(Target::Blosc3_0);
    let plain = data(5000);
    let delta = params.clone().filters(Pipeline::parse("delta,shuffle").unwrap());
    let chunks = [
        compress(&plain, &params).unwrap(),
        compress(&plain, &delta).unwrap(),
        compress(&plain, &params.clone().clevel(Level::NONE)).unwrap(),
        compress(&plain, &params.clone().target(Target::Blosc1_14)).unwrap(),
        special_chunk(Special::Value(b"abcd"), 5000, &params).unwrap(),
        Encoder::new(params).unwrap().encode_vl(&[&plain[..700], &plain[700..]]).unwrap(),
    ];
    for bytes in &chunks {
        let (chunk, whole) = (Chunk::parse(bytes).unwrap(), decompress(bytes).unwrap());
        for threads in [Threads::One, THREE] {
            let mut scratch = Scratch::new(&DParams::default().threads(threads));
            for range in [0..5000, 0..1, 511..513, 600..4999, 4999..5000, 7..7] {
                let seen = AtomicUsize::new(0);
                let add = |at: usize, data: &mut [u8]| {
                    seen.fetch_add(data.len(), Ordering::Relaxed);
                    let bytes = data.iter_mut().zip(at..);
                    bytes.for_each(|(byte, at)| *byte = byte.wrapping_add(at.to_le_bytes()[0]));
                };
                let mut part = vec![0xaa; range.len()];
                chunk.read_bytes_with(range.clone(), &mut part, &mut scratch, &add).unwrap();
                let added = |at: usize| whole[at].wrapping_add(at.to_le_bytes()[0]);
                assert_eq!(part, range.clone().map(added).collect::<Vec<u8>>(), "{range:?}");
                assert_eq!(seen.into_inner(), range.len());
            }
        }
    }
}

#[test]
fn a_postfilter_sees_every_block_once_in_any_thread() {
    let plain = data(600_000);
    let bytes = compress(&plain, &CParams::default().typesize(1).blocksize(Some(10_000))).unwrap();
    let mut dest = vec![0; plain.len()];
    let seen = AtomicUsize::new(0);
    let invert = |_: usize, data: &mut [u8]| {
        seen.fetch_add(data.len(), Ordering::Relaxed);
        data.iter_mut().for_each(|byte| *byte = !*byte);
    };
    let mut scratch = Scratch::new(&DParams::default().threads(THREE));
    let chunk = Chunk::parse(&bytes).unwrap();
    chunk.read_bytes_with(0..plain.len(), &mut dest, &mut scratch, &invert).unwrap();
    assert!(dest.iter().zip(&plain).all(|(ours, plain)| *ours == !*plain));
    assert_eq!(seen.into_inner(), plain.len());
}
