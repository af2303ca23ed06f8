//! Compressing and restoring: files, pipes, options.

use crate::session::{Dir, snapshot, walk};

#[test]
fn file_round_trips() {
    let dir = Dir::new();
    let data = walk(100_000);
    dir.write("walk.i32", &data);
    let run = dir.b2("compress walk.i32").ok();
    assert_eq!(run.text(), "");
    assert!(
        run.stderr.starts_with("walk.i32 -> walk.i32.b2frame   390.6 KiB -> "),
        "{}",
        run.stderr
    );
    assert_eq!(dir.names(), ["walk.i32", "walk.i32.b2frame"]);
    dir.b2("decompress walk.i32.b2frame -o back").ok();
    assert!(dir.read("back") == data);
    assert!(dir.b2("cat walk.i32.b2frame").ok().stdout == data);
}

#[test]
fn aliases_and_gzip_manners_do_the_same() {
    let dir = Dir::new();
    let data = walk(1000);
    dir.write("w.i32", &data);
    for (compress, restore) in [("c", "d"), ("-z", "-d"), ("compress", "x")] {
        dir.b2(&format!("{compress} -f w.i32 -o w.b2frame")).ok();
        dir.b2(&format!("{restore} -f w.b2frame")).ok();
        assert_eq!(dir.read("w"), data, "{compress}");
    }
    assert_eq!(dir.b2("-dc w.b2frame").ok().stdout, data);
}

#[test]
fn every_length_comes_back() {
    let dir = Dir::new();
    for len in [0, 1, 3, 4, 5, 31, 32, 33, 4095, 100_001] {
        let data = &walk(30_000)[..len];
        dir.write("data", data);
        for options in ["", "-t 4", "-t 7 -z 1000", "-z 64 -t 1 -0"] {
            dir.b2(&format!("c -qf {options} data")).ok();
            assert!(dir.b2("cat data.b2frame").ok().stdout == data, "{len} {options}");
            assert!(dir.b2_with(&format!("c -q {options}"), data).ok().stdout.len() >= 132);
        }
    }
}

#[test]
fn requested_codec_level_and_filter_are_used() {
    let dir = Dir::new();
    let data = walk(20_000);
    dir.write("w.i32", &data);
    for (options, codec, level, filters) in [
        ("", "zstd", 5, "[\"shuffle\"]"),
        ("--fast", "lz4", 1, "[\"shuffle\"]"),
        ("--best", "zstd", 9, "[\"shuffle\"]"),
        ("-3 -C blosclz", "blosclz", 3, "[\"shuffle\"]"),
        ("-l 7 -C lz4hc --filter none", "lz4hc", 7, "[]"),
        ("-C zlib --filter delta,bitshuffle", "zlib", 5, "[\"delta\",\"bitshuffle\"]"),
        ("-C 4 -0", "zlib", 0, "[\"shuffle\"]"),
        ("--lossy --filter int_trunc:-4,shuffle", "zstd", 5, "[\"int_trunc\",\"shuffle\"]"),
    ] {
        dir.b2(&format!("c -qf {options} w.i32 -o out")).ok();
        let info: serde_json::Value =
            serde_json::from_slice(&dir.b2("info --json out").ok().stdout).unwrap();
        assert_eq!((&info["codec"], &info["clevel"]), (&codec.into(), &level.into()), "{options}");
        assert_eq!(info["filters"].to_string(), filters, "{options}");
        assert_eq!(info["typesize"], 4);
        if !options.contains("lossy") {
            assert!(dir.b2("cat out").ok().stdout == data, "{options}");
        }
    }
}

#[test]
fn item_size_is_printed_with_its_reason() {
    let dir = Dir::new();
    let said = |line: &str| dir.b2(line).ok().stderr.lines().next().unwrap().to_owned();
    dir.write("w.f64", walk(5000))
        .write("w.dat", walk(5000))
        .write("t.dat", "words and words, ".repeat(500));
    assert!(
        said("c -fv w.f64")
            .starts_with("w.f64: items of 8 bytes (from the name), shuffle -> zstd level 5")
    );
    assert!(said("c -fv w.dat").starts_with("w.dat: items of 4 bytes (guessed from the data), "));
    assert!(said("c -fv t.dat").starts_with("t.dat: items of 1 byte (guessed from the data), "));
    assert!(said("c -fv -t 2 w.f64").starts_with("w.f64: items of 2 bytes, "));
}

#[test]
fn the_result_does_not_depend_on_threads() {
    let dir = Dir::new();
    dir.write("w.i32", walk(2_000_000));
    let frame = |threads| {
        dir.b2(&format!("c -qf -T {threads} -z 256K w.i32")).ok();
        dir.read("w.i32.b2frame")
    };
    let one = frame(1);
    assert!(one == frame(2));
    assert!(one == frame(4));
    for threads in [1, 2, 4] {
        assert!(
            dir.b2(&format!("cat -T {threads} w.i32.b2frame")).ok().stdout == dir.read("w.i32")
        );
    }
}

#[test]
fn the_result_does_not_depend_on_vector_instructions() {
    let dir = Dir::new();
    dir.write("w.i32", walk(50_000));
    for filter in ["shuffle", "bitshuffle"] {
        let best = dir.b2(&format!("c -qc --filter {filter} w.i32")).ok().stdout;
        assert!(
            best == dir.b2(&format!("c -qc --simd none --filter {filter} w.i32")).ok().stdout,
            "{filter}"
        );
        dir.write("w.b2frame", best);
        assert!(dir.b2("cat --simd none w.b2frame").ok().stdout == dir.read("w.i32"), "{filter}");
    }
    for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        let best = dir.b2(&format!("c -qc -C {codec} w.i32")).ok().stdout;
        let scalar = dir.b2(&format!("c -qc -C {codec} --simd none w.i32")).ok().stdout;
        assert!(best == scalar, "{codec}");
        dir.write("w.b2frame", best);
        assert!(dir.b2("cat --simd none w.b2frame").ok().stdout == dir.read("w.i32"), "{codec}");
    }
    assert_eq!(dir.b2("c --simd mmx w.i32").code, Some(2));
}

#[test]
fn a_pipe_makes_frames_that_follow_each_other() {
    let dir = Dir::new();
    // A little over two frames of 64 MiB; mostly zeros, which are fast.
    let mut data = vec![0; (128 << 20) + 12_345];
    data[..400_000].copy_from_slice(&walk(100_000));
    data[(70 << 20)..][..400_000].copy_from_slice(&walk(100_000));
    let run = dir.b2_with("c -t 4", &data).ok();
    assert!(run.stderr.starts_with("b2: stdin: 128.0 MiB -> "), "{}", run.stderr);
    assert!(run.stderr.contains(" in 3 frames"), "{}", run.stderr);
    dir.write("seq.b2frame", &run.stdout);
    assert!(dir.b2("cat seq.b2frame").ok().stdout == data);
    assert!(dir.b2_with("cat", &run.stdout).ok().stdout == data);
    assert!(dir.b2_with("d", &run.stdout).ok().stdout == data);
    assert_eq!(
        dir.b2("verify seq.b2frame").ok().text(),
        "seq.b2frame: OK (decoded; xxh3 of 129 chunks checked)\n"
    );
    let info = dir.b2("info seq.b2frame").ok();
    assert!(
        info.text()
            .starts_with("seq.b2frame: Blosc2 super-chunk, 3 contiguous frames (format 2)\n")
    );
    assert!(dir.b2("cat seq.b2frame#1").ok().stdout == data[64 << 20..128 << 20]);
}

#[test]
fn exactly_one_frame_of_data_makes_one_frame() {
    let run = Dir::new().b2_with("c -t 1", &vec![0; 64 << 20]).ok();
    assert!(run.stderr.contains(" in 1 frame"), "{}", run.stderr);
    let run = Dir::new().b2_with("c", b"").ok();
    assert!(run.stderr.contains(" in 1 frame"), "{}", run.stderr);
}

#[test]
fn a_pipe_into_a_file_makes_one_frame() {
    let dir = Dir::new();
    let data = walk(300_000);
    dir.b2_with("c -q --verify -o out.b2frame", &data).ok();
    assert!(dir.b2("cat out.b2frame").ok().stdout == data);
    dir.b2_with("c -q --verify", &data).ok();
}

#[test]
fn outputs_go_where_they_are_sent() {
    let dir = Dir::new();
    dir.write("a", "aaaa").write("b", "bbbb");
    dir.b2("c -q --output-dir out a b").ok();
    assert_eq!(dir.read("out/a.b2frame"), dir.b2("c -qc a").ok().stdout);
    dir.b2("c -q --suffix .b2 a").ok();
    dir.b2("d --suffix .b2 a.b2 -o back").ok();
    assert_eq!(dir.read("back"), b"aaaa");
    assert_eq!(dir.b2("c -q a b -o out").code, Some(3));
    dir.b2("c -qf a b -o out").ok();
    snapshot!(dir.b2("c a b -o one"), @r#"
    exit 2
    --- stdout
    --- stderr
    b2: 2 inputs cannot go into one file
    hint: use --output-dir, or -c for one stream
    "#);
    dir.b2("c -q a -o frame").ok();
    snapshot!(dir.b2("d frame"), @"
    exit 2
    --- stdout
    --- stderr
    b2: frame: the name does not end in .b2frame, .b2nd, .chunk, .blp or .bcolz: there is no suffix to remove
    hint: use -o to name the output, or --suffix
    ");
}

#[test]
fn a_directory_is_walked_when_asked() {
    let dir = Dir::new();
    std::fs::create_dir_all(dir.path("in/deep")).unwrap();
    dir.write("in/a", "aaaa").write("in/deep/b", "bbbb");
    dir.b2("c -qr in").ok();
    dir.b2("c -qrf in").ok();
    assert!(!dir.path("in/a.b2frame.b2frame").exists());
    assert_eq!(dir.b2("list -r in").ok().text().lines().count(), 4);
    dir.b2("d -qrf in").ok();
    dir.write("list", "in/a\nin/deep/b\n");
    assert_eq!(
        dir.b2("c -qc --files-from list").ok().stdout,
        dir.b2("c -qc in/a in/deep/b").ok().stdout
    );
}

#[test]
fn lossy_filters_need_the_option_lossy() {
    let dir = Dir::new();
    dir.write("w.f32", walk(1000));
    snapshot!(dir.b2("c --filter trunc:20,shuffle w.f32"), @r#"
    exit 2
    --- stdout
    --- stderr
    b2: the filter trunc_prec:20, shuffle loses data
    hint: use --lossy if this is meant
    "#);
    snapshot!(dir.b2("c --lossy --verify --filter trunc:20,shuffle w.f32"), @r#"
    exit 2
    --- stdout
    --- stderr
    b2: data that --lossy has changed are not equal to the input
    hint: leave out --verify and --rm; the loss is reported in any case
    "#);
    assert_eq!(dir.names(), ["w.f32"]);
}

#[test]
fn impossible_options_are_errors() {
    let dir = Dir::new();
    dir.write("w", walk(1000));
    for line in ["c -z 3G w", "c -z 0 w", "c -C ndlz w", "c -C 200 w"] {
        let run = dir.b2(line);
        assert!(matches!(run.code, Some(2 | 4 | 5)), "{line}: {:?} {}", run.code, run.stderr);
        assert!(run.stderr.starts_with("b2: w: "), "{line}: {}", run.stderr);
        assert_eq!(dir.names(), ["w"], "{line}");
    }
}

#[test]
fn json_reports_sizes_and_names() {
    let dir = Dir::new();
    dir.write("w.i32", walk(1000));
    let run = dir.b2("c --json w.i32").ok();
    let document: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(run.stderr, "");
    assert_eq!(document["schema"], "b2.compress/1");
    assert_eq!(
        (&document["path"], &document["output"]),
        (&"w.i32".into(), &"w.i32.b2frame".into())
    );
    assert_eq!((&document["nbytes"], &document["typesize"]), (&4000.into(), &4.into()));
    assert_eq!(document["file_bytes"], dir.read("w.i32.b2frame").len());
    let run = dir.b2("d --json -f w.i32.b2frame").ok();
    let document: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(
        (&document["schema"], &document["nbytes"]),
        (&"b2.decompress/1".into(), &4000.into())
    );
}

#[test]
fn a_tree_is_mirrored_below_the_output_folder() {
    let dir = Dir::new();
    for folder in ["one/sub/deep", "two"] {
        std::fs::create_dir_all(dir.path(folder)).unwrap();
    }
    for file in ["one/a", "one/sub/a", "one/sub/deep/b", "two/c", "d"] {
        dir.write(file, file);
    }
    dir.b2("compress -q -r one two d --output-dir out").ok();
    for file in ["a", "sub/a", "sub/deep/b", "c", "d"] {
        assert!(dir.path(format!("out/{file}.b2frame")).is_file(), "{file}");
    }
    dir.b2("decompress -q -r out --output-dir back").ok();
    assert_eq!(dir.read("back/sub/a"), b"one/sub/a");
    // Two walked folders hold files of one name: none is overwritten.
    dir.write("two/a", "two/a");
    let run = dir.b2("compress -q -r one two --output-dir again");
    assert_ne!(run.code, Some(0));
    assert_eq!(dir.b2("cat again/a.b2frame").ok().text(), "one/a");
}

/// Growth is reported for files and pipes alike, with the written format.
#[test]
fn growth_is_told_with_the_format() {
    let dir = Dir::new();
    let mut random = blosc_testdata::data::XorShift32::new(3);
    let noise: Vec<u8> = (0..128).flat_map(|_| random.next_u32().to_le_bytes()).collect();
    dir.write("r", &noise);
    let piped = dir.b2_with("c", &noise);
    for (said, format) in [
        (piped.stderr, "a frame has"),
        (dir.b2("c r").ok().stderr, "a frame has"),
        (dir.b2("c --format blp -z 64 r").ok().stderr, "a Bloscpack file has"),
    ] {
        assert!(said.contains("the output is larger: ") && said.contains(format), "{said}");
    }
}
