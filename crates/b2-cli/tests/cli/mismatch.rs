//! Damage that a checksum shows: no command takes the data for sound, or gives them a new seal.
//!
//! A bit of the data is flipped in each container with checksums. The data still decode, to wrong
//! values. Each command that reads them reports that, and changes nothing.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{matrix::npy, session::Dir};

/// A container, the commands that make it of `a.npy` or of the table `t.npy`, and the input for
/// `append`.
const CONTAINERS: [(&str, &[&str]); 17] = [
    ("x.b2frame", &["c a.raw -t 8 -z 16K -o x.b2frame"]),
    ("s.b2frame", &["c a.raw -t 8 -z 16K --checksum chunks -o s.b2frame"]),
    ("x.b2nd", &["convert a.npy --chunks 2048 x.b2nd"]),
    ("s.b2nd", &["convert a.npy --chunks 2048 --checksum chunks s.b2nd"]),
    ("one.b2nd", &["convert a.npy --chunks 8192 one.b2nd"]),
    (
        "x.sframe",
        &["c a.raw -t 8 -z 16K -o y.b2frame", "convert y.b2frame --format sframe -o x.sframe"],
    ),
    ("x.blp", &["convert a.npy x.blp"]),
    ("carray", &["convert a.npy --format carray -o carray"]),
    ("chunks", &["convert a.npy --format carray --chunks 1000 -o chunks"]),
    ("ctable", &["convert t.npy --format ctable -o ctable"]),
    ("x.b2z", &["convert a.npy x.b2nd", "convert x.b2nd x.b2z"]),
    ("x.b2d", &["convert a.npy x.b2nd", "convert x.b2nd x.b2d"]),
    ("two.b2z", &["convert a.npy two.b2z::/x", "convert a.npy two.b2z::/y"]),
    ("table.b2z", &["convert t.npy table.b2z"]),
    ("table.b2d", &["convert t.npy table.b2d"]),
    (
        "plain.b2z",
        &["convert a.npy plain.b2d", "recompress -l 0 --checksum none plain.b2d", "pack plain.b2d"],
    ),
    ("column.b2z", &["convert a.npy column.b2z::/g/x"]),
];

/// Commands that read all of a container `@`.
const READING: [&str; 14] = [
    "cat @",
    "d @ -o out",
    "stats @",
    "sum @",
    "plot @ -o out.svg",
    "convert @ out.npy",
    "convert @ out.b2frame",
    "convert @ out.b2nd",
    "convert @ out.blp",
    "convert @ out.csv",
    "convert @ --format carray -o out",
    "convert @ --format ctable -o out",
    "convert @ out.b2z",
    "recompress -C lz4 -9 @ -o out",
];

/// Commands that change a container.
const CHANGING: [&str; 4] =
    ["recompress -C lz4 -9 @", "append @ more.npy", "append @ more.raw", "repack @"];

/// Damages a container, and returns its files.
type Damage = fn(&Dir, &str) -> Vec<(PathBuf, Vec<u8>)>;

/// Noise, which every format stores uncompressed.
fn noise() -> Vec<u8> {
    let mut random = blosc_testdata::data::XorShift32::new(7);
    (0..16_384).flat_map(|_| random.next_u32().to_le_bytes()).collect()
}

fn inputs() -> Dir {
    let (dir, noise) = (Dir::new(), noise());
    dir.write("a.raw", &noise).write("a.npy", npy("<i8", "(8192,)", false, &noise));
    dir.write("t.npy", npy("[('p', '<i8'), ('q', '<i8')]", "(4096,)", false, &noise));
    dir.write("more.raw", &noise[..64]).write("more.npy", npy("<i8", "(8,)", false, &noise[..64]));
    dir
}

/// All files below a path, with their bytes.
fn tree(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    if !path.is_dir() {
        return vec![(path.to_owned(), fs::read(path).unwrap_or_default())];
    }
    let mut entries: Vec<_> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries.iter().flat_map(|entry| tree(entry)).collect()
}

/// Restores the files of a container.
fn restore(container: &Path, files: &[(PathBuf, Vec<u8>)]) {
    if container.is_dir() {
        fs::remove_dir_all(container).unwrap();
    }
    for (path, bytes) in files {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Flips a bit of data that the container stores uncompressed: of the items, or in a table the same
/// bytes of the items of a column.
fn damage(dir: &Dir, name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let noise = noise();
    let plane = |row: usize| noise[16 * row + 3..].iter().step_by(16).take(8).copied().collect();
    let places: Vec<Vec<u8>> =
        [noise[8 * 2100..8 * 2102].to_vec(), noise[8 * 2100..8 * 2101].to_vec()]
            .into_iter()
            .chain((2000..2040).map(plane))
            .collect();
    let mut files = tree(&dir.path(name));
    for place in &places {
        for (path, bytes) in &mut files {
            if let Some(at) = bytes.windows(place.len()).position(|found| found == place) {
                bytes[at] ^= 4;
                fs::write(path, bytes).unwrap();
                return tree(&dir.path(name));
            }
        }
    }
    panic!("{name} does not hold the data as they are");
}

/// Changes the type in the metadata of bcolz arrays.
fn damage_types(dir: &Dir, name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    for (path, bytes) in tree(&dir.path(name)) {
        if path.ends_with("meta/storage") {
            let text = String::from_utf8(bytes).unwrap();
            let other = text.replace("int64", "float64");
            assert_ne!(other, text);
            fs::write(path, other).unwrap();
        }
    }
    tree(&dir.path(name))
}

#[test]
fn no_command_takes_damaged_data_for_sound() {
    let mut wrong = String::new();
    let bcolz = CONTAINERS.into_iter().filter(|(name, _)| !name.contains('.'));
    let types = bcolz.map(|container| (container, damage_types as Damage));
    for ((name, make), damage) in
        CONTAINERS.into_iter().map(|container| (container, damage as Damage)).chain(types)
    {
        let dir = inputs();
        make.iter().for_each(|line| drop(dir.b2(line).ok()));
        let before = dir.names();
        let damaged = damage(&dir, name);
        assert_eq!(dir.b2(&format!("verify {name}")).code, Some(1), "{name}");
        for command in READING {
            let line = command.replace('@', name);
            let run = dir.b2(&line);
            // A command may refuse the format for another reason.
            let is_refused = matches!(run.code, Some(1 | 2 | 4));
            if !is_refused || dir.names() != before || tree(&dir.path(name)) != damaged {
                wrong += &format!("{line}: {:?} {}\n", run.code, run.stderr);
                for name in dir.names().iter().filter(|name| !before.contains(name)) {
                    let path = dir.path(name);
                    fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).unwrap();
                }
            }
        }
        for command in CHANGING {
            let line = command.replace('@', name);
            let run = dir.b2(&line);
            let is_told = dir.b2(&format!("verify {name}")).code == Some(1);
            if run.code != Some(0) && tree(&dir.path(name)) != damaged || !is_told {
                wrong +=
                    &format!("{line}: {:?} {}, damage told: {is_told}\n", run.code, run.stderr);
            }
            restore(&dir.path(name), &damaged);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn damaged_data_get_no_new_seal() {
    let mut wrong = String::new();
    for (name, make) in CONTAINERS {
        let dir = inputs();
        make.iter().for_each(|line| drop(dir.b2(line).ok()));
        let damaged = damage(&dir, name);
        for command in READING.iter().chain(&CHANGING).filter(|line| !line.starts_with("repack")) {
            let line = command.replace('@', name) + " --no-check";
            let output = line.split(' ').find(|word| word.starts_with("out")).unwrap_or(name);
            let run = dir.b2(&line);
            let is_changed = matches!(run.code, Some(0 | 4));
            let verified = dir.b2(&format!("verify {output}"));
            // An archive has a checksum of each member, also of damaged data: the warning was
            // enough.
            let is_archive = name.starts_with("table") || command.ends_with("out.b2z");
            let is_sealed = verified.text().contains("checked)") && !is_archive;
            if is_changed
                && (is_sealed || !run.stderr.contains("warning"))
                && !command.starts_with("append")
            {
                wrong +=
                    &format!("{line}: {:?} {} then {}\n", run.code, run.stderr, verified.text());
            }
            let path = dir.path(output);
            if output != name {
                fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).ok();
            }
            restore(&dir.path(name), &damaged);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_mismatch_names_the_part_of_a_container() {
    for (name, parts) in [
        ("two.b2z", &["/x", "/y"][..]),
        ("column.b2z", &["/g/x"]),
        ("table.b2z", &["/_cols/p", "/_cols/q"]),
        ("table.b2d", &["/_cols/p", "/_cols/q"]),
        ("ctable", &["p/data/__", "q/data/__"]),
    ] {
        let dir = inputs();
        let (_, make) = CONTAINERS.into_iter().find(|(found, _)| *found == name).unwrap();
        make.iter().for_each(|line| drop(dir.b2(line).ok()));
        damage(&dir, name);
        let is_named = |text: &str| parts.iter().any(|part| text.contains(part));
        for command in ["sum", "stats", "cat"] {
            let run = dir.b2(&format!("{command} --no-check {name}"));
            if run.code == Some(0) {
                let warning = run.stderr.lines().find(|line| line.contains("warning"));
                assert!(warning.is_some_and(is_named), "{command} {name}: {}", run.stderr);
            }
        }
        assert!(is_named(&dir.b2(&format!("verify {name}")).stderr), "{name}");
    }
}
