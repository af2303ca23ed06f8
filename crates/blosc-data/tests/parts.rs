//! Parts of files: columns, ranges, names.

use std::fs;
use std::path::Path;

use blosc_data::error::Param;
use blosc_data::verify::{VerifyOptions, verify};
use blosc_data::{Budget, ColumnKind, Data, Error, Table, open};
use blosc_testdata::fixture::path;

fn frame(bytes: &[u8]) -> Vec<u8> {
    b2frame::to_cframe(bytes, &b2frame::FrameParams::default()).unwrap()
}

fn values(table: &dyn Table, name: &str) -> String {
    format!("{:?}", table.read(&[name], 0..table.nrows()).unwrap())
}

#[test]
fn a_column_is_a_table_of_one_column() {
    for file in
        ["stores/table-basic.b2z", "stores/v4.8.0-table.b2d", "bcolz/ct_basic", "bcolz/v121_ctable"]
    {
        let whole = open(path(file)).unwrap().into_table().unwrap();
        for column in whole.columns() {
            let word = format!("{}::/{}", path(file).display(), column.name.replace('.', "/"));
            let found = open(&word).unwrap_or_else(|error| panic!("{word}: {error:?}"));
            assert!(found.name.contains("::/"), "{}", found.name);
            assert!(verify(&found, &VerifyOptions::default(), &mut |_| ()).unwrap().is_ok());
            let one = found.into_table().unwrap();
            assert_eq!(one.columns(), core::slice::from_ref(column), "{word}");
            assert_eq!((one.nrows(), one.format()), (whole.nrows(), whole.format()));
            assert_eq!(values(&*one, &column.name), values(&*whole, &column.name));
            assert_eq!(one.attributes().unwrap(), whole.attributes().unwrap());
            assert!(matches!(one.read_columns(&[1], 0..0), Err(Error::Param(Param::Column(1)))));
            if column.kind == ColumnKind::Fixed("i8") || column.kind == ColumnKind::Fixed("i4") {
                let condition = format!("{} >= 0", column.name);
                let rows = |table: &dyn Table| {
                    table.filter(&condition).unwrap().matches(0..table.nrows()).unwrap()
                };
                assert_eq!(rows(&*one), rows(&*whole));
            }
            #[cfg(feature = "arrow")]
            if let Ok(batch) = whole.record_batch(&[whole.column(&column.name).unwrap()], 0..1) {
                assert_eq!(one.record_batch(&[0], 0..1).unwrap(), batch);
            }
        }
        let none = open(format!("{}::/no/such", path(file).display()));
        assert!(matches!(none, Err(Error::NoMember { .. })), "{file}");
    }
}

#[test]
fn a_column_of_another_type_is_raw_and_the_others_are_as_always() {
    let table = open(path("bcolz/ct_struct_column")).unwrap().into_table().unwrap();
    let unknown = |kind: &ColumnKind| matches!(kind, ColumnKind::Unknown(_));
    let raw = table.columns().iter().find(|column| unknown(&column.kind)).unwrap();
    let itemsize = raw.dtype.as_ref().unwrap().itemsize();
    let read = table.read(&[&raw.name], 0..table.nrows()).unwrap();
    let blosc_data::Values::Fixed { bytes, .. } = &read[0].values else { panic!("{read:?}") };
    assert_eq!(bytes.len() as u64, table.nrows() * itemsize as u64);
    let array = open(path("bcolz/ct_struct_column").join(&raw.name)).unwrap().into_array().unwrap();
    assert_eq!(*bytes, array.to_bytes(..).unwrap());
    assert!(table.columns().iter().any(|column| !unknown(&column.kind)));
    table.read(&[], 0..table.nrows()).unwrap();
}

#[test]
fn all_reads_refuse_ranges_beyond_the_end() {
    let is_range = |result: Result<(), Error>, name: &str| {
        assert!(matches!(result, Err(Error::Param(Param::Range { .. }))), "{name}: {result:?}");
    };
    let budget = Budget::default();
    for found in crate::reads::samples() {
        let name = &found.name;
        #[expect(clippy::reversed_empty_ranges, reason = "a mistake of a caller")]
        let backwards = 1..0;
        match &found.data {
            Data::Bytes(bytes) => {
                let end = bytes.nbytes() + 1;
                is_range(bytes.stream(0..end, &budget, &mut |_| Ok(())), name);
                is_range(bytes.stream(backwards, &budget, &mut |_| Ok(())), name);
            }
            Data::Array(array) => {
                let end = array.nbytes() + 1;
                is_range(array.stream(0..end, &budget, &mut |_| Ok(())), name);
                is_range(array.stream(backwards, &budget, &mut |_| Ok(())), name);
            }
            Data::Table(table) => {
                let end = table.nrows() + 1;
                is_range(table.read(&[], 0..end).map(drop), name);
                #[cfg(feature = "arrow")]
                is_range(table.record_batch(&[], 0..end).map(drop), name);
                let number = |kind: &ColumnKind| matches!(kind, ColumnKind::Fixed("i4" | "i8"));
                let Some(column) = table.columns().iter().find(|one| number(&one.kind)) else {
                    continue;
                };
                let Ok(filter) = table.filter(&format!("{} > 0", column.name)) else { continue };
                is_range(filter.matches(0..end).map(drop), name);
                is_range(filter.matches(backwards).map(drop), name);
            }
            Data::Objects(objects) => {
                let Ok(len) = objects.len() else { continue };
                is_range(objects.get(0..len + 1).map(drop), name);
            }
            _ => {}
        }
    }
}

/// Windows has no names with a colon.
#[cfg(not(windows))]
#[test]
fn words_with_keys_mean_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let within = dir.path().join("a::");
    fs::create_dir(&within).unwrap();
    fs::write(within.join("x"), frame(b"four")).unwrap();
    fs::copy(path("stores/tree-basic.b2z"), within.join("s.b2z")).unwrap();
    let nbytes = |word: &str| open(dir.path().join(word)).unwrap().nbytes();
    assert_eq!(nbytes("a::/x"), Some(4));
    assert!(open(dir.path().join("a::/s.b2z::/")).unwrap().into_group().is_ok());
    // An ordinary folder.
    fs::create_dir(dir.path().join("plain")).unwrap();
    fs::write(dir.path().join("plain/y"), frame(b"seven..")).unwrap();
    assert_eq!(nbytes("plain::/y"), Some(7));
    assert!(matches!(open(dir.path().join("plain::/z")), Err(Error::Io { .. })));
}

#[cfg(unix)]
#[test]
fn neither_pipes_nor_devices_are_opened() {
    assert!(matches!(open("/dev/zero"), Err(Error::NoFile)));
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if made.is_ok_and(|made| made.success()) {
        let error = open(&pipe).unwrap_err();
        assert!(matches!(error, Error::NoFile), "{error:?}");
        assert_eq!(error.to_string(), "neither a file nor a folder");
    }
    assert!(open(Path::new("/no/such")).is_err());
}
