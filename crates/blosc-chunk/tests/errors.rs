//! One test for each error that does not concern damaged bytes, and the texts and kinds of all;
//! `checklist.rs` tests damage.

use core::error::Error as _;
use std::io;

use blosc_chunk::hooks::{BlockCx, Made};
use blosc_chunk::{
    CParams, Chunk, ChunkHeader, CodecId, DParams, Decoder, Dict, Encoder, Error, FilterId, Limits,
    Pipeline, Scratch, Special, SplitMode, Target, compress, decompress,
    error::{Blame, Corrupt, Param, Unsupported},
    partial::{ChunkIndex, IndexStep},
    special_chunk,
};

use blosc_testdata::data::Kind as Data;

fn items(n: u32) -> Vec<u8> {
    (0..n).flat_map(u32::to_le_bytes).collect()
}

/// 4000 bytes in blocks of 1024, LZ4.
fn chunk() -> Vec<u8> {
    let params = CParams::default().codec(CodecId::LZ4).typesize(4).blocksize(Some(1024));
    compress(&items(1000), &params).unwrap()
}

fn param(result: Result<Vec<u8>, Error>) -> Param {
    match result.unwrap_err() {
        Error::Param(what) => what,
        other => panic!("{other}"),
    }
}

#[test]
fn ranges_outside_the_data_are_refused() {
    let bytes = chunk();
    let chunk = Chunk::parse(&bytes).unwrap();
    let (mut dest, mut scratch) = ([0; 8], Scratch::default());
    let range = |start, end, len| Err(Error::Range { start, end, len });
    assert_eq!(chunk.read_bytes(3999..4001, &mut dest, &mut scratch), range(3999, 4001, 4000));
    assert_eq!(chunk.read_items(999..1001, &mut dest, &mut scratch), range(999, 1001, 1000));
    assert_eq!(
        chunk.read_items(0..usize::MAX, &mut dest, &mut scratch),
        range(0, usize::MAX, 1000)
    );
    assert_eq!(chunk.block_data(4), Err(Error::Range { start: 4, end: 5, len: 4 }));
    let IndexStep::Ready(index) = ChunkIndex::parse(&bytes).unwrap() else { panic!() };
    assert_eq!(index.plan(1..4001, 0), Err(Error::Range { start: 1, end: 4001, len: 4000 }));
}

#[test]
fn destinations_that_are_too_short_are_refused() {
    let bytes = chunk();
    let chunk = Chunk::parse(&bytes).unwrap();
    let mut scratch = Scratch::default();
    let short = |needed, room| Error::Dest { needed, room };
    assert_eq!(chunk.read_bytes(0..8, &mut [0; 7], &mut scratch), Err(short(8, 7)));
    assert_eq!(chunk.decode_into(&mut [0; 3999], &mut scratch), Err(short(4000, 3999)));
    assert_eq!(chunk.read_block(3, &mut [0; 900], &mut scratch), Err(short(928, 900)));
    assert_eq!(Decoder::default().decode_into(&bytes, &mut [0; 10]), Err(short(4000, 10)));
}

#[test]
fn each_limit_is_checked_before_memory_is_allocated() {
    let bytes = chunk();
    let decode = |limits: Limits| Decoder::new(DParams::default().limits(limits)).decode(&bytes);
    let limit = |nbytes, limit| Err(Error::Limit { nbytes, limit });
    assert_eq!(decode(Limits::none().max_nbytes(3999)), limit(4000, 3999));
    assert_eq!(decode(Limits::none().max_blocks(Some(3))), limit(4, 3));
    assert_eq!(decode(Limits::none().max_ratio(Some(1))), limit(4000, bytes.len() as u64));
    assert!(decode(Limits::none().max_nbytes(4000).max_blocks(Some(4))).is_ok());
    // The limit applies to the blocks that are decoded for a part, not to the chunk.
    let params = DParams::default().limits(Limits::none().max_nbytes(1024));
    let part = &mut [0; 4];
    let chunk = Chunk::parse(&bytes).unwrap();
    assert_eq!(chunk.read_items(500..501, part, &mut Scratch::new(&params)), Ok(()));
    assert_eq!(*part, 500_u32.to_le_bytes());
}

#[test]
fn blocks_are_refused_of_chunks_without_blocks() {
    let zeros = compress(&[0; 4000], &CParams::default()).unwrap();
    let stored = compress(b"short", &CParams::default().typesize(1)).unwrap();
    for bytes in [zeros, stored] {
        let chunk = Chunk::parse(&bytes).unwrap();
        let none = Error::Unsupported(Unsupported::NoBlocks);
        let mut scratch = Scratch::default();
        assert_eq!(chunk.block_data(0), Err(none.clone()));
        assert_eq!(chunk.block(0), Err(none.clone()));
        assert_eq!(chunk.read_blocks(|_| true, &mut [0; 4000], &mut scratch), Err(none));
    }
    let bytes = chunk();
    let regular = Chunk::parse(&bytes).unwrap().as_vl().unwrap_err();
    assert_eq!(regular, Error::Unsupported(Unsupported::NotVl));
}

#[test]
fn a_later_version_of_the_format_is_not_damage() {
    let mut bytes = chunk();
    bytes[0] = 7;
    let error = ChunkHeader::parse(&bytes).unwrap_err();
    assert_eq!(error, Error::UnknownVersion { version: 7 });
    assert_eq!(error.blame(), Blame::NotOurs);
    assert_eq!(error.to_string(), "chunk format version 7, known are 1 to 6");
}

#[test]
fn unknown_codecs_and_filters_are_refused_when_they_are_needed() {
    let mut bytes = chunk();
    // A codec of a user, by its id.
    bytes[2] = 0x05 | 6 << 5;
    bytes[0x16] = 250;
    let error = decompress(&bytes).unwrap_err();
    assert_eq!(error.blame(), Blame::NotOurs);
    let Error::Block { source, .. } = &error else { panic!("{error}") };
    assert!(matches!(**source, Error::UnknownCodec { id: CodecId(250), .. }), "{source}");
    assert!(error.source().is_some());

    let mut bytes = chunk();
    bytes[0x10] = 240;
    assert_eq!(decompress(&bytes), Err(Error::UnknownFilter { id: FilterId(240) }));
}

#[test]
fn special_chunks_of_impossible_shape_are_refused() {
    let params = CParams::default().typesize(4);
    let special = |special, nbytes, params: &CParams| param(special_chunk(special, nbytes, params));
    let wrong = |width, nbytes| Param::SpecialValue { width, typesize: 4, nbytes };
    assert_eq!(special(Special::Value(b"abc"), 12, &params), wrong(3, 12));
    assert_eq!(special(Special::Value(b"abcd"), 10, &params), wrong(4, 10));
    assert_eq!(special(Special::Uninit, 6, &params), wrong(4, 6));
    let nans = Param::SpecialValue { width: 2, typesize: 2, nbytes: 8 };
    assert_eq!(special(Special::Nans, 8, &params.clone().typesize(2)), nans);
    let blosc1 = params.target(Target::Blosc1_14);
    assert!(matches!(special(Special::Zeros, 8, &blosc1), Param::ForTarget { .. }));
}

#[test]
fn data_that_no_chunk_can_hold_are_refused() {
    let max = i32::MAX as usize - ChunkHeader::MAX_LEN;
    let mut encoder = Encoder::new(CParams::default()).unwrap();
    let nothing = |_: BlockCx<'_>, _: &mut [u8]| Ok(Made::Data);
    let result = encoder.encode_with_into(max + 1, &nothing, &mut [0; 64]);
    assert_eq!(result, Err(Error::Param(Param::Nbytes { nbytes: max + 1, max })));
}

#[test]
fn every_blame_has_a_kind_of_io_error() {
    let bytes = chunk();
    let limits = DParams::default().limits(Limits::none().max_nbytes(1));
    let corrupt = decompress(&bytes[..100]).unwrap_err();
    let len = bytes.len();
    assert_eq!(
        corrupt,
        Error::Corrupt { at: 0xc, what: Corrupt::Truncated { cbytes: len, len: 100 } }
    );
    assert_eq!(
        corrupt.to_string(),
        format!("at byte 12: cbytes {len}, but only 100 bytes are there")
    );
    for (error, blame, kind) in [
        (corrupt, Blame::Data, io::ErrorKind::InvalidData),
        (Error::UnknownVersion { version: 9 }, Blame::NotOurs, io::ErrorKind::Unsupported),
        (
            Decoder::new(limits).decode(&bytes).unwrap_err(),
            Blame::Limit,
            io::ErrorKind::OutOfMemory,
        ),
        (Error::Dest { needed: 2, room: 1 }, Blame::Usage, io::ErrorKind::InvalidInput),
        (Error::Unsupported(Unsupported::Instrumented), Blame::NotOurs, io::ErrorKind::Unsupported),
    ] {
        assert_eq!(error.blame(), blame, "{error}");
        let text = error.to_string();
        let io = io::Error::from(error);
        assert_eq!((io.kind(), io.to_string()), (kind, text));
    }
}

#[test]
fn vl_blocks_are_checked() {
    let mut encoder = Encoder::new(CParams::default().target(Target::Blosc3_0)).unwrap();
    assert_eq!(encoder.encode_vl(&[]), Err(Error::Param(Param::NoBlocks)));
    assert_eq!(encoder.encode_vl(&[b"a", b""]), Err(Error::Param(Param::EmptyBlock { nblock: 1 })));
    let noise = Data::Noise.bytes(1000);
    let bytes = encoder.encode_vl(&[&noise, &noise[..1], &noise[..10]]).unwrap();
    assert_eq!(bytes.len(), 32 + 3 * 8 + 1011);
    assert!(Encoder::new(CParams::default()).unwrap().encode_vl(&[b"a"]).is_err());
}

#[test]
fn a_destination_that_is_too_small_is_an_error() {
    let mut encoder = Encoder::new(CParams::default().typesize(4)).unwrap();
    let data = items(1000);
    for room in [0, 10, 31, 32, 40, 100] {
        let mut dest = vec![0; room];
        assert_eq!(encoder.encode_into(&data, &mut dest), Err(Error::Dest { needed: 4032, room }));
    }
}

#[test]
fn what_a_target_cannot_read_is_refused() {
    let refused = |params: CParams| match params.check().unwrap_err() {
        Error::Param(what) => what,
        other => panic!("{other}"),
    };
    let filters = |spec| CParams::default().filters(Pipeline::parse(spec).unwrap());
    let blosc1 = |target| CParams::default().target(target);
    for params in [
        filters("delta").target(Target::Blosc1_14),
        filters("bitshuffle").target(Target::Blosc1_3),
        filters("shuffle,bitshuffle").target(Target::Blosc1_14),
        filters("shuffle:2"),
        // C-Blosc2 cannot read such a chunk.
        filters("shuffle,shuffle,shuffle,delta,shuffle").target(Target::Blosc3_0),
    ] {
        assert!(matches!(refused(params), Param::FiltersForTarget { .. }));
    }
    assert!(matches!(
        refused(blosc1(Target::Blosc1_3).codec(CodecId::ZSTD)),
        Param::CodecForTarget { .. }
    ));
    assert!(matches!(
        refused(CParams::default().codec(CodecId::SNAPPY)),
        Param::CodecForTarget { .. }
    ));
    assert!(matches!(
        refused(blosc1(Target::Blosc1_11).split(SplitMode::Always)),
        Param::ForTarget { .. }
    ));
    assert!(matches!(
        refused(blosc1(Target::Blosc1_3).split(SplitMode::Never)),
        Param::ForTarget { .. }
    ));
    let dict = |codec| CParams::default().codec(codec).dict(Dict::Train { max: 1000 });
    assert!(matches!(refused(dict(CodecId::LZ4)), Param::ForTarget { .. }));
    assert!(matches!(refused(dict(CodecId::BLOSCLZ)), Param::DictSize { max: 0, .. }));
    assert!(matches!(
        refused(dict(CodecId::ZSTD).target(Target::Blosc1_11)),
        Param::ForTarget { .. }
    ));
    assert_eq!(refused(filters("shuffle,delta")), Param::DeltaNotFirst);
    assert_eq!(refused(filters("delta,delta")), Param::TwoDeltas);
    assert!(matches!(refused(CParams::default().typesize(0)), Param::Typesize { .. }));
    assert!(matches!(refused(CParams::default().blocksize(Some(0))), Param::Blocksize { .. }));
    assert!(matches!(
        CParams::default().codec(CodecId(200)).check(),
        Err(Error::UnknownCodec { .. })
    ));
    assert!(matches!(filters("200").check(), Err(Error::UnknownFilter { id: FilterId(200) })));
}
