//! Hostile input: none of it reaches a terminal as a control character, and little data do not
//! become much by default.

use std::{fs, process::Command};

use b2frame::{FrameParams, NdParams, NdWriter, SChunkWriter};
use blosc_chunk::{CParams, Special};

use crate::session::{Dir, Run, snapshot, walk, zip};

/// Sets a window title and colours, and reverses the direction of the text that follows.
const EVIL: &str = "\x1b]0;PWNED\x07\u{9b}31m\u{202e}";

/// Asserts that a text has no control characters besides line breaks.
#[track_caller]
fn assert_harmless(text: &str) {
    let harmful = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.contains(harmful), "{text:?}");
}

#[cfg(unix)]
#[test]
fn names_and_values_are_escaped() {
    let dir = Dir::new();
    let frame = format!("{EVIL}\n.b2frame");
    let mut writer = SChunkWriter::create(dir.path(&frame), &FrameParams::default()).unwrap();
    writer.append(&walk(100)).unwrap();
    writer.set_vlmeta(format!("m{}", &EVIL[..12]), b"\xa5\x1b[31m").unwrap();
    writer
        .set_vlmeta("text", &[&[0xd9, 11][..], "a\u{9b}\u{202e}\n\x1b[2J".as_bytes()].concat())
        .unwrap();
    writer.commit().unwrap();
    for line in ["info -v", "verify", "meta get", "dump", "list", "cat --items 1:2 --max-output 1"]
    {
        for json in ["", " --json"] {
            let mut command = dir.command(&format!("{line}{json}"));
            let output = command.arg(&frame).output().unwrap();
            assert_harmless(core::str::from_utf8(&output.stderr).unwrap());
            let text = String::from_utf8(output.stdout).unwrap();
            if json.is_empty() {
                // In a pipe the name keeps its bytes, but stays on one line.
                assert_harmless(&text.replace(EVIL, ""));
            } else {
                assert_harmless(&text);
            }
            assert!(
                !text.contains(".b2frame")
                    || json == " --json"
                    || text.contains(&format!("{EVIL}\\n.b2frame")),
                "{text:?}"
            );
        }
    }
    let run = dir.command("info --json").arg(&frame).output().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(document["path"], frame);
    assert_eq!(document["vlmetalayers"]["text"], "a\u{9b}\u{202e}\n\x1b[2J");
}

#[test]
fn messages_name_a_hostile_file_harmlessly() {
    let dir = Dir::new();
    let output = dir.command("info").arg(format!("{EVIL}\nb2: fine.b2frame: OK")).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        "b2: \\u{1b}]0;PWNED\\u{7}\\u{9b}31m\\u{202e}\\nb2: fine.b2frame: OK: no such file or directory\n"
    );
    let output = dir.command("info").arg(format!("--{EVIL}")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_harmless(core::str::from_utf8(&output.stderr).unwrap());
}

/// Pictures show the name of their file.
#[cfg(unix)]
#[test]
fn the_titles_of_plots_are_escaped() {
    let dir = Dir::new();
    dir.write("a", walk(100)).b2("c -q --dtype <i4 --shape 100 a -o a.b2nd").ok();
    let name = format!("{EVIL}\r.b2nd");
    fs::rename(dir.path("a.b2nd"), dir.path(&name)).unwrap();
    let shown = dir.command("plot --size 60x10").arg(&name).output().unwrap();
    assert!(shown.status.success());
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.contains("PWNED"), "{text}");
    assert_harmless(&text);
    assert!(dir.command("plot -o p.svg").arg(&name).status().unwrap().success());
    assert_harmless(core::str::from_utf8(&dir.read("p.svg")).unwrap());
}

#[test]
fn csv_in_a_pipe_keeps_its_bytes() {
    let dir = Dir::new();
    dir.write("t.csv", "id,text\n1,a\x1b[31m\n").b2("convert t.csv t.bcolz").ok();
    assert_eq!(dir.b2("show --csv t.bcolz").ok().text(), "id,text\n1,a\x1b[31m\n");
    assert_harmless(dir.b2("show t.bcolz").ok().text());
    let shown = dir.b2("show --json t.bcolz").ok();
    assert_eq!(shown.text(), "{\"id\":1,\"text\":\"a\\u001b[31m\"}\n");
}

#[test]
fn items_may_be_wider_than_a_format_string_can_pad() {
    let dir = Dir::new();
    dir.write("s", "a".repeat(140_000)).b2("c -q --shape 2 --dtype S70000 s -o s.b2nd").ok();
    let shown = dir.b2("show s.b2nd").ok();
    assert_eq!(shown.text().len(), 2 * 70_003 + 5);
    let short = [&b"a".repeat(70_000)[..], &[0; 70_000]].concat();
    dir.write("s", short).b2("c -qf --shape 2 --dtype S70000 s -o s.b2nd").ok();
    assert!(dir.b2("show s.b2nd").ok().text().ends_with(" b'']\n"));
}

/// An array of zeros that a few hundred bytes describe.
fn bomb(dir: &Dir, nitems: u64) {
    let params = NdParams::new(&[nitems], "u1".parse().unwrap());
    let params = params.chunkshape(&[1 << 24]).blockshape(&[1 << 20]);
    NdWriter::create(dir.path("bomb.b2nd"), &params).unwrap().finish().unwrap();
}

/// 17 GiB in chunks of 33 bytes.
fn many_alike(dir: &Dir) {
    let (params, nbytes) = (CParams::default().typesize(1), 16 << 20);
    let chunk = blosc_chunk::special_chunk(Special::Value(b"7"), nbytes, &params).unwrap();
    let params = FrameParams::new(params).chunksize(nbytes);
    let mut writer = SChunkWriter::create(dir.path("many"), &params).unwrap();
    (0..1100).for_each(|_| writer.append_chunk(&chunk).unwrap());
    writer.commit().unwrap();
}

#[test]
fn decompression_bombs_are_refused_by_default() {
    let dir = Dir::new();
    bomb(&dir, 1 << 42);
    for line in [
        "d bomb.b2nd",
        "cat bomb.b2nd",
        "convert bomb.b2nd bomb.blp",
        "sum bomb.b2nd",
        "diff bomb.b2nd bomb.b2nd",
        "plot bomb.b2nd",
        "rescue bomb.b2nd -o saved",
        "show --csv bomb.b2nd",
        "info --max-output 1M bomb.b2nd",
        "info --max-ratio 1000 bomb.b2nd",
        "show --max-output 1M bomb.b2nd",
        "dump --max-output 1M bomb.b2nd",
    ] {
        let run = dir.b2(line);
        assert_eq!((run.code, run.text()), (Some(5), ""), "{line}: {}", run.stderr);
        assert!(run.stderr.contains(" allows it\n"), "{line}: {}", run.stderr);
    }
    dir.write("a", walk(100)).b2("c -q -t 1 a").ok();
    assert_eq!(dir.b2("append a.b2frame bomb.b2nd").code, Some(5));
    assert_eq!(dir.names(), ["a", "a.b2frame", "bomb.b2nd"]);
    // A command that reads a part works.
    snapshot!(dir.b2("show bomb.b2nd"), @"
    exit 0
    --- stdout
    [0 0 0 ... 0 0 0]
    --- stderr
    ");
    dir.b2("info bomb.b2nd").ok();
    // `verify` and `stats` do not decode runs.
    dir.b2("verify bomb.b2nd").ok();
    dir.b2("stats bomb.b2nd").ok();
    dir.b2("seal bomb.b2nd").ok();
    dir.b2("verify bomb.b2nd").ok();
    // Chunks are decoded, even if many are alike.
    many_alike(&dir);
    dir.b2("stats many").ok();
    for line in ["verify many", "seal many", "sum many", "rescue many -o s"] {
        let run = dir.b2(line);
        assert_eq!((run.code, run.text()), (Some(5), ""), "{line}: {}", run.stderr);
    }
}

#[test]
fn a_range_of_an_array_decodes_what_holds_it() {
    let dir = Dir::new();
    bomb(&dir, 1 << 42);
    assert_eq!(dir.b2("cat --bytes=-8: bomb.b2nd").ok().stdout, [0; 8]);
    assert_eq!(dir.b2("cat --items 4000000000000:4000000000003 bomb.b2nd").ok().stdout, [0; 3]);
    let data = walk(60_000);
    dir.write("a", &data).b2("c -q --dtype i4 --shape 100,20,30 --chunks 10,20,7 a -o a.b2nd").ok();
    for (from, to) in [(0, 4), (2_399, 2_403), (77_777, 99_999), (1, 240_000)] {
        let run = dir.b2(&format!("cat --bytes {from}:{to} a.b2nd")).ok();
        assert!(run.stdout == data[from..to], "{from}:{to}");
    }
    // Damage outside of the part does not matter.
    let mut frame = dir.read("a.b2nd");
    let middle = frame.len() / 2;
    frame[middle..middle + 4000].fill(0xff);
    dir.write("a.b2nd", frame);
    assert_eq!(dir.b2("cat a.b2nd").code, Some(1));
    assert!(dir.b2("cat --bytes 0:20000 a.b2nd").ok().stdout == data[..20_000]);
}

#[test]
fn a_table_of_millions_of_chunks_is_cut() {
    let dir = Dir::new();
    bomb(&dir, 1 << 42);
    let run = dir.b2("info -vv bomb.b2nd").ok();
    assert!(run.text().ends_with("  ... 162 144 more (-vvv lists all)\n"), "{}", run.text().len());
    let document: serde_json::Value =
        serde_json::from_slice(&dir.b2("info -vv --json bomb.b2nd").ok().stdout).unwrap();
    assert_eq!(document["chunks"].as_array().unwrap().len(), 100_000);
    assert_eq!(document["chunks_left_out"], 162_144);
}

const LAST_LARGER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../conformance/samples/bloscpack/old_v2_last_larger.blp"
);

/// Small files with large claims: every command stays within the memory limit of the system, and
/// reports the size.
#[cfg(target_os = "linux")]
#[test]
fn false_claims_of_size_get_no_memory() {
    let dir = Dir::new();
    dir.write("t.csv", "id\n1\n").b2("convert -q t.csv t.b2d").ok();
    let (embed, value) = (dir.read("t.b2d/embed.b2e"), dir.read("t.b2d/_cols/id.b2nd"));
    let archive = |keys: &[String]| {
        let values = keys.iter().map(|key| (key.as_str(), &value[..]));
        zip(&values.chain([("embed.b2e", &embed[..])]).collect::<Vec<_>>())
    };
    let deep = |name: &str, levels: usize| format!("{name}/{}v.b2nd", "a/".repeat(levels));
    dir.write("levels.b2z", archive(&[deep("x", 30_000)]));
    dir.write("long.b2z", archive(&[format!("{}.b2nd", "x".repeat(60_000))]));
    let wide: Vec<String> =
        (0..200).map(|n| format!("{n}/{}v.b2nd", "0123456789abcde/".repeat(250))).collect();
    dir.write("wide.b2z", archive(&wide));
    let mut last = fs::read(LAST_LARGER).unwrap();
    last[15] = 0x40;
    dir.write("last.blp", last);
    for (file, claims) in
        [("levels.b2z", true), ("long.b2z", true), ("wide.b2z", true), ("last.blp", false)]
    {
        for line in [
            "info",
            "list",
            "list --tree",
            "verify",
            "cat",
            "show",
            "stats",
            "sum",
            "rescue -o new --fill 0x0000803f",
            "rescue -o new2",
            "unpack -o new3",
            "convert -o n.npy",
        ] {
            let line = format!("{line} --max-memory 64M {file}");
            let mut limited = Command::new("sh");
            let command = dir.command(&line);
            limited.args(["-c", "ulimit -v 800000; exec \"$0\" \"$@\""]).arg(command.get_program());
            limited.args(command.get_args()).current_dir(dir.path("."));
            let run = Run::of(limited.output().unwrap());
            let is_said = if claims { &[4, 5][..] } else { &[0, 1, 2, 4, 5] };
            let code = run.code.unwrap_or(-1);
            assert!(is_said.contains(&code), "{line}: {code} {}", run.stderr);
            assert!(run.stderr.len() < 1000, "{line}: {}", run.stderr);
        }
    }
    assert_eq!(dir.b2("rescue --fill 0x0000803f --max-memory 64M last.blp -o r").code, Some(5));
}
