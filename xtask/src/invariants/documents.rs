//! The documents: few words, no broken link, and no page that a newcomer cannot reach.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use super::Finding;
use crate::{
    failure::{Context, Result},
    workspace,
};

/// Words of `docs/`, `README.md` and `CHANGELOG.md`: an afternoon of reading. The READMEs of crates
/// do not count.
const MAX_WORDS: usize = 55_000;

/// Links that lead from `README.md` to any page.
const MAX_CLICKS: usize = 2;

const START: &str = "README.md";

/// A path below the root, and the text.
pub(super) type Document = (String, String);

/// The documents of people: those of the root, `docs/`, the crates and the packages.
pub(super) fn load() -> Result<Vec<Document>> {
    let mut paths: Vec<_> = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"]
        .iter()
        .map(|name| workspace::root().join(name))
        .collect();
    paths.extend(workspace::files(&workspace::root().join("docs"))?);
    paths.extend(workspace::files(&workspace::root().join("crates"))?);
    paths.extend(workspace::files(&workspace::root().join("engines"))?);
    paths.push(workspace::root().join("python/README.md"));
    paths.retain(|path| path.extension().is_some_and(|suffix| suffix == "md"));
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).at(path.display())?;
        Ok((workspace::relative(path), text))
    };
    paths.iter().map(read).collect()
}

/// Documents with too many words.
pub(super) fn length(documents: &[Document]) -> Result<Vec<Finding>> {
    let counted = documents.iter().filter(|(path, _)| is_counted(path));
    let words: usize = counted.map(|(_, text)| words(text)).sum();
    match words {
        ..=MAX_WORDS => Ok(Vec::new()),
        _ => Ok(vec![format!("docs: {words} words, the limit is {MAX_WORDS}")]),
    }
}

/// Words have a letter or a digit; borders of tables do not.
fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

fn is_counted(path: &str) -> bool {
    path.starts_with("docs/") || path == START || path == "CHANGELOG.md"
}

/// Links to files that do not exist, and to headings that a document lacks.
pub(super) fn broken_links(documents: &[Document]) -> Result<Vec<Finding>> {
    let headings: BTreeMap<&str, BTreeSet<String>> =
        documents.iter().map(|(path, text)| (path.as_str(), anchors(text))).collect();
    let mut findings = Vec::new();
    for (path, text) in documents {
        for (line, link) in links(text) {
            let (target, anchor) = target(path, link);
            if !workspace::root().join(&target).exists() {
                findings.push(format!("{path}:{line}: {link}: no such file"));
            } else if let (Some(anchor), Some(found)) = (anchor, headings.get(target.as_str()))
                && !found.contains(anchor)
            {
                findings.push(format!("{path}:{line}: {link}: no such heading"));
            }
        }
    }
    Ok(findings)
}

/// Pages that are too far from the first one.
pub(super) fn reach(documents: &[Document]) -> Result<Vec<Finding>> {
    let texts: BTreeMap<&str, &str> =
        documents.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut reached = BTreeSet::from([START.to_owned()]);
    for _ in 0..MAX_CLICKS {
        let text = |path: &String| Some((path.clone(), *texts.get(path.as_str())?));
        let pages: Vec<(String, &str)> = reached.iter().filter_map(text).collect();
        for (path, text) in pages {
            reached.extend(links(text).map(|(_, link)| target(&path, link).0));
        }
    }
    let is_far = |path: &&&str| {
        (is_counted(path) || **path == "CONTRIBUTING.md") && !reached.contains(**path)
    };
    let far = texts.keys().filter(is_far);
    Ok(far.map(|path| format!("{path}: over {MAX_CLICKS} clicks from {START}")).collect())
}

/// The links of a document to files, with their lines. Code is left out, and so are addresses.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let links = prose(text).flat_map(|(i, line)| {
        // Every second piece between backquotes is code.
        let inline = line.split('`').step_by(2).flat_map(|piece| piece.split("](").skip(1));
        let reference = line.strip_prefix('[').and_then(|line| line.split_once("]: "));
        let all = inline.chain(reference.map(|(_, link)| link));
        all.map(move |link| (i + 1, link.split([')', ' ']).next().unwrap_or(link)))
    });
    links.filter(|(_, link)| !link.contains(':'))
}

/// The lines outside of blocks of code, with their indices.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The file that a link of a document leads to, relative to the root, and the heading in it.
fn target<'a>(document: &str, link: &'a str) -> (String, Option<&'a str>) {
    let (path, anchor) = match link.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (link, None),
    };
    if path.is_empty() {
        return (document.to_owned(), anchor);
    }
    let folder = Path::new(document).parent().unwrap_or(Path::new(""));
    let mut parts: Vec<String> = Vec::new();
    for part in folder.join(path).components() {
        match part.as_os_str().to_string_lossy().as_ref() {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part.to_owned()),
        }
    }
    (parts.join("/"), anchor)
}

/// The anchors that GitHub makes of headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, heading) in prose(text).filter(|(_, line)| line.starts_with('#')) {
        let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let anchor: String = heading.chars().filter(is_kept).collect();
        let anchor = anchor.replace(' ', "-");
        // The second heading of a name is numbered.
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        let mut names = core::iter::once(anchor.clone()).chain(numbered);
        anchors.extend(names.find(|name| !anchors.contains(name)));
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "See [the `b2` page](cli.md#a-b) and [x](https://a.b/c).\n\
                    ```text\n[no](link.md)\n```\n`[no](code.md)`\n[`R`]: ../src/r.rs\n";
        let found: Vec<_> = links(text).collect();
        assert_eq!(found, [(1, "cli.md#a-b"), (6, "../src/r.rs")]);
    }

    #[test]
    fn links_are_relative_to_their_document() {
        let target = |link| target("docs/formats/chunk.md", link);
        assert_eq!(target("codecs.md"), ("docs/formats/codecs.md".to_owned(), None));
        assert_eq!(target("../cli.md#a"), ("docs/cli.md".to_owned(), Some("a")));
        assert_eq!(target("#b"), ("docs/formats/chunk.md".to_owned(), Some("b")));
        assert_eq!(target("./../../README.md"), ("README.md".to_owned(), None));
    }

    #[test]
    fn anchors_are_those_of_github() {
        let text = "# The `b2`, a program\n## 6. Runs\n```sh\n# no\n```\n## Code\n## Code\n";
        let expected = ["the-b2-a-program", "6-runs", "code", "code-1"];
        assert_eq!(anchors(text), expected.map(str::to_owned).into());
    }
}
