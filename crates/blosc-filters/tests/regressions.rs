//! Defects of this crate or of others, each with its smallest input.

#![expect(clippy::unwrap_used, reason = "a test")]

use blosc_filters::{
    BitshuffleRule, BlockGeometry, Error, FilterCx, FilterId, Param, Pipeline, Reference, Registry,
    bitshuffle, bitunshuffle, functions, shuffle, unshuffle,
};

fn forward(spec: &str, cx: &FilterCx<'_>, src: &[u8]) -> Result<Vec<u8>, Error> {
    let (mut dest, mut scratch) = (vec![0xEE; src.len()], vec![0xEE; src.len()]);
    let pipeline = Pipeline::parse(spec)?;
    pipeline.forward(&Registry::builtin(), cx, src, &mut dest, &mut scratch).map(|()| dest)
}

fn backward(spec: &str, cx: &FilterCx<'_>, src: &[u8]) -> Result<Vec<u8>, Error> {
    let (mut src, mut dest) = (src.to_vec(), vec![0xEE; src.len()]);
    Pipeline::parse(spec)?.backward(&Registry::builtin(), cx, &mut src, &mut dest).map(|()| dest)
}

/// C-Blosc2 from 2.21.0 on leaves the last bytes of version-2 blocks as they were in its buffer.
#[test]
fn bytes_after_the_last_item_of_a_version_2_block_are_copied() {
    let src: Vec<u8> = (0..8 * 5 + 3).collect();
    let (mut filtered, mut restored) = ([0xEE; 43], [0xEE; 43]);
    bitshuffle(5, BitshuffleRule::Blosc1, &src, &mut filtered);
    assert_eq!(filtered[40..], [40, 41, 42]);
    bitunshuffle(5, BitshuffleRule::Blosc1, &filtered, &mut restored);
    assert_eq!(restored[..], src);
}

/// C-Blosc2 before 3.3.2 neither writes nor reads these bytes.
#[test]
fn bytes_after_the_last_stream_of_bytedelta_are_copied() {
    let mut dest = [0xEE; 5];
    functions::bytedelta_encode(2, &[1, 3, 9, 9, 77], &mut dest);
    assert_eq!(dest, [1, 2, 9, 0, 77]);
    let mut restored = [0xEE; 5];
    functions::bytedelta_decode(2, &dest, &mut restored);
    assert_eq!(restored, [1, 3, 9, 9, 77]);
}

/// C-Blosc2 leaves uninitialised memory in the bytes after the last word of these filters.
#[test]
fn bytes_after_the_last_word_of_delta_and_truncation_are_copied() {
    let cx = FilterCx::new(4);
    for spec in ["delta", "trunc_prec:10", "int_trunc:10"] {
        let filtered = forward(spec, &cx, &[1, 2, 3, 4, 5, 6, 7]).unwrap();
        assert_eq!(filtered[4..], [5, 6, 7], "{spec}");
    }
}

/// Typesizes 3, 5, 6, 7 and 12 are differenced byte by byte, 16 and 24 by eight.
#[test]
fn delta_of_other_typesizes_has_words_of_one_or_eight_bytes() {
    assert_eq!(forward("delta", &FilterCx::new(3), &[10, 20, 30, 40]).unwrap(), [10, 30, 10, 54]);
    let src: Vec<u8> = (1..=24).collect();
    for typesize in [8, 16, 24] {
        let filtered = forward("delta", &FilterCx::new(typesize), &src).unwrap();
        assert_eq!(filtered[..9], [1, 2, 3, 4, 5, 6, 7, 8, 1 ^ 9], "typesize {typesize}");
    }
}

/// The last block of a chunk cannot be longer than the first one.
#[test]
fn a_reference_shorter_than_the_block_is_an_error() {
    let cx = FilterCx { reference: Reference::Block(&[1, 2, 3, 4]), ..FilterCx::new(4) };
    let what = Param::Reference { reference: 4, block: 8 };
    let error = Err(Error::Param { id: FilterId::DELTA, what });
    assert_eq!(forward("delta", &cx, &[0; 8]), error);
    assert_eq!(backward("delta", &cx, &[0; 8]), error);
    // Bytes after the last word need no reference.
    assert!(forward("delta", &cx, &[0; 7]).is_ok());
}

/// Id 34 starts again at a multiple of 16; for streams below 16 bytes it equals id 35.
#[test]
fn short_streams_of_the_first_bytedelta_are_those_of_the_second() {
    let src: Vec<u8> = (10..=24).collect();
    let mut dest = [0; 15];
    functions::bytedelta_encode(1, &src, &mut dest);
    let mut restored = [[0; 15]; 2];
    functions::bytedelta_decode_legacy(1, &dest, &mut restored[0]);
    functions::bytedelta_decode(1, &dest, &mut restored[1]);
    assert_eq!(restored, [src.as_slice(); 2]);
}

/// Truncation clears the payload of a NaN whose high bits are zero: it becomes an infinity, as in
/// C-Blosc2.
#[test]
fn a_nan_of_low_bits_becomes_an_infinity() {
    let nan = f32::from_bits(0x7F80_0001);
    let bits = forward("trunc_prec:10", &FilterCx::new(4), &nan.to_ne_bytes()).unwrap();
    assert!(f32::from_ne_bytes(bits.try_into().unwrap()).is_infinite());
}

/// C-Blosc2 uses the first dimension's side for all dimensions, and writes wrong means.
#[test]
fn means_of_a_shape_that_c_blosc2_spoils_are_refused() {
    let geometry = BlockGeometry::new(&[2, 8]);
    let cx = FilterCx { geometry: Some(&geometry), ..FilterCx::new(4) };
    let error = Err(Error::Param { id: FilterId::NDMEAN, what: Param::Cell { side: 4 } });
    assert_eq!(forward("ndmean:4", &cx, &[0; 64]), error);
}

/// Meta bytes are two's complement: a Python program lists 250 for -6.
#[test]
fn large_metas_of_truncations_are_negative_numbers() {
    let cx = FilterCx::new(4);
    let src = 0x1234_5678_u32.to_ne_bytes();
    assert_eq!(forward("int_trunc:250", &cx, &src), forward("int_trunc:-6", &cx, &src));
    assert_eq!(forward("int_trunc:-6", &cx, &src).unwrap(), 0x1234_5640_u32.to_ne_bytes());
}

/// A typesize of 0 comes from headers that were not checked.
#[test]
fn typesize_0_counts_as_1() {
    let src: Vec<u8> = (0..100).collect();
    let mut dest = [0; 100];
    shuffle(0, &src, &mut dest);
    assert_eq!(dest[..], src);
    unshuffle(0, &src, &mut dest);
    assert_eq!(dest[..], src);
    let mut one = [0; 100];
    bitshuffle(0, BitshuffleRule::Blosc2, &src, &mut dest);
    bitshuffle(1, BitshuffleRule::Blosc2, &src, &mut one);
    assert_eq!(dest, one);
}

/// With an odd number of filters the encoder of C-Blosc2 writes to its input.
#[test]
fn no_number_of_filters_changes_the_input() {
    let src: Vec<u8> = (0..=255).collect();
    for spec in ["shuffle", "delta, shuffle", "delta, shuffle, bytedelta", "1,2,3,1,2,3"] {
        let input = src.clone();
        let filtered = forward(spec, &FilterCx::new(4), &input).unwrap();
        assert_eq!(input, src, "{spec}");
        assert_eq!(backward(spec, &FilterCx::new(4), &filtered).unwrap(), src, "{spec}");
    }
}

/// An empty block has no items, streams or words.
#[test]
fn an_empty_block_stays_empty() {
    for spec in ["1", "2", "3", "4:10", "34", "35", "36:10"] {
        for typesize in [1, 4, 255] {
            let cx = FilterCx::new(if spec.contains(':') { 4 } else { typesize });
            assert_eq!(forward(spec, &cx, &[]), Ok(vec![]), "{spec}");
            assert_eq!(backward(spec, &cx, &[]), Ok(vec![]), "{spec}");
        }
    }
}
