//! `convert` to stores of python-blosc2.

use std::fs;

use blosc_testdata::fixture::path;

use crate::{
    matrix::npy,
    session::{Dir, snapshot, walk, zip},
    stores::samples,
};

/// Samples of bcolz without columns, or with types that a store cannot hold.
const REFUSED: [&str; 2] = ["ca_object", "ct_all_deleted"];

#[test]
fn every_sample_of_bcolz_becomes_a_store() {
    let (dir, mut count) = (Dir::new(), 0);
    for entry in fs::read_dir(path("bcolz")).unwrap() {
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
        // One of its columns has no place in a store.
        let code = if name == "ct_struct_column" { 4 } else { 0 };
        assert_eq!(run.code, Some(code), "{name}: {}", run.stderr);
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
    rows.bcolz -> rows.b2z   1.5 KiB -> 4.6 KiB
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
      size        75 B -> 3.5 KiB  0.02x
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
    snapshot!(dir.b2(&line), @r"
    exit 0
    --- stdout
    --- stderr
    b2: rows.raw: warning: no room for the type of columns `day`, `half` in a .b2z file
    rows.raw -> rows.b2z   28 B -> 3.6 KiB
    ");
    snapshot!(dir.b2("show --csv rows.b2z"), @"
    exit 0
    --- stdout
    day,half,big
    1970-01-02T00:00:00,1.0,7
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
    b2: --rm does not apply if the output is in a store
    hint: use --verify, then remove the input by hand
    ");
}

#[test]
fn a_value_is_added_to_a_store_and_replaced_with_force() {
    let dir = samples(&["tree-basic.b2z", "tree-basic.b2d"]);
    dir.write("w.raw", walk(5000));
    dir.b2("convert -q --dtype i4 w.raw w.npy").ok();
    let (npy, raw) = (dir.read("w.npy"), dir.read("w.raw"));
    for store in ["tree-basic.b2z", "tree-basic.b2d", "new.b2z", "new.b2d", "new.b2e"] {
        let before = dir.path(store).exists().then(|| dir.b2(&format!("cat {store}::/a")).stdout);
        dir.b2(&format!("convert --verify w.npy {store}::/new/w")).ok();
        dir.b2(&format!("compress --verify -o {store}::/raw w.raw")).ok();
        dir.b2(&format!("c -q w.npy -o {store}::/npy")).ok();
        for (key, expected) in [("/new/w", &npy[128..]), ("/raw", &raw), ("/npy", &npy[128..])] {
            assert!(
                dir.b2(&format!("cat {store}::{key}")).ok().stdout == expected,
                "{store} {key}"
            );
        }
        if let Some(before) = before {
            assert!(dir.b2(&format!("cat {store}::/a")).ok().stdout == before);
        }
        for line in [format!("convert w.npy {store}::/raw"), format!("c w.npy -o {store}::/raw")] {
            let run = dir.b2(&line);
            assert_eq!(run.code, Some(3), "{line}");
            assert!(run.stderr.contains("::/raw") && run.stderr.contains("-f"), "{}", run.stderr);
        }
        dir.b2(&format!("convert -q -f {store}::/npy {store}::/raw")).ok();
        assert!(dir.b2(&format!("cat {store}::/raw")).ok().stdout == npy[128..]);
        dir.b2(&format!("verify {store}")).ok();
    }
}

#[test]
fn a_table_is_added_to_a_store_and_replaced_with_force() {
    let dir = samples(&["tree-basic.b2z", "table-basic.b2z"]);
    dir.write("rows.csv", "id,x\n1,2.5\n2,-0.5\n");
    dir.b2("convert -q --verify rows.csv tree-basic.b2z::/g/rows").ok();
    assert_eq!(dir.b2("show --csv tree-basic.b2z::/g/rows").ok().text(), "id,x\n1,2.5\n2,-0.5\n");
    assert_eq!(dir.b2("convert table-basic.b2z tree-basic.b2z::/g/rows").code, Some(3));
    dir.b2("convert -q -f --verify table-basic.b2z tree-basic.b2z::/g/rows").ok();
    assert_eq!(
        dir.b2("show --json tree-basic.b2z::/g/rows").ok().stdout,
        dir.b2("show --json table-basic.b2z").ok().stdout
    );
    dir.b2("convert -q -f rows.csv tree-basic.b2z::/g/rows").ok();
    snapshot!(dir.b2("list --tree tree-basic.b2z"), @"
    exit 0
    --- stdout
    tree-basic.b2z   store, a tree of keys
    ├── a                 array, 5 of <i8, 40 B -> 282 B
    ├── g
    │   ├── b      array, 2 x 3 of <f8, 48 B -> 308 B
    │   ├── h
    │   │   └── c   array, 2 of <U2, 16 B -> 269 B
    │   └── rows   table, 2 rows x 2 columns, 32 B -> 2.1 KiB
    └── only-attributes
    --- stderr
    ");
    dir.b2("verify tree-basic.b2z").ok();
}

#[test]
fn inputs_that_are_no_value_change_nothing() {
    let dir = samples(&["tree-basic.b2z", "table-basic.b2z"]);
    dir.write("w.raw", walk(50));
    dir.b2("c -q w.raw").ok();
    let before = dir.read("tree-basic.b2z");
    snapshot!(dir.b2("convert w.raw.b2frame tree-basic.b2z::/g"), @"
    exit 2
    --- stdout
    --- stderr
    b2: w.raw.b2frame: key \"/g\": \"/g/__vlmeta__\" is in the group of this name
    ");
    snapshot!(dir.b2("convert -f w.raw.b2frame tree-basic.b2z::/a/b"), @"
    exit 2
    --- stdout
    --- stderr
    b2: w.raw.b2frame: key \"/a/b\": \"/a\" is a value and no group
    ");
    snapshot!(dir.b2("convert -f w.raw.b2frame tree-basic.b2z::/../b"), @"
    exit 2
    --- stdout
    --- stderr
    b2: w.raw.b2frame: key \"/../b\": a name in it is '.' or '..'
    ");
    snapshot!(dir.b2("convert --format npy w.raw.b2frame -o tree-basic.b2z::/x"), @"
    exit 2
    --- stdout
    --- stderr
    b2: w.raw.b2frame: a value of a store is an array or a frame, not a npy
    hint: leave out --format: the input decides
    ");
    snapshot!(dir.b2("convert --rm w.raw.b2frame tree-basic.b2z::/x"), @"
    exit 2
    --- stdout
    --- stderr
    b2: --rm does not apply if the output is in a store
    hint: use --verify, then remove the input by hand
    ");
    snapshot!(dir.b2("convert w.raw.b2frame w.raw::/x"), @"
    exit 2
    --- stdout
    --- stderr
    b2: w.raw is not a store, so nothing can be added to it
    hint: use -o NEW.b2z::/KEY to make a store
    ");
    snapshot!(dir.b2("convert w.raw.b2frame table-basic.b2z -o tree-basic.b2z::/x"), @"
    exit 2
    --- stdout
    --- stderr
    b2: 2 inputs cannot go into one file
    hint: use --output-dir, or -c for one stream
    ");
    snapshot!(dir.b2("c --format blp w.raw -o tree-basic.b2z::/x"), @"
    exit 2
    --- stdout
    --- stderr
    b2: a value of a store is an array or a frame, not a blp
    hint: leave out --format: the input decides
    ");
    snapshot!(dir.b2("convert w.raw.b2frame table-basic.b2z::/x"), @"
    exit 2
    --- stdout
    --- stderr
    b2: w.raw.b2frame: key \"/x\": \"/\" is a table
    ");
    assert!(dir.read("tree-basic.b2z") == before);
}

/// Options for a part of one value do not apply to all values of a store.
#[test]
fn options_about_one_value_refuse_a_store_of_several() {
    let dir = Dir::new();
    fs::create_dir(dir.path("f")).unwrap();
    dir.write("raw", walk(30)).b2("c -q --dtype i4 raw -o x.b2nd").ok();
    for name in ["f/x.npy", "f/y.npy"] {
        dir.b2(&format!("convert -q x.b2nd {name}")).ok();
    }
    for store in ["many.b2z", "many.b2d"] {
        dir.b2(&format!("convert -q f {store}")).ok();
        for option in ["--slice 0:1", "--where x>1", "--columns x", "--dtype f4", "--delimiter ;"] {
            for output in ["new.b2z", "new.b2d"] {
                let run = dir.b2(&format!("convert {option} {store} {output}"));
                assert_eq!(run.code, Some(2), "{option} {store}: {}", run.all());
                assert!(!dir.path(output).exists());
            }
        }
        dir.b2(&format!("convert -q --slice 0:1 {store}::/x one.npy -f")).ok();
        assert_eq!(
            dir.b2("show one.npy").ok().text(),
            dir.b2("show --slice 0:1 x.b2nd").ok().text()
        );
    }
}

/// Rows of one structured type.
fn records(descr: &str, rows: &[&[u8]]) -> Vec<u8> {
    npy(descr, &format!("({},)", rows.len()), false, &rows.concat())
}

/// NaT of timestamps is null, in either byte order.
#[test]
fn nat_of_timestamps_is_null() {
    let nat = i64::MIN.to_le_bytes();
    let rows: [&[u8]; 3] = [&5_i64.to_le_bytes(), &nat, &[0; 8]];
    let swapped = rows.map(|row| row.iter().rev().copied().collect::<Vec<u8>>());
    for unit in ["M8[s]", "M8[D]"] {
        for order in ["<", ">"] {
            let dir = Dir::new();
            let rows = if order == "<" { rows } else { swapped.each_ref().map(|row| &row[..]) };
            dir.write("t.npy", records(&format!("[('t', '{order}{unit}')]"), &rows));
            dir.b2("convert -q t.npy t.bcolz").ok();
            for (from, to) in [("t.npy", "t.b2z"), ("t.bcolz", "u.b2z")] {
                dir.b2(&format!("convert -q --verify {from} {to}")).ok();
                let mut nulls = dir.command(&format!("show --json {to} --where"));
                let shown = nulls.arg("t is null").output().unwrap().stdout;
                assert_eq!(
                    String::from_utf8(shown).unwrap(),
                    "{\"t\":null}\n",
                    "{order}{unit} {to}"
                );
                dir.b2(&format!("append -q {to} {from}")).ok();
                assert_eq!(dir.b2(&format!("show --json {to}")).text().matches("null").count(), 2);
            }
        }
    }
}

/// A field that no column can hold is left out, and the others stay.
#[test]
fn fields_without_a_column_are_left_out() {
    let nested = "('p', [('x', '<f4'), ('y', '<f4')])";
    for (field, len) in [(nested, 8), ("('p', '|V3')", 3), ("('p', '<U1', (2,))", 8)] {
        let dir = Dir::new();
        let row: Vec<u8> = [vec![0; len], 7_i32.to_le_bytes().to_vec()].concat();
        let rows = [&row[..], &row[..]];
        let file = records(&format!("[{field}, ('q', '<i4')]"), &rows);
        fs::create_dir(dir.path("folder")).unwrap();
        dir.write("n.npy", &file).write("folder/n.npy", &file);
        dir.write("n.npz", zip(&[("n.npy", &file)]));
        dir.b2("convert -q n.npy n.b2nd").ok();
        dir.b2("convert -q n.npy n.blp").ok();
        let inputs =
            [("n.npy", ""), ("n.b2nd", ""), ("n.blp", ""), ("n.npz", "::/n"), ("folder", "::/n")];
        for (input, key) in inputs {
            let run = dir.b2(&format!("convert -f {input} o.b2z"));
            assert_eq!(run.code, Some(4), "{field} {input}: {}", run.stderr);
            assert!(run.stderr.contains("column `p`"), "{field} {input}: {}", run.stderr);
            assert_eq!(dir.b2(&format!("show --csv o.b2z{key}")).ok().text(), "q\n7\n7\n");
            let run = dir.b2(&format!("convert --strict {input} s.b2z"));
            assert_eq!(run.code, Some(4), "{field} {input}: {}", run.stderr);
            assert!(!dir.path("s.b2z").exists(), "{field} {input}");
        }
    }
}
