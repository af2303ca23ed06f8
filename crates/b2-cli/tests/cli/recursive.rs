//! `-r`: the files that are taken, those that are left out and reported, and a tree that comes
//! back.

use std::fs;

use crate::{
    samples::{self, copy_to},
    session::{self, Dir, snapshot},
};

/// A zip archive, as documents are.
fn zip() -> Vec<u8> {
    session::zip(&[("word/document.xml", b"<w:document/>")])
}

/// A folder `t` with a document, and one of each kind of entry that is left out.
#[cfg(unix)]
fn mixed() -> Dir {
    let dir = Dir::new();
    fs::create_dir_all(dir.path("t/empty")).unwrap();
    dir.write("t/letter.docx", zip()).write("t/note.b2frame", "no frame");
    dir.write("x", [7; 100]);
    dir.b2("c -q -t 1 x -o t/old.b2frame").ok();
    std::os::unix::fs::symlink("letter.docx", dir.path("t/link")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(dir.path("t/s")).unwrap();
    dir
}

#[cfg(unix)]
#[test]
fn entries_left_out_are_counted_and_named() {
    let dir = mixed();
    snapshot!(dir.b2("c -r t --output-dir a"), @r#"
    exit 0
    --- stdout
    --- stderr
    t/letter.docx -> a/letter.docx.b2frame   145 B -> 380 B  (0.38x)
    b2: t: left out: 1 compressed already, 1 named like a frame or a chunk but none, 1 symbolic link, 1 socket, 1 empty folder
    hint: -v names them, --output-dir with --copy-rest copies them
    "#);
    snapshot!(dir.b2("c -r -v t --output-dir b"), @r#"
    exit 0
    --- stdout
    --- stderr
    t/letter.docx: items of 1 byte (guessed from the data), shuffle -> zstd level 5, chunks of 1.0 MiB
    t/letter.docx -> b/letter.docx.b2frame   145 B -> 380 B  (0.38x)
    t/empty: left out: empty folder
    t/link: left out: symbolic link
    t/note.b2frame: left out: named like a frame or a chunk but none
    t/old.b2frame: left out: compressed already
    t/s: left out: socket
    b2: t: left out: 1 compressed already, 1 named like a frame or a chunk but none, 1 symbolic link, 1 socket, 1 empty folder
    hint: --output-dir with --copy-rest copies them
    "#);
    let copied = dir.b2("c -r --json t --output-dir c --copy-rest").ok();
    insta::assert_snapshot!(copied.stderr, @r#"
    {"schema":"b2.left-out/1","path":"t/empty","reason":"empty-folder","output":"c/empty"}
    {"schema":"b2.left-out/1","path":"t/link","reason":"link","output":"c/link"}
    {"schema":"b2.left-out/1","path":"t/note.b2frame","reason":"called-compressed","output":"c/note.b2frame"}
    {"schema":"b2.left-out/1","path":"t/old.b2frame","reason":"compressed","output":"c/old.b2frame"}
    {"schema":"b2.left-out/1","path":"t/s","reason":"socket"}
    "#);
    snapshot!(dir.b2("d -r c --output-dir d --copy-rest"), @r#"
    exit 0
    --- stdout
    --- stderr
    b2: c: copied along: 2 copied along by compress, 1 symbolic link, 1 empty folder
    "#);
    // Outputs beside the inputs lack nothing.
    let beside = dir.b2("c -r t").ok();
    assert!(!beside.stderr.contains("empty folder"), "{}", beside.stderr);
    let quiet = dir.b2("c -f -q -r t").ok();
    assert_eq!((quiet.text(), &*quiet.stderr), ("", ""));
}

#[test]
fn a_run_that_takes_nothing_fails() {
    let dir = Dir::new();
    for folder in ["none", "pictures", "unnamed", "frames"] {
        fs::create_dir(dir.path(folder)).unwrap();
    }
    dir.write("pictures/p.png", b"\x89PNG\r\n\x1a\n").write("x", [7; 100]);
    dir.b2("c -q -t 1 --format chunk x -o unnamed/0.0.chunk").ok();
    fs::rename(dir.path("unnamed/0.0.chunk"), dir.path("unnamed/0.0")).unwrap();
    dir.b2("c -q -t 1 x -o frames/x.b2frame").ok();
    let commands = [
        "cat",
        "d",
        "verify",
        "list",
        "info",
        "show",
        "stats",
        "plot",
        "dump",
        "compat",
        "seal",
        "repack",
        "recompress -C lz4",
        "bench",
        "tune",
        "convert --format raw --output-dir o",
        "rescue --output-dir o",
    ];
    let all = commands.iter().flat_map(|command| ["none", "pictures"].map(|it| (*command, it)));
    let others =
        [("c", "none"), ("c", "frames"), ("sum", "none"), ("cat", "unnamed"), ("d", "unnamed")];
    for (command, folder) in all.chain(others) {
        let line = format!("{command} -r {folder}");
        let run = dir.b2(&line);
        assert_eq!((run.code, run.text()), (Some(4), ""), "{line}: {}", run.stderr);
        assert!(run.stderr.starts_with(&format!("b2: {folder}: ")), "{line}: {}", run.stderr);
    }
    snapshot!(dir.b2("cat -r unnamed"), @r#"
    exit 4
    --- stdout
    --- stderr
    b2: unnamed: nothing in it has the name of a frame or a chunk; left out: 1 compressed but not named so
    hint: name the files, as in `DIR/*`: then their content decides
    "#);
    snapshot!(dir.b2("c -r frames"), @r#"
    exit 4
    --- stdout
    --- stderr
    b2: frames: nothing in it is to be compressed; left out: 1 compressed already
    hint: `b2 recompress` and `b2 convert` compress anew; --output-dir with --copy-rest copies them
    "#);
    dir.b2("sum -r pictures").ok();
    dir.b2("verify -r unnamed pictures").ok();
}

#[test]
fn files_without_a_beginning_or_an_end_are_damaged() {
    let dir = Dir::new();
    fs::create_dir(dir.path("archive")).unwrap();
    dir.write("x", session::walk(1000));
    dir.b2("c -q -t 4 x -o archive/sound.b2frame").ok();
    dir.b2("c -q -t 4 --format chunk x -o x.chunk").ok();
    let chunk = dir.read("x.chunk");
    let mut lost = vec!["archive/0.0".to_owned()];
    dir.write("archive/0.0", &chunk[..chunk.len() / 2]);
    for suffix in ["b2frame", "b2nd", "chunk", "blp", "b2z", "b2e"] {
        for (stem, bytes) in [("empty", vec![]), ("zeros", vec![0; 4096])] {
            lost.push(format!("archive/{stem}.{suffix}"));
            dir.write(&lost[lost.len() - 1], bytes);
        }
    }
    for command in ["verify", "list", "list --tree", "sum"] {
        let run = dir.b2(&format!("{command} -r archive"));
        assert_eq!(run.code, Some(1), "{command}: {}", run.stderr);
        for name in &lost {
            assert!(run.stderr.contains(&format!("b2: {name}: ")), "{command}: {name}");
            let one = dir.b2(&format!("{command} {name}"));
            assert_eq!(one.code, Some(1), "{command} {name}: {}", one.stderr);
        }
        assert!(run.text().contains("sound.b2frame"), "{command}: {}", run.text());
    }
}

#[test]
fn a_zip_is_a_store_only_if_it_has_the_member_of_one() {
    let dir = samples::make();
    dir.write("letter.docx", zip());
    for command in ["info", "list", "list --tree", "verify", "show", "stats", "rescue -o new.b2z"] {
        let run = dir.b2(&format!("{command} letter.docx"));
        assert_eq!(run.code, Some(if command == "stats" { 0 } else { 4 }), "{command}");
        assert!(!run.stderr.contains("store"), "{command}: {}", run.stderr);
    }
    // The content decides: a store of any name, even a cut one, and files only named like a store.
    let archive = dir.read("x.b2z");
    dir.write("store.zip", &archive).write("cut.zip", &archive[..archive.len() / 2]);
    for (name, from) in [("frame.b2z", "x.b2frame"), ("blp.b2e", "x.blp"), ("npy.b2z", "x.npy")] {
        dir.write(name, dir.read(from));
    }
    dir.b2("verify store.zip").ok();
    assert_eq!(dir.b2("verify cut.zip").code, Some(1));
    for name in ["frame.b2z", "blp.b2e", "npy.b2z", "store.zip"] {
        assert_eq!(dir.b2(&format!("diff {name} x.npy")).code, dir.b2("diff x.b2frame x.npy").code);
        dir.b2(&format!("info {name}")).ok();
    }
}

#[test]
fn sums_of_a_folder_are_of_all_files() {
    let dir = mixed_sums();
    let list = dir.b2("sum -r a").ok();
    let names: Vec<&str> = list.text().lines().map(|line| &line[66..]).collect();
    assert_eq!(names, ["a/letter.docx", "a/x", "a/x.npy"]);
    dir.write("list", &list.stdout).write("nothing", "").write("blank", "\n\n");
    dir.b2("sum -c list").ok();
    for list in ["nothing", "blank"] {
        assert_eq!(dir.b2(&format!("sum -c {list}")).code, Some(2));
    }
    snapshot!(dir.b2("sum -c nothing"), @r#"
    exit 2
    --- stdout
    --- stderr
    b2: nothing: the list is empty: there is nothing to check
    hint: `(cd DIR && b2 sum -r .) > LIST` makes one of a folder
    "#);
}

fn mixed_sums() -> Dir {
    let dir = Dir::new();
    fs::create_dir(dir.path("a")).unwrap();
    dir.write("a/x", "plain").write("a/letter.docx", zip());
    dir.b2("convert -q --dtype u1 a/x a/x.npy").ok();
    dir
}

#[cfg(unix)]
#[test]
fn a_folder_that_becomes_a_store_is_told_what_is_missing() {
    use std::os::unix::fs::symlink;
    let dir = mixed();
    snapshot!(dir.b2("convert t t.b2z"), @r#"
    exit 4
    --- stdout
    --- stderr
    t -> t.b2z   2 values
    b2: t: left out: 1 named like a frame or a chunk but none, 1 symbolic link, 1 socket
    hint: -v names them
    "#);
    dir.b2("convert -q t.b2z t.b2d").ok();
    symlink("../x", dir.path("t.b2d/link")).unwrap();
    dir.write("t.b2d/README", "not a value");
    for line in ["pack t.b2d -o p.b2z", "convert t.b2d c.b2z", "unpack t.b2d -o u.b2d"] {
        let run = dir.b2(line);
        let told = run.stderr.contains("b2: t.b2d: left out: 1 symbolic link\n");
        assert_eq!((run.code, told), (Some(4), true), "{line}: {}", run.stderr);
    }
    dir.b2("unpack -q p.b2z -o v.b2d").ok();
    assert_eq!(dir.read("v.b2d/README"), b"not a value");
    // In a folder with a table, only the table is converted.
    dir.write("r.csv", "a,b\n1,2\n").b2("convert -q r.csv r.b2d").ok();
    dir.write("r.b2d/README", "not a value");
    let run = dir.b2("convert r.b2d r.b2z");
    assert_eq!(run.code, Some(4));
    assert!(run.stderr.contains("b2: r.b2d: left out: 1 of other formats\n"), "{}", run.stderr);
    dir.write("t/letter.npy", "x");
    fs::rename(dir.path("t/letter.docx"), dir.path("t/letter")).unwrap();
    snapshot!(dir.b2("convert t twice.b2z"), @r#"
    exit 4
    --- stdout
    --- stderr
    t -> twice.b2z   3 values
    b2: t: left out: 1 named like a frame or a chunk but none, 1 symbolic link, 1 socket
    hint: -v names them
    "#);
}

/// A tree of over 200 entries of all kinds comes back from `compress -r` and `decompress -r`.
#[cfg(unix)]
mod tree {
    use core::time::Duration;
    use std::{
        collections::BTreeMap,
        ffi::OsString,
        fs::{File, FileTimes, Permissions},
        os::unix::{
            ffi::OsStringExt as _,
            fs::{MetadataExt as _, PermissionsExt as _, symlink},
        },
        path::{Path, PathBuf},
        time::SystemTime,
    };

    use super::*;

    /// Kind and content, mode, and time of the last change (seconds and nanoseconds).
    type Entry = (String, Vec<u8>, u32, (i64, i64));

    fn entries(root: &Path, folder: &Path, into: &mut BTreeMap<PathBuf, Entry>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let found = path.symlink_metadata().unwrap();
            let (kind, content) = if found.is_symlink() {
                ("link", fs::read_link(&path).unwrap().into_os_string().into_vec())
            } else if found.is_dir() {
                entries(root, &path, into);
                ("folder", vec![])
            } else {
                ("file", fs::read(&path).unwrap())
            };
            let times = (found.mtime(), found.mtime_nsec());
            let entry = (kind.to_owned(), content, found.mode(), times);
            into.insert(path.strip_prefix(root).unwrap().to_owned(), entry);
        }
    }

    fn all(root: &Path) -> BTreeMap<PathBuf, Entry> {
        let mut found = BTreeMap::new();
        entries(root, root, &mut found);
        found
    }

    fn name(bytes: &[u8]) -> OsString {
        OsString::from_vec(bytes.to_vec())
    }

    /// Gives every entry a mode and a time of its own, the deepest first.
    fn mark(root: &Path) {
        let mut paths: Vec<_> = all(root).into_iter().rev().collect();
        paths.retain(|(_, (kind, ..))| kind != "link");
        for (n, (path, (kind, ..))) in paths.iter().enumerate() {
            let modes =
                if kind == "folder" { [0o755, 0o700, 0o750] } else { [0o644, 0o600, 0o755] };
            let file = File::open(root.join(path)).unwrap();
            let at = Duration::new(10_000_000, 1_000) * (u32::try_from(n).unwrap() + 1);
            let times = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + at);
            file.set_times(times.set_accessed(SystemTime::UNIX_EPOCH + at)).unwrap();
            file.set_permissions(Permissions::from_mode(modes[n % 3])).unwrap();
        }
    }

    fn make() -> Dir {
        let dir = samples::make();
        let family = Dir::new();
        let root = family.path("t");
        copy_to(&dir.path("."), &root.join("family"));
        let names: [&[u8]; 6] = [
            b"plain",
            b"two words.txt",
            b"line\nbreak",
            b"\xff\xfe.bin",
            b" ",
            "\u{e9}\u{1f600}".as_bytes(),
        ];
        for n in 0..12_u8 {
            let folder = root.join(format!("folder {n}")).join(name(b"in\xe9\nside"));
            fs::create_dir_all(folder.join("empty/twice")).unwrap();
            for (k, bytes) in names.iter().enumerate() {
                fs::write(folder.join(name(bytes)), vec![n; usize::from(n) * 1000 + k]).unwrap();
            }
            fs::write(folder.join("letter.docx"), zip()).unwrap();
            fs::write(folder.join("photo.jpg"), [b"\xff\xd8\xff\xe0", &[n; 700][..]].concat())
                .unwrap();
            fs::write(folder.join("none.csv"), "").unwrap();
            fs::write(folder.join("called.b2frame"), "no frame").unwrap();
            fs::write(folder.join(name(b"\xff\n.blp")), "").unwrap();
            symlink("plain", folder.join("link")).unwrap();
            symlink("no/where", folder.join("broken link")).unwrap();
            symlink("..", folder.join("to a folder")).unwrap();
        }
        mark(&root);
        family
    }

    #[test]
    fn the_top_folder_keeps_private_what_is_in_it() {
        let dir = Dir::new();
        fs::create_dir(dir.path("t")).unwrap();
        dir.write("t/a", "secret");
        fs::set_permissions(dir.path("t"), Permissions::from_mode(0o700)).unwrap();
        dir.b2("c -q -r t --output-dir new/packed --copy-rest").ok();
        dir.b2("d -q -r new/packed --output-dir back").ok();
        let of = |name: &str| fs::metadata(dir.path(name)).unwrap();
        for name in ["new/packed", "back"] {
            assert_eq!(of(name).permissions().mode() & 0o777, 0o700, "{name}");
            assert_eq!(of(name).modified().unwrap(), of("t").modified().unwrap(), "{name}");
        }
    }

    #[test]
    fn a_tree_comes_back_with_names_bytes_modes_and_times() {
        let dir = make();
        let before = all(&dir.path("t"));
        assert!(before.len() > 200, "{}", before.len());
        let there = dir.b2("c -r t --output-dir packed --copy-rest").ok();
        let back = dir.b2("d -r packed --output-dir back --copy-rest").ok();
        let after = all(&dir.path("back"));
        for (path, entry) in &before {
            assert_eq!(after.get(path), Some(entry), "{}", path.display());
        }
        assert_eq!(before.len(), after.len());
        assert_eq!(all(&dir.path("t")), before);
        for (run, told) in [(there, "compressed already"), (back, "copied along by compress")] {
            assert!(run.stderr.contains("copied along: ") && run.stderr.contains(told));
            assert!(!run.stderr.contains("left out"), "{}", run.stderr);
        }
    }

    #[test]
    fn without_copies_each_missing_thing_is_named() {
        let dir = make();
        let run = dir.b2("c -r --json -T 1 t --output-dir packed").ok();
        let count =
            |text: &str, what: &str| text.lines().filter(|line| line.contains(what)).count();
        let nfiles = all(&dir.path("t")).values().filter(|(kind, ..)| kind == "file").count();
        let nlinks = all(&dir.path("t")).values().filter(|(kind, ..)| kind == "link").count();
        assert_eq!(count(&run.stderr, r#""reason":"link""#), nlinks);
        assert_eq!(count(&run.stderr, r#""reason":"empty-folder""#), 12);
        assert_eq!(count(&run.stderr, r#""reason":"called-compressed""#), 24);
        let ncompressed =
            all(&dir.path("packed")).values().filter(|(kind, ..)| kind == "file").count();
        assert_eq!(ncompressed, count(run.text(), "b2.compress/1"));
        assert!(ncompressed < nfiles);
    }
}
