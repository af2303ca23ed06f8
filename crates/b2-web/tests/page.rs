//! A page without a browser: it fetches what the engine lacks, from files in memory.

use std::fs;
use std::path::{Path, PathBuf};

use b2_web::{Answer, Engine};
use serde_json::{Value, json};

/// A file, or the files of a folder with their paths, and how they are handed over.
pub(crate) struct Page {
    pub(crate) engine: Engine,
    files: Vec<(String, Vec<u8>)>,
    is_folder: bool,
    /// Hands over one part at a time, in pieces of this number of bytes, the last part first.
    pub(crate) piece: Option<usize>,
    pub(crate) rounds: usize,
    pub(crate) nbytes: usize,
}

fn files_below(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files_below(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            files.push((name, fs::read(&path).unwrap()));
        }
    }
}

impl Page {
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Self {
        Self {
            engine: Engine::default(),
            files: vec![(String::new(), bytes)],
            is_folder: false,
            piece: None,
            rounds: 0,
            nbytes: 0,
        }
    }

    pub(crate) fn of_path(path: &Path) -> Self {
        if path.is_file() {
            return Self::of_bytes(fs::read(path).unwrap());
        }
        let mut files = vec![];
        files_below(path, path, &mut files);
        Self { files, is_folder: true, ..Self::of_bytes(vec![]) }
    }

    /// The bytes of all files, to be damaged.
    pub(crate) fn files_mut(&mut self) -> impl Iterator<Item = &mut Vec<u8>> {
        self.files.iter_mut().map(|(_, bytes)| bytes)
    }

    pub(crate) fn open(&mut self, name: &str) -> Answer {
        let begin = match self.is_folder {
            false => json!({ "call": "file", "name": name }),
            true => {
                let lens = self.files.iter().map(|(path, bytes)| json!([path, bytes.len()]));
                let lens: Vec<Value> = lens.collect();
                json!({ "call": "folder", "name": name, "files": lens })
            }
        };
        self.ask(&begin);
        self.ask(&json!({ "call": "open", "session": 0 }))
    }

    pub(crate) fn ask(&mut self, request: &Value) -> Answer {
        for _ in 0..10_000 {
            match self.engine.call(request.to_string().as_bytes()) {
                Answer::Fetch(parts) => self.fetch(parts.as_array().unwrap()),
                answer => return answer,
            }
        }
        panic!("{request} never ends")
    }

    fn fetch(&mut self, parts: &[Value]) {
        self.rounds += 1;
        assert!(!parts.is_empty());
        let last = parts.len() - 1;
        let wanted = if self.piece.is_some() { &parts[last..] } else { parts };
        for part in wanted {
            let number = |n: usize| usize::try_from(part[n].as_i64().unwrap_or(0).max(0)).unwrap();
            let path = part[0].as_str().unwrap();
            let (_, bytes) = self.files.iter().find(|(name, _)| name == path).unwrap();
            let range = match part[1].as_i64() {
                Some(-1) => bytes.len().saturating_sub(number(2))..bytes.len(),
                _ => number(1).min(bytes.len())..number(2).min(bytes.len()),
            };
            let end = self.piece.map_or(range.end, |piece| range.end.min(range.start + piece));
            let found = &bytes[range.start..end];
            self.nbytes += found.len();
            let (at, len) = (range.start as u64, bytes.len() as u64);
            self.engine.add(0, path, at, found, len).unwrap();
        }
    }

    /// Runs a task to its end: what it found, and the bytes that it gave.
    pub(crate) fn run(&mut self, member: &str, task: &Value) -> Answer {
        let begun =
            self.ask(&json!({ "call": "task", "session": 0, "member": member, "task": task }));
        let Answer::Done(progress) = begun else { return begun };
        let (mut progress, mut bytes) = (progress, vec![]);
        let mut done = 0;
        while progress["done"] != progress["total"] && json!(done) != progress["total"] {
            match self.ask(&json!({ "call": "next", "session": 0 })) {
                Answer::Done(next) => {
                    done = next["done"].as_u64().unwrap();
                    progress = next;
                }
                Answer::Bytes(more) => {
                    done += 1;
                    bytes.extend(more);
                }
                other => return other,
            }
        }
        match bytes.is_empty() {
            true => self.ask(&json!({ "call": "found", "session": 0 })),
            false => Answer::Bytes(bytes),
        }
    }
}

/// Answers to the page's requests about a sample, a line each; the JavaScript of `web/test` sends
/// the same requests.
pub(crate) fn answers(page: &mut Page, name: &str) -> Vec<String> {
    let whole = page.open(name);
    let mut lines = vec![line("open", &whole)];
    let Answer::Done(about) = whole else { return lines };
    let mut things = vec![(String::new(), about.clone())];
    for member in about["members"].as_array().into_iter().flatten().take(12) {
        let key = member[0].as_str().unwrap().to_owned();
        let answer = page.ask(&json!({ "call": "about", "session": 0, "member": key }));
        lines.push(line("about", &answer));
        if let Answer::Done(about) = answer {
            things.push((key, about));
        }
    }
    for (member, about) in things {
        lines.extend(of_thing(page, &member, &about));
    }
    lines
}

fn of_thing(page: &mut Page, member: &str, about: &Value) -> Vec<String> {
    let mut lines = vec![];
    let cells = json!({
        "call": "cells", "session": 0, "member": member, "fixed": [], "rows": [1, 9],
        "columns": [0, 6],
    });
    lines.push(line("cells", &page.ask(&cells)));
    let nrows = about["nrows"].as_u64().unwrap_or(0).min(5);
    let rows: Vec<u64> = (0..nrows).rev().collect();
    let rows = json!({
        "call": "rows", "session": 0, "member": member, "columns": [], "rows": rows,
    });
    lines.push(line("rows", &page.ask(&rows)));
    let chunks = json!({
        "call": "chunks", "session": 0, "member": member, "start": 0, "count": 5,
    });
    lines.push(line("chunks", &page.ask(&chunks)));
    for task in [
        json!({ "kind": "verify" }),
        json!({ "kind": "stats" }),
        json!({ "kind": "export", "format": "csv", "part": [] }),
        json!({ "kind": "export", "format": "npy", "part": [] }),
    ] {
        lines.push(line(&task.to_string(), &page.run(member, &task)));
    }
    let column = about["columns"][0]["name"].clone();
    let picture = json!({
        "kind": "histogram", "column": column, "part": [], "width": 400, "height": 300,
    });
    if let Answer::Done(_) = page.run(member, &picture) {
        let draw = json!({ "call": "picture", "session": 0, "width": 400, "height": 300 });
        lines.push(line("picture", &page.ask(&draw)));
    }
    lines
}

fn line(what: &str, answer: &Answer) -> String {
    match answer {
        Answer::Done(value) => format!("{what} done {value}"),
        Answer::Failed(value) => format!("{what} failed {value}"),
        Answer::Bytes(bytes) => {
            format!("{what} bytes {} {}", bytes.len(), blosc_testdata::sha256_hex(bytes))
        }
        Answer::Fetch(value) => format!("{what} fetch {value}"),
    }
}

/// Files and folders of the samples.
pub(crate) fn samples() -> Vec<PathBuf> {
    let mut found = vec![];
    for folder in ["bcolz", "bloscpack", "frames", "stores", "chunks"] {
        let folder = blosc_testdata::fixture::path(folder);
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let is_data =
            |path: &PathBuf| path.extension().is_none_or(|end| end != "json" && end != "md");
        found.extend(entries.filter(is_data));
    }
    found.sort();
    found
}
