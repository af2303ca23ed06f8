//! `b2 scan`: finds objects inside of other files.

use crate::session::{Dir, snapshot, walk};

/// A file of another format with two frames and two chunks in it.
fn container() -> (Dir, Vec<usize>) {
    let dir = Dir::new();
    dir.write("a", walk(3_000)).write("b", walk(500)).write("junk", "no data at all ".repeat(500));
    dir.b2("c -q --dtype <i4 --shape 30,100 --format b2nd a").ok();
    dir.b2("c -q -t 4 --format chunk a b").ok();
    dir.b2("c -q -t 4 b").ok();
    let (mut whole, mut offsets) = (b"\x89HDF\r\n\x1a\n".to_vec(), vec![]);
    for part in ["a.b2nd", "a.chunk", "b.b2frame", "b.chunk"] {
        whole.extend(dir.read("junk"));
        offsets.push(whole.len());
        whole.extend(dir.read(part));
    }
    whole.extend([0; 700]);
    dir.write("x.h5", whole);
    (dir, offsets)
}

#[test]
fn everything_found_can_be_opened() {
    let (dir, offsets) = container();
    let run = dir.b2("scan x.h5").ok();
    let first = |line: &str| line.split_whitespace().next().unwrap().parse::<usize>().unwrap();
    assert_eq!(run.text().lines().map(first).collect::<Vec<_>>(), offsets, "{}", run.text());
    for (offset, name) in offsets.iter().zip(["a", "a", "b", "b"]) {
        let found = dir.b2(&format!("cat x.h5@{offset}")).ok();
        assert_eq!(found.stdout, dir.read(name), "{offset}");
    }
    let piped = dir.b2_with("scan", &dir.read("x.h5")).ok();
    assert_eq!(piped.text(), run.text());
}

#[test]
fn kinds_lengths_and_content_are_told() {
    let (dir, _) = container();
    snapshot!(dir.b2("scan x.h5"), @r"
    exit 0
    --- stdout
            7508        3596  b2nd     zstd     <i4 30 x 100
           18604        3282  chunk    zstd     12000 bytes in items of 4
           29386         876  b2frame  zstd     2000 bytes in items of 4
           37762         630  chunk    zstd     2000 bytes in items of 4
    --- stderr
    ");
    snapshot!(dir.b2("scan --json --frames x.h5"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.scan/1","path":"x.h5","file_bytes":39092,"objects":[{"offset":7508,"cbytes":3596,"format":"b2nd","nbytes":12000,"typesize":4,"codec":"zstd","dtype":"<i4","shape":[30,100]},{"offset":29386,"cbytes":876,"format":"b2frame","nbytes":2000,"typesize":4,"codec":"zstd"}]}
    --- stderr
    "#);
}

#[test]
fn objects_across_windows_are_found() {
    let (dir, _) = container();
    let chunk = dir.read("b.chunk");
    for before in [(1 << 20) - 1, (1 << 20) - 32, (1 << 20) - 31, (1 << 20) - 8, 1 << 20] {
        let whole = [vec![0xee; before], chunk.clone(), vec![0xee; 10], chunk.clone()].concat();
        dir.write("w", whole);
        let run = dir.b2("scan w").ok();
        let expected = [before, before + chunk.len() + 10];
        for (line, offset) in run.text().lines().zip(expected) {
            assert!(line.trim_start().starts_with(&format!("{offset} ")), "{before}: {line}");
        }
        assert_eq!(run.text().lines().count(), 2, "{before}");
    }
}

#[test]
fn nothing_found_is_exit_code_1() {
    let dir = Dir::new();
    dir.write("text", "plain text\n".repeat(9_000)).write("empty", "");
    snapshot!(dir.b2("scan text empty"), @"
    exit 1
    --- stdout
    --- stderr
    b2: text: no frame and no chunk was found
    b2: empty: no frame and no chunk was found
    ");
    dir.write("cut", "\u{9e}").b2("c -q text").ok();
    let frame = dir.read("text.b2frame");
    dir.write("cut", &frame[..frame.len() / 2]);
    assert_eq!(dir.b2("scan --frames cut").code, Some(1));
}
