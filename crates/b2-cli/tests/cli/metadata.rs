//! Metalayers on the command line, and progress for programs.

use crate::session::{Dir, snapshot, walk};

fn layers(dir: &Dir, file: &str) -> serde_json::Value {
    let found: serde_json::Value =
        serde_json::from_slice(&dir.b2(&format!("info --json {file}")).ok().stdout).unwrap();
    serde_json::json!({"metalayers": found["metalayers"], "vlmetalayers": found["vlmetalayers"]})
}

#[test]
fn values_are_json_or_text_and_come_back() {
    let dir = Dir::new();
    dir.write("w.i32", walk(100));
    dir.b2("c -q --verify --meta unit=K --meta n=-5 --vlmeta steps=[1,2.5,null] w.i32").ok();
    let expected = serde_json::json!(
        {"metalayers": {"unit": "K", "n": -5}, "vlmetalayers": {"steps": [1, 2.5, null]}}
    );
    assert_eq!(layers(&dir, "w.i32.b2frame"), expected);
    dir.write("layers.json", expected.to_string());
    dir.b2("c -q -o copy.b2frame --meta-file layers.json --meta n=7 w.i32").ok();
    let mut changed = expected;
    changed["metalayers"]["n"] = 7.into();
    assert_eq!(layers(&dir, "copy.b2frame"), changed);
}

#[test]
fn bytes_that_are_no_value_are_kept() {
    let dir = Dir::new();
    dir.write("w.i32", walk(100));
    dir.write("layers.json", r#"{"metalayers": {"raw": {"base64": "wcHB"}}}"#);
    dir.b2("c -q --meta-file layers.json w.i32").ok();
    assert_eq!(
        layers(&dir, "w.i32.b2frame")["metalayers"]["raw"],
        serde_json::json!({"base64": "wcHB"})
    );
}

#[test]
fn metadata_that_cannot_be_written_is_refused() {
    let dir = Dir::new();
    dir.write("w.i32", walk(100)).write("shape.json", "[1]").write("key.json", r#"{"meta": {}}"#);
    dir.write("cut.json", "{");
    snapshot!(dir.b2("c --meta b2nd=1 w.i32"), @r#"
    exit 2
    --- stdout
    --- stderr
    b2: the metalayer "b2nd" makes a frame an array and cannot be chosen
    "#);
    snapshot!(dir.b2("c --meta-file shape.json w.i32"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: shape.json: not a JSON object with the keys metalayers and vlmetalayers, and objects as values
    ");
    snapshot!(dir.b2("c --meta-file key.json w.i32"), @r#"
    exit 2
    --- stdout
    --- stderr
    b2: key.json: no key "meta" is known, but metalayers and vlmetalayers
    "#);
    snapshot!(dir.b2("c --format chunk --vlmeta a=1 w.i32"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: a chunk or a Bloscpack file has no metalayers
    hint: use --format b2frame
    ");
    for (line, code) in [
        ("c --meta-file cut.json w.i32", 2),
        ("c --meta-file none.json w.i32", 3),
        ("c --meta =1 w.i32", 2),
        ("c --meta a23456789012345678901234567890123=1 w.i32", 2),
    ] {
        assert_eq!(dir.b2(line).code, Some(code), "{line}");
    }
    assert!(!dir.path("w.i32.b2frame").exists());
}

#[test]
fn progress_for_programs_ends_with_everything() {
    let dir = Dir::new();
    let data = walk(300_000);
    dir.write("w.i32", &data);
    let run = dir.b2("c -q --progress=json w.i32").ok();
    let lines: Vec<serde_json::Value> =
        run.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = serde_json::json!(
        {"schema": "b2.progress/1", "file": "w.i32", "done": data.len(), "total": data.len()}
    );
    assert_eq!(lines.last(), Some(&expected));
    let run = dir.b2_with("c --json --progress json", &data).ok();
    assert!(
        run.stderr.contains(r#"{"schema":"b2.progress/1","file":"stdin","done":"#),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("total"), "{}", run.stderr);
}

#[test]
fn values_without_a_form_in_json_come_back_in_another_file() {
    let dir = Dir::new();
    let values: [(&str, &[u8]); 6] = [
        ("bytes", b"\xc4\x05\x00\x01raw"),
        ("map", b"\x81\xa6base64\xa8aGVsbG8="),
        ("nan", b"\xcb\x7f\xf8\0\0\0\0\0\0"),
        ("keys", b"\x81\xc4\x01k\x01"),
        ("raw", b"\xc1\xc1"),
        ("tenth", b"\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a"),
    ];
    let params = values.iter().fold(b2frame::FrameParams::default(), |params, (name, content)| {
        params.vlmetalayer(*name, *content).metalayer(*name, *content)
    });
    dir.write("x.b2frame", b2frame::to_cframe(b"data", &params).unwrap());
    dir.write("raw", "other");
    for line in ["c -q raw -o a.b2frame", "c -q raw -o b.b2frame"] {
        dir.b2(line).ok();
    }
    dir.write("m.json", dir.b2("meta export x.b2frame").ok().stdout);
    dir.b2("meta import a.b2frame m.json").ok();
    let document = layers(&dir, "x.b2frame").to_string();
    dir.write("info.json", document);
    dir.b2("c -qf raw -o b.b2frame --meta-file info.json").ok();
    for file in ["a.b2frame", "b.b2frame"] {
        let frame = b2frame::SChunk::open(dir.path(file)).unwrap();
        for (name, content) in values {
            assert_eq!(
                frame.vlmeta().get(name).unwrap().as_deref(),
                Some(content),
                "{file} {name}"
            );
            assert_eq!(frame.meta().get(name).unwrap().content, content, "{file} {name}");
        }
    }
    assert!(dir.b2("meta get x.b2frame").ok().text().contains("NaN"));
}
