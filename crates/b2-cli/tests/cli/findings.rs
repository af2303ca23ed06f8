//! Findings of a user who tried the program; each case is a typed line.

use serde_json::Value;

use crate::session::{Dir, snapshot, walk};

/// 30 rows of 40 items in `a.npy`; the same without a type in `a.i32` and `a.b2frame`.
fn array() -> Dir {
    let dir = Dir::new();
    dir.write("a.i32", walk(1200));
    dir.b2("convert -q --dtype i4 --shape 30,40 a.i32 a.npy").ok();
    dir.b2("c -q a.i32 -o a.b2frame").ok();
    dir
}

fn table() -> Dir {
    let dir = Dir::new();
    dir.write("t.csv", "id,price,name\n1,2.5,a\n2,-0.5,bc\n3,4.25,d\n");
    dir.b2("convert -q t.csv t.bcolz").ok();
    dir.b2("convert -q t.csv t.b2z").ok();
    dir.b2("convert -q t.csv t.npy").ok();
    dir
}

#[test]
fn an_array_of_numpy_becomes_a_sparse_array() {
    let dir = array();
    snapshot!(dir.b2("convert --verify a.npy a.sframe"), @r###"
exit 0
--- stdout
--- stderr
a.npy -> a.sframe   4.8 KiB -> 1.7 KiB   1 chunk recompressed
"###);
    let info: Value = serde_json::from_slice(&dir.b2("info --json a.sframe").ok().stdout).unwrap();
    assert_eq!((&info["shape"], &info["dtype"]), (&serde_json::json!([30, 40]), &"<i4".into()));
    assert_eq!(dir.b2("diff a.npy a.sframe").code, Some(0));
    // With a chunk size in bytes it becomes a frame of bytes.
    let run = dir.b2("convert -f -z 1K a.npy a.sframe").ok();
    assert!(run.stderr.contains("without shape and type"), "{}", run.stderr);
    // Shape and type come back, so that the input may go.
    dir.b2("convert -f --rm a.npy b.sframe").ok();
    assert!(!dir.path("a.npy").exists());
}

#[test]
fn items_in_fortran_order_are_put_in_c_order_in_every_frame() {
    let dir = Dir::new();
    let text = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }";
    let items: Vec<u8> = [1_i32, 4, 2, 5, 3, 6].iter().flat_map(|n| n.to_le_bytes()).collect();
    dir.write(
        "f.npy",
        [b"\x93NUMPY\x01\0\x76\0", format!("{text:<117}\n").as_bytes(), &items].concat(),
    );
    for format in ["b2frame", "sframe", "chunk", "raw"] {
        dir.b2(&format!("convert -q --format {format} f.npy -o f.{format}")).ok();
        // A sparse frame is an array with its type and shape.
        let options = if format == "sframe" { "" } else { "--dtype i4 --shape 2,-1" };
        let run = dir.b2(&format!("show {options} f.{format}")).ok();
        assert_eq!(run.text(), "[[1 2 3]\n [4 5 6]]\n", "{format}");
    }
}

#[test]
fn conditions_about_unknown_columns_list_the_columns() {
    let dir = table();
    for line in [
        "show --where nope>1 t.bcolz",
        "show --where nope>1 t.b2z",
        "show --where nope>1 t.npy",
        "convert --where nope>1 t.bcolz x.csv",
        "convert --where nope>1 t.b2z x.csv",
        "convert --columns id,nope t.b2z x.csv",
        "stats --columns nope t.b2z",
    ] {
        let run = dir.b2(line);
        let said = ": no column has the name \"nope\"; there are id, price, name\n";
        assert!(run.code == Some(2) && run.stderr.contains(said), "{line}: {}", run.stderr);
        let hint = "hint: text stands in quotation marks, as in --where 'name == \"A\"'\n";
        assert_eq!(run.stderr.ends_with(hint), line.contains("--where"), "{line}");
    }
}

#[test]
fn blocks_that_do_not_fit_are_named() {
    let dir = array();
    snapshot!(dir.b2("c --chunks 10,20 --blocks 15,5 a.npy -o x.b2nd"), @r###"
exit 2
--- stdout
--- stderr
b2: a.npy: chunks of [10, 20] and blocks of [15, 5]: in dimension 0 a block of 15 does not fit into 10
"###);
    snapshot!(dir.b2("convert --chunks 10,20 --blocks 5,0 a.npy x.b2nd"), @r###"
exit 2
--- stdout
--- stderr
b2: a.npy: chunks of [10, 20] and blocks of [5, 0]: in dimension 1 they have no items
"###);
}

#[test]
fn data_without_a_shape_are_shown_in_one() {
    let dir = array();
    let expected = dir.b2("show a.npy").ok();
    for file in ["a.b2frame", "a.i32"] {
        let run = dir.b2(&format!("show --dtype i4 --shape 30,-1 {file}")).ok();
        assert_eq!(run.text(), expected.text(), "{file}");
    }
    let csv = dir.b2("show --csv --slice 3,:4 a.npy").ok();
    let run = dir.b2("show --csv --slice 3,:4 --dtype i4 --shape 30,40 a.b2frame").ok();
    assert_eq!(run.text(), csv.text());
    snapshot!(dir.b2("show --dtype i4 --shape 7,40 a.b2frame"), @r###"
exit 1
--- stdout
--- stderr
b2: a.b2frame: the array needs 1120 bytes, the file has 4800 for it
"###);
    snapshot!(dir.b2("show --dtype i4 --shape 30,40 a.npy"), @r###"
exit 2
--- stdout
--- stderr
b2: a.npy: the input stores its type, <i4: --dtype and --shape are for inputs that do not
hint: leave them out
"###);
    assert_eq!(dir.b2("show --shape 30,40 a.b2frame").code, Some(2));
}

#[test]
fn a_slice_among_the_files_is_pointed_at() {
    let dir = array();
    snapshot!(dir.b2("show a.npy 0:2"), @r###"
exit 2
--- stdout
--- stderr
b2: there is no file "0:2"
hint: --slice chooses a part, as in `b2 show FILE --slice 0:2`
"###);
    for line in ["cat a.npy 0:2", "plot a.npy :,3", "show a.npy 5", "show a.npy[3,0:2]"] {
        assert_eq!(dir.b2(line).code, Some(2), "{line}");
    }
    // An existing file of that name is an input.
    dir.write("5", dir.read("a.npy"));
    dir.b2("show a.npy 5").ok();
}

#[test]
fn words_of_other_programs_lead_to_commands() {
    let dir = Dir::new();
    for (word, hint) in [
        ("compare", "did you mean `diff`?"),
        ("check", "did you mean `verify`?"),
        ("filter", "did you mean `show --where`?"),
        ("verfiy", "did you mean `verify`?"),
        ("frobnicate", "`b2 --help` lists the commands"),
    ] {
        let run = dir.b2(&format!("{word} x"));
        let said = format!("b2: no command and no file has the name \"{word}\"\nhint: {hint}\n");
        assert_eq!((run.code, run.stderr), (Some(2), said));
    }
}

#[test]
fn bytes_are_no_rows_of_a_table() {
    let dir = table();
    // Six rows, counted by their size.
    let rowsize = 8 + 8 + 2 * 4;
    dir.write("raw", walk(6 * rowsize / 4));
    dir.b2("c -q -t 1 raw -o raw.b2frame").ok();
    snapshot!(dir.b2("append t.bcolz raw"), @r###"
exit 2
--- stdout
--- stderr
b2: t.bcolz: raw: bytes without fields, which are no rows of a table
hint: `b2 convert --dtype "[('day', 'i8'), ('price', 'f8')]" raw rows.npy` gives them fields
"###);
    for line in ["append t.bcolz raw.b2frame", "append t.b2z raw", "append t.b2z raw.b2frame"] {
        assert_eq!(dir.b2(line).code, Some(2), "{line}");
    }
    assert_eq!(dir.b2("show --csv t.bcolz").ok().stdout, dir.read("t.csv"));
    dir.b2("append t.bcolz t.npy").ok();
    assert_eq!(dir.b2("show --csv t.bcolz").ok().text().lines().count(), 7);
}

#[test]
fn comma_separated_values_are_looked_at_as_a_table() {
    let dir = table();
    snapshot!(dir.b2("show --where price>0 t.csv"), @r###"
exit 0
--- stdout
id  price  name
 1    2.5  a
 3   4.25  d
--- stderr
"###);
    snapshot!(dir.b2("stats t.csv"), @r###"
exit 0
--- stdout
t.csv: 3 rows
  column  type   min   max      mean       std  nan  inf  zeros
  id      <i8      1     3         2  0.816497    0    0      0
  price   <f8   -0.5  4.25  2.083333  1.961434    0    0      0
  name    <U2      -     -         -         -    0    0      0
--- stderr
"###);
    snapshot!(dir.b2("plot --columns price --size 40x10 t.csv"), @r###"
exit 0
--- stdout
t.csv   price
         │                           ⡠⠒
         │                        ⣀⠔⠉
         │⠒⠢⢄⡀                 ⢀⠤⠊
         │   ⠈⠑⠒⠤⣀           ⡠⠒⠁
       0 ┤        ⠉⠒⠢⢄⡀   ⣀⠔⠉
         │            ⠈⠑⠢⠊
         └┬───────────────────────────┬
          0                           2
row
--- stderr
"###);
    snapshot!(dir.b2("plot t.csv"), @r###"
exit 2
--- stdout
--- stderr
b2: t.csv: choose from the columns of its rows: id, price, name
hint: use --columns NAME, or --columns NAME,NAME for several lines
"###);
    snapshot!(dir.b2("info t.csv"), @r###"
exit 4
--- stdout
--- stderr
b2: t.csv: not a compressed file: comma-separated values
hint: `b2 show` prints them as a table, `b2 convert t.csv table.b2z` stores that
"###);
    // With a type, the file is summed as bytes.
    let bytes: Value =
        serde_json::from_slice(&dir.b2("stats --json --dtype u1 t.csv").ok().stdout).unwrap();
    assert_eq!(bytes["items"], dir.read("t.csv").len());
}

#[test]
#[cfg(not(feature = "parquet"))]
fn parquet_is_not_taken_for_bytes() {
    let dir = Dir::new();
    std::fs::copy(blosc_testdata::fixture::path("parquet/pyarrow.parquet"), dir.path("x.parquet"))
        .unwrap();
    for command in ["show", "stats", "plot"] {
        let run = dir.b2(&format!("{command} x.parquet"));
        assert_eq!(run.code, Some(4), "{command}");
        assert!(
            run.stderr.contains("hint: cargo install --path crates/b2-cli --features parquet"),
            "{}",
            run.stderr
        );
    }
}

#[test]
#[cfg(feature = "parquet")]
fn parquet_is_looked_at_as_a_table() {
    let dir = table();
    dir.b2("convert -q t.csv x.parquet").ok();
    assert_eq!(dir.b2("show --csv x.parquet").ok().stdout, dir.read("t.csv"));
    let stats = dir.b2("stats --columns price x.parquet").ok();
    assert!(stats.text().contains("  price   <f8   -0.5  4.25"), "{}", stats.text());
    dir.b2("plot --columns price x.parquet").ok();
}

#[test]
fn types_have_one_spelling() {
    let dir = array();
    dir.b2("convert -q a.npy a.bcolz").ok();
    dir.b2("convert -q a.npy a.b2nd").ok();
    let dtypes = |file: &str| {
        let stats: Value =
            serde_json::from_slice(&dir.b2(&format!("stats --json {file}")).ok().stdout).unwrap();
        (stats["dtype"].clone(), stats["columns"][0]["dtype"].clone())
    };
    for file in ["a.npy", "a.bcolz", "a.b2nd"] {
        assert_eq!(dtypes(file), ("<i4".into(), "<i4".into()), "{file}");
    }
}

#[test]
fn a_cut_frame_in_a_store_is_told_as_one_on_its_own() {
    let dir = table();
    dir.b2("unpack -q t.b2z -o t.b2d").ok();
    let column = "t.b2d/_cols/id.b2nd";
    let bytes = dir.read(column);
    dir.write(column, &bytes[..200]);
    let run = dir.b2("verify t.b2d");
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("/_cols/id: cut off: 200 of "), "{}", run.stderr);
    let run = dir.b2("info t.b2d");
    assert!(run.text().contains("cut off: 200 of "), "{}", run.text());
    let run = dir.b2("show t.b2d");
    assert!(run.stderr.contains("cut off: 200 of "), "{}", run.stderr);
    assert!(run.stderr.contains("hint: `b2 rescue t.b2d -o NEW`"), "{}", run.stderr);
}

#[test]
fn options_that_need_a_shape_are_refused_without_one() {
    let dir = array();
    dir.write("a.f32", walk(1200));
    snapshot!(
        dir.b2("c --format chunk --lossy --filter none -C zfp_acc:-2 --dtype f4 --shape 30,40 a.f32"),
        @r###"
exit 2
--- stdout
--- stderr
b2: a.f32: zfp_acc needs the shape of an array, and a .chunk file has none
hint: use --format b2nd
"###
    );
    snapshot!(dir.b2("c --filter ndcell:4 a.i32"), @r###"
exit 2
--- stdout
--- stderr
b2: a.i32: ndcell is for arrays, and these data have no shape
hint: use --dtype and --shape
"###);
    snapshot!(dir.b2("convert --filter ndcell:4 a.b2frame x.b2frame"), @r###"
exit 2
--- stdout
--- stderr
b2: a.b2frame: ndcell needs the shape of an array, and a .b2frame file has none
hint: use --format b2nd
"###);
    for format in ["chunk", "blp", "b2frame"] {
        let line = format!("convert --filter ndcell:4 --format {format} a.npy -o x");
        assert_eq!(dir.b2(&line).code, Some(2), "{format}");
    }
    dir.b2("convert -q --filter ndcell:4 a.npy x.b2nd").ok();
    dir.b2("convert -q --filter ndcell:4 a.npy x.sframe").ok();
    assert_eq!(dir.b2("diff x.b2nd x.sframe").code, Some(0));
}

#[test]
fn rows_of_a_rescued_bloscpack_array_keep_their_places() {
    let dir = array();
    dir.b2("c -q --format blp -z 1280 a.npy -o a.blp").ok();
    let expected = dir.b2("cat a.npy").ok().stdout;
    let info: Value = serde_json::from_slice(&dir.b2("info --json -vv a.blp").ok().stdout).unwrap();
    let chunk = &info["chunks"][1];
    let at = usize::try_from(chunk["offset"].as_u64().unwrap()).unwrap();
    let mut bytes = dir.read("a.blp");
    bytes[at + 40] ^= 0xff;
    dir.write("a.blp", bytes);
    assert_eq!(dir.b2("verify a.blp").code, Some(1));
    assert_eq!(dir.b2("rescue a.blp -o saved.blp").code, Some(1));
    let found = dir.b2("cat saved.blp").ok().stdout;
    // Rows 8 to 15 are lost, and became zeros.
    let lost = 1280..2 * 1280;
    assert!(found[lost.clone()].iter().all(|byte| *byte == 0));
    assert!(found[..lost.start] == expected[..lost.start]);
    assert!(found[lost.end..] == expected[lost.end..]);
    assert!(dir.b2("show saved.blp").ok().text().starts_with("[["));
    dir.b2("d -q saved.blp -o saved.npy").ok();
    assert!(dir.read("saved.npy").starts_with(b"\x93NUMPY"));
}

/// Names may be any bytes, and a list of sums finds their files again.
#[test]
#[cfg(target_os = "linux")]
fn sums_have_the_names_that_the_files_have() {
    use std::os::unix::ffi::OsStrExt as _;
    let dir = Dir::new();
    let names: [&[u8]; 2] = [b"b\xffd", b"esc\x1b[31m"];
    let names = names.map(std::ffi::OsStr::from_bytes);
    names.iter().for_each(|name| std::fs::write(dir.path(name), walk(10)).unwrap());
    let output = dir.command("sum").args(names).output().unwrap();
    for name in names {
        let found =
            output.stdout.split(|byte| *byte == b'\n').any(|line| line.ends_with(name.as_bytes()));
        assert!(found, "{}", String::from_utf8_lossy(&output.stdout));
    }
    dir.write("list", &output.stdout);
    let checked = dir.b2("sum --check list").ok();
    assert_eq!(checked.stdout, b"b\xffd: OK\nesc\x1b[31m: OK\n");
    dir.b2_with("sum --check", &output.stdout).ok();
}

/// With `--strict`, every loss that is otherwise a warning is exit code 4, and nothing is written.
#[cfg(unix)]
#[test]
fn nothing_is_left_out_where_that_is_refused() {
    let dir = table();
    let objects = blosc_testdata::fixture::path("bcolz/ct_object_column");
    crate::bcolz::copy(&objects, &dir.path("o.bcolz"));
    let batches = blosc_testdata::fixture::path("stores/batches.b2b");
    std::fs::copy(batches, dir.path("batches.b2b")).unwrap();
    dir.b2("convert -q t.bcolz::/price p.npy").ok();
    dir.b2("c -q p.npy -t 8 --vlmeta unit=K -o m.b2frame").ok();
    dir.b2("c -q p.npy --vlmeta unit=K -o a.b2nd").ok();
    dir.b2("c -q t.csv -t 1 --meta a=1 -o one.b2frame").ok();
    dir.b2("c -q t.csv -t 1 --meta a=2 -o two.b2frame").ok();
    dir.b2("join -q one.b2frame two.b2frame -o seq.b2frame").ok();
    std::fs::create_dir(dir.path("folder")).unwrap();
    dir.b2("convert -q p.npy folder/p.b2nd").ok();
    std::os::unix::fs::symlink("p.b2nd", dir.path("folder/link")).unwrap();
    std::fs::create_dir(dir.path("files")).unwrap();
    dir.b2("convert -q p.npy files/p.b2nd").ok();
    dir.write("files/e.csv", "");
    for line in [
        "m.b2frame m.npy --dtype f8",
        "p.npy plain.b2frame",
        "a.b2nd a.csv",
        "--slice 1: a.b2nd part.npy",
        "seq.b2frame seq.blp",
        "o.bcolz o.csv",
        "folder folder.b2z",
        "files files.b2z",
        "batches.b2b batches.raw",
    ] {
        let output = line.split(' ').find(|word| word.contains('.') && !dir.path(word).exists());
        let output = dir.path(output.unwrap());
        let run = dir.b2(&format!("convert --strict {line}"));
        assert_eq!(run.code, Some(4), "{line}: {}", run.all());
        assert!(run.stderr.contains("which --strict refuses"), "{line}: {}", run.stderr);
        assert!(!output.exists(), "{line}");
        let run = dir.b2(&format!("convert {line}"));
        assert!(matches!(run.code, Some(0 | 4)) && output.exists(), "{line}: {}", run.all());
    }
    // A conversion without loss succeeds.
    dir.b2("convert --strict p.npy whole.b2nd").ok();
}

#[test]
fn bloscpack_files_in_one_file_are_split() {
    let dir = array();
    dir.b2("convert -q --dtype i4 --shape 30,40 a.i32 a.blp").ok();
    dir.b2("c -q a.i32 -z 1K -o b.blp").ok();
    let both = [dir.read("a.blp"), dir.read("b.blp")].concat();
    dir.write("both.blp", &both);
    dir.write("rest.blp", [&both[..], b"no file"].concat());
    for (name, warns) in [("both", false), ("rest", true)] {
        let run = dir.b2(&format!("split --output-dir {name} {name}.blp")).ok();
        assert_eq!(run.stderr.contains("7 bytes after the last chunk"), warns, "{}", run.stderr);
        for (part, whole) in [("0000", "a.blp"), ("0001", "b.blp")] {
            assert!(dir.read(&format!("{name}/{name}.{part}.blp")) == dir.read(whole), "{part}");
        }
    }
}
