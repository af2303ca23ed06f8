//! Parts of blocks, read without decoding and filtering the rest, equal the same parts of the
//! whole.

use core::ops::Range;
use core::slice::from_ref;

use blosc_chunk::{
    CParams, Chunk, CodecId, Error, Pipeline, Scratch, SplitMode, Target, compress, decompress,
    partial::{ChunkIndex, IndexStep, ItemReader},
};
use blosc_testdata::data::{Kind, Recipe, XorShift32};

const NBYTES: usize = 10_007;

fn data(kind: Kind, typesize: usize) -> Vec<u8> {
    Recipe { kind, typesize, seed: 5, nbytes: NBYTES }.bytes()
}

/// Checks that any parts of this chunk equal those of the data.
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
fn any_part_equals_the_same_part_of_the_data() {
    let mut rng = XorShift32::default();
    let pipelines =
        ["none", "shuffle", "bitshuffle", "delta, shuffle", "shuffle:3", "trunc:20, bitshuffle"];
    for typesize in [1, 2, 3, 4, 8, 16, 17] {
        for (spec, kind) in pipelines.iter().zip(Kind::ALL.into_iter().cycle().skip(typesize)) {
            if spec.contains("trunc") && !matches!(typesize, 4 | 8) {
                continue;
            }
            let data = data(if spec.contains("trunc") { Kind::Zeros } else { kind }, typesize);
            for codec in [CodecId::BLOSCLZ, CodecId::LZ4, CodecId::ZSTD] {
                for split in [SplitMode::Always, SplitMode::Never] {
                    for block_size in [None, Some(17 * 40), Some(3003)] {
                        let params = CParams::default()
                            .target(Target::Blosc3_0)
                            .codec(codec)
                            .typesize(typesize);
                        let params = params.split(split);
                        let params =
                            params.filters(Pipeline::parse(spec).unwrap()).blocksize(block_size);
                        check(&params, &data, &mut rng);
                    }
                }
            }
        }
    }
}

#[test]
fn any_part_of_a_blosc1_chunk_equals_the_same_part_of_the_data() {
    let mut rng = XorShift32::default();
    for typesize in [1, 3, 4, 8] {
        for spec in ["none", "shuffle", "bitshuffle"] {
            for block_size in [None, Some(1000), Some(4096)] {
                let params = CParams::default()
                    .target(Target::Blosc1_14)
                    .codec(CodecId::LZ4)
                    .typesize(typesize);
                let params = params.filters(Pipeline::parse(spec).unwrap()).blocksize(block_size);
                check(&params, &data(Kind::Walk, typesize), &mut rng);
            }
        }
    }
}

/// Planes of blocks, split or not, with stored streams and runs among them.
#[test]
fn planes_are_the_bytes_of_items() {
    for (typesize, split) in [2, 3, 4, 8, 16]
        .into_iter()
        .flat_map(|t| [SplitMode::Always, SplitMode::Never].map(|s| (t, s)))
    {
        for kind in Kind::ALL {
            let nbytes = 40 * 48 * typesize;
            let data = Recipe { kind, typesize, seed: 5, nbytes }.bytes();
            let params = CParams::default()
                .codec(CodecId::LZ4)
                .typesize(typesize)
                .blocksize(Some(10 * 48 * typesize))
                .split(split)
                .filters(Pipeline::SHUFFLE);
            let bytes = compress(&data, &params).unwrap();
            let (chunk, mut scratch) = (Chunk::parse(&bytes).unwrap(), Scratch::default());
            for nblock in 0..chunk.nblocks() {
                let items = &data[chunk.block_data(nblock).unwrap()];
                let mut shown = false;
                let done = chunk.show_planes(nblock, &mut scratch, |planes| {
                    shown = true;
                    assert_eq!(planes.len(), typesize);
                    for (j, plane) in planes.iter().enumerate() {
                        assert!(
                            items.iter().skip(j).step_by(typesize).eq(*plane),
                            "{params:?}, plane {j}"
                        );
                    }
                });
                assert_eq!(
                    (done.unwrap(), shown),
                    (shown, chunk.header().kind() == blosc_chunk::Kind::Regular)
                );
            }
        }
    }
    let other = compress(
        &data(Kind::ALL[0], 4),
        &CParams::default().typesize(4).filters("bitshuffle".parse().unwrap()),
    );
    let other = other.unwrap();
    let shown = Chunk::parse(&other)
        .unwrap()
        .show_planes(0, &mut Scratch::default(), |_| panic!("no planes"));
    assert!(!shown.unwrap());
}

/// Fields of items equal the bytes of the items, in split blocks and in others.
#[test]
fn fields_are_the_bytes_of_items() {
    let take = |items: &[u8], typesize: usize, field: &Range<usize>| -> Vec<u8> {
        items.chunks_exact(typesize).flat_map(|item| &item[field.clone()]).copied().collect()
    };
    for (typesize, split) in [2, 3, 8, 16, 33]
        .into_iter()
        .flat_map(|t| [SplitMode::Always, SplitMode::Never].map(|s| (t, s)))
    {
        for (kind, codec) in
            Kind::ALL.into_iter().flat_map(|k| [CodecId::LZ4, CodecId::BLOSCLZ].map(|c| (k, c)))
        {
            let nbytes = 40 * 48 * typesize;
            let data = Recipe { kind, typesize, seed: 6, nbytes }.bytes();
            let params = CParams::default()
                .codec(codec)
                .typesize(typesize)
                .blocksize(Some(10 * 48 * typesize))
                .split(split)
                .filters(Pipeline::SHUFFLE);
            let bytes = compress(&data, &params).unwrap();
            let (chunk, mut scratch) = (Chunk::parse(&bytes).unwrap(), Scratch::default());
            for nblock in 0..chunk.nblocks() {
                let items = &data[chunk.block_data(nblock).unwrap()];
                let all = [0..1, typesize - 1..typesize, typesize / 2..typesize, 0..typesize];
                for fields in [&all[..1], &all[1..2], &all[1..3], &all] {
                    let room = |f: &Range<usize>| vec![0; items.len() / typesize * f.len()];
                    let mut read: Vec<Vec<u8>> = fields.iter().map(room).collect();
                    let mut dests: Vec<&mut [u8]> =
                        read.iter_mut().map(Vec::as_mut_slice).collect();
                    let done = chunk.read_fields(nblock, fields, &mut dests, &mut scratch);
                    let is_regular = chunk.header().kind() == blosc_chunk::Kind::Regular;
                    assert_eq!(done.unwrap(), is_regular, "{params:?}");
                    for (field, read) in fields.iter().zip(&read).filter(|_| is_regular) {
                        assert_eq!(*read, take(items, typesize, field), "{params:?}, {field:?}");
                    }
                    // The index has only the bytes of the block.
                    let IndexStep::Ready(index) = ChunkIndex::parse(&bytes).unwrap() else {
                        panic!("all of it is there")
                    };
                    let plan = index.plan(chunk.block_data(nblock).unwrap(), 0).unwrap();
                    let parts: Vec<&[u8]> =
                        plan.ranges().iter().map(|range| &bytes[range.clone()]).collect();
                    let mut again: Vec<Vec<u8>> = fields.iter().map(room).collect();
                    let mut dests: Vec<&mut [u8]> =
                        again.iter_mut().map(Vec::as_mut_slice).collect();
                    let done = index.read_fields(&plan, &parts, fields, &mut dests, &mut scratch);
                    assert_eq!(done.unwrap(), is_regular, "{params:?}");
                    assert!(!is_regular || again == read, "{params:?}");
                    let short = plan.data().start..plan.data().end - 1;
                    let short = index.plan(short, 0).unwrap();
                    let mut dests: Vec<&mut [u8]> =
                        again.iter_mut().map(Vec::as_mut_slice).collect();
                    let done = index.read_fields(&short, &parts, fields, &mut dests, &mut scratch);
                    assert!(!is_regular || !done.unwrap(), "{params:?}");
                }
            }
            let outside =
                chunk.read_fields(0, from_ref(&(0..typesize + 1)), &mut [&mut []], &mut scratch);
            let short = chunk.read_fields(0, from_ref(&(0..1)), &mut [&mut []], &mut scratch);
            if chunk.header().kind() == blosc_chunk::Kind::Regular {
                assert!(matches!(outside, Err(Error::Range { .. })), "{outside:?}");
                assert!(matches!(short, Err(Error::Dest { .. })), "{short:?}");
            }
        }
    }
}
