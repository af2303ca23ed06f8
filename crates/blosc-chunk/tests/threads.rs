//! Several threads write the same bytes as one, and read the same data.

use core::num::NonZeroUsize;

use blosc_chunk::hooks::BlockCx;
use blosc_chunk::{
    CParams, Chunk, CodecId, DParams, Decoder, Destination, Dict, Encoder, Error, Pipeline,
    Special, SplitMode, Target, Threads, compress, max_compressed_len, special_chunk,
};
use blosc_testdata::data::Kind;

const BLOCK: usize = 16 << 10;
const TWO: Threads = Threads::N(NonZeroUsize::new(2).unwrap());

/// Blocks of noise (`n`), which grow by the size fields of their streams, of text (`t`) and of
/// zeros (`z`).
fn data(blocks: &str) -> Vec<u8> {
    let noise = Kind::Noise.bytes(BLOCK);
    let text = Kind::Walk.bytes(BLOCK);
    let block = |kind| match kind {
        'n' => noise.clone(),
        't' => text.clone(),
        _ => vec![0; BLOCK],
    };
    blocks.chars().flat_map(block).collect()
}

/// Noise first moves all streams up, over each other; noise last moves them down.
const ORDERS: [&str; 6] = [
    "nnnnnnttztttn",
    "ttttttnnnnnnz",
    "ntntntntntntnt",
    "nnnnnnnnnnnnnt",
    "zzzzzzzzzn",
    "nnnnnnnnnz",
];

/// An encoder that uses two threads even for little data.
fn parallel_encoder(params: CParams) -> Encoder {
    let mut encoder = Encoder::new(params.threads(TWO)).unwrap();
    encoder.use_all_threads();
    encoder
}

/// A decoder that uses two threads even for little data.
fn parallel_decoder(params: DParams) -> Decoder {
    let mut decoder = Decoder::new(params.threads(TWO));
    decoder.scratch().use_all_threads();
    decoder
}

fn all_params() -> Vec<CParams> {
    let lz4 = CParams::default().codec(CodecId::LZ4).typesize(4).blocksize(Some(BLOCK));
    let shuffled =
        lz4.clone().filters(Pipeline::parse("shuffle").unwrap()).split(SplitMode::Always);
    vec![
        lz4.clone().filters(Pipeline::EMPTY),
        shuffled.clone(),
        shuffled.clone().codec(CodecId::BLOSCLZ),
        lz4.clone().filters(Pipeline::parse("delta,bitshuffle").unwrap()),
        lz4.clone().target(Target::Blosc1_14).filters(Pipeline::parse("shuffle").unwrap()),
        shuffled.codec(CodecId::ZSTD).dict(Dict::Train { max: 4096 }),
    ]
}

#[test]
fn streams_move_up_and_down() {
    for params in all_params() {
        for order in ORDERS {
            let mut data = data(order);
            data.extend_from_slice(&Kind::Walk.bytes(BLOCK / 3));
            let serial = Encoder::new(params.clone()).unwrap().encode(&data).unwrap();
            let parallel = parallel_encoder(params.clone()).encode(&data).unwrap();
            assert!(serial == parallel, "{order} {params:?}");
            assert!(serial.len() < max_compressed_len(data.len()), "{order} is stored");
        }
    }
}

/// The threads share the streams of the block.
#[test]
fn chunks_of_one_block_are_the_same_with_any_number_of_threads() {
    for params in all_params() {
        for order in [
            "tttttttttttttttttttt",
            "nnnnntttttttttttttttttttt",
            "zzzzzzzzzzzzzzzzzzzz",
            "nnnnnnnnnnnnnnnnnnnn",
        ] {
            let data = data(order);
            let params = params.clone().blocksize(Some(data.len())).dict(Dict::None);
            let serial = Encoder::new(params.clone()).unwrap().encode(&data).unwrap();
            let mut parallel = parallel_encoder(params);
            assert!(parallel.encode(&data).unwrap() == serial, "{order}");
            let mut decoder = parallel_decoder(DParams::default());
            assert!(decoder.decode(&serial).unwrap() == data, "{order}");
            assert!(decoder.decode(&serial).unwrap() == data, "{order} again");
        }
    }
}

/// The threads share the filter in parts, which need not divide the block.
#[test]
fn a_block_is_filtered_in_parts_of_any_number_of_items() {
    for (typesize, nitems) in [(2, 150_001), (3, 110_003), (7, 50_021), (8, 40_961), (16, 20_479)] {
        let data = Kind::Walk.bytes(typesize * nitems);
        let params =
            CParams::default().codec(CodecId::LZ4).typesize(typesize).blocksize(Some(data.len()));
        let params = params.filters(Pipeline::SHUFFLE).split(SplitMode::Always);
        let serial = Encoder::new(params.clone()).unwrap().encode(&data).unwrap();
        assert!(parallel_encoder(params).encode(&data).unwrap() == serial, "{typesize}");
        for destination in [Destination::Cached, Destination::Large] {
            let params = DParams::default().destination(destination);
            assert!(
                parallel_decoder(params).decode(&serial).unwrap() == data,
                "{typesize} {destination:?}"
            );
        }
    }
}

/// A chunk of one block with many damaged streams.
#[test]
fn the_error_is_that_of_the_first_damaged_stream() {
    let data = data("tttttttttttttttttttt");
    let params = CParams::default().codec(CodecId::LZ4).typesize(4).blocksize(Some(data.len()));
    let params = params.filters(Pipeline::SHUFFLE).split(SplitMode::Always);
    let chunk = Encoder::new(params).unwrap().encode(&data).unwrap();
    let mut serial = Decoder::default();
    let mut parallel = parallel_decoder(DParams::default());
    for at in (36..chunk.len()).step_by(chunk.len() / 100) {
        let mut damaged = chunk.clone();
        damaged[at..].iter_mut().step_by(10).for_each(|byte| *byte ^= 0x55);
        assert_eq!(serial.decode(&damaged), parallel.decode(&damaged), "from {at} on");
    }
}

#[test]
fn a_destination_shorter_than_the_data_is_enough_for_what_fits() {
    let data = data("nttznttttnz");
    for params in all_params() {
        let whole = Encoder::new(params.clone()).unwrap().encode(&data).unwrap();
        let mut encoder = parallel_encoder(params);
        let mut dest = vec![0; whole.len()];
        assert_eq!(encoder.encode_into(&data, &mut dest), Ok(whole.len()));
        assert!(dest == whole);
        let short = encoder.encode_into(&data, &mut dest[..whole.len() - 1]);
        assert!(matches!(short, Err(Error::Dest { .. })), "{short:?}");
    }
}

#[test]
fn blocks_of_individual_sizes_have_slots_of_their_own() {
    let data = data("ntzntntz");
    let cuts = [0, 1, 5, 20_000, 20_001, 60_000, 61_000, data.len()];
    let blocks: Vec<&[u8]> = cuts.windows(2).map(|cut| &data[cut[0]..cut[1]]).collect();
    let params = CParams::default().codec(CodecId::LZ4).typesize(1).target(Target::Blosc3_0);
    let serial = Encoder::new(params.clone()).unwrap().encode_vl(&blocks).unwrap();
    assert!(serial == parallel_encoder(params).encode_vl(&blocks).unwrap());
}

/// Chunks without decoding are written in parts, which begin anywhere in an item.
#[test]
fn stored_chunks_and_runs_are_the_same_with_any_number_of_threads() {
    let nbytes = 3 * 7 * 40_000;
    let params = |typesize| CParams::default().codec(CodecId::LZ4).typesize(typesize);
    let noise = compress(&Kind::Noise.bytes(nbytes), &params(1)).unwrap();
    assert!(Chunk::parse(&noise).unwrap().header().is_memcpyed());
    let run = |special, typesize| special_chunk(special, nbytes, &params(typesize)).unwrap();
    for chunk in [
        noise,
        run(Special::Zeros, 8),
        run(Special::Nans, 4),
        run(Special::Nans, 8),
        run(Special::Uninit, 1),
        run(Special::Value(b"abc"), 3),
        run(Special::Value(b"abcdefg"), 7),
    ] {
        let serial = Decoder::new(DParams::default()).decode(&chunk).unwrap();
        for destination in [Destination::Cached, Destination::Outer, Destination::Large] {
            let params = DParams::default().destination(destination);
            let mut decoder = parallel_decoder(params);
            assert!(decoder.decode(&chunk).unwrap() == serial, "{destination:?}");
            let mut part = vec![0xEE; nbytes - 12_345];
            let range = 12_340..nbytes - 5;
            let add = |cx: BlockCx<'_>, dest: &mut [u8]| {
                assert!(cx.input == &serial[cx.at..][..dest.len()]);
                dest.iter_mut().zip(cx.input).for_each(|(to, from)| *to = from.wrapping_add(1));
                Ok(())
            };
            Chunk::parse(&chunk)
                .unwrap()
                .read_bytes_with(range.clone(), &mut part, decoder.scratch(), &add)
                .unwrap();
            assert!(part.iter().zip(&serial[range.clone()]).all(|(a, b)| *a == b.wrapping_add(1)));
        }
    }
}
