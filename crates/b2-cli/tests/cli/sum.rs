//! `b2 sum`: equal content has equal sums, whatever the format.

use crate::session::{Dir, snapshot, walk};

/// The sum of one input, without its name.
fn digits(dir: &Dir, line: &str) -> String {
    dir.b2(line).ok().text().split("  ").next().unwrap().to_owned()
}

#[test]
fn sum_of_bytes_is_that_of_sha256sum() {
    let dir = Dir::new();
    dir.write("abc", "abc").b2("c -q abc").ok();
    snapshot!(dir.b2("sum abc.b2frame abc"), @"
    exit 0
    --- stdout
    ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc.b2frame
    ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc
    --- stderr
    ");
    snapshot!(dir.b2("sum -a xxh3 --json abc.b2frame"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.sum/1","path":"abc.b2frame","format":"b2frame","algorithm":"xxh3","nbytes":3,"sum":"78af5f94892f3950"}
    --- stderr
    "#);
    let piped = dir.b2_with("sum", &dir.read("abc.b2frame")).ok();
    assert!(piped.text().starts_with("ba7816bf") && piped.text().ends_with("  stdin\n"));
}

#[test]
fn every_format_of_an_array_has_the_same_sum() {
    let dir = Dir::new();
    dir.write("raw", walk(6_000));
    dir.b2("c -q --dtype <i4 --shape 60,100 --format b2nd raw -o a.b2nd").ok();
    for format in ["npy", "blp", "b2frame", "sframe", "carray", "chunk"] {
        dir.b2(&format!("convert -q --format {format} a.b2nd -o a.{format}")).ok();
    }
    let expected = digits(&dir, "sum raw");
    for name in ["a.b2nd", "a.npy", "a.blp", "a.sframe", "a.carray", "a.chunk", "a.b2frame"] {
        assert_eq!(digits(&dir, &format!("sum {name}")), expected, "{name}");
    }
}

#[test]
fn frames_one_after_the_other_are_one_content() {
    let dir = Dir::new();
    let data = walk(2_000);
    dir.write("whole", &data);
    dir.write("a", &data[..3_000]).write("b", &data[3_000..]).b2("c -q a b").ok();
    dir.write("both", [dir.read("a.b2frame"), dir.read("b.b2frame")].concat());
    assert_eq!(digits(&dir, "sum both"), digits(&dir, "sum whole"));
    assert_eq!(digits(&dir, "sum both#1"), digits(&dir, "sum b"));
}

#[test]
fn lists_are_checked() {
    let dir = Dir::new();
    dir.write("a", walk(100)).write("b", walk(200)).b2("c -q a b").ok();
    let list = dir.b2("sum a.b2frame b.b2frame").ok().stdout;
    dir.write("list", &list);
    snapshot!(dir.b2("sum --check list"), @"
    exit 0
    --- stdout
    a.b2frame: OK
    b.b2frame: OK
    --- stderr
    ");
    dir.write("b", walk(300)).b2("c -q -f b").ok();
    snapshot!(dir.b2("sum --check list"), @"
    exit 1
    --- stdout
    a.b2frame: OK
    b.b2frame: FAILED
    --- stderr
    b2: list: sums that differ from the list: 1
    ");
    let run = dir.b2_with("sum -c --json", &list);
    assert_eq!(run.code, Some(1));
    assert!(run.text().lines().nth(1).unwrap().contains(r#""ok":false"#), "{}", run.text());
    dir.write("list", "no sum\n");
    snapshot!(dir.b2("sum --check list missing"), @"
    exit 2
    --- stdout
    --- stderr
    b2: list: line 1 is not in the form of `b2 sum`
    hint: a line is the sum, two spaces and the name
    b2: missing: no such file or directory
    ");
}

#[test]
fn damage_has_no_sum() {
    let dir = Dir::new();
    dir.write("a", walk(9_000)).b2("c -q --checksum none a").ok();
    let mut frame = dir.read("a.b2frame");
    frame[120..170].fill(0xa5);
    dir.write("a.b2frame", frame);
    let run = dir.b2("sum a.b2frame");
    assert_eq!((run.code, run.text()), (Some(1), ""), "{}", run.stderr);
}

#[test]
fn values_of_a_store_are_named() {
    let dir = crate::stores::samples(&["tree-basic.b2z"]);
    let run = dir.b2("sum tree-basic.b2z").ok();
    let line = run.text().lines().find(|line| line.ends_with("::/a")).unwrap();
    assert!(dir.b2("sum tree-basic.b2z::/a").ok().text().trim() == line, "{}", run.text());
}

#[test]
fn a_group_has_a_sum_for_each_array_and_a_list_that_names_its_file_one_of_its_bytes() {
    let dir = Dir::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/called/two-arrays.npz");
    std::fs::copy(sample, dir.path("two.npz")).unwrap();
    for name in ["a", "b"] {
        dir.b2(&format!("convert -q two.npz::/{name} {name}.npy")).ok();
    }
    let expected = dir.b2("sum a.npy b.npy").ok().text().to_owned();
    let list = dir.b2("sum two.npz").ok().text().to_owned();
    assert_eq!(list.replace("two.npz::/", "").replace('\n', ".npy\n"), expected);
    dir.write("list", &list);
    assert_eq!(dir.b2("sum --check list").ok().text(), "two.npz::/a: OK\ntwo.npz::/b: OK\n");
    let piped = dir.b2_with("sum", &dir.read("two.npz")).ok();
    assert_eq!(piped.text().replace("stdin", "two.npz"), list);
    dir.write("list", format!("{}  two.npz\n", blosc_testdata::sha256_hex(&dir.read("two.npz"))));
    assert_eq!(dir.b2("sum --check list").ok().text(), "two.npz: OK\n");
}
