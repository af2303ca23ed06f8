//! Files are safe: no overwriting by default, no partial outputs, no premature removal.

use core::time::Duration;
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    time::Instant,
};

use crate::{
    matrix::npy,
    session::{Dir, Run, snapshot, walk},
};

#[test]
fn existing_files_are_kept_without_force() {
    let dir = Dir::new();
    dir.write("a.f32", walk(100)).write("a.f32.b2frame", "precious");
    snapshot!(dir.b2("c a.f32"), @r#"
    exit 3
    --- stdout
    --- stderr
    b2: a.f32.b2frame: file exists
    hint: use -f to overwrite, or -o to choose another name
    "#);
    assert_eq!(dir.read("a.f32.b2frame"), b"precious");
    dir.b2("c -f a.f32").ok();
    assert_ne!(dir.read("a.f32.b2frame"), b"precious");
    snapshot!(dir.b2("d a.f32.b2frame"), @r#"
    exit 3
    --- stdout
    --- stderr
    b2: a.f32: file exists
    hint: use -f to overwrite, or -o to choose another name
    "#);
    assert_eq!(dir.names(), ["a.f32", "a.f32.b2frame"]);
}

#[test]
fn the_input_is_never_its_own_output() {
    let dir = Dir::new();
    dir.write("a", walk(100));
    snapshot!(dir.b2("c -f a -o a"), @r#"
    exit 2
    --- stdout
    --- stderr
    b2: a: is the input itself
    hint: use -o to choose another name
    "#);
    assert_eq!(dir.read("a"), walk(100));
}

#[test]
fn rm_removes_the_input_after_reading_back() {
    let dir = Dir::new();
    let data = walk(100_000);
    dir.write("a.i32", &data);
    dir.b2("c -q --rm a.i32").ok();
    assert_eq!(dir.names(), ["a.i32.b2frame"]);
    dir.b2("d --rm a.i32.b2frame").ok();
    assert_eq!(dir.names(), ["a.i32"]);
    assert!(dir.read("a.i32") == data);
    dir.b2("c -q --rm --keep a.i32").ok();
    assert_eq!(dir.names(), ["a.i32", "a.i32.b2frame"]);
}

#[test]
fn rm_keeps_what_was_not_restored() {
    let dir = Dir::new();
    dir.write("a", walk(100)).b2("c -q a").ok();
    std::fs::remove_file(dir.path("a")).unwrap();
    let frame = dir.read("a.b2frame");
    dir.write("a.b2frame", [&frame[..], b"more"].concat());
    let run = dir.b2("d -q --rm a.b2frame");
    assert_eq!(run.code, Some(1));
    assert_eq!(
        run.stderr,
        "b2: a.b2frame: kept, because 4 bytes after the last frame would be lost\nhint: use -f with --rm if this is meant\n"
    );
    assert_eq!(dir.names(), ["a", "a.b2frame"]);
    let sample = blosc_testdata::fixture::path("frames/tiny.b2frame");
    std::fs::copy(sample, dir.path("tiny.b2frame")).unwrap();
    let run = dir.b2("d --rm tiny.b2frame");
    assert!(run.stderr.contains("the metalayer `kind` would be lost"), "{}", run.stderr);
    assert!(dir.path("tiny.b2frame").exists());
}

#[test]
fn rm_keeps_the_input_of_a_failure() {
    let dir = Dir::new();
    dir.write("a", walk(100)).write("a.b2frame", "in the way");
    assert_eq!(dir.b2("c --rm a").code, Some(3));
    assert_eq!(dir.names(), ["a", "a.b2frame"]);
    assert_eq!(dir.b2("d -f --rm a.b2frame").code, Some(4));
    assert_eq!(dir.names(), ["a", "a.b2frame"]);
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_exit_code_3() {
    let dir = Dir::new();
    dir.write("a", walk(1_000_000)).b2("c -q a").ok();
    for line in ["c -f a -o /dev/full", "d -f a.b2frame -o /dev/full"] {
        let run = dir.b2(line);
        assert_eq!(run.code, Some(3), "{line}");
        assert_eq!(run.stderr, "b2: /dev/full: writing: no space left on device\n", "{line}");
    }
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = dir.command("cat a.b2frame").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
}

#[cfg(unix)]
#[test]
fn devices_and_links_need_force() {
    let dir = Dir::new();
    dir.write("a", walk(100));
    std::os::unix::fs::symlink("a", dir.path("link")).unwrap();
    snapshot!(dir.b2("c a -o /dev/null"), @r#"
    exit 2
    --- stdout
    --- stderr
    b2: /dev/null: is a device
    hint: use -f if this is meant
    "#);
    snapshot!(dir.b2("c link"), @r#"
    exit 2
    --- stdout
    --- stderr
    b2: link: is a symbolic link
    hint: use -f if this is meant
    "#);
    dir.b2("c -qf a -o /dev/null").ok();
    dir.b2("c -qf link").ok();
    assert_eq!(dir.names(), ["a", "link", "link.b2frame"]);
    assert_eq!(dir.b2("cat link.b2frame").ok().stdout, walk(100));
}

#[cfg(unix)]
#[test]
fn a_directory_without_permission_is_exit_code_3() {
    let dir = Dir::new();
    dir.write("a", walk(100));
    let run = dir.b2("c a -o missing/out");
    assert_eq!(run.code, Some(3));
    assert_eq!(
        run.stderr,
        "b2: missing/out: there is no folder missing\nhint: `mkdir -p` makes it\n"
    );
}

/// A compression that waits for more data from a pipe, after making its temporary file.
#[cfg(unix)]
fn waiting(dir: &Dir, command: &mut Command) -> Child {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&walk(1_000_000)).unwrap();
    child.stdin = Some(stdin);
    let start = Instant::now();
    while !dir.names().iter().any(|name| name.starts_with(".out.b2frame.b2tmp-")) {
        assert!(start.elapsed() < Duration::from_secs(20), "no temporary file");
        std::thread::yield_now();
    }
    child
}

#[cfg(unix)]
#[test]
fn signals_remove_partial_output() {
    use std::os::unix::process::ExitStatusExt;
    for (signal, number) in [("HUP", 1), ("INT", 2), ("QUIT", 3), ("TERM", 15)] {
        // A program inherits ignored signals (`nohup`), and keeps ignoring them.
        if is_ignored(number) {
            continue;
        }
        let dir = Dir::new();
        let mut child = waiting(&dir, &mut dir.command("c -o out.b2frame"));
        // Waiting would close the pipe, which ends the input before the signal comes.
        let stdin = child.stdin.take();
        send(signal, &child);
        // The parent sees the signal, so that a shell ends its loop.
        assert_eq!(child.wait().unwrap().signal(), Some(number), "SIG{signal}");
        drop(stdin);
        assert_eq!(dir.names(), Vec::<String>::new(), "SIG{signal}");
    }
}

/// Whether this process, and each process that it starts, ignores this signal.
#[cfg(unix)]
fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let dir = Dir::new();
    let mut command = Command::new("sh");
    let script = format!("trap '' HUP; exec {} c -q -o out.b2frame", env!("CARGO_BIN_EXE_b2"));
    let mut child = waiting(&dir, command.args(["-c", &script]).current_dir(dir.path(".")));
    send("HUP", &child);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(dir.names(), ["out.b2frame"]);
}

#[cfg(unix)]
fn send(signal: &str, child: &Child) {
    let kill = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_the_file_size_is_exit_code_3() {
    let dir = Dir::new();
    let mut random = blosc_testdata::data::XorShift32::new(3);
    let noise: Vec<u8> = (0..50_000).flat_map(|_| random.next_u32().to_le_bytes()).collect();
    dir.write("a", noise);
    let script = format!("ulimit -f 64; {} c -q a", env!("CARGO_BIN_EXE_b2"));
    let output =
        Command::new("sh").args(["-c", &script]).current_dir(dir.path(".")).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "b2: a.b2frame: writing: file too large\n");
    assert_eq!(dir.names(), ["a"]);
}

#[cfg(unix)]
#[test]
fn leftovers_of_killed_runs_are_no_data_and_go_with_the_next_run() {
    let dir = Dir::new();
    let mut child = waiting(&dir, &mut dir.command("c -o out.b2frame"));
    let in_use = dir.names();
    // The temporary file of a running process stays.
    dir.write("a", walk(100)).b2("c -q a -o out.b2frame").ok();
    assert_eq!(dir.names().len(), in_use.len() + 2, "{:?}", dir.names());
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = dir.b2("list -r .").ok();
    assert!(!listed.text().contains("b2tmp"), "{}", listed.text());
    dir.b2("c -qf a -o out.b2frame").ok();
    assert_eq!(dir.names(), ["a", "out.b2frame"]);
    dir.write("out.b2frame.1234.tmp", dir.read("out.b2frame"));
    assert_eq!(dir.b2("cat -r .").ok().stdout, walk(100));
}

#[cfg(unix)]
#[test]
fn temporary_files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let dir = Dir::new();
    let mut child = waiting(&dir, &mut dir.command("c -o out.b2frame"));
    let [name] = &dir.names()[..] else { panic!("one temporary file") };
    assert_eq!(mode(&dir.path(name)), 0o600);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(mode(&dir.path("out.b2frame")) & 0o600, 0o600);
    // Without an input file, the output keeps the mode of the replaced file.
    std::fs::set_permissions(dir.path("out.b2frame"), PermissionsExt::from_mode(0o604)).unwrap();
    dir.b2_with("c -qf -o out.b2frame", &walk(100)).ok();
    assert_eq!(mode(&dir.path("out.b2frame")), 0o604);
}

#[cfg(unix)]
#[test]
fn mode_and_times_come_with_the_data() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let dir = Dir::new();
    dir.write("a", walk(100));
    let file = std::fs::File::options().append(true).open(dir.path("a")).unwrap();
    let old = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    file.set_times(std::fs::FileTimes::new().set_modified(old)).unwrap();
    std::fs::set_permissions(dir.path("a"), std::fs::Permissions::from_mode(0o640)).unwrap();
    dir.b2("c -q a").ok();
    let made = std::fs::metadata(dir.path("a.b2frame")).unwrap();
    assert_eq!((made.mode() & 0o777, made.mtime()), (0o640, 1_000_000_000));
    dir.b2("d a.b2frame -o back").ok();
    let made = std::fs::metadata(dir.path("back")).unwrap();
    assert_eq!((made.mode() & 0o777, made.mtime()), (0o640, 1_000_000_000));
}

/// A second program waits for the lock that this process holds.
#[cfg(target_os = "linux")]
#[test]
fn a_file_in_use_is_waited_for() {
    let dir = Dir::new();
    dir.write("a", walk(100)).b2("c -q a").ok();
    let path = dir.path("a.b2frame");
    let wait = blosc_io::LockWait::never();
    let lock = blosc_io::Lock::exclusive(&path, &wait).unwrap();
    for line in ["verify", "info"] {
        let run = dir.b2(&format!("{line} --lock-timeout 0 a.b2frame"));
        assert_eq!((run.code, run.text()), (Some(6), ""), "{line}");
        let said = &run.stderr;
        assert!(said.starts_with("b2: a.b2frame: in use: locked by "), "{said}");
        assert!(said.ends_with("\nhint: use --lock-timeout to wait longer\n"), "{said}");
    }
    let mut waiting = dir.command("verify a.b2frame").spawn().unwrap();
    let mut said = String::new();
    BufReader::new(waiting.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.starts_with("b2: waiting for "), "{said}");
    drop(lock);
    assert!(waiting.wait().unwrap().success());
    // A child of another test may hold the descriptor until it starts its program.
    let lock = blosc_io::Lock::exclusive(&path, &blosc_io::LockWait::default()).unwrap();
    dir.write("more", walk(10));
    for line in ["append a.b2frame more", "meta set a.b2frame k=1", "repack a.b2frame"] {
        let run = dir.b2(&format!("{line} --lock-timeout 0"));
        assert_eq!(run.code, Some(6), "{line}: {}", run.stderr);
        assert!(run.stderr.contains("is locked by "), "{line}: {}", run.stderr);
    }
    drop(lock);
    let _shared = blosc_io::Lock::shared(&path, &blosc_io::LockWait::default()).unwrap();
    dir.b2("verify --lock-timeout 0 a.b2frame").ok();
}

/// On a full disk, commands name the output as the user wrote it: not the input, a part of the
/// output, or a temporary file.
#[cfg(unix)]
#[test]
fn an_output_that_has_no_room_is_named() {
    let dir = Dir::new();
    let mut random = blosc_testdata::data::XorShift32::new(3);
    let noise: Vec<u8> = (0..100_000).flat_map(|_| random.next_u32().to_le_bytes()).collect();
    dir.write("in.npy", npy("<u4", "(100000,)", false, &noise)).write("raw", &noise);
    for line in
        ["convert -q in.npy in.b2nd", "convert -q in.npy in.blp", "convert -q in.npy in.bcolz"]
            .into_iter()
            .chain(["convert -q in.npy in.b2z::/a", "convert -q in.b2z in.b2d", "compress -q raw"])
    {
        dir.b2(line).ok();
    }
    std::fs::create_dir(dir.path("folder")).unwrap();
    std::fs::copy(dir.path("in.npy"), dir.path("folder/a.npy")).unwrap();
    let converted =
        ["b2frame", "sframe", "b2nd", "blp", "npy", "csv", "raw", "chunk", "bcolz", "b2z"];
    let converted = converted.iter().chain(&["b2d"]).map(|format| {
        let named = if *format == "raw" { " --format raw" } else { "" };
        (format!("convert{named} in.b2nd -o out.{format}"), format!("out.{format}"))
    });
    let others = [
        ("unpack in.b2z -o out.b2d", "out.b2d"),
        ("pack in.b2d -o out.b2z", "out.b2z"),
        ("rescue in.b2z -o out.b2z", "out.b2z"),
        ("rescue in.b2nd -o out.b2nd", "out.b2nd"),
        ("rescue in.blp -o out.blp", "out.blp"),
        ("rescue in.bcolz -o out.bcolz", "out.bcolz"),
        ("recompress -l 3 in.bcolz -o out.bcolz", "out.bcolz"),
        ("recompress -l 3 in.blp -o out.blp", "out.blp"),
        ("recompress -l 3 in.b2z -o out.b2z", "out.b2z"),
        ("join in.b2nd in.b2nd -o out.b2frame", "out.b2frame"),
        ("compress raw -o out.b2frame", "out.b2frame"),
        ("compress in.npy -o out.b2nd", "out.b2nd"),
        ("compress raw -o out.blp", "out.blp"),
        ("compress raw -o out.chunk", "out.chunk"),
        ("compress raw -o out.b2z::/k", "out.b2z::/k"),
        ("convert in.npy out.b2z::/k", "out.b2z::/k"),
        ("convert in.npy in.b2d::/k", "in.b2d::/k"),
        ("convert folder out.b2z", "out.b2z"),
        ("decompress raw.b2frame -o out", "out"),
        ("recompress -l 3 in.b2z", "in.b2z::/a"),
        ("recompress -l 3 in.b2d::/a", "in.b2d::/a"),
    ];
    let others = others.map(|(line, output)| (line.to_owned(), output.to_owned()));
    for (line, output) in converted.chain(others) {
        let script = format!("trap '' XFSZ; ulimit -f 100; exec \"$0\" {line}");
        let mut full = Command::new("sh");
        full.args(["-c", &script, env!("CARGO_BIN_EXE_b2")]).current_dir(dir.path(""));
        let run = Run::of(full.output().unwrap());
        assert_eq!(run.code, Some(3), "{line}: {}", run.stderr);
        assert_eq!(run.stderr, format!("b2: {output}: writing: file too large\n"), "{line}");
        let left = dir.names().into_iter().find(|name| name.starts_with("out"));
        assert_eq!(left, None, "{line}");
    }
}
