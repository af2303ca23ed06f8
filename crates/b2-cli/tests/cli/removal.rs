//! Properties of the input that are kept: mode, owner, and the file itself if its content would not
//! come back.

#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;

use crate::session::{Dir, Run, walk};

/// A `.npy` file.
fn npy(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({shape}), }}");
    npy.extend(text.bytes());
    npy.resize(127, b' ');
    npy.push(b'\n');
    npy.extend(data);
    npy
}

/// Asserts that a run kept the input for this reason.
#[track_caller]
fn kept(dir: &Dir, run: &Run, input: &str, reason: &str) {
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(
        run.stderr.contains(&format!("kept, because {reason} would be lost")),
        "{}",
        run.stderr
    );
    assert!(dir.path(input).exists());
}

#[test]
fn text_that_has_lost_something_does_not_replace_its_source() {
    let dir = Dir::new();
    dir.write("s.npy", npy("|S4", "False", "2,", b"a\\xfa\xff\0\0"));
    let mut structs = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    structs.extend(b"{'descr': [('s', '|S5')], 'fortran_order': False, 'shape': (2,), }");
    structs.resize(127, b' ');
    structs.push(b'\n');
    structs.extend(b"a\\xffa\xff\0\0\0");
    dir.write("bs.npy", structs);
    for name in ["s", "bs"] {
        let run = dir.b2(&format!("convert --rm {name}.npy {name}.csv"));
        kept(&dir, &run, &format!("{name}.npy"), "the shape and type of the array");
    }
    // Integers of 8 bytes come back unchanged.
    let mut rows = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    rows.extend(b"{'descr': [('n', '<i8')], 'fortran_order': False, 'shape': (2,), }");
    rows.resize(127, b' ');
    rows.push(b'\n');
    rows.extend([1u64.to_le_bytes(), 2u64.to_le_bytes()].concat());
    dir.write("n.npy", &rows);
    dir.b2("convert --rm n.npy n.csv").ok();
    assert!(!dir.path("n.npy").exists());
    dir.b2("convert --rm -f s.npy s.csv").ok();
    assert!(!dir.path("s.npy").exists());
}

#[test]
fn order_type_and_metadata_have_to_come_back() {
    let dir = Dir::new();
    let data: Vec<u8> = (0..24).collect();
    dir.write("f.npy", npy("|u1", "True", "4, 6", &data));
    kept(&dir, &dir.b2("c --rm f.npy"), "f.npy", "the Fortran order of the items");
    std::fs::remove_file(dir.path("f.npy.b2nd")).unwrap();
    kept(&dir, &dir.b2("convert --rm f.npy f.b2nd"), "f.npy", "the Fortran order of the items");
    dir.b2("convert --rm -q f.npy f.blp").ok();
    assert!(!dir.path("f.npy").exists());
    dir.write("raw", &data);
    dir.b2("c -qf --dtype u1 --shape 4,6 --vlmeta unit=K -o m.b2nd raw").ok();
    kept(&dir, &dir.b2("convert --rm m.b2nd m.npy"), "m.b2nd", "the metalayer `unit`");
    kept(&dir, &dir.b2("convert --rm m.b2nd m.raw"), "m.b2nd", "the metalayer `unit`");
    dir.b2("convert -q --rm m.b2nd m.blp").ok();
    dir.b2("convert -q --rm m.blp m.b2nd").ok();
    assert_eq!(dir.b2("meta get m.b2nd unit").ok().text(), "\"K\"\n");
}

#[cfg(unix)]
fn mode(dir: &Dir, name: &str) -> u32 {
    std::fs::metadata(dir.path(name)).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn outputs_of_private_files_are_private() {
    let dir = Dir::new();
    dir.write("s.npy", npy("|u1", "False", "24,", &[7; 24]));
    let private = |name: &str, mode: u32| {
        std::fs::set_permissions(dir.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    private("s.npy", 0o600);
    for line in [
        "convert s.npy s.bcolz",
        "c s.npy",
        "convert s.npy.b2nd s.sframe",
        "c --format blp s.npy",
        "rescue s.npy.blp -o r.blp",
        "rescue s.npy.b2nd -o r.b2nd",
        "meta export s.npy.b2nd -o m.json",
        "convert s.bcolz back.npy",
        "convert s.sframe copy.bcolz",
        "rescue s.bcolz -o r.bcolz",
    ] {
        dir.b2(line).ok();
    }
    for name in ["s.npy.b2nd", "s.npy.blp", "r.blp", "r.b2nd", "m.json", "back.npy"] {
        assert_eq!(mode(&dir, name), 0o600, "{name}");
    }
    for name in ["s.bcolz", "s.bcolz/data", "s.bcolz/meta", "s.sframe", "copy.bcolz", "r.bcolz"] {
        assert_eq!(mode(&dir, name), 0o700, "{name}");
    }
    for name in ["s.bcolz/data/__0.blp", "s.sframe/chunks.b2frame", "r.bcolz/data/__0.blp"] {
        assert_eq!(mode(&dir, name), 0o600, "{name}");
    }
    private("s.npy", 0o440);
    dir.b2("convert -f s.npy -o s.bcolz").ok();
    assert_eq!((mode(&dir, "s.bcolz"), mode(&dir, "s.bcolz/data/__0.blp")), (0o750, 0o440));
}

#[cfg(unix)]
#[test]
fn root_gives_the_output_to_the_owner_of_the_input() {
    use std::os::unix::fs::{MetadataExt, chown};
    let dir = Dir::new();
    dir.write("a.f32", walk(100));
    // Only root may give files away.
    if chown(dir.path("a.f32"), Some(12_345), Some(54_321)).is_err() {
        return;
    }
    dir.b2("c a.f32").ok();
    dir.b2("convert a.f32.b2frame a.sframe").ok();
    for name in ["a.f32.b2frame", "a.sframe", "a.sframe/chunks.b2frame"] {
        let found = std::fs::metadata(dir.path(name)).unwrap();
        assert_eq!((found.uid(), found.gid()), (12_345, 54_321), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn temporary_files_are_private_until_they_are_renamed() {
    let dir = Dir::new();
    let mut child =
        dir.command("c -t 4 - -o out.b2frame").stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, &walk(400_000)).unwrap();
    let temporary =
        core::iter::repeat_with(|| dir.names().into_iter().find(|name| name.starts_with('.')))
            .find_map(|name| name)
            .unwrap();
    assert_eq!(mode(&dir, &temporary), 0o600);
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert_eq!(dir.names(), ["out.b2frame"]);
    assert_eq!(mode(&dir, "out.b2frame") & 0o600, 0o600);
}
