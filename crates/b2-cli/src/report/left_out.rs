//! The report of entries that a walk of folders left out: counts by reason, and each entry with
//! `-v` and `--json`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    console::Console,
    error::{Error, message},
    inputs::walk::{LeftOut, Reason},
    render::{harmless, path_text, size},
};

/// An entry that was left out, or copied unchanged.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.left-out/1")]
struct LeftOutReport<'a> {
    path: &'a str,
    reason: &'static str,
    /// The path of the copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
}

/// Reports one copied entry.
pub(crate) fn tell_copied(console: &Console, item: &LeftOut, output: &Path) {
    let (path, output) = (path_text(&item.path), path_text(output));
    let line = format!("{} -> {}   copied", harmless(&path), harmless(&output));
    let reason = item.reason.name();
    console.aside(&LeftOutReport { path: &path, reason, output: Some(&output) }, &line);
}

/// Reports the number of copied entries.
pub(crate) fn tell_copies(console: &Console, roots: &[PathBuf], items: &[LeftOut]) {
    if !items.is_empty() {
        let (program, folders) = (console.program(), folders(roots));
        console.note(&format!(
            "{program}: {}: copied along: {}",
            harmless(&folders),
            counts(items)
        ));
    }
}

/// Names each entry that was left out.
pub(crate) fn name(console: &Console, items: &[LeftOut]) {
    for item in items {
        let path = path_text(&item.path);
        let text = item.reason.text(1);
        let line = format!("{}: left out: {}", harmless(&path), text.trim_start_matches("1 "));
        let reason = item.reason.name();
        console.aside(&LeftOutReport { path: &path, reason, output: None }, &line);
    }
}

/// Reports the entries that were left out of `roots`, with a hint.
pub(crate) fn tell(console: &Console, roots: &[PathBuf], items: &[LeftOut], hint: Option<&str>) {
    name(console, items);
    if items.is_empty() {
        return;
    }
    let names = (console.verbose() == 0).then_some("-v names them");
    let hints: Vec<&str> = names.into_iter().chain(hint).collect();
    let mut text = format!(
        "{}: {}: left out: {}",
        console.program(),
        harmless(&folders(roots)),
        counts(items)
    );
    if !hints.is_empty() {
        text += &format!("\nhint: {}", hints.join(", "));
    }
    console.note(&text);
}

/// The error of a run that took nothing, with the folder or folders in question.
pub(crate) fn nothing_taken(roots: &[PathBuf], items: &[LeftOut]) -> (String, Error) {
    let has = |reason| items.iter().any(|item| item.reason == reason);
    let message = match items {
        [] => message::NO_FILE_IN_FOLDER.error(),
        _ if has(Reason::OtherName) => message::NOTHING_CALLED_SO.about(counts(items)),
        _ if has(Reason::Compressed) => message::NOTHING_TO_COMPRESS.about(counts(items)),
        _ => message::NOTHING_TAKEN.about(counts(items)),
    };
    (folders(roots), message)
}

/// `3 symbolic links, 1 empty folder`.
fn counts(items: &[LeftOut]) -> String {
    let mut counts: BTreeMap<Reason, u64> = BTreeMap::new();
    for item in items {
        *counts.entry(item.reason).or_default() += 1;
    }
    let texts: Vec<String> = counts.iter().map(|(reason, n)| reason.text(*n)).collect();
    texts.join(", ")
}

fn folders(roots: &[PathBuf]) -> String {
    match roots {
        [root] => path_text(root),
        _ => size::counted(roots.len() as u64, "folder"),
    }
}
