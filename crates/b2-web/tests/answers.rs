//! Answers of the engine are those of the libraries, however the bytes come.

use b2_web::Answer;
use blosc_data::Data;
use blosc_testdata::data::XorShift32;
use serde_json::{Value, json};

use crate::page::{Page, answers, samples};

fn done(answer: Answer) -> Value {
    match answer {
        Answer::Done(value) => value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn parts_that_come_late_and_in_another_order_give_the_same_answers() {
    let mut count = 0;
    for path in samples() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let expected = answers(&mut Page::of_path(&path), name);
        let mut slow = Page::of_path(&path);
        slow.piece = Some(5000);
        assert_eq!(answers(&mut slow, name), expected, "{name}");
        count += usize::from(expected.len() > 1);
    }
    assert!(count > 150, "{count} samples open");
}

#[test]
fn exported_items_and_cells_are_those_of_the_library() {
    let mut count = 0;
    for path in samples() {
        let Ok(found) = blosc_data::open(&path) else { continue };
        let Data::Array(array) = &found.data else { continue };
        let Ok(items) = array.to_bytes(..) else { continue };
        let mut page = Page::of_path(&path);
        let about = done(page.open("x"));
        assert_eq!(about["shape"], json!(array.shape()), "{}", path.display());
        let task = json!({ "kind": "export", "format": "npy", "part": [] });
        let Answer::Bytes(file) = page.run("", &task) else { continue };
        assert!(file.starts_with(b"\x93NUMPY") && file.ends_with(&items), "{}", path.display());
        count += 1;
    }
    assert!(count > 60, "{count} arrays");
}

/// A panic would be a trap in a browser, and cost a worker.
#[test]
fn damaged_samples_have_answers_too() {
    let mut random = XorShift32::new(7);
    let mut below = |len: usize| random.next_u32() as usize % len.max(1);
    let mut failed = 0;
    for path in samples() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let mut page = Page::of_path(&path);
        for bytes in page.files_mut().filter(|bytes| !bytes.is_empty()) {
            for _ in 0..3 {
                let at = below(bytes.len());
                bytes[at] = u8::try_from(below(256)).unwrap();
            }
            if below(4) == 0 {
                bytes.truncate(below(bytes.len()));
            }
        }
        let lines = answers(&mut page, name);
        failed += lines.iter().filter(|line| line.contains(" failed ")).count();
    }
    assert!(failed > 100, "{failed} answers");
}

fn grid() -> Page {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("grid.b2nd");
    let mut params = b2frame::NdParams::new(&[40, 300, 500], "<f4".parse().unwrap());
    params = params.chunkshape(&[5, 100, 250]);
    let mut writer = b2frame::NdWriter::create(&path, &params).unwrap();
    let items: Vec<f32> = (0..6_000_000_u32).map(|n| (n as f32 / 700.0).sin()).collect();
    writer.write_slice((.., .., ..), &items).unwrap();
    writer.finish().unwrap();
    Page::of_path(&path)
}

#[test]
fn opening_and_a_window_take_two_rounds_each() {
    let mut page = grid();
    page.open("grid");
    assert!(page.rounds <= 2, "{} rounds to open", page.rounds);
    page.rounds = 0;
    let cells = json!({
        "call": "cells", "session": 0, "member": "", "fixed": [7], "rows": [10, 40],
        "columns": [200, 212],
    });
    let found = done(page.ask(&cells));
    assert_eq!(found["names"][0], "200");
    let value: f32 = found["rows"][3][2].as_str().unwrap().parse().unwrap();
    let n = (7 * 300 + 13) * 500 + 202;
    assert!((value - (n as f32 / 700.0).sin()).abs() < 1e-5);
    assert!(page.rounds <= 2, "{} rounds for a window", page.rounds);
}

#[test]
fn a_picture_of_a_part_is_drawn_in_pieces() {
    let mut page = grid();
    page.open("grid");
    for kind in ["map", "histogram"] {
        let task = json!({
            "kind": kind, "column": null, "part": [3, [0, 300], [100, 400]], "width": 500,
            "height": 300,
        });
        assert_eq!(done(page.run("", &task)), json!({}));
        let draw = json!({ "call": "picture", "session": 0, "width": 500, "height": 300 });
        let Answer::Bytes(png) = page.ask(&draw) else { panic!("{kind}") };
        assert!(png.starts_with(b"\x89PNG") && png.len() > 1000, "{kind}");
    }
    let stats = done(page.run("", &json!({ "kind": "stats" })));
    let mean = stats[0]["mean"].as_f64().unwrap();
    assert!(mean.abs() < 1e-3 && stats[0]["nan"] == 0, "{stats}");
}

#[test]
fn requests_that_make_no_sense_have_an_error_document() {
    let mut page = grid();
    page.open("grid");
    for request in [
        json!({ "call": "nothing" }),
        json!({ "call": "open", "session": 7 }),
        json!({ "call": "about", "session": 0, "member": "/x" }),
        json!({ "call": "next", "session": 0 }),
        json!({ "call": "picture", "session": 0, "width": 1, "height": 1 }),
        json!({ "call": "rows", "session": 0, "member": "", "columns": [], "rows": [1] }),
        json!({
            "call": "cells", "session": 0, "member": "", "fixed": [99], "rows": [0, 1],
            "columns": [0, 1],
        }),
        json!({
            "call": "cells", "session": 0, "member": "", "fixed": [], "rows": [0, u64::MAX],
            "columns": [0, u64::MAX],
        }),
        json!({
            "call": "task", "session": 0, "member": "",
            "task": { "kind": "map", "column": null, "part": [[5, 2]], "width": 9, "height": 9 },
        }),
        json!({
            "call": "task", "session": 0, "member": "",
            "task": { "kind": "filter", "condition": "x > 1" },
        }),
    ] {
        let Answer::Failed(document) = page.ask(&request) else { panic!("{request}") };
        assert_eq!(document["schema"], "b2.error/1", "{request}");
        assert!(document["message"].as_str().is_some_and(|text| !text.is_empty()), "{request}");
    }
    assert!(matches!(page.engine.call(b"\xff"), Answer::Failed(_)));
    let error = page.engine.add(0, "", 0, b"abc", 3).unwrap_err();
    assert!(error["message"].as_str().unwrap().starts_with("the file has changed"));
}

#[test]
fn rows_that_a_condition_finds_are_those_of_the_table() {
    let mut count = 0;
    for path in samples() {
        let Ok(found) = blosc_data::open(&path) else { continue };
        let Data::Table(table) = &found.data else { continue };
        let name = table.columns().iter().find(|column| {
            column.item_shape.is_empty()
                && column.dtype.as_ref().is_some_and(|it| it.to_string() == "<i8")
        });
        let Some(column) = name else { continue };
        let condition = format!("{} >= 2", column.name);
        let Ok(filter) = table.filter(&condition) else { continue };
        let expected = filter.matches(0..table.nrows()).unwrap();
        let mut page = Page::of_path(&path);
        page.open(path.file_name().unwrap().to_str().unwrap());
        let task = json!({ "kind": "filter", "condition": condition });
        let found = done(page.run("", &task));
        assert_eq!(found["rows"], json!(expected), "{}", path.display());
        count += 1;
    }
    assert!(count > 3, "{count} tables");
}
