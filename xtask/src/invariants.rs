//! `cargo xtask ci`: the invariants of `docs/architecture.md` that a program can check.
//!
//! Each check reads the manifests or the sources and returns its findings, one line each; the task
//! fails if there are any. Comments and literals in sources are blanked first (see [`source`]).
//! Rules about the product leave out `mod tests`.

mod commits;
mod documents;
mod layers;
mod licences;
mod names;
mod release;
mod rules;
mod source;
mod words;

use std::fs;

use blosc_testdata::fixture::{self, Manifest};

use crate::{
    args::Args,
    docs,
    failure::{Context, Result, fail},
    workspace,
};
use source::Source;

/// A fault, beginning with its position.
type Finding = String;

struct Check {
    about: &'static str,
    run: fn(&[Source]) -> Result<Vec<Finding>>,
}

const CHECKS: &[Check] = &[
    Check { about: "crates depend only on layers below", run: |_| layers::check() },
    Check { about: "manifests take versions and lints from the workspace", run: |_| manifests() },
    Check { about: "no I/O below b2frame", run: rules::no_io },
    Check { about: "only the programs print", run: rules::no_printing },
    Check { about: "unsafe code only where it is allowed", run: rules::no_unsafe },
    Check { about: "processor features detected only for a Simd", run: rules::feature_detection },
    Check { about: "no state of the process", run: rules::no_global_state },
    Check { about: "no command of b2 imports another", run: rules::commands_apart },
    Check { about: "no neutral values where bytes are written", run: rules::no_neutral_values },
    Check {
        about: "nothing unfinished, ignored or left from debugging",
        run: rules::nothing_unfinished,
    },
    Check {
        about: "modules are foo.rs + foo/bar.rs, each with a header",
        run: rules::module_files,
    },
    Check { about: "files have at most 600 lines of code, functions 100", run: rules::sizes },
    Check { about: "functions have names that say something", run: names::vague_names },
    Check { about: "lines have at most 100 columns", run: names::long_lines },
    Check { about: "the words of docs/glossary.md", run: words::phrases },
    Check { about: "comments begin with their subject", run: words::subjects },
    Check { about: "manual pages are those of docs/", run: |_| docs::stale() },
    Check { about: "documents have at most 55,000 words", run: |_| documents::length() },
    Check {
        about: "links of documents lead to files and headings",
        run: |_| documents::broken_links(),
    },
    Check { about: "each page is two clicks from the README", run: |_| documents::reach() },
    Check { about: "samples are listed and below 4 MB", run: |_| testdata() },
    Check { about: "no pending snapshots", run: |_| pending_snapshots() },
    Check {
        about: "lock files are up to date, and have only licences of deny.toml",
        run: |_| licences::check(),
    },
    Check { about: "crates can be published", run: |_| release::crates() },
    Check { about: "versions and the address agree", run: |_| release::copies() },
    Check { about: "subjects of commits", run: |_| commits::subjects() },
];

pub(crate) fn run(args: Args) -> Result<()> {
    args.finish()?;
    let sources = source::load()?;
    let mut count = 0;
    for check in CHECKS {
        let findings = (check.run)(&sources)?;
        println!("{} {}", if findings.is_empty() { "ok  " } else { "FAIL" }, check.about);
        findings.iter().for_each(|finding| println!("     {finding}"));
        count += findings.len();
    }
    if count == 0 { Ok(()) } else { fail(format!("{count} findings")) }
}

fn manifests() -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for manifest in workspace::files(&workspace::root().join("crates"))? {
        if manifest.file_name().is_none_or(|name| name != "Cargo.toml") {
            continue;
        }
        let text = fs::read_to_string(&manifest).at(manifest.display())?;
        let place = workspace::relative(&manifest);
        if !text.contains("[lints]\nworkspace = true") {
            findings.push(format!("{place}: does not take the lints of the workspace"));
        }
        let own = text.lines().enumerate().filter(|(_, line)| line.contains("version = \""));
        findings.extend(
            own.map(|(i, line)| format!("{place}:{}: a version of its own: {line}", i + 1)),
        );
    }
    Ok(findings)
}

fn testdata() -> Result<Vec<Finding>> {
    const LIMIT: u64 = 4_000_000;
    let mut findings = Vec::new();
    let size = workspace::size(&fixture::root())?;
    if size >= LIMIT {
        findings.push(format!("conformance/samples: {size} bytes, the limit is {LIMIT}"));
    }
    for listed in Manifest::load()?.fixtures {
        if !listed.path().is_file() {
            findings.push(format!(
                "conformance/samples/{}: in the manifest but not there",
                listed.file
            ));
        }
    }
    Ok(findings)
}

/// Files left by a test whose snapshot differed.
fn pending_snapshots() -> Result<Vec<Finding>> {
    let files = workspace::files(&workspace::root().join("crates"))?;
    let is_pending = |name: &str| name.ends_with(".pending-snap") || name.ends_with(".snap.new");
    let places = files.iter().map(|path| workspace::relative(path));
    Ok(places.filter(|place| is_pending(place)).collect())
}
