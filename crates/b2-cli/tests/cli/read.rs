//! `cat` and `decompress` on frames of other programs, and on parts of them.

use blosc_testdata::{
    fixture::{Format, Manifest, path},
    sha256_hex,
};

use crate::session::{Dir, walk};

#[test]
fn every_fixture_gives_its_content() {
    let dir = Dir::new();
    let manifest = Manifest::load().unwrap();
    let mut nfiles = 0;
    // The digest of an array includes the padding of its chunks.
    for fixture in
        manifest.list_format(Format::Cframe).filter(|fixture| !fixture.file.ends_with(".b2nd"))
    {
        let run = dir.b2(&format!("cat {}", fixture.path().display())).ok();
        assert_eq!(sha256_hex(&run.stdout), fixture.sha256, "{}", fixture.file);
        nfiles += 1;
    }
    assert!(nfiles > 20, "{nfiles}");
}

#[test]
fn every_sample_frame_gives_its_content() {
    let dir = Dir::new();
    let mut nfiles = 0;
    for entry in std::fs::read_dir(path("frames")).unwrap() {
        let file = entry.unwrap().path();
        let sidecar = file.with_extension("json");
        if !file.is_file() || file == sidecar || !sidecar.exists() {
            continue;
        }
        let expected: serde_json::Value =
            serde_json::from_slice(&std::fs::read(sidecar).unwrap()).unwrap();
        let digest =
            expected["b2nd"]["c_order_sha256"].as_str().or(expected["raw_sha256"].as_str());
        let Some(digest) = digest.filter(|_| expected["expect"] != "chunks-2-3-unreadable") else {
            continue;
        };
        let run = dir.b2(&format!("cat {}", file.display())).ok();
        assert_eq!(sha256_hex(&run.stdout), digest, "{}", file.display());
        nfiles += 1;
    }
    assert!(nfiles > 20, "{nfiles}");
}

#[test]
fn items_and_bytes_are_ranges_of_python() {
    let dir = Dir::new();
    let data = walk(100_000);
    dir.write("w.i32", &data).b2("c -q -z 64K w.i32").ok();
    for (option, range) in [
        ("--items 10:20", 40..80),
        ("--items :5", 0..20),
        ("--items=-5:", 399_980..400_000),
        ("--items -5:-2", 399_980..399_992),
        ("--items 99999:", 399_996..400_000),
        ("--items 7:7", 0..0),
        ("--items 200000:", 0..0),
        ("--bytes 3:10", 3..10),
        ("--bytes=-64:", 399_936..400_000),
        ("--bytes 65535:65537", 65_535..65_537),
        ("--bytes :", 0..400_000),
    ] {
        assert!(
            dir.b2(&format!("cat {option} w.i32.b2frame")).ok().stdout == data[range],
            "{option}"
        );
    }
    for line in [
        "cat --items x w.i32.b2frame",
        "cat --items a:b w.i32.b2frame",
        "cat --items 1:2 --bytes 1:2 w",
    ] {
        assert_eq!(dir.b2(line).code, Some(2), "{line}");
    }
}

#[test]
fn ranges_reach_over_frames() {
    let dir = Dir::new();
    dir.write("a", "0123").write("b", "456789");
    dir.b2("c -q -t 1 a b").ok();
    let both = [dir.read("a.b2frame"), dir.read("b.b2frame")].concat();
    dir.write("both", &both);
    for (range, expected) in
        [("2:6", "2345"), ("-7:-5", "34"), ("4:", "456789"), (":4", "0123"), (":", "0123456789")]
    {
        assert_eq!(dir.b2(&format!("cat --bytes={range} both")).ok().text(), expected, "{range}");
        assert_eq!(
            dir.b2_with(&format!("cat --items={range}"), &both).ok().text(),
            expected,
            "{range}"
        );
    }
    assert_eq!(dir.b2("cat a.b2frame b.b2frame a.b2frame").ok().text(), "01234567890123");
    assert_eq!(dir.b2(&format!("cat both@{}", dir.read("a.b2frame").len())).ok().text(), "456789");
    assert_eq!(dir.b2("cat both#0").ok().text(), "0123");
    let run = dir.b2("cat both#2");
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (Some(2), "b2: both#2: no frame 2, the file has 2\n")
    );
}

#[test]
fn items_of_different_sizes_cannot_be_counted() {
    let dir = Dir::new();
    dir.write("a", "01234567");
    let frames = [dir.b2("c -qc -t 1 a").ok().stdout, dir.b2("c -qc -t 4 a").ok().stdout].concat();
    let run = dir.write("both", frames).b2("cat --items 0:3 both");
    assert_eq!(run.code, Some(0));
    let run = dir.b2("cat --items 6:9 both");
    assert_eq!(run.code, Some(1));
    assert_eq!(
        run.stderr,
        "b2: both: items of 1 and of 4 bytes follow each other, so that items cannot be counted\n"
    );
}

#[test]
fn arrays_are_cut_in_c_order() {
    let dir = Dir::new();
    let array = path("frames/tiny-nd.b2nd");
    let whole = dir.b2(&format!("cat {}", array.display())).ok().stdout;
    for (range, bytes) in [("0:2", 0..2), ("3:9", 3..9)] {
        let part = dir.b2(&format!("cat --bytes {range} {}", array.display())).ok().stdout;
        assert_eq!(part, whole[bytes]);
    }
    std::fs::copy(&array, dir.path("tiny.b2nd")).unwrap();
    dir.b2("d --format raw tiny.b2nd").ok();
    assert_eq!(dir.read("tiny"), whole);
}

#[test]
fn bytes_after_the_frame_are_skipped_with_a_warning() {
    let dir = Dir::new();
    dir.write("a", "0123").b2("c -q a").ok();
    dir.write("junk", [dir.read("a.b2frame"), b"behind".to_vec()].concat());
    let run = dir.b2("d junk -o back").ok();
    assert_eq!(run.stderr, "b2: junk: warning: 6 bytes after the last frame are no frame\n");
    assert_eq!(dir.read("back"), b"0123");
    assert_eq!(dir.b2("cat junk").ok().text(), "0123");
    assert_eq!(dir.b2_with("cat", &dir.read("junk")).ok().text(), "0123");
    assert_eq!(dir.b2("verify junk").ok().stderr, run.stderr);
}

#[test]
fn standard_input_may_be_a_file_in_the_middle() {
    let dir = Dir::new();
    dir.write("a", "0123").b2("c -q a").ok();
    dir.write("late", [b"before".to_vec(), dir.read("a.b2frame")].concat());
    let mut file = std::fs::File::open(dir.path("late")).unwrap();
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(6)).unwrap();
    let output = dir.command("cat").stdin(file).output().unwrap();
    assert_eq!(output.stdout, b"0123");
}

#[test]
fn limits_stop_before_anything_is_written() {
    let dir = Dir::new();
    dir.write("zeros", vec![0; 1_000_000]).b2("c -q -t 1 zeros").ok();
    for command in ["cat zeros.b2frame", "verify zeros.b2frame", "d zeros.b2frame -o out"] {
        let run = dir.b2(&format!("--max-output 999K {command}"));
        assert_eq!(run.code, Some(0), "{command}: {}", run.stderr);
        std::fs::remove_file(dir.path("out")).ok();
        let run = dir.b2(&format!("-qq --max-output 900K {command}"));
        assert_eq!((run.code, run.text()), (Some(5), ""), "{command}");
        assert!(run.stderr.is_empty(), "{}", run.stderr);
        for option in ["--max-output 900K", "--max-ratio 100"] {
            let run = dir.b2(&format!("{option} {command}"));
            assert_eq!(run.code, Some(5), "{command}");
            // The option that the hint names is enough.
            let (_, hint) = run.stderr.split_once("--max-").unwrap();
            let named = hint.strip_suffix(" allows it\n").unwrap();
            dir.b2(&format!("--max-{named} {command}")).ok();
            std::fs::remove_file(dir.path("out")).ok();
        }
    }
    assert_eq!(dir.names(), ["zeros", "zeros.b2frame"]);
}

#[test]
fn little_memory_is_enough_or_a_limit() {
    let dir = Dir::new();
    let data = walk(1_000_000);
    dir.write("w.i32", &data).b2("c -q w.i32").ok();
    assert!(dir.b2("cat -M 16M w.i32.b2frame").ok().stdout == data);
    let run = dir.b2("c -f -M 1M w.i32");
    assert_eq!(run.code, Some(5), "{}", run.stderr);
    assert!(run.stderr.contains("hint: use -M to allow more"), "{}", run.stderr);
}

#[test]
fn closed_pipe_ends_the_run_quietly() {
    let dir = Dir::new();
    dir.write("w.i32", walk(1_000_000)).b2("c -q w.i32").ok();
    for line in [
        "cat w.i32.b2frame",
        "c -q -c w.i32",
        "info -vv w.i32.b2frame",
        "formats",
        "completions bash",
    ] {
        let mut child = dir.command(line).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}");
        assert_eq!(output.stderr, b"", "{line}");
    }
}

#[test]
fn no_check_is_refused_with_rm() {
    let dir = Dir::new();
    let mut file = std::fs::read(path("bloscpack/old_0110_lost_tail.blp")).unwrap();
    *file.last_mut().unwrap() ^= 1;
    dir.write("c.blp", &file);
    assert_eq!(dir.b2("cat c.blp").code, Some(1));
    let content = dir.b2("cat --no-check c.blp").ok().stdout;
    assert_eq!(content.len(), 19_988);
    dir.b2("d --no-check -o back c.blp").ok();
    assert!(dir.read("back") == content);
    dir.b2("show --no-check c.blp").ok();
    assert_eq!(dir.b2("d --no-check --rm -f -o back c.blp").code, Some(2));
    assert_eq!(dir.b2("verify c.blp").code, Some(1));
}
