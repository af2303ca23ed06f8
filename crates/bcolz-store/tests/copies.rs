//! Data sets copied with all of their files, and rows that are read one by one.

use crate::tree;

use core::time::Duration;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use bcolz_store::tree::{DirTree, MemTree};
use bcolz_store::{
    Attrs, CArray, CArrayWriter, CTable, CTableWriter, CreateOptions, Dtype, Json, OpenOptions,
};
use blosc_testdata::fixture;

#[test]
fn a_copy_has_the_attributes_of_table_and_columns() {
    let (from, to) = (Arc::new(MemTree::new()), Arc::new(MemTree::new()));
    let mut attrs = Attrs::default();
    attrs.set("unit", "K");
    let column = |dtype| CreateOptions::new(Dtype::parse(dtype).unwrap()).attrs(attrs.clone());
    let (warm, name) = (column("int16").dflt(Some(Json::Int(-1))).chunklen(Some(3)), column("|S2"));
    let mut writer =
        CTableWriter::create_in(from.clone(), "", &[("warm", warm), ("name", name)]).unwrap();
    writer.set_attr("title", "weather").unwrap();
    writer.append(&[&[1, 0, 2, 0], b"abcd"]).unwrap();
    writer.finish().unwrap();
    let from = CTable::open_in(from, "", &OpenOptions::default()).unwrap();

    let like = |column: &bcolz_store::Column| CreateOptions::like(&column.array).unwrap();
    let columns: Vec<_> =
        from.columns().iter().map(|column| (column.name.as_str(), like(column))).collect();
    let mut writer = CTableWriter::create_in(to.clone(), "", &columns).unwrap();
    writer.replace_attrs(from.attrs().unwrap()).unwrap();
    let data: Vec<Vec<u8>> =
        from.columns().iter().map(|column| column.array.read(0..2).unwrap()).collect();
    writer.append(&data.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    writer.finish().unwrap();

    let copy = CTable::open_in(to, "", &OpenOptions::default()).unwrap();
    assert_eq!(copy.attrs().unwrap().get("title"), Some(&Json::from("weather")));
    for (copy, from) in copy.columns().iter().zip(from.columns()) {
        assert_eq!(copy.array.attrs().unwrap(), attrs, "{}", copy.name);
        assert_eq!(
            (copy.array.dflt(), copy.array.cparams()),
            (from.array.dflt(), from.array.cparams())
        );
        assert_eq!(
            (copy.array.chunklen(), copy.array.shape()),
            (from.array.chunklen(), from.array.shape())
        );
    }
}

#[test]
fn rows_one_by_one_are_those_of_all_rows() {
    for name in [
        "ca_large",
        "ca_S300",
        "ca_2d",
        "ca_codec_blosclz_shuffle2",
        "ca_clevel0",
        "v121_f8_typical",
    ] {
        for cache in [0, 1000, 4 << 20] {
            let tree = Arc::new(DirTree::new(fixture::path("bcolz").join(name)));
            let array = CArray::open_in(tree, "", &OpenOptions::default().cache(cache)).unwrap();
            let all = array.read(0..array.len()).unwrap();
            let rows: Vec<u64> = (0..300).map(|n| n * n * 7919 % array.len()).collect();
            let found: Vec<u8> =
                rows.iter().flat_map(|row| array.read(*row..row + 1).unwrap()).collect();
            let size = array.rowsize();
            let row = |row: &u64| &all[usize::try_from(*row).unwrap() * size..][..size];
            assert_eq!(found, rows.iter().flat_map(row).copied().collect::<Vec<u8>>(), "{name}");
            assert_eq!(found, array.read_rows(&rows).unwrap(), "{name}");
            let mut reader = array.row_reader();
            let one_by_one: Vec<u8> =
                rows.iter().flat_map(|row| reader.row(*row).unwrap().to_vec()).collect();
            assert_eq!(found, one_by_one, "{name}");
        }
    }
}

#[test]
fn single_rows_are_refused_as_many_are() {
    let array = CArray::open(fixture::path("bcolz/ca_2d")).unwrap();
    let mut rows = array.row_reader();
    assert!(rows.item::<f64>(0).unwrap_err().to_string().contains("f64"));
    let outside = array.read(array.len()..array.len() + 1).unwrap_err().to_string();
    assert_eq!(rows.row(array.len()).unwrap_err().to_string(), outside);
    assert!(rows.row(u64::MAX).is_err());
    assert_eq!(rows.row(0).unwrap(), array.read(0..1).unwrap());
}

/// Makes all files of an array look as if they were written some time ago.
fn age(root: &Path, seconds: u64) {
    for entry in std::fs::read_dir(root.join("data")).unwrap() {
        let file = File::options().write(true).open(entry.unwrap().path()).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }
}

#[test]
fn rows_that_were_changed_are_read_again() {
    let dir = tempfile::tempdir().unwrap();
    tree::copy(&DirTree::new(fixture::path("bcolz/ca_large")), &DirTree::new(dir.path()), "");
    age(dir.path(), 100);
    let array = CArray::open(dir.path()).unwrap();
    let first = array.read(1..2).unwrap();
    // The second request keeps the block, the third one finds it.
    assert_eq!(array.read(1..2).unwrap(), first);
    assert_eq!(array.read(1..2).unwrap(), first);
    let other: Vec<u8> = first.iter().map(|byte| byte ^ 1).collect();
    let mut writer = CArrayWriter::open(dir.path()).unwrap();
    writer.write_rows(1, &other).unwrap();
    writer.finish().unwrap();
    assert_eq!(array.read(1..2).unwrap(), other);
    age(dir.path(), 50);
    assert_eq!(array.read(1..2).unwrap(), other);
}
