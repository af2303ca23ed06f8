//! Slices, lists of positions, single items and views.

use core::slice::from_ref;

use b2frame::{
    Budget, Error, FrameParams, NdArray, NdParams, NdWriter,
    error::{NdParam, Param},
    nd::{NdMeta, Pick, Selection},
    to_cframe,
};
use blosc_chunk::{CParams, Threads};
use proptest::prelude::*;

use super::model::{Model, models};

/// A pick for a dimension, with its positions.
fn pick(len: u64, numbers: (i64, i64, i64, u8)) -> (Pick, Vec<u64>) {
    let len = i64::try_from(len).unwrap();
    let (start, stop, step, form) = numbers;
    let (start, stop) =
        (start.rem_euclid(2 * len + 2) - len - 1, stop.rem_euclid(2 * len + 2) - len - 1);
    let step = if step == 0 { 1 } else { step };
    match form % 4 {
        0 => {
            let at = start.rem_euclid(len);
            let index = if stop % 2 == 0 { at } else { at - len };
            (Pick::Index(index), vec![at.unsigned_abs()])
        }
        1 => (Pick::ALL, (0..len.unsigned_abs()).collect()),
        2 => {
            let all =
                (0..len.unsigned_abs()).step_by(usize::try_from(step.unsigned_abs()).unwrap());
            (Pick::ALL.step(step.abs()), all.collect())
        }
        _ => {
            let wrap = |at: i64| if at < 0 { at + len } else { at };
            let (mut at, stop_at) = (wrap(start), wrap(stop));
            at = if step > 0 { at.max(0) } else { at.min(len - 1) };
            let mut found = vec![];
            while (0..len).contains(&at) && (at - stop_at) * step.signum() < 0 {
                found.push(at.unsigned_abs());
                at += step;
            }
            (Pick::slice(start, stop, step), found)
        }
    }
}

fn numbers() -> impl Strategy<Value = Vec<(i64, i64, i64, u8)>> {
    proptest::collection::vec((any::<i64>(), any::<i64>(), -3..=3_i64, any::<u8>()), 4)
}

fn open(model: &Model) -> NdArray {
    NdArray::from_cframe(model.frame(&format!("|V{}", model.typesize))).unwrap()
}

/// Rows of 32 items and more, which are joined right in the destination.
#[test]
fn long_rows_are_those_of_the_model() {
    for typesize in [2, 3, 4, 8] {
        let model = Model::counting(vec![3, 9, 150], vec![2, 6, 100], vec![2, 3, 50], typesize);
        let array = open(&model);
        for (y, x) in [(0..9, 0..150), (1..8, 5..149), (2..5, 60..92), (0..9, 49..81)] {
            let positions: Vec<Vec<u64>> =
                vec![(0..3).collect(), y.clone().collect(), x.clone().collect()];
            let pick = |range: core::ops::Range<u64>| {
                Pick::from(range.start.cast_signed()..range.end.cast_signed())
            };
            let picks = vec![Pick::ALL, pick(y), pick(x)];
            assert_eq!(array.to_bytes(picks).unwrap(), model.take(&positions), "{typesize} bytes");
        }
    }
}

/// Fields of items, in arrays with planes and without, in whole blocks and parts of them.
#[test]
fn fields_are_those_of_the_items() {
    for typesize in [1, 3, 8, 16, 33, 300] {
        let model = Model::counting(vec![1000], vec![256], vec![64], typesize);
        let array = open(&model);
        let fields = [0..1, typesize / 2..typesize, 0..typesize, 1..1, typesize - 1..typesize];
        for (start, end) in [(0, 1000), (0, 0), (256, 512), (5, 700), (63, 64), (999, 1000)] {
            let items = &model.data[start * typesize..end * typesize];
            for count in 1..=fields.len() {
                let found = array.read_fields(start as u64..end as u64, &fields[..count]).unwrap();
                let expected: Vec<Vec<u8>> = fields[..count]
                    .iter()
                    .map(|field| {
                        let items = items.chunks_exact(typesize);
                        items.flat_map(|item| &item[field.clone()]).copied().collect()
                    })
                    .collect();
                assert_eq!(found, expected, "{typesize} bytes, {start}..{end}");
            }
        }
        let outside = array.read_fields(0..1001, &fields).unwrap_err();
        assert!(matches!(outside, Error::Param(Param::Nd(NdParam::Index { .. }))), "{outside}");
        let no_field = array.read_fields(0..10, from_ref(&(0..typesize + 1))).unwrap_err();
        assert!(matches!(no_field, Error::Param(Param::Nd(NdParam::Field { .. }))), "{no_field}");
    }
    // A long chunk in a file, of which some blocks are read.
    let mut model = Model::counting(vec![20_000], vec![20_000], vec![500], 33);
    for (n, byte) in (0_u64..).zip(&mut model.data).step_by(2) {
        *byte = n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0];
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("long.b2nd");
    std::fs::write(&path, model.frame("|V33")).unwrap();
    let array = NdArray::open(&path).unwrap();
    let fields = [0..8, 8..12, 12..13, 13..33, 5..7, 3..3];
    for (start, end) in [(0, 5000), (500, 4500), (777, 3333), (19_400, 20_000), (0, 20_000)] {
        let items = &model.data[start * 33..end * 33];
        let found = array.read_fields(start as u64..end as u64, &fields).unwrap();
        for (field, found) in fields.iter().zip(found) {
            let expected = items.chunks_exact(33).flat_map(|item| &item[field.clone()]);
            assert!(expected.eq(&found), "{field:?} of {start}..{end}");
        }
    }
    // An array with two dimensions is refused.
    let model = Model::counting(vec![4, 90], vec![2, 50], vec![2, 20], 6);
    let grid = open(&model);
    let refused = grid.read_fields(0..4, from_ref(&(0..1))).unwrap_err();
    assert!(matches!(refused, Error::Param(Param::Nd(NdParam::Dims { .. }))), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_slice_is_that_of_the_model(
        model in models(),
        numbers in numbers(),
        given in 0..=4_usize,
    ) {
        let array = open(&model);
        let picks = model.shape.iter().zip(&numbers).enumerate();
        let (picks, positions): (Vec<_>, Vec<_>) = picks.map(|(dim, (len, numbers))| {
            // Dimensions without a pick are taken whole.
            if dim < given { pick(*len, *numbers) } else { pick(*len, (0, 0, 0, 1)) }
        }).unzip();
        let given = given.min(picks.len());
        let selection = Selection::from(&picks[..given]);
        let expected = model.take(&positions);
        let shape: Vec<u64> = picks.iter().zip(&positions)
            .filter(|(pick, _)| !matches!(pick, Pick::Index(_)))
            .map(|(_, positions)| positions.len() as u64)
            .collect();
        prop_assert_eq!(selection.shape(array.shape()).unwrap(), shape);
        prop_assert_eq!(array.to_bytes(&selection).unwrap(), expected.clone());
        // A few blocks at a time, by several threads.
        let block = model.blocks.iter().map(|len| u64::from(*len)).product::<u64>()
            * model.typesize as u64;
        let options = Budget::default().threads(Threads::Auto).max_memory(block * 9);
        prop_assert_eq!(array.budget(options).to_bytes(selection).unwrap(), expected);
    }

    #[test]
    fn lists_of_positions_may_repeat(model in models(), seed: Vec<u64>) {
        let array = open(&model);
        let list = |dim: usize, len: &u64| -> Vec<u64> {
            seed.iter().skip(dim).step_by(model.shape.len()).take(9).map(|n| n % len).collect()
        };
        let lists: Vec<Vec<u64>> =
            model.shape.iter().enumerate().map(|(dim, len)| list(dim, len)).collect();
        let expected = model.take(&lists);
        let lists: Vec<&[u64]> = lists.iter().map(Vec::as_slice).collect();
        let mut found = vec![0; expected.len()];
        array.read_oindex_bytes(&lists, &mut found).unwrap();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn items_are_gathered_in_the_order_given(
        model in models(),
        seed in proptest::collection::vec(any::<u64>(), 0..40),
    ) {
        let array = open(&model);
        let items: Vec<u64> = seed.iter().map(|n| n % array.nitems()).collect();
        let at = |n: &u64|
            &model.data[usize::try_from(*n).unwrap() * model.typesize..][..model.typesize];
        let expected: Vec<u8> = items.iter().flat_map(at).copied().collect();
        let mut found = vec![0; expected.len()];
        array.gather_bytes(&items, &mut found).unwrap();
        prop_assert_eq!(&found, &expected);
        // A block at a time.
        let block = model.blocks.iter().map(|len| u64::from(*len)).product::<u64>()
            * model.typesize as u64;
        let array = array.budget(Budget::default().max_memory(block * 4));
        array.gather_bytes(&items, &mut found).unwrap();
        prop_assert_eq!(found, expected);
    }
}

fn param(error: Error) -> NdParam {
    match error {
        Error::Param(Param::Nd(param)) => param,
        other => panic!("{other:?}"),
    }
}

fn three_by_four() -> NdArray {
    NdArray::from_cframe(Model::counting(vec![3, 4], vec![2, 3], vec![1, 2], 2).frame("<u2"))
        .unwrap()
}

#[test]
fn what_does_not_fit_is_refused() {
    let array = three_by_four();
    assert_eq!(array.read::<u16>().unwrap(), (1..=12).collect::<Vec<u16>>());
    let outside = NdParam::Index { dim: 1, index: 4, len: 4 };
    assert_eq!(param(array.read_slice::<u16>((0, 4)).unwrap_err()), outside);
    assert_eq!(param(array.get::<u16>(&[0, 4]).unwrap_err()), outside);
    assert_eq!(param(array.read_oindex::<u16>(&[&[0], &[1, 4]]).unwrap_err()), outside);
    let dims = NdParam::Dims { given: 1, ndim: 2 };
    assert_eq!(param(array.read_oindex::<u16>(&[&[0]]).unwrap_err()), dims);
    assert_eq!(param(array.get::<u16>(&[0]).unwrap_err()), dims);
    assert_eq!(
        param(array.gather::<u16>(&[0, 12]).unwrap_err()),
        NdParam::Item { item: 12, nitems: 12 }
    );
    let len = Param::BufferLen { len: 9, expected: 8 };
    let error = array.read_bytes((0,), &mut [0; 9]).unwrap_err();
    assert!(matches!(error, Error::Param(found) if found == len));
    let error = array.read_slice_into::<u16>((0,), &mut [0; 3]).unwrap_err();
    assert!(matches!(error, Error::Param(Param::BufferLen { len: 6, expected: 8 })));
}

#[test]
fn memory_is_limited() {
    let array = three_by_four().budget(Budget::default().max_memory(15));
    // A block of 4 bytes needs 8; half of the memory is 7.
    assert!(matches!(array.get::<u16>(&[0, 0]), Err(Error::Limit { nbytes: 8, limit: 7, .. })));
}

#[test]
fn views_leave_out_and_add_dimensions() {
    // Chunks of length 3 in a dimension of length 1: without this dimension, chunks have no valid
    // shape.
    let model = Model::counting(vec![1, 5, 1, 4], vec![3, 2, 1, 3], vec![2, 2, 1, 2], 2);
    let array = NdArray::from_cframe(model.frame("<u2")).unwrap();
    let view = array.squeeze(&[2, 0]).unwrap();
    assert_eq!((view.shape(), view.chunkshape()), (&[5, 4][..], vec![2, 3]));
    assert_eq!(view.read_slice::<u16>((1, ..)).unwrap(), [5, 6, 7, 8]);
    assert_eq!(view.get::<u16>(&[4, 3]).unwrap(), 20);
    assert_eq!(view.gather::<u16>(&[19, 0]).unwrap(), [20, 1]);
    let wide = view.expand_dims(&[0, 2]).unwrap();
    assert_eq!((wide.shape(), wide.blockshape()), (&[1, 5, 1, 4][..], vec![1, 2, 1, 2]));
    assert_eq!(wide.read_slice::<u16>((0, .., 0, -1)).unwrap(), [4, 8, 12, 16, 20]);
    assert_eq!(wide.read_slice::<u16>((1..1, ..)).unwrap(), [0; 0]);

    let axis = |axis, ndim, what| NdParam::Axis { axis, ndim, what };
    assert_eq!(param(array.squeeze(&[1]).unwrap_err()), axis(1, 4, "its length is not 1"));
    assert_eq!(param(array.squeeze(&[4]).unwrap_err()), axis(4, 4, "there is none of this number"));
    assert_eq!(
        param(array.expand_dims(&[5]).unwrap_err()),
        axis(5, 5, "there is none of this number")
    );
    assert_eq!(param(array.expand_dims(&[1, 1]).unwrap_err()), axis(1, 6, "it was named before"));
    assert_eq!(
        param(array.expand_dims(&[0; 13]).unwrap_err()),
        NdParam::Dims { given: 17, ndim: 16 }
    );
}

fn sample(name: &str) -> NdArray {
    NdArray::open(format!("{}/../../conformance/samples/frames/{name}", env!("CARGO_MANIFEST_DIR")))
        .unwrap()
}

#[test]
fn unusual_samples_are_read() {
    let scalar = sample("nd-scalar.b2nd");
    assert_eq!((scalar.ndim(), scalar.nitems()), (0, 1));
    assert_eq!(scalar.to_bytes(..).unwrap().len(), scalar.typesize());
    let empty = sample("nd-empty.b2nd");
    assert_eq!((empty.nitems(), empty.to_bytes(..).unwrap().len()), (0, 0));
    let wide = sample("nd-typesize300.b2nd");
    assert_eq!((wide.typesize(), wide.to_bytes((..1,)).unwrap().len()), (300, 300));
    let many = sample("nd-16dims.b2nd");
    assert_eq!((many.ndim(), many.to_bytes(..).unwrap().len() as u64), (16, many.nbytes()));
    let full = sample("nd-full.b2nd");
    let items = full.to_bytes(..).unwrap();
    assert!(items.chunks(full.typesize()).all(|item| item == &items[..full.typesize()]));
}

#[test]
fn special_chunks_fill_items() {
    let array = sample("nd-stale-padding.b2nd");
    let whole = array.to_bytes(..).unwrap();
    let backwards = array.to_bytes((Pick::ALL.step(-1),)).unwrap();
    let items = backwards.chunks(array.typesize()).rev();
    assert_eq!(items.collect::<Vec<_>>().concat(), whole);
}

/// Items as C-Blosc2 3.3.5 decodes them. It decodes only whole blocks here; expected parts are
/// parts of its result.
const SHAPED: [(&str, &str); 4] = [
    ("nd-ndlz.b2nd", "0e28d2643efaa01806ff1d5c62c40c3ad7927b9d1e17288094615c7c4f815382"),
    ("nd-ndcell.b2nd", "c8911990b9e8e21bae22e24e71f9b18a1179cc3f4074ccc167ae30756b72e1ae"),
    ("nd-ndmean.b2nd", "2679ec369e799db5129edb5f6cc6d928b9ecf88cee0fac68e1e11e065eaebb1e"),
    ("nd-zfp.b2nd", "2766e11c44bf421c378ef59c5f1c6f1e679c044eaca66c537c34ed8342d5c58c"),
];

#[test]
fn codecs_and_filters_know_the_shape_of_blocks() {
    for (name, sha256) in SHAPED {
        let array = sample(name);
        let whole = array.to_bytes(..).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(blosc_testdata::sha256_hex(&whole), sha256, "{name}");
        let row = 18 * array.typesize();
        assert_eq!(array.to_bytes((7,)).unwrap(), whole[7 * row..8 * row], "{name}");
        let mut bands = vec![];
        array
            .for_each_band(|band| {
                bands.extend_from_slice(band);
                Ok::<(), Error>(())
            })
            .unwrap();
        assert_eq!(bands, whole, "{name}");
        assert!(array.schunk().decode_chunk(0).is_ok(), "{name}");
    }
}

#[test]
fn a_result_is_limited_before_it_is_allocated() {
    // A terabyte of zeros in a few hundred bytes.
    let params = NdParams::new(&[1 << 40], "|u1".parse().unwrap())
        .chunkshape(&[1 << 30])
        .blockshape(&[1 << 16]);
    let array = NdWriter::in_memory(&params).unwrap().finish().unwrap();
    assert!(array.schunk().frame_len() < 500);
    assert!(matches!(array.to_bytes(..), Err(Error::Limit { nbytes, .. }) if nbytes == 1 << 40));
    assert!(matches!(array.read::<u8>(), Err(Error::Limit { .. })));
    assert_eq!(array.read_slice::<u8>(((1_u64 << 40) - 3..,)).unwrap(), [0; 3]);
}

#[test]
fn the_predecessor_counts_only_alone() {
    let describe =
        |shape: &[u64], dtype: &str| NdMeta::new(shape, &[4], &[2], dtype).unwrap().encode();
    // Without the dtype and its format: an array of 5.
    let mut caterva = describe(&[3], "");
    caterva[0] = 0x95;
    caterva.truncate(caterva.len() - 6);
    let params = FrameParams::new(CParams::default().typesize(1)).chunksize(4);
    let open = |params: &FrameParams| {
        NdArray::from_cframe(to_cframe(&[1, 2, 3, 4], params).unwrap()).unwrap()
    };
    let old = open(&params.clone().metalayer("caterva", caterva.clone()));
    assert_eq!((old.shape(), old.dtype().to_string().as_str()), (&[3][..], "|V1"));
    let both = params.metalayer("caterva", caterva).metalayer("b2nd", describe(&[2], "|u1"));
    assert_eq!(open(&both).read::<u8>().unwrap(), [1, 2]);
}
