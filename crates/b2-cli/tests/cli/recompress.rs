//! `b2 recompress`: the same object with another codec.

use crate::session::{Dir, snapshot, walk};

/// An array with metadata in every format.
fn formats() -> (Dir, Vec<&'static str>) {
    let dir = Dir::new();
    dir.write("w", walk(60_000));
    dir.b2("c -q --fast --dtype <i4 --shape 600,100 --vlmeta unit=K w -o w.b2nd").ok();
    let outputs = vec!["w.blp", "w.b2frame", "w.sframe", "w.bcolz", "w.chunk"];
    for output in &outputs {
        dir.b2(&format!("convert -q w.b2nd -o {output}")).ok();
    }
    (dir, [vec!["w.b2nd"], outputs].concat())
}

#[test]
fn every_format_is_recompressed_in_place() {
    let (dir, names) = formats();
    for name in names {
        let before = dir.b2(&format!("info --json {name}")).ok().text().to_owned();
        dir.b2(&format!("recompress -q -C zlib -9 {name}")).ok();
        let after = dir.b2(&format!("info --json {name}")).ok().text().to_owned();
        let format = |text: &str| text.split("\"format\":").nth(1).unwrap()[..12].to_owned();
        assert_eq!(format(&before), format(&after));
        assert!(after.contains("zlib"), "{name}: {after}");
        assert_eq!(
            dir.b2(&format!("diff --values {name} w")).text(),
            "equal: 60 000 items\n",
            "{name}"
        );
        dir.b2(&format!("verify -q {name}")).ok();
    }
    let names = dir.names();
    assert!(names.iter().all(|name| !name.contains("b2tmp")), "{names:?}");
}

#[test]
fn metadata_and_shape_stay() {
    let (dir, _) = formats();
    dir.b2("recompress -q --filter bitshuffle -C lz4 w.b2nd -o new.b2nd").ok();
    dir.b2("diff w.b2nd new.b2nd").ok();
    assert_eq!(
        dir.b2("meta get new.b2nd unit").ok().text(),
        dir.b2("meta get w.b2nd unit").ok().text()
    );
    dir.b2("recompress -q --chunks 50,100 new.b2nd").ok();
    assert!(dir.b2("info --json new.b2nd").ok().text().contains(r#""chunkshape":[50,100]"#));
    dir.b2("diff w.b2nd new.b2nd").ok();
}

#[test]
fn refused_objects_stay_unchanged() {
    let (dir, _) = formats();
    snapshot!(dir.b2("recompress w.b2nd"), @"
    exit 2
    --- stdout
    --- stderr
    b2: no option says how to compress
    hint: as in `b2 recompress -C zstd -9 FILE`; `b2 tune FILE` finds what is good
    ");
    dir.write("two", [dir.read("w.b2frame"), dir.read("w.b2frame")].concat());
    snapshot!(dir.b2("recompress -9 two two#0 w"), @"
    exit 2
    --- stdout
    --- stderr
    b2: two: a part of a file, or several objects, which cannot be replaced in place
    hint: use -o to write a new file of one object
    b2: two#0: a part of a file, or several objects, which cannot be replaced in place
    hint: use -o to write a new file of one object
    b2: w: not a Blosc file (starts with f0 ff 0f 00)
    ");
    snapshot!(dir.b2("recompress -9 --filter trunc:10 w.b2nd"), @"
    exit 2
    --- stdout
    --- stderr
    b2: w.b2nd: the filter trunc_prec:10 loses data, and conversions do not
    hint: use `b2 cat` and `b2 compress --lossy`
    ");
    snapshot!(dir.b2("recompress -9 w.b2nd -o w.blp"), @"
    exit 3
    --- stdout
    --- stderr
    b2: w.blp: file exists
    hint: use -f to overwrite, or -o to choose another name
    ");
    let mut frame = dir.read("w.b2frame");
    frame[200..260].fill(0xa5);
    dir.write("bad", &frame);
    let run = dir.b2("recompress -9 bad");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(dir.read("bad"), frame);
    assert_eq!(dir.b2_with("recompress -9", &dir.read("w.b2nd")).code, Some(2));
}

#[test]
fn the_document_has_sizes() {
    let (dir, _) = formats();
    let run = dir.b2("recompress --json --best w.b2frame").ok();
    for key in ["\"schema\":\"b2.recompress/1\"", "\"format\":\"b2nd\"", "\"nbytes\":240000"] {
        assert!(run.text().contains(key), "{}", run.text());
    }
}

#[test]
fn columns_of_python_objects_are_copied_as_they_are() {
    let dir = Dir::new();
    crate::bcolz::copy(&blosc_testdata::fixture::path("bcolz/ct_object_column"), &dir.path("o"));
    let columns = dir.b2("list --tree o").ok().stdout;
    let plain = dir.b2("show --json o").ok();
    let objects = dir.b2("show --json o/o").ok();
    for line in ["recompress -C zstd -9 o -o new", "recompress -C zstd -9 o"] {
        let run = dir.b2(line).ok();
        assert!(run.stderr.contains("column \"o\" holds Python objects"), "{line}");
    }
    for table in ["o", "new"] {
        let name_of = |bytes: &[u8]| String::from_utf8_lossy(bytes).replacen(table, "o", 1);
        assert_eq!(
            name_of(&dir.b2(&format!("list --tree {table}")).ok().stdout),
            name_of(&columns)
        );
        assert_eq!(dir.b2(&format!("show --json {table}")).ok().stdout, plain.stdout);
        let found = dir.b2(&format!("show --json {table}/o")).ok().stdout;
        assert_eq!(name_of(&found), name_of(&objects.stdout), "{table}");
        dir.b2(&format!("verify {table}")).ok();
    }
}

/// The checksums of a store that is written anew are those that were requested.
#[test]
fn a_new_store_has_the_checksums_that_were_requested() {
    let dir = Dir::new();
    dir.write("w", walk(3_000)).write("none", "");
    dir.b2("c -q --dtype <i4 w -o w.b2nd").ok();
    for (input, key) in [("w.b2nd", "a"), ("w.b2nd", "g/b"), ("none.b2nd", "none")] {
        if input == "none.b2nd" {
            dir.b2("convert -q --slice 0:0 w.b2nd none.b2nd").ok();
        }
        dir.b2(&format!("convert -q {input} s.b2z::/{key}")).ok();
    }
    let kinds = |store: &str| {
        ["a", "g/b", "none"].map(|key| {
            let info = dir.b2(&format!("info {store}::/{key}")).ok().text().to_owned();
            let line = info.lines().find_map(|line| line.trim().strip_prefix("checksums"));
            line.unwrap_or_default().trim().to_owned()
        })
    };
    assert_eq!(kinds("s.b2z"), ["xxh3"; 3]);
    for (line, output) in [
        ("convert --checksum none s.b2z c.b2z", "c.b2z"),
        ("convert --checksum none s.b2z c.b2d", "c.b2d"),
        ("recompress --checksum none s.b2z -o r.b2z", "r.b2z"),
    ] {
        let run = dir.b2(line).ok();
        assert_eq!(kinds(output), ["none"; 3], "{line}");
        assert!(!run.stderr.contains("0 B"), "{line}: {}", run.stderr);
        assert_eq!(dir.b2(&format!("diff s.b2z {output}")).code, Some(0), "{line}");
    }
    let run = dir.b2("recompress --json --checksum none s.b2z -o j.b2z").ok();
    let done: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    for key in ["nbytes", "file_bytes", "output_bytes"] {
        assert!(done[key].as_u64().unwrap() >= 6_000, "{key}: {done}");
    }
}
