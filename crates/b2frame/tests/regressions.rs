//! Frames with random changes give an error, or data, but never a panic and never an absurd
//! allocation.

use std::sync::Arc;

use b2frame::{
    Budget, Error, FrameParams, NdArray, OpenOptions, SChunk, error::Limited, nd::NdMeta,
    report::VerifyOptions, to_cframe,
};
use blosc_chunk::{CParams, Special, Threads, special_chunk};
use blosc_io::MemStore;
use blosc_testdata::data::Kind;
use proptest::prelude::*;

/// Performs every reading operation on a frame.
fn use_it(frame: Vec<u8>) -> Result<(), Error> {
    let schunk = SChunk::from_store(Arc::new(MemStore::new(frame)))?;
    let read = Budget::default().threads(Threads::One).max_memory(1 << 20);
    let nchunks = schunk.nchunks().min(50);
    let _ = schunk.decode_ordered(0..nchunks, &read, |_, _| Ok::<(), Error>(()));
    for nchunk in 0..nchunks {
        let _ = (schunk.chunk_info(nchunk), schunk.chunk(nchunk));
    }
    for layer in schunk.vlmeta().stored().iter() {
        let _ = schunk.vlmeta().decode(layer);
    }
    let _ = schunk.read_bytes(schunk.nbytes() / 2, &mut [0; 3]);
    if schunk.nchunks() < 1000 {
        let _ = schunk.usage();
        schunk.verify(&VerifyOptions::default().budget(read.clone()), |_| {});
    }
    if let Ok(array) = NdArray::from_schunk(schunk) {
        let mut left = 1_u64 << 20;
        let _ = array.budget(read).for_each_band(|bytes| {
            left = left.checked_sub(bytes.len() as u64).ok_or(Stop)?;
            Ok::<(), Stop>(())
        });
    }
    Ok(())
}

/// Stops reading: enough was read.
struct Stop;

impl From<Error> for Stop {
    fn from(_: Error) -> Self {
        Self
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn random_descriptions_of_arrays(
        shape in proptest::collection::vec(prop_oneof![0..20_u64, any::<u64>()], 0..6),
        chunks in proptest::collection::vec(prop_oneof![0..20_u32, any::<u32>()], 6),
        blocks in proptest::collection::vec(prop_oneof![0..20_u32, any::<u32>()], 6),
    ) {
        let ndim = shape.len();
        if let Ok(meta) = NdMeta::new(&shape, &chunks[..ndim], &blocks[..ndim], "<i2") {
            let params = FrameParams::new(CParams::default().typesize(2))
                .metalayer("b2nd", meta.encode());
            let _ = use_it(to_cframe(&[1; 64], &params.chunksize(16)).unwrap());
        }
    }
}

#[test]
fn two_hundred_bytes_that_promise_a_petabyte() {
    // 2^28 - 1 chunks of zeros of nearly 2 GiB each: opening, locating and verifying take no time.
    let mut frame = blosc_testdata::fixture::read("frames/special-zero.b2frame").unwrap();
    let (nchunks, chunksize) = ((1_u64 << 28) - 1, 0x7fff_0000_u64);
    frame[0x1e..0x26].copy_from_slice(&(nchunks * chunksize).to_be_bytes());
    frame[0x3a..0x3e].copy_from_slice(&0x7fff_0000_u32.to_be_bytes());
    frame[97 + 4..97 + 8].copy_from_slice(&(0x7fff_fff8_u32).to_le_bytes());
    let schunk = SChunk::from_cframe(frame).unwrap();
    assert_eq!(schunk.nchunks(), nchunks);
    let report = schunk.verify(&VerifyOptions::default(), |_| {});
    assert!(report.is_ok());
    assert_eq!(schunk.usage().unwrap().zeros, nchunks);
    assert_eq!(schunk.chunk_info(nchunks - 1).unwrap().nbytes, chunksize);
    let mut dest = [1; 8];
    schunk.read_bytes(schunk.nbytes() - 8, &mut dest).unwrap();
    assert_eq!(dest, [0; 8]);
    assert!(matches!(schunk.decode_chunk(0), Err(Error::Limit { .. })));
    // Its data can still be streamed in parts.
    let options = Budget::default().max_memory(1 << 20);
    let mut largest = 0;
    schunk
        .decode_ordered(0..1, &options, |_, bytes| {
            largest = largest.max(bytes.len());
            Ok::<(), Error>(())
        })
        .unwrap();
    assert!(largest <= 1 << 20);
}

#[test]
fn a_chunk_that_stands_for_millions_is_looked_at_once() {
    // An index that repeats the offset of the single chunk.
    let params = FrameParams::new(CParams::default().typesize(4)).chunksize(400);
    let params = params.checksums(b2frame::Checksums::None);
    let one = to_cframe(&Kind::Ramp.bytes(400), &params).unwrap();
    let schunk = SChunk::from_cframe(one.clone()).unwrap();
    let nchunks = 200_000_000_u64;
    let end = usize::try_from(97 + schunk.cbytes()).unwrap();
    let cparams = CParams::default().typesize(8);
    let index =
        special_chunk(Special::Value(&[0; 8]), usize::try_from(nchunks * 8).unwrap(), &cparams)
            .unwrap();
    let mut frame = [&one[..end], &index, &one[one.len() - 35..]].concat();
    let frame_len = frame.len() as u64;
    frame[0x10..0x18].copy_from_slice(&frame_len.to_be_bytes());
    frame[0x1e..0x26].copy_from_slice(&(nchunks * 400).to_be_bytes());
    let schunk = SChunk::from_cframe(frame.clone()).unwrap();
    let report = schunk.verify(&VerifyOptions::default(), |_| {});
    assert!(report.is_ok() && report.nbytes == nchunks * 400, "{report:?}");
    assert_eq!(schunk.usage().unwrap().cbytes, schunk.cbytes());
    assert_eq!(schunk.decode_chunk(nchunks - 1).unwrap(), Kind::Ramp.bytes(400));

    // With variable sizes, the positions of all chunks would take too much memory.
    frame[0x3a..0x3e].fill(0);
    let schunk = SChunk::from_cframe(frame).unwrap();
    let error = schunk.read_bytes(0, &mut [0; 4]).unwrap_err();
    assert!(matches!(error, Error::Limit { what: Limited::Index, .. }), "{error:?}");
}

#[test]
fn metalayers_that_share_their_bytes_are_not_copied() {
    // Sixteen names that all point to one value of a megabyte.
    let mut params = (0..16)
        .fold(FrameParams::default(), |params, n| params.metalayer(format!("m{n:02}"), *b""));
    params.metalayers[15].1 = vec![7; 1 << 20];
    let mut frame = to_cframe(b"data", &params).unwrap();
    let value = 87 + 7 + 16 * 9 + 3 + 15 * 5_u32;
    for n in 0..16 {
        let at = 87 + 7 + n * 9 + 5;
        frame[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }
    let schunk =
        SChunk::from_store_with(Arc::new(MemStore::new(frame)), &OpenOptions::default()).unwrap();
    assert!(schunk.meta().iter().all(|layer| layer.content.len() == 1 << 20));
    let first = schunk.meta().get("m00").unwrap().content.as_ptr();
    assert!(schunk.meta().iter().all(|layer| layer.content.as_ptr() == first));
}
