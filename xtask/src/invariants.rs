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
use Check::{Documents, Files, Sources, Texts};
use documents::Document;
use source::Source;

/// A fault, beginning with its position.
type Finding = String;

type Findings = Result<Vec<Finding>>;

/// A check, by the texts that it reads.
enum Check {
    Files(fn() -> Findings),
    Sources(fn(&[Source]) -> Findings),
    Documents(fn(&[Document]) -> Findings),
    Texts(fn(&[Source], &[Document]) -> Findings),
}

const CHECKS: &[(&str, Check)] = &[
    ("crates depend only on layers below", Files(layers::check)),
    ("manifests take versions and lints from the workspace", Files(manifests)),
    ("no I/O below b2frame", Sources(rules::no_io)),
    ("only the programs print", Sources(rules::no_printing)),
    ("unsafe code only where it is allowed", Sources(rules::no_unsafe)),
    ("processor features detected only for a Simd", Sources(rules::feature_detection)),
    ("no state of the process", Sources(rules::no_global_state)),
    ("no command of b2 imports another", Sources(rules::commands_apart)),
    ("no neutral values where bytes are written", Sources(rules::no_neutral_values)),
    ("nothing unfinished, ignored or left from debugging", Sources(rules::nothing_unfinished)),
    ("modules are foo.rs + foo/bar.rs, each with a header", Sources(rules::module_files)),
    ("files have at most 600 lines of code, functions 100", Sources(rules::sizes)),
    ("functions have names that say something", Sources(names::vague_names)),
    ("lines have at most 100 columns", Sources(names::long_lines)),
    ("the words of docs/glossary.md", Texts(words::phrases)),
    ("comments begin with their subject", Sources(words::subjects)),
    ("manual pages are those of docs/", Files(docs::stale)),
    ("documents have at most 55,000 words", Documents(documents::length)),
    ("links of documents lead to files and headings", Documents(documents::broken_links)),
    ("each page is two clicks from the README", Documents(documents::reach)),
    ("samples are listed and below 4 MB", Files(testdata)),
    ("no pending snapshots", Files(pending_snapshots)),
    ("lock files are up to date, and have only licences of deny.toml", Files(licences::check)),
    ("crates can be published", Files(release::crates)),
    ("versions and the address agree", Files(release::copies)),
    ("subjects of commits", Files(commits::subjects)),
];

pub(crate) fn run(args: Args) -> Result<()> {
    args.finish()?;
    let (sources, documents) = (source::load()?, documents::load()?);
    let mut count = 0;
    for (about, check) in CHECKS {
        let findings = match check {
            Files(run) => run(),
            Sources(run) => run(&sources),
            Documents(run) => run(&documents),
            Texts(run) => run(&sources, &documents),
        }?;
        println!("{} {about}", if findings.is_empty() { "ok  " } else { "FAIL" });
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
