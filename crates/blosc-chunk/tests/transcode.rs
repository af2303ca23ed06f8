//! Chunks for other readers without decoding: the data stay the same, or the chunk is refused.

use crate::text;

use blosc_chunk::{
    CParams, Chunk, ChunkHeader, CodecId, Dict, Encoder, Error, Kind, Pipeline, Special, SplitMode,
    Target, compress, decompress,
    error::Param,
    special_chunk,
    transcode::{detach_from_schunk, transcode_header},
};
use blosc_testdata::data::Kind as Data;
use blosc_testdata::fixture::{Format, Manifest};

const BLOSC1: [Target; 3] = [Target::Blosc1_3, Target::Blosc1_11, Target::Blosc1_14];

fn refused(chunk: &[u8], target: Target) -> Param {
    match transcode_header(chunk, target) {
        Err(Error::Param(what)) => what,
        Err(other) => panic!("{other}"),
        Ok(chunk) => panic!("{:?}", ChunkHeader::parse(&chunk)),
    }
}

fn what(chunk: &[u8], target: Target) -> &'static str {
    match refused(chunk, target) {
        Param::ForTarget { what, .. } => what,
        other => panic!("{other}"),
    }
}

#[test]
fn blosc1_to_blosc2_and_back_gives_the_same_chunk() {
    let data = Data::Mixed.bytes(70_000);
    for target in BLOSC1 {
        for codec in [CodecId::BLOSCLZ, CodecId::LZ4, CodecId::LZ4HC, CodecId::ZLIB] {
            for (filters, typesize) in
                [("none", 1), ("shuffle", 1), ("shuffle", 4), ("shuffle", 20)]
            {
                let params = CParams::default().codec(codec).typesize(typesize).target(target);
                let params = params.filters(Pipeline::parse(filters).unwrap());
                for len in [0, 5, 200, 70_000] {
                    let old = compress(&data[..len], &params).unwrap();
                    let new = transcode_header(&old, Target::Blosc2_0).unwrap();
                    assert_eq!(ChunkHeader::parse(&new).unwrap().version(), 5);
                    assert_eq!(decompress(&new).unwrap(), &data[..len]);
                    let back = transcode_header(&new, target).unwrap();
                    assert_eq!(back.len(), old.len());
                    assert_eq!(decompress(&back).unwrap(), &data[..len]);
                    // The other bits of a copy have no meaning; and a reader cannot distinguish
                    // LZ4HC from LZ4.
                    assert!(ChunkHeader::parse(&old).unwrap().is_memcpyed() || back == old);
                }
            }
        }
    }
}

#[test]
fn every_fixture_keeps_its_data_or_is_refused() {
    let manifest = Manifest::load().unwrap();
    let (mut done, mut refused) = (0, 0);
    for fixture in
        manifest.list_format(Format::Blosc1Chunk).chain(manifest.list_format(Format::Blosc2Chunk))
    {
        let bytes = fixture.read().unwrap();
        for target in [Target::Blosc1_3, Target::Blosc1_14, Target::Blosc2_0, Target::Blosc3_0] {
            match transcode_header(&bytes, target) {
                Ok(chunk) => {
                    assert!(
                        fixture.holds(&decompress(&chunk).unwrap()),
                        "{} {target}",
                        fixture.file
                    );
                    assert_eq!(Chunk::parse(&chunk).unwrap().header().cbytes(), chunk.len());
                    done += 1;
                }
                Err(Error::Param(_)) => refused += 1,
                Err(error) => panic!("{}: {error}", fixture.file),
            }
        }
    }
    assert!(done > 100 && refused > 30, "{done} {refused}");
}

#[test]
fn chunks_that_blosc1_cannot_hold_are_refused() {
    let text = Data::Text.bytes(9000);
    let params = CParams::default().typesize(4).codec(CodecId::LZ4).target(Target::Blosc3_0);
    let params = params.filters(Pipeline::EMPTY).split(SplitMode::Never);
    let chunk = |params: CParams, data: &[u8]| compress(data, &params).unwrap();
    let blocks = params.clone().blocksize(Some(4000));
    let runs = chunk(blocks.clone(), &[&text[..4000], &[7; 4000]].concat());
    assert_eq!(what(&runs, Target::Blosc1_14), "runs");
    let unsplit = chunk(blocks.clone(), &text[..8000]);
    assert_eq!(what(&unsplit, Target::Blosc1_3), "this split");
    assert_eq!(
        decompress(&transcode_header(&unsplit, Target::Blosc1_11).unwrap()).unwrap(),
        text[..8000]
    );
    let narrow =
        params.clone().blocksize(Some(256)).filters(Pipeline::SHUFFLE).split(SplitMode::Always);
    let steps: Vec<u8> = (0..2048u32).flat_map(|i| (i / 16 * 0x0101_0101).to_le_bytes()).collect();
    assert_eq!(what(&chunk(narrow, &steps), Target::Blosc1_14), "this split");
    let bitshuffle = blocks.clone().filters(Pipeline::parse("bitshuffle").unwrap());
    let ramp: Vec<u8> = (0..2010u32).flat_map(u32::to_le_bytes).collect();
    assert!(what(&chunk(bitshuffle, &ramp), Target::Blosc1_14).contains("bitshuffle"));
    let delta = blocks.filters(Pipeline::parse("delta,shuffle").unwrap());
    assert!(matches!(
        refused(&chunk(delta, &ramp), Target::Blosc1_14),
        Param::FiltersForTarget { .. }
    ));
    let zstd = CParams::default().codec(CodecId::ZSTD).typesize(1);
    assert!(matches!(refused(&chunk(zstd, &text), Target::Blosc1_3), Param::CodecForTarget { .. }));
    let zeros = special_chunk(Special::Zeros, 400, &params).unwrap();
    assert_eq!(what(&zeros, Target::Blosc1_14), "special chunks");
}

#[test]
fn chunks_that_an_older_blosc2_cannot_read_are_refused() {
    let text = Data::Text.bytes(9000);
    let params = CParams::default().typesize(1).codec(CodecId::LZ4).target(Target::Blosc3_0);
    let vl = Encoder::new(params.clone()).unwrap().encode_vl(&[&text, b"x"]).unwrap();
    assert_eq!(what(&vl, Target::Blosc2_0), "VL-blocks");
    assert_eq!(transcode_header(&vl, Target::Blosc3_0).unwrap(), vl);
    let dict = compress(&text, &params.clone().dict(Dict::Train { max: 450 })).unwrap();
    assert!(Chunk::parse(&dict).unwrap().dict().is_some());
    assert_eq!(what(&dict, Target::Blosc2_0), "dictionaries for LZ4");
    assert_eq!(transcode_header(&dict, Target::Blosc3_0).unwrap(), dict);
    let wide =
        special_chunk(Special::Value(&[7; 300]), 3000, &params.clone().typesize(300)).unwrap();
    assert_eq!(what(&wide, Target::Blosc2_0), "values wider than 255 bytes");
    let width = compress(&text, &params.filters(Pipeline::parse("shuffle:2").unwrap())).unwrap();
    assert!(matches!(refused(&width, Target::Blosc2_0), Param::FiltersForTarget { .. }));
}

#[test]
fn irregular_headers_are_regular_afterwards() {
    // C-Blosc 1.10 without the split flag: one stream, although bit 4 is clear.
    let line =
        text::lines("chunks/odd.txt").into_iter().find(|line| line.starts_with("L02-")).unwrap();
    let fields: Vec<&str> = line.split(' ').collect();
    let (old, data) = (text::hex(fields[1]), text::hex(fields[2]));
    let new = transcode_header(&old, Target::Blosc2_0).unwrap();
    assert!(!ChunkHeader::parse(&new).unwrap().is_split());
    assert_eq!(decompress(&new).unwrap(), data);
    // Compressed data with the flags of a copy, which C-Blosc2 writes with a dictionary, but cannot
    // read.
    let marked =
        b"\x05\x01\x07\x04\x1c\0\0\0\x1c\0\0\0\x36\0\0\0\0\0\0\0\0\x01\x01\0\0\0\0\0\0\0\0\0\
                   \x24\0\0\0\xff\xff\xff\xff\x01\xfe\xff\xff\xff\x01\0\0\0\0\0\0\0\0";
    let mended = transcode_header(marked, Target::Blosc2_0).unwrap();
    assert_eq!(Chunk::parse(&mended).unwrap().header().flags().0, 0x25);
    assert_eq!(decompress(&mended).unwrap(), b"\x01\x02\0\0".repeat(7));
    // Empty, with bytes after it.
    let empty = [&mended[..4], &[0; 4], &mended[8..]].concat();
    let bare = transcode_header(&empty, Target::Blosc1_14).unwrap();
    assert_eq!((bare.len(), ChunkHeader::parse(&bare).unwrap().kind()), (16, Kind::Memcpyed));
}

/// C-Blosc2 refuses bytedelta with a parameter of 0 outside of a super-chunk.
#[test]
fn chunks_on_their_own_say_how_many_streams_bytedelta_has() {
    let data: Vec<u8> = (0..20_000_u32).flat_map(u32::to_le_bytes).collect();
    let meta = |chunk: &[u8]| chunk[24..30].to_vec();
    for (filters, alone) in [
        ("shuffle, bytedelta", [0, 0, 0, 0, 0, 4]),
        ("shuffle, bytedelta_legacy", [0, 0, 0, 0, 0, 4]),
        ("shuffle, bytedelta:2", [0, 0, 0, 0, 0, 2]),
    ] {
        let params = CParams::default().typesize(4).filters(Pipeline::parse(filters).unwrap());
        let own = compress(&data, &params).unwrap();
        assert_eq!(meta(&own), alone, "{filters}");
        let mut moved = compress(&data, &params.clone().in_schunk()).unwrap();
        assert_eq!(meta(&moved)[5], if filters.ends_with(":2") { 2 } else { 0 });
        assert_eq!(decompress(&moved).unwrap(), data);
        detach_from_schunk(&mut moved, 4).unwrap();
        assert_eq!(moved, own);
        assert_eq!(decompress(&own).unwrap(), data);
    }
}

/// Items that are too wide for the header are bytes to it, and one stream of bytedelta.
#[test]
fn wide_items_on_their_own_are_one_stream_of_bytedelta() {
    let data: Vec<u8> = (0..90_000_u32).map(|n| (n / 7).to_le_bytes()[0]).collect();
    let params = CParams::default().typesize(300).filters(Pipeline::parse("bytedelta").unwrap());
    let own = compress(&data, &params).unwrap();
    assert_eq!((own[3], own[29]), (1, 1));
    assert_eq!(decompress(&own).unwrap(), data);
    let mut of_schunk = compress(&data, &params.in_schunk()).unwrap();
    let error = detach_from_schunk(&mut of_schunk, 300).unwrap_err();
    assert!(matches!(error, Error::Param(Param::Typesize { typesize: 300, max: 255 })), "{error}");
}
