//! The output of the encoder, down to the bits that C libraries check.

use blosc_chunk::{
    CParams, Chunk, ChunkHeader, CodecId, Dict, Encoder, Error, FilterId, Kind, Level, Pipeline,
    Scratch, Special, SpecialKind, SplitMode, Target,
    block::StreamKind,
    compress, decompress,
    error::Param,
    raw::{Blosc2Flags, Flags},
    special_chunk,
};
use blosc_testdata::data::Kind as Data;

fn header(chunk: &[u8]) -> ChunkHeader {
    ChunkHeader::parse(chunk).unwrap()
}

fn items(n: u32) -> Vec<u8> {
    (0..n).flat_map(u32::to_le_bytes).collect()
}

#[test]
fn short_or_uncompressed_data_get_the_flags_of_c() {
    let lz4 = CParams::default().codec(CodecId::LZ4).typesize(4);
    let hello = compress(b"Hello Blosc!", &lz4).unwrap();
    let expected =
        b"\x05\x01\x07\x04\x0c\0\0\0\x0c\0\0\0\x2c\0\0\0\0\0\0\0\0\x01\x01\0\0\0\0\0\0\0\0\0Hello Blosc!";
    assert_eq!(hello, expected);
    let hello = compress(b"Hello Blosc!", &lz4.clone().target(Target::Blosc1_14)).unwrap();
    assert_eq!(hello, b"\x02\x01\x33\x04\x0c\0\0\0\x0c\0\0\0\x1c\0\0\0Hello Blosc!");
    let stored = compress(&items(1000), &lz4.clone().clevel(Level::NONE)).unwrap();
    assert_eq!((header(&stored).flags().0, stored.len()), (0x07, 4032));
    let empty = compress(&[], &lz4).unwrap();
    assert_eq!((header(&empty).flags().0, header(&empty).blocksize(), empty.len()), (0x07, 1, 32));
    let empty = compress(&[], &lz4.target(Target::Blosc1_14)).unwrap();
    assert_eq!(
        (header(&empty).is_memcpyed(), header(&empty).blocksize(), empty.len()),
        (true, 1, 16)
    );
}

#[test]
fn noise_falls_back_to_a_copy_that_keeps_the_codec_bits() {
    let noise = Data::Noise.bytes(20_000);
    let chunk = compress(&noise, &CParams::default().codec(CodecId::LZ4).typesize(4)).unwrap();
    assert_eq!((header(&chunk).flags().0, chunk.len()), (0x27, 20_032));
    // More room does not make it larger.
    let mut roomy = vec![0; 30_000];
    let params = CParams::default().codec(CodecId::LZ4).typesize(4).blocksize(Some(512));
    assert_eq!(Encoder::new(params).unwrap().encode_into(&noise, &mut roomy), Ok(20_032));
}

#[test]
fn zeros_become_a_special_chunk_with_the_header_of_a_regular_one() {
    let params = CParams::default().codec(CodecId::ZSTD).typesize(4);
    let chunk = compress(&[0; 400], &params).unwrap();
    let expected =
        b"\x05\x01\x85\x04\x90\x01\0\0\x90\x01\0\0\x20\0\0\0\0\0\0\0\0\x01\x05\0\0\0\0\0\0\0\0\x10";
    assert_eq!(chunk, expected);
    // C-Blosc2 before 3.1.5 refuses the short form for cut items.
    let cut = compress(&[0; 401], &params).unwrap();
    assert_eq!((header(&cut).kind(), decompress(&cut).unwrap()), (Kind::Regular, vec![0; 401]));
    let plain = compress(&[0; 400], &params.special_values(false)).unwrap();
    assert_eq!(header(&plain).kind(), Kind::Regular);
    assert_eq!(decompress(&plain).unwrap(), [0; 400]);
}

#[test]
fn equal_bytes_are_runs() {
    let params = CParams::default().codec(CodecId::LZ4).typesize(4);
    let mut data = items(256);
    data.iter_mut().skip(3).step_by(4).for_each(|byte| *byte = 0x20);
    let bytes = compress(&data, &params).unwrap();
    let block = Chunk::parse(&bytes).unwrap().block(0).unwrap();
    let kinds: Vec<StreamKind> = block.streams().iter().map(|stream| stream.kind).collect();
    assert_eq!(
        kinds,
        [StreamKind::Stored, StreamKind::Run(0), StreamKind::Run(0), StreamKind::Run(0x20)]
    );
    assert_eq!((block.offset(), block.cbytes()), (36, bytes.len() - 36));
}

/// Zeros that end within an item are blocks of runs. A filter that cannot work with them causes an
/// error all the same.
#[test]
fn zeros_need_the_shape_of_a_block_as_other_data_do() {
    for (filter, shape) in [("ndcell:4", None), ("ndcell:4", Some([3].into())), ("ndmean:4", None)]
    {
        let params = CParams::default()
            .typesize(4)
            .blockshape(shape)
            .filters(Pipeline::parse(filter).unwrap());
        for data in [&[0; 4001], &[1; 4001]] {
            let error = compress(data, &params).unwrap_err();
            assert!(matches!(error, Error::Filter { .. }), "{filter}: {error:?}");
        }
    }
}

#[test]
fn specials_made_without_data() {
    let params = CParams::default().typesize(4);
    let zeros = special_chunk(Special::Zeros, 4000, &params).unwrap();
    let expected =
        b"\x05\x01\x05\x04\xa0\x0f\0\0\xa0\x0f\0\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10";
    assert_eq!(zeros, expected);
    let nans = special_chunk(Special::Nans, 80, &CParams::default().typesize(8)).unwrap();
    assert_eq!((header(&nans).special(), nans.len()), (Some(SpecialKind::Nans), 32));
    let uninit = special_chunk(Special::Uninit, 80, &params).unwrap();
    assert_eq!(decompress(&uninit).unwrap(), [0; 80]);
    // C-Blosc2 refuses blocks that do not consist of whole items.
    for (special, typesize) in [(Special::Nans, 4), (Special::Value(b"abcd"), 4)] {
        let params = CParams::default().typesize(typesize).blocksize(Some(3));
        assert_eq!(header(&special_chunk(special, 80, &params).unwrap()).blocksize(), 4);
    }
    let odd = special_chunk(Special::Zeros, 100_001, &params).unwrap();
    assert_eq!(decompress(&odd).unwrap(), vec![0; 100_001]);
    assert!(odd.len() == 60 && header(&odd).kind() == Kind::Regular);
    let wide = [7; 300];
    let params = CParams::default().typesize(300).target(Target::Blosc3_0);
    let value = special_chunk(Special::Value(&wide), 3000, &params).unwrap();
    assert_eq!((value.len(), decompress(&value).unwrap()), (332, vec![7; 3000]));
    assert!(special_chunk(Special::Value(&wide), 3000, &params.target(Target::Blosc2_0)).is_err());
    let cut =
        special_chunk(Special::Value(b"abcd"), 10, &CParams::default().typesize(4)).unwrap_err();
    assert_eq!(cut, Error::Param(Param::SpecialValue { width: 4, typesize: 4, nbytes: 10 }));
}

#[test]
fn items_wider_than_255_bytes_have_typesize_1() {
    let data = Data::Walk.bytes(99_900);
    let chunk = compress(&data, &CParams::default().typesize(300)).unwrap();
    assert_eq!((header(&chunk).typesize(), header(&chunk).blocksize() % 300), (1, 0));
    assert_eq!(decompress(&chunk).unwrap(), data);
}

#[test]
fn a_lossy_filter_before_delta_gives_the_truncated_data_in_every_block() {
    // The filter works in the machine's byte order.
    let data: Vec<u8> = (0..4000u32).flat_map(|i| (1.0 + i as f32 * 1e-4).to_ne_bytes()).collect();
    let params = CParams::default().typesize(4).blocksize(Some(1024)).target(Target::Blosc3_0);
    let chunk =
        compress(&data, &params.filters(Pipeline::parse("trunc:12,delta,shuffle").unwrap()))
            .unwrap();
    let expected: Vec<u8> = data
        .chunks_exact(4)
        .flat_map(|item| {
            let bits = u32::from_ne_bytes(item.try_into().unwrap());
            (bits & !((1 << 11) - 1)).to_ne_bytes()
        })
        .collect();
    assert_eq!(decompress(&chunk).unwrap(), expected);
}

#[test]
fn blosc1_chunks_split_by_the_rule_of_their_readers() {
    let data = items(20_000);
    for (target, codec, split) in [
        (Target::Blosc1_3, CodecId::ZLIB, true),
        (Target::Blosc1_14, CodecId::LZ4HC, true),
        (Target::Blosc1_14, CodecId::ZSTD, false),
    ] {
        let chunk =
            compress(&data, &CParams::default().target(target).codec(codec).typesize(4)).unwrap();
        assert_eq!(header(&chunk).is_split(), split, "{target} {codec}");
        assert_eq!((header(&chunk).version(), header(&chunk).header_len()), (2, 16));
        assert_eq!(decompress(&chunk).unwrap(), data);
    }
    let never = CParams::default().target(Target::Blosc1_11).typesize(4).split(SplitMode::Never);
    assert!(!header(&compress(&data, &never).unwrap()).is_split());
}

#[test]
fn bitshuffled_blosc1_data_with_a_cut_item_are_stored_since_readers_would_lose_it() {
    let params = CParams::default()
        .target(Target::Blosc1_14)
        .filters(Pipeline::parse("bitshuffle").unwrap())
        .typesize(4);
    let data = items(1000);
    assert!(!header(&compress(&data, &params).unwrap()).is_memcpyed());
    assert!(header(&compress(&[&data[..], b"!"].concat(), &params).unwrap()).is_memcpyed());
}

#[test]
fn vl_blocks_are_units_and_delta_stays_inside_them() {
    let (a, b, c) = (items(300), Data::Text.bytes(5000), vec![9; 1]);
    for filters in ["none", "shuffle", "delta,shuffle"] {
        let params = CParams::default().codec(CodecId::LZ4).typesize(4).target(Target::Blosc3_0);
        let mut encoder = Encoder::new(params.filters(Pipeline::parse(filters).unwrap())).unwrap();
        let bytes = encoder.encode_vl(&[&a, &b, &c]).unwrap();
        let chunk = Chunk::parse(&bytes).unwrap();
        assert_eq!(
            (chunk.header().version(), chunk.header().kind(), chunk.nblocks()),
            (6, Kind::Vl, 3)
        );
        let blocks = chunk.as_vl().unwrap();
        let mut scratch = Scratch::default();
        for (nblock, block) in [&a, &b, &c].into_iter().enumerate() {
            assert_eq!(&blocks.read(nblock, &mut scratch).unwrap(), block);
        }
        assert_eq!(decompress(&bytes).unwrap(), [&a[..], &b, &c].concat());
    }
}

#[test]
fn dictionaries_are_trained_stored_and_used() {
    let data = Data::Text.bytes(300_000);
    for codec in [CodecId::LZ4, CodecId::LZ4HC, CodecId::ZSTD] {
        let params = CParams::default()
            .codec(codec)
            .typesize(1)
            .blocksize(Some(2048))
            .target(Target::Blosc3_0);
        let without = compress(&data, &params).unwrap();
        let params = params.dict(Dict::Train { max: 8192 });
        let bytes = compress(&data, &params).unwrap();
        let chunk = Chunk::parse(&bytes).unwrap();
        assert!(
            chunk.header().has_dict() && chunk.dict().is_some_and(|dict| dict.len() >= 256),
            "{codec}"
        );
        assert!(bytes.len() < without.len(), "{codec}: {} {}", bytes.len(), without.len());
        assert_eq!(decompress(&bytes).unwrap(), data, "{codec}");
        let mut part = [0; 100];
        chunk.read_bytes(200_000..200_100, &mut part, &mut Scratch::default()).unwrap();
        assert_eq!(part, data[200_000..200_100]);
        let given = Dict::Given(data[..1000].into());
        let bytes = compress(&data[..50_000], &params.dict(given)).unwrap();
        assert_eq!(decompress(&bytes).unwrap(), &data[..50_000], "{codec}");
    }
}

#[test]
fn no_dictionary_for_few_data_noise_or_zeros() {
    let params =
        CParams::default().codec(CodecId::ZSTD).typesize(1).dict(Dict::Train { max: 4096 });
    let few = compress(&Data::Text.bytes(5000), &params).unwrap();
    assert!(!header(&few).blosc2_flags().has(Blosc2Flags::DICT));
    let noise = compress(&Data::Noise.bytes(100_000), &params).unwrap();
    assert!(header(&noise).is_memcpyed() && !header(&noise).blosc2_flags().has(Blosc2Flags::DICT));
    let zeros = compress(&vec![0; 100_000], &params).unwrap();
    assert_eq!((zeros.len(), header(&zeros).blosc2_flags().0), (32, 0x10));
    let vl = Encoder::new(params.target(Target::Blosc3_0))
        .unwrap()
        .encode_vl(&[&Data::Text.bytes(9000)[..]; 9]);
    assert!(header(&vl.unwrap()).has_dict());
}

#[test]
fn the_delta_bit_is_a_copy_of_the_slots() {
    let params = CParams::default().filters(Pipeline::parse("delta,shuffle").unwrap()).typesize(4);
    let chunk = compress(&items(1000), &params).unwrap();
    assert!(
        header(&chunk).flags().has(Flags::DELTA)
            && header(&chunk).pipeline().contains(FilterId::DELTA)
    );
}
