//! `show`: items as values, and only the selected part.

use crate::session::{Dir, Run, snapshot, walk};

/// The numbers 0 to 1199, as `<i2`, in an array of 30 x 40.
fn counted() -> Dir {
    let dir = Dir::new();
    let items: Vec<u8> = (0..1200u16).flat_map(u16::to_le_bytes).collect();
    dir.write("n.i16", items);
    dir.b2("c -q --shape 30,40 --dtype i2 --chunks 7,9 --blocks 3,4 n.i16").ok();
    dir.b2("c -q -t 2 n.i16").ok();
    dir
}

#[test]
fn parts_of_arrays_are_those_of_numpy() {
    let dir = counted();
    snapshot!(dir.b2("show n.i16.b2nd"), @r"
    exit 0
    --- stdout
    [[   0    1    2 ...   37   38   39]
     [  40   41   42 ...   77   78   79]
     [  80   81   82 ...  117  118  119]
     ...
     [1080 1081 1082 ... 1117 1118 1119]
     [1120 1121 1122 ... 1157 1158 1159]
     [1160 1161 1162 ... 1197 1198 1199]]
    --- stderr
    ");
    snapshot!(dir.b2("show --slice 2:4,::-13 n.i16.b2nd"), @r"
    exit 0
    --- stdout
    [[119 106  93  80]
     [159 146 133 120]]
    --- stderr
    ");
    snapshot!(dir.b2("show --slice=-1,-1 n.i16.b2nd"), @r"
    exit 0
    --- stdout
    1199
    --- stderr
    ");
    snapshot!(dir.b2("show --slice 0:2,5:2 n.i16.b2nd"), @r"
    exit 0
    --- stdout
    [[]
     []]
    --- stderr
    ");
    snapshot!(dir.b2("head -n 1 --json n.i16.b2nd"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.show/1","path":"n.i16.b2nd","dtype":"<i2","shape":[1,40],"values":[[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39]]}
    --- stderr
    "#);
    let csv = dir.b2("show --csv n.i16.b2nd").ok();
    assert_eq!(csv.text().lines().count(), 31);
    assert!(csv.text().lines().nth(30).unwrap().ends_with(",1198,1199"));
}

#[test]
fn items_without_a_type_are_bytes() {
    let dir = counted();
    snapshot!(dir.b2("show --slice 0:3 n.i16.b2frame"), @r###"
exit 0
--- stdout
[0000 0100 0200]
--- stderr
n.i16.b2frame: bytes without a type: --dtype gives one, `b2 cat` writes them
"###);
    snapshot!(dir.b2("show --dtype u2 n.i16.b2frame"), @r"
    exit 0
    --- stdout
    [   0    1    2 ... 1197 1198 1199]
    --- stderr
    ");
    snapshot!(dir.b2("show --dtype u2 --slice=-2: n.i16.b2frame"), @r"
    exit 0
    --- stdout
    [1198 1199]
    --- stderr
    ");
    snapshot!(dir.b2("show --dtype u2 --slice 7 n.i16.b2frame"), @r"
    exit 0
    --- stdout
    [7]
    --- stderr
    ");
    dir.b2("c -q --format chunk n.i16").ok();
    snapshot!(dir.b2("show --dtype <u4 -n 2 n.i16.chunk"), @r"
    exit 0
    --- stdout
    [ 65536 196610]
    --- stderr
    ");
    snapshot!(dir.b2("show --csv -n 1 --dtype [('a','<u2'),('b','<u2')] n.i16.chunk"), @r"
    exit 0
    --- stdout
    a,b
    0,1
    --- stderr
    ");
}

#[test]
fn items_that_cannot_be_shown_are_errors() {
    let dir = counted();
    snapshot!(dir.b2("show --slice 30 n.i16.b2nd"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: n.i16.b2nd: index 30 in dimension 0, which has 30 items
    ");
    snapshot!(dir.b2("show --slice 0,0,0 n.i16.b2nd"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: n.i16.b2nd: number of dimensions: 3 given, 2 in the array
    ");
    snapshot!(dir.b2("show --slice 0:9:2 n.i16.b2frame"), @r###"
exit 2
--- stdout
--- stderr
n.i16.b2frame: bytes without a type: --dtype gives one, `b2 cat` writes them
b2: n.i16.b2frame: not an array: --slice takes one index, or one range without a step
"###);
    snapshot!(dir.b2("show --dtype f8 n.i16.b2nd"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: n.i16.b2nd: an item of the type <f8 has 8 bytes, the items of the array have 2
    ");
    for line in ["show --slice 1:2:0 n.i16.b2nd", "show --slice x n.i16.b2nd"] {
        assert_eq!(dir.b2(line).code, Some(2), "{line}");
    }
    dir.write("w.i32", walk(400_000)).b2("c -q --shape 400000 --dtype i4 w.i32").ok();
    let run = dir.b2("show -M 24M --csv w.i32.b2nd").ok();
    assert_eq!(run.text().lines().count(), 400_001);
    dir.b2("show -M 8M w.i32.b2nd").ok();
}

#[test]
fn slices_may_leave_out_dimensions_in_the_middle() {
    let dir = Dir::new();
    dir.write("x", walk(24)).b2("c -q --dtype i4 --shape 2,3,4 x -o x.b2nd").ok();
    let shown =
        |slice: &str| dir.b2(&format!("show x.b2nd --slice={slice}")).ok().text().to_owned();
    assert_eq!(shown("...,1"), shown(":,:,1"));
    assert_eq!(shown("0,...,1"), shown("0,:,1"));
    assert_eq!(shown("1,"), shown("1"));
    assert_eq!(
        dir.b2("cat --slice=...,1 x.b2nd").ok().stdout,
        dir.b2("cat --slice=:,:,1 x.b2nd").ok().stdout
    );
    assert_eq!(dir.b2("show x.b2nd --slice=0,0,...,0,0").code, Some(2));
}

#[test]
fn a_time_is_compared_with_a_time_in_every_format() {
    let dir = Dir::new();
    dir.write("t.csv", "time,n\n2015-01-05T09:33:28,1\n2016-01-01T00:41:20,2\n");
    for name in ["t.npy", "t.b2nd", "t.blp", "t.bcolz", "t.b2z", "t.b2d"] {
        dir.b2(&format!("convert -q t.csv {name}")).ok();
    }
    for name in ["t.csv", "t.npy", "t.b2nd", "t.blp", "t.bcolz", "t.b2z", "t.b2d"] {
        let is_table = !["t.csv", "t.b2nd", "t.blp"].contains(&name);
        let converts = is_table.then_some("convert --format csv -c");
        for command in converts.into_iter().chain(["show"]) {
            let run = |condition: &str| {
                let mut line = dir.command(&format!("{command} {name}"));
                Run::of(line.args(["--where", condition]).output().unwrap())
            };
            let found = run("time >= \"2016-01-01\"").ok();
            assert!(found.text().contains("2016-01-01T00:41:20"), "{command} {name}");
            assert!(!found.text().contains("2015"), "{command} {name}");
            for condition in
                ["time >= 2016-01-01", "n > 0 and 0 < time", "time + 1 > 2", "time == n"]
            {
                let refused = run(condition);
                assert_eq!((refused.code, refused.text()), (Some(2), ""), "{command} {name}");
                let told = "a time is compared with text: \"2016-01-01\"";
                assert!(refused.stderr.contains(told), "{command} {name}: {}", refused.stderr);
            }
        }
    }
}
