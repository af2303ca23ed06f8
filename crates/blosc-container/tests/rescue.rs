//! Rescuing damaged chunks without a container: every undamaged block keeps its position.

use blosc_chunk::{
    CParams, Chunk, ChunkHeader, CodecId, DParams, Decoder, Encoder, Pipeline, Special, SplitMode,
    Target, compress, decompress, special_chunk,
};
use blosc_container::rescue::{
    ChunkDamage, ChunkError, ChunkSalvage, ChunkState, Fill, RescueOptions, chunk_members,
};
use blosc_io::MemStore;
use blosc_testdata::data::XorShift32 as Rng;

const BLOCK: usize = 2000;

/// Nine blocks and a shorter one.
fn data() -> Vec<u8> {
    let mut random = Rng::new(5);
    let mut byte = |n: u32| if n % 4 < 2 { random.next_u32() } else { n / 99 };
    (0..19_000).map(|n| byte(n).to_le_bytes()[0]).collect()
}

fn cparams(target: Target) -> CParams {
    CParams::default().typesize(4).codec(CodecId::LZ4).blocksize(Some(BLOCK)).target(target)
}

/// Chunks of all kinds that have blocks, and their data.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let filters = |text: &str| Pipeline::parse(text).unwrap();
    let of = |params: CParams| compress(&data(), &params).unwrap();
    vec![
        ("Blosc 1", of(cparams(Target::Blosc1_14).split(SplitMode::Never))),
        (
            "Blosc 1, bitshuffle",
            of(cparams(Target::Blosc1_14).codec(CodecId::ZSTD).filters(filters("bitshuffle"))),
        ),
        ("Blosc2", of(cparams(Target::Blosc2_0))),
        ("zstd", of(cparams(Target::Blosc2_0).codec(CodecId::ZSTD))),
        ("copy", of(cparams(Target::Blosc2_0).clevel(0.try_into().unwrap()))),
    ]
}

fn saved(bytes: &[u8], fill: Fill) -> Result<ChunkSalvage, ChunkError> {
    ChunkSalvage::from_bytes(bytes, &DParams::default(), &RescueOptions::default().fill(fill))
}

/// The position of each block in the chunk.
fn extents(chunk: &[u8]) -> Vec<core::ops::Range<usize>> {
    let parsed = Chunk::parse(chunk).unwrap();
    if parsed.nblocks() == 0 {
        let header = parsed.header().header_len();
        let end = |start: usize| (start + BLOCK).min(chunk.len());
        return (header..chunk.len()).step_by(BLOCK).map(|start| start..end(start)).collect();
    }
    let block =
        |block: blosc_chunk::block::BlockRef| block.offset()..block.offset() + block.cbytes();
    parsed.blocks().unwrap().map(|found| block(found.unwrap())).collect()
}

#[test]
fn sound_chunks_are_complete_and_come_back() {
    for (name, chunk) in samples() {
        let found = saved(&chunk, Fill::Zeros).unwrap();
        assert!(found.is_complete() && found.data() == data(), "{name}: {found:?}");
        let again = found.to_chunk().unwrap();
        assert_eq!(decompress(&again).unwrap(), data(), "{name}");
        let version = |chunk: &[u8]| ChunkHeader::parse(chunk).unwrap().is_extended();
        assert_eq!(version(&again), version(&chunk), "{name}");
    }
    for chunk in [
        compress(&[], &CParams::default()).unwrap(),
        special_chunk(Special::Zeros, 4000, &CParams::default().typesize(4)).unwrap(),
        compress(&[7, 0, 0, 0].repeat(99), &CParams::default().typesize(4)).unwrap(),
    ] {
        let found = saved(&chunk, Fill::Zeros).unwrap();
        assert!(found.is_complete(), "{found:?}");
        assert_eq!(found.data(), decompress(&chunk).unwrap());
    }
}

#[test]
fn a_lost_block_is_filled_or_cut_and_the_others_stay() {
    for (name, chunk) in samples().into_iter().filter(|(name, _)| *name != "copy") {
        let mut bad = chunk.clone();
        let hit = extents(&chunk)[3].clone();
        // A size larger than any chunk.
        bad[hit.start..hit.start + 4].fill(0x7f);
        let item = |fill: Fill| {
            let found = saved(&bad, fill).unwrap();
            assert_eq!(found.count(ChunkState::Lost), 1, "{name}");
            assert_eq!((found.count(ChunkState::Good), found.filled), (9, BLOCK as u64), "{name}");
            assert!(
                found.data()[..6000] == data()[..6000] && found.data()[8000..] == data()[8000..]
            );
            found.data()[6000..8000].to_vec()
        };
        assert_eq!(item(Fill::Zeros), [0; BLOCK]);
        assert_eq!(item(Fill::Value(vec![1, 2, 3, 4])), [1, 2, 3, 4].repeat(BLOCK / 4));
        assert!(
            item(Fill::NaN)
                .chunks(4)
                .all(|item| f32::from_le_bytes(item.try_into().unwrap()).is_nan())
        );
        let cut = saved(&bad, Fill::Cut).unwrap();
        assert_eq!(cut.data(), [&data()[..6000], &data()[8000..]].concat());
        let wrong = saved(&bad, Fill::Value(vec![1; 3])).unwrap_err();
        assert_eq!(wrong, ChunkError::Fill { found: 3, typesize: 4 });
        // Damage to an entry of the block starts.
        let mut bad = chunk.clone();
        let at = ChunkHeader::parse(&chunk).unwrap().header_len() + 4 * 6;
        bad[at..at + 4].fill(0xff);
        let found = saved(&bad, Fill::Zeros).unwrap();
        assert_eq!(
            (found.blocks[6], found.count(ChunkState::Good)),
            (ChunkState::Lost, 9),
            "{name}"
        );
        // An entry that leads to another block.
        let other = bad[at - 4..at].to_vec();
        bad[at..at + 4].copy_from_slice(&other);
        let found = saved(&bad, Fill::Zeros).unwrap();
        let doubtful = |nblock: usize| found.blocks[nblock] != ChunkState::Good;
        assert!(doubtful(5) && doubtful(6) && !doubtful(7), "{name}: {:?}", found.blocks);
    }
}

#[test]
fn any_flipped_bit_of_a_header_is_told_or_changes_nothing_in_place() {
    for (name, chunk) in samples().into_iter().filter(|(name, _)| *name != "copy") {
        let mut nwhole = 0;
        let nbits = 8 * ChunkHeader::parse(&chunk).unwrap().header_len();
        for bit in 0..nbits {
            let mut bad = chunk.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let Ok(found) = saved(&bad, Fill::Zeros) else { continue };
            if found.data() == data() {
                nwhole += 1;
            }
        }
        assert!(nwhole * 3 > nbits, "{name}: {nwhole} of {nbits}");
    }
    let (_, chunk) = samples().swap_remove(2);
    for (at, field) in [(0, "version"), (5, "nbytes"), (9, "blocksize"), (13, "cbytes")] {
        let mut bad = chunk.clone();
        bad[at] ^= 0x40;
        let found = saved(&bad, Fill::Zeros).unwrap();
        assert!(found.data() == data(), "{field}");
        let told =
            matches!(found.damage[..], [ChunkDamage::Header { .. } | ChunkDamage::Length { .. }]);
        assert!(told && !found.is_complete(), "{field}: {:?}", found.damage);
    }
}

#[test]
fn blocks_of_individual_sizes_keep_their_numbers() {
    let pieces: Vec<Vec<u8>> = (1..8u8).map(|n| vec![n; 100 + 37 * usize::from(n)]).collect();
    let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    let params = CParams::default().typesize(1).codec(CodecId::LZ4).target(Target::Blosc3_0);
    let chunk = Encoder::new(params).unwrap().encode_vl(&pieces).unwrap();
    let whole = saved(&chunk, Fill::Zeros).unwrap();
    assert!(whole.is_complete() && whole.data() == pieces.concat(), "{whole:?}");
    for (nlost, extent) in extents(&chunk).into_iter().enumerate() {
        for at in [0, 4] {
            // Damage to the block's size, or to its payload.
            let mut bad = chunk.clone();
            bad[extent.start + at..extent.end].fill(0xff);
            let found = saved(&bad, Fill::Zeros).unwrap();
            assert_eq!(found.count(ChunkState::Lost), 1, "{nlost}: {:?}", found.blocks);
            let again = found.to_chunk().unwrap();
            let read = Chunk::parse(&again).unwrap();
            let read = read.as_vl().unwrap();
            for (nblock, piece) in pieces.iter().enumerate() {
                let block = read.read(nblock, &mut Default::default()).unwrap();
                let zeros = vec![0; piece.len()];
                assert_eq!(
                    block,
                    if nblock == nlost { &zeros } else { *piece },
                    "{nlost} {nblock}"
                );
            }
        }
    }
    // A cut chunk: the numbers stay, the sizes of the lost blocks are unknown.
    let found = saved(&chunk[..chunk.len() / 2], Fill::Zeros).unwrap();
    assert_eq!(found.blocks.len(), pieces.len());
    let ngood = usize::try_from(found.count(ChunkState::Good)).unwrap();
    assert!(ngood > 0 && found.data().starts_with(&pieces[..ngood].concat()));
}

#[test]
fn what_loses_data_is_not_applied_again() {
    let params =
        cparams(Target::Blosc2_0).filters(Pipeline::parse("trunc_prec:9,shuffle").unwrap());
    let chunk = compress(&data(), &params).unwrap();
    let found = saved(&chunk, Fill::Zeros).unwrap();
    assert!(found.is_complete());
    let again = found.to_chunk().unwrap();
    assert_eq!(decompress(&again).unwrap(), decompress(&chunk).unwrap());
}

/// Found by a fuzz target: 4865 bytes of zeros in items of 234 were compressed without applying the
/// filter, so decoding could not undo it.
#[test]
fn a_filter_that_needs_the_shape_of_a_block_is_left_out() {
    let params = cparams(Target::Blosc2_0)
        .blocksize(Some(4000))
        .blockshape(Some([20, 50].into()))
        .filters(Pipeline::parse("ndcell:4").unwrap());
    let data: Vec<u8> = (0..1000_u32).flat_map(|n| (n / 9).to_le_bytes()).collect();
    let chunk = compress(&data, &params).unwrap();
    for (fill, byte) in [(Fill::Zeros, 0), (Fill::Value(vec![7; 4]), 7)] {
        let found = saved(&chunk[..40], fill).unwrap();
        assert_eq!(found.count(ChunkState::Lost), 1);
        assert!(found.data() == [byte; 4000], "filled with {byte}");
        assert!(decompress(&found.to_chunk().unwrap()).unwrap() == found.data());
    }
}

#[test]
fn limits_and_strangers_are_refused() {
    let (_, chunk) = samples().swap_remove(2);
    let small = DParams::default().limits(blosc_chunk::Limits::default().max_nbytes(1000));
    let refused = ChunkSalvage::from_bytes(&chunk, &small, &RescueOptions::default()).unwrap_err();
    assert!(matches!(refused, ChunkError::Chunk(blosc_chunk::Error::Limit { .. })), "{refused}");
    for bytes in [&b""[..], b"text", &[0; 100]] {
        assert!(saved(bytes, Fill::Zeros).is_err());
    }
}

#[test]
fn members_of_a_sequence_are_found_beside_damaged_ones() {
    let samples = samples();
    let chunks: Vec<&[u8]> = samples.iter().map(|(_, chunk)| chunk.as_slice()).collect();
    let bounds = |chunks: &[&[u8]]| {
        let mut at = 0;
        let range = |chunk: &&[u8]| {
            let start = at;
            at += chunk.len() as u64;
            start..at
        };
        chunks.iter().map(range).collect::<Vec<_>>()
    };
    let members = |bytes: Vec<u8>| chunk_members(&MemStore::new(bytes)).unwrap();
    let all = chunks.concat();
    assert_eq!(members(all.clone()), bounds(&chunks));
    // The last chunk is cut.
    let mut cut = chunks.clone();
    cut[4] = &cut[4][..500];
    assert_eq!(members(cut.concat()), bounds(&cut));
    for damaged in 0..5 {
        let mut bytes = all.clone();
        let range = bounds(&chunks)[damaged].clone();
        let at = |at: u64| usize::try_from(at).unwrap();
        bytes[at(range.start)..at(range.start) + 32].fill(0);
        assert_eq!(members(bytes.clone()), bounds(&chunks), "{damaged}");
        // A chunk in the middle has lost its end.
        bytes.drain(at(range.end) - 20..at(range.end));
        let mut cut = chunks.clone();
        cut[damaged] = &cut[damaged][..cut[damaged].len() - 20];
        assert_eq!(members(bytes), bounds(&cut), "{damaged}");
    }
    assert_eq!(members(vec![]), []);
    assert_eq!(members(vec![1; 50]).len(), 1);
    assert!(Decoder::new(DParams::default()).decode(chunks[0]).is_ok());
}
