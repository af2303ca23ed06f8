//! `convert` to stores of python-blosc2.

use blosc_testdata::fixture::path;

use crate::session::{Dir, snapshot, walk};

/// Samples of bcolz with types that no column of a store has, or without columns.
const REFUSED: [&str; 3] = ["ca_object", "ct_all_deleted", "ct_struct_column"];

#[test]
fn every_sample_of_bcolz_becomes_a_store() {
    let (dir, mut count) = (Dir::new(), 0);
    for entry in std::fs::read_dir(path("bcolz")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if !name.starts_with("ca_") && !name.starts_with("ct_") {
            continue;
        }
        let line = format!("convert -q --verify {} {name}.b2z", entry.path().display());
        let run = dir.b2(&line);
        if REFUSED.contains(&name.as_str()) {
            assert_ne!(run.code, Some(0), "{name}");
            assert!(!dir.path(format!("{name}.b2z")).exists());
            continue;
        }
        run.ok();
        dir.b2(&format!("verify {name}.b2z")).ok();
        count += 1;
    }
    assert!(count > 60, "{count}");
}

#[test]
fn a_table_keeps_values_and_attributes() {
    let dir = Dir::new();
    let rows = "id,price,name,ok\n1,2.5,a,True\n2,-0.0,b,False\n3,4.25,\u{e4}\u{f6},True\n";
    dir.write("rows.csv", rows);
    dir.b2("convert -q rows.csv rows.bcolz").ok();
    dir.b2("meta set rows.bcolz unit=EUR levels=[1,2.5,null]").ok();
    snapshot!(dir.b2("convert --verify rows.bcolz rows.b2z"), @"
    exit 0
    --- stdout
    --- stderr
    rows.bcolz -> rows.b2z   1.3 KiB -> 5.3 KiB
    ");
    snapshot!(dir.b2("show rows.b2z"), @"
    exit 0
    --- stdout
    id  price  name     ok
     1    2.5  a      True
     2   -0.0  b     False
     3   4.25  äö     True
    --- stderr
    ");
    snapshot!(dir.b2("info rows.b2z"), @"
    exit 0
    --- stdout
    rows.b2z: Blosc2 store in an archive, a table
      rows        3
      id          i8
      price       f8
      name        text of fixed width
      ok          b1
      size        1.6 MiB -> 4.3 KiB  388x
    --- stderr
    ");
    dir.b2("convert -q rows.csv rows.b2d").ok();
    assert_eq!(dir.b2("show --csv rows.b2d").ok().text(), rows);
    assert_eq!(dir.b2("convert rows.csv rows.b2z").code, Some(3));
    dir.b2("convert -q -f rows.csv rows.b2z").ok();
}

#[test]
fn types_without_a_kind_are_changed_where_no_value_is() {
    let dir = Dir::new();
    let mut items = vec![];
    for (day, half, big) in [(1_i64, 0x3c00_u16, 7_i32), (i64::MIN, 0x7c00, -8)] {
        items.extend(day.to_le_bytes());
        items.extend(half.to_be_bytes());
        items.extend(big.to_be_bytes());
    }
    dir.write("rows.raw", items);
    let dtype = "[('day','<M8[D]'),('half','>f2'),('big','>i4')]";
    let line = format!("convert --verify --dtype {dtype} rows.raw rows.b2z");
    snapshot!(dir.b2(&line), @"
    exit 0
    --- stdout
    --- stderr
    b2: rows.raw: warning: no room for the type of column `day` in a .b2z file
    b2: rows.raw: warning: no room for the type of column `half` in a .b2z file
    rows.raw -> rows.b2z   28 B -> 4.3 KiB
    ");
    snapshot!(dir.b2("show --csv rows.b2z"), @"
    exit 0
    --- stdout
    day,half,big
    86400,1.0,7
    ,inf,-8
    --- stderr
    ");
    dir.write("far.raw", i64::MAX.to_le_bytes());
    snapshot!(dir.b2("convert --dtype [('day','<M8[D]')] far.raw x.b2z"), @"
    exit 1
    --- stdout
    --- stderr
    b2: far.raw: column `day`: a time that is too far away to be counted in seconds
    ");
}

#[test]
fn an_array_or_a_frame_becomes_a_value() {
    let dir = Dir::new();
    dir.write("w.i32", walk(5000)).b2("c -q w.i32 -o w.b2frame").ok();
    dir.b2("convert -q --dtype i4 --shape 50,100 w.i32 grid.b2nd").ok();
    for name in ["w.b2frame", "grid.b2nd"] {
        let stem = name.split('.').next().unwrap();
        dir.b2(&format!("convert -q --verify {name} {stem}.b2z")).ok();
        let value = dir.b2(&format!("cat {stem}.b2z::/{stem}"));
        assert_eq!(value.ok().stdout, dir.read("w.i32"));
    }
    snapshot!(dir.b2("convert --rm grid.b2nd x.b2d"), @"
    exit 2
    --- stdout
    --- stderr
    b2: the input of a store is kept: --rm is not for stores
    hint: use --verify, and remove the input then
    ");
}
