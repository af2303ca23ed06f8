//! `cargo xtask api`: the public interface of each published crate, a line for each item.
//!
//! The lines stand in `docs/api/CRATE.txt`; the task fails if they differ from the sources, so a
//! change of an interface is seen in the change itself. `--update` writes them again. rustdoc gives
//! the items as JSON, which stable compilers print only with the variable `RUSTC_BOOTSTRAP`. A
//! script sets it for rustdoc alone: compilers do not see it, and no crate is built anew.

mod items;
mod types;

use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

use crate::{
    args::Args,
    failure::{Context, Result, fail},
    metadata::{Metadata, Package},
    workspace,
};

/// The version of rustdoc's JSON that is read.
const FORMAT: u64 = 57;

pub(crate) fn run(mut args: Args) -> Result<()> {
    let is_update = args.flag("--update");
    let only: Option<String> = args.option("--only")?;
    args.finish()?;
    let metadata = Metadata::without_dependencies("Cargo.toml")?;
    let is_wanted =
        |it: &&Package| it.is_published() && only.as_ref().is_none_or(|only| *only == it.name);
    let packages: Vec<&Package> = metadata.packages.iter().filter(is_wanted).collect();
    if packages.is_empty() {
        return fail("no such published crate");
    }
    document(&packages)?;
    let mut count = 0;
    for package in packages {
        let lines = interface(&package.name)?;
        let path = listing(&package.name);
        if is_update {
            fs::create_dir_all(path.parent().unwrap_or(&path)).at(path.display())?;
            fs::write(&path, lines.join("\n") + "\n").at(path.display())?;
            println!("{}: {} lines", package.name, lines.len());
        } else {
            let noted = fs::read_to_string(&path).at(path.display())?;
            count += report(&package.name, &noted, &lines);
        }
    }
    match count {
        0 => Ok(()),
        _ => fail(format!("{count} lines differ: `cargo xtask api --update` notes them")),
    }
}

fn listing(name: &str) -> PathBuf {
    workspace::root().join("docs/api").join(name).with_extension("txt")
}

/// Makes the JSON of crates with all features.
fn document(packages: &[&Package]) -> Result<()> {
    let script = workspace::target().join("rustdoc-json");
    fs::write(&script, "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n").at(script.display())?;
    workspace::run(Command::new("chmod").arg("+x").arg(&script))?;
    let mut cargo = workspace::cargo();
    cargo.args(["doc", "--quiet", "--no-deps", "--lib", "--all-features"]);
    packages.iter().for_each(|package| {
        cargo.args(["--package", &package.name]);
    });
    cargo.env("RUSTDOCFLAGS", "-Z unstable-options --output-format json --cap-lints allow");
    workspace::run(cargo.env("RUSTDOC", script))
}

/// The items of a crate, sorted.
fn interface(package: &str) -> Result<Vec<String>> {
    let name = package.replace('-', "_");
    let path = workspace::target().join("doc").join(&name).with_extension("json");
    let document: serde_json::Value =
        serde_json::from_slice(&fs::read(&path).at(path.display())?).at(path.display())?;
    match document["format_version"].as_u64() {
        Some(FORMAT) => Ok(items::lines(&document, &name)),
        other => fail(format!("{name}: version {other:?} of rustdoc's JSON, {FORMAT} is known")),
    }
}

/// Prints the lines that differ, and returns their number.
fn report(name: &str, noted: &str, lines: &[String]) -> usize {
    let (noted, found): (BTreeSet<&str>, BTreeSet<&str>) =
        (noted.lines().collect(), lines.iter().map(String::as_str).collect());
    let gone = noted.difference(&found).map(|line| format!("- {line}"));
    let new = found.difference(&noted).map(|line| format!("+ {line}"));
    let differences: Vec<String> = gone.chain(new).collect();
    println!("{} {name}", if differences.is_empty() { "ok  " } else { "FAIL" });
    differences.iter().for_each(|line| println!("     {line}"));
    differences.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_are_counted() {
        let lines = ["fn a()".to_owned(), "fn c()".to_owned()];
        assert_eq!(report("x", "fn a()\nfn b()\n", &lines), 2);
        assert_eq!(report("x", "fn a()\nfn c()\n", &lines), 0);
    }
}
