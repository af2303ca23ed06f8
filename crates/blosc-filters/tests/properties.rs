//! Properties of any block and any parameters.

#![expect(clippy::unwrap_used, reason = "a test")]

use blosc_filters::{
    BitshuffleRule, BlockGeometry, Error, FilterCx, FilterId, Pipeline, Reference, Registry, Simd,
};
use proptest::prelude::*;
use proptest::sample::select;

fn typesizes() -> impl Strategy<Value = usize> {
    prop_oneof![1..=40_usize, Just(255)]
}

fn simds() -> impl Strategy<Value = Simd> {
    select(Simd::available().collect::<Vec<_>>())
}

fn blocks() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..=600),
        (any::<u8>(), 600..=20_000_usize).prop_map(|(step, len)| {
            (0..len)
                .map(|i| (i.wrapping_mul(usize::from(step) + 1) >> 3).to_le_bytes()[0])
                .collect()
        }),
    ]
}

fn forward(pipeline: &Pipeline, cx: &FilterCx<'_>, src: &[u8]) -> Result<Vec<u8>, Error> {
    let (mut dest, mut scratch) = (vec![0xEE; src.len()], vec![0xDD; src.len()]);
    pipeline.forward(&Registry::builtin(), cx, src, &mut dest, &mut scratch).map(|()| dest)
}

fn backward(pipeline: &Pipeline, cx: &FilterCx<'_>, src: &[u8]) -> Result<Vec<u8>, Error> {
    let (mut src, mut dest) = (src.to_vec(), vec![0xEE; src.len()]);
    pipeline.backward(&Registry::builtin(), cx, &mut src, &mut dest).map(|()| dest)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn lossless_pipelines_are_undone(
        block in blocks(),
        first in proptest::collection::vec(any::<u8>(), 20_000),
        ids in proptest::array::uniform6(select(vec![0, 1, 2, 3, 34, 35])),
        metas in any::<[u8; 6]>(),
        typesize in typesizes(),
        simd in simds(),
        own_reference in any::<bool>(),
        blosc1 in any::<bool>(),
    ) {
        let cx = FilterCx {
            reference: if own_reference { Reference::FirstBlock } else { Reference::Block(&first) },
            bitshuffle: if blosc1 { BitshuffleRule::Blosc1 } else { BitshuffleRule::Blosc2 },
            simd,
            ..FilterCx::new(typesize)
        };
        let pipeline = Pipeline::from_slots(ids, metas);
        let filtered = forward(&pipeline, &cx, &block).unwrap();
        prop_assert_eq!(backward(&pipeline, &cx, &filtered).unwrap(), block);
    }

    #[test]
    fn truncating_twice_is_truncating_once(
        block in blocks(),
        (id, typesize, bits) in select(vec![(4, 4, 23), (4, 8, 52), (36, 1, 8), (36, 2, 16), (36, 4, 32), (36, 8, 64)])
            .prop_flat_map(|(id, typesize, bits): (u8, usize, i8)| (Just(id), Just(typesize), 1..bits)),
        drop in any::<bool>(),
    ) {
        let meta = if drop { -bits } else { bits }.cast_unsigned();
        let (cx, pipeline) = (FilterCx::new(typesize), Pipeline::from_slots([0, 0, id, 0, 0, 0], [meta; 6]));
        let once = forward(&pipeline, &cx, &block).unwrap();
        prop_assert_eq!(&backward(&pipeline, &cx, &once).unwrap(), &once);
        prop_assert_eq!(&forward(&pipeline, &cx, &once).unwrap(), &once);
        prop_assert!(once.iter().zip(&block).all(|(truncated, byte)| truncated & !byte == 0));
    }

    #[test]
    fn cells_are_undone(
        shape in proptest::collection::vec(1..=6_u32, 1..=8),
        side in 1..=6_u8,
        typesize in 1..=16_usize,
    ) {
        let nitems = shape.iter().product::<u32>();
        prop_assume!(nitems <= 10_000 && u32::from(side).pow(u32::try_from(shape.len()).unwrap()) <= nitems);
        let block: Vec<u8> = (0..usize::try_from(nitems).unwrap() * typesize).map(|i| i.to_le_bytes()[0]).collect();
        let geometry = BlockGeometry::new(&shape);
        let cx = FilterCx { geometry: Some(&geometry), ..FilterCx::new(typesize) };
        let pipeline = Pipeline::from_slots([32, 0, 0, 0, 0, 0], [side, 0, 0, 0, 0, 0]);
        let filtered = forward(&pipeline, &cx, &block).unwrap();
        prop_assert_eq!(backward(&pipeline, &cx, &filtered).unwrap(), block);
    }

    #[test]
    fn means_of_means_are_the_means(
        shape in proptest::collection::vec(1..=8_u32, 1..=4),
        side in 1..=4_u8,
        seed in any::<u16>(),
    ) {
        // Small whole numbers, and powers of two as sides, so that sums and means are exact.
        prop_assume!(side != 3 && shape.iter().all(|dim| dim % u32::from(side) == 0));
        let nitems = usize::try_from(shape.iter().product::<u32>()).unwrap();
        let block: Vec<u8> =
            (0..nitems).flat_map(|i| f32::from(u16::try_from(i * usize::from(seed) % 61).unwrap()).to_ne_bytes()).collect();
        let geometry = BlockGeometry::new(&shape);
        let cx = FilterCx { geometry: Some(&geometry), ..FilterCx::new(4) };
        let pipeline = Pipeline::from_slots([33, 0, 0, 0, 0, 0], [side, 0, 0, 0, 0, 0]);
        let filtered = forward(&pipeline, &cx, &block).unwrap();
        let means = backward(&pipeline, &cx, &filtered).unwrap();
        prop_assert_eq!(forward(&pipeline, &cx, &means).unwrap(), filtered);
    }

    #[test]
    fn hostile_parameters_give_errors_not_panics(
        block in blocks(),
        ids in proptest::array::uniform6(select(vec![0, 1, 2, 3, 4, 5, 32, 33, 34, 35, 36, 37, 255])),
        metas in any::<[u8; 6]>(),
        (typesize, schunk_typesize) in (0..=300_usize, any::<usize>()),
        shape in proptest::collection::vec(any::<u32>(), 0..=10),
        first in proptest::collection::vec(any::<u8>(), 0..=600),
    ) {
        let (geometry, pipeline) = (BlockGeometry::new(&shape), Pipeline::from_slots(ids, metas));
        let reference = Reference::Block(&first);
        let cx = FilterCx { schunk_typesize, reference, geometry: Some(&geometry), ..FilterCx::new(typesize) };
        let unknown = pipeline.active().find(|slot| matches!(slot.id, FilterId(5 | 37 | 255)));
        for result in [forward(&pipeline, &cx, &block), backward(&pipeline, &cx, &block)] {
            match (unknown, result) {
                (Some(slot), result) => prop_assert_eq!(result, Err(Error::UnknownFilter { id: slot.id })),
                (None, Err(error)) => {
                    let is_param = matches!(error, Error::Param { .. });
                    prop_assert!(is_param);
                },
                (None, Ok(filtered)) => prop_assert_eq!(filtered.len(), block.len()),
            }
        }
    }
}
