//! Arrays and tables of bcolz from other formats and to them; comma-separated values.

use std::fs;

use blosc_testdata::fixture::path;

use crate::{
    bcolz::with,
    session::{Dir, snapshot},
};

const ROWS: &str =
    "id,price,name,ok,zip\n1,2.5,a,True,007\n2,,\"b,\"\"c\"\"\",False,12\n3,4.25,\u{e4},True,1\n";

#[test]
fn values_become_a_table_and_come_back() {
    let dir = Dir::new();
    dir.write("rows.csv", ROWS);
    snapshot!(dir.b2("convert rows.csv rows.bcolz"), @"
    exit 0
    --- stdout
    --- stderr
    rows.csv -> rows.bcolz   77 B -> 1.9 KiB   5 chunks recompressed
    ");
    snapshot!(dir.b2("info rows.bcolz"), @r"
    exit 0
    --- stdout
    rows.bcolz: bcolz table (ctable, disk format 1), 3 rows, 5 columns
      column  dtype  chunks  size                 codec
      id      <i8         1  24 B -> 40 B  0.60x  lz4 5 shuffle
      price   <f8         1  24 B -> 40 B  0.60x  lz4 5 shuffle
      name    <U5         1  60 B -> 76 B  0.79x  lz4 5 shuffle
      ok      |b1         1  3 B -> 19 B  0.16x   lz4 5 shuffle
      zip     <U3         1  36 B -> 52 B  0.69x  lz4 5 shuffle
      size        147 B -> 227 B  0.65x
      files       1.9 KiB     dead 0 B
    --- stderr
    ");
    snapshot!(dir.b2("show rows.bcolz"), @r#"
    exit 0
    --- stdout
    id  price  name      ok  zip
     1    2.5  a       True  007
     2    nan  b,"c"  False  12
     3   4.25  ä       True  1
    --- stderr
    "#);
    dir.b2("convert rows.bcolz back.csv").ok();
    assert_eq!(String::from_utf8(dir.read("back.csv")).unwrap(), ROWS.replace("2,,", "2,nan,"));
    dir.b2("convert back.csv again.bcolz").ok();
    assert_eq!(dir.b2("cat again.bcolz").ok().stdout, dir.b2("cat rows.bcolz").ok().stdout);
    assert_eq!(dir.b2("convert rows.csv rows.bcolz").code, Some(3));
    dir.b2("convert -f rows.csv rows.bcolz").ok();
}

#[test]
fn types_of_columns_can_be_given() {
    let dir = Dir::new();
    dir.write("rows.csv", ROWS);
    let mut command = dir.command("convert rows.csv rows.bcolz --verify --dtype");
    let run = command.arg("[('name', 'S5'), ('id', '>i2'), ('price', 'f4')]").output().unwrap();
    assert!(run.status.success(), "{run:?}");
    snapshot!(dir.b2("show --json -n 2 rows.bcolz"), @r#"
    exit 0
    --- stdout
    {"name":"a","id":1,"price":2.5}
    {"name":"b,\"c\"","id":2,"price":"NaN"}
    --- stderr
    "#);
    let said = |dtype: &str| {
        let run =
            dir.command("convert -f rows.csv rows.bcolz --dtype").arg(dtype).output().unwrap();
        (run.status.code().unwrap(), String::from_utf8(run.stderr).unwrap())
    };
    let refused = |text: &str| (1, format!("b2: rows.csv: {text}\n"));
    assert_eq!(said("[('id', 'i2'), ('x', 'i2')]"), refused("there is no column \"x\""));
    assert_eq!(
        said("[('price', 'i2')]"),
        refused(
            "line 2, column \"price\": \"2.5\" is no integer from -32768 to 32767\nhint: a new table can have other types: `b2 convert --dtype \"[('name', 'U20')]\" OLD NEW`"
        )
    );
    assert_eq!(
        said("[('name', 'S2')]"),
        refused(
            "line 3, column \"name\": \"b,\\\"c\\\"\" is no text of at most 2 bytes\nhint: a new table can have other types: `b2 convert --dtype \"[('name', 'U20')]\" OLD NEW`"
        )
    );
    assert_eq!(said("f4"), refused("values of the type <f4 cannot be read from text"));
}

#[test]
fn every_sample_of_data_becomes_an_array_and_comes_back() {
    let dir = Dir::new();
    for entry in fs::read_dir(path("bcolz")).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_str().unwrap().to_owned();
        // Arrays of objects have no content, and neither has a table without columns.
        if !entry.is_dir()
            || name == "malformed"
            || name.contains("object")
            || name == "ct_all_deleted"
        {
            continue;
        }
        let source = entry.display();
        dir.b2(&format!("convert -f --no-sync {source} x.b2nd")).ok();
        dir.b2("convert -f --no-sync --verify x.b2nd x.bcolz").ok();
        assert_eq!(
            dir.b2("cat x.bcolz").ok().stdout,
            dir.b2(&format!("cat {source}")).ok().stdout,
            "{name}"
        );
        let verified = dir.b2("verify x.bcolz").ok();
        assert!(verified.text().starts_with("x.bcolz: OK (decoded; xxh3 of "), "{name}");
    }
}

#[test]
fn a_table_is_an_array_of_items_with_fields_elsewhere() {
    let dir = with(&["ct_attrs", "ct_basic", "ca_2d", "ca_object", "ct_2d_column"]);
    dir.b2("convert ct_attrs t.b2nd").ok();
    snapshot!(dir.b2("info -v t.b2nd"), @r#"
    exit 0
    --- stdout
    t.b2nd: Blosc2 n-d array, contiguous frame (format 2)
      shape       50     [('a', '<i8')], items of 8 bytes, C order
      chunks      50
      blocks      50
      size        400 B -> 118 B  3.39x
      stored      1 of 400 B, blocks of 400 B
      pipeline    shuffle -> zstd level 5, split forward
      file        600 B     header 157 B, index 40 B, trailer 285 B, dead 0 B
      checksums   xxh3
      opens with  C-Blosc2 2.0.3 or newer, python-blosc2 after 2.0.0 (split forward)
      meta        b2nd
      vlmeta      pressure, timestamp, title
      b2nd        [0,1,[50],[50],[50],0,"[('a', '<i8')]"]
      pressure    999.2
      timestamp   "2016030915"
      title       "test"
    --- stderr
    "#);
    dir.b2("convert t.b2nd t.bcolz").ok();
    snapshot!(dir.b2("info -v t.bcolz"), @r#"
    exit 0
    --- stdout
    t.bcolz: bcolz table (ctable, disk format 1), 50 rows, 1 column
      column  dtype  chunks  size                  codec
      a       <i8         1  400 B -> 91 B  4.40x  lz4 5 shuffle
      size        400 B -> 91 B  4.40x
      files       538 B     dead 0 B
      attrs       pressure, timestamp, title
      pressure    999.2
      timestamp   "2016030915"
      title       "test"
    --- stderr
    "#);
    dir.b2("convert ct_basic t.npy --verify").ok();
    dir.b2("convert t.npy back.bcolz --verify").ok();
    assert_eq!(
        dir.b2("show --csv back.bcolz").ok().stdout,
        dir.b2("show --csv ct_basic").ok().stdout
    );
    dir.b2("convert ct_2d_column::/m m.npy").ok();
    dir.b2("convert --format ctable ct_2d_column -o copy.bcolz").ok();
    assert_eq!(
        dir.b2("show --json copy.bcolz").ok().stdout,
        dir.b2("show --json ct_2d_column").ok().stdout
    );
    snapshot!(dir.b2("convert ca_2d -c --format csv"), @"
    exit 0
    --- stdout
    0,1,2,3,4,5,6
    0,1,2,3,4,5,6
    7,8,9,10,11,12,13
    14,15,16,17,18,19,20
    21,22,23,24,25,26,27
    28,29,30,31,32,33,34
    35,36,37,38,39,40,41
    42,43,44,45,46,47,48
    49,50,51,52,53,54,55
    56,57,58,59,60,61,62
    63,64,65,66,67,68,69
    --- stderr
    ca_2d -> stdout   499 B -> 214 B
    ");
    snapshot!(dir.b2("convert ca_object x.npy"), @"
    exit 4
    --- stdout
    --- stderr
    b2: ca_object: items are Python objects, which have no raw bytes
    hint: `b2 show` shows what is plain data
    ");
    snapshot!(dir.b2("convert --format ctable ca_2d -o x.bcolz"), @"
    exit 2
    --- stdout
    --- stderr
    b2: ca_2d: items without fields, or in several dimensions, which form no columns
    ");
    snapshot!(dir.b2("convert ca_2d -c --format carray"), @"
    exit 2
    --- stdout
    --- stderr
    b2: ca_2d: the output is a directory, which standard output cannot take
    hint: use -o to name a directory
    ");
}

#[test]
fn chunks_have_the_length_of_bcolz_or_the_requested_one() {
    let dir = Dir::new();
    dir.write("x.i32", [7; 400_000]);
    dir.b2("convert --dtype i4 x.i32 x.bcolz").ok();
    snapshot!(dir.b2("info x.bcolz"), @r"
    exit 0
    --- stdout
    x.bcolz: bcolz array (carray, disk format 1)
      shape       100 000     <i4, items of 4 bytes
      chunks      2 of 65 536 rows (256.0 KiB), last 34 464
      size        390.6 KiB -> 1.7 KiB  232x
      pipeline    shuffle -> lz4 level 5 (first chunk, blocks of 256.0 KiB)
      files       2.0 KiB     dead 0 B
    --- stderr
    ");
    dir.b2("convert -f --dtype i4 -C zstd -9 --filter bitshuffle --chunks 1000 x.i32 x.bcolz").ok();
    snapshot!(dir.b2("info x.bcolz"), @r"
    exit 0
    --- stdout
    x.bcolz: bcolz array (carray, disk format 1)
      shape       100 000     <i4, items of 4 bytes
      chunks      100 of 1 000 rows (3.9 KiB)
      size        390.6 KiB -> 4.9 KiB  80.0x
      pipeline    bitshuffle -> zstd level 9 (first chunk, blocks of 3.9 KiB)
      files       8.3 KiB     dead 0 B
    --- stderr
    ");
    snapshot!(dir.b2("convert -f --dtype i4 --filter delta x.i32 x.bcolz"), @"
    exit 2
    --- stdout
    --- stderr
    b2: x.i32: bcolz has the filters shuffle, bitshuffle and none, not delta
    ");
    snapshot!(dir.b2("convert -f --dtype i4 -C ndlz x.i32 x.bcolz"), @"
    exit 2
    --- stdout
    --- stderr
    b2: x.i32: bcolz has no codec ndlz
    ");
    assert_eq!(dir.b2("convert --target blosc2-3.0 --dtype i4 x.i32 y.bcolz").code, Some(2));
}

#[test]
fn foreign_csv_is_read_or_refused() {
    let dir = Dir::new();
    for text in [
        "",
        "\n",
        "a,a\n1,2\n",
        "a,b\n1\n",
        "../x\n1\n",
        "a\n\"",
        "\u{0}\n1\n",
        "a\n\u{ff}\u{fe}\n",
    ] {
        dir.write("x.csv", text);
        let run = dir.b2("convert -f x.csv x.bcolz");
        assert!(
            matches!(run.code, Some(0..=2)) && !run.stderr.contains("panicked"),
            "{text:?} {run:?}"
        );
    }
    dir.write("x.csv", b"a,b\n\xff,\xfe\n");
    dir.b2("convert -f x.csv x.bcolz");
    assert_eq!(dir.names().len(), dir.names().iter().filter(|name| name.starts_with("x.")).count());
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_parquet_the_feature_is_named() {
    let dir = with(&["ct_basic"]);
    snapshot!(dir.b2("convert ct_basic x.parquet"), @r"
    exit 4
    --- stdout
    --- stderr
    b2: ct_basic: this build reads and writes no Parquet: it was made without the feature `parquet`
    hint: cargo install --path crates/b2-cli --features parquet
    ");
    dir.write("x.parquet", "PAR1 and what follows");
    snapshot!(dir.b2("convert x.parquet y.bcolz"), @r"
    exit 4
    --- stdout
    --- stderr
    b2: x.parquet: this build reads and writes no Parquet: it was made without the feature `parquet`
    hint: cargo install --path crates/b2-cli --features parquet
    ");
    assert_eq!(dir.names(), ["ct_basic", "x.parquet"]);
}

#[cfg(feature = "parquet")]
#[test]
fn tables_go_to_parquet_and_come_back() {
    let dir = with(&["ct_basic", "ct_attrs", "ct_object_column", "ct_2d_column"]);
    for table in ["ct_basic", "ct_attrs", "ct_2d_column"] {
        dir.b2(&format!("convert -f {table} x.parquet")).ok();
        dir.b2("convert -f x.parquet x.bcolz").ok();
        for command in ["cat", "show --json", "meta get"] {
            let of = |name: &str| dir.b2(&format!("{command} {name}")).ok().stdout;
            assert_eq!(of("x.bcolz"), of(table), "{command} {table}");
        }
    }
    dir.write("rows.csv", ROWS);
    dir.b2("convert rows.csv rows.parquet").ok();
    dir.b2("convert rows.parquet back.csv").ok();
    assert_eq!(String::from_utf8(dir.read("back.csv")).unwrap(), ROWS.replace("2,,", "2,nan,"));
    dir.write("bad.parquet", "PAR1 and what follows");
    assert_eq!(dir.b2("convert bad.parquet y.bcolz").code, Some(1));
    assert_eq!(dir.b2("convert --format parquet ct_basic::/i -o i.parquet").code, Some(2));
    assert!(!dir.path("y.bcolz").exists());
}

#[test]
fn columns_keep_their_types_and_attributes() {
    let dir = with(&["ct_basic"]);
    dir.b2("convert -C zstd -3 --chunks 7 ct_basic t.bcolz").ok();
    let first = String::from_utf8(dir.b2("show --json -n 1 t.bcolz").ok().stdout).unwrap();
    let name = first.split('"').nth(1).unwrap().to_owned();
    dir.b2(&format!("meta set t.bcolz/{name} unit=metre large=0.5")).ok();
    dir.b2("convert t.bcolz copy.bcolz --verify").ok();
    for part in ["meta/storage", "__attrs__"] {
        let read =
            |table: &str| String::from_utf8(dir.read(&format!("{table}/{name}/{part}"))).unwrap();
        assert_eq!(read("copy.bcolz"), read("t.bcolz"), "{part}");
    }
    assert!(
        String::from_utf8(dir.read(&format!("copy.bcolz/{name}/__attrs__")))
            .unwrap()
            .contains("metre")
    );
    let run = dir.b2("convert t.bcolz t.npy").ok();
    assert!(
        run.stderr.contains("no room for the attributes of columns in a .npy file"),
        "{}",
        run.stderr
    );
}
