//! Every filter against its definition: all lengths and typesizes, all vector instructions of the
//! machine, source and destination at any address.

#![expect(clippy::unwrap_used, reason = "a test")]

use crate::definition;

use blosc_filters::{
    BitshuffleRule, BlockGeometry, Error, FilterCx, FilterId, Param, Pipeline, Reference, Registry,
    Simd, bitshuffle, bitunshuffle, functions, internal, shuffle, unshuffle,
};
use proptest::prelude::*;
use proptest::sample::select;

/// Lengths of a few vectors, and some of many; kernels are most likely wrong in their tails.
fn lengths() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0..=700_usize, 1 => 700..=9000_usize, 1 => (1..=40_usize).prop_map(|n| n * 256)]
}

fn typesizes() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 1..=40_usize, 1 => select(vec![48, 64, 100, 128, 255])]
}

/// Bytes that reveal their position: two bytes at a distance below 251 always differ.
fn block(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..len).map(|_| next()).collect()
}

/// Number of bytes before and after the destination that must stay the same.
const GUARD_NBYTES: usize = 64;

/// Runs one filter in one direction, with source and destination `shifts` bytes after an address
/// that is a multiple of 64 at best; the bytes around the destination must stay the same.
fn run(
    id: FilterId,
    meta: u8,
    cx: &FilterCx<'_>,
    src: &[u8],
    shifts: [usize; 2],
    forward: bool,
) -> Result<Vec<u8>, Error> {
    let registry = Registry::builtin();
    let filter = registry.get(id).unwrap();
    let mut room = vec![0; shifts[0] + src.len()];
    room[shifts[0]..].copy_from_slice(src);
    let mut out = vec![0xA5; shifts[1] + src.len() + 2 * GUARD_NBYTES];
    let at = shifts[1] + GUARD_NBYTES..shifts[1] + GUARD_NBYTES + src.len();
    let (src, dest) = (&room[shifts[0]..], &mut out[at.clone()]);
    if forward {
        filter.forward(cx, meta, src, dest)?;
    } else {
        filter.backward(cx, meta, src, dest)?;
    }
    assert!(
        out[..at.start].iter().chain(&out[at.end..]).all(|byte| *byte == 0xA5),
        "written outside"
    );
    Ok(out[at].to_vec())
}

/// A filter forward and backward, with every set of instructions.
fn check_both(
    (id, meta): (FilterId, u8),
    cx: &FilterCx<'_>,
    src: &[u8],
    shifts: [usize; 2],
    [filtered, restored]: [&[u8]; 2],
) {
    for simd in Simd::available() {
        let cx = FilterCx { simd, ..*cx };
        let what = format!("{id} {meta}, typesize {}, {} bytes, {simd:?}", cx.typesize, src.len());
        assert!(run(id, meta, &cx, src, shifts, true).unwrap() == filtered, "{what}, forward");
        assert!(run(id, meta, &cx, src, shifts, false).unwrap() == restored, "{what}, backward");
    }
}

fn shifts() -> impl Strategy<Value = [usize; 2]> {
    [prop_oneof![Just(0), 0..64_usize], prop_oneof![Just(0), 0..64_usize]]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn shuffle_is_its_definition(
        len in lengths(), typesize in typesizes(), meta in prop_oneof![3 => Just(0_u8), 1 => 1..=60_u8],
        seed in any::<u64>(), shifts in shifts(),
    ) {
        let (src, group) = (block(len, seed), if meta == 0 { typesize } else { meta.into() });
        let expected = [definition::shuffle(group, &src), definition::unshuffle(group, &src)];
        let cx = FilterCx::new(typesize);
        check_both((FilterId::SHUFFLE, meta), &cx, &src, shifts, expected.each_ref().map(|e| &e[..]));
        let mut dest = vec![0xEE; len];
        shuffle(group, &src, &mut dest);
        prop_assert_eq!(&dest, &expected[0]);
        unshuffle(group, &src, &mut dest);
        prop_assert_eq!(&dest, &expected[1]);
    }

    #[test]
    fn planes_apart_are_unshuffled_as_planes_in_a_row(
        nitems in 0..=2000_usize, typesize in 1..=20_usize, seed in any::<u64>(), shift in 0..64_usize,
    ) {
        let src = block(nitems * typesize, seed);
        let expected = definition::unshuffle(typesize, &src);
        let apart: Vec<Vec<u8>> = (0..typesize).map(|j| src[j * nitems..][..nitems].to_vec()).collect();
        let planes: Vec<&[u8]> = apart.iter().map(Vec::as_slice).collect();
        for simd in Simd::available() {
            for stores in [internal::StoreHint::Cached, internal::StoreHint::OuterCache, internal::StoreHint::NonTemporal] {
                let mut dest = vec![0xEE; shift + src.len()];
                internal::unshuffle_planes(simd, stores, &planes, &mut dest[shift..]);
                prop_assert!(dest[shift..] == expected, "{simd:?} {stores:?}");
                prop_assert!(dest[..shift].iter().all(|byte| *byte == 0xEE));
            }
        }
    }

    #[test]
    fn bitshuffle_is_its_definition_by_either_rule(
        len in 0..=3000_usize, typesize in typesizes(), blosc1 in any::<bool>(),
        seed in any::<u64>(), shifts in shifts(),
    ) {
        let rule = if blosc1 { BitshuffleRule::Blosc1 } else { BitshuffleRule::Blosc2 };
        let src = block(len, seed);
        let expected = [definition::bitshuffle(rule, typesize, &src), definition::bitunshuffle(rule, typesize, &src)];
        let cx = FilterCx { bitshuffle: rule, ..FilterCx::new(typesize) };
        check_both((FilterId::BITSHUFFLE, 0), &cx, &src, shifts, expected.each_ref().map(|e| &e[..]));
        let mut dest = vec![0xEE; len];
        bitshuffle(typesize, rule, &src, &mut dest);
        prop_assert_eq!(&dest, &expected[0]);
        bitunshuffle(typesize, rule, &src, &mut dest);
        prop_assert_eq!(&dest, &expected[1]);
    }

    #[test]
    fn delta_of_a_first_block_is_its_definition(
        len in lengths(), typesize in typesizes(), seed in any::<u64>(), shifts in shifts(),
    ) {
        let src = block(len, seed);
        let expected = [definition::delta_first(typesize, &src), definition::undelta_first(typesize, &src)];
        let cx = FilterCx { reference: Reference::FirstBlock, ..FilterCx::new(typesize) };
        check_both((FilterId::DELTA, 0), &cx, &src, shifts, expected.each_ref().map(|e| &e[..]));
    }

    #[test]
    fn delta_of_another_block_is_its_definition(
        len in lengths(), more in 0..100_usize, typesize in typesizes(), seed in any::<u64>(), shifts in shifts(),
    ) {
        let (src, first) = (block(len, seed), block(len + more, !seed));
        let expected = definition::delta_other(typesize, &src, &first);
        let cx = FilterCx { reference: Reference::Block(&first), ..FilterCx::new(typesize) };
        check_both((FilterId::DELTA, 0), &cx, &src, shifts, [&expected, &expected]);
    }

    #[test]
    fn bytedelta_is_its_definition(
        len in lengths(), typesize in typesizes(), meta in prop_oneof![Just(0_u8), any::<u8>()],
        legacy in any::<bool>(), wide in any::<bool>(), seed in any::<u64>(), shifts in shifts(),
    ) {
        let src = block(len, seed);
        let schunk_typesize = if wide { typesize * 7 } else { typesize };
        let nstreams = if meta == 0 { schunk_typesize } else { meta.into() };
        let id = if legacy { FilterId::BYTEDELTA_LEGACY } else { FilterId::BYTEDELTA };
        let expected = [definition::bytedelta(legacy, nstreams, &src), definition::unbytedelta(legacy, nstreams, &src)];
        let cx = FilterCx { schunk_typesize, ..FilterCx::new(typesize) };
        check_both((id, meta), &cx, &src, shifts, expected.each_ref().map(|e| &e[..]));
        let mut dest = vec![0xEE; len];
        if legacy {
            functions::bytedelta_decode_legacy(nstreams, &src, &mut dest);
        } else {
            functions::bytedelta_decode(nstreams, &src, &mut dest);
        }
        prop_assert_eq!(&dest, &expected[1]);
    }

    #[test]
    fn truncation_is_its_definition_or_refused(
        len in lengths(),
        (id, typesize, mantissa) in select(vec![
            (FilterId::TRUNC_PREC, 4, 23), (FilterId::TRUNC_PREC, 8, 52), (FilterId::INT_TRUNC, 1, 8),
            (FilterId::INT_TRUNC, 2, 16), (FilterId::INT_TRUNC, 4, 32), (FilterId::INT_TRUNC, 8, 64),
        ]),
        meta in any::<u8>(), seed in any::<u64>(), shifts in shifts(),
    ) {
        let (src, cx) = (block(len, seed), FilterCx::new(typesize));
        match definition::truncate(meta, mantissa, typesize, &src) {
            Some(expected) => check_both((id, meta), &cx, &src, shifts, [&expected, &src]),
            None => {
                let max = i16::try_from(mantissa).unwrap();
                let what = Param::Meta { meta: meta.cast_signed().into(), min: 1 - max, max };
                prop_assert_eq!(run(id, meta, &cx, &src, shifts, true), Err(Error::Param { id, what }));
                // The decoder accepts parameters that the encoder refuses: the bits are gone
                // already.
                prop_assert_eq!(run(id, meta, &cx, &src, shifts, false), Ok(src));
            }
        }
    }

    #[test]
    fn ndcell_is_its_definition(
        shape in prop::collection::vec(1..=9_usize, 1..=5), side in 1..=6_u8, typesize in 1..=17_usize,
        seed in any::<u64>(), shifts in shifts(),
    ) {
        let nitems: usize = shape.iter().product();
        prop_assume!(nitems <= 4000 && usize::from(side).pow(u32::try_from(shape.len()).unwrap()) <= nitems);
        let (src, blockshape) = (block(nitems * typesize, seed), as_u32(&shape));
        let geometry = BlockGeometry::new(&blockshape);
        let cx = FilterCx { geometry: Some(&geometry), ..FilterCx::new(typesize) };
        let sides = vec![usize::from(side); shape.len()];
        let expected = [
            definition::ndcell(&shape, side.into(), typesize, &src),
            definition::unndcell(&shape, &sides, typesize, &src),
        ];
        check_both((FilterId::NDCELL, side), &cx, &src, shifts, expected.each_ref().map(|e| &e[..]));
    }

    #[test]
    fn ndmean_is_its_definition(
        shape in prop::collection::vec(1..=9_usize, 1..=4), side in 1..=12_u8, seed in any::<u64>(), shifts in shifts(),
    ) {
        let wide = usize::from(side);
        prop_assume!(shape[0] >= wide || shape.iter().all(|n| *n <= wide));
        let nitems: usize = shape.iter().product();
        let src: Vec<u8> = block(nitems, seed).into_iter().flat_map(|n| f32::from(n).to_ne_bytes()).collect();
        let blockshape = as_u32(&shape);
        let geometry = BlockGeometry::new(&blockshape);
        let cx = FilterCx { geometry: Some(&geometry), ..FilterCx::new(4) };
        let sides: Vec<usize> = shape.iter().map(|n| wide.min(*n)).collect();
        let expected =
            [definition::ndmean_f32(&shape, &sides, &src), definition::unndcell(&shape, &sides, 4, &src)];
        check_both((FilterId::NDMEAN, side), &cx, &src, shifts, expected.each_ref().map(|e| &e[..]));
    }

    /// A pipeline is its filters, one after another.
    #[test]
    fn pipelines_are_their_filters_in_a_row(
        ids in prop::array::uniform6(select(vec![0_u8, 0, 1, 2, 3, 34, 35])), metas in any::<[u8; 6]>(),
        len in lengths(), typesize in typesizes(), seed in any::<u64>(),
    ) {
        let (src, registry) = (block(len, seed), Registry::builtin());
        let pipeline = Pipeline::from_slots(ids, metas);
        for simd in Simd::available() {
            let cx = FilterCx { simd, ..FilterCx::new(typesize) };
            let mut expected = src.clone();
            for slot in pipeline.active() {
                expected = run(slot.id, slot.meta, &cx, &expected, [0, 0], true).unwrap();
            }
            let (mut dest, mut scratch) = (vec![1; len], vec![2; len]);
            pipeline.forward(&registry, &cx, &src, &mut dest, &mut scratch).unwrap();
            prop_assert_eq!(&dest, &expected);
            for slot in pipeline.active().rev() {
                expected = run(slot.id, slot.meta, &cx, &expected, [0, 0], false).unwrap();
            }
            prop_assert_eq!(&expected, &src);
            pipeline.backward(&registry, &cx, &mut dest, &mut scratch).unwrap();
            prop_assert_eq!(&scratch, &src);
        }
    }
}

fn as_u32(shape: &[usize]) -> Vec<u32> {
    shape.iter().map(|n| u32::try_from(*n).unwrap()).collect()
}

/// Every number of items around the groups of eight and every leftover, by both rules of chapter 5:
/// 0 to 17 items of 1 to 9 bytes, 0 to 8 bytes after them.
#[test]
fn every_tail_of_bitshuffle_is_as_its_rule_says() {
    for (typesize, nitems) in (1..=9).flat_map(|typesize| (0..=17).map(move |n| (typesize, n))) {
        for leftover in 0..typesize {
            let src = block(typesize * nitems + leftover, 77);
            for rule in [BitshuffleRule::Blosc1, BitshuffleRule::Blosc2] {
                let cx = FilterCx { bitshuffle: rule, ..FilterCx::new(typesize) };
                let expected = definition::bitshuffle(rule, typesize, &src);
                // The definition itself: the bytes that are transposed, and those that are copied.
                let moved = match rule {
                    BitshuffleRule::Blosc1 if nitems % 8 != 0 => 0,
                    _ => nitems / 8 * 8 * typesize,
                };
                assert_eq!(expected[moved..], src[moved..]);
                check_both(
                    (FilterId::BITSHUFFLE, 0),
                    &cx,
                    &src,
                    [0, 0],
                    [&expected, &definition::bitunshuffle(rule, typesize, &src)],
                );
            }
        }
    }
}

/// Streams of 0 to 50 bytes: id 34 starts again at the last multiple of 16 of each, id 35 never.
#[test]
fn every_tail_of_bytedelta_is_as_its_id_says() {
    for (nstreams, len) in [1, 2, 3, 8].into_iter().flat_map(|n| (0..=50).map(move |len| (n, len)))
    {
        let src = block(nstreams * len + nstreams - 1, 78);
        for (id, legacy) in [(FilterId::BYTEDELTA, false), (FilterId::BYTEDELTA_LEGACY, true)] {
            let expected = definition::bytedelta(legacy, nstreams, &src);
            assert_eq!(expected[nstreams * len..], src[nstreams * len..]);
            let back = definition::unbytedelta(legacy, nstreams, &src);
            let cx = FilterCx::new(nstreams);
            check_both((id, 0), &cx, &src, [0, 0], [&expected, &back]);
        }
    }
}

/// The largest blocks that take the paths for destinations beyond the caches.
#[test]
fn large_blocks_are_as_small_ones() {
    let len = if cfg!(miri) { 9000 } else { 600_007 };
    for typesize in [1, 2, 3, 4, 8, 16, 24] {
        let src = block(len, 79);
        let expected = [definition::shuffle(typesize, &src), definition::unshuffle(typesize, &src)];
        for stores in [internal::StoreHint::Cached, internal::StoreHint::NonTemporal] {
            let cx = FilterCx { stores, ..FilterCx::new(typesize) };
            let expected = expected.each_ref().map(|e| &e[..]);
            check_both((FilterId::SHUFFLE, 0), &cx, &src, [0, 3], expected);
        }
    }
}
