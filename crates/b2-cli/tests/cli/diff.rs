//! `b2 diff`: values, types, shapes and metadata of any two formats.

use crate::session::{Dir, snapshot, walk};

/// An array of 30 x 40 and the same numbers with three others.
fn two() -> Dir {
    let dir = Dir::new();
    let items: Vec<f32> = (0..1200u16).map(f32::from).collect();
    let bytes = |items: &[f32]| items.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>();
    let mut other = items.clone();
    (other[7], other[500], other[1199]) = (7.25, f32::NAN, 1200.0);
    dir.write("a", bytes(&items)).write("b", bytes(&other));
    dir.b2("c -q --dtype f4 --shape 30,40 a b --format b2nd").ok();
    dir
}

#[test]
fn equal_content_is_equal_in_every_format() {
    let dir = two();
    for output in ["a.npy", "a.blp", "a.b2frame", "a.sframe", "a.bcolz", "a.chunk", "a.raw"] {
        dir.b2(&format!("convert -q a.b2nd -o {output}")).ok();
        let run = dir.b2(&format!("diff a.b2nd {output}"));
        assert_eq!(
            (run.code, run.text()),
            (Some(0), "equal: 1 200 items\n"),
            "{output} {}",
            run.stderr
        );
    }
    let piped = dir.b2_with("diff a.npy -", &dir.read("a.b2nd"));
    assert_eq!(piped.text(), "equal: 1 200 items\n", "{}", piped.stderr);
}

#[test]
fn first_difference_and_counts_are_told() {
    let dir = two();
    snapshot!(dir.b2("diff a.b2nd b.b2nd"), @"
    exit 1
    --- stdout
    differ: 3 of 1 200 items, first at [0, 7]: 7.0 and 7.25; largest difference 1
    --- stderr
    ");
    snapshot!(dir.b2("diff --json a.b2nd b"), @r#"
    exit 1
    --- stdout
    {"schema":"b2.diff/1","path":"a.b2nd","other":"b","equal":false,"items":1200,"different":3,"first":{"index":[0,7],"values":[7.0,7.25]},"largest_difference":1.0,"surplus":0}
    --- stderr
    "#);
    snapshot!(dir.b2("diff --atol 0.5 a.b2nd b.b2nd"), @"
    exit 1
    --- stdout
    differ: 2 of 1 200 items, first at [12, 20]: 500.0 and nan; largest difference 1
    --- stderr
    ");
    snapshot!(dir.b2("diff --rtol 0.1 a.b2nd b.b2nd"), @"
    exit 1
    --- stdout
    differ: 1 of 1 200 items, first at [12, 20]: 500.0 and nan
    --- stderr
    ");
    dir.b2("diff --atol 1 b.b2nd b").ok();
}

#[test]
fn types_shapes_lengths_and_metadata_count() {
    let dir = two();
    let wide: Vec<u8> = (0..1200u16).flat_map(|n| f64::from(n).to_be_bytes()).collect();
    dir.write("w", wide).b2("c -q --dtype >f8 --format b2nd w").ok();
    snapshot!(dir.b2("diff a.b2nd w.b2nd"), @"
    exit 1
    --- stdout
    type: <f4 and >f8
    shape: [30, 40] and [1200]
    the values are equal: 1 200 items
    --- stderr
    ");
    dir.b2("diff --values a.b2nd w.b2nd").ok();
    dir.write("short", &dir.read("a")[..4_402]).b2("c -q -t 1 short").ok();
    snapshot!(dir.b2("diff a.b2nd short.b2frame"), @"
    exit 1
    --- stdout
    the values are equal: 1 100 items
    only one of them has 100 more items
    --- stderr
    ");
    dir.b2("c -q -f --dtype f4 --shape 30,40 --vlmeta unit=K a -o m.b2nd").ok();
    snapshot!(dir.b2("diff a.b2nd m.b2nd"), @"
    exit 1
    --- stdout
    metadata: unit
    the values are equal: 1 200 items
    --- stderr
    ");
    dir.b2("diff --values a.b2nd m.b2nd").ok();
}

#[test]
fn a_missing_or_damaged_side_is_named() {
    let dir = two();
    snapshot!(dir.b2("diff a.b2nd missing"), @"
    exit 3
    --- stdout
    --- stderr
    b2: missing: no such file or directory
    ");
    dir.write("d", walk(9_000)).b2("c -q --checksum none d").ok();
    let mut frame = dir.read("d.b2frame");
    frame[120..170].fill(0xa5);
    dir.write("d.b2frame", frame);
    let run = dir.b2("diff d d.b2frame");
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("d.b2frame") && run.stderr.contains("chunk 0"), "{}", run.stderr);
    assert_eq!(dir.b2("diff --rtol=-1 a b").code, Some(2));
}

#[test]
fn columns_of_tables_are_compared_by_value() {
    let dir = Dir::new();
    dir.write("a.csv", "n,x\n1,0.5\n2,nan\n3,2.5\n").write("b.csv", "n,x\n1,0.5\n2,nan\n3,2.75\n");
    dir.b2("convert -q a.csv -o a.bcolz").ok();
    dir.b2("convert -q b.csv -o b.bcolz").ok();
    snapshot!(dir.b2("diff a.bcolz b.bcolz"), @"
    exit 1
    --- stdout
    differ: 1 of 3 items, first at [2]: (3, 2.5) and (3, 2.75); largest difference 0.25
    --- stderr
    ");
    dir.b2("diff --atol 0.25 a.bcolz b.bcolz").ok();
    dir.b2("diff a.bcolz/n b.bcolz::/n").ok();
}

#[test]
fn text_is_compared_by_its_values() {
    let dir = Dir::new();
    dir.write("t.csv", "id,price,name\n1,2.5,a\n2,-0.5,bc\n");
    dir.write("other.csv", "id,price,name\n1,2.5,a\n2,-0.75,bc\n");
    for table in ["t.b2z", "t.bcolz"] {
        dir.b2(&format!("convert -q t.csv {table}")).ok();
        for line in [format!("diff t.csv {table}"), format!("diff {table} t.csv")] {
            assert_eq!(dir.b2(&line).ok().text(), "equal: 2 items\n", "{line}");
        }
        assert_eq!(dir.b2(&format!("diff other.csv {table}")).code, Some(1));
    }
    let sum = |name: &str| {
        let text = dir.b2(&format!("sum {name}")).ok().text().to_owned();
        text.split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(sum("t.b2z"), sum("t.bcolz"));
}
