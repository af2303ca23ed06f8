//! One test per error: the smallest stream or option that causes it, and the exact value.

use blosc_codecs::{
    CodecId, Corrupt, DecodeOptions, EncodeOptions, Error, FormatId, Level, Param, Registry,
    ZstdFault,
};

/// Decodes `stream` to `n` bytes with default options and gives the error.
fn decode(codec: CodecId, stream: &[u8], n: usize) -> Error {
    decode_with(codec, DecodeOptions::default(), stream, n)
}

fn decode_with(codec: CodecId, options: DecodeOptions<'_>, stream: &[u8], n: usize) -> Error {
    let registry = Registry::builtin();
    let mut decoder =
        registry.require(codec).and_then(|c| c.new_decoder(&options)).expect("a decoder");
    decoder.decode(stream, &mut vec![0; n]).expect_err("a corrupt stream")
}

fn corrupt(codec: CodecId, at: usize, what: Corrupt) -> Error {
    Error::Corrupt { codec, at, what }
}

fn new_decoder(codec: CodecId, options: DecodeOptions<'_>) -> Error {
    let registry = Registry::builtin();
    registry.require(codec).and_then(|c| c.new_decoder(&options)).err().expect("unsuitable options")
}

fn new_encoder(codec: CodecId, options: EncodeOptions<'_>) -> Error {
    let registry = Registry::builtin();
    registry.require(codec).and_then(|c| c.new_encoder(&options)).err().expect("unsuitable options")
}

fn param(codec: CodecId, what: Param) -> Error {
    Error::Param { codec, what }
}

mod blosclz {
    use super::*;

    const ID: CodecId = CodecId::BLOSCLZ;

    #[test]
    fn empty_stream_is_truncated() {
        assert_eq!(decode(ID, b"", 5), corrupt(ID, 0, Corrupt::Truncated { need: 1, have: 0 }));
    }

    #[test]
    fn literal_run_past_the_stream_is_truncated() {
        assert_eq!(
            decode(ID, b"\x24abcd", 5),
            corrupt(ID, 1, Corrupt::Truncated { need: 5, have: 4 })
        );
    }

    #[test]
    fn length_byte_must_be_followed_by_the_distance() {
        let stream = b"\x20a\xe0\xff\xff";
        assert_eq!(
            decode(ID, stream, 5000),
            corrupt(ID, 4, Corrupt::Truncated { need: 2, have: 1 })
        );
    }

    #[test]
    fn far_distance_past_the_stream_is_truncated() {
        let stream = b"\x20a\x3f\xff\x00";
        assert_eq!(decode(ID, stream, 50), corrupt(ID, 4, Corrupt::Truncated { need: 2, have: 1 }));
    }

    #[test]
    fn literal_run_past_the_plain_bytes_is_too_long() {
        assert_eq!(
            decode(ID, b"\x25abcdef", 4),
            corrupt(ID, 1, Corrupt::TooLong { nbytes: 6, room: 4 })
        );
    }

    #[test]
    fn match_past_the_plain_bytes_is_too_long() {
        let stream = b"\x23abcd\xc0\x03\x00e";
        assert_eq!(
            decode(ID, stream, 11),
            corrupt(ID, 5, Corrupt::TooLong { nbytes: 12, room: 11 })
        );
    }

    #[test]
    fn fewer_bytes_than_expected_are_too_short() {
        let what = Corrupt::TooShort { nbytes: 6, expected: 40 };
        assert_eq!(decode(ID, b"\x25abcdef", 40), corrupt(ID, 7, what));
    }

    #[test]
    fn a_distance_before_the_start_is_refused() {
        let what = Corrupt::Distance { distance: 5, available: 4 };
        assert_eq!(decode(ID, b"\x23abcd\xc0\x04\x00e", 13), corrupt(ID, 5, what));
    }

    #[test]
    fn a_match_at_the_end_is_refused() {
        assert_eq!(decode(ID, b"\x23abcd\xc0\x03", 12), corrupt(ID, 5, Corrupt::EndsWithMatch));
    }

    #[test]
    fn there_are_no_dictionaries() {
        let dict = Some(&b"words"[..]);
        let error = param(ID, Param::Dict);
        assert_eq!(new_decoder(ID, DecodeOptions { dict, ..Default::default() }), error);
        assert_eq!(new_encoder(ID, EncodeOptions { dict, ..Default::default() }), error);
        let registry = Registry::builtin();
        let codec = registry.require(ID).expect("built in");
        assert_eq!(codec.train_dict(&[b"words"], 1000), Err(error));
    }
}

mod lz4 {
    use super::*;

    const ID: CodecId = CodecId::LZ4;

    #[test]
    fn empty_block_is_truncated() {
        assert_eq!(decode(ID, b"", 5), corrupt(ID, 0, Corrupt::Truncated { need: 1, have: 0 }));
    }

    #[test]
    fn literals_past_the_block_are_truncated() {
        assert_eq!(
            decode(ID, b"\x50abcd", 5),
            corrupt(ID, 1, Corrupt::Truncated { need: 5, have: 4 })
        );
    }

    #[test]
    fn length_bytes_past_the_block_are_truncated() {
        assert_eq!(
            decode(ID, b"\xf0\xff\xff", 5000),
            corrupt(ID, 3, Corrupt::Truncated { need: 1, have: 0 })
        );
    }

    #[test]
    fn offset_past_the_block_is_truncated() {
        assert_eq!(
            decode(ID, b"\x10a\x01", 50),
            corrupt(ID, 2, Corrupt::Truncated { need: 2, have: 1 })
        );
    }

    #[test]
    fn literals_past_the_plain_bytes_are_too_long() {
        assert_eq!(
            decode(ID, b"\x50abcde", 4),
            corrupt(ID, 1, Corrupt::TooLong { nbytes: 5, room: 4 })
        );
    }

    #[test]
    fn match_past_the_plain_bytes_is_too_long() {
        let stream = b"\x11a\x01\x00\x10b";
        assert_eq!(decode(ID, stream, 5), corrupt(ID, 2, Corrupt::TooLong { nbytes: 6, room: 5 }));
    }

    #[test]
    fn fewer_bytes_than_expected_are_too_short() {
        assert_eq!(
            decode(ID, b"\x20ab", 3),
            corrupt(ID, 3, Corrupt::TooShort { nbytes: 2, expected: 3 })
        );
    }

    #[test]
    fn offset_zero_and_offset_before_the_start() {
        for distance in [0, 2] {
            let stream = [0x10, b'a', distance, 0, 0x10, b'b'];
            let what = Corrupt::Distance { distance: distance.into(), available: 1 };
            assert_eq!(decode(ID, &stream, 6), corrupt(ID, 2, what));
        }
    }

    #[test]
    fn offset_before_the_dictionary() {
        let options = DecodeOptions { dict: Some(b"words"), ..Default::default() };
        let what = Corrupt::Distance { distance: 7, available: 6 };
        assert_eq!(decode_with(ID, options, b"\x10a\x07\x00\x10b", 6), corrupt(ID, 2, what));
    }
}

#[cfg(feature = "zlib")]
mod zlib {
    use super::*;

    const ID: CodecId = CodecId::ZLIB;
    /// "aaaaaaaaaa", by zlib 1.3.
    const TEN: &[u8] = b"\x78\x9c\x4b\x4c\x84\x01\x00\x14\xe1\x03\xcb";

    #[test]
    fn a_missing_end_is_truncated() {
        assert_eq!(
            decode(ID, &TEN[..8], 10),
            corrupt(ID, 8, Corrupt::Truncated { need: 1, have: 0 })
        );
    }

    #[test]
    fn more_and_fewer_bytes_than_expected() {
        assert!(matches!(
            decode(ID, TEN, 9),
            Error::Corrupt { what: Corrupt::TooLong { nbytes: 10, room: 9 }, .. }
        ));
        let what = Corrupt::TooShort { nbytes: 10, expected: 11 };
        assert_eq!(decode(ID, TEN, 11), corrupt(ID, 11, what));
    }

    #[test]
    fn bytes_after_the_stream_are_trailing() {
        let stream = [TEN, b"x"].concat();
        assert_eq!(decode(ID, &stream, 10), corrupt(ID, 11, Corrupt::Trailing { extra: 1 }));
    }

    #[test]
    fn a_wrong_checksum_or_header_is_refused() {
        let mut stream = TEN.to_vec();
        stream[TEN.len() - 1] ^= 1;
        let library = |error| matches!(error, Error::Corrupt { what: Corrupt::Library { .. }, .. });
        assert!(library(decode(ID, &stream, 10)));
        assert!(library(decode(ID, b"\x79\x9c\x4b\x84\x01\x00", 10)));
        // A stream may require a dictionary, which Blosc does not have.
        assert!(library(decode(ID, b"\x78\xbb\x01\x02\x03\x04\x4b\x84\x01\x00", 10)));
    }
}

#[cfg(feature = "zstd")]
mod zstd {
    use super::*;

    const ID: CodecId = CodecId::ZSTD;

    fn frame(n: usize) -> Vec<u8> {
        let mut stream = vec![0; 100];
        let registry = Registry::builtin();
        let codec = registry.require(ID).expect("it is built");
        let mut encoder = codec.new_encoder(&EncodeOptions::default()).expect("an encoder");
        let len = encoder.encode(&vec![b'a'; n], &mut stream).expect("no error").expect("it fits");
        stream.truncate(len);
        stream
    }

    #[test]
    fn more_and_fewer_bytes_than_expected() {
        let what = Corrupt::TooLong { nbytes: 1000, room: 999 };
        assert_eq!(decode(ID, &frame(1000), 999), corrupt(ID, 0, what));
        let what = Corrupt::TooShort { nbytes: 1000, expected: 1001 };
        assert_eq!(decode(ID, &frame(1000), 1001), corrupt(ID, frame(1000).len(), what));
    }

    #[test]
    fn damage_is_reported_with_its_position() {
        let what = Corrupt::Truncated { need: 3, have: 1 };
        assert_eq!(decode(ID, &frame(1000)[..8], 1000), corrupt(ID, 7, what));
        let what = Corrupt::Zstd(ZstdFault::Magic { found: 0x2074_6F6E });
        assert_eq!(decode(ID, b"not a frame", 1000), corrupt(ID, 0, what));
    }

    #[test]
    fn frames_of_zstd_before_1_0_are_unsupported() {
        for (magic, version) in [(0x27, "0.7"), (0x26, "0.6"), (0x25, "0.5")] {
            let error = decode(ID, &[magic, 0xB5, 0x2F, 0xFD, 0, 0], 10);
            assert!(matches!(error, Error::Unsupported { id: ID, .. }), "{error}");
            assert!(error.to_string().contains(version), "{error}");
        }
    }

    #[test]
    fn a_dictionary_with_a_broken_header_is_refused() {
        let dict = [&b"\x37\xa4\x30\xec"[..], &[0xFF; 60]].concat();
        let options = DecodeOptions { dict: Some(&dict), ..Default::default() };
        let error = new_decoder(ID, options);
        assert!(
            matches!(error, Error::Param { what: Param::BadDict { nbytes: 64, .. }, .. }),
            "{error}"
        );
    }
}

#[cfg(not(feature = "zstd"))]
#[test]
fn zstd_without_its_library_reads_and_does_not_write() {
    let registry = Registry::builtin();
    let codec = registry.require(CodecId::ZSTD).expect("it decodes");
    let error = codec.new_encoder(&EncodeOptions::default()).err().expect("no encoder");
    assert!(matches!(error, Error::Unsupported { id: CodecId::ZSTD, .. }), "{error}");
    assert!(error.to_string().contains("the feature `zstd`"), "{error}");
    assert_eq!(codec.train_dict(&[&[1; 100]], 1000), Err(error));
}

#[cfg(feature = "snappy")]
mod snappy {
    use super::*;

    const ID: CodecId = CodecId::SNAPPY;

    #[test]
    fn empty_stream_is_truncated() {
        assert_eq!(decode(ID, b"", 5), corrupt(ID, 0, Corrupt::Truncated { need: 1, have: 0 }));
    }

    #[test]
    fn an_endless_length_is_refused() {
        let what = Corrupt::Library { message: "the length at the start is not a varint" };
        assert_eq!(decode(ID, &[0xFF; 12], 5), corrupt(ID, 0, what));
    }

    #[test]
    fn stated_length_is_not_the_expected_one() {
        let what = Corrupt::TooLong { nbytes: 6, room: 5 };
        assert_eq!(decode(ID, b"\x06\x14abcdef", 5), corrupt(ID, 0, what));
        let what = Corrupt::TooShort { nbytes: 6, expected: 7 };
        assert_eq!(decode(ID, b"\x06\x14abcdef", 7), corrupt(ID, 0, what));
        let what = Corrupt::TooShort { nbytes: 3, expected: 6 };
        assert_eq!(decode(ID, b"\x06\x08abc", 6), corrupt(ID, 0, what));
    }

    #[test]
    fn elements_past_either_end_are_refused() {
        let what = Corrupt::Truncated { need: 6, have: 3 };
        assert_eq!(decode(ID, b"\x06\x14abc", 6), corrupt(ID, 0, what));
        let what = Corrupt::TooLong { nbytes: 6, room: 5 };
        assert_eq!(decode(ID, b"\x05\x14abcdef", 5), corrupt(ID, 0, what));
        let what = Corrupt::TooLong { nbytes: 65, room: 5 };
        assert_eq!(decode(ID, b"\x05\x00a\xfe\x01\x00", 5), corrupt(ID, 0, what));
        let what = Corrupt::Distance { distance: 2, available: 1 };
        assert_eq!(decode(ID, b"\x05\x00a\x0e\x02\x00", 5), corrupt(ID, 0, what));
    }
}

mod ndlz {
    use super::*;

    const ID: CodecId = CodecId::NDLZ;
    /// A literal cell of 4 x 4.
    const LITERAL: &[u8] = b"\x02\x04\0\0\0\x04\0\0\0\x00abcdefghijklmnop";

    fn decode_cells(stream: &[u8], n: usize) -> Error {
        decode_with(ID, DecodeOptions { meta: 4, ..Default::default() }, stream, n)
    }

    #[test]
    fn stream_shorter_than_its_header() {
        let what = Corrupt::Truncated { need: 9, have: 8 };
        assert_eq!(decode_cells(&LITERAL[..8], 16), corrupt(ID, 0, what));
    }

    #[test]
    fn three_dimensions_are_refused() {
        let stream = [b"\x03", &LITERAL[1..]].concat();
        assert_eq!(
            decode_cells(&stream, 16),
            corrupt(ID, 0, Corrupt::Dimensions { ndim: 3, expected: 2 })
        );
    }

    #[test]
    fn shapes_of_another_size_are_refused() {
        let what = Corrupt::Shape { rows: 4, cols: 4, expected: 17 };
        assert_eq!(decode_cells(LITERAL, 17), corrupt(ID, 1, what));
        let stream = b"\x02\xff\xff\xff\xff\xff\xff\xff\xff\x00";
        let what = Corrupt::Shape { rows: -1, cols: -1, expected: 1 };
        assert_eq!(decode_cells(stream, 1), corrupt(ID, 1, what));
        let stream = b"\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00";
        let what = Corrupt::Shape { rows: 0, cols: 0, expected: 0 };
        assert_eq!(decode_cells(stream, 0), corrupt(ID, 1, what));
    }

    #[test]
    fn cell_past_the_stream_is_truncated() {
        let what = Corrupt::Truncated { need: 16, have: 15 };
        assert_eq!(decode_cells(&LITERAL[..25], 16), corrupt(ID, 10, what));
        let what = Corrupt::Truncated { need: 1, have: 0 };
        assert_eq!(decode_cells(&LITERAL[..9], 16), corrupt(ID, 9, what));
    }

    #[test]
    fn unknown_tokens_are_refused() {
        let stream = b"\x02\x04\0\0\0\x04\0\0\0\x01abcdefghijklmnop";
        assert_eq!(decode_cells(stream, 16), corrupt(ID, 9, Corrupt::Token { token: 1 }));
        // A cut cell has no references.
        let stream = b"\x02\x02\0\0\0\x04\0\0\0\xc0\x01\x00";
        assert_eq!(decode_cells(stream, 8), corrupt(ID, 9, Corrupt::Token { token: 0xC0 }));
    }

    #[test]
    fn references_outside_the_stream_are_refused() {
        let stream = b"\x02\x04\0\0\0\x04\0\0\0\xc0\x0a\x00";
        let what = Corrupt::Reference { start: -1, len: 16, stream: 12 };
        assert_eq!(decode_cells(stream, 16), corrupt(ID, 10, what));
        let stream = b"\x02\x04\0\0\0\x04\0\0\0\xc0\x00\x00";
        let what = Corrupt::Reference { start: 9, len: 16, stream: 12 };
        assert_eq!(decode_cells(stream, 16), corrupt(ID, 10, what));
    }

    #[test]
    fn bytes_after_the_last_cell_are_trailing() {
        let stream = [LITERAL, b"x"].concat();
        assert_eq!(decode_cells(&stream, 16), corrupt(ID, 26, Corrupt::Trailing { extra: 1 }));
    }

    #[test]
    fn unsuitable_options_are_refused() {
        let error = param(ID, Param::Meta { meta: 5, allowed: "4, 8" });
        assert_eq!(new_decoder(ID, DecodeOptions { meta: 5, ..Default::default() }), error);
        let shape = |blockshape| EncodeOptions { meta: 4, blockshape, ..Default::default() };
        assert_eq!(new_encoder(ID, shape(None)), param(ID, Param::NoShape));
        let error = param(ID, Param::Dimensions { ndim: 1, allowed: "2" });
        assert_eq!(new_encoder(ID, shape(Some(&[16]))), error);
        assert!(matches!(
            new_encoder(ID, shape(Some(&[u32::MAX, u32::MAX]))),
            Error::Param { what: Param::ShapeSize { .. }, .. }
        ));
        let registry = Registry::builtin();
        let mut encoder =
            registry.require(ID).and_then(|c| c.new_encoder(&shape(Some(&[4, 4])))).expect("fine");
        let error = param(ID, Param::ShapeSize { shape: 16, nbytes: 15 });
        assert_eq!(encoder.encode(&[0; 15], &mut [0; 40]), Err(error));
    }
}

mod zfp {
    use super::*;

    const ID: CodecId = CodecId::ZFP_ACC;

    fn options(typesize: usize, blockshape: Option<&[u32]>) -> DecodeOptions<'_> {
        DecodeOptions { typesize, blockshape, ..Default::default() }
    }

    #[test]
    fn a_stream_without_enough_bits_is_truncated() {
        let what = Corrupt::Truncated { need: 1, have: 0 };
        assert_eq!(decode_with(ID, options(4, Some(&[8])), &[1], 32), corrupt(ID, 1, what));
    }

    #[test]
    fn a_shape_of_another_size_is_refused() {
        let error = param(ID, Param::ShapeSize { shape: 32, nbytes: 31 });
        assert_eq!(decode_with(ID, options(4, Some(&[8])), &[0; 8], 31), error);
    }

    #[test]
    fn unsuitable_options_are_refused() {
        assert_eq!(new_decoder(ID, options(4, None)), param(ID, Param::NoShape));
        let error = param(ID, Param::Typesize { typesize: 2, allowed: "4, 8" });
        assert_eq!(new_decoder(ID, options(2, Some(&[8]))), error);
        let error = param(ID, Param::Dimensions { ndim: 5, allowed: "1, 2, 3, 4" });
        assert_eq!(new_decoder(ID, options(4, Some(&[4; 5]))), error);
        let rate = DecodeOptions { meta: 101, ..options(4, Some(&[8])) };
        let error = param(CodecId::ZFP_RATE, Param::Meta { meta: 101, allowed: "1 to 100" });
        assert_eq!(new_decoder(CodecId::ZFP_RATE, rate), error);
    }
}

#[test]
fn unregistered_codecs_are_unsupported_or_unknown() {
    let registry = Registry::builtin();
    let error = |id| registry.require(id).err().expect("not registered");
    assert_eq!(error(CodecId(77)), Error::UnknownCodec { id: CodecId(77) });
    for id in [6, 36, 37, 38, 39, 40].map(CodecId) {
        let error = error(id);
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().starts_with(id.name().expect("a name")), "{error}");
    }
    let format = FormatId(7);
    assert_eq!(registry.require_format(format).err(), Some(Error::UnknownFormat { format }));
}

#[test]
fn codecs_without_their_feature_name_it() {
    let registry = Registry::empty();
    for name in ["snappy", "zlib", "zstd"] {
        let id = CodecId::from_name(name).expect("a name");
        let error = registry.require(id).err().expect("empty");
        let text = error.to_string();
        assert_eq!(
            text,
            format!("{name} is not supported here: it needs the feature `{name}` of blosc-codecs")
        );
    }
}

#[test]
fn a_level_above_nine_is_refused() {
    assert_eq!(Level::try_from(10), Err(Error::Level { clevel: 10 }));
}
