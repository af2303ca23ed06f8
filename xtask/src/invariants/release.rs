//! The needs of registries and packagers: each crate explains itself, and facts agree.

use std::{fs, path::Path};

use super::Finding;
use crate::{
    failure::{Context, Result},
    metadata::{Metadata, Package},
    workspace,
};

/// A macro's example needs the crate that re-exports it, which tests it (see the tests below).
const TESTED_ELSEWHERE: &str = "b2frame-derive";

/// Gaps in what a registry shows of the published crates.
pub(super) fn crates() -> Result<Vec<Finding>> {
    let ours = Metadata::without_dependencies("Cargo.toml")?;
    let engines = Metadata::without_dependencies("engines/Cargo.toml")?;
    let mut findings = Vec::new();
    for package in ours.packages.iter().filter(|package| package.is_published()) {
        findings.extend(manifest_gaps(package));
        findings.extend(readme_gaps(package)?);
    }
    for package in engines.packages.iter().filter(|package| package.is_published()) {
        findings.extend(manifest_gaps(package));
    }
    Ok(findings)
}

fn manifest_gaps(package: &Package) -> Vec<Finding> {
    let mut findings = Vec::new();
    if package.metadata["docs"]["rs"]["all-features"] != serde_json::Value::Bool(true) {
        findings.push(format!("{}: docs.rs does not build all features", package.name));
    }
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        if !package.folder().join(file).is_file() {
            findings.push(format!("{}: its package has no {file}", package.name));
        }
    }
    findings
}

/// A README has an example that tests run, and names each feature.
fn readme_gaps(package: &Package) -> Result<Vec<Finding>> {
    let (name, folder) = (&package.name, package.folder());
    let readme = fs::read_to_string(folder.join("README.md")).at(name)?;
    let library = fs::read_to_string(folder.join("src/lib.rs")).at(name)?;
    let mut findings = Vec::new();
    if !readme.contains("```rust") {
        findings.push(format!("{name}: its README has no example"));
    }
    if !library.contains("include_str!(\"../README.md\")") && name != TESTED_ELSEWHERE {
        findings.push(format!("{name}: the example of its README is no test"));
    }
    let features = package.features.keys().filter(|feature| *feature != "default");
    let unnamed = features.filter(|feature| !readme.contains(&format!("`{feature}`")));
    findings.extend(unnamed.map(|feature| format!("{name}: its README has no feature {feature}")));
    Ok(findings)
}

/// A fact of the workspace that another file repeats, because nothing can refer to it.
struct Repeated {
    file: &'static str,
    /// The text before the fact, and the text after it.
    around: (&'static str, &'static str),
}

const fn repeated(file: &'static str, before: &'static str, after: &'static str) -> Repeated {
    Repeated { file, around: (before, after) }
}

const VERSIONS: [Repeated; 5] = [
    repeated("Cargo.toml", "\nversion = \"", "\""),
    repeated("engines/Cargo.toml", "\nversion = \"", "\""),
    repeated("python/Cargo.toml", "\nversion = \"", "\""),
    repeated("web/package.json", "\"version\": \"", "\""),
    repeated("web/packages/reader/package.json", "\"version\": \"", "\""),
];

/// The oldest compiler; the last one is that of the job that compiles with it.
const COMPILERS: [Repeated; 3] = [
    repeated("Cargo.toml", "\nrust-version = \"", "\""),
    repeated("python/Cargo.toml", "\nrust-version = \"", "\""),
    repeated(".github/workflows/ci.yml", "dtolnay/rust-toolchain@1", "\n"),
];

/// The only files with the address.
const ADDRESSES: [Repeated; 2] = [
    repeated("Cargo.toml", "\nrepository = \"", "\""),
    repeated("engines/Cargo.toml", "\nrepository = \"", "\""),
];

/// Copies of the version, of the oldest compiler and of the address that differ, and other places
/// of the address.
pub(super) fn copies() -> Result<Vec<Finding>> {
    let ours = Metadata::without_dependencies("Cargo.toml")?;
    let Some(package) = ours.packages.iter().find(|package| package.is_published()) else {
        return Ok(vec!["Cargo.toml: no published crate".to_owned()]);
    };
    let address = package.repository.as_deref().unwrap_or_default();
    let compiler = package.rust_version.as_deref().unwrap_or_default();
    let mut findings = Vec::new();
    let facts = [(&VERSIONS[..], package.version.as_str()), (&ADDRESSES[..], address)];
    for (copies, fact) in facts {
        for copy in copies {
            findings.extend(copy.compare(fact)?);
        }
    }
    for copy in &COMPILERS {
        let is_job = copy.file.ends_with(".yml");
        let fact = if is_job { compiler.trim_start_matches('1') } else { compiler };
        findings.extend(copy.compare(fact)?);
    }
    let (_, place) = address.split_once("://").unwrap_or(("", address));
    let known = ADDRESSES.map(|copy| copy.file);
    let others = files_with(place)?.into_iter().filter(|file| !known.contains(&file.as_str()));
    findings.extend(others.map(|file| format!("{file}: has the address of the repository")));
    Ok(findings)
}

impl Repeated {
    fn compare(&self, fact: &str) -> Result<Option<Finding>> {
        let text = fs::read_to_string(workspace::root().join(self.file)).at(self.file)?;
        let (before, after) = self.around;
        let expected = format!("{before}{fact}{after}");
        if text.contains(&expected) {
            return Ok(None);
        }
        Ok(Some(format!("{}: lacks {:?}", self.file, expected.trim())))
    }
}

/// The tracked files that contain a text.
fn files_with(text: &str) -> Result<Vec<String>> {
    let root = workspace::root();
    if !root.join(".git").exists() {
        return Ok(Vec::new());
    }
    let mut files = workspace::git_lines(&["ls-files"])?;
    files.retain(|file| contains(&root.join(file), text));
    Ok(files)
}

fn contains(path: &Path, text: &str) -> bool {
    fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_without_texts_of_licences_is_found() {
        let package = Package { name: "a".to_owned(), ..Package::default() };
        assert_eq!(
            manifest_gaps(&package),
            [
                "a: docs.rs does not build all features",
                "a: its package has no LICENSE-APACHE",
                "a: its package has no LICENSE-MIT"
            ]
        );
    }

    #[test]
    fn a_copy_that_differs_is_found() {
        let copy = repeated("engines/Cargo.toml", "\nversion = \"", "\"");
        assert_eq!(copy.compare(env!("CARGO_PKG_VERSION")).unwrap(), None);
        let found = copy.compare("7.8.9").unwrap();
        assert_eq!(found.as_deref(), Some("engines/Cargo.toml: lacks \"version = \\\"7.8.9\\\"\""));
    }

    #[test]
    fn the_example_of_the_macro_is_one_that_tests_run() {
        let text = |file: &str| fs::read_to_string(workspace::root().join(file)).unwrap();
        let readme = text("crates/b2frame-derive/README.md");
        let (_, example) = readme.split_once("```rust,ignore\n").unwrap();
        let (example, _) = example.split_once("```").unwrap();
        let comments = text("crates/b2frame/src/lib.rs").replace("///\n", "\n").replace("/// ", "");
        assert!(comments.contains(example), "{example}");
    }
}
