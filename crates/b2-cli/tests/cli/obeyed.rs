//! Each option is obeyed or refused, and each loss is named: one table for each kind of slip.

use crate::session::Dir;

/// `a.npy` and `a.i32` of 24 items in 4 rows, and `t.csv` of 3 rows.
fn dir() -> Dir {
    let dir = Dir::new();
    let items: Vec<u8> = (0..24_i32).flat_map(i32::to_le_bytes).collect();
    dir.write("a.i32", items).write("t.csv", "a,b\n1,x\n2,y\n3,z\n");
    dir.b2("convert -q --dtype i4 --shape 4,6 a.i32 a.npy").ok();
    dir
}

/// Runs each line on a new copy of the same files: its exit code, and a part of what it says.
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
            let said = format!("grows along its first dimension only, which --axis {axis} is not");
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
            ("c --chunks 2 t.csv -o x.blp", 2, "no --chunks or --blocks"),
            ("stats --axis 0 s.b2frame", 2, "and there is 1 dimension"),
            ("stats --axis 0 --slice 1 a.npy", 2, "and there is 1 dimension"),
            ("stats --axis -1 --slice :2 a.npy", 0, ""),
            ("plot --bins 5 a.npy", 2, "--bins is for histograms"),
            ("plot --bins 5 --slice 1 a.npy", 2, "--bins is for histograms"),
            ("plot --bins 5 --kind histogram a.npy", 0, ""),
            ("convert --dtype i4 --shape 3 t.csv x.npy", 2, "no --shape"),
            ("list --tree --json x.b2z", 2, "--json is for programs"),
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
    assert!(dir.b2("show --csv r.bcolz").ok().text().contains("7,7,7,7,7,7"));
    let mut store = dir.read("a.b2z");
    let key = store.windows(4).rposition(|part| part == [12, 0, 0, 0]).unwrap();
    store[key] ^= 0xff;
    dir.write("a.b2z", store);
    let said = "filled with zeros, since the fill is no item of it: chunk";
    let run = dir.b2("rescue --fill 0x01 a.b2z -o r.b2z");
    assert!(run.code == Some(1) && run.text().contains(said), "{}", run.all());
    let run = dir.b2("rescue -f --fill 0x07000000 a.b2z -o r.b2z");
    assert!(run.code == Some(1) && !run.text().contains(said), "{}", run.all());
}

/// The path of the file of this name below a directory.
fn walk_to(dir: &Dir, root: &str, name: &str) -> std::path::PathBuf {
    let path = dir.path(root).join("data").join(name);
    assert!(path.exists(), "{}", path.display());
    path
}
