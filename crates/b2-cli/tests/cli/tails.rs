//! Commands report a file that follows an object, and destroy it only on request.

use crate::session::{Dir, walk};

/// An array in each format that can be followed by another file, and files of other formats.
fn objects() -> Dir {
    let dir = Dir::new();
    dir.write("a.f32", walk(1200));
    dir.b2("c -q --dtype f4 --shape 30,40 a.f32 -o a.b2nd").ok();
    dir.b2("c -q a.f32 -o a.b2frame").ok();
    for output in ["a.npy", "a.blp", "a.b2z"] {
        dir.b2(&format!("convert -q a.b2nd -o {output}")).ok();
    }
    dir.b2("convert -q a.b2nd --slice 0:2 rows.npy").ok();
    dir
}

#[test]
fn a_file_after_an_object_is_not_overwritten_or_removed() {
    let dir = objects();
    for (name, followers) in [
        ("a.b2frame", &["a.blp", "a.npy", "a.b2z"][..]),
        ("a.b2nd", &["a.blp", "a.npy", "a.b2z"]),
        ("a.blp", &["a.blp", "a.b2nd", "a.npy", "a.b2z"]),
    ] {
        for follower in followers {
            let tail = dir.read(follower);
            let both = [dir.read(name), tail.clone()].concat();
            let file = format!("both{}", &name[1..]);
            for line in [
                "append {} rows.npy",
                "meta set {} a=1",
                "seal {}",
                "recompress -C lz4 {}",
                "repack {}",
                "convert -q --rm {} out.raw",
                "d -q --rm {} -o out",
            ] {
                dir.write(&file, &both);
                let line = line.replace("{}", &file);
                let run = dir.b2(&line);
                assert!(dir.read(&file).ends_with(&tail), "{line}, {follower}: {}", run.all());
                // The metadata of a Bloscpack file may fit into their own room.
                let may = file.ends_with(".blp") && line.starts_with("meta");
                assert!(may || run.code != Some(0), "{line}, {follower}: {}", run.all());
                for output in ["out.raw", "out"] {
                    let _ = std::fs::remove_file(dir.path(output));
                }
            }
        }
    }
}

#[test]
fn readers_of_a_bloscpack_file_warn_of_a_second_one() {
    let dir = objects();
    let (first, second) = (dir.read("a.blp"), dir.read("a.b2nd"));
    dir.write("two.blp", [&first[..], &first].concat());
    dir.write("mixed.blp", [&first[..], &second].concat());
    dir.write("bytes.blp", [&first[..], b"1234567"].concat());
    let text = |name: &str, kind: &str| {
        format!("bytes after the last chunk: {kind} begins there; `b2 split {name}` takes it out")
    };
    for (name, text) in [
        ("two.blp", text("two.blp", "a Bloscpack file")),
        ("mixed.blp", text("mixed.blp", "a Blosc2 frame")),
        ("bytes.blp", "7 bytes after the last chunk\n".to_owned()),
    ] {
        for line in ["verify", "show", "stats", "sum", "list", "diff a.b2nd", "convert -f", "d -f"]
        {
            let output = match line {
                "convert -f" => " -o out.b2nd",
                "d -f" => " -o out",
                _ => "",
            };
            let run = dir.b2(&format!("{line} {name}{output}"));
            assert!(run.stderr.contains(&text), "{line} {name}: {}", run.all());
            assert_eq!(run.stderr.matches("after the last chunk").count(), 1, "{line} {name}");
        }
    }
    assert!(dir.b2("info two.blp").ok().stderr.contains(&text("two.blp", "a Bloscpack file")));
    let run = dir.b2("append two.blp rows.npy");
    assert!(run.stderr.contains("another Bloscpack file follows the last chunk"), "{}", run.stderr);
    assert!(run.stderr.contains("`b2 split two.blp`"), "{}", run.stderr);
}

#[test]
fn a_rescue_that_leaves_a_file_out_is_exit_code_1() {
    let dir = objects();
    for (name, follower) in [("a.blp", "a.blp"), ("a.b2nd", "a.blp"), ("a.b2frame", "a.npy")] {
        let file = format!("both{}", &name[1..]);
        dir.write(&file, [dir.read(name), dir.read(follower)].concat());
        let run = dir.b2(&format!("rescue -f {file} -o saved{}", &name[1..]));
        assert_eq!(run.code, Some(1), "{file}: {}", run.all());
        assert!(!run.text().contains("everything"), "{file}: {}", run.all());
        assert!(run.text().contains("left out: "), "{file}: {}", run.all());
    }
}

#[test]
fn frames_and_bloscpack_files_in_one_file_are_split() {
    let dir = objects();
    let parts = ["a.b2nd", "a.blp", "a.b2frame", "a.blp"];
    let all: Vec<u8> = parts.iter().flat_map(|name| dir.read(name)).collect();
    dir.write("all.bin", all).b2("split --output-dir out all.bin").ok();
    for (n, part) in parts.iter().enumerate() {
        let suffix = part.split_once('.').unwrap().1;
        assert!(dir.read(&format!("out/all.{n:04}.{suffix}")) == dir.read(part), "{n}");
    }
}

#[test]
fn a_second_array_of_numpy_is_not_cut_off() {
    let dir = objects();
    let (first, second) = (dir.read("a.npy"), dir.read("rows.npy"));
    let two = [&first[..], &second].concat();
    dir.write("two.npy", &two);
    let run = dir.b2("append two.npy rows.npy");
    assert_eq!(run.code, Some(2), "{}", run.all());
    assert!(run.stderr.contains("a NumPy array begins there"), "{}", run.stderr);
    assert!(dir.read("two.npy") == two);
    assert!(dir.b2("show two.npy").stderr.contains("a NumPy array begins there"));
    // The rest of a killed append is not a file.
    dir.write("cut.npy", [&first[..], &[1; 17]].concat());
    let run = dir.b2("append cut.npy rows.npy").ok();
    let text = "17 bytes after the array are no part of it; they may be from an interrupted append";
    assert!(run.stderr.contains(text), "{}", run.stderr);
    assert_eq!(dir.read("cut.npy").len(), first.len() + 2 * 40 * 4);
}

#[test]
fn bytes_around_a_zip_archive_are_told() {
    let dir = objects();
    let archive = dir.read("a.b2z");
    for (before, after, text) in [
        (&b""[..], &b"12345"[..], "5 bytes after the zip archive"),
        (b"1234567", b"", "7 bytes before the zip archive"),
        (b"123", b"4567", "3 bytes before the zip archive, and 4 after it"),
    ] {
        dir.write("x.b2z", [before, &archive, after].concat());
        let run = dir.b2("verify x.b2z");
        assert!(run.stderr.contains(&format!("warning: {text}\n")), "{text}: {}", run.all());
        // A change writes the archive again, and would drop them.
        let whole = dir.read("x.b2z");
        for line in
            ["convert -q a.npy x.b2z::/k", "meta set x.b2z::/ a=1", "recompress -C lz4 x.b2z"]
        {
            let run = dir.b2(line);
            assert!(run.code != Some(0) && dir.read("x.b2z") == whole, "{line}: {}", run.all());
        }
    }
    assert_eq!(dir.b2("verify a.b2z").ok().stderr, "");
}

/// The refusal names a command, and the store that this command makes can be repacked.
#[test]
fn a_store_among_other_bytes_is_repacked_as_a_copy() {
    let dir = objects();
    dir.b2("convert -q a.npy a.b2z::/more").ok();
    dir.write("t.csv", "a,b\n1,x\n2,y\n").b2("convert -q t.csv t.b2z").ok();
    for (store, key) in [("a.b2z", "a.b2z::/more"), ("t.b2z", "t.b2z")] {
        let (archive, shown) = (dir.read(store), dir.b2(&format!("show {key}")).ok().stdout);
        for (before, after) in [(&b""[..], &b"12345"[..]), (b"1234567", b"")] {
            dir.write("x.b2z", [before, &archive, after].concat());
            let run = dir.b2("repack x.b2z");
            assert_eq!(run.code, Some(2), "{store}: {}", run.all());
            let hint = run.stderr.split('`').nth(1).unwrap();
            let line = hint.replace("STORE", "x.b2z").replace("NEW", "new");
            assert_eq!(line, "b2 convert x.b2z new.b2z");
            dir.b2(line.strip_prefix("b2 ").unwrap()).ok();
            dir.b2("repack new.b2z").ok();
            assert_eq!(dir.b2("verify new.b2z").ok().stderr, "", "{store}");
            let again = dir.b2(&format!("show {}", key.replace(store, "new.b2z"))).ok().stdout;
            assert!(again == shown, "{store}");
            std::fs::remove_file(dir.path("new.b2z")).unwrap();
        }
    }
}

#[test]
fn a_folder_with_files_of_others_is_not_replaced_or_removed() {
    let dir = objects();
    dir.b2("convert -q --format sframe a.b2frame -o s.b2frame").ok();
    dir.b2("convert -q a.b2nd -o c.bcolz").ok();
    for folder in ["s.b2frame", "c.bcolz"] {
        let note = format!("{folder}/notes.txt");
        dir.write(&note, "keep me");
        for line in ["recompress -C lz4 {}", "convert -f a.npy --format b2nd -o {}"] {
            let line = line.replace("{}", folder);
            let run = dir.b2(&line);
            assert!(run.code != Some(0), "{line}: {}", run.all());
            assert!(dir.read(&note) == b"keep me", "{line}");
        }
        let run = dir.b2(&format!("recompress -C lz4 {folder}"));
        assert!(run.stderr.contains("notes.txt is no part of it"), "{}", run.stderr);
    }
    let run = dir.b2("convert --rm s.b2frame -o copy.b2frame");
    assert!(run.code == Some(1) && run.stderr.contains("notes.txt"), "{}", run.all());
    assert!(dir.read("s.b2frame/notes.txt") == b"keep me");
    dir.b2("verify s.b2frame").ok();
}

#[test]
fn metadata_of_later_frames_are_not_lost_in_a_merge() {
    let dir = objects();
    for (name, note) in [("one", "first"), ("two", "second")] {
        dir.b2(&format!("c -q a.f32 -o {name}.b2frame")).ok();
        dir.b2(&format!("meta set {name}.b2frame note={note}")).ok();
    }
    dir.write("both.b2frame", [dir.read("one.b2frame"), dir.read("two.b2frame")].concat());
    let both = dir.read("both.b2frame");
    for line in ["repack both.b2frame", "append both.b2frame a.f32"] {
        let run = dir.b2(line);
        assert_eq!(run.code, Some(2), "{line}: {}", run.all());
        assert!(run.stderr.contains("`b2 split both.b2frame`"), "{}", run.stderr);
        assert!(dir.read("both.b2frame") == both, "{line}");
    }
    let run = dir.b2("convert --rm both.b2frame -o merged.blp");
    assert!(run.code == Some(1) && dir.read("both.b2frame") == both, "{}", run.all());
}

#[test]
fn metadata_of_a_bloscpack_file_do_not_push_out_what_follows() {
    let dir = objects();
    // Without metadata there is no room for any.
    dir.b2("convert -q a.b2frame -o bytes.blp").ok();
    let both = [dir.read("bytes.blp"), dir.read("a.b2nd")].concat();
    dir.write("both.blp", &both);
    let run = dir.b2("meta set both.blp note=1");
    assert_eq!(run.code, Some(2), "{}", run.all());
    assert!(run.stderr.contains("a Blosc2 frame begins there"), "{}", run.stderr);
    assert!(dir.read("both.blp") == both);
}

#[test]
fn bytes_around_an_archive_stay_when_it_is_converted() {
    let dir = objects();
    let whole = [&dir.read("a.b2z")[..], b"my only copy"].concat();
    dir.write("x.b2z", &whole);
    let run = dir.b2("convert --rm x.b2z -o out.npy");
    assert!(run.code == Some(1) && run.stderr.contains("12 bytes"), "{}", run.all());
    assert!(dir.read("x.b2z") == whole);
}

/// The hint of a refusal names `b2 split`: its files together are the file.
#[test]
fn bytes_of_others_are_split_off() {
    let dir = objects();
    let text = b"some text that follows the frame, longer than a header";
    let whole = [&dir.read("a.b2frame")[..], text].concat();
    dir.write("x.b2frame", &whole);
    assert_eq!(dir.b2("append x.b2frame a.f32").code, Some(2));
    dir.b2("split x.b2frame --output-dir parts").ok();
    let parts = ["parts/x.0000.b2frame", "parts/x.0001.rest"].map(|part| dir.read(part));
    assert!(parts.concat() == whole);
}

#[test]
fn a_key_without_its_slash_is_told() {
    let dir = objects();
    let run = dir.b2("info a.b2z::a");
    assert!(run.stderr.contains("hint: STORE::/KEY"), "{}", run.all());
}
