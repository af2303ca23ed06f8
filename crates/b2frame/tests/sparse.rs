//! Sparse frames: the sample, the errors of damaged copies, and equal content of both kinds of
//! frames.

use std::fs;
use std::path::Path;

use b2frame::{Budget, Error, SChunk, error::Corrupt, header::FrameType, report::VerifyOptions};
use serde_json::Value;

/// A copy of the sample that can be damaged.
fn copy_of_sample(to: &Path) {
    for entry in fs::read_dir(sample()).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

fn sample() -> std::path::PathBuf {
    blosc_testdata::fixture::path("frames/tiny-sparse.b2frame")
}

/// All data, chunk by chunk, or the first error.
fn chunks(schunk: &SChunk) -> Result<Vec<Vec<u8>>, Error> {
    (0..schunk.nchunks()).map(|nchunk| schunk.decode_chunk(nchunk)).collect()
}

#[test]
fn the_sample_holds_what_its_contiguous_twin_holds() {
    let sparse = SChunk::open(sample()).unwrap();
    let twin = SChunk::open(blosc_testdata::fixture::path("frames/tiny.b2frame")).unwrap();
    assert_eq!(sparse.header().frame_type(), FrameType::Sparse);
    assert_eq!((sparse.nbytes(), sparse.cbytes()), (twin.nbytes(), twin.cbytes()));
    assert_eq!(chunks(&sparse).unwrap(), chunks(&twin).unwrap());
    for nchunk in 0..3 {
        assert_eq!(sparse.chunk(nchunk).unwrap(), twin.chunk(nchunk).unwrap());
        let (mine, other) = (sparse.chunk_info(nchunk).unwrap(), twin.chunk_info(nchunk).unwrap());
        assert_eq!((mine.cbytes, mine.nbytes), (other.cbytes, other.nbytes));
        assert_eq!((mine.special, mine.stored), (other.special, other.stored));
        assert_eq!(mine.offset.is_some(), other.offset.is_some());
    }
    assert_eq!(sparse.meta().get("kind").unwrap().content, b"\xa4demo");
    assert_eq!(sparse.vlmeta().get("note").unwrap(), twin.vlmeta().get("note").unwrap());
    let mut data = vec![];
    let sink = |_, bytes: &[u8]| {
        data.extend_from_slice(bytes);
        Ok::<(), Error>(())
    };
    sparse.decode_ordered(0..3, &Budget::default(), sink).unwrap();
    assert_eq!(data, chunks(&twin).unwrap().concat());
    let mut part = vec![0; 100];
    sparse.read_bytes(40, &mut part).unwrap();
    assert_eq!(part, data[40..140]);
    assert!(sparse.verify(&VerifyOptions::default(), |_| {}).is_ok());
    assert_eq!(sparse.usage().unwrap().cbytes, 111);
}

#[test]
fn every_case_of_the_list_is_refused_where_it_demands() {
    let list = blosc_testdata::fixture::read("frames/malformed.json").unwrap();
    let list: Value = serde_json::from_slice(&list).unwrap();
    let cases: Vec<&Value> = list["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|c| c["id"].as_str().unwrap().starts_with('S'))
        .collect();
    let found: Vec<String> = cases.iter().map(|case| verdict(case)).collect();
    let expected = [
        "S01 open: at byte 117: chunk 2 is in file 0x100000000, outside 0..=0xffffffff",
        "S02 chunk 2 in file 00000007.chunk",
        "S03 open: at byte 39: cbytes is 111, the frame has room for 106",
        "S04 chunk 2 at byte 0",
        "S05 at byte 0: chunk 2 has 52 bytes, outside 16..=51",
    ];
    assert_eq!(found, expected);
}

/// The result of reading a damaged copy.
fn verdict(case: &Value) -> String {
    let dir = tempfile::tempdir().unwrap();
    copy_of_sample(dir.path());
    let file = dir.path().join(case["base"].as_str().unwrap().split('/').next_back().unwrap());
    let mut bytes = fs::read(&file).unwrap();
    for edit in case["edits"].as_array().unwrap() {
        let (at, hex) = (edit["at"].as_u64().unwrap(), edit["hex"].as_str().unwrap());
        for (n, pair) in hex.as_bytes().chunks(2).enumerate() {
            let byte = u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
            bytes[usize::try_from(at).unwrap() + n] = byte;
        }
    }
    if let Some(len) = case["truncate_to"].as_u64() {
        bytes.truncate(usize::try_from(len).unwrap());
    }
    fs::write(&file, bytes).unwrap();
    let id = case["id"].as_str().unwrap();
    match SChunk::open(dir.path()) {
        Err(error) => format!("{id} open: {error}"),
        Ok(schunk) => match chunks(&schunk) {
            Err(error) => format!("{id} {error}"),
            Ok(_) => format!("{id} reads"),
        },
    }
}

#[test]
fn a_chunk_file_may_be_longer_than_its_chunk_and_others_may_lie_about() {
    let dir = tempfile::tempdir().unwrap();
    copy_of_sample(dir.path());
    let expected = chunks(&SChunk::open(sample()).unwrap()).unwrap();
    let file = dir.path().join("00000001.chunk");
    let mut bytes = fs::read(&file).unwrap();
    bytes.extend([0xee; 9]);
    fs::write(&file, bytes).unwrap();
    fs::write(dir.path().join("00000002.chunk"), b"").unwrap();
    fs::write(dir.path().join("chunks.b2frame.tmp"), b"left behind").unwrap();
    assert_eq!(chunks(&SChunk::open(dir.path()).unwrap()).unwrap(), expected);
}

#[test]
fn a_missing_chunk_is_the_fault_of_the_data() {
    let dir = tempfile::tempdir().unwrap();
    copy_of_sample(dir.path());
    fs::remove_file(dir.path().join("00000000.chunk")).unwrap();
    let schunk = SChunk::open(dir.path()).unwrap();
    let error = schunk.decode_chunk(0).unwrap_err();
    assert_eq!(error.blame(), b2frame::error::Blame::Data);
    assert_eq!(schunk.decode_chunk(2).unwrap().len(), 20);
    assert_eq!(schunk.verify(&VerifyOptions::default(), |_| {}).nbad, 1);
}

#[test]
fn the_index_file_alone_is_no_frame() {
    let index = sample().join("chunks.b2frame");
    assert!(matches!(SChunk::open(&index), Err(Error::Sparse)));
    let dir = tempfile::tempdir().unwrap();
    fs::copy(
        blosc_testdata::fixture::path("frames/tiny.b2frame"),
        dir.path().join("chunks.b2frame"),
    )
    .unwrap();
    let Err(Error::Corrupt { at: 26, what }) = SChunk::open(dir.path()) else { panic!("opened") };
    assert_eq!(what, Corrupt::NotSparse);
}
