//! Arrays that are made, written in parts, resized and joined, against arrays of items in memory.

use b2frame::{
    Budget, ChunkBytes, EditOptions, Error, NdArray, NdParams, NdWriter, element,
    error::{NdParam, Param},
    nd::{Fill, Pick, Selection},
    report::VerifyOptions,
    seal::SealState,
};
use blosc_chunk::{CParams, CodecId, Pipeline, SpecialKind, Target, Threads};
use blosc_io::MemStore;
use proptest::prelude::*;

use super::model::{Model, combinations, models};

fn params(model: &Model) -> NdParams {
    let dtype = format!("|V{}", model.typesize).parse().unwrap();
    NdParams::new(&model.shape, dtype)
        .chunkshape(&model.chunks)
        .blockshape(&model.blocks)
        .cparams(CParams::default().codec(CodecId::LZ4))
}

fn writer(model: &Model) -> NdWriter {
    if model.has_large_blocks() {
        let refused = NdWriter::in_memory(&params(model)).unwrap_err();
        assert!(matches!(nd(refused), NdParam::Shapes { .. }));
        let frame = model.frame(&format!("|V{}", model.typesize));
        return NdWriter::open_in(Box::new(MemStore::new(frame)), &EditOptions::default()).unwrap();
    }
    let mut writer = NdWriter::in_memory(&params(model)).unwrap();
    writer.write_bytes(.., &model.data).unwrap();
    writer
}

/// Random bytes for `nitems` items.
fn noise(nitems: usize, typesize: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u8::try_from(state >> 56).unwrap()
    };
    (0..nitems * typesize).map(|_| next()).collect()
}

/// Reads the array again, from the frame alone.
fn again(writer: NdWriter) -> NdArray {
    let frame = writer.finish().unwrap().schunk().to_cframe().unwrap();
    let array = NdArray::from_cframe(frame).unwrap();
    assert!(array.schunk().verify(&VerifyOptions::default(), |_| {}).is_ok());
    array
}

/// A change of an array.
#[derive(Clone, Debug)]
enum Change {
    Write { picks: Vec<(u64, u64, i64)>, seed: u64 },
    Points { positions: Vec<Vec<u64>>, seed: u64 },
    Resize { shape: Vec<u64> },
    Append { axis: usize, len: u64, seed: u64 },
    Insert { axis: usize, at: u64, len: u64, seed: u64 },
    Delete { axis: usize, at: u64, len: u64 },
    Commit,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let four = |range: core::ops::Range<u64>| proptest::collection::vec(range, 4);
    let picks = proptest::collection::vec((0..20_u64, 0..20_u64, -3..=3_i64), 4);
    let lists = proptest::collection::vec(proptest::collection::vec(0..20_u64, 0..5), 4);
    let change = prop_oneof![
        (picks, any::<u64>()).prop_map(|(picks, seed)| Change::Write { picks, seed }),
        (lists, any::<u64>()).prop_map(|(positions, seed)| Change::Points { positions, seed }),
        four(0..14).prop_map(|shape| Change::Resize { shape }),
        (0..4_usize, 0..5_u64, any::<u64>()).prop_map(|(axis, len, seed)| Change::Append {
            axis,
            len,
            seed
        }),
        (0..4_usize, 0..5_u64, 0..3_u64, any::<u64>())
            .prop_map(|(axis, at, len, seed)| Change::Insert { axis, at, len, seed }),
        (0..4_usize, 0..20_u64, 0..20_u64).prop_map(|(axis, at, len)| Change::Delete {
            axis,
            at,
            len
        }),
        Just(Change::Commit),
    ];
    proptest::collection::vec(change, 1..6)
}

impl Model {
    fn set(&mut self, positions: &[Vec<u64>], items: &[u8]) {
        for (index, item) in combinations(positions).iter().zip(items.chunks(self.typesize)) {
            let number = index.iter().zip(&self.shape).fold(0, |number, (i, len)| number * len + i);
            let at = usize::try_from(number).unwrap() * self.typesize;
            self.data[at..at + self.typesize].copy_from_slice(item);
        }
    }

    /// Gives the model another shape; `from` returns the old position of a new one, if any. Other
    /// items are zero.
    fn reshape(&mut self, shape: Vec<u64>, from: impl Fn(&[u64]) -> Option<Vec<u64>>) {
        let all: Vec<Vec<u64>> = shape.iter().map(|len| (0..*len).collect()).collect();
        let item = |index: &Vec<u64>| match from(index) {
            Some(old) if old.iter().zip(&self.shape).all(|(at, len)| at < len) => {
                self.at(&old).to_vec()
            }
            _ => vec![0; self.typesize],
        };
        self.data = combinations(&all).iter().flat_map(item).collect();
        self.shape = shape;
    }

    fn layer(&self, axis: usize) -> usize {
        let others = self.shape.iter().enumerate().filter(|(dim, _)| *dim != axis);
        usize::try_from(others.map(|(_, len)| len).product::<u64>()).unwrap()
    }

    fn apply(&mut self, writer: &mut NdWriter, change: &Change) {
        let ndim = self.shape.len();
        match change {
            Change::Write { picks, seed } => {
                let pick = |((a, b, step), len): (&(u64, u64, i64), &u64)| {
                    let (a, b) = (a % (len + 1), b % (len + 1));
                    let (low, high, step) =
                        (a.min(b), a.max(b), if *step == 0 { 1 } else { *step });
                    let mut positions: Vec<u64> = (low..high)
                        .step_by(usize::try_from(step.unsigned_abs()).unwrap())
                        .collect();
                    // Backwards, from the last position to before the first.
                    let pick = Pick::from(low..high).step(step.abs());
                    if step > 0 || positions.is_empty() {
                        return (pick, positions);
                    }
                    positions.reverse();
                    let (first, last) = (positions[0], *positions.last().unwrap());
                    let stop = last.checked_sub(1).map(|stop| i64::try_from(stop).unwrap());
                    (Pick::slice(i64::try_from(first).unwrap(), stop, step), positions)
                };
                let (picks, positions): (Vec<_>, Vec<_>) =
                    picks.iter().zip(&self.shape).map(pick).unzip();
                let nitems = combinations(&positions).len();
                let items = noise(nitems, self.typesize, *seed);
                writer.write_bytes(Selection::from(picks), &items).unwrap();
                self.set(&positions, &items);
            }
            Change::Points { positions, seed } => {
                let list = |(list, len): (&Vec<u64>, &u64)| -> Vec<u64> {
                    list.iter().filter(|_| *len > 0).map(|at| at % len).collect()
                };
                let positions: Vec<Vec<u64>> =
                    positions.iter().zip(&self.shape).map(list).collect();
                let items = noise(combinations(&positions).len(), self.typesize, *seed);
                let lists: Vec<&[u64]> = positions.iter().map(Vec::as_slice).collect();
                writer.write_oindex_bytes(&lists, &items).unwrap();
                self.set(&positions, &items);
            }
            Change::Resize { shape } => {
                writer.resize(&shape[..ndim]).unwrap();
                self.reshape(shape[..ndim].to_vec(), |index| Some(index.to_vec()));
            }
            Change::Append { axis, len, seed } if ndim > 0 && self.layer(axis % ndim) > 0 => {
                let axis = axis % ndim;
                let at = self.shape[axis];
                self.insert(writer, (axis, at, *len), *seed);
            }
            Change::Insert { axis, at, len, seed } if ndim > 0 && self.layer(axis % ndim) > 0 => {
                let axis = axis % ndim;
                let chunk = u64::from(self.chunks[axis]);
                let at = (at * chunk).min(self.shape[axis] / chunk * chunk);
                self.insert(writer, (axis, at, len * chunk), *seed);
            }
            Change::Delete { axis, at, len } if ndim > 0 => {
                let axis = axis % ndim;
                let chunk = u64::from(self.chunks[axis]);
                let at = at % (self.shape[axis] + 1);
                let end = (at + len).min(self.shape[axis]);
                let (at, end) = if end == self.shape[axis] {
                    (at, end)
                } else {
                    (at / chunk * chunk, end / chunk * chunk)
                };
                let len = end.saturating_sub(at);
                writer.delete(axis, at, len).unwrap();
                let mut shape = self.shape.clone();
                shape[axis] -= len;
                self.reshape(shape, |index| {
                    let mut index = index.to_vec();
                    index[axis] += if index[axis] >= at { len } else { 0 };
                    Some(index)
                });
            }
            Change::Commit => writer.commit().unwrap(),
            _ => {}
        }
    }

    fn insert(&mut self, writer: &mut NdWriter, (axis, at, len): (usize, u64, u64), seed: u64) {
        let items = noise(self.layer(axis) * usize::try_from(len).unwrap(), self.typesize, seed);
        if at == self.shape[axis] {
            writer.append_bytes(axis, &items).unwrap();
        } else {
            writer.insert_bytes(axis, at, &items).unwrap();
        }
        let mut shape = self.shape.clone();
        shape[axis] += len;
        self.reshape(shape, |index| {
            let mut index = index.to_vec();
            if (at..at + len).contains(&index[axis]) {
                return None;
            }
            index[axis] -= if index[axis] >= at { len } else { 0 };
            Some(index)
        });
        let positions: Vec<Vec<u64>> = (self.shape.iter().enumerate())
            .map(|(dim, n)| if dim == axis { (at..at + len).collect() } else { (0..*n).collect() })
            .collect();
        self.set(&positions, &items);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_changes_are_those_of_the_model(mut model in models(), changes in changes()) {
        let mut writer = writer(&model);
        for change in &changes {
            model.apply(&mut writer, change);
            prop_assert_eq!(writer.shape(), &model.shape[..]);
        }
        let array = again(writer);
        prop_assert_eq!(array.shape(), &model.shape[..]);
        prop_assert_eq!(array.to_bytes(..).unwrap(), model.data);
    }

    #[test]
    fn copies_have_the_same_items(
        model in models(),
        seed in any::<[u8; 8]>(),
        threads in 1..3_usize,
    ) {
        let array = again(writer(&model));
        let ndim = model.shape.len();
        let chunks: Vec<u32> = seed.iter().take(ndim).map(|n| u32::from(n % 7) + 1).collect();
        let blocks: Vec<u32> =
            chunks.iter().zip(&seed[4..]).map(|(c, n)| u32::from(*n) % c + 1).collect();
        let threads = if threads == 1 { Threads::One } else { Threads::Auto };
        let options = Budget::default().threads(threads);
        let params = array.params().unwrap();
        let others = params.clone().chunkshape(&chunks).blockshape(&blocks);
        for params in [params, others] {
            let mut copy = NdWriter::in_memory(&params).unwrap();
            copy = copy.budget(options.clone().max_memory(100 << (seed[0] % 8)));
            copy.write_array(&vec![0; ndim], &array).unwrap();
            prop_assert_eq!(again(copy).to_bytes(..).unwrap(), model.data.clone());
        }
    }

    #[test]
    fn arrays_are_put_after_one_another(model in models(), axis in 0..4_usize, len in 1..9_u64) {
        prop_assume!(!model.shape.is_empty());
        let axis = axis % model.shape.len();
        let mut other = model.clone();
        other.shape[axis] = len;
        other.data = noise(other.layer(axis) * usize::try_from(len).unwrap(), other.typesize, len);
        let mut joined = model.clone();
        let mut expected = writer(&model);
        expected.append_bytes(axis, &other.data).unwrap();
        let mut found = writer(&model);
        found.append_array(axis, &again(writer(&other))).unwrap();
        joined.shape[axis] += len;
        let found = again(found);
        prop_assert_eq!(found.shape(), &joined.shape[..]);
        prop_assert_eq!(found.to_bytes(..).unwrap(), again(expected).to_bytes(..).unwrap());
    }
}

fn u16s(shape: &[u64], chunks: &[u32]) -> NdParams {
    NdParams::new(shape, "<u2".parse().unwrap())
        .chunkshape(chunks)
        .blockshape(&vec![1; shape.len()])
}

fn nd(error: Error) -> NdParam {
    match error {
        Error::Param(Param::Nd(param)) => param,
        other => panic!("{other:?}"),
    }
}

#[test]
fn new_arrays_are_filled() {
    let params =
        |dtype: &str| NdParams::new(&[5], dtype.parse().unwrap()).chunkshape(&[2]).blockshape(&[1]);
    let kinds = |array: &NdArray| -> Vec<_> {
        array.schunk().chunk_infos().map(|info| info.unwrap().special.unwrap()).collect()
    };
    let zeros = again(NdWriter::in_memory(&params("<f8")).unwrap());
    assert_eq!(
        (zeros.read::<f64>().unwrap(), kinds(&zeros)),
        (vec![0.0; 5], vec![SpecialKind::Zeros; 3])
    );
    assert_eq!(zeros.schunk().cbytes(), 0);
    let nans = again(NdWriter::in_memory(&params("<f4").fill(Fill::Nans)).unwrap());
    assert!(nans.read::<f32>().unwrap().iter().all(|item| item.is_nan()));
    assert_eq!(kinds(&nans), [SpecialKind::Nans; 3]);
    let uninit = again(NdWriter::in_memory(&params("<f4").fill(Fill::Uninit)).unwrap());
    assert_eq!(kinds(&uninit), [SpecialKind::Uninit; 3]);
    let full = Fill::Value(2.5_f64.to_le_bytes().to_vec());
    let full = again(NdWriter::in_memory(&params("<f8").fill(full)).unwrap());
    assert_eq!(
        (full.read::<f64>().unwrap(), kinds(&full)),
        (vec![2.5; 5], vec![SpecialKind::Value; 3])
    );
    let wide = Fill::Value(vec![7; 300]);
    let wide = again(NdWriter::in_memory(&params("|V300").fill(wide)).unwrap());
    assert_eq!(wide.to_bytes(..).unwrap(), [7; 1500]);

    let error = NdWriter::in_memory(&params("<i2").fill(Fill::Nans)).unwrap_err();
    assert!(matches!(error, Error::Param(Param::NanTypesize { typesize: 2 })));
    let error = NdWriter::in_memory(&params("<i2").fill(Fill::Value(vec![1]))).unwrap_err();
    assert!(matches!(error, Error::Param(Param::BufferLen { len: 1, expected: 2 })));
}

#[test]
fn unusual_shapes() {
    let scalar = NdParams::new(&[], "<u2".parse().unwrap());
    let mut scalar = NdWriter::in_memory(&scalar).unwrap();
    scalar.write_slice(.., &[7_u16]).unwrap();
    assert_eq!(again(scalar).get::<u16>(&[]).unwrap(), 7);

    let mut empty = NdWriter::in_memory(&NdParams::new(&[0, 3], "<u2".parse().unwrap())).unwrap();
    empty.write_slice::<u16>(.., &[]).unwrap();
    // Its chunks have items, so that the array can grow.
    empty.append::<u16>(0, &[1, 2, 3]).unwrap();
    let empty = again(empty);
    assert_eq!(empty.shape(), [1, 3]);
    assert!(empty.chunkshape().iter().all(|len| *len > 0), "{:?}", empty.chunkshape());
    assert_eq!(empty.read::<u16>().unwrap(), [1, 2, 3]);

    let mut empty = NdWriter::in_memory(&u16s(&[0, 3], &[2, 2])).unwrap();
    empty.append::<u16>(0, &[1, 2, 3]).unwrap();
    assert_eq!(again(empty).read::<u16>().unwrap(), [1, 2, 3]);

    let many = [2; 16];
    let mut many = NdWriter::in_memory(&NdParams::new(&many, "<u2".parse().unwrap())).unwrap();
    many.write_slice([1; 16], &[9_u16]).unwrap();
    assert_eq!(again(many).read::<u16>().unwrap().iter().position(|item| *item == 9), Some(65535));
}

/// The chunks of a part that is written again replace chunks that no reader has seen.
#[test]
fn a_part_that_is_written_again_takes_no_more_room() {
    let folder = tempfile::tempdir().unwrap();
    let items = |seed| noise(64 * 64, 2, seed);
    let part = |seed| noise(40 * 40, 2, seed);
    let len_after = |name: &str, times: u64| {
        let path = folder.path().join(name);
        let mut writer =
            NdWriter::create(&path, &u16s(&[64, 64], &[32, 32]).blockshape(&[16, 32])).unwrap();
        writer.write_bytes(.., &items(1)).unwrap();
        writer.commit().unwrap();
        let before = std::fs::read(&path).unwrap();
        for seed in 0..times {
            writer.write_bytes((10..50, 10..50), &part(seed)).unwrap();
            // Readers see the committed state, byte by byte.
            let array = NdArray::open(&path).unwrap();
            assert_eq!(array.to_bytes(..).unwrap(), items(1));
            assert!(std::fs::read(&path).unwrap().starts_with(&before));
        }
        writer.commit().unwrap();
        let array = NdArray::open(&path).unwrap();
        assert_eq!(array.to_bytes((10..50, 10..50)).unwrap(), part(times - 1));
        assert_eq!(array.to_bytes((0..10, ..)).unwrap(), items(1)[..10 * 64 * 2]);
        // Committed chunks are not overwritten.
        writer.write_bytes((10..50, 10..50), &part(100)).unwrap();
        let array = NdArray::open(&path).unwrap();
        assert_eq!(array.to_bytes((10..50, 10..50)).unwrap(), part(times - 1));
        drop(writer);
        std::fs::metadata(&path).unwrap().len()
    };
    assert_eq!(len_after("once", 1), len_after("often", 20));
}

/// Chunks of changing sizes fit into rooms that other chunks have left.
#[test]
fn parts_of_changing_sizes_take_a_bounded_room() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2nd");
    let mut model = noise(64 * 64, 2, 1);
    let mut writer =
        NdWriter::create(&path, &u16s(&[64, 64], &[16, 16]).blockshape(&[8, 16])).unwrap();
    writer.write_bytes(.., &model).unwrap();
    writer.commit().unwrap();
    let before = std::fs::metadata(&path).unwrap().len();
    for seed in 0..300_u64 {
        let (y, x) = (seed * 7 % 40, seed * 13 % 40);
        let mut part = noise(24 * 24, 2, seed);
        // Up to half of the part is zeros, so that each chunk has another size each time.
        part[..usize::try_from(seed * 5 % (24 * 24)).unwrap()].fill(0);
        for (row, items) in (0..).zip(part.chunks(24 * 2)) {
            let at = usize::try_from(((y + row) * 64 + x) * 2).unwrap();
            model[at..at + items.len()].copy_from_slice(items);
        }
        let box_at = |at: u64| i64::try_from(at).unwrap()..i64::try_from(at + 24).unwrap();
        writer.write_bytes((box_at(y), box_at(x)), &part).unwrap();
    }
    let between = std::fs::metadata(&path).unwrap().len();
    assert!(between < 4 * before, "{before} and {between} bytes");
    writer.commit().unwrap();
    let array = NdArray::open(&path).unwrap();
    assert_eq!(array.to_bytes(..).unwrap(), model);
    let report = array.schunk().verify(&VerifyOptions::default(), |_| {});
    assert!(report.is_ok(), "{report:?}");
    assert_eq!(array.schunk().seal_state().unwrap(), SealState::Intact);
}

#[test]
fn a_part_that_becomes_zero_is_a_run() {
    let mut writer = NdWriter::in_memory(&u16s(&[6], &[3])).unwrap();
    writer.write_slice(.., &[1_u16, 2, 3, 4, 5, 6]).unwrap();
    writer.write_slice((..3,), &[0_u16; 3]).unwrap();
    let array = again(writer);
    assert!(matches!(
        array.schunk().chunk(0).unwrap(),
        ChunkBytes::Special { kind: SpecialKind::Zeros, .. }
    ));
    assert_eq!(array.read::<u16>().unwrap(), [0, 0, 0, 4, 5, 6]);
}

#[test]
fn hidden_items_do_not_come_back() {
    // C-Blosc2 shrank this array: 1 to 10 in one chunk, of which 5 are left.
    let path = blosc_testdata::fixture::path("frames/nd-stale-padding.b2nd");
    let store = MemStore::new(std::fs::read(path).unwrap());
    let mut writer = NdWriter::open_in(Box::new(store), &EditOptions::default()).unwrap();
    let before = writer.shape().to_vec();
    let typesize = writer.dtype().itemsize();
    writer.resize(&[before[0] + 3]).unwrap();
    let after = again(writer).to_bytes(..).unwrap();
    let visible = usize::try_from(before[0]).unwrap() * typesize;
    assert!(after[visible..].iter().all(|byte| *byte == 0), "{after:?}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut writer = NdWriter::in_memory(&u16s(&[4, 3], &[2, 2])).unwrap();
    let dtype = nd(writer.write_slice::<i16>(.., &[0; 12]).unwrap_err());
    assert_eq!(dtype, NdParam::Dtype { dtype: "<u2".to_owned(), wanted: "<i2".to_owned() });
    let error = writer.write_slice(.., &[0_u16; 11]).unwrap_err();
    assert!(matches!(error, Error::Param(Param::BufferLen { len: 22, expected: 24 })));
    let error = writer.append(0, &[0_u16; 4]).unwrap_err();
    assert!(matches!(error, Error::Param(Param::BufferLen { len: 8, expected: 12 })));
    assert_eq!(nd(writer.resize(&[1]).unwrap_err()), NdParam::Dims { given: 1, ndim: 2 });
    assert!(matches!(nd(writer.resize(&[u64::MAX, 1]).unwrap_err()), NdParam::Shapes { .. }));
    let many = writer.resize(&[1 << 40, 1]).unwrap_err();
    assert!(matches!(many, Error::Param(Param::TooManyChunks { .. })));
    let align = |at| NdParam::Align { axis: 0, at, chunklen: 2 };
    assert_eq!(nd(writer.insert(0, 1, &[0_u16; 6]).unwrap_err()), align(1));
    assert_eq!(nd(writer.insert(0, 2, &[0_u16; 3]).unwrap_err()), align(1));
    assert_eq!(nd(writer.delete(0, 1, 2).unwrap_err()), align(1));
    let error = writer.delete(0, 3, 2).unwrap_err();
    assert!(matches!(error, Error::Param(Param::Range { start: 3, end: 5, len: 4 })));
    assert!(matches!(
        nd(writer.append::<u16>(2, &[]).unwrap_err()),
        NdParam::Axis { axis: 2, ndim: 2, .. }
    ));
    let other = again(NdWriter::in_memory(&u16s(&[4, 2], &[2, 2])).unwrap());
    assert!(matches!(nd(writer.append_array(0, &other).unwrap_err()), NdParam::Outside { .. }));
    assert!(matches!(
        nd(writer.write_array(&[0, 2], &other).unwrap_err()),
        NdParam::Outside { .. }
    ));
    assert!(matches!(nd(writer.append_array(2, &other).unwrap_err()), NdParam::Axis { .. }));

    let params = |chunks: &[u32]| u16s(&[4, 3], chunks);
    assert_eq!(
        nd(NdWriter::in_memory(&params(&[2])).unwrap_err()),
        NdParam::Dims { given: 1, ndim: 2 }
    );
    let zero = nd(NdWriter::in_memory(&params(&[0, 2])).unwrap_err());
    assert!(matches!(zero, NdParam::Shapes { .. }));
    let large = NdWriter::in_memory(&params(&[1 << 20, 1 << 10])).unwrap_err();
    assert!(matches!(large, Error::Param(Param::ChunkSize { .. })), "{large:?}");
    let error = NdWriter::in_memory(&NdParams::new(&[3], "|S0".parse().unwrap())).unwrap_err();
    assert!(matches!(error, Error::Param(Param::ChunkSize { typesize: 0, .. })), "{error:?}");
}

element! {
    #[derive(Debug, PartialEq)]
    struct Pair {
        id: u8,
        value: f64,
    }
}

#[test]
fn values_are_written_at_lists_of_positions() {
    let mut writer = NdWriter::in_memory(&u16s(&[3, 4], &[2, 3])).unwrap();
    writer.write_oindex(&[&[2, 0], &[3, 1, 1]], &[1_u16, 2, 3, 4, 5, 6]).unwrap();
    assert!(matches!(
        nd(writer.write_oindex(&[&[0], &[0]], &[1_i32]).unwrap_err()),
        NdParam::Dtype { .. }
    ));
    let expected = [[0, 6, 0, 4], [0; 4], [0, 3, 0, 1]];
    assert_eq!(again(writer).read::<u16>().unwrap(), expected.concat());
}

#[test]
fn structs_and_text_are_written() {
    use b2frame::Element as _;

    let pairs = [Pair { id: 1, value: 0.5 }, Pair { id: 2, value: -1.0 }];
    let mut writer = NdWriter::in_memory(&NdParams::new(&[2], Pair::dtype())).unwrap();
    writer.write_slice(.., &pairs).unwrap();
    let array = again(writer);
    assert_eq!(array.dtype().to_string(), "[('id', 'u1'), ('value', '<f8')]");
    assert_eq!(array.read::<Pair>().unwrap(), pairs);

    // Characters have 4 bytes; only readers since 3.0 support a shuffle with this parameter.
    let params = NdParams::new(&[2], "<U5".parse().unwrap());
    let text = NdWriter::in_memory(&params).unwrap();
    assert_eq!(text.cparams().filters.metas(), [0; 6]);
    let text =
        NdWriter::in_memory(&params.cparams(CParams::default().target(Target::Blosc3_0))).unwrap();
    assert_eq!(text.cparams().filters.metas(), [0, 0, 0, 0, 0, 4]);
    let path = blosc_testdata::fixture::path("frames/nd-unicode.b2nd");
    let store = MemStore::new(std::fs::read(path).unwrap());
    let mut writer = NdWriter::open_in(Box::new(store), &EditOptions::default()).unwrap();
    let old = NdArray::open(blosc_testdata::fixture::path("frames/nd-unicode.b2nd")).unwrap();
    let items = old.to_bytes(..).unwrap();
    let changed: Vec<u8> = items.chunks(old.typesize()).rev().flatten().copied().collect();
    writer.write_bytes(.., &changed).unwrap();
    assert_eq!(again(writer).to_bytes(..).unwrap(), changed);
}

#[test]
fn filters_and_codecs_for_arrays_are_written() {
    let ndcell = Pipeline::from_slots([0, 0, 0, 0, 0, 32], [0, 0, 0, 0, 0, 4]);
    let plain = CParams::default().codec(CodecId::LZ4).target(Target::Blosc3_0);
    for cparams in [
        plain.clone().filters(ndcell),
        plain.codec(CodecId(32)).codec_meta(4).filters(Pipeline::EMPTY),
    ] {
        let model = Model::counting(vec![24, 18], vec![20, 16], vec![12, 16], 1);
        let params = params(&model).cparams(cparams.clone());
        let mut writer = NdWriter::in_memory(&params).unwrap();
        writer.write_bytes(.., &model.data).unwrap();
        // A part of a chunk: the chunk is decoded first.
        writer.write_bytes((3, 4), &[99]).unwrap();
        let mut expected = model.data.clone();
        expected[3 * 18 + 4] = 99;
        let array = again(writer);
        assert_eq!(array.to_bytes(..).unwrap(), expected, "{cparams:?}");
        assert_eq!(array.schunk().cparams().codec, cparams.codec);
    }
}

#[test]
fn a_file_is_changed_in_commits() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.b2nd");
    let params = u16s(&[3], &[2]).metalayer("kind", *b"demo").vlmetalayer("note", *b"long");
    let mut writer = NdWriter::create(&path, &params).unwrap();
    writer.write_slice(.., &[1_u16, 2, 3]).unwrap();
    writer.commit().unwrap();
    writer.append(0, &[4_u16]).unwrap();
    // Before the commit, the file has the old shape and the old items.
    assert_eq!(NdArray::open(&path).unwrap().read::<u16>().unwrap(), [1, 2, 3]);
    writer.commit().unwrap();
    drop(writer);
    let mut writer = NdWriter::open(&path).unwrap();
    writer.schunk_writer().set_vlmeta("note", b"longer").unwrap();
    writer.insert(0, 2, &[8_u16, 9]).unwrap();
    let array = writer.finish().unwrap();
    assert_eq!(array.read::<u16>().unwrap(), [1, 2, 8, 9, 3, 4]);
    assert_eq!(array.schunk().vlmeta().get("note").unwrap().unwrap(), b"longer");
    let params = array.params().unwrap();
    assert_eq!(params.metalayers, [("kind".to_owned(), b"demo".to_vec())]);
    assert_eq!(params.vlmetalayers, [("note".to_owned(), b"longer".to_vec())]);
}
