//! `b2 rescue` of frames, and what `verify` and `cat` say and give of damaged ones.

use serde_json::Value;

use crate::session::{Dir, snapshot, walk};

/// Five chunks of 4 KiB, the last one shorter, and where the frame is cut: in the third.
fn cut(dir: &Dir) -> (Vec<u8>, usize) {
    let data = walk(5_000);
    dir.write("a", &data).b2("c -q -t 4 -z 4K --meta unit=K a").ok();
    let frame = dir.read("a.b2frame");
    let info: Value =
        serde_json::from_slice(&dir.b2("info -vv --json a.b2frame").ok().stdout).unwrap();
    let third = usize::try_from(info["chunks"][2]["offset"].as_u64().unwrap()).unwrap();
    dir.write("cut.b2frame", &frame[..third + 50]);
    (data, 2 * 4096)
}

#[test]
fn a_cut_frame_is_saved_up_to_the_cut_and_filled() {
    let dir = Dir::new();
    let (data, whole) = cut(&dir);
    let run = dir.b2("rescue cut.b2frame -o saved.b2frame");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let text = run.text();
    assert!(text.contains("the index is lost"), "{text}");
    assert!(text.contains("filled: chunks 2 to 4\n"), "{text}");
    assert_eq!(
        dir.b2("cat saved.b2frame").ok().stdout,
        [&data[..whole], &vec![0; data.len() - whole]].concat()
    );
    assert_eq!(dir.b2("meta get saved.b2frame").ok().text(), "unit  \"K\"\n");
    let run = dir.b2("rescue --json --cut cut.b2frame -o cut");
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((run.code, &report["complete"]), (Some(1), &false.into()));
    assert_eq!(report["chunks"], serde_json::json!({"good": 2, "doubtful": 0, "lost": 3}));
    assert!(dir.b2("cat cut").ok().stdout == data[..whole]);
    dir.b2("rescue --fill 0x01000000 -f cut.b2frame -o saved.b2frame");
    let item = dir.b2("cat --items 4999: saved.b2frame").ok();
    assert_eq!(item.stdout, [1, 0, 0, 0]);
    let run = dir.b2("rescue --fill 0x0 cut.b2frame -o no");
    assert_eq!(run.code, Some(2));
    let run = dir.b2("rescue a.b2frame -o whole.b2frame").ok();
    assert_eq!(run.text(), "whole.b2frame: everything (19.5 KiB)\n");
}

#[test]
fn verify_looks_at_the_chunks_of_a_cut_frame_and_names_the_rescue() {
    let dir = Dir::new();
    cut(&dir);
    let run = dir.b2("verify cut.b2frame");
    assert_eq!((run.code, run.text()), (Some(1), "cut.b2frame: DAMAGED: 2 chunks good, 3 bad\n"));
    assert!(
        run.stderr.ends_with("\nhint: `b2 rescue cut.b2frame -o NEW` saves what can be read\n"),
        "{}",
        run.stderr
    );
    let report: Value =
        serde_json::from_slice(&dir.b2("verify --json cut.b2frame").stdout).unwrap();
    assert_eq!(report["nchunks"], 5);
    assert_eq!(report["hint"], "`b2 rescue cut.b2frame -o NEW` saves what can be read");
}

#[test]
fn cat_gives_what_stands_before_the_damage() {
    let dir = Dir::new();
    let (data, whole) = cut(&dir);
    let run = dir.b2("cat cut.b2frame");
    assert!(run.code == Some(1) && run.stdout == data[..whole]);
    // Rows of an array that are whole.
    dir.b2("c -q --shape 100,50 --dtype i4 --chunks 10,25 a -o a.b2nd").ok();
    let frame = dir.read("a.b2nd");
    dir.write("cut.b2nd", &frame[..frame.len() / 2]);
    let run = dir.b2("cat cut.b2nd");
    assert_eq!((run.code, run.stdout.len() % 2000), (Some(1), 0));
    assert!(run.stdout.len() >= 4_000 && data.starts_with(&run.stdout), "{}", run.stdout.len());
    let saved = dir.b2("rescue --fill zeros cut.b2nd -o saved.b2nd");
    assert_eq!(saved.code, Some(1), "{}", saved.stderr);
    assert!(dir.b2("info saved.b2nd").ok().text().contains("shape       100 x 50"));
}

#[test]
fn frames_without_header_and_sparse_frames_are_saved() {
    let dir = Dir::new();
    let (data, _) = cut(&dir);
    let mut frame = dir.read("a.b2frame");
    frame[..80].fill(0);
    dir.write("headless", frame);
    let run = dir.b2("rescue headless -o saved.b2frame");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(dir.b2("cat saved.b2frame").ok().stdout == data);
    dir.b2("convert -q a.b2frame a.sframe").ok();
    std::fs::remove_file(dir.path("a.sframe/00000001.chunk")).unwrap();
    let run = dir.b2("rescue a.sframe -o saved.sframe");
    assert!(run.code == Some(1) && run.text().contains("filled: chunk 1\n"), "{}", run.text());
    let found = dir.b2("cat saved.sframe").ok().stdout;
    assert!(found[..4096] == data[..4096] && found[8192..] == data[8192..]);
    assert!(found[4096..8192] == [0; 4096]);
    snapshot!(dir.write("text", "just text").b2("rescue text -o no"), @"
    exit 4
    --- stdout
    --- stderr
    b2: text: not a Blosc2 frame: the file starts like nothing known
    ");
}

#[test]
fn every_frame_of_a_sequence_is_rescued_and_reported_on_its_own() {
    let dir = Dir::new();
    let (data, whole) = cut(&dir);
    let (sound, cut) = (dir.read("a.b2frame"), dir.read("cut.b2frame"));
    dir.write("two", [&sound[..], &cut].concat());
    let run = dir.b2("rescue two -o saved");
    let text = run.text();
    assert_eq!(run.code, Some(1), "{text}");
    let at = sound.len();
    assert!(text.contains(&format!("frame 1 at byte {at}: filled: chunks 2 to 4\n")), "{text}");
    assert!(!text.contains("frame 0") && !text.contains("everything"), "{text}");
    let filled = [&data[..whole], &vec![0; data.len() - whole]].concat();
    assert_eq!(dir.b2("cat saved").ok().stdout, [&data[..], &filled].concat());
    // The damaged one between others; one of which nothing is left.
    dir.write("four", [&sound[..], &cut, &[7; 500], &sound].concat());
    let run = dir.b2("rescue --json four -o saved -f");
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((run.code, &report["complete"]), (Some(1), &false.into()));
    assert_eq!(report["chunks"]["good"], 12, "{report}");
    assert_eq!(dir.b2("cat saved").ok().stdout, [&data[..], &filled, &data].concat());
    dir.write("sound", [&sound[..], &sound].concat());
    let run = dir.b2("rescue sound -o saved -f").ok();
    assert_eq!(run.text(), "saved: everything (39.1 KiB)\n");
    assert_eq!(dir.b2("cat saved").ok().stdout, [&data[..], &data].concat());
}

#[test]
fn a_store_that_was_cut_or_lost_its_embedded_frame_is_rescued() {
    let dir = crate::stores::samples(&["tree-basic.b2z", "tree-basic.b2d"]);
    let whole = dir.read("tree-basic.b2z");
    dir.write("cut.b2z", &whole[..whole.len() / 2]);
    let run = dir.b2("verify cut.b2z");
    assert!(run.code == Some(1) && run.stderr.contains("b2 rescue"), "{}", run.stderr);
    snapshot!(dir.b2("rescue cut.b2z -o saved.b2z"), @"
    exit 1
    --- stdout
    the directory of the archive is damaged: members were found one after the other
    embed.b2e is damaged or missing: values in it are lost
    /g/__vlmeta__: the vlmetalayers are lost
    saved.b2z: 104 B of data, see above
    --- stderr
    ");
    dir.b2("verify saved.b2z").ok();
    assert_eq!(
        dir.b2("show saved.b2z::/a").ok().text(),
        dir.b2("show tree-basic.b2z::/a").ok().text()
    );
    // Nothing is lost: exit code 0.
    snapshot!(dir.b2("rescue --json tree-basic.b2z -o again.b2z"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.rescue/1","path":"tree-basic.b2z","output":"again.b2z","complete":true,"nbytes":104,"filled":0,"actions":[],"chunks":{"good":3,"doubtful":0,"lost":0}}
    --- stderr
    "#);
    std::fs::remove_file(dir.path("tree-basic.b2d/embed.b2e")).unwrap();
    snapshot!(dir.b2("rescue tree-basic.b2d -o saved.b2d"), @"
    exit 1
    --- stdout
    embed.b2e is damaged or missing: values in it are lost
    saved.b2d: 104 B of data, see above
    --- stderr
    ");
    assert_eq!(dir.b2("show saved.b2d::/a").ok().text(), "[0 1 2 3 4]\n");
}

#[test]
fn a_bloscpack_file_without_its_magic_is_damaged_and_can_be_rescued() {
    let dir = Dir::new();
    dir.write("data", walk(1000));
    dir.b2("c -q -t4 --format blp data -o a.blp").ok();
    let mut bytes = dir.read("a.blp");
    bytes[..4].fill(0);
    dir.write("a.blp", bytes);
    let run = dir.b2("verify a.blp");
    assert!(run.code != Some(0) && run.stderr.contains("b2 rescue a.blp"), "{}", run.stderr);
    // Under another name it is something else.
    dir.b2("rescue -q a.blp -o b.blp");
    assert_eq!(dir.b2("cat b.blp").ok().stdout, walk(1000));
    std::fs::rename(dir.path("a.blp"), dir.path("a.bin")).unwrap();
    let run = dir.b2("verify a.bin");
    assert!(run.code != Some(0) && !run.stderr.contains("rescue"), "{}", run.stderr);
}
