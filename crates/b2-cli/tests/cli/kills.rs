//! `b2` killed at any moment, and looked at while it works: what is replaced is there at all times,
//! as it was or as it will be.

use core::time::Duration;
use std::{
    process::{Command, Stdio},
    time::Instant,
};

#[cfg(target_os = "linux")]
use blosc_testdata::data::Kind;

use crate::session::{Dir, walk};

/// Runs that are killed, each a little later than the one before.
const NKILLS: u32 = 24;

/// Runs the command to its end, and then again and again, killed after a growing part of the time
/// that it took. `check` looks at what each left.
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
        // It may be done.
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
        // Nobody who looks meanwhile misses it.
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

fn inputs_len(name: &str) -> usize {
    if name == "0" { 2000 } else { 3000 }
}

/// The header with a metalayer of 3,000 bytes takes several sectors and is never written over.
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

/// An append that a signal ends leaves the frame as long as it was, or has made it longer for good.
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
