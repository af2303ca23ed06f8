//! Findings of a day with the program; each case is a typed line.

use std::process::Stdio;

use blosc_testdata::fixture::path;
use serde_json::{Value, json};

use crate::session::{Dir, Run, walk};

fn npy(dtype: &str, shape: &str, items: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}");
    let text = format!("{text:<245}\n");
    [b"\x93NUMPY\x01\0\xf6\0".as_slice(), text.as_bytes(), items].concat()
}

/// Three records: 1, 2.5, `n0`; 2, 3.5, `n1`; 3, -1, `n2`.
fn records() -> Vec<u8> {
    let record = |(id, value, name): (i32, f64, &[u8; 2])| {
        [&id.to_le_bytes()[..], &value.to_le_bytes(), name].concat()
    };
    let items = [(1, 2.5, b"n0"), (2, 3.5, b"n1"), (3, -1.0, b"n2")].map(record).concat();
    npy("[('id', '<i4'), ('v', '<f8'), ('s', '|S2')]", "(3,)", &items)
}

fn floats(items: &[f64]) -> Vec<u8> {
    items.iter().flat_map(|item| item.to_le_bytes()).collect()
}

fn document(run: &Run) -> Value {
    serde_json::from_slice(&run.stdout).unwrap()
}

#[test]
fn appends_at_one_time_are_all_there() {
    let dir = Dir::new();
    dir.write("row", walk(1000));
    dir.b2("c -q -t 4 row -o x.b2frame").ok();
    dir.b2("c -q -t 4 row -o x.blp").ok();
    dir.b2("convert -q --dtype i4 x.b2frame x.bcolz").ok();
    for name in ["x.b2frame", "x.blp", "x.bcolz"] {
        let line = format!("append -q {name} row");
        let children: Vec<_> = (0..6).map(|_| dir.command(&line).spawn().unwrap()).collect();
        for child in children {
            assert!(child.wait_with_output().unwrap().status.success(), "{name}");
        }
        let info = document(&dir.b2(&format!("info --json {name}")).ok());
        assert_eq!(info["nbytes"], 7 * 4000, "{name}");
        dir.b2(&format!("verify {name}")).ok();
    }
}

#[test]
fn wrong_use_is_told_as_every_other_error() {
    let dir = Dir::new();
    dir.write("a.f64", floats(&[1.0, 2.0]));
    for (line, said) in [
        ("c -j 4 a.f64", "b2: no option \"-j\"\nhint: -T N sets the number of threads\n"),
        (
            "-9 a.f64",
            "b2: no option \"-9\"\nhint: levels are for compressing, as in `b2 -z -9 FILE`\n",
        ),
        (
            "c -l 10 a.f64",
            "b2: --level: \"10\" is no level from 0 to 9\nhint: `b2 compress -h` lists the options\n",
        ),
        (
            "c --filter shuffle,nope a.f64",
            "b2: --filter: no filter has the name \"nope\" (see `b2 formats`)\nhint: `b2 compress \
             -h` lists the options\n",
        ),
        (
            "version",
            "b2: no command and no file has the name \"version\"\nhint: did you mean `b2 -V`?\n",
        ),
    ] {
        let run = dir.b2(line);
        assert_eq!((run.code, run.stderr.as_str()), (Some(2), said), "{line}");
    }
    let error: Value = serde_json::from_str(&dir.b2("c --json --nope a.f64").stderr).unwrap();
    assert_eq!((&error["schema"], &error["kind"]), (&json!("b2.error/1"), &json!("usage")));
    assert_eq!(dir.b2("recompress -12 a.f64").code, Some(2));
}

#[test]
fn modes_of_gzip_and_tar_go_together() {
    let dir = Dir::new();
    dir.write("a.f64", floats(&[1.0, 2.0])).b2("c -q a.f64 --rm").ok();
    dir.b2("-d -t a.f64.b2frame").ok();
    assert_eq!(dir.names(), ["a.f64.b2frame"]);
    let packed = dir.read("a.f64.b2frame");
    assert_eq!(dir.b2_with("d -d", &packed).ok().stdout, floats(&[1.0, 2.0]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_not_read_from() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let dir = Dir::new();
    dir.write("a.f64", floats(&[1.0, 2.0])).b2("c -q a.f64").ok();
    for line in ["c", "d", "info", "cat", "verify", "c -o x", "append a.f64.b2frame", "sum"] {
        let end = std::fs::File::options().read(true).write(true).open(&name).unwrap();
        let run = Run::of(dir.command(line).stdin(Stdio::from(end)).output().unwrap());
        assert_eq!(run.code, Some(2), "{line}");
        let said = "nothing but a terminal to read from\nhint: name a FILE, or send data through";
        assert!(run.stderr.contains(said), "{line}: {}", run.stderr);
    }
    assert_eq!(dir.names(), ["a.f64", "a.f64.b2frame"]);
}

#[cfg(target_os = "linux")]
#[test]
fn standard_output_and_pipes_of_the_shell_have_names() {
    let dir = Dir::new();
    dir.write("a.f64", floats(&[1.0, 2.0])).b2("c -q a.f64").ok();
    let run = dir.b2("d a.f64.b2frame -o /dev/stdout").ok();
    assert_eq!(run.stdout, floats(&[1.0, 2.0]));
    let b2 = env!("CARGO_BIN_EXE_b2");
    let script = format!("{b2} d a.f64.b2frame -o >(wc -c > count; echo >> count); sleep 0.2");
    let mut command = std::process::Command::new("bash");
    let status = command.args(["-c", &script]).current_dir(dir.path(".")).status().unwrap();
    assert!(status.success());
    assert!(String::from_utf8(dir.read("count")).unwrap().starts_with("16"));
}

#[test]
fn names_of_other_formats_are_refused_by_every_command() {
    let dir = Dir::new();
    dir.write("a.f64", floats(&[1.0, 2.0])).b2("c -q a.f64").ok();
    for line in [
        "c a.f64 -o x.carray",
        "rescue a.f64.b2frame -o x.npy",
        "extract a.f64.b2frame -o x.csv",
        "join a.f64.b2frame -o x.npy",
        "recompress -9 a.f64.b2frame -o x.npy",
    ] {
        let run = dir.b2(line);
        assert_eq!(run.code, Some(2), "{line}: {}", run.stderr);
    }
    assert_eq!(dir.names(), ["a.f64", "a.f64.b2frame"]);
}

#[test]
fn a_missing_folder_is_named() {
    let dir = Dir::new();
    dir.write("a.f64", floats(&[1.0, 2.0]));
    let run = dir.b2("c a.f64 -o new/x.b2frame");
    let said = "b2: new/x.b2frame: there is no folder new\nhint: `mkdir -p` makes it\n";
    assert_eq!((run.code, run.stderr.as_str()), (Some(3), said));
    std::fs::create_dir(dir.path("folder")).unwrap();
    for line in ["meta get folder", "append folder a.f64"] {
        let run = dir.b2(line);
        assert_eq!(run.code, Some(2), "{line}");
        assert!(run.stderr.contains("a folder of files, not a single object"), "{}", run.stderr);
    }
}

#[test]
fn inputs_unlikely_to_be_raw_bytes_are_warned_of() {
    let dir = Dir::new();
    dir.write("a.f64", walk(100_000)).b2("c -q a.f64").ok();
    let said = |line: &str| dir.b2(line).ok().stderr;
    assert!(said("c a.f64.b2frame").contains("warning: compressed already"));
    dir.write("o.npy", npy("'|O'", "(1,)", b"\x80\x03N."));
    assert!(said("c o.npy").contains("warning: Python objects"));
    dir.write("two.npz", b"PK\x03\x04and more");
    assert!(said("c two.npz").contains("warning: several arrays in one archive"));
    assert!(said("c -f -t 8 -z 5 a.f64").contains("warning: the output is larger"));
}

#[test]
fn one_length_of_a_shape_and_names_of_c_are_enough() {
    let dir = Dir::new();
    dir.write("a.bin", floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    dir.b2("c -q --dtype double --shape 2,-1 a.bin -o a.b2nd").ok();
    assert_eq!(dir.b2("show a.b2nd").ok().text(), "[[1. 2. 3.]\n [4. 5. 6.]]\n");
    dir.b2("convert -q --dtype double --shape=-1,2 a.bin b.b2nd").ok();
    assert_eq!(dir.b2("show --slice 1 b.b2nd").ok().text(), "[3. 4.]\n");
    assert_eq!(dir.b2("c --dtype f8 --shape 4,-1 a.bin -o c.b2nd").code, Some(1));
}

#[test]
fn items_with_fields_are_chosen_as_rows_are() {
    let dir = Dir::new();
    dir.write("r.npy", records()).b2("c -q r.npy").ok();
    for name in ["r.npy", "r.npy.b2nd"] {
        let show = |options: &str| dir.b2(&format!("show {options} {name}")).ok();
        let command = dir.command("show --csv --columns s,id");
        let mut command = command;
        command.args(["--where", "v > 0 and id < 3", name]);
        assert_eq!(Run::of(command.output().unwrap()).ok().text(), "s,id\nn0,1\nn1,2\n");
        assert_eq!(show("--columns v --skip 1").text(), "   v\n 3.5\n-1.0\n");
        assert_eq!(show("--json --columns id --skip 2").text(), "{\"id\":3}\n");
        assert_eq!(show("--tail 1 --csv").text(), "id,v,s\n3,-1.0,n2\n");
        let wrong = dir.b2(&format!("show --columns nope {name}"));
        assert!(wrong.stderr.contains("no column has the name \"nope\"; there are id, v, s"));
    }
    let plain = dir.write("p.npy", npy("'<f8'", "(2,)", &floats(&[1.0, 2.0])));
    assert_eq!(plain.b2("show --columns a p.npy").code, Some(2));
}

#[test]
fn text_and_documents_are_alike_everywhere_and_of_any_length() {
    let dir = Dir::new();
    let items = floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, f64::NAN]);
    dir.write("c.npy", npy("'<f8'", "(2, 2, 2)", &items)).b2("c -q c.npy").ok();
    let lines = "0,1\n1.0,2.0\n3.0,4.0\n5.0,6.0\n7.0,nan\n";
    for line in ["show --csv c.npy", "show --csv c.npy.b2nd", "convert --format csv -c c.npy.b2nd"]
    {
        assert_eq!(dir.b2(line).text(), lines, "{line}");
    }
    assert_eq!(dir.b2("show --csv --slice 0,0 c.npy").ok().text(), "0\n1.0\n2.0\n");
    for name in ["c.npy", "c.npy.b2nd"] {
        let shown = document(&dir.b2(&format!("show --json {name}")).ok());
        assert_eq!(shown["values"], json!([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, "NaN"]]]));
        assert_eq!(shown["shape"], json!([2, 2, 2]));
    }
    dir.write("long.i32", walk(600_000)).b2("c -q --dtype i4 long.i32").ok();
    let run = dir.b2("show --csv -M 24M long.i32.b2nd").ok();
    assert_eq!(run.text().lines().count(), 600_001);
    let run = dir.b2("show --json -M 24M long.i32.b2nd").ok();
    assert_eq!(document(&run)["values"].as_array().unwrap().len(), 600_000);
}

#[test]
fn several_objects_have_their_names() {
    let dir = Dir::new();
    dir.write("a.npy", npy("'<f8'", "(2,)", &floats(&[1.0, 2.0])));
    dir.write("b.npy", npy("'<f8'", "(1,)", &floats(&[3.0])));
    let text = "==> a.npy <==\n[1. 2.]\n\n==> b.npy <==\n[3.]\n";
    assert_eq!(dir.b2("show a.npy b.npy").ok().text(), text);
    dir.b2("c -q a.npy").ok();
    dir.write("raw", floats(&[4.0])).b2("c -q -t 8 raw -o raw.b2frame").ok();
    dir.b2("join -q raw.b2frame a.npy.b2nd -o mix.b2frame").ok();
    let text = "==> mix.b2frame#0 <==\n[4.]\n\n==> mix.b2frame#1 <==\n[1. 2.]\n";
    assert_eq!(dir.b2("show --dtype f8 mix.b2frame").ok().text(), text);
    let formats = ["info", "list"].map(|command| {
        document(&dir.b2(&format!("{command} --json mix.b2frame")).ok())["format"].clone()
    });
    assert_eq!(formats, ["b2frame", "b2frame"]);
}

#[test]
fn a_damaged_file_has_its_line_in_lists() {
    let dir = Dir::new();
    dir.write("a.i32", walk(1000)).b2("c -q a.i32").ok();
    dir.write("cut.b2frame", &dir.read("a.i32.b2frame")[..300]);
    let run = dir.b2("list cut.b2frame a.i32.b2frame");
    assert_eq!(run.code, Some(1));
    assert!(run.text().contains("\ndamaged ") && run.text().contains("  xxh3   a.i32.b2frame"));
    let start = "b2: cut.b2frame: cut off: 300 of ";
    assert!(run.stderr.starts_with(start), "{}", run.stderr);
    let tree = dir.b2("list --tree cut.b2frame");
    assert_eq!((tree.code, tree.text()), (Some(1), "cut.b2frame   damaged\n"));
    // A sound file prints nothing, and `-qq` silences all.
    assert_eq!(dir.b2("verify -q a.i32.b2frame").ok().text(), "");
    assert!(dir.b2("verify -q cut.b2frame").text().contains("DAMAGED"));
    let run = dir.b2("verify -qq cut.b2frame");
    assert_eq!((run.code, run.text(), run.stderr.as_str()), (Some(1), "", ""));
}

#[test]
fn metadata_go_to_files_of_every_kind() {
    let dir = Dir::new();
    dir.write("a.i32", walk(100));
    dir.b2("c -q a.i32 --format blp").ok();
    dir.b2("c -q a.i32").ok();
    dir.b2("convert -q --dtype i4 a.i32 a.bcolz").ok();
    dir.b2("meta set a.i32.blp unit=K n=[1,2]").ok();
    dir.b2("meta export a.i32.blp -o m.json").ok();
    for name in ["a.i32.b2frame", "a.bcolz"] {
        dir.b2(&format!("meta import {name} m.json")).ok();
        let run = dir.b2(&format!("meta get --json {name} unit n")).ok();
        let found = document(&run);
        let values = found.get("vlmetalayers").or(found.get("metadata")).unwrap();
        assert_eq!(*values, json!({"unit": "K", "n": [1, 2]}), "{name}");
    }
    let run = dir.b2("meta set --json a.i32.b2frame \"a=b\"=3").ok();
    assert_eq!(document(&run)["changed"], json!(["a=b"]));
    assert_eq!(dir.b2("meta get a.i32.b2frame a=b").ok().text(), "3\n");
}

#[cfg(unix)]
#[test]
fn text_from_the_editor_is_kept() {
    let dir = Dir::new();
    dir.write("a.i32", walk(100)).b2("c -q a.i32").ok();
    dir.write("typed", "{ my text");
    let mut command = dir.command("meta edit a.i32.b2frame");
    command.env("EDITOR", "cp typed").env("PATH", std::env::var_os("PATH").unwrap());
    let run = Run::of(command.output().unwrap());
    assert_eq!(run.code, Some(2));
    let names = dir.names();
    let kept = names.iter().find(|name| name.starts_with("b2-meta-")).unwrap();
    assert_eq!(dir.read(kept), b"{ my text");
    assert!(run.stderr.contains(kept.as_str()), "{}", run.stderr);
}

#[test]
fn offsets_and_positions_are_taken_as_they_are_printed() {
    let dir = Dir::new();
    dir.write("a.f64", floats(&[1.0, 2.0, 3.0])).b2("c -q a.f64").ok();
    let at = |place: &str| dir.b2(&format!("info {place}")).ok().text().lines().count();
    assert_eq!(at("a.f64.b2frame@0x61"), at("a.f64.b2frame@97"));
    assert_eq!(dir.b2("cat --items 1 a.f64.b2frame").ok().stdout, floats(&[2.0]));
    assert_eq!(dir.b2("cat --items -1 a.f64.b2frame").ok().stdout, floats(&[3.0]));
}

#[test]
fn arrays_of_numpy_grow() {
    let dir = Dir::new();
    dir.write("a.npy", npy("'<f8'", "(1, 2)", &floats(&[1.0, 2.0])));
    // NumPy writes a header with spare room.
    dir.b2("c -q a.npy -o a.b2nd").ok();
    dir.b2("convert -q a.b2nd b.npy").ok();
    let run = dir.b2("append b.npy a.npy a.b2nd").ok();
    assert_eq!(run.stderr, "b.npy: 32 B appended, now 48 B, 3 x 2\n");
    assert_eq!(dir.b2("show b.npy").ok().text(), "[[1. 2.]\n [1. 2.]\n [1. 2.]]\n");
    let before = dir.read("b.npy");
    dir.write("row", floats(&[1.0]));
    for line in ["append b.npy row", "append b.npy b.npy", "append --axis 1 b.npy a.npy"] {
        assert_ne!(dir.b2(line).code, Some(0), "{line}");
        assert_eq!(dir.read("b.npy"), before, "{line}");
    }
}

#[test]
fn tables_lose_single_columns_and_not_all() {
    let dir = Dir::new();
    crate::bcolz::copy(&path("bcolz/ct_attrs"), &dir.path("t"));
    dir.b2("convert -q --columns a t a.npy").ok();
    let info = document(&dir.b2("info --json a.npy").ok());
    assert_eq!(info["dtype"], "[('a', '<i8')]");
    let run = dir.b2("convert --columns nope t b.npy");
    assert!(run.stderr.contains("no column has the name \"nope\"; there are a"), "{}", run.stderr);
}

#[test]
fn losses_are_reported_in_one_line() {
    let dir = Dir::new();
    dir.write("a.npy", npy("'<f8'", "(2,)", &floats(&[1.0, 2.0])));
    dir.b2("c -q --vlmeta k1=1 --vlmeta k2=2 a.npy").ok();
    let run = dir.b2("convert a.npy.b2nd b.npy").ok();
    let said = "warning: no room for the metalayers `k1`, `k2` in a .npy file\n";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let run = dir.b2("convert a.npy x.b2frame").ok();
    assert!(run.stderr.contains("a .b2nd file keeps them"), "{}", run.stderr);
    dir.write("x.txt", "a;b\n1;2\n");
    let run = dir.b2("convert x.txt x.npy");
    assert_eq!(run.code, Some(4));
    assert!(run.stderr.contains("--from csv reads text"), "{}", run.stderr);
    dir.write("x.csv", "a;b\n1;2\n").b2("convert -q --delimiter ; x.csv x.npy").ok();
    assert_eq!(dir.b2("show --csv x.npy").ok().text(), "a,b\n1,2\n");
    assert_eq!(dir.b2("convert --delimiter ; a.npy y.b2nd").code, Some(2));
}
