//! The lock files, and the licences of all dependencies, compared with the list in `deny.toml`.

use core::iter::Peekable;
use std::{fs, vec::IntoIter};

use super::Finding;
use crate::{
    failure::{Context, Result},
    metadata::Metadata,
    workspace,
};

/// The workspaces of the repository.
const MANIFESTS: [&str; 4] =
    ["Cargo.toml", "fuzz/Cargo.toml", "engines/Cargo.toml", "python/Cargo.toml"];

/// Lock files that the next build would change, and dependencies whose licence the list does not
/// allow.
pub(super) fn check() -> Result<Vec<Finding>> {
    let text = fs::read_to_string(workspace::root().join("deny.toml")).at("deny.toml")?;
    let allowed = allowed_in(&text);
    let mut findings = Vec::new();
    for manifest in MANIFESTS {
        let metadata = match Metadata::locked(manifest) {
            Ok(metadata) => metadata,
            Err(failure) => {
                findings.push(format!("{manifest}: {failure}"));
                continue;
            }
        };
        for package in metadata.packages.iter().filter(|package| package.source.is_some()) {
            let expression = package.licence();
            if !is_allowed(&expression, &allowed) {
                let (name, version) = (&package.name, &package.version);
                findings.push(format!("{manifest}: {name} {version}: licence {expression:?}"));
            }
        }
    }
    Ok(findings)
}

/// The names in the list `allow` of `deny.toml`.
fn allowed_in(text: &str) -> Vec<&str> {
    let (_, rest) = text.split_once("\nallow = [").unwrap_or_default();
    let (list, _) = rest.split_once(']').unwrap_or_default();
    list.split('"').skip(1).step_by(2).collect()
}

/// Whether the licences of `allowed` satisfy an expression of SPDX.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut words = words.into_iter().peekable();
    any_of(&mut words, allowed) == Some(true) && words.next().is_none()
}

type Words<'a> = Peekable<IntoIter<&'a str>>;

/// Alternatives; nothing if the words are no expression.
fn any_of(words: &mut Words<'_>, allowed: &[&str]) -> Option<bool> {
    let mut is_satisfied = all_of(words, allowed)?;
    while words.next_if_eq(&"OR").is_some() {
        is_satisfied |= all_of(words, allowed)?;
    }
    Some(is_satisfied)
}

fn all_of(words: &mut Words<'_>, allowed: &[&str]) -> Option<bool> {
    let mut is_satisfied = single(words, allowed)?;
    while words.next_if_eq(&"AND").is_some() {
        is_satisfied &= single(words, allowed)?;
    }
    Some(is_satisfied)
}

/// One licence with its exception, or an expression in brackets.
fn single(words: &mut Words<'_>, allowed: &[&str]) -> Option<bool> {
    let word = words.next()?;
    if word == "(" {
        let inner = any_of(words, allowed)?;
        return words.next_if_eq(&")").map(|_| inner);
    }
    let licence = match words.next_if_eq(&"WITH") {
        Some(_) => format!("{word} WITH {}", words.next()?),
        None => word.to_owned(),
    };
    Some(allowed.contains(&licence.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: [&str; 3] = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"];

    #[test]
    fn expressions_are_satisfied_by_what_they_require() {
        for expression in [
            "MIT",
            "MIT OR Apache-2.0",
            "GPL-3.0 OR (MIT AND Zlib)",
            "(GPL-3.0 OR MIT) AND Zlib",
            "Apache-2.0 WITH LLVM-exception",
            "Apache-2.0 OR MIT AND Zlib",
        ] {
            assert!(is_allowed(expression, &ALLOWED), "{expression}");
        }
    }

    #[test]
    fn other_expressions_are_refused() {
        for expression in [
            "",
            "GPL-3.0",
            "Apache-2.0",
            "MIT AND GPL-3.0",
            "(MIT OR GPL-3.0) AND GPL-2.0",
            "MIT OR",
            "(MIT",
            "MIT)",
            "MIT Zlib",
        ] {
            assert!(!is_allowed(expression, &ALLOWED), "{expression}");
        }
    }

    #[test]
    fn the_list_is_that_of_deny_toml() {
        let text = "[licenses]\nallow = [\n    \"MIT\",\n    \"Zlib\",\n]\nx = [\"GPL-3.0\"]\n";
        assert_eq!(allowed_in(text), ["MIT", "Zlib"]);
        assert!(allowed_in("").is_empty());
    }
}
