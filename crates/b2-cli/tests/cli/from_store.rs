//! `convert` from stores of python-blosc2: tables, columns, values, whole stores.

use crate::{session::snapshot, stores::samples};

/// Columns of `table-basic` with NumPy types and without nulls.
const PLAIN: &str = "id,f,s,by,ok,c,t,vb,u,a,u1";

/// All tables among the samples.
const TABLES: [&str; 9] = [
    "table-basic.b2d",
    "table-basic.b2z",
    "table-cframe.b2e",
    "table-derived.b2d",
    "table-empty.b2z",
    "table-names.b2d",
    "table-nulls-mask.b2d",
    "table-nulls-sentinel.b2d",
    "table-unclosed.b2d",
];

#[test]
fn every_table_becomes_another_store_with_the_same_rows() {
    for name in TABLES {
        let dir = samples(&[name]);
        let rows = dir.b2(&format!("show --json {name}")).ok().text().to_owned();
        for to in ["x.b2z", "x.b2d"] {
            dir.b2(&format!("convert --verify {name} {to}")).ok();
            assert_eq!(dir.b2(&format!("show --json {to}")).ok().text(), rows, "{name} {to}");
            dir.b2(&format!("verify {to}")).ok();
        }
    }
}

#[test]
fn some_columns_become_a_table_of_their_own() {
    for name in ["table-basic.b2z", "tree-with-table.b2z::/g/tab"] {
        let dir = samples(&["table-basic.b2z", "tree-with-table.b2z"]);
        let columns = "st,o,d,lv,id,vs";
        dir.b2(&format!("convert --verify --columns {columns} {name} x.b2z")).ok();
        let line = |store: &str| format!("show --json --columns {columns} {store}");
        assert_eq!(dir.b2(&line("x.b2z")).ok().text(), dir.b2(&line(name)).ok().text());
        let run = dir.b2(&format!("convert --columns nobody {name} y.b2z"));
        assert!(run.stderr.contains("nobody"), "{}", run.stderr);
        assert!(!dir.path("y.b2z").exists());
    }
    for name in ["table-nulls-mask.b2d", "table-nulls-sentinel.b2d"] {
        let dir = samples(&[name]);
        dir.b2(&format!("convert --verify --columns k,i,b,f,t,s,u {name} x.b2z")).ok();
        let line = |store: &str| format!("show --json --columns k,i,b,f,t,s,u {store}");
        assert_eq!(dir.b2(&line("x.b2z")).ok().text(), dir.b2(&line(name)).ok().text());
    }
}

#[test]
fn cells_become_lines_and_nulls_that_look_like_text_are_told() {
    let dir = samples(&["table-basic.b2z", "table-nulls-mask.b2d"]);
    snapshot!(dir.b2("convert table-nulls-mask.b2d x.csv"), @r"
    exit 0
    --- stdout
    --- stderr
    b2: table-nulls-mask.b2d: warning: no room for the nulls of columns `s`, `u` in a .csv file
    table-nulls-mask.b2d -> x.csv   3 rows
    ");
    assert_eq!(
        String::from_utf8(dir.read("x.csv")).unwrap(),
        dir.b2("show --csv table-nulls-mask.b2d").ok().text()
    );
    dir.b2("convert -q --columns id,by,vb,li,st table-basic.b2z y.csv").ok();
    let text = String::from_utf8(dir.read("y.csv")).unwrap();
    assert!(text.starts_with("id,by,vb,li,st\n0,b0,,[],"), "{text}");
    dir.b2("convert -q table-basic.b2z::/li z.csv").ok();
    assert!(dir.read("z.csv").starts_with(b"li\n[]\n\"[0,1]\"\n"));
}

#[test]
fn the_same_rows_come_out_of_every_format() {
    let dir = samples(&["table-basic.b2z"]);
    let sum = |name: &str| {
        let text = dir.b2(&format!("sum {name}")).ok().text().to_owned();
        text.split(' ').next().unwrap().to_owned()
    };
    dir.b2(&format!("convert -q --verify --columns {PLAIN} table-basic.b2z x.npy")).ok();
    for to in ["x.b2nd", "x.b2frame", "x.blp", "x.raw", "x.bcolz"] {
        dir.b2(&format!("convert -q --verify --columns {PLAIN} table-basic.b2z {to}")).ok();
        if to != "x.raw" {
            assert_eq!(sum(to), sum("x.npy"), "{to}");
        }
    }
    dir.b2("convert -q x.bcolz y.b2z").ok();
    dir.b2("convert -q y.b2z y.npy").ok();
    assert_eq!(dir.read("x.npy")[128..], dir.read("y.npy")[128..]);
    snapshot!(dir.b2("meta get x.bcolz"), @"
    exit 0
    --- stdout
    note  \"table attribute\"
    --- stderr
    ");
}

#[test]
fn nulls_are_told_where_a_format_has_none() {
    let dir = samples(&["table-nulls-mask.b2d"]);
    snapshot!(dir.b2("convert --columns k,i,f,t,u table-nulls-mask.b2d x.npy"), @r"
    exit 0
    --- stdout
    --- stderr
    b2: table-nulls-mask.b2d: warning: no room for the nulls of columns `i`, `f`, `u` in a .npy file
    table-nulls-mask.b2d -> x.npy   3 rows
    ");
    dir.b2("convert -q x.npy x.b2nd").ok();
    snapshot!(dir.b2("show x.b2nd"), @"
    exit 0
    --- stdout
    [(1, -128, nan, '2020-01-01T00:00:00.000000', '')
     (2,    0, nan,                        'NaT', '')
     (3,  127, 1.5, '1970-01-01T00:00:00.000000', 'ü')]
    --- stderr
    ");
}

#[test]
fn one_column_or_value_is_an_array() {
    let dir = samples(&["table-basic.b2z", "tree-basic.b2z", "tree-with-table.b2z"]);
    dir.b2("convert -q --verify table-basic.b2z::/t t.npy").ok();
    dir.b2("convert -q --verify table-basic.b2z::/a a.b2nd").ok();
    dir.b2("convert -q --verify tree-with-table.b2z::/g/tab/u u.b2nd").ok();
    dir.b2("convert -q --verify tree-basic.b2z::/g/b b.csv").ok();
    dir.b2("convert -q --verify tree-basic.b2z::/g/b b.npy").ok();
    dir.b2("convert -q --verify table-basic.b2z::/id id.b2z").ok();
    let shown = |name: &str| dir.b2(&format!("show {name}")).ok().text().to_owned();
    snapshot!(dir.b2("show a.b2nd"), @"
    exit 0
    --- stdout
    [[[0. 0.]
      [0. 0.]]

     [[2. 2.]
      [2. 2.]]

     [[3. 3.]
      [3. 3.]]

     [[4. 4.]
      [4. 4.]]

     [[5. 5.]
      [5. 5.]]]
    --- stderr
    ");
    assert_eq!(shown("u.b2nd"), "['0' 'ü€2' '3' 'ü4' 'ü€5']\n");
    assert_eq!(dir.read("b.csv"), b"0,1,2\n0.0,1.0,2.0\n3.0,4.0,5.0\n");
    assert_eq!(shown("id.b2z::/id"), "[0 2 3 4 5]\n");
    assert_eq!(dir.b2("cat table-basic.b2z::/t").ok().stdout, dir.read("t.npy")[128..]);
    snapshot!(dir.b2("info table-basic.b2z::/t"), @"
    exit 0
    --- stdout
    table-basic.b2z::/t: Blosc2 table in a store
      rows        5
      t           timestamp[ms, UTC]
      size        40 B -> 293 B  0.14x
    --- stderr
    ");
    snapshot!(dir.b2("convert table-basic.b2z::/li x.npy"), @"
    exit 2
    --- stdout
    --- stderr
    b2: table-basic.b2z::/li: column `li`, lists: NumPy has no type for them
    hint: --columns leaves columns out; .csv, .parquet and stores hold them
    ");
    snapshot!(dir.b2("convert table-basic.b2z::/nobody x.npy"), @"
    exit 2
    --- stdout
    --- stderr
    b2: table-basic.b2z::/nobody: no key \"/nobody\"
    ");
    snapshot!(dir.b2("convert --rm tree-basic.b2z::/a x.npy"), @"
    exit 2
    --- stdout
    --- stderr
    b2: tree-basic.b2z::/a: --rm would remove the whole store of which this is a value
    hint: leave out --rm
    ");
}

#[test]
fn a_store_becomes_one_of_another_form() {
    let dir = samples(&["tree-with-table.b2z", "dict-basic.b2d", "embed-basic.b2e"]);
    for name in ["tree-with-table.b2z", "dict-basic.b2d", "embed-basic.b2e"] {
        for to in ["x.b2z", "x.b2d"] {
            dir.b2(&format!("convert -q {name} {to}")).ok();
            let tree = |name: &str| {
                let text = dir.b2(&format!("list --tree {name}")).ok().text().to_owned();
                text.split_once('\n').unwrap().1.to_owned()
            };
            assert_eq!(tree(to), tree(name), "{name} {to}");
            let path = dir.path(to);
            if path.is_dir() {
                std::fs::remove_dir_all(path).unwrap();
            } else {
                assert_ne!(dir.b2(&format!("convert -q {name} {to}")).code, Some(0));
                std::fs::remove_file(path).unwrap();
            }
        }
    }
    snapshot!(dir.b2("convert tree-with-table.b2z y.b2d"), @"
    exit 0
    --- stdout
    --- stderr
    tree-with-table.b2z -> y.b2d   2 values
    ");
}

#[test]
fn rows_that_meet_a_condition_become_a_table_of_their_own() {
    // `show` gives the expected rows; other tests compare it with python-blosc2.
    for (name, condition, columns) in [
        ("table-basic.b2z", "(f>0)|ok", "st,o,d,lv,id,vs"),
        ("tree-with-table.b2z::/g/tab", "id>=0", "id"),
        ("table-nulls-mask.b2d", "~(i<0)", "k,i,b,f,t,s,u"),
        ("table-nulls-mask.b2d", "k>100", "k,u"),
    ] {
        let dir = samples(&[name.split_once("::").map_or(name, |(store, _)| store)]);
        for to in ["x.b2z", "x.b2d", "x.csv"] {
            let chosen = format!("--where {condition} --columns {columns}");
            dir.b2(&format!("convert --verify {chosen} {name} {to}")).ok();
            if to == "x.csv" {
                continue;
            }
            let expected = dir.b2(&format!("show --json {chosen} {name}")).ok();
            let found = dir.b2(&format!("show --json --columns {columns} {to}")).ok();
            assert_eq!(found.text(), expected.text(), "{name} {to}");
        }
    }
}

#[test]
fn rows_of_a_table_of_bcolz_are_chosen_too() {
    let dir = samples(&["table-basic.b2z"]);
    std::fs::write(dir.path("t.csv"), "n,s,f\n1,a,0.5\n2,b,1.5\n3,c,2.5\n").unwrap();
    dir.b2("convert t.csv t.bcolz").ok();
    for to in ["y.bcolz", "y.b2z", "y.csv", "y.npy"] {
        dir.b2(&format!("convert --where f>1 --columns s,n t.bcolz {to}")).ok();
    }
    assert_eq!(std::fs::read_to_string(dir.path("y.csv")).unwrap(), "s,n\nb,2\nc,3\n");
    for table in ["y.bcolz", "y.b2z"] {
        assert_eq!(dir.b2(&format!("show --csv {table}")).ok().text(), "s,n\nb,2\nc,3\n");
    }
    std::fs::write(dir.path("x"), [0; 8]).unwrap();
    let run = dir.b2("convert --where n>1 --dtype i4 x z.b2z");
    assert!(run.stderr.contains("not a table"), "{}", run.stderr);
    assert!(!dir.path("z.b2z").exists());
}
