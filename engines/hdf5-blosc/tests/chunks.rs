//! Chunks as the filters store them.

use blosc_chunk::{CParams, CodecId, FilterId, Pipeline};
use hdf5_blosc::{Error, decode_32001, decode_32026, encode_32001, encode_32026, other};
use proptest::prelude::*;

fn params(codec: u8, filter: u8, typesize: usize) -> CParams {
    let filter = [FilterId::NOFILTER, FilterId::SHUFFLE, FilterId::BITSHUFFLE][usize::from(filter)];
    CParams::default()
        .codec([CodecId::BLOSCLZ, CodecId::LZ4, CodecId::ZLIB, CodecId::ZSTD][usize::from(codec)])
        .filters(Pipeline::from_slots([0, 0, 0, 0, 0, filter.0], [0; 6]))
        .typesize(typesize)
}

proptest! {
    #[test]
    fn encoded_chunks_are_decoded(
        data in proptest::collection::vec(0_u8..4, 0..5000),
        codec in 0_u8..4,
        filter in 0_u8..3,
        typesize in 1_usize..17,
    ) {
        let (stored, client_data) = encode_32001(&data, params(codec, filter, typesize)).unwrap();
        let sizes = client_data[2..4].iter().map(|n| *n as usize);
        prop_assert!(sizes.eq([typesize, data.len()]));
        prop_assert_eq!(&decode_32001(&stored, &client_data, 5000).unwrap(), &data);
        let (stored, client_data) = encode_32026(&data, params(codec, filter, typesize)).unwrap();
        prop_assert_eq!(&decode_32026(&stored, &client_data, 5000).unwrap(), &data);
    }

    #[test]
    fn hostile_bytes_are_errors(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode_32001(&bytes, &[], 1 << 20);
        let _ = decode_32026(&bytes, &[], 1 << 20);
        for compressor in [0, 1, 2, 3] {
            let client_data = [0, 2, 4, 0, compressor];
            if let Ok(data) = other::decode_bitshuffle(&bytes, &client_data, 1 << 12) {
                prop_assert!(data.len() <= 1 << 12);
            }
        }
        for decode in [other::decode_lzf, other::decode_lz4, other::decode_zstd] {
            if let Ok(data) = decode(&bytes, &[], 1 << 12) {
                prop_assert!(data.len() <= 1 << 12);
            }
        }
    }

    #[test]
    fn flipped_bytes_never_give_more_than_allowed(at in 0_usize..400, by in 1_u8..) {
        let data: Vec<u8> = (0..4000_u32).flat_map(|n| (n / 3).to_le_bytes()).collect();
        for encode in [encode_32001, encode_32026] {
            let (mut stored, client_data) = encode(&data, params(1, 1, 4)).unwrap();
            let at = at % stored.len();
            stored[at] ^= by;
            let (a, b) = (decode_32001(&stored, &client_data, 1 << 30), decode_32026(&stored, &client_data, 1 << 30));
            for found in [a, b].into_iter().flatten() {
                prop_assert!(found.len() <= data.len());
            }
        }
    }
}

#[test]
fn a_chunk_that_is_too_long_is_refused_before_it_is_decoded() {
    let data = vec![0; 100_000];
    let (stored, client_data) = encode_32001(&data, params(1, 1, 4)).unwrap();
    let too_long =
        |found| matches!(found, Err(Error::TooLong { nbytes: 100_000, max_nbytes: 99_999 }));
    assert!(too_long(decode_32001(&stored, &client_data, 99_999)));
    assert!(too_long(decode_32001(&stored, &[2, 2, 4, 99_999], 1 << 40)));
    let (stored, client_data) = encode_32026(&data, params(1, 1, 4)).unwrap();
    assert!(too_long(decode_32026(&stored, &client_data, 99_999)));
    assert!(matches!(decode_32026(b"neither of them", &[], 100), Err(Error::Unknown)));
}
