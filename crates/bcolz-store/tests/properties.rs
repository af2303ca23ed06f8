//! Random changes have the same effect on an array and on a vector.

use std::sync::Arc;

use bcolz_store::tree::MemTree;
use bcolz_store::{CArray, CArrayWriter, CreateOptions, Dtype, Json, OpenOptions, Result};
use proptest::prelude::*;

/// A change of an array.
#[derive(Clone, Debug)]
enum Change {
    Append(usize),
    Write { at: usize, len: usize },
    Trim(usize),
    Resize(usize),
    Flush,
    Reopen,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (0_usize..35).prop_map(Change::Append),
        (0_usize..60, 0_usize..25).prop_map(|(at, len)| Change::Write { at, len }),
        (0_usize..40).prop_map(Change::Trim),
        (0_usize..70).prop_map(Change::Resize),
        Just(Change::Flush),
        Just(Change::Reopen),
    ]
}

/// Applies a change to a vector and to an array.
fn apply(
    change: &Change,
    step: i32,
    model: &mut Vec<i32>,
    writer: &mut CArrayWriter,
) -> Result<()> {
    let fresh = |len: usize| {
        (0..i32::try_from(len).unwrap()).map(|i| step * 1000 + i).collect::<Vec<i32>>()
    };
    let bytes =
        |values: &[i32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    match *change {
        Change::Append(len) => {
            model.extend(fresh(len));
            writer.append(&bytes(&fresh(len)))
        }
        Change::Write { at, len } => {
            let at = at.min(model.len());
            let len = len.min(model.len() - at);
            model[at..at + len].copy_from_slice(&fresh(len));
            writer.write_rows(at as u64, &bytes(&fresh(len)))
        }
        Change::Trim(len) => {
            let len = len.min(model.len());
            model.truncate(model.len() - len);
            writer.trim(len as u64)
        }
        Change::Resize(len) => {
            model.resize(len, -7);
            writer.resize(len as u64)
        }
        Change::Flush | Change::Reopen => writer.flush(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_life_of_an_array_is_that_of_a_vector(
        changes in proptest::collection::vec(change(), 0..12),
        chunklen in 1_u64..20,
    ) {
        let options = CreateOptions::new(Dtype::parse("int32").unwrap())
            .chunklen(Some(chunklen))
            .dflt(Some(Json::Int(-7)));
        let tree = Arc::new(MemTree::new());
        let mut writer = CArrayWriter::create_in(tree.clone(), "", &options).unwrap();
        let mut model = Vec::new();
        for (step, change) in (1..).zip(&changes) {
            apply(change, step, &mut model, &mut writer).unwrap();
            if let Change::Reopen = change {
                writer = CArrayWriter::open_in(tree.clone(), "", &OpenOptions::default()).unwrap();
            }
        }
        writer.finish().unwrap();
        let array = CArray::open_in(tree, "", &OpenOptions::default()).unwrap();
        prop_assert_eq!(array.read_as::<i32>(0..array.len()).unwrap(), model);
        let report = array.verify(&bcolz_store::verify::VerifyOptions::default(), |_| ()).unwrap();
        prop_assert!(report.is_ok() && report.notes.is_empty(), "{:?}", report);
    }
}
