//! Options are obeyed or refused, and losses are named: one table for each kind of mistake.

use crate::matrix::npy;
use crate::session::{Dir, walk};

/// `a.npy` and `a.i32` with 24 items in 4 rows, and `t.csv` with 3 rows.
fn dir() -> Dir {
    let dir = Dir::new();
    let items: Vec<u8> = (0..24_i32).flat_map(i32::to_le_bytes).collect();
    dir.write("a.i32", items).write("t.csv", "a,b\n1,x\n2,y\n3,z\n");
    dir.b2("convert -q --dtype i4 --shape 4,6 a.i32 a.npy").ok();
    dir
}

/// Runs each line on a fresh copy of the files; checks its exit code and a part of its output.
fn check(made: &[&str], lines: &[(&str, i32, &str)]) {
    for (line, code, said) in lines {
        let dir = dir();
        for made in made {
            dir.b2(made).ok();
        }
        let run = dir.b2(line);
        assert_eq!(run.code, Some(*code), "{line}: {}", run.all());
        assert!(run.all().contains(said), "{line}: {}", run.all());
    }
}

#[test]
fn data_are_appended_along_the_dimension_that_was_named() {
    let dir = dir();
    let targets = ["a.npy", "a.blp", "a.bcolz", "a.b2nd"];
    for target in &targets[1..] {
        dir.b2(&format!("convert -q a.npy {target}")).ok();
    }
    dir.b2("convert -q a.npy more.npy").ok();
    for target in targets {
        let grows = target == "a.b2nd";
        for (axis, code) in [("1", if grows { 0 } else { 2 }), ("-1", if grows { 0 } else { 2 })] {
            let before = dir.b2(&format!("show --csv {target}")).ok().stdout;
            let run = dir.b2(&format!("append --axis {axis} {target} more.npy"));
            assert_eq!(run.code, Some(code), "{axis} {target}: {}", run.all());
            let said = format!("grows along its first dimension only, not along --axis {axis}");
            assert!(grows || run.stderr.contains(&said), "{}", run.stderr);
            let after = dir.b2(&format!("show --csv {target}")).ok().stdout;
            assert_eq!(before == after, !grows, "{axis} {target}");
        }
        let run = dir.b2(&format!("append --axis 2 {target} more.npy"));
        assert!(run.stderr.contains("no dimension 2, there are 2"), "{target}: {}", run.stderr);
    }
    for target in &targets[..3] {
        let run = dir.b2(&format!("append --axis -2 {target} more.npy")).ok();
        assert!(run.all().contains("8 x 6"), "{target}: {}", run.all());
    }
}

#[test]
fn options_are_obeyed_or_refused() {
    let made = ["c -q a.npy --format b2frame -o s.b2frame", "convert -q a.npy x.b2z"];
    check(
        &made,
        &[
            ("c --chunks 2,2 a.npy --format b2frame", 2, "are for arrays"),
            ("c --blocks 2 t.csv -o x.chunk", 2, "are for arrays"),
            ("c --chunks 2 t.csv -o x.b2frame", 2, "are for arrays"),
            ("c --chunks 2 t.csv -o x.blp", 2, "the chunks of a Bloscpack file are"),
            ("c --dtype i4 --shape 4,6 a.i32 --format b2frame", 2, "--shape is for arrays"),
            ("c --dtype i4 --shape 4,6 a.i32 -o x.chunk", 2, "--shape is for arrays"),
            ("c --dtype i4 --shape 4,6 a.i32 -o x.blp", 0, ""),
            ("convert --dtype i4 --shape 4,6 a.i32 x.b2frame", 0, "without shape and type"),
            ("convert a.npy a.blp", 0, ""),
            ("convert --dtype i4 --shape 4,6 a.i32 x.chunk", 0, "no room for the shape"),
            ("stats --axis 0 s.b2frame", 2, "and there is 1 dimension"),
            ("stats --axis 0 --slice 1 a.npy", 2, "and there is 1 dimension"),
            ("stats --axis -1 --slice :2 a.npy", 0, ""),
            ("plot --bins 5 a.npy", 2, "--bins is for histograms"),
            ("plot --bins 5 --slice 1 a.npy", 2, "--bins is for histograms"),
            ("plot --bins 5 --kind histogram a.npy", 0, ""),
            ("convert --dtype i4 --shape 3 t.csv x.npy", 2, "--shape does not apply"),
            ("list --tree --json x.b2z", 2, "--tree and --json exclude"),
        ],
    );
    let dir = dir();
    let line = "convert -q --dtype i4 --shape 4,6 --slice 0:2,1";
    for input in ["a.i32", "s.b2frame", "a.npy"] {
        dir.b2("c -q -f -t 4 a.i32 -o s.b2frame").ok();
        dir.b2(&format!("{line} {input} -f -o part.npy")).ok();
        assert_eq!(dir.b2("show part.npy").ok().text(), "[1 7]\n", "{input}");
    }
}

#[test]
fn a_fill_that_is_no_item_is_refused_or_told() {
    let dir = dir();
    dir.b2("convert -q a.npy a.bcolz --chunks 2").ok();
    dir.b2("convert -q a.npy a.b2z --chunks 2,6 --blocks 1,6").ok();
    let chunk = walk_to(&dir, "a.bcolz", "__1.blp");
    std::fs::write(&chunk, b"no chunk").unwrap();
    let run = dir.b2("rescue --fill 0x01 a.bcolz -o r.bcolz");
    assert_eq!(run.code, Some(2), "{}", run.all());
    let run = dir.b2("rescue --fill 0x07000000 a.bcolz -o r.bcolz");
    assert_eq!(run.code, Some(1), "{}", run.all());
    assert!(dir.b2("show --csv --no-check r.bcolz").ok().text().contains("7,7,7,7,7,7"));
    let mut store = dir.read("a.b2z");
    let key = store.windows(4).rposition(|part| part == [12, 0, 0, 0]).unwrap();
    // The header of the second chunk, which stores its data uncompressed.
    store[key - 32] = 0x7f;
    dir.write("a.b2z", store);
    let said = "filled with zeros, since the fill is no item of it: chunk";
    let run = dir.b2("rescue --fill 0x01 a.b2z -o r.b2z");
    assert!(run.code == Some(1) && run.text().contains(said), "{}", run.all());
    let run = dir.b2("rescue -f --fill 0x07000000 a.b2z -o r.b2z");
    assert!(run.code == Some(1) && !run.text().contains(said), "{}", run.all());
}

#[test]
fn columns_without_a_place_are_named_and_the_others_are_kept() {
    let dir = dir();
    dir.write("odd.csv", "_id,a,km/h,.\n1,2,3,4\n");
    std::fs::copy(blosc_testdata::fixture::path("stores/table-basic.b2z"), dir.path("lists.b2z"))
        .unwrap();
    for (line, code, said, kept) in [
        ("odd.csv x.b2z", 4, "no room for the columns `_id`, `.`", "a,km/h\n2,3\n"),
        ("odd.csv x.bcolz", 4, "no room for the columns `km/h`, `.`", "_id,a\n1,2\n"),
        ("odd.csv -o new.b2z::/t", 4, "no room for the columns `_id`, `.`", ""),
        ("--columns id,li lists.b2z x.bcolz", 4, "no room for the column `li`", "id\n"),
        ("--columns id,li lists.b2z x.npy", 4, "the column `li` in a", "id\n"),
    ] {
        let run = dir.b2(&format!("convert -f {line}"));
        assert_eq!(run.code, Some(code), "{line}: {}", run.all());
        assert!(run.stderr.contains(said), "{line}: {}", run.stderr);
        let output = line.split(' ').next_back().unwrap();
        if !kept.is_empty() {
            let shown = dir.b2(&format!("show --csv {output}")).ok();
            assert!(shown.text().starts_with(kept), "{line}: {}", shown.text());
        }
        if code == 4 {
            let run = dir.b2(&format!("convert --strict -f {line}"));
            assert!(run.stderr.contains("which --strict refuses"), "{line}: {}", run.stderr);
        }
    }
    let line = "convert -f --where id<2 --columns id,li lists.b2z x.npy";
    assert_eq!(dir.b2(line).code, Some(4));
    assert_eq!(dir.b2("show --csv x.npy").ok().text(), "id\n0\n");
    // A dictionary is kept, and no loss is reported.
    let run = dir.b2("convert --strict lists.b2z -o kept.b2z::/t").ok();
    assert!(!run.stderr.contains("no room"), "{}", run.stderr);
}

#[test]
fn rows_with_more_columns_than_the_table_are_refused() {
    for format in ["b2z", "b2d", "bcolz"] {
        let dir = dir();
        dir.write("more.csv", "b,a,c\nx,1,2\n");
        dir.b2(&format!("convert -q t.csv t.{format}")).ok();
        for (made, input) in [("more.csv", "more.csv"), ("m.npy", "m.npy"), ("m.b2z", "m.b2z")] {
            if made != "more.csv" {
                dir.b2(&format!("convert -q more.csv {made}")).ok();
            }
            let run = dir.b2(&format!("append t.{format} {input}"));
            assert!(matches!(run.code, Some(1 | 2)), "{format} {input}: {}", run.all());
            let named = run.stderr.contains("a column `c`, which the table has not");
            assert!(named || format == "bcolz", "{format} {input}: {}", run.stderr);
        }
        let shown = dir.b2(&format!("show --csv t.{format}")).ok().text().to_owned();
        assert_eq!(shown, "a,b\n1,x\n2,y\n3,z\n", "{format}");
    }
}

#[test]
fn strict_refuses_what_rm_would_keep() {
    let dir = dir();
    dir.write("one.raw", [1, 0, 0, 0]);
    dir.b2("convert -q one.raw one.npy --dtype i4").ok();
    dir.b2("convert -q --slice 0 one.npy scalar.npy").ok();
    let run = dir.b2("convert --strict scalar.npy x.bcolz");
    assert_eq!(run.code, Some(4), "{}", run.all());
    assert!(run.stderr.contains("no room for the shape and type of the array"), "{}", run.stderr);
    assert!(!dir.path("x.bcolz").exists());
    dir.b2("convert --strict one.npy x.bcolz").ok();
}

#[test]
fn folders_are_taken_with_all_that_is_in_them() {
    let dir = dir();
    std::fs::create_dir(dir.path("d")).unwrap();
    dir.b2("convert -q a.npy d/a.npy").ok();
    dir.b2("convert -q a.npy d/a.b2nd").ok();
    dir.b2("convert -q a.npy d/b.b2nd").ok();
    dir.write("d/z.npz", archive());
    let listed = dir.b2("list d").ok().text().to_owned();
    for name in ["d/a.npy", "d/a.b2nd", "d/b.b2nd", "d/z.npz::"] {
        assert!(listed.contains(name), "{name}: {listed}");
    }
    assert!(dir.b2("list --tree a.npy").ok().text().contains("array, 4 x 6 of <i4"));
    assert!(dir.b2("list --tree d").ok().text().contains("a.npy    array, 4 x 6 of <i4"));
    dir.b2("convert d d.b2z").ok();
    let tree = dir.b2("list --tree d.b2z").ok().text().to_owned();
    for name in ["a.npy ", "a.b2nd ", "b ", "z.npz"] {
        assert!(tree.contains(&format!("── {name}")), "{name}: {tree}");
    }
}

#[test]
fn text_that_does_not_fit_has_a_hint() {
    let dir = dir();
    dir.write("latin.csv", b"a,b\n1,\xff\xfe\n");
    let run = dir.b2("convert latin.csv x.b2z");
    assert!(run.stderr.contains("column \"b\": a value is not UTF-8"), "{}", run.stderr);
    assert!(run.stderr.contains("iconv -f latin1"), "{}", run.stderr);
    dir.b2("convert -q t.csv t.b2z").ok();
    for text in ["a,b\n1,hello\n", "a,b\nNA,x\n"] {
        dir.write("new.csv", text);
        let run = dir.b2("append t.b2z new.csv");
        assert_eq!(run.code, Some(1), "{}", run.all());
        assert!(run.stderr.contains("b2 convert --dtype \"[('name', 'U20')]\""), "{}", run.stderr);
    }
    dir.b2("convert -q a.npy two.b2z::/a").ok();
    dir.b2("convert -q a.npy two.b2z::/b").ok();
    dir.b2("convert -q a.npy a.b2nd").ok();
    let run = dir.b2("append a.b2nd two.b2z");
    assert!(run.stderr.contains("name one of them as two.b2z::/key"), "{}", run.all());
    let run = dir.b2("seal two.b2z");
    assert!(run.code == Some(2) && !run.stderr.contains("::/key"), "{}", run.all());
    dir.write("z.npz", &archive()[..90]);
    let run = dir.b2("info z.npz");
    assert!(run.code != Some(0) && !run.stderr.contains("b2 rescue"), "{}", run.all());
}

/// An archive of NumPy with two arrays.
fn archive() -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/called/");
    std::fs::read(format!("{folder}two-arrays.npz")).unwrap()
}

/// The path of the file of this name below a directory.
fn walk_to(dir: &Dir, root: &str, name: &str) -> std::path::PathBuf {
    let path = dir.path(root).join("data").join(name);
    assert!(path.exists(), "{}", path.display());
    path
}

#[test]
fn the_shape_of_an_array_is_kept_or_its_loss_is_told() {
    let dir = dir();
    for format in ["blp", "b2nd", "bcolz"] {
        dir.b2(&format!("convert -q -f a.npy a.{format}")).ok();
    }
    for input in ["a.npy", "a.blp", "a.b2nd", "a.bcolz"] {
        for output in ["o.b2frame", "o.sframe", "o.b2nd", "o.blp", "o.bcolz", "o.npy"] {
            let run = dir.b2(&format!("convert -f {input} -o {output}")).ok();
            let is_kept = dir.b2(&format!("show {output}")).text().contains("\n [");
            let is_told = run.stderr.contains("without shape and type of the array");
            assert!(is_kept != is_told, "{input} {output}: {}", run.stderr);
            std::fs::remove_dir_all(dir.path(output)).ok();
        }
    }
}

#[test]
fn a_lost_shape_or_type_is_told_and_refused_by_strict() {
    let dir = dir();
    for line in [
        "convert -q --dtype i4 --shape 2,3,4 a.i32 cube.npy",
        "convert -q --dtype i4 --slice 5 a.i32 one.npy",
        "convert -q cube.npy cube.b2nd",
        "convert -q cube.npy cube.blp",
        "convert -q --dtype [('x','i4'),('y','i4')] --shape 3,4 a.i32 rows.npy",
    ] {
        dir.b2(line).ok();
    }
    let shape = "no room for the shape of the array in a .csv file";
    let array = "no room for the shape and type of the array";
    for (input, output, said) in [
        ("cube.npy", "o.csv", shape),
        ("cube.b2nd", "o.csv", shape),
        ("cube.blp", "o.csv", shape),
        ("one.npy", "o.csv", shape),
        ("rows.npy", "o.csv", shape),
        ("one.npy", "o.bcolz", array),
        ("cube.npy", "o.chunk", array),
    ] {
        let run = dir.b2(&format!("convert -f {input} {output}")).ok();
        assert!(run.stderr.contains(said), "{input} {output}: {}", run.all());
        let run = dir.b2(&format!("convert -f --strict {input} {output}"));
        assert_eq!(run.code, Some(4), "{input} {output}: {}", run.all());
    }
    for (input, output) in [
        ("a.npy", "o.csv"),
        ("cube.npy", "o.bcolz"),
        ("cube.npy", "o.b2nd"),
        ("one.npy", "o.blp"),
        ("t.csv", "o.bcolz"),
    ] {
        let run = dir.b2(&format!("convert -f --strict {input} {output}")).ok();
        assert!(!run.stderr.contains("warning"), "{input} {output}: {}", run.all());
    }
}

/// A block of fields within fields is decoded to copy the rest of its rows: within the limit too.
#[test]
fn the_limit_of_memory_holds_where_fields_are_left_out() {
    let dir = Dir::new();
    let descr = "[('n', '<i4'), ('in', [('x', '<i4'), ('y', '<i8')])]";
    let rows = 1 << 18;
    dir.write("rows.npy", npy(descr, &format!("({rows},)"), false, &walk(rows * 4)));
    dir.b2(&format!("c -q --chunks {rows} --blocks {rows} rows.npy -o rows.b2nd")).ok();
    for line in ["convert -f rows.b2nd x.b2z", "convert -f --columns n rows.b2nd x.npy"] {
        let run = dir.b2(line);
        assert!(matches!(run.code, Some(0 | 4)), "{line}: {}", run.all());
        let run = dir.b2(&format!("{line} --max-memory 1M"));
        assert_eq!(run.code, Some(5), "{line}: {}", run.all());
    }
}
