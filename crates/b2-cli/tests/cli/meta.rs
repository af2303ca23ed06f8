//! `b2 meta`: shows metadata, changes them in place, and copies them between files.

use std::{fs, process::Command};

use blosc_testdata::fixture::path;
use serde_json::{Value, json};

use crate::session::{Dir, Run, snapshot};

/// A frame with a metalayer of each kind, an array, and Bloscpack files with and without metadata.
fn with_files() -> Dir {
    let dir = Dir::new();
    for (name, fixture) in [
        ("x.b2frame", "frames/tiny.b2frame"),
        ("a.b2nd", "frames/generated/array-2d.b2nd"),
        ("m.blp", "bloscpack/real_meta_zlib.blp"),
        ("none.blp", "bloscpack/real_multichunk.blp"),
    ] {
        dir.write(name, fs::read(path(fixture)).unwrap());
    }
    dir
}

fn document(run: &Run) -> Value {
    serde_json::from_slice(&run.stdout).unwrap()
}

/// The output of `get --json` without schema and path.
fn metadata(dir: &Dir, name: &str) -> Value {
    let mut document = document(&dir.b2(&format!("meta get --json {name}")).ok());
    document.as_object_mut().unwrap().retain(|key, _| !matches!(key.as_str(), "schema" | "path"));
    document
}

#[test]
fn metalayers_are_shown_set_and_removed() {
    let dir = with_files();
    let content = dir.b2("cat x.b2frame").ok().stdout;
    snapshot!(dir.b2("meta get x.b2frame"), @r#"
    exit 0
    --- stdout
    kind  "demo"
    note  "hi"
    --- stderr
    "#);
    snapshot!(dir.b2("meta get x.b2frame note"), @r#"
    exit 0
    --- stdout
    "hi"
    --- stderr
    "#);
    snapshot!(dir.b2("meta get --vlmeta --json x.b2frame"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.meta/1","path":"x.b2frame","vlmetalayers":{"note":"hi"}}
    --- stderr
    "#);
    // The change stays in place, needs a longer header, or goes into the trailer.
    dir.b2("meta set x.b2frame kind=emod").ok();
    snapshot!(dir.b2("meta set -v x.b2frame kind=demonstration new=[1,{\"a\":null}]"), @r"
    exit 0
    --- stdout
    --- stderr
    x.b2frame: 2 changes made
    ");
    dir.b2("meta set --meta x.b2frame fixed=7").ok();
    let expected = json!({
        "metalayers": {"kind": "demonstration", "fixed": 7},
        "vlmetalayers": {"note": "hi", "new": [1, {"a": null}]}
    });
    assert_eq!(metadata(&dir, "x.b2frame"), expected);
    dir.b2("meta del x.b2frame note kind").ok();
    dir.b2("meta del --meta x.b2frame fixed").ok();
    assert_eq!(
        metadata(&dir, "x.b2frame"),
        json!({"metalayers": {}, "vlmetalayers": {"new": [1, {"a": null}]}})
    );
    dir.b2("verify x.b2frame").ok();
    assert_eq!(dir.b2("cat x.b2frame").ok().stdout, content);
    assert_eq!(dir.names(), ["a.b2nd", "m.blp", "none.blp", "x.b2frame"]);
}

#[test]
fn all_changes_are_made_or_none() {
    let dir = with_files();
    let before = dir.read("x.b2frame");
    snapshot!(dir.b2("meta del x.b2frame note missing"), @r#"
    exit 1
    --- stdout
    --- stderr
    b2: x.b2frame: no metadata have the name "missing"
    "#);
    snapshot!(dir.b2("meta get x.b2frame missing"), @r#"
    exit 1
    --- stdout
    --- stderr
    b2: x.b2frame: no metadata have the name "missing"
    "#);
    snapshot!(dir.b2("meta set x.b2frame novalue"), @r#"
    exit 2
    --- stdout
    --- stderr
    b2: x.b2frame: "novalue" is not of the form NAME=VALUE
    "#);
    snapshot!(dir.b2("meta set x.b2frame"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: x.b2frame: no name was given
    ");
    snapshot!(dir.b2("meta set a.b2nd b2nd=1"), @r#"
    exit 2
    --- stdout
    --- stderr
    b2: a.b2nd: the metalayer "b2nd" makes a frame an array and cannot be chosen
    "#);
    snapshot!(dir.b2("meta set x.b2frame this-name-is-too-long-for-a-metalayer=1"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: x.b2frame: metalayer name of 37 bytes, 1 to 31 are possible
    ");
    snapshot!(dir.b2("meta import x.b2frame missing.json"), @r"
    exit 3
    --- stdout
    --- stderr
    b2: missing.json: no such file or directory
    ");
    dir.write("bad.json", "{\"metalayers\": []}");
    snapshot!(dir.b2("meta import x.b2frame bad.json"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: bad.json: not a JSON object with the keys metalayers and vlmetalayers, and objects as values
    ");
    assert!(dir.read("x.b2frame") == before);
}

#[test]
fn sparse_frames_and_arrays_have_metalayers_too() {
    let dir = with_files();
    let content = dir.b2("cat a.b2nd").ok().stdout;
    dir.b2("convert -q a.b2nd a.sframe").ok();
    for name in ["a.b2nd", "a.sframe"] {
        dir.b2(&format!("meta set {name} unit=K")).ok();
        dir.b2(&format!("meta set --meta {name} more=1.5")).ok();
        assert_eq!(
            metadata(&dir, name),
            json!({"metalayers": {"more": 1.5}, "vlmetalayers": {"unit": "K"}})
        );
        assert!(dir.b2(&format!("cat {name}")).ok().stdout == content);
        dir.b2(&format!("verify {name}")).ok();
    }
    assert_eq!(document(&dir.b2("meta get a.b2nd b2nd").ok())[1], json!(2));
}

#[test]
fn bloscpack_metadata_stay_in_place_while_they_fit() {
    let dir = with_files();
    let (len, content) = (dir.read("m.blp").len(), dir.b2("cat m.blp").ok().stdout);
    dir.b2("meta set m.blp unit=K").ok();
    snapshot!(dir.b2("meta get m.blp unit title"), @r#"
    exit 0
    --- stdout
    "K"
    "a longer piece of metadata"
    --- stderr
    "#);
    assert_eq!(dir.read("m.blp").len(), len);
    // Without room, or without old metadata, the file is written again.
    let long: String =
        (0..9000u32).map(|n| char::from(b'a' + (n.wrapping_mul(n) % 26) as u8)).collect();
    dir.write("long.json", json!({"metadata": {"long": long}}).to_string());
    for name in ["m.blp", "none.blp"] {
        let content = dir.b2(&format!("cat {name}")).ok().stdout;
        dir.b2(&format!("meta import {name} long.json")).ok();
        assert_eq!(metadata(&dir, name), json!({"metadata": {"long": long}}));
        assert!(dir.b2(&format!("cat {name}")).ok().stdout == content);
        dir.b2(&format!("verify {name}")).ok();
    }
    assert!(dir.b2("cat m.blp").ok().stdout == content);
    dir.b2("meta del m.blp long").ok();
    assert_eq!(metadata(&dir, "m.blp"), json!({"metadata": {}}));
    dir.write("null.json", "{\"metadata\": null}");
    dir.b2("meta import m.blp null.json").ok();
    assert_eq!(metadata(&dir, "m.blp"), json!({"metadata": null}));
    snapshot!(dir.b2("meta set --meta m.blp a=1"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: m.blp: a Bloscpack file has metadata and no metalayers
    hint: use the key metadata, and neither --meta nor --vlmeta
    ");
}

#[test]
fn documents_go_from_one_file_to_another() {
    let dir = with_files();
    let exported = dir.b2("meta export x.b2frame").ok();
    snapshot!(exported, @r#"
    exit 0
    --- stdout
    {
      "metalayers": {
        "kind": "demo"
      },
      "vlmetalayers": {
        "note": "hi"
      }
    }
    --- stderr
    "#);
    dir.write("y.json", &exported.stdout);
    dir.b2("meta import a.b2nd y.json").ok();
    assert_eq!(metadata(&dir, "a.b2nd"), metadata(&dir, "x.b2frame"));
    let run = dir.b2_with("meta import a.b2nd -", br#"{"vlmetalayers": {}}"#);
    run.ok();
    assert_eq!(
        metadata(&dir, "a.b2nd"),
        json!({"metalayers": {"kind": "demo"}, "vlmetalayers": {}})
    );
    // In a Bloscpack file metadata have names but no kinds.
    dir.b2("meta import m.blp y.json").ok();
    assert_eq!(metadata(&dir, "m.blp"), json!({"metadata": {"kind": "demo", "note": "hi"}}));
    dir.b2("meta export m.blp -o z.json").ok();
    snapshot!(dir.b2("meta export m.blp -o z.json"), @r"
    exit 3
    --- stdout
    --- stderr
    b2: z.json: file exists
    hint: use -f to overwrite, or -o to choose another name
    ");
    dir.write("u.json", r#"{"metadata": {"unit": "K"}}"#).b2("meta import x.b2frame u.json").ok();
    assert_eq!(
        metadata(&dir, "x.b2frame"),
        json!({"metalayers": {"kind": "demo"}, "vlmetalayers": {"unit": "K"}})
    );
    let piped = dir.b2_with("meta get -", &dir.read("x.b2frame")).ok();
    assert_eq!(piped.text(), dir.b2("meta get x.b2frame").ok().text());
    snapshot!(dir.b2_with("meta set - a=1", &dir.read("x.b2frame")), @r"
    exit 2
    --- stdout
    --- stderr
    b2: stdin: data from a pipe cannot be changed
    hint: keep the data in a file, and name that
    ");
}

#[cfg(unix)]
#[test]
fn an_editor_changes_a_document() {
    let dir = with_files();
    let edit = |editor: &str| {
        let mut command: Command = dir.command("meta edit x.b2frame");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("EDITOR", editor).output().unwrap()
    };
    let output = edit("sed -i s/hi/ho/");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(metadata(&dir, "x.b2frame")["vlmetalayers"], json!({"note": "ho"}));
    let output = edit("false");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(dir.names(), ["a.b2nd", "m.blp", "none.blp", "x.b2frame"]);
}

#[test]
fn formats_without_metadata_are_named() {
    let dir = with_files();
    dir.b2("convert -q x.b2frame x.chunk").ok();
    snapshot!(dir.b2("meta get x.chunk"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: x.chunk: a bare chunk, which cannot hold metadata
    hint: `b2 convert` makes a frame of it, which can
    ");
    let beta = path("frames/legacy/beta2-lz4-shuffle-i8-meta-usermeta.b2frame");
    fs::copy(beta, dir.path("old.b2frame")).unwrap();
    snapshot!(dir.b2("meta set old.b2frame a=1"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: old.b2frame: a frame of the layout 2.0.0-beta.2 to -beta.5, which is for reading only
    hint: `b2 convert` makes a frame of the current layout
    ");
    dir.b2("convert -q old.b2frame new.b2frame").ok();
    dir.b2("meta set new.b2frame a=1").ok();
}

#[test]
fn a_file_alone_is_shown() {
    let dir = Dir::new();
    dir.write("x.i32", crate::session::walk(100));
    dir.b2("c -q --vlmeta unit=K x.i32 -o x.b2frame").ok();
    assert_eq!(dir.b2("meta x.b2frame").ok().text(), dir.b2("meta get x.b2frame").ok().text());
    assert_eq!(dir.b2("meta get").code, Some(2));
    assert_eq!(dir.b2("meta nothing").code, Some(2));
}

#[test]
fn numbers_that_json_lacks_are_told_as_text() {
    let dir = Dir::new();
    dir.write("a", [7; 1000]);
    let said = "fill: NaN becomes text, since JSON has no such number";
    let made = dir.b2("c --vlmeta fill=NaN a").ok();
    assert!(made.stderr.contains(said), "{}", made.stderr);
    for value in ["NaN", "Infinity", "-Infinity"] {
        let set = dir.b2(&format!("meta set a.b2frame fill={value}")).ok();
        assert!(set.stderr.contains(&format!("fill: {value} becomes text")), "{}", set.stderr);
    }
    let set = dir.b2("meta set a.b2frame fill=NaNs other=1.5").ok();
    assert!(!set.stderr.contains("becomes text"), "{}", set.stderr);
}

#[test]
fn integers_that_would_be_rounded_are_refused() {
    let dir = Dir::new();
    dir.write("a", [7; 1000]).write("t.csv", "a\n1\n");
    let made = [
        "c -q a",
        "c -q --dtype u1 a -o a.b2nd",
        "c -q --dtype u1 a -o a.blp",
        "convert -q t.csv a.bcolz",
        "convert -q t.csv a.b2z",
    ];
    made.into_iter().for_each(|line| drop(dir.b2(line).ok()));
    let wide = ["123456789012345678901", "18446744073709551616", "-9223372036854775809"];
    for value in wide {
        let nested = format!("{{\"deep\":[1,{value}]}}");
        for target in ["a.b2frame", "a.b2nd", "a.blp", "a.bcolz", "a.b2z"] {
            let before = dir.b2(&format!("meta get {target}")).ok().stdout;
            dir.write("set.json", format!("{{\"metadata\":{{\"id\":{value}}}}}"));
            for line in [
                format!("meta set {target} id={value}"),
                format!("meta set {target} id={nested}"),
                format!("meta import {target} set.json"),
            ] {
                let run = dir.b2(&line);
                assert_eq!(run.code, Some(2), "{line}: {}", run.all());
                let said = format!("{value} is an integer of more than 64 bits");
                assert!(run.stderr.contains(&said), "{line}: {}", run.all());
            }
            assert_eq!(dir.b2(&format!("meta get {target}")).ok().stdout, before, "{target}");
        }
        dir.write("file.json", format!("{{\"vlmetalayers\":{nested}}}"));
        for option in [
            format!("--meta id={value}"),
            format!("--vlmeta id={value}"),
            "--meta-file file.json".into(),
        ] {
            let run = dir.b2(&format!("c -f {option} a"));
            assert_eq!(run.code, Some(2), "{option}: {}", run.all());
            assert!(run.stderr.contains("of more than 64 bits"), "{option}: {}", run.all());
        }
    }
    let kept = [
        ("18446744073709551615", "18446744073709551615"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("\"18446744073709551616\"", "\"18446744073709551616\""),
        ("x18446744073709551616", "\"x18446744073709551616\""),
    ];
    for target in ["a.b2frame", "a.b2nd", "a.blp", "a.bcolz", "a.b2z"] {
        for (value, shown) in kept {
            dir.b2(&format!("meta set {target} id={value}")).ok();
            let found = dir.b2(&format!("meta get {target} id")).ok();
            assert_eq!(found.text().trim_end(), shown, "{target}");
        }
    }
}
