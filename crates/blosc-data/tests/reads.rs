//! Every way to read a part gives the same items, in every format.

use core::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use blosc_data::{
    Array, Budget, Data, Dataset, Error, MemberKind, Pick, Selection, check_box, open,
};
use blosc_dtype::npy::NpyHeader;
use blosc_testdata::{data::XorShift32, fixture::path};

/// All samples that open, with their data.
pub(crate) fn samples() -> Vec<Dataset> {
    let mut found = vec![];
    for folder in ["bcolz", "bloscpack", "frames", "stores", "chunks", "parquet"] {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(path(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_none_or(|end| end != "json" && end != "md"))
            .collect();
        entries.sort();
        found.extend(entries.iter().filter_map(|path| open(path).ok()));
    }
    let members: Vec<Dataset> = found
        .iter()
        .filter_map(|found| match &found.data {
            Data::Group(group) => Some(Arc::clone(group)),
            _ => None,
        })
        .flat_map(|group| {
            let members = group.members().unwrap().into_iter();
            members
                .filter(|member| member.kind != MemberKind::Group)
                .filter_map(|member| group.open(&member.name).ok())
                .collect::<Vec<_>>()
        })
        .collect();
    found.extend(members);
    found
}

/// A NumPy array in each order.
fn npy(dir: &std::path::Path) -> Vec<Dataset> {
    let open = |fortran_order| {
        let mut header = NpyHeader::new("<u2".parse().unwrap(), vec![7, 5, 6]);
        header.fortran_order = fortran_order;
        let items = (0..210_u16).flat_map(u16::to_le_bytes);
        let bytes: Vec<u8> = header.to_bytes().unwrap().into_iter().chain(items).collect();
        let path = dir.join(format!("{fortran_order}.npy"));
        std::fs::write(&path, bytes).unwrap();
        open(path).unwrap()
    };
    vec![open(false), open(true)]
}

fn arrays() -> Vec<(String, Arc<dyn Array>)> {
    let dir = tempfile::tempdir().unwrap();
    let samples = samples().into_iter().chain(npy(dir.path()));
    let arrays = samples.filter_map(|found| match found.data {
        Data::Array(array) => Some((found.name, array)),
        _ => None,
    });
    arrays.filter(|(_, array)| array.nbytes() > 0 && array.nbytes() < 4 << 20).collect()
}

#[test]
fn samples_of_all_kinds_are_there() {
    let samples = samples();
    let count = |kind| samples.iter().filter(|found| found.data.kind_name() == kind).count();
    assert!(samples.len() > 350, "{}", samples.len());
    for kind in ["an array", "bytes", "a table", "a group", "a list of objects"] {
        assert!(count(kind) >= 3, "{kind}: {}", count(kind));
    }
}

#[test]
fn boxes_positions_streams_and_selections_have_the_same_items() {
    let mut draw = XorShift32::new(7);
    let mut formats = std::collections::BTreeSet::new();
    for (name, array) in arrays() {
        let whole = array.to_bytes(Selection::ALL).unwrap();
        formats.insert(array.format());
        // The stream in two parts, with little memory.
        let budget = Budget::default().max_memory(1 << 20);
        let (nbytes, mut streamed) = (array.nbytes(), vec![]);
        let middle = draw.below(nbytes + 1);
        for range in [0..middle, middle..nbytes] {
            let result = array.stream(range, &budget, &mut |piece| {
                streamed.extend_from_slice(piece);
                Ok(())
            });
            result.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        }
        assert!(streamed == whole, "{name}: another stream");
        for _ in 0..5 {
            let bounds: Vec<Range<u64>> = array
                .shape()
                .iter()
                .map(|len| {
                    let start = draw.below(*len);
                    start..start + 1 + draw.below(len - start)
                })
                .collect();
            let expected = part(&whole, &*array, &bounds);
            let mut found = vec![0; expected.len()];
            check_box(&*array, &bounds, &found).unwrap();
            array.read_box(&bounds, &mut found).unwrap();
            assert!(found == expected, "{name}: box {bounds:?}");
            let lists: Vec<Vec<u64>> = bounds.iter().map(|range| range.clone().collect()).collect();
            found.fill(0xa5);
            array
                .read_at(&lists.iter().map(Vec::as_slice).collect::<Vec<_>>(), &mut found)
                .unwrap();
            assert!(found == expected, "{name}: positions {bounds:?}");
            let picks: Vec<Pick> = bounds.iter().map(|range| Pick::from(range.clone())).collect();
            let selected = array.to_bytes(Selection::from(picks)).unwrap();
            assert!(selected == expected, "{name}: selection {bounds:?}");
        }
        if !array.shape().is_empty() {
            let backwards = array.to_bytes([Pick::ALL.step(-1)]).unwrap();
            let row = whole.len() / usize::try_from(array.shape()[0]).unwrap();
            let expected: Vec<u8> =
                whole.chunks_exact(row.max(1)).rev().flatten().copied().collect();
            assert!(backwards == expected, "{name}: backwards");
        }
        array.compare_seals().unwrap();
    }
    assert!(formats.iter().eq(&["b2nd", "blp", "carray", "npy", "sframe"]), "{formats:?}");
}

/// The items of a box, cut out of all items.
fn part(whole: &[u8], array: &dyn Array, bounds: &[Range<u64>]) -> Vec<u8> {
    let itemsize = array.dtype().itemsize();
    let mut starts = vec![0_u64];
    for (range, len) in bounds.iter().zip(array.shape()) {
        starts =
            starts.iter().flat_map(|start| range.clone().map(move |at| start * len + at)).collect();
    }
    let item = |start: u64| {
        let start = usize::try_from(start).unwrap() * itemsize;
        &whole[start..start + itemsize]
    };
    starts.into_iter().flat_map(item).copied().collect()
}

#[test]
fn bytes_are_read_from_anywhere() {
    let mut draw = XorShift32::new(9);
    let mut count = 0;
    for found in samples() {
        let Data::Bytes(bytes) = &found.data else { continue };
        let len = bytes.nbytes();
        if len > 4 << 20 {
            continue;
        }
        let mut whole = vec![0; usize::try_from(len).unwrap()];
        if bytes.read_at(0, &mut whole).is_err() {
            continue;
        }
        count += 1;
        for _ in 0..5 {
            let start = draw.below(len + 1);
            let n = draw.below(len - start + 1);
            let (from, n) = (usize::try_from(start).unwrap(), usize::try_from(n).unwrap());
            let mut found = vec![0; n];
            bytes.read_at(start, &mut found).unwrap();
            assert_eq!(found, whole[from..][..n]);
        }
        let beyond = bytes.read_at(len, &mut [0]);
        assert!(matches!(beyond, Err(Error::Param(_))), "{}", found.name);
        if let Some(chunks) = bytes.chunks() {
            (0..chunks.nchunks()).for_each(|nchunk| drop(chunks.chunk(nchunk).unwrap()));
            assert!(chunks.chunk(chunks.nchunks()).is_err());
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn ranges_outside_the_shape_are_refused() {
    let array = open(path("bcolz/ca_2d")).unwrap().into_array().unwrap();
    let len = array.shape()[0];
    assert!(array.to_bytes((i64::try_from(len).unwrap(), ..)).is_err());
    assert!(array.read(&Selection::ALL, &mut [0]).is_err());
    assert!(check_box(&*array, core::slice::from_ref(&(0..len)), &[]).is_err());
    assert!(check_box(&*array, &[0..len + 1, 0..1], &[]).is_err());
    assert!(array.to_vec::<u8>(..).is_err());
}

#[test]
fn tables_have_rows_filters_and_columns() {
    let mut count = 0;
    for found in samples() {
        let Data::Table(table) = &found.data else { continue };
        count += 1;
        let nrows = table.nrows();
        for (number, column) in table.columns().iter().enumerate() {
            assert_eq!(table.column(&column.name).unwrap(), number);
            let Ok(all) = table.read(&[&column.name], 0..nrows) else { continue };
            assert_eq!(all[0].len() as u64, nrows, "{}: {}", found.name, column.name);
            let middle = nrows / 2;
            let half = table.read(&[&column.name], middle..nrows).unwrap();
            for row in 0..half[0].len() {
                let same = all[0].value(usize::try_from(middle).unwrap() + row);
                assert_eq!(
                    format!("{:?}", half[0].value(row)),
                    format!("{same:?}"),
                    "{}: {}",
                    found.name,
                    column.name
                );
            }
        }
        assert!(table.read(&[], 0..nrows + 1).is_err());
        assert!(table.read(&["no such column"], 0..0).is_err());
        assert!(table.filter("no_such_column > 3").is_err());
    }
    assert!(count >= 10, "{count}");
}

#[test]
fn single_items_come_in_any_order_and_again() {
    for (name, array) in arrays() {
        let itemsize = array.dtype().itemsize();
        let whole = array.to_bytes(Selection::ALL).unwrap();
        let mut draw = XorShift32::new(7);
        let items: Vec<u64> = (0..40).map(|_| draw.below(array.nitems())).collect();
        let at = |item: &u64| usize::try_from(*item).unwrap() * itemsize;
        let expected: Vec<u8> =
            items.iter().flat_map(|item| &whole[at(item)..][..itemsize]).copied().collect();
        let mut found = vec![0; expected.len()];
        array.gather(&items, &mut found).unwrap();
        assert_eq!(found, expected, "{name}");
        assert!(array.gather(&items, &mut found[1..]).is_err(), "{name}");
        let outside = [array.nitems()];
        assert!(array.gather(&outside, &mut vec![0; itemsize]).is_err(), "{name}");
        let budget = Budget::default().max_memory(64 << 20);
        if let Some(again) = array.within(&budget) {
            assert_eq!(again.to_bytes(Selection::ALL).unwrap(), whole, "{name}");
        }
    }
}
