//! `verify`: sound and damaged files, and the report.

use blosc_testdata::fixture::{Format, Manifest, path};

use crate::session::{Dir, snapshot, walk};

#[test]
fn sound_frames_are_ok() {
    let dir = Dir::new();
    for fixture in Manifest::load().unwrap().list_format(Format::Cframe) {
        let name = fixture.path().display().to_string();
        assert_eq!(
            dir.b2(&format!("verify {name}")).ok().text(),
            format!("{name}: OK (decoded; no checksums stored)\n")
        );
    }
}

/// A frame of five chunks of 4000 bytes; the streams of the third and the last are damaged.
fn damaged() -> Dir {
    let dir = Dir::new();
    dir.write("w.i32", walk(5000)).b2("c -q -z 4000 w.i32").ok();
    let table: serde_json::Value =
        serde_json::from_slice(&dir.b2("info --json -vv w.i32.b2frame").ok().stdout).unwrap();
    let mut frame = dir.read("w.i32.b2frame");
    for nchunk in [2, 4] {
        let at = usize::try_from(table["chunks"][nchunk]["offset"].as_u64().unwrap()).unwrap();
        // The first four bytes after the block starts hold the length of a stream.
        frame[at + 36..at + 40].copy_from_slice(&i32::MAX.to_le_bytes());
    }
    dir.write("bad.b2frame", frame);
    dir
}

#[test]
fn every_bad_chunk_is_named() {
    let run = damaged().b2("verify bad.b2frame");
    assert_eq!(run.code, Some(1));
    assert_eq!(run.text(), "bad.b2frame: DAMAGED: 3 chunks good, 2 bad\n");
    let lines: Vec<_> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{}", run.stderr);
    assert_eq!(lines[2], "hint: `b2 rescue bad.b2frame -o NEW` saves what can be read");
    assert!(lines[0].starts_with("b2: bad.b2frame: chunk 2 at byte "), "{}", run.stderr);
    assert!(lines[1].starts_with("b2: bad.b2frame: chunk 4 at byte "), "{}", run.stderr);
}

#[test]
fn json_has_a_row_for_every_bad_chunk() {
    let dir = damaged();
    let run = dir.b2("t --json bad.b2frame w.i32.b2frame");
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""));
    let documents: Vec<serde_json::Value> =
        run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [bad, good] = &documents[..] else { panic!("two documents") };
    assert_eq!(
        (&bad["schema"], &bad["ok"], &bad["nchunks"]),
        (&"b2.verify/1".into(), &false.into(), &5.into())
    );
    assert_eq!((&bad["bad"][0]["chunk"], &bad["bad"][1]["chunk"]), (&2.into(), &4.into()));
    assert_eq!(bad["bad"][0]["kind"], "data");
    assert!(bad["bad"][0]["offset"].is_u64() && bad["bad"][0]["message"].is_string());
    assert_eq!(
        (&good["ok"], &good["bad"], &good["checksums"]),
        (&true.into(), &serde_json::json!([]), &"xxh3".into())
    );
}

#[test]
fn sound_chunks_of_a_damaged_frame_are_readable() {
    let dir = damaged();
    let data = dir.read("w.i32");
    assert!(dir.b2("cat --bytes 0:8000 bad.b2frame").ok().stdout == data[..8000]);
    assert!(dir.b2("cat --bytes 12000:16000 bad.b2frame").ok().stdout == data[12_000..16_000]);
    let run = dir.b2("cat bad.b2frame");
    assert_eq!(run.code, Some(1));
    assert!(run.stdout == data[..8000]);
}

#[test]
fn leftovers_of_c_blosc2_are_warnings() {
    // The header gives another block size than that of the blocks.
    let file = path("frames/special-value.b2frame");
    assert_eq!(Dir::new().b2(&format!("verify {}", file.display())).code, Some(0));
}

#[test]
fn sizes_that_are_lost_are_damage() {
    let dir = Dir::new();
    std::fs::copy(path("frames/variable-with-two-specials.b2frame"), dir.path("two.b2frame"))
        .unwrap();
    snapshot!(dir.b2("verify two.b2frame"), @r"
    exit 1
    --- stdout
    two.b2frame: DAMAGED: 3 chunks good, 2 bad
    --- stderr
    b2: two.b2frame: at byte 540: chunk 2 has no size: 2 special chunks share 800 bytes
    b2: two.b2frame: at byte 540: chunk 3 has no size: 2 special chunks share 800 bytes
    hint: `b2 rescue two.b2frame -o NEW` saves what can be read
    ");
    snapshot!(dir.b2("verify --json two.b2frame"), @r#"
    exit 1
    --- stdout
    {"schema":"b2.verify/1","path":"two.b2frame","ok":false,"nchunks":5,"nbytes":1000,"bad":[{"offset":540,"chunk":2,"kind":"data","message":"at byte 540: chunk 2 has no size: 2 special chunks share 800 bytes"},{"offset":540,"chunk":3,"kind":"data","message":"at byte 540: chunk 3 has no size: 2 special chunks share 800 bytes"}],"checksums":"none","hint":"`b2 rescue two.b2frame -o NEW` saves what can be read"}
    --- stderr
    "#);
}

#[test]
fn an_unknown_codec_is_not_damage() {
    let dir = Dir::new();
    // With a seal, the changed bytes would be damage.
    dir.write("w", walk(1000)).b2("c -q -t 4 --checksum none w").ok();
    let mut frame = dir.read("w.b2frame");
    // Format 6 in the flags of the first chunk, which stands for an unknown codec.
    frame[97 + 2] = frame[97 + 2] & 0x1f | 6 << 5;
    frame[97 + 22] = 200;
    let run = dir.write("w.b2frame", frame).b2("verify w.b2frame");
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert_eq!(run.text(), "w.b2frame: NOT READABLE: 0 chunks good, 1 bad\n");
    assert!(run.stderr.contains("200"), "{}", run.stderr);
}

#[test]
fn a_seal_notices_a_flipped_bit_and_is_not_renewed_over_it() {
    let dir = Dir::new();
    let mut random = blosc_testdata::data::XorShift32::new(7);
    let noise: Vec<u8> = (0..40_000).map(|_| random.next_u32().to_le_bytes()[0]).collect();
    dir.write("a", noise);
    assert_eq!(dir.b2("c -q -z 8K a -o a.b2frame").code, Some(0));
    assert_eq!(dir.b2("seal --checksum none a.b2frame").code, Some(0));
    let flip = |at: usize| {
        let mut bytes = dir.read("a.b2frame");
        bytes[at] ^= 4;
        dir.write("a.b2frame", bytes);
    };
    // Noise is stored uncompressed, so that only the seal can notice.
    flip(20_000);
    assert_eq!(dir.b2("verify a.b2frame").code, Some(0));
    flip(20_000);
    assert_eq!(dir.b2("seal --checksum chunks a.b2frame").code, Some(0));
    assert_eq!(dir.b2("verify a.b2frame").code, Some(0));
    flip(20_000);
    let run = dir.b2("verify a.b2frame");
    assert_eq!(run.code, Some(1));
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(text.contains("4 chunks good, 1 bad"), "{text}");
    assert_eq!(dir.b2("seal a.b2frame").code, Some(1));
    let run = dir.b2("rescue a.b2frame -o b.b2frame");
    assert_eq!(run.code, Some(1));
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(text.contains("the checksum says that data changed: chunk 2"), "{text}");
    assert_eq!(dir.b2("verify a.b2frame").code, Some(1));
}

#[test]
fn chunks_that_known_defects_may_have_spoiled_are_warnings() {
    let dir = Dir::new();
    dir.write("w.i32", walk(5000)).b2("c -q --filter delta,shuffle,bytedelta w.i32").ok();
    dir.b2("c -q --filter shuffle w.i32 -o plain.b2frame").ok();
    snapshot!(dir.b2("verify w.i32.b2frame plain.b2frame"), @r#"
    exit 0
    --- stdout
    w.i32.b2frame: OK (decoded; xxh3 of 1 chunk checked)
    plain.b2frame: OK (decoded; xxh3 of 1 chunk checked)
    --- stderr
    b2: w.i32.b2frame: warning: chunk 0: three or more filters, with which C-Blosc2 2.10.0 to 3.3.5 spoiled data
    "#);
}

#[test]
fn every_suspicious_form_has_a_warning() {
    let dir = Dir::new();
    dir.write("odd", &walk(1001)[..4003]);
    // The program does not write this order of filters, so the header is changed.
    for (options, warning) in [
        ("--filter shuffle,bytedelta_legacy", "bytedelta as filter 34"),
        ("--filter shuffle,bytedelta", "bytedelta with bytes after the last item"),
        ("--filter delta", "delta with bytes after the last item"),
        ("--filter delta,shuffle", "delta after another filter"),
        ("--filter delta,bitshuffle,shuffle", "three or more filters"),
    ] {
        let run = dir.b2(&format!("c -q -f -t4 -C lz4 --format chunk {options} odd -o odd.chunk"));
        assert_eq!(run.code, Some(0), "{options}: {}", run.stderr);
        if warning == "delta after another filter" {
            let mut chunk = dir.read("odd.chunk");
            chunk[16..22].reverse();
            dir.write("odd.chunk", chunk);
        }
        let run = dir.b2("verify odd.chunk").ok();
        assert!(run.stderr.contains(warning), "{options}: {}", run.stderr);
    }
    dir.b2("c -q -f -t4 -C lz4 --format chunk odd -o odd.chunk").ok();
    assert_eq!(dir.b2("verify odd.chunk").ok().stderr, "");
}

#[test]
fn items_that_the_shape_hides_are_told() {
    let dir = Dir::new();
    let sample = path("frames/nd-stale-padding.b2nd");
    std::fs::copy(sample, dir.path("x.b2nd")).unwrap();
    let run = dir.b2("verify x.b2nd").ok();
    assert!(run.stderr.contains("warning: 1 chunk, the first is 0: items outside of the shape"));
    // Padding, blank or of a fill value, is not data.
    dir.write("w.i32", walk(70)).b2("c -q --dtype i4 --shape 7,10 --chunks 4,4 w.i32").ok();
    assert_eq!(dir.b2("verify w.i32.b2nd").ok().stderr, "");
    let params = b2frame::NdParams::new(&[7, 10], "<i4".parse().unwrap()).chunkshape(&[4, 4]);
    let params = params.fill(b2frame::nd::Fill::Value(vec![1, 2, 3, 4]));
    let mut writer = b2frame::NdWriter::create(dir.path("f.b2nd"), &params).unwrap();
    writer.write_bytes(b2frame::nd::Selection::from((6, 9)), &[0; 4]).unwrap();
    drop(writer.finish().unwrap());
    assert_eq!(dir.b2("verify f.b2nd").ok().stderr, "");
}

#[cfg(unix)]
#[test]
fn an_index_or_marker_that_leads_out_of_its_folder_is_told() {
    let dir = Dir::new();
    for (folder, name) in [("s", "chunks.b2frame"), ("e.b2d", "embed.b2e")] {
        std::fs::create_dir_all(dir.path("t").join(folder)).unwrap();
        std::fs::copy(path("frames/tiny.b2frame"), dir.path(name)).unwrap();
        let link = dir.path("t").join(folder).join(name);
        std::os::unix::fs::symlink(dir.path(name), link).unwrap();
        let run = dir.b2("verify -r t");
        assert_ne!((run.code, run.text().contains("OK")), (Some(0), true), "{name}");
        assert!(run.stderr.contains(&format!("t/{folder}")), "{name}: {}", run.stderr);
        let one = dir.b2(&format!("verify t/{folder}"));
        assert_eq!((one.code, one.stderr.is_empty()), (run.code, false), "{name}");
        std::fs::remove_dir_all(dir.path("t")).unwrap();
    }
}

#[test]
fn an_empty_index_is_damage_for_every_command() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("s.b2frame")).unwrap();
    dir.write("s.b2frame/chunks.b2frame", b"");
    for command in ["verify", "list", "info", "show", "cat", "sum"] {
        let run = dir.b2(&format!("{command} s.b2frame"));
        assert_eq!(run.code, Some(1), "{command}: {}", run.stderr);
        assert!(run.stderr.contains("not a Blosc file (it is empty)"), "{command}: {}", run.stderr);
    }
}
