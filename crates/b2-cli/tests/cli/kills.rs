//! `b2` is killed at any moment, and its files are read while it works: a replaced file always
//! exists, in its old or its new state.

use core::time::Duration;
use std::{
    process::{Command, Stdio},
    time::Instant,
};

#[cfg(target_os = "linux")]
use blosc_testdata::data::Kind;

use crate::session::{Dir, walk};

/// Number of killed runs, each a little later than the one before.
const NKILLS: u32 = 24;

/// Runs the command to its end, then kills it after growing parts of that time. `check` examines
/// the files after each kill.
fn kill_at_all_times(mut command: impl FnMut(u32) -> Command, mut check: impl FnMut(u32)) {
    let start = Instant::now();
    assert!(command(0).status().unwrap().success());
    let whole = start.elapsed();
    check(0);
    for number in 1..=NKILLS {
        let mut child = command(number).stderr(Stdio::null()).spawn().unwrap();
        let end = Instant::now() + whole * number / NKILLS;
        while Instant::now() < end {
            std::thread::yield_now();
        }
        // The run may have ended.
        let _ = child.kill();
        child.wait().unwrap();
        check(number);
    }
}

/// A table and an array of bcolz, and a sparse frame: directories that `convert -f` replaces.
#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_is_replaced_is_there_at_all_times() {
    let dir = Dir::new();
    let inputs = [walk(2000), walk(3000)];
    dir.write("0", &inputs[0]).write("1", &inputs[1]);
    dir.write("0.csv", "id\n1\n2\n").write("1.csv", "id\n3\n4\n5\n");
    for n in ["0", "1"] {
        dir.b2(&format!("c -q -t4 -z1K {n} -o {n}.b2frame")).ok();
        dir.b2(&format!("c -q --dtype <i4 --shape {} {n} -o {n}.b2nd", inputs_len(n))).ok();
    }
    for (source, target, show) in [
        ("b2frame", "T.sframe", "cat"),
        ("b2nd --format carray", "T.carray", "cat"),
        ("csv", "T.bcolz", "show --csv"),
    ] {
        let convert = |n: u32| format!("convert -qf {}.{source} -o {target}", n % 2);
        let mut states = vec![];
        for n in [1, 0] {
            dir.b2(&convert(n)).ok();
            states.push(dir.b2(&format!("{show} {target}")).ok().stdout);
        }
        assert_ne!(states[0], states[1]);
        kill_at_all_times(
            |n| dir.command(&convert(n)),
            |n| {
                let found = dir.b2(&format!("{show} {target}")).ok().stdout;
                assert!(states.contains(&found), "{target}, kill {n}");
            },
        );
        // A reader in between always finds the directory.
        let mut nlooks = 0_u64;
        for n in 0..4 {
            let mut child = dir.command(&convert(n)).spawn().unwrap();
            let start = Instant::now();
            while child.try_wait().unwrap().is_none() {
                assert!(dir.path(target).is_dir(), "{target} is not there");
                assert!(start.elapsed() < Duration::from_secs(60));
                nlooks += 1;
            }
            assert!(child.wait().unwrap().success());
        }
        assert!(nlooks > 10, "{target}: {nlooks}");
    }
}

/// Outputs of one run appear together; each is whole or missing.
#[test]
fn outputs_that_wait_for_others_are_whole_or_not_there() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("in")).unwrap();
    for n in 0..150 {
        dir.write(&format!("in/{n}"), walk(n));
    }
    let mut nplaced = vec![];
    kill_at_all_times(
        |n| dir.command(&format!("c -qr in --output-dir out-{n}")),
        |n| {
            let outputs = std::fs::read_dir(dir.path(format!("out-{n}")));
            let names = outputs.into_iter().flatten().map(|entry| entry.unwrap().file_name());
            let names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
            let placed = names.iter().filter_map(|name| name.strip_suffix(".b2frame"));
            // The next run sweeps the scratch files.
            let placed: Vec<_> = placed.filter(|name| !name.starts_with('.')).collect();
            for name in &placed {
                let found = dir.b2(&format!("cat out-{n}/{name}.b2frame")).ok().stdout;
                assert_eq!(found, walk(name.parse().unwrap()), "{name}, kill {n}");
            }
            nplaced.push(placed.len());
        },
    );
    assert_eq!(nplaced[0], 150);
    assert!(nplaced[1..].iter().any(|n| *n < 150), "{nplaced:?}");
}

fn inputs_len(name: &str) -> usize {
    if name == "0" { 2000 } else { 3000 }
}

/// A header with a metalayer of 3,000 bytes spans sectors, and is never overwritten in place.
#[cfg(unix)]
#[test]
fn a_long_header_is_replaced_as_a_whole() {
    use std::os::unix::fs::MetadataExt;
    let dir = Dir::new();
    dir.write("a", walk(2000));
    let value = |n: u32| [b"a", b"b"][n as usize % 2].repeat(3000);
    let unit = |n: u32| format!("unit={}", String::from_utf8(value(n)).unwrap());
    dir.b2(&format!("c -q --meta {} a -o T.b2frame", unit(1))).ok();
    let (old, inode) = (dir.read("T.b2frame"), dir.path("T.b2frame").metadata().unwrap().ino());
    std::fs::hard_link(dir.path("T.b2frame"), dir.path("old.b2frame")).unwrap();
    let set = |n: u32| dir.command(&format!("meta set -q T.b2frame {}", unit(n)));
    assert!(set(0).status().unwrap().success());
    assert_eq!(dir.read("old.b2frame"), old);
    assert_ne!(dir.path("T.b2frame").metadata().unwrap().ino(), inode);
    kill_at_all_times(set, |n| {
        let found = dir.read("T.b2frame");
        let count =
            |byte: &[u8]| found.windows(3000).filter(|part| *part == byte.repeat(3000)).count();
        assert_eq!(count(b"a") + count(b"b"), 1, "kill {n}");
        dir.b2("verify -q T.b2frame").ok();
        assert_eq!(dir.b2("cat T.b2frame").ok().stdout, walk(2000));
    });
}

/// A signal during an append leaves the frame at its old length, or commits the growth.
#[cfg(target_os = "linux")]
#[test]
fn an_append_that_is_interrupted_takes_its_chunks_back() {
    let dir = Dir::new();
    dir.write("small", walk(100)).write("big", Kind::Noise.bytes(8 << 20));
    dir.b2("c -q -t4 small -o a.b2frame").ok();
    dir.b2("c -q --dtype <i4 --shape 100 small -o a.b2nd").ok();
    let mut ncut = 0;
    for name in ["a.b2frame", "a.b2nd"] {
        let before = dir.read(name);
        let start = Instant::now();
        dir.b2(&format!("append -q {name} big")).ok();
        let (whole, after) = (start.elapsed(), dir.read(name).len());
        for number in 0..NKILLS / 2 {
            dir.write(name, &before);
            let mut child = dir.command(&format!("append -q {name} big")).spawn().unwrap();
            std::thread::sleep(whole * number / (NKILLS / 2));
            let signal = if number % 2 == 0 { "-TERM" } else { "-HUP" };
            let mut kill = Command::new("kill");
            kill.args([signal, &child.id().to_string()]).stderr(Stdio::null());
            kill.status().unwrap();
            child.wait().unwrap();
            let found = dir.read(name);
            assert!(found == before || found.len() == after, "{name}: {} bytes", found.len());
            ncut += usize::from(found == before);
            dir.b2(&format!("verify {name}")).ok();
        }
    }
    assert!(ncut > 2, "{ncut}");
}

/// A command that changes files, and the state of each file: its bytes, or the output of a command.
struct Changing {
    command: &'static str,
    shows: &'static [&'static str],
}

const CHANGING: &[Changing] = &[
    Changing { command: "compress -qf x -o a.b2frame", shows: &["a.b2frame"] },
    Changing { command: "compress -q --rm x -o new.b2frame", shows: &["x", "new.b2frame"] },
    Changing { command: "decompress -qf b.b2frame -o x", shows: &["x"] },
    Changing { command: "decompress -q --rm b.b2frame -o new", shows: &["b.b2frame", "new"] },
    Changing { command: "convert -qf b.b2frame a.blp", shows: &["a.blp"] },
    Changing { command: "convert -q --rm a.b2nd -o new.npy", shows: &["a.b2nd", "new.npy"] },
    Changing { command: "convert -qf --dtype <i4 -C zstd a.b2frame a.b2nd", shows: &["a.b2nd"] },
    Changing { command: "convert -qf more.csv -o t.bcolz", shows: &["show --csv t.bcolz"] },
    Changing { command: "convert -qf more.csv -o t.b2z", shows: &["t.b2z"] },
    Changing { command: "recompress -q -C zlib a.b2frame", shows: &["a.b2frame"] },
    Changing { command: "recompress -q -C zlib t.bcolz", shows: &["show --csv t.bcolz"] },
    Changing { command: "repack -q d.b2frame", shows: &["d.b2frame"] },
    Changing { command: "repack -q d.sframe", shows: &["cat d.sframe", "meta export d.sframe"] },
    // The frame does not count the bytes that a killed seal has appended.
    Changing {
        command: "seal -q plain.b2frame",
        shows: &["verify plain.b2frame", "cat plain.b2frame"],
    },
    Changing {
        command: "seal -q --checksum none a.b2frame",
        shows: &["verify a.b2frame", "cat a.b2frame"],
    },
    Changing { command: "rescue -qf cut.b2frame -o a.b2frame", shows: &["a.b2frame"] },
    Changing { command: "rescue -qf cut.b2frame -o new.b2frame", shows: &["new.b2frame"] },
    Changing { command: "append -q a.blp x", shows: &["cat a.blp"] },
    Changing { command: "append -q d.sframe x", shows: &["cat d.sframe"] },
    Changing { command: "append -q a.b2frame x", shows: &["cat a.b2frame"] },
    Changing { command: "append -q a.b2nd a.npy", shows: &["cat a.b2nd"] },
    Changing { command: "append -q a.npy a.b2nd", shows: &["cat a.npy", "sum a.npy"] },
    Changing { command: "append -q a.carray a.npy", shows: &["cat a.carray"] },
    Changing { command: "append -q t.bcolz more.csv", shows: &["show --csv t.bcolz"] },
    Changing { command: "append -q t.b2z more.csv", shows: &["t.b2z"] },
    Changing { command: "append -q t.b2d more.csv", shows: &["show --csv t.b2d"] },
    Changing { command: "meta set -q d.sframe a=2 n=3", shows: &["meta export d.sframe"] },
    Changing { command: "meta set -q a.blp a=2", shows: &["meta export a.blp"] },
    Changing { command: "meta set -q t.bcolz a=2", shows: &["meta export t.bcolz"] },
    Changing { command: "meta del -q d.b2frame a", shows: &["meta export d.b2frame"] },
    Changing { command: "meta import -q d.b2frame m.json", shows: &["meta export d.b2frame"] },
    Changing { command: "meta export -f d.b2frame -o m.json", shows: &["m.json"] },
    Changing { command: "pack -qf t.b2d -o t.b2z", shows: &["t.b2z"] },
    Changing { command: "unpack -q t.b2z -o new.b2d", shows: &["show --csv new.b2d"] },
    Changing { command: "join -qf a.b2frame b.b2frame -o d.b2frame", shows: &["d.b2frame"] },
    Changing {
        command: "split -qf s.b2frame --output-dir .",
        shows: &["s.0000.b2frame", "s.0001.b2frame"],
    },
    Changing { command: "extract -qf s.b2frame#1 -o a.b2frame", shows: &["a.b2frame"] },
    Changing { command: "plot -qf a.b2nd -o new.svg", shows: &["new.svg"] },
];

/// Commands that change the storage of the content only, which the other states do not show.
const SAME_CONTENT: [&str; 2] = ["repack -q d.sframe", "recompress -q -C zlib t.bcolz"];

/// Runs of a command that are killed.
const NKILLS_EACH: u32 = 5;

/// Kills every command that changes files. Each file is in its old or new state, `--rm` loses none,
/// and the same command then succeeds.
#[cfg(unix)]
#[test]
fn every_command_leaves_files_as_they_were_or_will_be() {
    let made = Dir::new();
    make_files(&made);
    let kill = |changing: &Changing| {
        let dir = Dir::new();
        copy_all(&made.path(""), &dir.path(""));
        let old = states(&dir, changing);
        let start = Instant::now();
        // `rescue` reports the damage of its input by its code.
        let code = Some(i32::from(changing.command.starts_with("rescue")));
        let run = dir.b2(changing.command);
        assert_eq!(run.code, code, "{}: {}", changing.command, run.stderr);
        let (whole, new) = (start.elapsed(), states(&dir, changing));
        let is_kept = SAME_CONTENT.contains(&changing.command);
        assert_eq!(old == new, is_kept, "{}", changing.command);
        for number in 0..NKILLS_EACH {
            let dir = Dir::new();
            copy_all(&made.path(""), &dir.path(""));
            let mut child = dir.command(changing.command).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(whole * (2 * number + 1) / (2 * NKILLS_EACH));
            // The run may have ended.
            let _ = child.kill();
            child.wait().unwrap();
            let found = states(&dir, changing);
            for ((found, old), new) in found.iter().zip(&old).zip(&new) {
                let is_whole = found == old || found == new;
                assert!(is_whole, "{}, kill {number}", changing.command);
            }
            let is_there = found.iter().any(Option::is_some) || old.iter().all(Option::is_none);
            assert!(is_there, "{}, kill {number}: lost", changing.command);
            if !changing.command.starts_with("append") && found == old {
                let again = dir.b2(changing.command);
                assert_eq!(again.code, code, "{}: {}", changing.command, again.stderr);
                assert!(states(&dir, changing) == new, "{}, after kill {number}", changing.command);
            }
        }
    };
    CHANGING.iter().for_each(kill);
}

/// Small files of all formats, with dead bytes if possible.
fn make_files(dir: &Dir) {
    dir.write("x", walk(1500)).write("y", walk(2500));
    dir.write("t.csv", "id,name\n1,one\n2,two\n").write("more.csv", "id,name\n3,six\n");
    dir.write("m.json", "{\"vlmetalayers\": {\"b\": 7}}");
    for line in [
        "c -q -t4 -z1K y -o a.b2frame",
        "c -q -t4 -z1K y -o b.b2frame",
        "c -q --dtype <i4 --shape 50,50 y -o a.b2nd",
        "c -q -t4 -z1K --checksum none y -o plain.b2frame",
        "c -q -t4 --format blp y -o a.blp",
        "c -q -t4 -z1K y -o d.b2frame",
        "meta set -q d.b2frame a=1",
        "append -q d.b2frame x",
        "convert -q a.b2nd a.npy",
        "convert -q a.b2nd --format carray -o a.carray",
        "convert -q d.b2frame d.sframe",
        "append -q d.sframe x",
        "meta set -q d.sframe a=1",
        "append -q d.sframe x",
        "join -q a.b2frame d.b2frame -o s.b2frame",
        "convert -q t.csv -o t.bcolz",
        "convert -q t.csv -o t.b2z",
        "convert -q t.csv -o t.b2d",
        "append -q t.b2d more.csv",
    ] {
        dir.b2(line).ok();
    }
    let frame = dir.read("b.b2frame");
    dir.write("cut.b2frame", &frame[..frame.len() * 2 / 3]);
}

/// The content of each file; `None` if there is no file.
fn states(dir: &Dir, changing: &Changing) -> Vec<Option<Vec<u8>>> {
    let state = |show: &&str| match show.split(' ').next_back() {
        Some(name) if !dir.path(name).exists() => None,
        Some(name) if name == *show => Some(dir.read(name)),
        _ => Some(dir.b2(show).ok().stdout),
    };
    changing.shows.iter().map(state).collect()
}

fn copy_all(from: &std::path::Path, to: &std::path::Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy_all(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
