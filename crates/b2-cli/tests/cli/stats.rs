//! `b2 stats`: statistics of values, in every format.

use crate::session::{Dir, snapshot, walk};
use crate::stores::samples;

/// An array with every kind of value.
fn mixed() -> Dir {
    let dir = Dir::new();
    let values = [0.0, 1.5, -2.0, f32::NAN, f32::INFINITY, 4.0, 0.0, 2.5];
    let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
    dir.write("v.f32", bytes).b2("c -q --dtype f4 --shape 2,4 v.f32").ok();
    dir
}

#[test]
fn values_of_an_array() {
    let dir = mixed();
    snapshot!(dir.b2("stats v.f32.b2nd"), @"
    exit 0
    --- stdout
    v.f32.b2nd: 8 items of <f4, 2 x 4
      column  type   min  max  mean       std  nan  inf  zeros
      -       <f4   -2.0  inf     1  1.936492    1    1      2
    --- stderr
    ");
    snapshot!(dir.b2("stats --json v.f32.b2nd"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.stats/1","path":"v.f32.b2nd","format":"b2nd","dtype":"<f4","shape":[2,4],"nbytes":32,"items":8,"columns":[{"dtype":"<f4","min":-2.0,"max":"Infinity","mean":1.0,"std":1.9364916731037085,"nan":1,"inf":1,"zeros":2}]}
    --- stderr
    "#);
    // A name can give the type as well.
    snapshot!(dir.b2("stats v.f32"), @"
    exit 0
    --- stdout
    v.f32: 8 items of <f4
      column  type   min  max  mean       std  nan  inf  zeros
      -       <f4   -2.0  inf     1  1.936492    1    1      2
    --- stderr
    ");
}

#[test]
fn every_format_has_the_same_statistics() {
    let dir = Dir::new();
    dir.write("w", walk(6_000))
        .b2("c -q --dtype <i4 --shape 60,100 --format b2nd w -o w.b2nd")
        .ok();
    let numbers = |name: &str| {
        let run = dir.b2(&format!("stats --json --histogram --dtype <i4 {name}")).ok();
        run.text().split_once("\"items\"").unwrap().1.to_owned()
    };
    let expected = numbers("w");
    for output in ["w.npy", "w.blp", "w.b2frame", "w.sframe", "w.bcolz", "w.chunk"] {
        dir.b2(&format!("convert -q w.b2nd -o {output}")).ok();
        assert_eq!(numbers(output), expected, "{output}");
    }
    let piped = dir.b2_with("stats --json --histogram", &dir.read("w.b2nd")).ok();
    assert!(piped.text().ends_with(&expected), "{}", piped.text());
}

#[test]
fn histogram_counts_steps() {
    let dir = Dir::new();
    let items: Vec<u8> = (0..100u16).flat_map(|n| (n * n).to_le_bytes()).collect();
    dir.write("n.u16", items).b2("c -q n.u16").ok();
    snapshot!(dir.b2("stats --histogram=4 n.u16.b2frame"), @"
    exit 0
    --- stdout
    n.u16.b2frame: 100 items of <u2
      column  type  min   max    mean        std  nan  inf  zeros
      -       <u2     0  9801  3283.5  2953.2966    0    0      1
            0  50  ########################################
      2450.25  21  ################
       4900.5  15  ############
      7350.75  14  ###########
    --- stderr
    ");
}

#[test]
fn columns_are_described_one_by_one() {
    let dir = Dir::new();
    dir.write("t.csv", "id,price,name\n1,2.5,abc\n2,,de\n3,7.5,f\n");
    dir.b2("convert -q t.csv -o t.bcolz").ok();
    snapshot!(dir.b2("stats t.bcolz"), @r###"
exit 0
--- stdout
t.bcolz: 3 rows
  column  type  min  max  mean       std  nan  inf  zeros
  id      <i8     1    3     2  0.816497    0    0      0
  price   <f8   2.5  7.5     5       2.5    1    0      0
  name    <U3     -    -     -         -    0    0      0
--- stderr
"###);
    snapshot!(dir.b2("stats --columns price,nothing t.bcolz"), @r#"
    exit 2
    --- stdout
    --- stderr
    b2: t.bcolz: no column has the name "nothing"; there are id, price, name
    "#);
    let day = |n: i64| n.to_le_bytes();
    dir.write("days", [day(0), day(i64::MIN), day(19_000)].concat());
    snapshot!(dir.b2("stats --dtype <M8[D] days"), @"
    exit 0
    --- stdout
    days: 3 items of <M8[D]
      column  type           min         max  mean  std  nan  inf  zeros
      -       <M8[D]  1970-01-01  2022-01-08     -    -    1    0      1
    --- stderr
    ");
}

#[test]
fn wrong_use_is_told() {
    let dir = mixed();
    snapshot!(dir.b2("stats --dtype <u8 --columns a v.f32.b2nd"), @"
    exit 2
    --- stdout
    --- stderr
    b2: v.f32.b2nd: not a table: --where, --skip and --columns do not apply
    ");
    dir.write("odd", "12345");
    snapshot!(dir.b2("stats --dtype f4 odd"), @r###"
exit 1
--- stdout
--- stderr
b2: odd: the content has 5 bytes, which is no multiple of 4: an item or a row would be cut
hint: a frame of bytes may end anywhere: `b2 cat odd | b2 c -t 1 -o NEW`
"###);
    assert_eq!(dir.b2("stats --histogram=0 v.f32").code, Some(2));
}

#[test]
fn columns_of_a_table_and_its_nulls() {
    let dir = samples(&["table-basic.b2z", "table-nulls-mask.b2d", "tree-with-table.b2z"]);
    snapshot!(dir.b2("stats --columns id,t,a,u table-basic.b2z"), @"
    exit 0
    --- stdout
    table-basic.b2z: 5 rows
      column  type                         min                      max  mean       std  nan  inf  zeros  nulls
      id      <i8                            0                        5   2.8  1.720465    0    0      1      0
      t       <M8[ms]  2020-01-01T00:00:00.000  2020-01-06T00:00:00.000     -         -    0    0      0      0
      a       <f4                          0.0                      5.0   2.8  1.720465    0    0      4      0
      u       utf8                           -                        -     -         -    0    0      0      0
    --- stderr
    ");
    snapshot!(dir.b2("stats --json --columns u,i table-nulls-mask.b2d"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.stats/1","path":"table-nulls-mask.b2d","format":"ctable","dtype":"table","nbytes":30,"items":3,"columns":[{"name":"u","dtype":"utf8","nulls":1,"nan":0,"inf":0,"zeros":0},{"name":"i","dtype":"|i1","min":-128,"max":127,"mean":-0.5,"std":127.5,"nulls":1,"nan":0,"inf":0,"zeros":0}]}
    --- stderr
    "#);
    snapshot!(dir.b2("stats --columns k,i --histogram=2 table-nulls-mask.b2d"), @"
    exit 0
    --- stdout
    table-nulls-mask.b2d: 3 rows
      column  type   min  max  mean       std  nan  inf  zeros  nulls
      k       <i4      1    3     2  0.816497    0    0      0      0
      i       |i1   -128  127  -0.5     127.5    0    0      0      1
      k
      1  1  ####################
      2  2  ########################################
      i
      -128  1  ########################################
      -0.5  1  ########################################
    --- stderr
    ");
    let run = dir.b2("stats tree-with-table.b2z").ok();
    let inputs = ["tree-with-table.b2z::/g/tab: 5 rows", "tree-with-table.b2z::/arr: 3 items"];
    assert!(inputs.iter().all(|input| run.text().contains(input)), "{}", run.text());
    assert!(!run.text().contains("_cols"), "{}", run.text());
    assert_ne!(dir.b2("stats --columns nope table-basic.b2z").code, Some(0));
}

#[test]
fn blank_arrays_of_any_size_are_looked_at_without_decoding() {
    use b2frame::{NdParams, NdWriter, nd::Fill};
    let dir = Dir::new();
    // 36 GiB, with 9 incomplete chunks, of which one holds data.
    let (rows, cols) = (70_000, 70_001);
    let array = |name: &str, fill: Fill| {
        let params = NdParams::new(&[rows, cols], "<f8".parse().unwrap());
        let params = params.chunkshape(&[4096, 4096]).blockshape(&[256, 256]).fill(fill);
        NdWriter::create(dir.path(name), &params).unwrap()
    };
    drop(array("zeros.b2nd", Fill::Zeros).finish().unwrap());
    drop(array("nan.b2nd", Fill::Nans).finish().unwrap());
    let mut sevens = array("sevens.b2nd", Fill::Value(7_f64.to_le_bytes().to_vec()));
    sevens.write_bytes(b2frame::nd::Selection::from((3, 70_000)), &1_f64.to_le_bytes()).unwrap();
    drop(sevens.finish().unwrap());
    let stats = |name: &str| {
        let run = dir.b2(&format!("stats --json --histogram=2 {name}")).ok();
        let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        report["columns"][0].clone()
    };
    let nitems = rows * cols;
    let zeros = stats("zeros.b2nd");
    assert_eq!((&zeros["zeros"], &zeros["max"]), (&nitems.into(), &0.0.into()), "{zeros}");
    assert_eq!(zeros["histogram"]["counts"], serde_json::json!([0, nitems]), "{zeros}");
    let nan = stats("nan.b2nd");
    assert_eq!((&nan["nan"], nan.get("min")), (&nitems.into(), None), "{nan}");
    let sevens = stats("sevens.b2nd");
    assert_eq!((&sevens["min"], &sevens["max"]), (&1.0.into(), &7.0.into()), "{sevens}");
    assert_eq!(sevens["histogram"]["counts"], serde_json::json!([1, nitems - 1]), "{sevens}");
    // A command that must produce all values names the option that allows it.
    for line in ["sum zeros.b2nd", "diff zeros.b2nd nan.b2nd", "plot zeros.b2nd"] {
        let run = dir.b2(line);
        assert_eq!(run.code, Some(5), "{line}: {}", run.stderr);
        assert!(run.stderr.contains("hint: if this is meant, --max-ratio "), "{}", run.stderr);
    }
}
