//! `b2 rescue` of frames, and the output of `verify` and `cat` for damaged ones.

use serde_json::Value;

use crate::session::{Dir, snapshot, walk, zip};

/// A frame of five chunks of 4 KiB (the last shorter), and a cut within the third.
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
    // The whole rows of an array are saved.
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
fn cat_gives_what_stands_before_the_damage_in_every_format() {
    let dir = Dir::new();
    let data = walk(50_000);
    dir.write("a", &data);
    dir.b2("c -q -t4 -z 16K --format blp a -o a.blp").ok();
    dir.b2("c -q -t4 -z 16K a -o a.b2frame").ok();
    dir.b2("convert -q a.b2frame a.sframe").ok();
    dir.b2("convert -q --dtype i4 --chunks 4096 a a.bcolz").ok();
    let blp = dir.read("a.blp");
    dir.write("cut.blp", &blp[..blp.len() - 30]);
    std::fs::remove_file(dir.path("a.sframe/00000004.chunk")).unwrap();
    dir.write("a.bcolz/data/__4.blp", b"nothing");
    for (name, nbytes) in [("cut.blp", 12 << 14), ("a.sframe", 4 << 14), ("a.bcolz", 4 << 14)] {
        let run = dir.b2(&format!("cat {name}"));
        assert_eq!(run.code, Some(1), "{name}: {}", run.stderr);
        let len = run.stdout.len();
        assert!(len >= nbytes && len < data.len(), "{name}: {len}");
        assert!(data.starts_with(&run.stdout), "{name}");
    }
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
    // A damaged frame between sound ones, and one of which nothing is left.
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
    // The suffix of the damaged file is what counts: without it nothing is recognised.
    dir.b2("rescue -q a.blp -o b.blp");
    assert_eq!(dir.b2("cat b.blp").ok().stdout, walk(1000));
    std::fs::rename(dir.path("a.blp"), dir.path("a.bin")).unwrap();
    let run = dir.b2("verify a.bin");
    assert!(run.code != Some(0) && !run.stderr.contains("rescue"), "{}", run.stderr);
}

/// A bare chunk of ten blocks, cut after the fifth.
fn cut_chunk(dir: &Dir) -> Vec<u8> {
    let data = walk(10_000);
    dir.write("a", &data).b2("c -q -t4 --format chunk --block-size 4000 a -o a.chunk").ok();
    let info: Value =
        serde_json::from_slice(&dir.b2("info -vv --json a.chunk").ok().stdout).unwrap();
    let sixth = usize::try_from(info["blocks"][5]["offset"].as_u64().unwrap()).unwrap();
    let chunk = dir.read("a.chunk");
    dir.write("cut.chunk", &chunk[..sixth + 20]);
    data
}

#[test]
fn the_blocks_of_a_cut_bare_chunk_are_saved() {
    let dir = Dir::new();
    let data = cut_chunk(&dir);
    let run = dir.b2("rescue cut.chunk -o saved.chunk");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let text = run.text();
    assert!(text.contains("filled: blocks 5 to 9\n"), "{text}");
    assert!(text.contains("50.00 % of 39.1 KiB are data"), "{text}");
    let found = dir.b2("cat saved.chunk").ok().stdout;
    assert_eq!(found, [&data[..20_000], &[0; 20_000]].concat());
    dir.b2("verify saved.chunk").ok();
    let run = dir.b2("rescue -f --cut --json cut.chunk -o saved.chunk");
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(report["blocks"], serde_json::json!({"good": 5, "doubtful": 0, "lost": 5}));
    assert_eq!(report["chunks"], serde_json::json!({"good": 0, "doubtful": 1, "lost": 0}));
    assert_eq!(report["bad"][0], serde_json::json!({"block": 5, "state": "lost"}));
    assert_eq!(dir.b2("cat saved.chunk").ok().stdout, data[..20_000]);
    dir.b2("rescue -f --fill 0x01000000 cut.chunk -o saved.chunk");
    assert_eq!(dir.b2("cat --items 9999: saved.chunk").ok().stdout, [1, 0, 0, 0]);
    assert_eq!(dir.b2("rescue -f --fill 0x01 cut.chunk -o saved.chunk").code, Some(2));
    // The output of verify and cat.
    let run = dir.b2("verify cut.chunk");
    assert!(run.code == Some(1) && run.stderr.contains("b2 rescue cut.chunk"), "{}", run.stderr);
    let run = dir.b2("cat cut.chunk");
    assert!(run.code == Some(1) && run.stdout == data[..20_000], "{}", run.stderr);
    let run = dir.b2("rescue a.chunk -o whole.chunk").ok();
    assert_eq!(run.text(), "whole.chunk: everything (39.1 KiB)\n");
}

#[test]
fn bare_chunks_that_follow_each_other_are_saved_one_by_one() {
    let dir = Dir::new();
    let data = cut_chunk(&dir);
    let (chunk, cut) = (dir.read("a.chunk"), dir.read("cut.chunk"));
    dir.write("three", [&chunk[..], &cut, &chunk].concat());
    let run = dir.b2("rescue three -o saved");
    let text = run.text();
    let at = chunk.len();
    let line = format!("chunk 1 at byte {at}: filled: blocks 5 to 9\n");
    assert!(run.code == Some(1) && text.contains(&line), "{text}{}", run.stderr);
    assert!(!text.contains("chunk 0"), "{text}");
    let run = dir.b2(&format!("rescue three@{at} -o one.chunk"));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let filled = [&data[..20_000], &[0; 20_000]].concat();
    assert_eq!(dir.b2("cat one.chunk").ok().stdout, filled);
    let info: Value = serde_json::from_slice(&dir.b2("info --json saved@0").ok().stdout).unwrap();
    let second = info["cbytes"].as_u64().unwrap();
    assert_eq!(dir.b2("cat saved@0").ok().stdout, data);
    assert_eq!(dir.b2(&format!("cat saved@{second}")).ok().stdout, filled);
}

#[test]
fn a_damaged_seal_is_told_from_damaged_data() {
    let dir = Dir::new();
    let data = walk(5_000);
    dir.write("a", &data);
    let report = |name: &str| -> (Option<i32>, Value) {
        let run = dir.b2(&format!("rescue --json -f {name} -o saved.b2frame"));
        (run.code, serde_json::from_slice(&run.stdout).unwrap())
    };
    for checksum in ["body", "chunks"] {
        dir.b2(&format!("c -q -f -t4 -z4K --checksum {checksum} a -o a.b2frame")).ok();
        let sound = dir.read("a.b2frame");
        let flip = |at: usize| {
            let mut bytes = sound.clone();
            bytes[at] ^= 4;
            dir.write("bad.b2frame", bytes);
        };
        assert_eq!(report("a.b2frame").1["seal"], "intact");
        // A bit in the last 16 bytes, or in their type.
        for at in [1, 9, 17] {
            flip(sound.len() - at);
            let run = dir.b2("verify bad.b2frame");
            assert!(run.stderr.contains("the seal is damaged, and nothing else"), "{}", run.stderr);
            let (code, report) = report("bad.b2frame");
            assert_eq!((code, &report["seal"]), (Some(1), &"seal damaged".into()), "{report}");
            assert_eq!(report["chunks"]["good"], 5, "{report}");
            assert_eq!(dir.b2("cat saved.b2frame").ok().stdout, data);
            dir.b2("verify saved.b2frame").ok();
        }
    }
    // A byte of a chunk that is stored uncompressed: a checksum for each chunk names it.
    let noise: Vec<u8> = {
        let mut random = blosc_testdata::data::XorShift32::new(7);
        (0..20_000).map(|_| random.next_u32().to_le_bytes()[0]).collect()
    };
    dir.write("n", noise);
    for (checksum, ndoubtful) in [("body", 5), ("chunks", 1)] {
        dir.b2(&format!("c -q -f -z4K --checksum {checksum} n -o n.b2frame")).ok();
        let mut bytes = dir.read("n.b2frame");
        bytes[10_000] ^= 4;
        dir.write("n.b2frame", bytes);
        let (code, report) = report("n.b2frame");
        assert_eq!((code, &report["seal"]), (Some(1), &"body damaged".into()), "{report}");
        assert_eq!(report["chunks"]["doubtful"], ndoubtful, "{report}");
        assert_eq!(report["chunks"]["lost"], 0, "{report}");
    }
}

#[test]
fn an_array_of_bcolz_without_meta_is_saved_as_raw_items_or_as_the_user_says() {
    let dir = Dir::new();
    dir.write("a", walk(5_000));
    dir.b2("convert -q --dtype f4 a a.bcolz").ok();
    std::fs::remove_dir_all(dir.path("a.bcolz/meta")).unwrap();
    std::fs::remove_file(dir.path("a.bcolz/__attrs__")).unwrap();
    let run = dir.b2("rescue a.bcolz -o raw.bcolz");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.text().contains("the type is lost; items are |V4"), "{}", run.text());
    assert_eq!(dir.b2("cat raw.bcolz").ok().stdout, walk(5_000));
    dir.b2("rescue --dtype f4 a.bcolz -o typed.bcolz");
    let run = dir.b2("info typed.bcolz").ok();
    let info = run.text();
    assert!(info.contains("5 000     <f4"), "{info}");
    assert_eq!(dir.b2("cat typed.bcolz").ok().stdout, walk(5_000));
    assert_eq!(dir.b2("rescue --dtype f4 a -o no").code, Some(2));
}

#[test]
fn rescue_leaves_its_input_unchanged() {
    let dir = Dir::new();
    dir.write("a", walk(20_000));
    for (name, options) in [
        ("a.b2frame", "c -q -t4 -z 16K"),
        ("a.b2nd", "c -q --dtype i4 --shape 200,100 --chunks 20,100"),
        ("a.blp", "c -q -t4 -z 16K --format blp"),
        ("a.chunk", "c -q -t4 --format chunk --block-size 4K"),
    ] {
        dir.b2(&format!("{options} a -o {name}")).ok();
        let bytes = dir.read(name);
        dir.write(name, &bytes[..bytes.len() - 300]);
    }
    dir.b2("c -q -t4 -z 16K a -o b.b2frame").ok();
    dir.b2("convert -q b.b2frame a.sframe").ok();
    dir.b2("convert -q --dtype i4 --chunks 4096 a a.bcolz").ok();
    dir.write("a.sframe/00000001.chunk", b"nothing");
    dir.write("a.bcolz/data/__2.blp", b"nothing");
    let files = ["a.b2frame", "a.b2nd", "a.blp", "a.chunk"];
    let folders = ["a.sframe", "a.bcolz"];
    for name in files.into_iter().chain(folders) {
        let before = all_files(&dir.path(name));
        for options in ["", "--cut", "--fill 0x01000000"] {
            let run = dir.b2(&format!("rescue -f {options} {name} -o saved-{name}"));
            assert_eq!(run.code, Some(1), "{name} {options}: {}", run.stderr);
            dir.b2(&format!("verify saved-{name}")).ok();
        }
        assert!(before == all_files(&dir.path(name)), "{name}");
    }
}

/// The files at or below a path, with what is in them.
fn all_files(path: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    if path.is_file() {
        return vec![(path.to_owned(), std::fs::read(path).unwrap())];
    }
    let mut entries: Vec<_> =
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries.iter().flat_map(|entry| all_files(entry)).collect()
}

/// A rescued data set is sound, after a flip of any bit of its metadata.
#[test]
fn no_flipped_bit_of_metadata_of_bcolz_is_left_in_what_was_rescued() {
    let dir = Dir::new();
    dir.write("t.csv", "id,x\n1,2\n3,4\n");
    dir.b2("convert -q t.csv t.bcolz").ok();
    for file in ["t.bcolz/id/meta/storage", "t.bcolz/id/meta/sizes", "t.bcolz/id/__attrs__"] {
        let sound = dir.read(file);
        for at in (0..sound.len()).step_by(7) {
            let mut damaged = sound.clone();
            damaged[at] ^= 1 << (at % 8);
            dir.write(file, &damaged);
            let run = dir.b2("rescue -f t.bcolz -o new.bcolz");
            if run.code == Some(0) || dir.path("new.bcolz").exists() {
                let verified = dir.b2("verify new.bcolz");
                assert_eq!(verified.code, Some(0), "{file} {at}: {} {}", run.all(), verified.all());
            }
            let _there = std::fs::remove_dir_all(dir.path("new.bcolz"));
        }
        dir.write(file, &sound);
    }
}

#[test]
fn files_of_numpy_that_were_cut_give_the_rows_and_the_arrays_that_are_there() {
    let dir = Dir::new();
    let items: Vec<u8> = (0..24_u16).flat_map(u16::to_le_bytes).collect();
    dir.write("a.u16", &items);
    dir.b2("convert -q --dtype u2 --shape 4,6 a.u16 a.npy").ok();
    let whole = dir.read("a.npy");
    let fortran = String::from_utf8_lossy(&whole[..128]).contains("False");
    assert!(fortran && whole.len() == 128 + 48);
    let mut turned = whole.clone();
    let at = turned.windows(5).position(|part| part == b"False").unwrap();
    turned[at..at + 5].copy_from_slice(b"True ");
    for (name, bytes, keeps, shape) in [
        ("c", &whole, 48, "4 x 6"),
        ("c", &whole, 47, "3 x 6"),
        ("c", &whole, 12, "1 x 6"),
        ("f", &turned, 47, "4 x 5"),
        ("f", &turned, 8, "4 x 1"),
    ] {
        dir.write("cut.npy", &bytes[..128 + keeps]);
        let run = dir.b2("rescue -f cut.npy -o saved.npy");
        let code = if keeps == 48 { 0 } else { 1 };
        assert_eq!(run.code, Some(code), "{name} {keeps}: {}", run.all());
        assert_eq!(run.text().contains("rows are there"), keeps < 48, "{}", run.all());
        let info = dir.b2("info saved.npy").ok();
        assert!(info.text().contains(shape), "{name} {keeps}: {}", info.text());
        assert_eq!(dir.read("saved.npy")[128..], bytes[128..][..shape_nbytes(shape)]);
    }
    for (keeps, code, said) in [(128 + 11, 1, "no sound"), (20, 1, "no sound")] {
        dir.write("cut.npy", &whole[..keeps]);
        let run = dir.b2("rescue -f cut.npy -o none.npy");
        assert_eq!(run.code, Some(code), "{}", run.all());
        assert!(run.stderr.contains(said) && !dir.path("none.npy").exists(), "{}", run.all());
    }
    let archive = zip(&[("a.npy", &whole), ("g/b.npy", &whole), ("c.npy", &whole)]);
    let second = 30 + 5 + whole.len();
    for (keeps, said, equal) in [
        (archive.len(), "everything", 3),
        (archive.len() - 30, "cut off: the directory", 3),
        (second + 30 + 7 + 128 + 12, "doubtful: g/b.npy: cut: 1 of 4 rows", 1),
        (second + 30 + 7 + 100, "lost: g/b.npy", 1),
        (second + 10, "cut off: the directory", 1),
    ] {
        dir.write("whole.npz", &archive).write("cut.npz", &archive[..keeps]);
        let run = dir.b2("rescue -f cut.npz -o saved.npz");
        assert_eq!(run.code, Some(i32::from(keeps < archive.len())), "{keeps}: {}", run.all());
        assert!(run.text().contains(said), "{keeps}: {}", run.all());
        let found = dir.b2("diff saved.npz whole.npz").text().matches("equal: 24 items").count();
        assert_eq!(found, if equal == 3 { 3 } else { found.min(1) }, "{keeps}");
    }
    for (line, said) in [
        ("rescue --fill nan cut.npy -o x.npy", "--fill does not apply"),
        ("rescue cut.npz -o x.b2z", "the output of this rescue is a .npz file"),
    ] {
        let run = dir.b2(line);
        assert!(run.code == Some(2) && run.stderr.contains(said), "{line}: {}", run.all());
    }
}

fn shape_nbytes(shape: &str) -> usize {
    shape.split(" x ").map(|len| len.parse::<usize>().unwrap()).product::<usize>() * 2
}
