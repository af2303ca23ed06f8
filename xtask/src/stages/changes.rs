//! The files of a change, and the stages that they need.
//!
//! The change is the difference to `CI_BASE` (a commit), or else to the commit at which the branch
//! left `origin/main`, `origin/master` or `main`. If `HEAD` is that commit and there is no
//! difference, as in a fresh clone, the change is unknown. Then every stage of the tier runs,
//! except the tests of the joins with engines, whose 500 packages would double the time. The joins
//! are compiled, and tested at night.

use core::fmt;

use super::table::{Tier, When};
use crate::{
    failure::Result,
    workspace::{git_lines, given_base},
};

/// The workspace's folders that engines do not use.
const NOT_IN_ENGINES: [&str; 7] = [
    "crates/blosc-peers/",
    "crates/blosc-trials/",
    "xtask/",
    "fuzz/",
    ".ci/",
    ".github/",
    "python/",
];

/// The crates of programs, which the Python package does not use.
const NOT_IN_PYTHON: [&str; 5] =
    ["crates/b2-cli/", "crates/b2-plot/", "crates/b2-program/", "crates/b2-view/", "crates/blpk/"];

/// The files that differ.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Changes {
    /// Any file may differ, and all stages are wanted.
    All,
    /// Any file may differ.
    Unknown,
    Files {
        base: String,
        paths: Vec<String>,
    },
}

impl Changes {
    pub(super) fn find(tier: Tier) -> Result<Self> {
        if tier == Tier::Night {
            return Ok(Self::All);
        }
        let given = given_base();
        let Some(base) = given.clone().or_else(branched) else { return Ok(Self::Unknown) };
        let mut paths = git_lines(&["diff", "--name-only", &base])?;
        paths.extend(git_lines(&["ls-files", "--others", "--exclude-standard"])?);
        if paths.is_empty() && given.is_none() {
            return Ok(Self::Unknown);
        }
        Ok(Self::Files { base, paths })
    }

    /// Whether the change has files of a stage with these files.
    pub(super) fn need(&self, when: When) -> bool {
        match self {
            Self::All => true,
            Self::Unknown => when != When::Engines,
            Self::Files { paths, .. } => {
                when == When::Always || paths.iter().any(|path| concerns(path, when))
            }
        }
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("change: any, all stages run"),
            Self::Unknown => f.write_str("change: not known, see CI_BASE in CONTRIBUTING.md"),
            Self::Files { base, paths } => {
                write!(f, "change: {} files since {base}", paths.len())
            }
        }
    }
}

fn concerns(path: &str, when: When) -> bool {
    let (is_engine, is_python) = (path.starts_with("engines/"), path.starts_with("python/"));
    match when {
        When::Always => true,
        _ if is_document(path) => false,
        When::Code => !is_engine && !is_python,
        When::EnginesOrUsed => !is_in(path, &NOT_IN_ENGINES),
        When::PythonOrUsed if is_python => true,
        When::PythonOrUsed => {
            !is_engine && !is_in(path, &NOT_IN_ENGINES) && !is_in(path, &NOT_IN_PYTHON)
        }
        When::Engines => is_engine,
    }
}

fn is_in(path: &str, folders: &[&str]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

fn is_document(path: &str) -> bool {
    path.ends_with(".md") || path.starts_with("docs/") || path.starts_with("LICENSE-")
}

/// The commit at which the branch left the main one.
fn branched() -> Option<String> {
    let base = |branch: &&str| git_lines(&["merge-base", "HEAD", branch]).ok()?.into_iter().next();
    ["origin/main", "origin/master", "main"].iter().find_map(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_needs_the_stages_that_look_at_it() {
        use When::{Always, Code, Engines, EnginesOrUsed, PythonOrUsed};
        for (path, needed) in [
            (
                "crates/blosc-filters/src/shuffle.rs",
                &[Always, Code, EnginesOrUsed, PythonOrUsed][..],
            ),
            ("crates/b2-cli/src/lib.rs", &[Always, Code, EnginesOrUsed]),
            ("Cargo.lock", &[Always, Code, EnginesOrUsed, PythonOrUsed]),
            ("python/py/blosckit/_index.py", &[Always, PythonOrUsed]),
            ("python/README.md", &[Always]),
            ("xtask/src/crash.rs", &[Always, Code]),
            (".ci/run", &[Always, Code]),
            ("engines/zarrs-blosc/src/lib.rs", &[Always, EnginesOrUsed, Engines]),
            ("engines/README.md", &[Always]),
            ("docs/guide.md", &[Always]),
            ("crates/b2frame/README.md", &[Always]),
        ] {
            let changes = Changes::Files { base: String::new(), paths: vec![path.to_owned()] };
            let all = [Always, Code, EnginesOrUsed, Engines, PythonOrUsed];
            let found: Vec<When> = all.into_iter().filter(|when| changes.need(*when)).collect();
            assert_eq!(found, needed, "{path}");
        }
    }

    #[test]
    fn a_change_that_is_not_known_needs_all_but_tests_of_engines() {
        assert!(Changes::All.need(When::Engines));
        assert!(Changes::Unknown.need(When::EnginesOrUsed) && Changes::Unknown.need(When::Code));
        assert!(!Changes::Unknown.need(When::Engines));
    }
}
