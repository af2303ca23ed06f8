//! The forms of chunk that defective encoders may have damaged (docs/known-defects.md).

use blosc_chunk::{CParams, ChunkHeader, CodecId, FilterId, Pipeline, Suspicion, Target, compress};

fn suspicions_of(bytes: &[u8]) -> Vec<Suspicion> {
    ChunkHeader::parse(bytes).unwrap().suspicions().collect()
}

fn params(filters: &str) -> CParams {
    let pipeline = Pipeline::parse(filters).unwrap();
    CParams::default()
        .codec(CodecId::LZ4)
        .typesize(4)
        .filters(pipeline)
        .blocksize(Some(1024))
        .target(Target::Blosc3_0)
}

/// The suspicions about 1000 items of 4 bytes and `nleftover` bytes after them.
fn suspicions(params: &CParams, nleftover: usize) -> Vec<Suspicion> {
    let mut data: Vec<u8> = (0..1000_u32).flat_map(|n| (n / 7 * 99_991).to_le_bytes()).collect();
    data.extend((0..nleftover).map(|_| 1));
    suspicions_of(&compress(&data, params).unwrap())
}

#[test]
fn ordinary_chunks_are_not_suspected() {
    for filters in ["shuffle", "bitshuffle", "delta, shuffle", "shuffle, bytedelta", "trunc:10"] {
        assert_eq!(suspicions(&params(filters), 0), [], "{filters}");
    }
    // Shuffle and bitshuffle copy the bytes after the last item.
    assert_eq!(suspicions(&params("shuffle"), 3), []);
    assert_eq!(suspicions(&params("bitshuffle"), 3), []);
}

#[test]
fn leftover_bytes_of_four_filters_are_suspected() {
    let of = |filters| suspicions(&params(filters), 3);
    let leftover = |filter| Suspicion::LeftoverBytes { filter };
    assert_eq!(of("delta"), [leftover(FilterId::DELTA)]);
    assert_eq!(of("trunc:10"), [leftover(FilterId::TRUNC_PREC)]);
    assert_eq!(of("int_trunc:2"), [leftover(FilterId::INT_TRUNC)]);
    assert_eq!(of("shuffle, bytedelta"), [leftover(FilterId::BYTEDELTA)]);
}

#[test]
fn delta_after_a_filter_is_suspected() {
    assert_eq!(suspicions(&params("shuffle, delta"), 0), [Suspicion::DeltaAfterFilter]);
    assert_eq!(
        suspicions(&params("trunc:10, delta"), 0),
        [Suspicion::DeltaAfterFilter, Suspicion::LossyBeforeDelta]
    );
}

#[test]
fn three_filters_are_suspected_also_in_stored_chunks() {
    let params = params("delta, shuffle, bytedelta");
    assert_eq!(suspicions(&params, 0), [Suspicion::ManyFilters]);
    let mut state = 1_u64;
    let noise: Vec<u8> = (0..4096)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect();
    let stored = compress(&noise, &params).unwrap();
    assert!(ChunkHeader::parse(&stored).unwrap().is_memcpyed());
    assert_eq!(suspicions_of(&stored), [Suspicion::ManyFilters]);
}

/// A header of C-Blosc 1: LZ4, bitshuffle, items of 4 bytes, blocks of 1024.
fn header_of_blosc_1(nbytes: u32) -> Vec<u8> {
    let flags = 0x24;
    let sizes = [nbytes, 1024, 200].map(u32::to_le_bytes).concat();
    [&[2, 1, flags, 4], &sizes[..]].concat()
}

#[test]
fn bitshuffle_tails_of_blosc_1_are_suspected() {
    assert_eq!(suspicions_of(&header_of_blosc_1(4000)), []);
    // The last block has 232 items, a multiple of 8, and 3 bytes.
    assert_eq!(suspicions_of(&header_of_blosc_1(4003)), [Suspicion::BitshuffleTail]);
    // 233 items: the writer copied all of the block.
    assert_eq!(suspicions_of(&header_of_blosc_1(4007)), []);
    // This encoder writes no tails of this kind.
    assert_eq!(suspicions(&params("bitshuffle").target(Target::Blosc1_14), 3), []);
}

#[test]
fn the_first_bytedelta_is_suspected() {
    let data: Vec<u8> = (0..1000_u32).flat_map(|n| (n / 7 * 99_991).to_le_bytes()).collect();
    let mut bytes = compress(&data, &params("shuffle, bytedelta")).unwrap();
    let slot = bytes[16..22].iter().position(|id| *id == FilterId::BYTEDELTA.0).unwrap();
    bytes[16 + slot] = FilterId::BYTEDELTA_LEGACY.0;
    assert_eq!(suspicions_of(&bytes), [Suspicion::LegacyBytedelta]);
}
