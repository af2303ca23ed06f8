//! The sessions of the README and of `docs/cli.md`, `guide.md` and `recipes.md`, run and compared line by line;
//! the pages for `man`, and the descriptions of formats for `file`.
//!
//! A block marked `console` holds commands, each after `$ `, and their output. All run one after
//! the other in one directory. `B2_UPDATE_MANUAL=1` rewrites the file with the present output.

use core::fmt::Write as _;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use blosc_testdata::fixture::path;

use crate::session::Dir;

#[test]
fn sessions_of_the_manual_give_the_printed_output() {
    check("cli.md");
}

#[test]
fn the_readme_gives_the_printed_output() {
    check("../README.md");
}

#[test]
fn the_tour_gives_the_printed_output() {
    check("guide.md");
}

#[test]
fn the_recipes_give_the_printed_output() {
    check("recipes.md");
}

/// Runs the sessions of a document in a directory of its own.
fn check(document: &str) {
    let dir = Dir::new();
    for (file, name) in [
        ("samples/temperature.f32", "temperature.f32"),
        ("frames/tiny.b2frame", "tiny.b2frame"),
        ("frames/generated/array-2d.b2nd", "array.b2nd"),
    ] {
        std::fs::copy(path(file), dir.path(name)).unwrap();
    }
    std::fs::copy(path("stores/tree-with-table.b2z"), dir.path("survey.b2z")).unwrap();
    super::bcolz::copy(&path("bcolz/ct_torn_append"), &dir.path("trades"));
    dir.write("README.png", b"\x89PNG\r\n\x1a\n");
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(document);
    let text = std::fs::read_to_string(&manual).unwrap();
    let now = replayed(&text, &dir);
    if std::env::var_os("B2_UPDATE_MANUAL").is_some() {
        std::fs::write(&manual, now).unwrap();
        return;
    }
    for (now, noted) in now.lines().zip(text.lines()) {
        assert_eq!(now, noted, "run with B2_UPDATE_MANUAL=1 to bring docs/{document} up to date");
    }
    assert_eq!(now.lines().count(), text.lines().count());
}

/// The text, with what the commands print now.
fn replayed(text: &str, dir: &Dir) -> String {
    let mut now = String::new();
    let mut in_session = false;
    for line in text.lines() {
        let output = in_session && !line.starts_with("$ ") && !line.starts_with("```");
        if !output {
            writeln!(now, "{line}").unwrap();
        }
        if let Some(command) = line.strip_prefix("$ ").filter(|_| in_session) {
            now.push_str(&shell(command, dir));
        }
        if line.starts_with("```") {
            in_session = line == "```console";
        }
    }
    now
}

/// The output of a command line, both streams together.
fn shell(command: &str, dir: &Dir) -> String {
    let programs = PathBuf::from(env!("CARGO_BIN_EXE_b2")).parent().unwrap().to_owned();
    let search = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(dir.path("."))
        .env("PATH", format!("{}:{search}", programs.display()))
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The pages that `b2 man` makes, as other pages name them, with their texts.
fn made_pages(dir: &Dir) -> BTreeMap<String, String> {
    dir.b2("man --output-dir pages").ok();
    let mut made = BTreeMap::new();
    for folder in ["man1", "man5", "man7"] {
        for entry in std::fs::read_dir(dir.path("pages").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_str().unwrap();
            let (name, section) = file.rsplit_once('.').unwrap();
            made.insert(format!("{name}({section})"), std::fs::read_to_string(&path).unwrap());
        }
    }
    made
}

/// The pages that a page names where it lists others: lines like `.BR b2 (1),` and `b2\-sum(1)`.
fn named_pages(text: &str) -> Vec<String> {
    let mut is_list = false;
    let mut named = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix(".SH ") {
            is_list = ["SEE ALSO", "SUBCOMMANDS"].contains(&title.trim_matches('"'));
        }
        let line = line.trim_start_matches(".BR ").trim_end_matches(',').replace(['\\', ' '], "");
        if is_list && ["(1)", "(5)", "(7)"].iter().any(|end| line.ends_with(end)) {
            named.push(line);
        }
    }
    named
}

#[test]
fn pages_name_only_pages_that_are_made() {
    let dir = Dir::new();
    let made = made_pages(&dir);
    for (page, text) in &made {
        for named in named_pages(text) {
            assert!(made.contains_key(&named), "{page} names {named}");
        }
    }
    let of_b2 = named_pages(&made["b2(1)"]);
    let is_page = |name: &&String| name.starts_with("b2-") && name.ends_with("(1)");
    assert!(made.keys().filter(is_page).all(|name| of_b2.contains(name)), "{of_b2:?}");
}

#[test]
fn the_page_of_blpk_has_the_options_of_its_subcommands() {
    let made = made_pages(&Dir::new());
    for text in [".SS \"blpk compress\"", "\\-\\-chunk\\-size", "\\-\\-items", ".SS \"blpk info\""]
    {
        assert!(made["blpk(1)"].contains(text), "{text}");
    }
}

/// The answer of `file` with our descriptions of formats; those without a magic stay `data`.
#[test]
fn file_knows_the_formats() {
    let dir = crate::samples::make();
    let magic = concat!(env!("CARGO_MANIFEST_DIR"), "/../../share/magic/blosc");
    std::fs::write(dir.path("plain.zip"), b"PK\x03\x04 of something else, as long as a header")
        .unwrap();
    for (name, said, mime) in [
        ("x.b2frame", "Blosc2 frame, 11119 bytes", "application/x-blosc2-frame"),
        (
            "x.sframe/chunks.b2frame",
            ", sparse (index of a directory)",
            "application/x-blosc2-frame",
        ),
        ("x.b2nd", "Blosc2 frame, n-dimensional array, ", "application/x-blosc2-array"),
        ("legacy.b2frame", "Blosc2 frame, ", "application/x-blosc2-frame"),
        ("embed.b2e", "Blosc2 frame, store, ", "application/x-blosc2-frame"),
        ("x.b2z", "Blosc2 store in a zip archive", "application/x-blosc2-store"),
        ("t.b2z", "Blosc2 store in a zip archive", "application/x-blosc2-store"),
        ("tree.b2z", "Blosc2 store in a zip archive", "application/x-blosc2-store"),
        ("x.blp", "Bloscpack file, version 3, items of 4 bytes", "application/x-bloscpack"),
        ("x.chunk", "data", "application/octet-stream"),
        ("plain.zip", "data", "application/octet-stream"),
    ] {
        let ask = |option: &str| {
            let mut file = Command::new("file");
            file.args(["--brief", option, "-m", magic]).arg(dir.path(name));
            let output = file.output().expect("file(1) is needed to try share/magic/blosc");
            String::from_utf8(output.stdout).unwrap()
        };
        let text = ask("--no-pad");
        assert!(text.contains(said), "{name}: {text}");
        assert_eq!(ask("--mime-type").trim_end(), mime, "{name}");
    }
}
