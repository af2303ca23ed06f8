//! Properties of any data and any parameters.

use blosc_chunk::{
    CParams, Chunk, ChunkHeader, CodecId, DParams, Decoder, Encoder, Level, Limits, Pipeline,
    Registries, Scratch, Simd, SplitMode, Target, Threads, compress, decompress,
    max_compressed_len,
};
use blosc_testdata::data::{Kind, Recipe};
use proptest::prelude::*;

const CODECS: [CodecId; 5] =
    [CodecId::BLOSCLZ, CodecId::LZ4, CodecId::LZ4HC, CodecId::ZLIB, CodecId::ZSTD];
const FILTERS: [&str; 6] =
    ["none", "shuffle", "bitshuffle", "delta", "delta,shuffle", "delta,bitshuffle,shuffle"];
const SPLITS: [SplitMode; 4] =
    [SplitMode::Always, SplitMode::Never, SplitMode::Auto, SplitMode::ForwardCompat];

fn blosc2_params() -> impl Strategy<Value = CParams> {
    let typesize =
        prop_oneof![4 => 1usize..20, 1 => prop::sample::select(vec![31, 32, 255, 256, 300])];
    let block_size = prop_oneof![Just(None), (1usize..5000).prop_map(Some)];
    (0..5usize, 0..6usize, 0..4usize, 0..=9u8, typesize, block_size).prop_map(
        |(codec, filters, split, level, typesize, block_size)| {
            CParams::default()
                .codec(CODECS[codec])
                .filters(Pipeline::parse(FILTERS[filters]).unwrap())
                .split(SPLITS[split])
                .clevel(Level::try_from(level).unwrap())
                .typesize(typesize)
                .blocksize(block_size)
        },
    )
}

fn blosc1_params() -> impl Strategy<Value = CParams> {
    let target = prop::sample::select(vec![Target::Blosc1_3, Target::Blosc1_11, Target::Blosc1_14]);
    (blosc2_params(), target, 0..3usize, 0..4usize).prop_map(|(params, target, filters, codec)| {
        let filters = if target == Target::Blosc1_3 { filters % 2 } else { filters };
        let params = params.target(target).filters(Pipeline::parse(FILTERS[filters]).unwrap());
        params.split(SplitMode::ForwardCompat).codec(CODECS[codec])
    })
}

fn params() -> impl Strategy<Value = CParams> {
    prop_oneof![2 => blosc2_params(), 1 => blosc1_params()]
}

fn data() -> impl Strategy<Value = Vec<u8>> {
    let nbytes = prop_oneof![0usize..300, 0usize..20_000];
    (0..Kind::ALL.len(), 1usize..20, any::<u32>(), nbytes).prop_map(
        |(kind, typesize, seed, nbytes)| {
            Recipe { kind: Kind::ALL[kind], typesize, seed, nbytes }.bytes()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn what_is_compressed_comes_back(params in params(), data in data()) {
        let chunk = compress(&data, &params)?;
        prop_assert!(chunk.len() <= max_compressed_len(data.len()));
        prop_assert_eq!(ChunkHeader::parse(&chunk)?.cbytes(), chunk.len());
        prop_assert_eq!(decompress(&chunk)?, data);
    }

    #[test]
    fn a_part_is_a_slice_of_the_whole(params in params(), data in data(), ends in any::<(u32, u32)>()) {
        let bytes = compress(&data, &params)?;
        let at = |end: u32| end as usize % (data.len() + 1);
        let (start, end) = (at(ends.0).min(at(ends.1)), at(ends.0).max(at(ends.1)));
        let mut part = vec![0xaa; end - start];
        Chunk::parse(&bytes)?.read_bytes(start..end, &mut part, &mut Scratch::default())?;
        prop_assert_eq!(part, &data[start..end]);
    }

    #[test]
    fn threads_change_nothing(params in params(), data in data(), n in 2usize..6) {
        let threads = Threads::N(n.try_into()?);
        // Enough data for more than one thread.
        let enough = if matches!(params.codec, CodecId::BLOSCLZ | CodecId::LZ4) { 270_000 } else { 70_000 };
        let data = data.repeat(enough / data.len().max(1) + 1);
        let serial = compress(&data, &params)?;
        prop_assert_eq!(&serial, &Encoder::new(params.threads(threads))?.encode(&data)?);
        prop_assert_eq!(Decoder::new(DParams::default().threads(threads)).decode(&serial)?, data);
    }

    #[test]
    fn vector_instructions_change_nothing(params in params(), data in data()) {
        let best = compress(&data, &params)?;
        for simd in Simd::available() {
            let with = Registries { simd, ..Registries::default() };
            let chunk = Encoder::new(params.clone().registries(with.clone()))?.encode(&data)?;
            prop_assert!(chunk == best, "{}", simd.name());
            let back = Decoder::new(DParams::default().registries(with)).decode(&best)?;
            prop_assert!(back == data, "{}", simd.name());
        }
    }

    #[test]
    fn room_decides_whether_but_not_how_it_is_compressed(params in params(), data in data(), less in 1usize..40) {
        let whole = compress(&data, &params)?;
        let mut encoder = Encoder::new(params)?;
        let mut dest = vec![0; max_compressed_len(data.len()) + 100];
        prop_assert_eq!(encoder.encode_into(&data, &mut dest)?, whole.len());
        prop_assert_eq!(&dest[..whole.len()], &whole);
        let mut small = vec![0; whole.len().saturating_sub(less)];
        if let Ok(cbytes) = encoder.encode_into(&data, &mut small) {
            prop_assert_eq!(decompress(&small[..cbytes])?, data);
        }
    }

    #[test]
    fn headers_survive(params in params(), data in data()) {
        let chunk = compress(&data, &params)?;
        let header = ChunkHeader::parse(&chunk)?;
        prop_assert_eq!(header.to_bytes(), &chunk[..header.header_len()]);
    }

    #[test]
    fn damaged_chunks_do_not_panic(
        params in params(),
        data in data(),
        damage in prop::collection::vec((any::<u16>(), any::<u8>()), 1..8),
    ) {
        let mut chunk = compress(&data, &params)?;
        for (at, value) in damage {
            // Half of the damage hits the header and the block starts.
            let len = if value % 2 == 0 { chunk.len() } else { chunk.len().min(64) };
            chunk[usize::from(at) % len] = value;
        }
        let limits = Limits::none().max_nbytes(1 << 20);
        let mut decoder = Decoder::new(DParams::default().limits(limits));
        if let Ok(data) = decoder.decode(&chunk) {
            prop_assert_eq!(data.len(), ChunkHeader::parse(&chunk)?.nbytes());
        }
        let cut = chunk.len() / 2;
        prop_assert!(decoder.decode(&chunk[..cut]).is_err() || ChunkHeader::parse(&chunk)?.cbytes() <= cut);
    }
}
