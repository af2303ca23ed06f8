//! `b2 extract`, `b2 split` and `b2 join` copy bytes unchanged.

use crate::session::{Dir, snapshot, walk};

/// Two frames and a file with both.
fn sequence() -> Dir {
    let dir = Dir::new();
    dir.write("a", walk(3_000)).write("b", walk(500));
    dir.b2("c -q --dtype <i4 --shape 30,100 --vlmeta unit=K --format b2nd a").ok();
    dir.b2("c -q -t 4 b").ok();
    dir.write("both", [dir.read("a.b2nd"), dir.read("b.b2frame")].concat());
    dir
}

#[test]
fn split_and_join_are_inverse() {
    let dir = sequence();
    snapshot!(dir.b2("split both"), @"
    exit 0
    --- stdout
    --- stderr
    both -> both.0000.b2nd   3.6 KiB
    both -> both.0001.b2frame   876 B
    ");
    assert_eq!(dir.read("both.0000.b2nd"), dir.read("a.b2nd"));
    assert_eq!(dir.read("both.0001.b2frame"), dir.read("b.b2frame"));
    dir.b2("join -q both.0000.b2nd both.0001.b2frame -o joined").ok();
    assert_eq!(dir.read("joined"), dir.read("both"));
    let piped = dir.b2("join both both#0 -o -").ok();
    assert_eq!(piped.stdout, [dir.read("both"), dir.read("a.b2nd")].concat());
    let run = dir.b2_with("split --json --output-dir parts", &dir.read("both"));
    assert_eq!(run.code, Some(2));
    let run = dir.b2_with("split --json --output-dir parts -", &dir.read("both")).ok();
    assert!(run.text().contains("\"schema\":\"b2.split/1\""), "{}", run.text());
    assert_eq!(dir.read("parts/stdin.0001.b2frame"), dir.read("b.b2frame"));
}

#[test]
fn extracted_objects_are_as_they_were() {
    let dir = sequence();
    let offset = dir.read("a.b2nd").len();
    dir.b2(&format!("extract -q both@{offset} -o b2")).ok();
    assert_eq!(dir.read("b2"), dir.read("b.b2frame"));
    dir.b2("extract -q both#0 -o a2").ok();
    assert_eq!(dir.read("a2"), dir.read("a.b2nd"));
    snapshot!(dir.b2("extract both -o c"), @"
    exit 2
    --- stdout
    --- stderr
    b2: both: more than one frame
    hint: both#N names one of them; `b2 split` makes a file of each
    ");
    snapshot!(dir.b2("extract a2 -o b2"), @"
    exit 3
    --- stdout
    --- stderr
    b2: b2: file exists
    hint: use -f to overwrite, or -o to choose another name
    ");
    snapshot!(dir.b2("extract a2 -f -o a2"), @"
    exit 2
    --- stdout
    --- stderr
    b2: a2: is the input itself
    hint: use -o to choose another name
    ");
}

#[test]
fn chunks_stand_alone() {
    let dir = Dir::new();
    let data = [walk(10_000), vec![0; 40_000], walk(10_000)].concat();
    dir.write("d", &data).b2("c -q -t 4 -z 40000 --filter shuffle,bytedelta d").ok();
    dir.b2("convert -q d.b2frame -o d.blp").ok();
    for name in ["d.b2frame", "d.blp"] {
        for nchunk in 0..3 {
            dir.b2(&format!("extract -q -f --chunk {nchunk} {name} -o n.chunk")).ok();
            let found = dir.b2("cat n.chunk").ok();
            assert_eq!(found.stdout, data[nchunk * 40_000..][..40_000], "{name} {nchunk}");
        }
    }
    snapshot!(dir.b2("extract --chunk 3 d.b2frame -o x"), @"
    exit 2
    --- stdout
    --- stderr
    b2: d.b2frame: no chunk 3, there are 3
    hint: `b2 info -vv d.b2frame` lists the chunks
    ");
    snapshot!(dir.b2("join d.blp -o x"), @"
    exit 2
    --- stdout
    --- stderr
    b2: d.blp: not a frame: only frames can be joined
    hint: `b2 convert --format b2frame` makes a frame of it
    ");
    assert!(!dir.path("x").exists());
}
