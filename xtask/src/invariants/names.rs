//! Names of functions, and the width of lines.

use super::{Finding, source::Source};
use crate::failure::Result;

/// Names that only their caller explains; a verb and an object tell the purpose.
const VAGUE: [&str; 8] = ["of", "put", "one", "at", "same", "top", "is", "with"];

/// Files that may have a vague name: a foreign trait demands it, or another change is in progress.
const VAGUE_IN: [(&str, &str); 3] = [
    ("b2frame/src/rescue/walk.rs", "at"),
    ("blosc-chunk/src/flags.rs", "with"),
    ("blosc-trials/src/failure.rs", "at"),
];

pub(super) fn vague_names(sources: &[Source]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.is_product()) {
        for (number, line) in source.product() {
            let Some(name) = function_name(line).filter(|name| VAGUE.contains(name)) else {
                continue;
            };
            let is_listed =
                |(file, known): &(&str, &str)| source.path.ends_with(file) && *known == name;
            if !VAGUE_IN.iter().any(is_listed) {
                findings.push(format!("{}:{number}: fn {name}: a verb and an object", source.path));
            }
        }
    }
    Ok(findings)
}

/// The name of the function that a line declares.
fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let end = after.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    Some(&after[..end]).filter(|name| !name.is_empty())
}

const MAX_COLUMNS: usize = 100;

pub(super) fn long_lines(sources: &[Source]) -> Result<Vec<Finding>> {
    let product = sources.iter().filter(|source| source.is_product());
    Ok(product.flat_map(long_lines_of).collect())
}

fn long_lines_of(source: &Source) -> Vec<Finding> {
    let lines = source.text.lines().zip(source.product());
    let long = lines.filter(|(text, (_, code))| {
        let text = text.trim_end();
        if text.chars().count() <= MAX_COLUMNS {
            return false;
        }
        match text.trim_start().strip_prefix("//") {
            Some(comment) => !is_drawing(comment),
            // A literal past the limit is allowed, as in rustfmt.
            None => code.trim_end().chars().count() > MAX_COLUMNS && !text.contains('"'),
        }
    });
    let describe =
        |text: &str| format!("{} columns, the limit is {MAX_COLUMNS}", text.chars().count());
    long.map(|(text, (number, _))| format!("{}:{number}: {}", source.path, describe(text)))
        .collect()
}

/// Whether a comment is a row of a table or of a drawing, with separated columns.
fn is_drawing(comment: &str) -> bool {
    let text = comment.trim_start_matches(['/', '!']);
    text.trim_start().starts_with('|') || text.contains("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source::new(path.to_owned(), text.to_owned())
    }

    #[test]
    fn names_that_say_nothing_are_found() {
        let text =
            "pub(crate) const fn of(x: u8) {}\nfn put<T>() {}\nfn offset() {}\nlet f: fn (u8);\n";
        let sources = [
            source("crates/a/src/b.rs", text),
            source("crates/blosc-trials/src/failure.rs", "fn at() {}\n"),
            source("crates/a/tests/b.rs", "fn at() {}\n"),
        ];
        let found = vague_names(&sources).unwrap();
        assert_eq!(
            found,
            [
                "crates/a/src/b.rs:1: fn of: a verb and an object",
                "crates/a/src/b.rs:2: fn put: a verb and an object"
            ]
        );
    }

    #[test]
    fn long_lines_are_found_but_no_tables_and_literals() {
        let (long, short) = ("a".repeat(98), "a".repeat(97));
        let lines = [
            format!("// {long}"),
            format!("// {short}"),
            format!("//! | {long} |"),
            format!("/// {short}  b"),
            format!("let {long};"),
            format!("f(\"{long}\");"),
        ];
        let found = long_lines(&[source("crates/a/src/b.rs", &lines.join("\n"))]).unwrap();
        assert_eq!(
            found,
            [
                "crates/a/src/b.rs:1: 101 columns, the limit is 100",
                "crates/a/src/b.rs:5: 103 columns, the limit is 100"
            ]
        );
    }
}
