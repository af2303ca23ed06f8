//! The subjects of commits: the changed crate, then one thought.

use std::fs;

use super::Finding;
use crate::{failure::Result, workspace};

const MAX_COLUMNS: usize = 72;

/// The number of commits that are read without a base.
const MAX_COMMITS: usize = 50;

/// Parts of the repository that are no crates. `b2` is all programs, `blosckit` the Python package.
const PARTS: [&str; 13] = [
    "b2",
    "blosckit",
    "ci",
    "conformance",
    "docs",
    "engines",
    "fuzz",
    "packaging",
    "share",
    "testdata",
    "web",
    "workspace",
    "xtask",
];

/// Subjects from before the check.
const EARLIER: [&str; 1] =
    ["b2-cli, blosc-data: plainer words in what serves the page and rescues rows"];

/// Faults in the subjects since `CI_BASE`, or in the last ones; none in a copy without git.
pub(super) fn subjects() -> Result<Vec<Finding>> {
    if !workspace::root().join(".git").exists() {
        return Ok(Vec::new());
    }
    let range = workspace::given_base()
        .map_or_else(|| format!("--max-count={MAX_COMMITS}"), |base| format!("{base}..HEAD"));
    let printed = workspace::git_lines(&["log", "--no-merges", "--format=%h %s", &range])?;
    let areas = areas()?;
    let lines = printed.iter().filter_map(|line| line.split_once(' '));
    let faults = lines.flat_map(|(hash, subject)| {
        let faults = faults(subject, &areas).into_iter();
        faults.map(move |fault| format!("{hash} {subject:?}: {fault}"))
    });
    Ok(faults.collect())
}

/// The crates by their folders, with and without the prefix that most have, and the other parts.
fn areas() -> Result<Vec<String>> {
    let mut areas: Vec<String> = PARTS.iter().map(|part| (*part).to_owned()).collect();
    for folder in ["crates", "engines"] {
        for entry in fs::read_dir(workspace::root().join(folder))? {
            let entry = entry?;
            if entry.path().join("Cargo.toml").is_file() {
                let name = entry.file_name().to_string_lossy().into_owned();
                areas.extend(name.strip_prefix("blosc-").map(str::to_owned));
                areas.push(name);
            }
        }
    }
    Ok(areas)
}

fn faults(subject: &str, areas: &[String]) -> Vec<String> {
    if EARLIER.contains(&subject) || subject.starts_with("Revert \"") {
        return Vec::new();
    }
    let mut faults = Vec::new();
    let columns = subject.chars().count();
    if columns > MAX_COLUMNS {
        faults.push(format!("{columns} columns, the limit is {MAX_COLUMNS}"));
    }
    match subject.split_once(": ") {
        None => faults.push("no crate before a colon".to_owned()),
        Some((names, thought)) => {
            let unknown = names.split(", ").filter(|name| !areas.iter().any(|area| area == name));
            faults.extend(unknown.map(|name| format!("{name:?} is no crate")));
            if thought.ends_with('.') {
                faults.push("a full stop at the end".to_owned());
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(subject: &str) -> Vec<String> {
        faults(subject, &areas().unwrap())
    }

    #[test]
    fn crates_and_parts_may_stand_before_the_thought() {
        for subject in [
            "b2frame: a thought",
            "blosc-io, b2store: a thought",
            "hdf5-blosc: a thought: with a colon",
            "workspace: a thought",
            "codecs: a thought",
            "Revert \"chunk: a thought that was committed before the check looked at subjects\"",
        ] {
            assert!(faults_of(subject).is_empty(), "{subject}");
        }
    }

    #[test]
    fn other_subjects_are_found() {
        assert_eq!(faults_of("a thought"), ["no crate before a colon"]);
        assert_eq!(faults_of("chunks: a thought"), ["\"chunks\" is no crate"]);
        assert_eq!(faults_of("b2frame: a thought."), ["a full stop at the end"]);
        let long = format!("b2frame: {}", "a".repeat(64));
        assert_eq!(faults_of(&long), ["73 columns, the limit is 72"]);
    }
}
