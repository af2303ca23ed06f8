//! Rust sources with comments and literals blanked, so that only code contains words.

use std::fs;

use crate::{
    failure::{Context, Result},
    workspace,
};

/// One `.rs` file.
pub(super) struct Source {
    /// The path below the root, with forward slashes.
    pub(super) path: String,
    /// The text, unchanged.
    pub(super) text: String,
    /// The same lines, with comments, strings and character literals blanked.
    pub(super) code: String,
}

impl Source {
    pub(super) fn new(path: String, text: String) -> Self {
        let code = blank(&text);
        Self { path, text, code }
    }

    /// The numbered lines of the product's code: without the `mod tests` at the end.
    pub(super) fn product(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.code.lines().enumerate().map(|(i, line)| (i + 1, line));
        lines.take_while(|(_, line)| *line != "#[cfg(test)]" && !line.starts_with("#[cfg(all(test"))
    }

    /// Whether the file belongs to the product of a crate, and not to its tests or benches.
    pub(super) fn is_product(&self) -> bool {
        self.path.contains("/src/")
            && !self.path.ends_with("/tests.rs")
            && !self.path.contains("/tests/")
    }

    /// Whether the file belongs to the crate in `crates/name`, or in a folder of the root.
    pub(super) fn is_of(&self, name: &str) -> bool {
        let path = self.path.strip_prefix("crates/").unwrap_or(&self.path);
        path.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// All sources of the crates, the Python package, the tasks and the fuzz targets.
pub(super) fn load() -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for folder in ["crates", "engines", "python/src", "xtask", "fuzz/fuzz_targets"] {
        let folder = workspace::root().join(folder);
        let files = if folder.is_dir() { workspace::files(&folder)? } else { Vec::new() };
        for file in
            files.iter().filter(|file| file.extension().is_some_and(|suffix| suffix == "rs"))
        {
            let text = fs::read_to_string(file).at(file.display())?;
            sources.push(Source::new(workspace::relative(file), text));
        }
    }
    Ok(sources)
}

/// Blanks comments and literals, except for their line ends.
fn blank(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skip = hidden(rest);
        let (head, tail) =
            rest.split_at(if skip > 0 { skip } else { word(rest).max(first.len_utf8()) });
        if skip > 0 {
            code.extend(head.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        } else {
            code.push_str(head);
        }
        rest = tail;
    }
    code
}

/// The length of the word at the start of `rest`. It is skipped whole, so that its last letter is
/// not taken for the `r` or `b` of a literal.
fn word(rest: &str) -> usize {
    rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
}

/// The length of the comment or literal at the start of `rest`, otherwise 0.
fn hidden(rest: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return rest.find("*/").map_or(rest.len(), |at| at + 2);
    }
    let prefix = rest.find(|c| !matches!(c, 'b' | 'c' | 'r')).unwrap_or(rest.len());
    let literal = &rest[prefix..];
    let raw = rest[..prefix].contains('r');
    let len = match literal.chars().next() {
        Some('"' | '#') if raw => raw_string(literal),
        Some('"') => quoted(literal, '"'),
        Some('\'') if prefix <= 1 => character(literal),
        _ => 0,
    };
    if len == 0 { 0 } else { prefix + len }
}

/// The length of `#"..."#` with any number of `#`; 0 for other tokens (`r#type`).
fn raw_string(literal: &str) -> usize {
    let hashes = literal.len() - literal.trim_start_matches('#').len();
    let Some(body) = literal[hashes..].strip_prefix('"') else { return 0 };
    let end = format!("\"{}", &literal[..hashes]);
    body.find(&end).map_or(literal.len(), |at| hashes + 1 + at + end.len())
}

/// The length of a quoted literal, escapes included.
fn quoted(literal: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in literal.char_indices().skip(1) {
        if !escaped && c == quote {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    literal.len()
}

/// The length of a character literal, or 0 for a lifetime.
fn character(literal: &str) -> usize {
    let mut chars = literal.chars().skip(1);
    match (chars.next(), chars.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => quoted(literal, '\''),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked() {
        assert_eq!(blank("a // b\nc /* d\n */ e"), "a     \nc     \n    e");
        assert_eq!(blank(r#"f("x\"y", 'q', '\'', b'z')"#), "f(      ,    ,     ,     )");
        assert_eq!(blank("g(r#\"a\"b\"#) + br\"c\""), "g(        ) +      ");
    }

    #[test]
    fn lifetimes_and_words_are_kept() {
        let code = "fn f<'a>(x: &'a str) -> r#type { var\n }";
        assert_eq!(blank(code), code);
    }

    #[test]
    fn product_ends_before_the_tests() {
        let source =
            Source::new("crates/a/src/lib.rs".into(), "one\n#[cfg(test)]\nmod tests {}\n".into());
        assert_eq!(source.product().collect::<Vec<_>>(), [(1, "one")]);
        assert!(source.is_product() && source.is_of("a") && !source.is_of("ab"));
    }
}
