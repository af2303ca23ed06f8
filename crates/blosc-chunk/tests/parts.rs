//! Parts of blocks, which are read without decoding and filtering the rest, against the whole.

use blosc_chunk::{
    CParams, Chunk, CodecId, ItemReader, Pipeline, Scratch, SplitMode, Target, compress, decompress,
};
use blosc_testdata::data::{Kind, Recipe, XorShift32};

const NBYTES: usize = 10_007;

fn data(kind: Kind, typesize: usize) -> Vec<u8> {
    Recipe { kind, typesize, seed: 5, nbytes: NBYTES }.bytes()
}

/// Any parts of this chunk are those of the data.
fn check(params: &CParams, data: &[u8], rng: &mut XorShift32) {
    let bytes = compress(data, params).unwrap();
    assert_eq!(decompress(&bytes).unwrap(), data, "{params:?}");
    let (chunk, mut scratch) = (Chunk::parse(&bytes).unwrap(), Scratch::default());
    let mut reader = ItemReader::new(chunk, Scratch::default());
    let mut below = |n: usize| usize::try_from(rng.below(n as u64)).unwrap();
    for turn in 0..60 {
        let start = below(NBYTES);
        let len = 1 + below((NBYTES - start).min([8, 300, NBYTES][turn % 3]));
        let mut dest = vec![0xA5; len + 1];
        chunk.read_bytes(start..start + len, &mut dest, &mut scratch).unwrap();
        assert_eq!(dest[..len], data[start..start + len], "{start}, {len} bytes: {params:?}");
        assert_eq!(dest[len], 0xA5);
        dest.fill(0);
        reader.read_bytes(start..start + len, &mut dest).unwrap();
        assert_eq!(dest[..len], data[start..start + len], "{start}, {len} bytes: {params:?}");
    }
}

#[test]
fn any_part_is_that_of_the_data() {
    let mut rng = XorShift32::default();
    let pipelines = ["none", "shuffle", "bitshuffle", "delta, shuffle", "shuffle:3", "trunc:20, bitshuffle"];
    for typesize in [1, 2, 3, 4, 8, 16, 17] {
        for (spec, kind) in pipelines.iter().zip(Kind::ALL.into_iter().cycle().skip(typesize)) {
            if spec.contains("trunc") && !matches!(typesize, 4 | 8) {
                continue;
            }
            let data = data(if spec.contains("trunc") { Kind::Zeros } else { kind }, typesize);
            for codec in [CodecId::BLOSCLZ, CodecId::LZ4, CodecId::ZSTD] {
                for split in [SplitMode::Always, SplitMode::Never] {
                    for block_size in [None, Some(17 * 40), Some(3003)] {
                        let params =
                            CParams::default().target(Target::Blosc3_0).codec(codec).typesize(typesize);
                        let params = params.split(split);
                        let params = params.filters(Pipeline::parse(spec).unwrap()).block_size(block_size);
                        check(&params, &data, &mut rng);
                    }
                }
            }
        }
    }
}

#[test]
fn any_part_of_a_chunk_of_blosc_1_as_well() {
    let mut rng = XorShift32::default();
    for typesize in [1, 3, 4, 8] {
        for spec in ["none", "shuffle", "bitshuffle"] {
            for block_size in [None, Some(1000), Some(4096)] {
                let params =
                    CParams::default().target(Target::Blosc1_14).codec(CodecId::LZ4).typesize(typesize);
                let params = params.filters(Pipeline::parse(spec).unwrap()).block_size(block_size);
                check(&params, &data(Kind::Walk, typesize), &mut rng);
            }
        }
    }
}
