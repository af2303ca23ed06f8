//! `verify` says OK only of readable files: every file with exit code 0 can be shown and written,
//! value by value.

use std::{
    fs,
    path::{Path, PathBuf},
};

use b2store::{ChildKind, Content, Location, Store};
use blosc_testdata::fixture::path;

use crate::session::{Dir, Run};

/// Files and directories of the fixtures, sound and malformed.
fn fixtures() -> Vec<PathBuf> {
    let mut found = vec![];
    for folder in ["frames", "stores", "stores/malformed", "bcolz", "bcolz/malformed"]
        .into_iter()
        .chain(["bloscpack", "bloscpack/malformed", "chunks"])
    {
        let entries = fs::read_dir(path(folder)).unwrap().map(|entry| entry.unwrap().path());
        found.extend(entries.filter(|entry| {
            let is_text =
                entry.extension().is_some_and(|suffix| suffix == "json" || suffix == "md");
            !is_text && !entry.ends_with("malformed")
        }));
    }
    found.sort();
    found
}

/// The members of a store that hold data, and whether their bytes have a meaning of their own;
/// empty for other inputs.
fn members(path: &Path) -> Vec<(String, bool)> {
    let Ok(store) = Store::open(path) else { return vec![] };
    let mut members = vec![];
    members.extend(store.tables().find(|key| *key == "/").map(|key| (key.to_owned(), false)));
    for child in store.tree() {
        let is_here = !matches!(store.location(&child.key), Some(Location::Remote { .. }));
        match child.kind {
            ChildKind::Table => members.push((child.key, false)),
            ChildKind::Value if is_here => match store.get(&child.key) {
                Ok(Content::Recipe(_)) => {}
                Ok(content) => {
                    let is_plain = matches!(content, Content::Array(_) | Content::Frame(_));
                    members.push((child.key, is_plain));
                }
                Err(_) => members.push((child.key, true)),
            },
            _ => {}
        }
    }
    members
}

#[test]
fn whatever_verify_calls_ok_can_be_shown_and_written() {
    let dir = Dir::new();
    let run = |line: &str, input: &str| Run::of(dir.command(line).arg(input).output().unwrap());
    let (mut nsound, mut ndamaged) = (0, 0);
    for fixture in fixtures() {
        let name = fixture.to_str().unwrap();
        let verified = run("verify", name);
        // Frames of recipes hold no data, and `verify` says so.
        if verified.code != Some(0) || verified.stderr.contains("is not resolved") {
            ndamaged += u32::from(verified.code == Some(1));
            continue;
        }
        nsound += 1;
        let store = members(&fixture);
        let (show, cat) = ("show -n 1000000 --max-ratio 1000000", "cat --max-ratio 1000000 -f");
        let mut reads = vec![];
        for (key, is_plain) in &store {
            let member = format!("{name}::{key}");
            reads.push(run(show, &member));
            reads.extend(is_plain.then(|| run(cat, &member)));
        }
        if Store::open(&fixture).is_err() {
            reads.push(run(show, name));
            // Objects are values, and not bytes.
            reads.push(run(cat, name));
            let is_of_objects =
                |read: &Run| read.code != Some(1) && read.stderr.contains("Python objects");
            reads.retain(|read| !is_of_objects(read));
        }
        for read in reads {
            assert_eq!(read.code, Some(0), "{name}: verify says OK\n{}", read.stderr);
        }
    }
    assert!(nsound > 200 && ndamaged > 60, "{nsound} sound, {ndamaged} damaged");
}
