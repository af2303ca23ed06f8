//! The words of `docs/glossary.md`: comments and documents use the field's terms.

use super::{Finding, documents::Document, source::Source};
use crate::failure::Result;

/// Phrases in place of a term of the field, each with the term. All are in lower case.
const PHRASES: &[(&str, &str)] = &[
    ("foretell", "predict"),
    ("foretells", "predicts"),
    ("foretold", "predicted, expected"),
    ("whoever", "the caller, reader, writer, compiler"),
    ("so many", "a name or a number"),
    ("the original", "the program's name and version"),
    ("the originals", "the programs' names and versions"),
    ("the other side", "the reference"),
    ("yardstick", "benchmark corpus"),
    ("hoped for", "stretch goal"),
    ("asked for", "requested"),
    ("lay aside", "cold path"),
    ("laid aside", "cold path"),
    ("passes by the cache", "bypasses the cache"),
    ("pass the cache by", "bypass the cache"),
    ("past the cache", "non-temporal"),
    ("hand on", "pass on, emit"),
    ("hands on", "passes on, emits"),
    ("handed on", "passed on, emitted"),
    ("behind the last", "after the last"),
    ("behind the end", "after the end"),
    ("behind it", "after it"),
    ("behind them", "after them"),
    ("bytes behind", "bytes after"),
    ("who waits", "the waiting thread"),
    ("of all things", "say what it is"),
    ("for nothing", "say what is saved"),
    ("likewise", "say it again, or name the invariant"),
];

/// A comment names its subject first, and begins with none of these.
const PRONOUNS: [&str; 5] = ["What", "Who", "Whoever", "Those", "Such"];

/// Lines that may begin so: texts of `--help`, most of them.
const MAX_PRONOUNS: usize = 12;

/// Files that quote the phrases.
const QUOTING: [&str; 2] = ["docs/glossary.md", "xtask/src/invariants/words.rs"];

pub(super) fn phrases(sources: &[Source], documents: &[Document]) -> Result<Vec<Finding>> {
    let sources = sources.iter().map(|source| (&source.path, &source.text));
    let documents = documents.iter().map(|(path, text)| (path, text));
    let all = sources.chain(documents).filter(|(path, _)| !QUOTING.contains(&path.as_str()));
    Ok(all.flat_map(|(path, text)| phrases_in(path, text)).collect())
}

/// Comments that begin with a pronoun in place of a noun, if they are too many.
pub(super) fn subjects(sources: &[Source]) -> Result<Vec<Finding>> {
    let mut findings: Vec<Finding> = Vec::new();
    for Source { path, text, .. } in sources {
        let lines = text.lines().enumerate().filter(|(_, line)| begins_with_pronoun(line));
        findings.extend(lines.map(|(i, line)| format!("{path}:{}: {}", i + 1, line.trim())));
    }
    if findings.len() <= MAX_PRONOUNS {
        findings.clear();
    }
    Ok(findings)
}

fn begins_with_pronoun(line: &str) -> bool {
    let Some(comment) = line.trim_start().strip_prefix("//") else { return false };
    let words = comment.trim_start_matches(['/', '!']).trim_start();
    PRONOUNS.contains(&words.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default())
}

fn phrases_in(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.to_lowercase();
        for (phrase, term) in PHRASES.iter().filter(|(phrase, _)| has_phrase(&line, phrase)) {
            findings.push(format!("{path}:{}: \"{phrase}\": {term}", i + 1));
        }
    }
    findings
}

fn has_phrase(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + phrase.len()..]);
        !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pronouns_are_found_at_the_start_of_comments() {
        let found = ["    /// What it is.", "//! Those of it.", "// Such", "//Who"];
        let others = ["/// Whatever", "/// The size. What", "let x = 1; // What", "What", "//"];
        assert!(found.into_iter().all(begins_with_pronoun));
        assert!(!others.into_iter().any(begins_with_pronoun));
    }

    #[test]
    fn phrases_are_found_as_whole_words_in_any_case() {
        let text = "//! Whoever reads\n// the originality of it\nlet x = \"so many\";\n";
        let found = phrases_in("a.rs", text);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("a.rs:1: \"whoever\""));
        assert!(found[1].starts_with("a.rs:3: \"so many\""));
    }
}
