//! Content from standard input or a named pipe is recognised as in files.

use std::{fs, io::Write as _, process::Stdio};

use crate::session::{Dir, Run, walk, zip};

/// A frame, an array and a `.npy` file.
fn with_files() -> Dir {
    let dir = Dir::new();
    dir.write("x.i32", walk(1000)).write("words", "hello\n");
    dir.b2("c -q x.i32").ok();
    dir.b2("c -q --dtype i4 x.i32 -o x.b2nd").ok();
    dir.b2("c -q -t 1 words -o w.b2frame").ok();
    dir.b2("convert -q x.b2nd x.npy").ok();
    dir
}

/// Runs `b2` with a file as standard input.
fn from_file(dir: &Dir, line: &str, input: &str) -> Run {
    let file = fs::File::open(dir.path(input)).unwrap();
    Run::of(dir.command(line).stdin(Stdio::from(file)).output().unwrap())
}

#[test]
fn frames_on_standard_input_are_appended_as_what_they_hold() {
    let dir = with_files();
    fs::copy(dir.path("w.b2frame"), dir.path("h.b2frame")).unwrap();
    let frame = dir.read("w.b2frame");
    dir.b2_with("append -q h.b2frame", &frame).ok();
    from_file(&dir, "append -q h.b2frame -", "w.b2frame").ok();
    dir.b2_with("append -q h.b2frame -", b"raw").ok();
    assert_eq!(dir.b2("cat h.b2frame").ok().text(), "hello\nhello\nhello\nraw");
    fs::copy(dir.path("x.b2nd"), dir.path("y.b2nd")).unwrap();
    let blp = dir.b2("convert -q -c --format blp x.b2nd").ok().stdout;
    for input in [dir.read("x.npy"), dir.read("x.b2nd"), blp, dir.read("x.i32")] {
        dir.b2_with("append -q y.b2nd", &input).ok();
    }
    assert!(dir.b2("cat y.b2nd").ok().stdout == walk(1000).repeat(5));
    let sequence = [&frame[..], &frame].concat();
    dir.b2_with("append -q h.b2frame", &sequence).ok();
    assert!(dir.b2("cat h.b2frame").ok().text().ends_with("rawhello\nhello\n"));
}

#[test]
fn rows_of_text_on_standard_input_go_to_tables() {
    let dir = Dir::new();
    dir.write("rows.csv", "n,s\n1,ab\n").b2("convert -q rows.csv rows.bcolz").ok();
    dir.b2_with("append -q rows.bcolz -", b"s,n\ncd,2\n").ok();
    assert_eq!(dir.b2("show --csv rows.bcolz").ok().text(), "n,s\n1,ab\n2,cd\n");
}

#[test]
fn arrays_on_standard_input_are_converted() {
    let dir = with_files();
    for name in ["x.npy", "x.b2nd"] {
        let npy = dir.b2_with("convert -q -c --format npy", &dir.read(name)).ok().stdout;
        assert!(npy == dir.read("x.npy"), "{name}");
    }
}

#[test]
fn a_file_as_standard_input_is_read_once() {
    let dir = with_files();
    let run = from_file(&dir, "cat - -", "w.b2frame");
    assert_eq!((run.text(), run.code), ("hello\n", Some(4)));
}

/// Runs `b2` while a file is written to the named pipe `pipe`.
#[cfg(unix)]
fn through_pipe(dir: &Dir, line: &str, name: &str) -> Run {
    let (path, bytes) = (dir.path("pipe"), dir.read(name));
    let writer = std::thread::spawn(move || {
        let mut pipe = fs::OpenOptions::new().write(true).open(path).unwrap();
        // A reader that has read enough closes the pipe.
        drop(pipe.write_all(&bytes));
    });
    let run = dir.b2(line);
    writer.join().unwrap();
    run
}

#[cfg(unix)]
#[test]
fn cut_inputs_give_the_data_before_the_damage() {
    let dir = Dir::new();
    let has_pipe = std::process::Command::new("mkfifo").arg(dir.path("pipe")).status();
    let has_pipe = has_pipe.is_ok_and(|status| status.success());
    let data = walk(20_000);
    dir.write("x.i32", &data);
    for line in [
        "c -q -z 8K x.i32 -o x.b2frame",
        "c -q --shape 200,100 --dtype i4 --chunks 20,100 x.i32 -o x.b2nd",
        "c -q -z 8K x.i32 -o x.blp",
        "c -q --format chunk --block-size 8K x.i32 -o x.chunk",
        "convert -q x.b2nd x.b2z::/a",
    ] {
        dir.b2(line).ok();
    }
    let frame = dir.read("x.b2frame");
    dir.write("sequence", [&frame[..], &frame].concat());
    for (name, is_twice) in [
        ("x.b2frame", false),
        ("x.b2nd", false),
        ("x.blp", false),
        ("x.chunk", false),
        ("x.b2z", false),
        ("sequence", true),
    ] {
        let whole = dir.read(name);
        // The name of the file does not tell its format.
        dir.write("cut", &whole[..whole.len() * 7 / 10]);
        let run = dir.b2("cat cut");
        let expected = if is_twice { data.repeat(2) } else { data.clone() };
        assert_eq!(run.code, Some(1), "{name}: {}", run.stderr);
        assert!(expected.starts_with(&run.stdout), "{name}");
        let least = if is_twice { data.len() * 5 / 4 } else { data.len() / 2 };
        assert!(run.stdout.len() >= least, "{name}: {} bytes", run.stdout.len());
        let mut others =
            vec![dir.b2_with("cat", &dir.read("cut")), from_file(&dir, "cat -", "cut")];
        if has_pipe {
            others.push(through_pipe(&dir, "cat pipe", "cut"));
        }
        for (number, other) in others.iter().enumerate() {
            assert_eq!(other.code, Some(1), "{name} {number}: {}", other.stderr);
            assert!(other.stdout == run.stdout, "{name} {number}: {} bytes", other.stdout.len());
        }
    }
    // The same for one value of an archive, by its name.
    let archive = dir.read("x.b2z");
    dir.write("x.b2z", &archive[..archive.len() / 2]);
    let run = dir.b2("cat x.b2z::/a");
    assert_eq!(run.code, Some(1));
    assert!(data.starts_with(&run.stdout) && run.stdout.len() >= data.len() / 4);
    assert!(run.stderr.contains("cut off: the directory"), "{}", run.stderr);
    // Text that begins like a chunk is not one.
    let text = b"\x02\x01\x02\x04\x00\x10\x00\x00\x00\x10\x00\x00\x00\x08\x00\x00 and text follows";
    let run = dir.b2_with("cat", text);
    assert_eq!((run.code, run.stdout.len()), (Some(4), 0), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn named_pipes_are_read_as_files_are() {
    let dir = with_files();
    let status = std::process::Command::new("mkfifo").arg(dir.path("pipe")).status();
    if !status.is_ok_and(|status| status.success()) {
        return;
    }
    let run = |line: &str, name: &str| through_pipe(&dir, line, name).ok();
    assert_eq!(run("cat pipe", "w.b2frame").text(), "hello\n");
    assert!(run("info pipe", "w.b2frame").text().starts_with("pipe: Blosc2 super-chunk"));
    assert!(run("verify pipe", "x.b2nd").text().contains("OK"));
    assert!(run("list pipe", "x.b2nd").text().contains("b2nd"));
    assert!(run("show -n 2 pipe", "x.b2nd").text().starts_with('['));
    run("d -q pipe -o back.npy", "x.b2nd");
    assert!(dir.read("back.npy") == dir.read("x.npy"));
    run("convert -q pipe -o y.b2nd", "x.npy");
    run("append -q y.b2nd pipe", "x.b2nd");
    assert!(dir.b2("cat y.b2nd").ok().stdout == walk(1000).repeat(2));
    run("c -q pipe -o z.b2frame", "x.i32");
    assert!(dir.b2("cat z.b2frame").ok().stdout == walk(1000));
}

#[cfg(unix)]
#[test]
fn standard_output_that_is_a_file_gets_one_frame() {
    let dir = Dir::new();
    fs::write(dir.path("big"), vec![7; 70 << 20]).unwrap();
    let run = |line: &str, output: &str| {
        let input = fs::File::open(dir.path("big")).unwrap();
        let output = fs::File::options().create(true).append(true).open(dir.path(output)).unwrap();
        let mut command = dir.command(line);
        let command = command.stdin(Stdio::from(input)).stdout(Stdio::from(output));
        Run::of(command.output().unwrap()).ok()
    };
    let said = run("c -t 1 --verify", "one").stderr;
    assert!(said.contains("in 1 frame"), "{said}");
    assert_eq!(b2frame::SChunk::open(dir.path("one")).unwrap().nbytes(), 70 << 20);
    // Data appended to a file form a frame of their own.
    run("c -q -t 1", "one");
    assert!(dir.b2("info one").ok().text().contains("2 contiguous frames"));
    let pipe = dir.b2_with("c -t 1", &vec![7; 70 << 20]).ok();
    assert!(pipe.stderr.contains("in 2 frames"), "{}", pipe.stderr);
}

/// A flipped bit in the magic of a later frame does not end the sequence silently.
#[test]
fn a_frame_of_a_sequence_that_begins_nearly_like_one_is_damaged() {
    let dir = Dir::new();
    dir.write("a", walk(2_000)).b2("c -q a").ok();
    let frame = dir.read("a.b2frame");
    for (byte, bit) in [(0, 0), (0, 7), (1, 3), (2, 4), (5, 1), (8, 6), (9, 0)] {
        let mut both = frame.repeat(2);
        both[frame.len() + byte] ^= 1 << bit;
        dir.write("both", &both);
        for line in ["verify both", "cat both", "d -c both", "d -f both -o out", "sum both"] {
            let run = dir.b2(line);
            assert_eq!(run.code, Some(1), "{byte}, {bit}, {line}: {}", run.stderr);
        }
        assert_eq!(dir.b2_with("d", &both).code, Some(1), "{byte}, {bit}");
        let run = dir.b2("rescue -f both -o saved");
        assert!(dir.b2("cat saved").ok().stdout == walk(2_000).repeat(2), "{}", run.stderr);
    }
    // Other bytes are skipped with a warning, as all readers do.
    dir.write("junk", [&frame[..], b"no frame of any kind"].concat());
    assert!(dir.b2("cat junk").ok().stderr.contains("warning"));
}

/// A `.npy` file of 3 items, a table, and an archive of two arrays.
#[cfg(unix)]
fn with_inputs_that_are_copied() -> Dir {
    let dir = Dir::new();
    dir.write("a.raw", walk(3)).write("t.csv", "a,b\n1,x\n2,y\n");
    dir.b2("convert -q --dtype i4 a.raw a.npy").ok();
    dir.b2("convert -q t.csv t.b2z").ok();
    let (m, z) = (dir.read("a.npy"), dir.read("a.npy"));
    dir.write("m.npz", zip(&[("m.npy", &m[..]), ("z.npy", &z)]));
    dir
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_by_every_command_as_a_file_is() {
    let dir = with_inputs_that_are_copied();
    let has_pipe = std::process::Command::new("mkfifo").arg(dir.path("pipe")).status();
    let has_pipe = has_pipe.is_ok_and(|status| status.success());
    for (line, file) in [
        ("diff PIPE a.npy", "a.npy"),
        ("diff a.npy PIPE", "a.npy"),
        ("diff PIPE t.b2z", "t.b2z"),
        ("diff PIPE m.npz", "m.npz"),
        ("diff m.npz::/z PIPE", "a.npy"),
        ("meta get PIPE", "t.b2z"),
        ("show PIPE", "t.b2z"),
        ("show PIPE::/m", "m.npz"),
        ("stats PIPE::/m", "m.npz"),
        ("list PIPE", "m.npz"),
        ("verify PIPE", "m.npz"),
        ("info PIPE", "m.npz"),
        ("sum PIPE", "m.npz"),
        ("convert -q PIPE -f -o o.b2z", "m.npz"),
        ("unpack -q PIPE -o o.b2d", "t.b2z"),
        ("d -f PIPE -o o.raw", "t.b2z"),
    ] {
        let of_file = dir.b2(&line.replace("PIPE", file));
        drop(fs::remove_dir_all(dir.path("o.b2d")));
        // A key of standard input begins like an option.
        let (command, word) = line
            .split_once("PIPE::")
            .map_or((line, None), |(line, key)| (line, Some(format!("-- -::{key}"))));
        let of_stdin = word.map_or(command.replace("PIPE", "-"), |word| format!("{command}{word}"));
        let mut runs = vec![("stdin", dir.b2_with(&of_stdin, &dir.read(file)))];
        // No part of a named pipe can be named.
        if has_pipe && !line.contains("PIPE::") {
            drop(fs::remove_dir_all(dir.path("o.b2d")));
            runs.push(("pipe", through_pipe(&dir, &line.replace("PIPE", "pipe"), file)));
        }
        for (name, run) in runs {
            assert_eq!(run.code, of_file.code, "{line}: {} {}", run.all(), of_file.all());
            let shown = of_file.text().replace(file, name);
            assert_eq!(run.text().lines().count(), shown.lines().count(), "{line}: {}", run.all());
            assert!(!run.all().contains("/dev/fd/"), "{line}: {}", run.all());
        }
    }
}

#[cfg(unix)]
#[test]
fn data_from_a_pipe_are_not_changed() {
    let dir = with_inputs_that_are_copied();
    for line in [
        "repack -",
        "seal -",
        "recompress -C lz4 -",
        "meta set - k=1",
        "unpack -",
        "table set - a=1",
    ] {
        let run = dir.b2_with(line, &dir.read("t.b2z"));
        assert_eq!(run.code, Some(2), "{line}: {}", run.all());
        assert!(run.stderr.contains("pipe"), "{line}: {}", run.all());
    }
}

#[cfg(unix)]
#[test]
fn commands_about_groups_end_quietly_when_nobody_reads() {
    let dir = with_inputs_that_are_copied();
    dir.b2("convert -q m.npz m.b2z").ok();
    dir.write("sums", dir.b2("sum m.npz m.b2z").ok().stdout);
    for line in [
        "diff m.npz m.b2z",
        "diff --json m.npz m.b2z",
        "sum m.npz m.b2z",
        "sum --check sums",
        "list m.npz m.b2z",
        "list --tree m.npz m.b2z",
        "list --json m.npz",
        "verify m.npz m.b2z",
        "verify -v m.b2z",
        "info m.npz m.b2z",
        "info -vv m.b2z::/m m.b2z::/z",
        "show m.npz::/m m.npz::/z",
        "show m.b2z::/m m.b2z::/z",
        "stats m.npz m.b2z",
        "compat m.b2z::/m m.b2z::/z",
        "meta get m.b2z",
        "dump m.b2z::/m m.b2z::/z",
        "cat m.b2z::/m m.b2z::/z",
        "scan m.b2z m.npz",
        "formats",
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = Run::of(dir.command(line).stdout(Stdio::from(writer)).output().unwrap());
        assert_eq!((run.code, &*run.stderr), (Some(0), ""), "{line}");
    }
}
