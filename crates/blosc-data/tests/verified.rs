//! Verification reports sound data as such, and a flipped bit of sealed data as damage, in every
//! format.

use blosc_data::limits::{Guard, OutputLimits};
use blosc_data::verify::{Verifier, VerifyOptions, verify};
use blosc_data::{Data, Error, OpenOptions, open, open_bytes};
use blosc_testdata::fixture::path;

use crate::reads::samples;

#[test]
fn readable_objects_are_reported_sound() {
    let mut count = 0;
    for found in samples() {
        let report = verify(&found, &VerifyOptions::default(), &mut |_| ()).unwrap();
        let read = match &found.data {
            Data::Array(array) => {
                array.stream(0..array.nbytes(), &blosc_data::Budget::default(), &mut |_| Ok(()))
            }
            Data::Bytes(bytes) => {
                bytes.stream(0..bytes.nbytes(), &blosc_data::Budget::default(), &mut |_| Ok(()))
            }
            _ => continue,
        };
        // Sound files can be read.
        assert!(read.is_ok() || !report.is_ok(), "{}: {read:?}", found.name);
        count += usize::from(report.is_ok());
    }
    assert!(count > 300, "{count}");
}

#[test]
fn a_flipped_bit_of_a_sealed_frame_is_told() {
    let data: Vec<u8> = (0..40_000_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
    let frame = b2frame::to_cframe(&data, &b2frame::FrameParams::default()).unwrap();
    let (mut told, mut step) = (0, 0);
    for at in (0..frame.len()).step_by(97) {
        let mut damaged = frame.clone();
        damaged[at] ^= 1 << (at % 8);
        step += 1;
        let is_sound = open_bytes(damaged, "frame", &OpenOptions::default())
            .and_then(|found| verify(&found, &VerifyOptions::default(), &mut |_| ()))
            .is_ok_and(|report| report.is_ok());
        told += usize::from(!is_sound);
    }
    // Some bytes of the header may change unnoticed, since C-Blosc2 changes them as well.
    assert!(told + 2 >= step, "{told} of {step}");
}

#[test]
fn a_damaged_member_of_a_store_is_named() {
    let mut archive = std::fs::read(path("stores/tree-basic.b2z")).unwrap();
    let whole = open_bytes(archive.clone(), "x.b2z", &OpenOptions::default()).unwrap();
    assert!(verify(&whole, &VerifyOptions::default(), &mut |_| ()).unwrap().is_ok());
    let at = archive.len() / 3;
    archive[at] ^= 0x10;
    let damaged = open_bytes(archive, "x.b2z", &OpenOptions::default()).unwrap();
    let report = verify(&damaged, &VerifyOptions::default(), &mut |_| ()).unwrap();
    let faults = report.other.iter().chain(report.bad.iter().map(|bad| &bad.error));
    let text: Vec<String> = faults.map(|fault| format!("{fault:?}")).collect();
    assert!(!report.is_ok() && text.iter().any(|text| text.contains('/')), "{text:?}");
}

#[test]
fn batches_that_do_not_decode_are_damage() {
    for sample in ["B01", "B02", "B03", "B04", "B05", "B06", "B07"] {
        let folder = path("stores/malformed");
        let file = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let file = { file }.find(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(sample))
        });
        let Some(file) = file else { continue };
        let is_sound = open(&file)
            .and_then(|found| verify(&found, &VerifyOptions::default(), &mut |_| ()))
            .is_ok_and(|report| report.is_ok());
        assert!(!is_sound, "{}", file.display());
    }
}

#[test]
fn a_report_says_what_was_compared_and_counts_the_blocks_of_a_chunk() {
    let sealed = b2frame::to_cframe(&[7; 9000], &b2frame::FrameParams::default()).unwrap();
    let chunk = blosc_chunk::CParams::default().blocksize(Some(4096));
    let mut chunk = blosc_chunk::compress(&walk(20_000), &chunk).unwrap();
    let read = |name: &str| std::fs::read(path(name)).unwrap();
    for (name, bytes, checksum, nblocks) in [
        ("x.b2frame", sealed, Some("xxh3"), None),
        ("y.b2frame", read("frames/tiny.b2frame"), None, None),
        ("x.blp", read("bloscpack/real_default.blp"), Some("adler32"), None),
        ("x.b2z", read("stores/tree-basic.b2z"), Some("crc32"), None),
        ("x.chunk", chunk.clone(), None, Some(5)),
    ] {
        let found = open_bytes(bytes, name, &OpenOptions::default()).unwrap();
        let report = verify(&found, &VerifyOptions::default(), &mut |_| ()).unwrap();
        assert_eq!((report.checksum, report.nblocks), (checksum, nblocks), "{name}");
        assert!(checksum.is_none() || report.nsummed == report.nchunks, "{name}");
    }
    // The first four bytes of a block hold the length of a stream.
    let starts = blosc_chunk::Chunk::parse(&chunk).unwrap();
    let at = starts.block(2).unwrap().offset();
    chunk[at..at + 4].copy_from_slice(&i32::MAX.to_le_bytes());
    let found = open_bytes(chunk, "x.chunk", &OpenOptions::default()).unwrap();
    let report = verify(&found, &VerifyOptions::default(), &mut |_| ()).unwrap();
    let bad: Vec<(u64, Option<u64>)> =
        report.bad.iter().map(|bad| (bad.nchunk, bad.offset)).collect();
    assert_eq!((report.nbad, bad), (1, vec![(2, Some(at as u64))]));
}

fn walk(len: u32) -> Vec<u8> {
    (0..len).map(|n| ((n * n) >> 7).to_le_bytes()[0]).collect()
}

#[test]
fn no_more_is_decoded_than_a_guard_admits() {
    let limits = OutputLimits { max_nbytes: Some(500), max_ratio: None };
    for (name, bytes) in [
        ("x.b2frame", b2frame::to_cframe(&[7; 9000], &b2frame::FrameParams::default()).unwrap()),
        ("x.b2z", std::fs::read(path("stores/table-basic.b2z")).unwrap()),
        ("x.blp", std::fs::read(path("bloscpack/real_default.blp")).unwrap()),
    ] {
        let found = open_bytes(bytes, name, &OpenOptions::default()).unwrap();
        let (mut guard, options) = (Guard::new(limits), VerifyOptions::default());
        let refused = Verifier::new(&options, &mut guard, &mut |_| ()).data(&found.data);
        assert!(matches!(refused, Err(Error::MaxOutput { limit: 500, .. })), "{name}");
    }
}
