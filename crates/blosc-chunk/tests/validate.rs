//! Reports about chunks: the counts, notes and errors of `validate`.

use blosc_chunk::block::StreamKind;
use blosc_chunk::validate::{Depth, Note};
use blosc_chunk::{
    CParams, Chunk, CodecId, Pipeline, Scratch, Special, SplitMode, compress, special_chunk,
};

const BLOCK: usize = 4096;

/// Four blocks of four planes each: two of the planes are runs of zeros.
fn chunk() -> Vec<u8> {
    let data: Vec<u8> = (0..4096_u32).flat_map(|n| (n * n % 50_000).to_le_bytes()).collect();
    let params = CParams::default().codec(CodecId::LZ4).typesize(4).blocksize(Some(BLOCK));
    compress(&data, &params.filters(Pipeline::SHUFFLE).split(SplitMode::Always)).unwrap()
}

#[test]
fn a_sound_chunk_is_covered_by_its_blocks() {
    let bytes = chunk();
    let chunk = Chunk::parse(&bytes).unwrap();
    let report = chunk.validate(Depth::Decode, &mut Scratch::default());
    assert!(report.is_ok() && report.notes.is_empty(), "{report:?}");
    assert_eq!(report.blocks.len(), 4);
    let mut end = 32 + 4 * 4;
    for block in &report.blocks {
        assert_eq!((block.offset, block.nbytes), (end, BLOCK));
        assert_eq!(block.nstored + block.ncoded + block.nruns, 4);
        assert_eq!(block.nruns, 2, "the two high bytes");
        end += block.cbytes;
    }
    assert_eq!(end, bytes.len());
}

#[test]
fn streams_follow_each_other_within_a_block() {
    let bytes = chunk();
    for block in Chunk::parse(&bytes).unwrap().blocks().unwrap() {
        let block = block.unwrap();
        let mut at = block.offset();
        for stream in block.streams() {
            assert_eq!((stream.offset, stream.nbytes), (at, BLOCK / 4));
            assert_eq!(stream.payload.start, at + 4);
            let stored = stream.payload.len() == stream.nbytes;
            assert_eq!(stream.kind == StreamKind::Stored, stored);
            at += stream.cbytes();
        }
        assert_eq!(at, block.offset() + block.cbytes());
    }
}

#[test]
fn the_depth_decides_which_damage_is_found() {
    let mut bytes = chunk();
    let block = Chunk::parse(&bytes).unwrap().block(2).unwrap();
    let coded = block.streams().iter().find(|stream| stream.kind == StreamKind::Coded).unwrap();
    // The stream keeps its size, but begins with a literal run that is longer than itself.
    bytes[coded.payload.start..][..8].fill(0xff);
    let bad = |bytes: &[u8], depth| {
        let report = Chunk::parse(bytes).unwrap().validate(depth, &mut Scratch::default());
        assert_eq!(report.error, None);
        let bad = report.blocks.iter().filter(|block| block.error.is_some());
        bad.map(|block| block.nblock).collect::<Vec<_>>()
    };
    assert!(bad(&bytes, Depth::Header).is_empty());
    assert!(bad(&bytes, Depth::Structure).is_empty());
    assert_eq!(bad(&bytes, Depth::Decode), [2]);
    // A stream that ends outside the chunk.
    bytes[coded.offset + 3] = 0x7f;
    assert_eq!(bad(&bytes, Depth::Structure), [2]);
}

#[test]
fn unused_bytes_and_unset_data_are_noted() {
    let mut bytes = chunk();
    bytes.extend([0; 3]);
    let cbytes = i32::try_from(bytes.len()).unwrap();
    bytes[0xc..0x10].copy_from_slice(&cbytes.to_le_bytes());
    let report = Chunk::parse(&bytes).unwrap().validate(Depth::Decode, &mut Scratch::default());
    assert!(report.is_ok());
    assert_eq!(report.notes, [Note::Gaps { nbytes: 3 }]);

    let unset = special_chunk(Special::Uninit, 4000, &CParams::default()).unwrap();
    let report = Chunk::parse(&unset).unwrap().validate(Depth::Decode, &mut Scratch::default());
    assert_eq!((report.blocks.len(), &report.notes[..]), (0, &[Note::Uninit][..]));
}
