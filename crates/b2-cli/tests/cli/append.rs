//! `b2 append`: frames, arrays and Bloscpack files grow in place, or stay as they are.

use std::fs;

use blosc_testdata::fixture::path;
use serde_json::{Value, json};

use crate::session::{Dir, snapshot, walk, zip};

/// A `.npy` file of `<i4` items.
fn npy(shape: &[usize], items: &[u8]) -> Vec<u8> {
    let lens: Vec<String> = shape.iter().map(|len| format!("{len}, ")).collect();
    let text =
        format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({}), }}", lens.concat());
    [b"\x93NUMPY\x01\0\x76\0".as_slice(), format!("{text:<117}\n").as_bytes(), items].concat()
}

fn info(dir: &Dir, name: &str) -> Value {
    serde_json::from_slice(&dir.b2(&format!("info --json {name}")).ok().stdout).unwrap()
}

#[test]
fn data_are_appended_to_every_format() {
    let data = walk(50_000);
    for (name, options) in [
        ("x.b2frame", "c -q -t 4 -z 16K"),
        ("x.sframe", "c -q -t 4 -z 16K"),
        ("x.blp", "c -q -t 4 -z 16K"),
    ] {
        let dir = Dir::new();
        dir.write("first", &data[..70_000])
            .write("second", &data[70_000..70_004])
            .write("third", &data[70_004..]);
        match name {
            "x.sframe" => {
                dir.b2(&format!("{options} first -o y.b2frame")).ok();
                dir.b2("convert -q y.b2frame x.sframe").ok();
            }
            _ => drop(dir.b2(&format!("{options} first -o {name}")).ok()),
        }
        let said = dir.b2(&format!("append {name} second third")).ok().stderr;
        assert_eq!(said, format!("{name}: 127.0 KiB appended, now 195.3 KiB\n"));
        assert!(dir.b2(&format!("cat {name}")).ok().stdout == data, "{name}");
        dir.b2_with(&format!("append {name}"), &data).ok();
        let run = dir.b2_with(&format!("append --json {name} -"), &data[..8]).ok();
        let report =
            json!({"schema": "b2.append/1", "path": name, "appended": 8, "nbytes": 400_008});
        assert_eq!(serde_json::from_slice::<Value>(&run.stdout).unwrap(), report);
        let expected = [&data[..], &data, &data[..8]].concat();
        assert!(dir.b2(&format!("cat {name}")).ok().stdout == expected, "{name}");
        dir.b2(&format!("verify {name}")).ok();
        // The content of other formats is appended, not the bytes of their files.
        dir.b2(&format!("append {name} {}", path("frames/tiny.b2frame").display())).ok();
        assert_eq!(info(&dir, name)["nbytes"], json!(400_008 + 148));
    }
}

#[test]
fn arrays_grow_along_a_dimension() {
    let items = walk(6000);
    let row = 60 * 4;
    for name in ["x.b2nd", "x.blp"] {
        let dir = Dir::new();
        dir.write("a.npy", npy(&[37, 60], &items[..37 * row]))
            .write("b.npy", npy(&[1, 60], &items[37 * row..38 * row]));
        dir.write("all.npy", npy(&[100, 60], &items));
        dir.b2(&format!("convert -q a.npy {name}")).ok();
        dir.b2(&format!("append -q {name} b.npy")).ok();
        dir.b2_with(&format!("append -q -M 4M {name}"), &items[38 * row..]).ok();
        assert_eq!(info(&dir, name)["shape"], json!([100, 60]));
        dir.b2(&format!("convert -q {name} y.npy")).ok();
        assert!(dir.b2("cat y.npy").ok().stdout == items);
        assert!(
            dir.read("y.npy").ends_with(&items) && dir.read("y.npy").len() == items.len() + 128,
            "{name}"
        );
        dir.b2(&format!("verify {name}")).ok();
    }
}

#[test]
fn other_dimensions_grow_too() {
    let dir = Dir::new();
    let items = walk(6000);
    let columns = |range: core::ops::Range<usize>| -> Vec<u8> {
        items.chunks(60 * 4).flat_map(|row| &row[range.start * 4..range.end * 4]).copied().collect()
    };
    dir.write("a.npy", npy(&[100, 25], &columns(0..25)))
        .write("b.npy", npy(&[100, 35], &columns(25..60)));
    dir.b2("convert -q --chunks 30,10 --blocks 10,5 a.npy x.b2nd").ok();
    snapshot!(dir.b2("append --axis 1 x.b2nd b.npy"), @r"
    exit 0
    --- stdout
    --- stderr
    x.b2nd: 13.7 KiB appended, now 23.4 KiB, 100 x 60
    ");
    assert!(dir.b2("cat x.b2nd").ok().stdout == items);
    dir.b2("convert -q -f --chunks 30,10 --blocks 10,5 a.npy x.b2nd").ok();
    dir.b2_with("append --axis 1 x.b2nd", &columns(25..60)).ok();
    assert!(dir.b2("cat x.b2nd").ok().stdout == items);
}

#[test]
fn data_that_do_not_fit_change_nothing() {
    let dir = Dir::new();
    let items = walk(6000);
    dir.write("a.npy", npy(&[100, 60], &items))
        .write("b.npy", npy(&[10, 6], &items[..240]))
        .write("odd", b"12345");
    dir.write("cut.npy", &npy(&[100, 60], &items)[..5000]).write("f", &items[..4000]);
    dir.b2("convert -q a.npy x.b2nd").ok();
    dir.b2("convert -q a.npy x.blp").ok();
    dir.b2("c -q -t 4 f -o f.b2frame").ok();
    let before = ["x.b2nd", "x.blp", "f.b2frame"].map(|name| dir.read(name));
    snapshot!(dir.b2("append x.b2nd b.npy"), @r"
    exit 1
    --- stdout
    --- stderr
    b2: x.b2nd: b.npy has the shape [10, 6], which does not fit after [100, 60] along dimension 0
    ");
    snapshot!(dir.b2("append x.blp b.npy"), @r"
    exit 1
    --- stdout
    --- stderr
    b2: x.blp: b.npy has the shape [10, 6], which does not fit after [100, 60] along dimension 0
    ");
    snapshot!(dir.b2("append x.b2nd odd"), @r###"
exit 1
--- stdout
--- stderr
b2: x.b2nd: odd has 5 bytes, which is no multiple of 240: an item or a row would be cut
"###);
    snapshot!(dir.b2("append f.b2frame f odd"), @r###"
exit 1
--- stdout
--- stderr
b2: f.b2frame: odd has 5 bytes, which is no multiple of 4: an item or a row would be cut
hint: a frame of bytes may end anywhere: `b2 cat f.b2frame | b2 c -t 1 -o NEW`
"###);
    snapshot!(dir.b2("append x.blp cut.npy"), @r"
    exit 1
    --- stdout
    --- stderr
    b2: x.blp: cut.npy: the array needs 24000 bytes, the file has 4872 for it
    ");
    snapshot!(dir.b2("append x.b2nd missing"), @r"
    exit 3
    --- stdout
    --- stderr
    b2: missing: no such file or directory
    ");
    snapshot!(dir.b2("append missing.b2nd f"), @r"
    exit 3
    --- stdout
    --- stderr
    b2: missing.b2nd: no such file or directory
    ");
    snapshot!(dir.b2("append x.b2nd x.b2nd"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: x.b2nd: is the target of the append itself
    hint: append a copy, as in `cp -r x.b2nd COPY && b2 append x.b2nd COPY`
    ");
    snapshot!(dir.b2("append --axis 2 x.b2nd a.npy"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: x.b2nd: no dimension 2, there are 2
    ");
    snapshot!(dir.b2("append --axis 1 f.b2frame f"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: f.b2frame: no dimension 1, there are 1
    ");
    snapshot!(dir.b2("append odd f"), @r"
    exit 4
    --- stdout
    --- stderr
    b2: odd: not a Blosc file (starts with 31 32 33 34)
    ");
    snapshot!(dir.b2("append - f"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: stdin: data from a pipe cannot be changed
    hint: keep the data in a file, and name that
    ");
    snapshot!(dir.b2("append"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: TARGET is missing
    hint: `b2 append -h` lists the options
    ");
    assert!(["x.b2nd", "x.blp", "f.b2frame"].map(|name| dir.read(name)) == before);
}

#[test]
fn errors_on_old_formats_tell_how_to_append() {
    let dir = Dir::new();
    let beta = path("frames/legacy/beta2-blosclz-shuffle-i4.b2frame");
    fs::copy(beta, dir.path("old.b2frame")).unwrap();
    fs::copy(path("bloscpack/old_v1.blp"), dir.path("old.blp")).unwrap();
    dir.write("f", walk(10));
    snapshot!(dir.b2("append old.b2frame f"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: old.b2frame: a frame of the layout 2.0.0-beta.2 to -beta.5, which is for reading only
    hint: `b2 convert` makes a frame of the current layout
    ");
    snapshot!(dir.b2("append old.blp f"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: old.blp: its format version is not 3, so the file cannot be changed in place
    hint: `b2 convert` to another .blp file makes room
    ");
    for name in ["old.b2frame", "old.blp"] {
        dir.b2(&format!("convert -q {name} new-{name}")).ok();
        dir.b2(&format!("append new-{name} f")).ok();
        assert!(dir.b2(&format!("cat new-{name}")).ok().stdout.ends_with(&dir.read("f")));
    }
}

#[cfg(unix)]
#[test]
fn a_lock_beside_a_frame_is_taken() {
    let dir = Dir::new();
    dir.write("f", walk(100)).write("x.b2frame.b2lock", b"");
    dir.b2("c -q -t 4 f -o x.b2frame").ok();
    dir.b2("append -q x.b2frame f").ok();
    dir.b2("meta set x.b2frame a=1").ok();
    // The generation of the lock counts the changes under it.
    let lock = dir.read("x.b2frame.b2lock");
    assert_eq!(u64::from_le_bytes(lock[8..16].try_into().unwrap()), 2);
    dir.b2("c -q -t 4 f -o y.b2frame").ok();
    dir.b2("append -q y.b2frame f").ok();
    assert!(!dir.path("y.b2frame.b2lock").exists());
}

#[test]
fn rows_are_appended_to_bcolz_arrays_and_tables() {
    let dir = Dir::new();
    dir.write("rows.csv", "day,price\n1,2.5\n2,3.5\n").write("more.csv", "price,day\n4.5,3\n");
    dir.b2("convert -q rows.csv t.bcolz").ok();
    snapshot!(dir.b2("append t.bcolz more.csv"), @r"
    exit 0
    --- stdout
    --- stderr
    t.bcolz: 16 B appended, now 48 B, 3 rows
    ");
    dir.b2("convert -q t.bcolz copy.bcolz").ok();
    dir.b2("append -q t.bcolz copy.bcolz").ok();
    snapshot!(dir.b2("show --csv t.bcolz"), @r"
    exit 0
    --- stdout
    day,price
    1,2.5
    2,3.5
    3,4.5
    1,2.5
    2,3.5
    3,4.5
    --- stderr
    ");
    dir.b2("verify t.bcolz").ok();

    let items = walk(7_500);
    dir.write("a.npy", npy(&[2_000, 3], &items[..24_000]))
        .write("b.npy", npy(&[500, 3], &items[24_000..]));
    dir.b2("convert -q --format carray a.npy -o a.bcolz").ok();
    snapshot!(dir.b2("append a.bcolz b.npy"), @r"
    exit 0
    --- stdout
    --- stderr
    a.bcolz: 5.9 KiB appended, now 29.3 KiB, 2 500 x 3
    ");
    assert!(dir.b2("cat a.bcolz").ok().stdout == items[..30_000]);
    dir.write("raw", &items[..24]);
    dir.b2("append -q a.bcolz raw").ok();
    assert!(dir.b2("cat a.bcolz").ok().stdout == [&items[..30_000], &items[..24]].concat());
}

#[test]
fn rows_that_do_not_fit_leave_bcolz_unchanged() {
    let dir = Dir::new();
    dir.write("rows.csv", "day,price\n1,2.5\n")
        .write("bad.csv", "day,price\n1,x\n")
        .write("cut", [0; 13]);
    dir.write("wide.npy", npy(&[2, 3], &[1; 24]));
    dir.b2("convert -q rows.csv t.bcolz").ok();
    let before = dir.b2("show --csv t.bcolz").ok().stdout;
    for (file, code) in [("bad.csv", 1), ("cut", 2), ("wide.npy", 1), ("none", 3)] {
        assert_eq!(dir.b2(&format!("append t.bcolz {file}")).code, Some(code), "{file}");
    }
    assert_eq!(dir.b2("append --axis 1 t.bcolz rows.csv").code, Some(2));
    assert_eq!(dir.b2("show --csv t.bcolz").ok().stdout, before);
}

#[test]
fn appends_that_waste_more_than_they_store_say_so() {
    let dir = Dir::new();
    dir.write("a", walk(1_000)).b2("c -q -t 4 a").ok();
    let quiet = dir.b2("append a.b2frame a").ok();
    assert!(!quiet.stderr.contains("dead"), "{}", quiet.stderr);
    let mut told = String::new();
    for _ in 0..60 {
        told = dir.b2("append a.b2frame a").ok().stderr;
    }
    assert!(told.ends_with("are dead: `b2 repack` frees them\n"), "{told}");
    dir.b2("repack -q a.b2frame").ok();
    let itself = dir.b2("append a.b2frame a.b2frame");
    assert!(itself.stderr.contains("is the target of the append itself"), "{}", itself.stderr);
}

/// The write fails after some items, as on a full disk; or a kill comes before the header is
/// written. NumPy and all commands read the array that the header describes.
#[cfg(unix)]
#[test]
fn an_interrupted_append_to_npy_leaves_the_array() {
    let dir = Dir::new();
    let items = walk(3000);
    let old = npy(&[500, 6], &items);
    dir.write("T.npy", &old).write("more.npy", npy(&[100, 6], &items[..2400]));
    // 24 blocks of 512 bytes: 160 of the new bytes fit.
    let line = "trap '' XFSZ; ulimit -f 24; exec \"$0\" append T.npy more.npy";
    let mut full = std::process::Command::new("sh");
    full.args(["-c", line, env!("CARGO_BIN_EXE_b2")]).current_dir(dir.path(""));
    let run = full.output().unwrap();
    assert_eq!(run.status.code(), Some(3), "{run:?}");
    assert!(dir.read("T.npy") == old, "{run:?}");
    // The state after a kill.
    dir.write("T.npy", [&old[..], &items[..1000]].concat());
    let warning = "T.npy: warning: 1000 bytes after the array are no part of it";
    for line in ["show T.npy", "verify T.npy", "list T.npy", "info T.npy", "sum T.npy"]
        .into_iter()
        .chain(["stats T.npy", "diff T.npy whole.npy", "cat T.npy", "convert T.npy x.b2nd"])
        .chain(["append x.b2nd T.npy", "append T.npy more.npy"])
    {
        dir.write("whole.npy", &old);
        let run = dir.b2(line).ok();
        assert!(run.stderr.contains(warning), "{line}: {}", run.stderr);
        if line.starts_with("cat") {
            assert!(run.stdout == items);
        }
    }
    // The next append has cut them off.
    let grown = dir.read("T.npy");
    assert!(grown.ends_with(&[&items[..], &items[..2400]].concat()));
    assert_eq!(grown.len(), old.len() + 2400);
    assert!(dir.b2("cat x.b2nd").ok().stdout == [&items[..], &items].concat());
    // --rm would lose these bytes.
    dir.write("T.npy", [&old[..], &items[..1000]].concat());
    for line in ["convert --rm T.npy y.b2nd", "compress --rm T.npy -o y.b2nd"] {
        assert_eq!(dir.b2(line).code, Some(1), "{line}");
        assert!(dir.path("T.npy").exists());
    }
    // A file that is too short for its header holds no array.
    dir.write("T.npy", &old[..old.len() - 1]);
    for line in ["cat T.npy", "verify T.npy", "sum T.npy", "append T.npy more.npy"] {
        let run = dir.b2(line);
        assert_eq!(run.code, Some(1), "{line}");
        assert!(!run.stderr.contains("rescue"), "{line}: {}", run.stderr);
    }
}

#[test]
fn appends_say_what_does_not_fit_and_count_dimensions_from_the_end() {
    let dir = Dir::new();
    dir.write("a.npy", npy(&[2, 3], &walk(6))).write("wide.npy", npy(&[9, 17], &walk(153)));
    dir.b2("convert -q a.npy a.b2nd").ok();
    let refused = dir.b2("append a.b2nd wide.npy");
    assert!(refused.stderr.contains("wide.npy has the shape [9, 17]"), "{}", refused.stderr);
    dir.b2("append -q --axis -1 a.b2nd a.npy").ok();
    assert!(dir.b2("info a.b2nd").text().contains("2 x 6"), "{}", dir.b2("info a.b2nd").text());
    let refused = dir.b2("append --axis -3 a.b2nd a.npy");
    assert!(refused.stderr.contains("no dimension -3, there are 2"), "{}", refused.stderr);
    // The last dimension of a .npy file is the one that grows only if there is no other.
    dir.write("line.npy", npy(&[6], &walk(6)));
    dir.write("more.npy", npy(&[6], &walk(6)));
    dir.b2("append -q --axis -1 line.npy more.npy").ok();
    assert_eq!(dir.b2("append --axis -1 a.npy wide.npy").code, Some(2));
}

#[test]
fn nothing_is_made_that_cannot_grow() {
    let dir = Dir::new();
    dir.write("day.csv", "a,b\n1,2\n");
    for target in ["x.csv", "x.chunk", "x.parquet"] {
        let run = dir.b2(&format!("append --create {target} day.csv"));
        assert_eq!(run.code, Some(2), "{target}: {}", run.stderr);
        assert!(run.stderr.contains("nothing can be appended to a ."), "{}", run.stderr);
        assert!(!dir.path(target).exists(), "{target}");
    }
}

/// Text gives values for named rows, but its bytes are not items. Neither are those of an archive.
#[test]
fn files_whose_bytes_are_no_items_are_not_appended_to_arrays() {
    let dir = Dir::new();
    // Files as long as seven and two items.
    dir.write("v.csv", "v\n1\n2\n3\n4\n5\n6\n7\n").write("long.csv", "v\n1\n2\n3\n4\n5\n6\n");
    dir.write("numbers", [7_u8; 16]).b2("c -q --dtype u8 --shape 2 numbers -o n.b2nd").ok();
    dir.write("z.zip", zip(&[("a.txt", b"some")]));
    for (row, plain) in [
        ("v.npy", "n.npy"),
        ("v.b2nd", "n.b2nd"),
        ("v.blp", "n.blp"),
        ("v.sframe", "n.sframe"),
        ("v.bcolz", "n.bcolz"),
        ("v.b2z", "n.b2z"),
    ] {
        dir.b2(&format!("append -q --create {row} v.csv")).ok();
        dir.b2(&format!("append -q {row} v.csv")).ok();
        let shown = dir.b2(&format!("show --csv {row}")).ok();
        let numbers: Vec<&str> = shown.text().lines().skip(1).map(last_number).collect();
        assert_eq!(numbers.join(""), "12345671234567", "{row}: {}", shown.text());
        if plain != "n.b2nd" {
            dir.b2(&format!("convert -q n.b2nd {plain}")).ok();
        }
        for file in ["v.csv", "long.csv", "z.zip"] {
            for target in [row, plain] {
                if target == row && file != "z.zip" {
                    continue;
                }
                let before = dir.b2(&format!("sum {target}")).ok();
                let run = dir.b2(&format!("append {target} {file}"));
                assert_eq!(run.code, Some(2), "{target} {file}: {}", run.all());
                assert!(run.stderr.contains("no items"), "{target} {file}: {}", run.stderr);
                assert_eq!(dir.b2(&format!("sum {target}")).ok().text(), before.text());
            }
        }
    }
    // A frame of bytes takes any content as bytes.
    dir.b2("c -q -t 1 v.csv -o log.b2frame").ok();
    dir.b2("append -q log.b2frame v.csv").ok();
    assert!(dir.b2("cat log.b2frame").ok().stdout == dir.read("v.csv").repeat(2));
}

fn last_number(line: &str) -> &str {
    line.rsplit(',').next().unwrap_or(line)
}

/// A column would become longer than its table, and a shape in metadata would become wrong.
#[test]
fn parts_that_only_fit_a_whole_do_not_grow() {
    let dir = Dir::new();
    dir.write("t.csv", "id,x\n1,2\n3,4\n");
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/called/saved-array.b2frame");
    fs::copy(sample, dir.path("saved.b2frame")).unwrap();
    dir.b2("convert -q t.csv t.bcolz").ok();
    dir.b2("convert -q t.csv t.b2z").ok();
    dir.b2("convert -q t.bcolz::/id id.npy").ok();
    for (target, whole) in [
        ("t.bcolz::/id", "t.bcolz"),
        ("t.bcolz/id", "t.bcolz"),
        ("t.b2z::/_cols/id", "t.b2z"),
        ("saved.b2frame", "saved.b2frame"),
    ] {
        let before = dir.b2(&format!("sum {whole}")).ok();
        let run = dir.b2(&format!("append {target} id.npy"));
        assert_eq!(run.code, Some(2), "{target}: {}", run.all());
        assert_eq!(dir.b2(&format!("sum {whole}")).ok().text(), before.text(), "{target}");
        assert_eq!(dir.b2(&format!("verify {whole}")).ok().stderr, "", "{target}");
    }
}
