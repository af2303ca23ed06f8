//! Counts how often an input is opened: on far storage each time is a round trip.

use std::{fs, process::Command};

use blosc_testdata::fixture::path;

use crate::session::Dir;

/// The number of times that a run opens a file; `None` without `strace`.
fn opens(dir: &Dir, line: &str, name: &str) -> Option<usize> {
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "trace", "-e", "trace=openat", "-P", name, "-P"]);
    command.arg(dir.path(name)).arg(env!("CARGO_BIN_EXE_b2")).args(line.split_whitespace());
    let run = command.current_dir(dir.path("")).output().ok()?;
    let trace = fs::read_to_string(dir.path("trace")).ok()?;
    // A machine may forbid tracing.
    (run.status.success() && !trace.is_empty()).then(|| trace.lines().count())
}

/// System calls that name a frame or its descriptor before its data are read. The first read is
/// that of the header.
fn before_data(dir: &Dir, line: &str, name: &str) -> Option<usize> {
    let mut command = Command::new("strace");
    let lock = format!("{name}.b2lock");
    command.args(["-f", "-qq", "-o", "trace", "-P", name, "-P", &lock, "-P"]);
    command.arg(dir.path(name)).arg(env!("CARGO_BIN_EXE_b2")).args(line.split_whitespace());
    let run = command.current_dir(dir.path("")).output().ok()?;
    let trace = fs::read_to_string(dir.path("trace")).ok()?;
    let is_read = |call: &&str| call.contains(" pread64(") || call.contains(" read(");
    // In debug builds the standard library checks a descriptor before it closes it.
    let calls: Vec<&str> = trace.lines().filter(|call| !call.contains("F_GETFD")).collect();
    let second = calls.iter().filter(|call| is_read(call)).nth(1);
    let place = calls.iter().position(|call| Some(call) == second);
    run.status.success().then_some(place).flatten()
}

#[test]
fn an_input_costs_twelve_calls_before_its_data() {
    let dir = Dir::new();
    fs::copy(path("frames/tiny-nd.b2nd"), dir.path("x.b2nd")).unwrap();
    dir.b2("convert -q x.b2nd more.npy").ok();
    for line in [
        "info x.b2nd",
        "list x.b2nd",
        "verify x.b2nd",
        "show --slice 0 x.b2nd",
        "cat x.b2nd",
        "sum x.b2nd",
        "stats x.b2nd",
        "convert -f x.b2nd y.npy",
        "append x.b2nd more.npy",
    ] {
        let Some(found) = before_data(&dir, line, "x.b2nd") else { return };
        assert!(found <= 12, "{line}: {found} calls");
    }
}

#[test]
fn an_input_is_opened_once_for_each_question() {
    let dir = Dir::new();
    fs::copy(path("stores/tree-basic.b2z"), dir.path("tree.b2z")).unwrap();
    fs::copy(path("frames/tiny-nd.b2nd"), dir.path("x.b2nd")).unwrap();
    dir.b2("convert -q x.b2nd x.npy").ok();
    dir.b2("convert -q x.b2nd one.b2z").ok();
    fs::copy(dir.path("x.npy"), dir.path("more.npy")).unwrap();
    // Each input is recognised, locked, and read.
    for (line, name, most) in [
        ("info x.b2nd", "x.b2nd", 3),
        ("show --slice 0 x.b2nd", "x.b2nd", 2),
        ("convert -f x.b2nd y.npy", "x.b2nd", 3),
        ("append x.npy more.npy", "x.npy", 4),
        ("append x.b2nd more.npy", "x.b2nd", 8),
        ("cat tree.b2z::/a", "tree.b2z", 3),
        ("show --slice 0 tree.b2z::/a", "tree.b2z", 4),
        ("info tree.b2z", "tree.b2z", 4),
        ("cat one.b2z", "one.b2z", 3),
        ("extract one.b2z -o z.b2nd", "one.b2z", 3),
        ("sum one.b2z", "one.b2z", 7),
    ] {
        let Some(found) = opens(&dir, line, name) else { return };
        assert!(found <= most, "{line}: {name} is opened {found} times");
    }
}

/// The result of a run while every attempt to open a file fails; `None` without `strace`.
fn without(dir: &Dir, line: &str, file: &str) -> Option<(Option<i32>, String)> {
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "trace", "-e", "inject=openat:error=EIO", "-P"]);
    command.arg(dir.path(file)).arg(env!("CARGO_BIN_EXE_b2")).args(line.split_whitespace());
    let run = command.current_dir(dir.path("")).output().ok()?;
    let trace = fs::read_to_string(dir.path("trace")).ok()?;
    let said = String::from_utf8_lossy(&[run.stderr, run.stdout].concat()).into_owned();
    trace.contains("INJECTED").then_some((run.status.code(), said))
}

#[test]
fn errors_of_the_system_are_no_damage() {
    let dir = Dir::new();
    dir.write("t.csv", "id,x\n1,2\n3,4\n");
    for output in ["t.b2d", "t.bcolz"] {
        dir.b2(&format!("convert -q t.csv {output}")).ok();
    }
    let root = dir.path("").display().to_string();
    for (container, file, commands) in [
        ("t.b2d", "t.b2d/_cols/id.b2nd", &["info", "list", "list --tree", "verify"][..]),
        ("t.b2d", "t.b2d/_valid_rows.b2nd", &["info", "list", "list --tree", "verify"]),
        ("t.bcolz", "t.bcolz/id/data", &["info", "list", "verify"]),
        ("t.bcolz", "t.bcolz/id/data/__0.blp", &["verify", "cat"]),
    ] {
        for command in commands {
            let line = format!("{command} {root}/{container}");
            let Some((code, said)) = without(&dir, &line, file) else { return };
            assert_eq!(code, Some(3), "{line} without {file}: {said}");
            assert!(!said.contains("b2 rescue"), "{line} without {file}: {said}");
        }
    }
}

#[test]
fn a_rescue_goes_on_without_the_files_that_the_system_refuses_and_names_them() {
    let dir = Dir::new();
    dir.write("t.csv", "id,x\n1,2\n3,4\n");
    dir.write("numbers", (0..50_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
    for output in ["t.b2d", "t.b2z", "t.bcolz"] {
        dir.b2(&format!("convert -q t.csv {output}")).ok();
    }
    dir.b2("c -q -t4 -z 40K numbers -o f.b2frame").ok();
    dir.b2("convert -q f.b2frame --format sframe -o s.b2frame").ok();
    let root = dir.path("").display().to_string();
    for (container, file, saves) in [
        ("t.b2d", "t.b2d/_cols/id.b2nd", true),
        ("t.b2d", "t.b2d/_cols", true),
        ("t.b2d", "t.b2d/_valid_rows.b2nd", true),
        ("t.bcolz", "t.bcolz/id/data/__0.blp", true),
        ("t.bcolz", "t.bcolz/x/meta/sizes", true),
        ("s.b2frame", "s.b2frame/00000001.chunk", true),
        ("t.b2z", "t.b2z", false),
        ("f.b2frame", "f.b2frame", false),
    ] {
        let line = format!("rescue -f {root}/{container} -o {root}/new-{container}");
        let Some((code, said)) = without(&dir, &line, file) else { return };
        assert_eq!(code, Some(3), "{line} without {file}: {said}");
        let name = file.split_once('/').map_or(file, |(_, name)| name);
        assert!(said.contains(name), "{line} without {file}: {said}");
        assert_eq!(dir.path(format!("new-{container}")).exists(), saves, "{line}: {said}");
    }
}
