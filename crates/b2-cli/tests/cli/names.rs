//! Names on the command line: inputs, the output, and the meaning of the output's name.

use crate::session::{Dir, Run, snapshot, walk};

/// Three `.npy` files of ten bytes each.
fn arrays(names: &[&str]) -> Dir {
    let dir = Dir::new();
    for (name, byte) in names.iter().zip(1u8..) {
        let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        npy.extend(b"{'descr': '|u1', 'fortran_order': False, 'shape': (10,), }");
        npy.resize(127, b' ');
        npy.push(b'\n');
        npy.extend([byte; 10]);
        dir.write(name, npy);
    }
    dir
}

#[test]
fn with_format_every_name_is_an_input() {
    let dir = arrays(&["a.npy", "b.npy"]);
    dir.b2("convert --format b2nd a.npy b.npy").ok();
    assert_eq!(dir.names(), ["a.npy", "a.npy.b2nd", "b.npy", "b.npy.b2nd"]);
    assert_eq!(dir.b2("cat b.npy.b2nd").ok().stdout, [2; 10]);
    snapshot!(dir.b2("convert --format b2nd a.npy c.b2nd"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: c.b2nd: with --format every name is an input, and c.b2nd does not exist
    hint: use -o to name the output
    ");
}

#[test]
fn last_name_is_no_output_if_it_may_be_an_input() {
    let dir = arrays(&["a.npy", "b.npy"]);
    let before = dir.read("b.npy");
    snapshot!(dir.b2("convert a.npy b.npy"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: b.npy: exists and holds data of the same kind: is it another input?
    hint: use -f -o NAME to overwrite it, or --format to convert several inputs
    ");
    assert_eq!(dir.b2("convert -f a.npy b.npy").code, Some(2));
    dir.write("x", walk(100)).b2("c -q x").ok();
    std::fs::copy(dir.path("x.b2frame"), dir.path("y.b2frame")).unwrap();
    assert_eq!(dir.b2("convert -f x.b2frame y.b2frame").code, Some(2));
    assert_eq!(dir.read("b.npy"), before);
    dir.b2("convert -f a.npy -o b.npy").ok();
    assert_eq!(dir.read("b.npy"), dir.read("a.npy"));
}

#[test]
fn name_of_the_output_is_not_that_of_another_format() {
    let dir = arrays(&["a.npy"]);
    dir.write("x.i32", walk(100)).b2("c -q x.i32").ok();
    snapshot!(dir.b2("c x.i32 -o a.sframe"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: a.sframe: compress does not write files with this suffix
    hint: use `b2 convert`, another name, or --format to choose the format
    ");
    for name in ["i.bcolz", "o.npy", "a.zst", "a.csv", "a.b2z"] {
        assert_eq!(dir.b2(&format!("c x.i32 -o {name}")).code, Some(2), "{name}");
    }
    dir.b2("c -q --format b2frame x.i32 -o odd.csv").ok();
    snapshot!(dir.b2("d x.i32.b2frame -o q.npy"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: x.i32.b2frame: not an array, so it cannot become a .npy file
    hint: use --format raw
    ");
    dir.b2("c -q a.npy").ok();
    snapshot!(dir.b2("d a.npy.b2nd -o q.csv"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: a.npy.b2nd: q.csv: decompress does not write files with this suffix: it restores raw data and .npy
    hint: use `b2 convert`, another name, or --format raw
    ");
    assert_eq!(dir.b2("d x.i32.b2frame -o q.b2nd").code, Some(2));
    // A file gets its old name back, and one that is such a file may have it.
    dir.write("t.csv", "a,b\n1,2\n").b2("c -q t.csv").ok();
    dir.b2("d -q t.csv.b2frame -o back.csv").ok();
    dir.b2("c -q -t 1 a.npy -o bytes.b2frame").ok();
    dir.b2("d -q bytes.b2frame -o same.npy").ok();
    assert_eq!(dir.read("same.npy"), dir.read("a.npy"));
    dir.b2("d -q --format raw x.i32.b2frame -o q.npy").ok();
}

#[test]
fn type_that_the_input_has_is_not_changed_by_an_option() {
    let dir = arrays(&["a.npy"]);
    dir.b2("c -q a.npy").ok();
    for input in ["a.npy", "a.npy.b2nd"] {
        let run = dir.b2(&format!("convert --dtype i4 {input} -o b.blp"));
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains("the input stores its type, |u1"), "{}", run.stderr);
    }
    dir.b2("convert -q --dtype u1 a.npy -o b.blp").ok();
    assert_eq!(dir.b2("c --dtype i4 a.npy -o c.b2nd").code, Some(2));
}

#[test]
fn a_table_made_of_a_structured_array_is_told() {
    let dir = Dir::new();
    dir.write("t.csv", "a,b\n1,2\n").b2("convert -q t.csv t.npy").ok();
    let run = dir.b2("convert --format carray t.npy -o t.bcolz").ok();
    assert!(
        run.stderr.contains("written as a table, since the items have fields"),
        "{}",
        run.stderr
    );
}

#[test]
fn target_holds_for_filters() {
    let dir = Dir::new();
    dir.write("x.i32", walk(2000));
    snapshot!(dir.b2("c --filter shuffle,bytedelta --target blosc2-2.0 x.i32"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: readers of blosc2-2.0 do not know all of these filters
    hint: leave out --target, or choose other filters
    ");
    let line = "c --lossy --filter int_trunc:-2 --target blosc2-2.0 --dtype i4 x.i32";
    assert_eq!(dir.b2(line).code, Some(2));
    dir.b2("c -q --filter shuffle,bytedelta x.i32").ok();
    assert_eq!(
        dir.b2("convert --filter bytedelta --target blosc2-2.0 x.i32.b2frame y.b2frame").code,
        Some(2)
    );
    for output in ["y.b2frame", "y.chunk", "y.sframe"] {
        dir.b2(&format!("convert -q --verify --target blosc2-2.0 x.i32.b2frame {output}")).ok();
        let info = dir.b2(&format!("info --json {output}")).ok();
        assert!(!info.text().contains("bytedelta"), "{}", info.text());
    }
}

#[test]
fn a_bare_chunk_with_bytedelta_carries_the_item_size() {
    let dir = Dir::new();
    dir.write("x.i16", walk(2000));
    dir.b2("c -q --format chunk -C zstd -l 7 --filter shuffle,bytedelta -t 2 x.i16").ok();
    let info: serde_json::Value =
        serde_json::from_str(dir.b2("info --json x.i16.chunk").ok().text()).unwrap();
    assert_eq!(info["filters_meta"], serde_json::json!([0, 2]));
    assert!(dir.b2("cat x.i16.chunk").ok().stdout == walk(2000));
}

#[test]
fn a_first_word_that_is_no_command_and_no_file_ends_the_run() {
    let dir = arrays(&["a.npy"]);
    dir.b2("c -q a.npy").ok();
    let run = dir.b2("verfiy a.npy.b2nd");
    assert_eq!((run.code, run.text()), (Some(2), ""));
    assert!(run.stderr.contains("\"verfiy\"\nhint: did you mean `verify`?"), "{}", run.stderr);
    let run = dir.b2("nonsense a.npy.b2nd");
    assert_eq!((run.code, run.text()), (Some(2), ""));
    dir.b2("a.npy.b2nd").ok();
}

#[test]
fn levels_have_one_digit() {
    let dir = Dir::new();
    dir.write("x", walk(100));
    for line in ["c -10 x", "c -19 x", "-z -12 x", "convert -10 x y"] {
        let run = dir.b2(line);
        assert_eq!(run.code, Some(2), "{line}");
        assert!(run.stderr.contains("levels are 0 to 9"), "{}", run.stderr);
    }
    dir.b2("c -q -9 x").ok();
}

#[test]
fn a_column_keeps_its_name_as_text() {
    let dir = Dir::new();
    dir.write("t.csv", "price,n\n1.5,2\n").b2("convert -q t.csv t.bcolz").ok();
    assert_eq!(dir.b2("convert -q -c --format csv t.bcolz::/price").ok().text(), "price\n1.5\n");
}

#[test]
fn the_description_of_an_array_cannot_be_changed() {
    let dir = arrays(&["a.npy"]);
    dir.b2("c -q --format blp a.npy").ok();
    for line in ["meta set a.npy.blp dtype=x", "meta del a.npy.blp shape"] {
        let run = dir.b2(line);
        assert_eq!(run.code, Some(2), "{line}: {}", run.stderr);
    }
    dir.b2("meta set a.npy.blp unit=K").ok();
    assert_eq!(dir.b2("d -c a.npy.blp").ok().stdout, [1; 10]);
}

#[test]
fn positions_after_the_end_are_told() {
    let dir = Dir::new();
    dir.write("x", walk(100)).b2("c -q x").ok();
    let run = dir.b2("info x.b2frame@99999999");
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("there is nothing at this byte: the file has "), "{}", run.stderr);
}

#[test]
fn folders_are_mirrored_below_the_output_directory() {
    let dir = Dir::new();
    for name in ["tree/a/x", "tree/b/deep/x", "tree/x"] {
        std::fs::create_dir_all(dir.path(name).parent().unwrap()).unwrap();
        dir.write(name, walk(10));
    }
    dir.b2("c -q -t 4 -r tree --output-dir out").ok();
    for name in ["a/x", "b/deep/x", "x"] {
        assert!(dir.path("out").join(format!("{name}.b2frame")).is_file(), "{name}");
    }
    dir.b2("d -q -r out --output-dir back").ok();
    assert!(dir.read("back/b/deep/x") == walk(10));
    dir.b2("convert -q --format blp -r out --output-dir blps").ok();
    assert!(dir.path("blps/a/x.blp").is_file());
    // Named files, unlike walked ones, lose their folders.
    snapshot!(dir.b2("c -q -t 4 tree/x tree/a/x --output-dir flat"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: flat/x.b2frame: has been written by this run already
    hint: two inputs give this name: run each by itself, with an -o of its own
    ");
}

#[cfg(unix)]
#[test]
fn mirrored_folders_keep_their_mode() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::new();
    std::fs::create_dir_all(dir.path("tree/private")).unwrap();
    dir.write("tree/private/x", walk(10));
    let private = PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(dir.path("tree/private"), private).unwrap();
    dir.b2("c -q -t 4 -r tree --output-dir out").ok();
    let mode = std::fs::metadata(dir.path("out/private")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[cfg(unix)]
#[test]
fn names_that_are_no_text_stay_usable() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
    let dir = Dir::new();
    dir.write("w.i32", walk(1000)).b2("c -q -z 1K w.i32").ok();
    let name = b"na\xffme.b2frame";
    let path = dir.path(OsStr::from_bytes(name));
    // Some systems refuse such names.
    if std::fs::write(&path, dir.read("w.i32.b2frame")).is_err() {
        return;
    }
    let run = |line: &str| {
        let mut command = dir.command(line);
        Run::of(command.arg(OsStr::from_bytes(name)).output().unwrap())
    };
    // In a pipe a line holds the bytes of the name, as in other programs.
    for line in ["verify", "list", "sum"] {
        let out = run(line).ok().stdout;
        assert!(out.windows(name.len()).any(|part| part == name), "{line}");
        assert!(!String::from_utf8_lossy(&out).contains(r"\xff"), "{line}");
    }
    for line in ["info", "list --json", "verify --json", "list --tree"] {
        let text = run(line).ok().text().to_owned();
        assert!(text.contains(r"na\xffme") || text.contains(r"na\\xffme"), "{line}: {text}");
        assert!(!text.contains('\u{fffd}'), "{line}: {text}");
    }
    std::fs::write(&path, &dir.read("w.i32.b2frame")[..900]).unwrap();
    let run = run("verify");
    assert_eq!(run.code, Some(1));
    assert!(run.stdout.starts_with(b"na\xffme.b2frame: DAMAGED"));
    // A shell reads this as the same name.
    assert!(run.stderr.contains(r"`b2 rescue $'na\xffme.b2frame' -o NEW`"), "{}", run.stderr);
    assert!(run.stderr.contains(r"b2: na\xffme.b2frame: cut off"), "{}", run.stderr);
}

/// Keys that differ only in case are two files of a directory, where the system tells them apart.
#[test]
fn keys_that_differ_in_case_are_unpacked_and_changed() {
    let dir = arrays(&["m.npy", "n.npy"]);
    if dir.path("M.NPY").exists() {
        return;
    }
    for key in ["/m", "/M", "/g/x", "/G/y"] {
        let input = if key == "/M" { "n.npy" } else { "m.npy" };
        dir.b2(&format!("convert -q {input} s.b2z::{key}")).ok();
    }
    dir.b2("unpack -o s.b2d s.b2z").ok();
    // The columns of a table are files, too.
    dir.write("t.csv", "m,M\n1,2\n");
    for table in ["t.b2d", "t.bcolz"] {
        dir.b2(&format!("convert -q t.csv {table}")).ok();
        dir.b2(&format!("table add {table} n:i4=3 N:i4=4")).ok();
        assert_eq!(dir.b2(&format!("show --csv {table}")).ok().text(), "m,M,n,N\n1,2,3,4\n");
    }
    dir.b2("convert -q s.b2z c.b2d").ok();
    for line in [
        "append -q s.b2d::/m n.npy",
        "recompress -q -C lz4 s.b2d",
        "meta set s.b2d::/M unit=K",
        "convert -q m.npy s.b2d::/N",
        "convert -q m.npy s.b2d::/n",
        "repack s.b2d",
        "verify s.b2d",
        "verify c.b2d",
        "pack s.b2d -o back.b2z",
    ] {
        dir.b2(line).ok();
    }
    for store in ["s.b2d", "back.b2z"] {
        let items = |key: &str| dir.b2(&format!("cat -f {store}::{key}")).ok().stdout;
        assert_eq!((items("/m").len(), items("/M"), items("/G/y").len()), (20, vec![2; 10], 10));
    }
}

/// A store may have a name that is no text, or one with a backslash.
#[cfg(unix)]
#[test]
fn stores_are_written_under_any_name() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
    let dir = arrays(&["a.npy"]);
    dir.write("t.csv", "a,b\n1,2\n");
    for start in [&b"\xfe"[..], b"x\\y", b"\xc3\xa4\xff"] {
        let is_kept = std::fs::write(dir.path(OsStr::from_bytes(start)), b"").is_ok();
        if !is_kept {
            return;
        }
        // `{}` stands for the start of the name.
        let run = |line: &str| {
            let mut command = dir.command("");
            for word in line.split(' ') {
                let parts: Vec<&[u8]> = word.split("{}").map(str::as_bytes).collect();
                command.arg(OsStr::from_bytes(&parts.join(start)));
            }
            Run::of(command.output().unwrap())
        };
        for line in [
            "convert a.npy {}.b2z",
            "convert a.npy {}.b2d",
            "convert t.csv t{}.b2z",
            "convert t.csv t{}.b2d",
            "convert a.npy {}.b2z::/k",
            "convert a.npy new{}.b2d::/k",
            "append {}.b2z::/k a.npy",
            "append t{}.b2z t.csv",
            "append t{}.b2d t.csv",
            "table set t{}.b2z a=7",
            "table set t{}.b2d a=7",
            "table compact t{}.b2d",
            "meta set {}.b2z::/k unit=K",
            "recompress -C lz4 {}.b2z",
            "repack t{}.b2z",
            "unpack t{}.b2z -o u{}.b2d",
            "pack u{}.b2d",
            "rescue t{}.b2z -o r{}.b2z",
            "verify {}.b2z {}.b2d t{}.b2z t{}.b2d u{}.b2z r{}.b2z new{}.b2d",
        ] {
            run(line).ok();
        }
        assert_eq!(run("cat -f {}.b2z::/k").ok().stdout, [1; 20]);
        for table in ["t{}.b2z", "t{}.b2d"] {
            assert_eq!(run(&format!("show --csv {table}")).ok().text(), "a,b\n7,2\n7,2\n");
        }
        let names = std::fs::read_dir(dir.path("")).unwrap().map(|it| it.unwrap().file_name());
        for name in names.map(|name| name.as_bytes().to_vec()) {
            assert!(!name.windows(5).any(|part| part == b"b2tmp"), "{}", name.escape_ascii());
            assert!(!name.windows(3).any(|part| part == "\u{fffd}".as_bytes()));
        }
    }
}
